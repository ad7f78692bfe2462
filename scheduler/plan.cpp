#include "scheduler/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "statemachine/capacity.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

// Work (Fit::work) for one group's optional members in a pass: some tenths of a second on a machine of 2024.
constexpr std::uint64_t kRefineWorkMax = 200'000;

// What a verdict depends on besides what is free, which only shrinks during a pass: groups of the same spec that ask
// for as many members fail alike.
struct DemandShape {
  SpecHash spec{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts{};  // members and spares, by role
  friend auto operator<=>(const DemandShape&, const DemandShape&) = default;
};

DemandShape shape_of(const Group& group, const std::vector<RoleDemand>& demand) {
  DemandShape shape{group.head.spec, {}};
  for (const RoleDemand& each : demand) {
    shape.counts.emplace_back(static_cast<std::uint32_t>(each.indexes.size()), each.spares);
  }
  return shape;
}

class Pass {
 public:
  Pass(const State& state, const ScheduleOptions& options)
      : state_(state), options_(options), view_(state, Capacity::Free), plan_{state.head.seq, {}} {}

  Plan run() {
    for (const OrderKey& key : state_.indexes.wants_hosts) {
      if (full()) break;
      const Group* group = state_.group(key.group);
      if (group == nullptr) continue;
      if (group->head.phase == GroupPhase::Pending) place(*group);
      if (is_active(group->head.phase) && !group->head.satisfied && !replace(*group)) grow(*group);
    }
    return std::move(plan_);
  }

 private:
  bool full() const { return plan_.actions.size() >= options_.actions_max; }

  void add(const GroupSpec& spec, PlanAction action, const Fit& fit) {
    view_.take(spec, fit.members, fit.spares);
    plan_.actions.push_back(std::move(action));
  }

  Fit try_fit(const GroupSpec& spec, const std::vector<RoleDemand>& demand, std::string_view inside) const {
    return fit_in(view_, spec, demand, Require::AsSaid, inside, Explain::No);
  }

  // The same, of a whole group; not asked again in this pass once the answer was no.
  Fit try_whole(const Group& group, const std::vector<RoleDemand>& demand) {
    const DemandShape shape = shape_of(group, demand);
    if (failed_.contains(shape)) return {};
    Fit found = try_fit(*group.spec, demand, {});
    if (!found.fits) failed_.insert(shape);
    return found;
  }

  // All or nothing (where nobody is left to run, nothing is all of it); with `partial` the mins of all roles or nothing, then as many more as fit.
  void place(const Group& group) {
    const std::vector<RoleDemand> wanted = whole_demand(group);
    Fit found = try_whole(group, wanted);
    if (!found.fits && group.spec->partial) {
      const std::vector<RoleDemand> mins = whole_demand(group, true);
      found = try_whole(group, mins);
      if (found.fits) found = as_many_as_fit(*group.spec, mins, wanted, {}, std::move(found));
    }
    if (!found.fits) return;
    add(*group.spec, PlaceAction{group.head.id, found.domain, found.members, found.spares}, found);
  }

  // Members that wait inside a group that goes on: as many as fit, by role and index, in the promised domain. True when
  // there is an action for the group, which then gets no second one: that would meet another group than it is made for.
  bool replace(const Group& group) {
    const std::vector<RoleDemand> wanted = waiting_demand(state_, group);
    if (wanted.empty()) return false;
    std::vector<RoleDemand> nobody = wanted;
    for (RoleDemand& each : nobody) each.indexes.clear();
    Fit found = try_fit(*group.spec, wanted, group.head.domain);
    if (!found.fits) found = as_many_as_fit(*group.spec, nobody, wanted, group.head.domain, {});
    if (!found.fits || found.members.empty()) return false;
    add(*group.spec, ReplaceAction{group.head.id, found.members}, found);
    return true;
  }

  // A pending resize: all that it adds, or nothing. Of several the first that fits; the next pass goes on.
  void grow(const Group& group) {
    if (group.head.phase != GroupPhase::Running) return;
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      const std::vector<RoleDemand> added = growth_demand(state_, group, role);
      if (added.empty()) continue;
      const Fit found = try_fit(*group.spec, added, group.head.domain);
      if (!found.fits) continue;
      add(*group.spec, GrowAction{group.head.id, role, found.members}, found);
      return;
    }
  }

  // Role by role the most members, between those of `least` (which fit: `best`) and `wanted`, such that all of it still
  // fits together. Both name the same roles; lower indexes come first. Ends with what it has after so much work that
  // the others of this pass would wait.
  Fit as_many_as_fit(const GroupSpec& spec, std::vector<RoleDemand> least, const std::vector<RoleDemand>& wanted,
                     std::string_view inside, Fit best) const {
    std::uint64_t work = 0;
    for (std::size_t i = 0; i < wanted.size() && work < kRefineWorkMax; ++i) {
      std::size_t fits = least[i].indexes.size();
      std::size_t fails = wanted[i].indexes.size() + 1;
      while (fails - fits > 1 && work < kRefineWorkMax) {
        // All of them first: where another role was short, this one need not be.
        const bool first = fails == wanted[i].indexes.size() + 1;
        const std::size_t count = first ? wanted[i].indexes.size() : fits + (fails - fits) / 2;
        least[i].indexes.assign(wanted[i].indexes.begin(),
                                wanted[i].indexes.begin() + static_cast<std::ptrdiff_t>(count));
        Fit found = try_fit(spec, least, inside);
        work += found.work;
        (found.fits ? fits : fails) = count;
        if (found.fits) best = std::move(found);
      }
      least[i].indexes.assign(wanted[i].indexes.begin(), wanted[i].indexes.begin() + static_cast<std::ptrdiff_t>(fits));
    }
    return best;
  }

  const State& state_;
  const ScheduleOptions& options_;
  CapacityView view_;
  Plan plan_;
  std::set<DemandShape> failed_;
};

}  // namespace

Plan plan(const State& state, const ScheduleOptions& options) { return Pass(state, options).run(); }

}  // namespace lockstep
