// First-fit: members by role and index take hosts in path order. What it finds is a placement; what it does not find
// may exist, except for a single class of items that may share hosts freely, where first-fit is exact.

#include <algorithm>
#include <memory>
#include <optional>

#include "statemachine/fit_shape.h"

namespace lockstep::fit_detail {

namespace {

// The rows where items of one size may still find room, in path order. Free amounts only shrink during a pass, so a
// row found full stays so and is skipped from then on (paths are halved as in union-find).
class Rows {
 public:
  Rows(const CapacityView& view, const Field& field, RowRange rows, const ItemClass& items)
      : view_(view), field_(field), items_(items), first_(rows.first), next_(rows.size() + 1) {
    for (std::uint32_t i = 0; i < next_.size(); ++i) next_[i] = i;
    known_.assign(rows.size(), false);
  }

  // The first row at or after `row` with room for an item; kNoRow when there is none.
  std::uint32_t find(std::uint32_t row) {
    while (true) {
      const std::uint32_t at = root(row - first_);
      if (at + 1 == next_.size()) return kNoRow;
      if (field_.room(items_, first_ + at) > 0 && eligible(at)) return first_ + at;
      next_[at] = at + 1;
    }
  }
  std::uint32_t first() { return find(first_); }

 private:
  bool eligible(std::uint32_t at) {
    if (known_[at]) return true;
    known_[at] = matches(*items_.select, view_.host(first_ + at).facts.info);
    return known_[at];
  }
  std::uint32_t root(std::uint32_t at) {
    while (next_[at] != at) {
      next_[at] = next_[next_[at]];
      at = next_[at];
    }
    return at;
  }

  const CapacityView& view_;
  const Field& field_;
  const ItemClass& items_;
  std::uint32_t first_;
  std::vector<std::uint32_t> next_;
  std::vector<bool> known_;
};

// Places members of one role, one after the other.
class RolePlacer {
 public:
  RolePlacer(const CapacityView& view, const Shape& shape, std::uint32_t role, Field& field, RowRange rows,
             Together together)
      : field_(field) {
    const RoleShape& each = shape.roles[role];
    terms_.reserve(each.class_after - each.class_first);
    for (std::uint32_t index = each.class_first; index < each.class_after; ++index) {
      const ItemClass& items = shape.classes[index];
      Term& term = terms_.emplace_back(Term{items, Rows(view, field, rows, items), {}, {}});
      if (together == Together::Yes && items.kind == Kind::Spread && items.per_member > 1) {
        term.all_of_it = std::make_unique<ItemClass>(whole(items));
        term.rows_for_all.emplace(view, field, rows, *term.all_of_it);
      }
    }
  }

  // False when the member does not fit; what it took of the field is then lost.
  bool place(std::vector<Part>& member) {
    used_.clear();
    for (Term& term : terms_) {
      const bool apart = term.items.kind == Kind::Tile || term.items.kind == Kind::Remainder;
      if (term.items.kind != Kind::Remainder || term.items.tile == kNoClass) used_.clear();
      if (apart ? !place_apart(term, member) : !place_freely(term, member)) return false;
    }
    std::sort(member.begin(), member.end());
    return true;
  }

 private:
  struct Term {
    const ItemClass& items;
    Rows rows;
    std::unique_ptr<ItemClass> all_of_it;
    std::optional<Rows> rows_for_all;
  };

  static ItemClass whole(const ItemClass& items) {
    ItemClass all = items;
    all.kind = Kind::Whole;
    all.tasks = static_cast<std::uint32_t>(items.per_member);
    all.per_member = 1;
    for (Size& size : all.size) size.amount = saturating_times(size.amount, items.per_member);
    return all;
  }

  void put(const Term& term, std::uint32_t row, std::int64_t count, std::vector<Part>& member) {
    field_.use(term.items, row, count);
    member.push_back({row, term.items.term, static_cast<std::uint32_t>(count * term.items.tasks)});
  }

  bool place_freely(Term& term, std::vector<Part>& member) {
    std::int64_t wanted = term.items.per_member;
    if (term.rows_for_all) {
      if (const std::uint32_t row = term.rows_for_all->first(); row != kNoRow) {
        put(term, row, wanted, member);
        return true;
      }
    }
    while (wanted > 0) {
      const std::uint32_t row = term.rows.first();
      if (row == kNoRow) return false;
      const std::int64_t here = std::min(wanted, field_.room(term.items, row));
      put(term, row, here, member);
      wanted -= here;
    }
    return true;
  }

  // `used_`: rows that this member's tiles of the same term are on, ascending. Tiles go upwards and never meet one.
  bool place_apart(Term& term, std::vector<Part>& member) {
    std::uint32_t row = term.rows.first();
    const std::size_t before = used_.size();
    for (std::int64_t wanted = term.items.per_member; wanted > 0; --wanted) {
      while (row != kNoRow &&
             std::binary_search(used_.begin(), used_.begin() + static_cast<std::ptrdiff_t>(before), row)) {
        row = term.rows.find(row + 1);
      }
      if (row == kNoRow) return false;
      put(term, row, 1, member);
      used_.push_back(row);
      row = term.rows.find(row + 1);
    }
    return true;
  }

  Field& field_;
  std::vector<Term> terms_;
  std::vector<std::uint32_t> used_;
};

}  // namespace

std::optional<Assignment> first_fit(const Problem& problem, std::span<const std::uint32_t> order, Together together) {
  Field field(problem.view, problem.shape, problem.rows);
  Assignment assignment(problem.shape.roles.size());
  for (const std::uint32_t role : order) {
    if (!problem.roles[role]) continue;
    RolePlacer placer(problem.view, problem.shape, role, field, *problem.roles[role], together);
    auto& members = assignment[role];
    members.resize(problem.shape.roles[role].members);
    for (auto& member : members) {
      if (!placer.place(member)) return std::nullopt;
    }
  }
  return assignment;
}

std::uint32_t count_members(const CapacityView& view, const Shape& shape, std::uint32_t role, Field& field,
                            RowRange rows) {
  RolePlacer placer(view, shape, role, field, rows, Together::No);
  std::vector<Part> member;
  std::uint32_t count = 0;
  while (count < shape.roles[role].members && placer.place(member)) {
    member.clear();
    ++count;
  }
  return count;
}

}  // namespace lockstep::fit_detail
