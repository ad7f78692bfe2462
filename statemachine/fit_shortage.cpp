// What is missing when a demand does not fit: the first role in manifest order that does not fit after those before it,
// in the domain where most of its members would fit, and the counter by which the fewest of them do.

#include <algorithm>
#include <set>

#include "statemachine/fit_shape.h"

namespace lockstep::fit_detail {

namespace {

// Number of roles, from the first on, that do not fit together although one fewer do.
std::size_t first_failing_prefix(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                                 Require require, std::string_view inside) {
  std::size_t fits = 0;
  std::size_t fails = demand.size();
  while (fails - fits > 1) {
    const std::size_t middle = fits + (fails - fits) / 2;
    const std::vector<RoleDemand> prefix(demand.begin(), demand.begin() + static_cast<std::ptrdiff_t>(middle));
    (fit_in(view, spec, prefix, require, inside, Explain::No).fits ? fits : fails) = middle;
  }
  return fails;
}

// Uses up what the parts of earlier roles take. `shape` starts with the same roles.
void use_parts(const Shape& shape, const Assignment& assignment, Field& field) {
  for (std::uint32_t role = 0; role < assignment.size(); ++role) {
    const RoleShape& each = shape.roles[role];
    for (const auto& member : assignment[role]) {
      for (const Part& part : member) {
        for (std::uint32_t index = each.class_first; index < each.class_after; ++index) {
          if (shape.classes[index].term != part.term) continue;
          ItemClass task = shape.classes[index];
          for (Size& size : task.size) size.amount /= task.tasks;
          field.use(task, part.row, part.tasks);
          break;
        }
      }
    }
  }
}

// Where the failing role is looked at: the hosts of one domain, less what the roles before it take there.
struct Place {
  Field field;
  RowRange rows{};
};

class Finder {
 public:
  Finder(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand, Require require,
         std::string_view inside)
      : view_(view),
        spec_(spec),
        demand_(demand),
        before_demand_(demand.begin(), demand.end() - 1),
        before_(make_shape(view, spec, before_demand_)),
        shape_(make_shape(view, spec, demand_)),
        role_(static_cast<std::uint32_t>(shape_.roles.size()) - 1),
        require_(require),
        inside_(inside) {}

  Shortage find() {
    Shortage shortage;
    shortage.role = demand_.back().role;
    const std::optional<Place> place = best_place();
    if (!place || !every_term_has_a_host(place->rows)) return shortage;
    std::uint32_t fewest = 0;
    for (const std::string& name : counters()) {
      const std::uint32_t count = members_by(name, *place);
      if (!shortage.resource.empty() && count >= fewest) continue;
      fewest = count;
      shortage.resource = name;
    }
    if (shortage.resource.empty()) return shortage;
    shortage.needed = saturating_times(of_one_member(shortage.resource), members());
    shortage.free = free_of(shortage.resource, *place);
    return shortage;
  }

 private:
  const RoleShape& role() const { return shape_.roles[role_]; }
  std::uint32_t members() const { return role().members; }

  std::optional<Place> best_place() {
    std::optional<Place> best;
    std::pair<bool, std::uint32_t> most{};  // a host for every term comes before the number of members
    Budget budget = budget_for(before_);
    Budget unused = budget;
    DomainSolver solver(view_, spec_, before_, require_, budget);
    const DomainSolver places(view_, spec_, shape_, require_, unused);
    for (const Domain& domain : group_domains(view_, spec_, require_, inside_)) {
      const auto before = solver.solve_in(domain);
      if (!before) continue;
      Field field(view_, shape_, domain.rows);
      use_parts(shape_, *before, field);
      Field spent = field;
      for (const Domain& each : places.role_domains(role_, domain)) {
        const std::pair rank{every_term_has_a_host(each.rows), count_members(view_, shape_, role_, spent, each.rows)};
        if (best && rank <= most) continue;
        best = Place{field, each.rows};
        most = rank;
      }
    }
    return best;
  }

  bool every_term_has_a_host(RowRange rows) const {
    const auto& tasks = role().spec->tasks;
    return std::all_of(tasks.begin(), tasks.end(), [&](const TaskTerm& term) {
      if (term.count == 0) return true;
      for (std::uint32_t row = rows.first; row < rows.after; ++row) {
        if (view_.open(row) && matches(term.select, view_.host(row).facts.info)) return true;
      }
      return false;
    });
  }

  std::set<std::string> counters() const {
    std::set<std::string> names;
    for (const TaskTerm& term : role().spec->tasks) {
      for (const Counter& request : term.requests) {
        if (request.amount > 0 && term.count > 0) names.insert(request.name);
      }
    }
    return names;
  }

  std::int64_t of_one_member(const std::string& name) const {
    std::int64_t total = 0;
    for (const TaskTerm& term : role().spec->tasks) {
      for (const Counter& request : term.requests) {
        if (request.name == name) total = saturating_plus(total, saturating_times(request.amount, term.count));
      }
    }
    return total;
  }

  std::int64_t pool_left(std::uint32_t pool) const {
    std::int64_t left = view_.pool_free(pool);
    for (const PoolNeed& need : before_.pools) {
      if (need.place.column == pool) left -= std::min(left, need.amount);
    }
    return left;
  }

  // Members that would fit if nothing but this counter were looked at.
  std::uint32_t members_by(const std::string& name, const Place& place) const {
    const CounterPlace where = view_.place(name);
    if (where.kind == CounterPlace::Kind::Nowhere) return 0;
    if (where.kind == CounterPlace::Kind::Pool) {
      const std::int64_t count = pool_left(where.column) / of_one_member(name);
      return static_cast<std::uint32_t>(std::min<std::int64_t>(count, members()));
    }
    Shape alone = shape_;
    for (ItemClass& items : alone.classes) {
      items.impossible = false;
      std::erase_if(items.size, [&](const Size& size) { return shape_.columns[size.column] != where.column; });
    }
    Field field = place.field;
    return count_members(view_, alone, role_, field, place.rows);
  }

  std::int64_t free_of(const std::string& name, const Place& place) const {
    const CounterPlace where = view_.place(name);
    if (where.kind == CounterPlace::Kind::Nowhere) return 0;
    if (where.kind == CounterPlace::Kind::Pool) return pool_left(where.column);
    const auto column = static_cast<std::uint32_t>(
        std::find(shape_.columns.begin(), shape_.columns.end(), where.column) - shape_.columns.begin());
    std::int64_t total = 0;
    for (std::uint32_t row = place.rows.first; row < place.rows.after; ++row) {
      if (asks_here(name, row)) total = saturating_plus(total, place.field.free(row, column));
    }
    return total;
  }

  // Could a term that asks for the counter lie on this host, as far as `select` says?
  bool asks_here(const std::string& name, std::uint32_t row) const {
    const auto& tasks = role().spec->tasks;
    return std::any_of(tasks.begin(), tasks.end(), [&](const TaskTerm& term) {
      const bool asks = std::any_of(term.requests.begin(), term.requests.end(),
                                    [&](const Counter& request) { return request.name == name; });
      return asks && matches(term.select, view_.host(row).facts.info);
    });
  }

  const CapacityView& view_;
  const GroupSpec& spec_;
  const std::vector<RoleDemand>& demand_;  // its last role is the one that does not fit
  std::vector<RoleDemand> before_demand_;
  Shape before_;
  Shape shape_;
  std::uint32_t role_;
  Require require_;
  std::string_view inside_;
};

}  // namespace

Shortage find_shortage(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                       Require require, std::string_view inside) {
  std::vector<RoleDemand> asked;
  for (const RoleDemand& each : demand) {
    if (!each.indexes.empty() || each.spares > 0) asked.push_back(each);
  }
  if (asked.empty()) return {};
  asked.resize(first_failing_prefix(view, spec, asked, require, inside));
  return Finder(view, spec, asked, require, inside).find();
}

}  // namespace lockstep::fit_detail
