#include "statemachine/fit.h"

#include <algorithm>
#include <memory>

#include "statemachine/capacity.h"
#include "statemachine/fit_shape.h"

namespace lockstep {

namespace {

using fit_detail::Assignment;
using fit_detail::Part;
using fit_detail::Shape;

std::vector<Slice> to_slices(const CapacityView& view, const std::vector<Part>& parts) {
  std::vector<Slice> slices;
  slices.reserve(parts.size());
  for (const Part& part : parts) {
    const HostId host = view.host(part.row).facts.id;
    const bool same = !slices.empty() && slices.back().host == host && slices.back().term == part.term;
    if (same)
      slices.back().count += part.tasks;
    else
      slices.push_back({host, part.term, part.tasks});
  }
  return slices;
}

void to_placements(const CapacityView& view, const Shape& shape, const Assignment& assignment, Fit& fit) {
  for (std::size_t role = 0; role < shape.roles.size(); ++role) {
    const RoleDemand& demand = *shape.roles[role].demand;
    for (std::size_t i = 0; i < assignment[role].size(); ++i) {
      std::vector<Slice> slices = to_slices(view, assignment[role][i]);
      if (i < demand.indexes.size())
        fit.members.push_back({{demand.role, demand.indexes[i]}, std::move(slices)});
      else
        fit.spares.push_back({demand.role, std::move(slices)});
    }
  }
}

std::vector<std::uint32_t> first_numbers(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

// In the first of `domains` that holds all of it.
Fit fit_in_one_of(const std::vector<Domain>& domains, const CapacityView& view, const GroupSpec& spec,
                  const std::vector<RoleDemand>& demand, Require require) {
  Fit fit;
  const Shape shape = fit_detail::make_shape(view, spec, demand);
  if (!fit_detail::pools_suffice(view, shape)) return fit;
  fit_detail::Budget budget = fit_detail::budget_for(shape);
  fit_detail::DomainSolver solver(view, spec, shape, require, budget);
  for (const Domain& domain : domains) {
    const auto found = solver.solve_in(domain);
    if (!found) continue;
    fit.fits = true;
    fit.domain = view.path(domain);
    to_placements(view, shape, *found, fit);
    break;
  }
  fit.work = budget.work;
  return fit;
}

// Hosts that are asked before all are: most groups fit into a few empty ones, and more hosts make nothing impossible.
constexpr std::uint32_t kFewHosts = 64;

Fit could_ever_fit(State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand) {
  const CapacityView& view = state.indexes.empty_cluster.of(state);
  if (spec.topology.required.empty() && view.row_count() > kFewHosts) {
    const std::vector<Domain> few{Domain{0, {0, kFewHosts}}};
    if (Fit fit = fit_in_one_of(few, view, spec, demand, Require::AsSaid); fit.fits) return fit;
  }
  return fit_in(view, spec, demand, Require::AsSaid, {}, Explain::Yes);
}

}  // namespace

Fit fit_detail::fit_in_cluster(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand) {
  return fit_in_one_of({view.cluster()}, view, spec, demand, Require::AsSaid);
}

const CapacityView& EmptyCluster::of(const State& state) {
  if (!view_) view_ = std::make_shared<const CapacityView>(state, Capacity::All);
  return *view_;
}

Fit fit_in(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand, Require require,
           std::string_view inside, Explain explain) {
  const auto domains = fit_detail::group_domains(view, spec, require, inside);
  Fit fit = fit_in_one_of(domains, view, spec, demand, require);
  if (fit.fits) {
    if (!inside.empty()) fit.domain = inside;
    return fit;
  }
  if (explain == Explain::Yes) fit.shortage = fit_detail::find_shortage(view, spec, demand, require, inside);
  return fit;
}

Fit fit(const State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand, Capacity capacity,
        Require require, std::string_view inside) {
  return fit_in(CapacityView(state, capacity), spec, demand, require, inside, Explain::Yes);
}

Fit could_ever_fit(State& state, const Group& group) {
  return could_ever_fit(state, *group.spec, whole_demand(group, group.spec->partial));
}

Fit could_ever_fit(State& state, const GroupSpec& spec) {
  std::vector<RoleDemand> demand;
  for (RoleIndex role = 0; role < spec.roles.size(); ++role) {
    const RoleSpec& each = spec.roles[role];
    demand.push_back({role, first_numbers(spec.partial ? each.min : each.replicas), each.spares, {}});
  }
  return could_ever_fit(state, spec, demand);
}

}  // namespace lockstep
