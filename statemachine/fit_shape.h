#pragma once
// What a demand is made of, for the solvers of fit: classes of equal items. An item is what must lie on one host
// together: one task of a term that may spread, all tasks of a term with `span.hosts: 1`, or `ptile` tasks. Nothing
// else of a member binds its items to each other, except that the items of a ptile term lie on different hosts. Since
// members of a role are alike, how many items of each class every host takes is all there is to decide: any counts
// that add up, with at most `members` items of a ptile term on one host, can be dealt out to the members (deal()).
//
// In one domain solve() asks, until one finds a placement: first-fit in manifest order (members by role and index take
// hosts in path order), first-fit with the most constrained role first, the exhaustive search. A yes is always a
// placement. A no is proven when the sums or one class alone show it, when there is only one class of items that may
// share hosts, and when the search ends within its budget: with up to kExactMembersMax members it does unless many
// classes of many tasks meet; beyond it the search is a repair of what first-fit got wrong. The budget is counted in
// steps, so the answer is the same on every machine.
//
// Private to statemachine/.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "statemachine/capacity.h"

namespace lockstep::fit_detail {

inline constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint32_t kNoClass = 0xffffffffU;

struct Size {
  std::uint32_t column{};  // of Shape::columns
  std::int64_t amount{};
  friend auto operator<=>(const Size&, const Size&) = default;
};

enum class Kind : std::uint8_t {
  Spread,     // one task each, anywhere
  Whole,      // all tasks of the term
  Tile,       // ptile tasks, those of one member on different hosts
  Remainder,  // what ptile leaves over, on yet another host; follows its Tile class, if there is one
};

struct ItemClass {
  Kind kind{Kind::Spread};
  std::uint32_t role{};  // of Shape::roles
  std::uint32_t term{};
  std::uint32_t tasks{};         // of one item
  std::int64_t per_member{};     // items
  std::int64_t count{};          // items of all members
  bool impossible{false};        // asks for a counter that no host has
  std::uint32_t tile{kNoClass};  // of a Remainder: its Tile class
  std::vector<Size> size;        // of one item
  const std::vector<KeyValue>* select{};
};

struct RoleShape {
  const RoleDemand* demand{};
  const RoleSpec* spec{};
  std::uint32_t members{};  // spares included, which come last
  std::uint32_t class_first{};
  std::uint32_t class_after{};
};

struct PoolNeed {
  CounterPlace place{};
  std::int64_t amount{};
};

struct Shape {
  std::vector<RoleShape> roles;
  std::vector<ItemClass> classes;      // by role, then term
  std::vector<std::uint32_t> columns;  // of the view, that anybody here asks for
  std::vector<PoolNeed> pools;         // sums over everybody
  std::uint64_t members = 0;
};

// `demand` and `spec` must outlive the shape.
[[nodiscard]] Shape make_shape(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand);

// Sums over the group that no placement can change.
[[nodiscard]] bool pools_suffice(const CapacityView& view, const Shape& shape);

// What is free on the rows of one domain, for the columns of a shape: solvers use it up.
class Field {
 public:
  Field(const CapacityView& view, const Shape& shape, RowRange rows);
  [[nodiscard]] RowRange rows() const { return rows_; }
  [[nodiscard]] std::int64_t free(std::uint32_t row, std::uint32_t column) const {
    return free_[std::size_t{row - rows_.first} * width_ + column];
  }
  // How many items of the class fit on this row now, `select` not asked.
  [[nodiscard]] std::int64_t room(const ItemClass& items, std::uint32_t row) const;
  void use(const ItemClass& items, std::uint32_t row, std::int64_t count);

 private:
  RowRange rows_;
  std::size_t width_;
  std::vector<std::int64_t> free_;
  std::vector<bool> open_;  // by row
};

// Items of the class alone on an untouched field, over rows of `rows`, counted no further than `enough`.
[[nodiscard]] std::int64_t room_alone(const CapacityView& view, const Field& field, const ItemClass& items,
                                      std::int64_t host_max, RowRange rows, std::int64_t enough);
// At most this many items of the class can lie on one host.
[[nodiscard]] std::int64_t on_one_host_max(const Shape& shape, const ItemClass& items);

// A slice by row, so that rows decide the order; sorted by row, then term.
struct Part {
  std::uint32_t row{};
  std::uint32_t term{};
  std::uint32_t tasks{};
  friend auto operator<=>(const Part&, const Part&) = default;
};
// [role of the shape][member, then spares]
using Assignment = std::vector<std::vector<std::vector<Part>>>;

// `counts` of items on one row.
struct RowCount {
  std::uint32_t row{};
  std::int64_t count{};
};
// Gives out the items of one role to its members, lower indexes on earlier rows; `taken[class]` for the classes of the
// role, in row order.
[[nodiscard]] std::vector<std::vector<Part>> deal(const Shape& shape, std::uint32_t role,
                                                  std::span<const std::vector<RowCount>> taken);

// How much a fit() may spend before it says no. What it spends is the same on every machine.
struct Budget {
  std::uint64_t search_steps{};
  std::uint64_t work{};  // done so far, in units of solve()
  [[nodiscard]] bool spend(std::uint64_t steps) {
    const bool enough = search_steps >= steps;
    search_steps = enough ? search_steps - steps : 0;
    return enough;
  }
};

// Up to this many members, spares included, the search goes on long enough to be exact in practice.
inline constexpr std::uint64_t kExactMembersMax = 12;
inline constexpr std::uint64_t kSearchStepsMax = 1'000'000;
// Beyond it the search repairs what first-fit got wrong, as far as this takes it.
inline constexpr std::uint64_t kRepairStepsMax = 20'000;
// Work after which no further domain is tried for a role. A unit is about a microsecond on a machine of 2024.
inline constexpr std::uint64_t kDomainWorkMax = 20'000;
inline constexpr std::uint64_t kRowsPerUnit = 64;  // rows and members that solve() looks at for one unit

// One group in one domain, with the rows that each role may use. `roles[i]` empty: that role is left out.
struct Problem {
  const CapacityView& view;
  const Shape& shape;
  RowRange rows;
  std::vector<std::optional<RowRange>> roles;
};

// First-fit in the order of the roles: member by member, by role and index, each takes the first rows in path order
// that have room. Together::Yes: a term that may spread is put on one host where one has room for all of it.
enum class Together : std::uint8_t { No, Yes };
[[nodiscard]] std::optional<Assignment> first_fit(const Problem& problem, std::span<const std::uint32_t> order,
                                                  Together together);
// Members of one role that fit by first-fit on what is left in `field`, which is used up by them.
[[nodiscard]] std::uint32_t count_members(const CapacityView& view, const Shape& shape, std::uint32_t role,
                                          Field& field, RowRange rows);

// Exhaustive, until the budget ends.
[[nodiscard]] std::optional<Assignment> search(const Problem& problem, Budget& budget);

// All of them, cheapest first. Counts its work, and does it whatever has been done before.
[[nodiscard]] std::optional<Assignment> solve(const Problem& problem, Budget& budget);

// All roles of a demand inside one domain, the roles' own domains chosen jointly.
class DomainSolver {
 public:
  DomainSolver(const CapacityView& view, const GroupSpec& spec, const Shape& shape, Require require, Budget& budget);
  [[nodiscard]] std::optional<Assignment> solve_in(const Domain& domain);
  // Where a role may go inside `domain`, in path order; as they are, without looking at what is free.
  [[nodiscard]] std::vector<Domain> role_domains(std::uint32_t role, const Domain& domain) const;

 private:
  struct Choice {
    std::uint32_t role{};
    std::vector<Domain> domains;
  };
  [[nodiscard]] bool sums_suffice(const Domain& domain, std::span<const ItemClass> classes) const;
  [[nodiscard]] bool worth_trying(const Field& field, std::uint32_t role, const Domain& domain) const;
  [[nodiscard]] bool bound(std::uint32_t role) const;
  using RowsOfRoles = std::vector<std::optional<RowRange>>;  // nothing: not chosen yet, or left out
  [[nodiscard]] std::optional<Assignment> choose(const Domain& domain, std::span<const Choice> choices,
                                                 RowsOfRoles& rows);
  [[nodiscard]] std::optional<Assignment> solve_neighbours(const RowsOfRoles& rows, std::uint32_t role);
  [[nodiscard]] std::optional<Assignment> solve_all(RowsOfRoles rows, const Domain& domain);
  const CapacityView& view_;
  const GroupSpec& spec_;
  const Shape& shape_;
  Require require_;
  Budget& budget_;
};

// The domains that a whole group may go to, in path order.
[[nodiscard]] std::vector<Domain> group_domains(const CapacityView& view, const GroupSpec& spec, Require require,
                                                std::string_view inside);

// All of it, anywhere in the view.
[[nodiscard]] Fit fit_in_cluster(const CapacityView& view, const GroupSpec& spec,
                                 const std::vector<RoleDemand>& demand);

// Why `demand`, which does not fit, does not.
[[nodiscard]] Shortage find_shortage(const CapacityView& view, const GroupSpec& spec,
                                     const std::vector<RoleDemand>& demand, Require require, std::string_view inside);

[[nodiscard]] Budget budget_for(const Shape& shape);

}  // namespace lockstep::fit_detail
