// Domains: which ones a group may go to, and which ones its roles take inside it.

#include <algorithm>

#include "statemachine/fit_shape.h"

namespace lockstep::fit_detail {

namespace {

__extension__ using Wide = __int128;

std::vector<std::uint32_t> manifest_order(const Shape& shape) {
  std::vector<std::uint32_t> order(shape.roles.size());
  for (std::uint32_t role = 0; role < order.size(); ++role) order[role] = role;
  return order;
}

// How often the class of a role for which room is shortest would fit if it were alone.
struct Slack {
  std::int64_t room{};
  std::int64_t needed{};
  friend bool operator<(const Slack& a, const Slack& b) { return Wide{a.room} * b.needed < Wide{b.room} * a.needed; }
};

Slack slack_of(const Problem& problem, const Field& field, std::uint32_t role) {
  Slack least{kAnyNumber, 1};
  const RoleShape& each = problem.shape.roles[role];
  for (std::uint32_t index = each.class_first; index < each.class_after; ++index) {
    const ItemClass& items = problem.shape.classes[index];
    const bool shared = items.kind == Kind::Spread || items.kind == Kind::Whole;
    const std::int64_t host_max = shared ? kAnyNumber : on_one_host_max(problem.shape, items);
    const Slack slack{room_alone(problem.view, field, items, host_max, *problem.roles[role], kAnyNumber), items.count};
    if (slack < least) least = slack;
  }
  return least;
}

std::vector<std::uint32_t> most_constrained_first(const Problem& problem, const Field& field) {
  std::vector<Slack> slack(problem.shape.roles.size());
  for (std::uint32_t role = 0; role < slack.size(); ++role) {
    if (problem.roles[role]) slack[role] = slack_of(problem, field, role);
  }
  std::vector<std::uint32_t> order = manifest_order(problem.shape);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return slack[a] < slack[b]; });
  return order;
}

bool each_class_fits_alone(const Problem& problem, const Field& field) {
  return std::all_of(problem.shape.classes.begin(), problem.shape.classes.end(), [&](const ItemClass& items) {
    if (!problem.roles[items.role]) return true;
    const std::int64_t host_max = on_one_host_max(problem.shape, items);
    return room_alone(problem.view, field, items, host_max, *problem.roles[items.role], items.count) >= items.count;
  });
}

// One class of items that may share hosts: first-fit has been exact.
bool first_fit_was_exact(const Problem& problem) {
  std::size_t classes = 0;
  for (const ItemClass& items : problem.shape.classes) {
    if (!problem.roles[items.role]) continue;
    if (items.kind == Kind::Tile || items.kind == Kind::Remainder) return false;
    ++classes;
  }
  return classes <= 1;
}

bool may_keep_together(const Shape& shape) {
  return std::any_of(shape.classes.begin(), shape.classes.end(),
                     [](const ItemClass& items) { return items.kind == Kind::Spread && items.per_member > 1; });
}

}  // namespace

Budget budget_for(const Shape& shape) {
  return Budget{shape.members <= kExactMembersMax ? kSearchStepsMax : kRepairStepsMax, 0};
}

std::optional<Assignment> solve(const Problem& problem, Budget& budget) {
  std::uint64_t looked_at = problem.rows.size();
  for (std::size_t role = 0; role < problem.roles.size(); ++role) {
    if (problem.roles[role]) looked_at += problem.shape.roles[role].members;
  }
  budget.work += 1 + looked_at / kRowsPerUnit;
  const std::vector<std::uint32_t> order = manifest_order(problem.shape);
  if (may_keep_together(problem.shape)) {
    if (auto found = first_fit(problem, order, Together::Yes)) return found;
  }
  if (auto found = first_fit(problem, order, Together::No)) return found;
  const Field field(problem.view, problem.shape, problem.rows);
  if (first_fit_was_exact(problem) || !each_class_fits_alone(problem, field)) return std::nullopt;
  const std::vector<std::uint32_t> constrained = most_constrained_first(problem, field);
  if (constrained != order) {
    if (auto found = first_fit(problem, constrained, Together::No)) return found;
  }
  return search(problem, budget);
}

std::vector<Domain> group_domains(const CapacityView& view, const GroupSpec& spec, Require require,
                                  std::string_view inside) {
  if (!inside.empty() && inside != "/") {
    const auto promised = view.find(inside, spec.topology.required == "host");
    return promised ? std::vector<Domain>{*promised} : std::vector<Domain>{};
  }
  if (require == Require::Nothing || spec.topology.required.empty()) return {view.cluster()};
  const auto depth = view.depth_of(spec.topology.required);
  return depth ? view.domains(*depth, view.cluster()) : std::vector<Domain>{};
}

DomainSolver::DomainSolver(const CapacityView& view, const GroupSpec& spec, const Shape& shape, Require require,
                           Budget& budget)
    : view_(view), spec_(spec), shape_(shape), require_(require), budget_(budget) {}

bool DomainSolver::bound(std::uint32_t role) const {
  const RoleShape& each = shape_.roles[role];
  return require_ == Require::AsSaid && (!each.spec->topology.required.empty() || !each.demand->inside.empty());
}

std::vector<Domain> DomainSolver::role_domains(std::uint32_t role, const Domain& domain) const {
  if (!bound(role)) return {domain};
  const RoleShape& each = shape_.roles[role];
  if (!each.demand->inside.empty()) {
    const auto decided = view_.find(each.demand->inside, each.spec->topology.required == "host");
    if (!decided) return {};
    if (decided->rows.contains(domain.rows)) return {domain};
    return domain.rows.contains(decided->rows) ? std::vector<Domain>{*decided} : std::vector<Domain>{};
  }
  const auto depth = view_.depth_of(each.spec->topology.required);
  return depth ? view_.domains(*depth, domain) : std::vector<Domain>{};
}

bool DomainSolver::sums_suffice(const Domain& domain, std::span<const ItemClass> classes) const {
  std::vector<std::int64_t> needed(shape_.columns.size(), 0);
  for (const ItemClass& items : classes) {
    for (const Size& size : items.size) {
      needed[size.column] = saturating_plus(needed[size.column], saturating_times(size.amount, items.count));
    }
  }
  for (std::size_t column = 0; column < needed.size(); ++column) {
    if (needed[column] > view_.sum(domain, shape_.columns[column])) return false;
  }
  return true;
}

bool DomainSolver::worth_trying(const Field& field, std::uint32_t role, const Domain& domain) const {
  const RoleShape& each = shape_.roles[role];
  const auto classes =
      std::span<const ItemClass>(shape_.classes).subspan(each.class_first, each.class_after - each.class_first);
  return sums_suffice(domain, classes) && std::all_of(classes.begin(), classes.end(), [&](const ItemClass& items) {
           return room_alone(view_, field, items, on_one_host_max(shape_, items), domain.rows, items.count) >=
                  items.count;
         });
}

std::optional<Assignment> DomainSolver::solve_in(const Domain& domain) {
  if (!sums_suffice(domain, shape_.classes)) return std::nullopt;
  std::vector<Choice> choices;
  std::vector<std::optional<RowRange>> rows(shape_.roles.size());
  std::optional<Field> field;
  for (std::uint32_t role = 0; role < shape_.roles.size(); ++role) {
    if (!bound(role)) continue;
    if (!field) field.emplace(view_, shape_, domain.rows);
    Choice choice{role, {}};
    for (const Domain& each : role_domains(role, domain)) {
      if (worth_trying(*field, role, each)) choice.domains.push_back(each);
    }
    if (choice.domains.empty()) return std::nullopt;
    choices.push_back(std::move(choice));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.domains.size() < b.domains.size(); });
  return choose(domain, choices, rows);
}

namespace {

bool overlap(const RowRange& a, const RowRange& b) { return a.first < b.after && b.first < a.after; }

}  // namespace

// `role` and those that may compete with it for a host, directly or through others. Domains lie in each other or apart,
// so these are the ones inside of the widest that `role` is in; the others have been found to fit without them.
std::optional<Assignment> DomainSolver::solve_neighbours(const RowsOfRoles& rows, std::uint32_t role) {
  RowRange all = *rows[role];
  for (const auto& each : rows) {
    if (each && overlap(*each, all)) all = {std::min(all.first, each->first), std::max(all.after, each->after)};
  }
  RowsOfRoles neighbours = rows;
  for (std::uint32_t other = 0; other < rows.size(); ++other) {
    if (other != role && rows[other] && !overlap(*rows[other], all)) neighbours[other].reset();
  }
  return solve(Problem{view_, shape_, all, neighbours}, budget_);
}

std::optional<Assignment> DomainSolver::solve_all(RowsOfRoles rows, const Domain& domain) {
  for (auto& each : rows) each = each.value_or(domain.rows);
  Assignment whole(rows.size());
  for (std::uint32_t role = 0; role < rows.size(); ++role) {
    if (!whole[role].empty()) continue;
    auto found = solve_neighbours(rows, role);
    if (!found) return std::nullopt;
    for (std::uint32_t other = 0; other < rows.size(); ++other) {
      if (!(*found)[other].empty()) whole[other] = std::move((*found)[other]);
    }
  }
  return whole;
}

std::optional<Assignment> DomainSolver::choose(const Domain& domain, std::span<const Choice> choices,
                                               RowsOfRoles& rows) {
  if (choices.empty()) return solve_all(rows, domain);
  const Choice& choice = choices.front();
  for (const Domain& each : choice.domains) {
    if (++budget_.work > kDomainWorkMax) return std::nullopt;
    rows[choice.role] = each.rows;
    // Roles whose domains are chosen so far must fit together, before the next one is asked.
    if (choices.size() == 1 || solve_neighbours(rows, choice.role)) {
      if (auto found = choose(domain, choices.subspan(1), rows)) return found;
    }
    rows[choice.role].reset();
  }
  return std::nullopt;
}

}  // namespace lockstep::fit_detail
