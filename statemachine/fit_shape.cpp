#include "statemachine/fit_shape.h"

#include <algorithm>

#include "events/error.h"

namespace lockstep::fit_detail {

namespace {

// Collects columns and pools as terms name them.
class Counters {
 public:
  Counters(const CapacityView& view, Shape& shape) : view_(view), shape_(shape) {}

  void add(const TaskTerm& term, std::int64_t tasks_of_all) {
    for (const Counter& request : term.requests) {
      if (request.amount <= 0) continue;
      const CounterPlace place = view_.place(request.name);
      if (place.kind != CounterPlace::Kind::Pool) continue;
      const std::int64_t amount = saturating_times(request.amount, tasks_of_all);
      const auto same = std::find_if(shape_.pools.begin(), shape_.pools.end(),
                                     [&](const PoolNeed& need) { return need.place.column == place.column; });
      if (same == shape_.pools.end())
        shape_.pools.push_back({place, amount});
      else
        same->amount = saturating_plus(same->amount, amount);
    }
  }

  void measure(ItemClass& items, const TaskTerm& term) {
    for (const Counter& request : term.requests) {
      if (request.amount <= 0) continue;
      const CounterPlace place = view_.place(request.name);
      if (place.kind == CounterPlace::Kind::Nowhere) items.impossible = true;
      if (place.kind != CounterPlace::Kind::Host) continue;
      items.size.push_back({column(place.column), saturating_times(request.amount, items.tasks)});
    }
  }

 private:
  std::uint32_t column(std::uint32_t of_view) {
    const auto found = std::find(shape_.columns.begin(), shape_.columns.end(), of_view);
    const auto index = static_cast<std::uint32_t>(found - shape_.columns.begin());
    if (found == shape_.columns.end()) shape_.columns.push_back(of_view);
    return index;
  }
  const CapacityView& view_;
  Shape& shape_;
};

void add_class(Shape& shape, Counters& counters, const TaskTerm& term, ItemClass items) {
  items.count = saturating_times(items.per_member, shape.roles[items.role].members);
  items.select = &term.select;
  counters.measure(items, term);
  shape.classes.push_back(std::move(items));
}

void add_term(Shape& shape, Counters& counters, std::uint32_t role, std::uint32_t index, const TaskTerm& term) {
  if (term.count == 0) return;
  counters.add(term, saturating_times(term.count, shape.roles[role].members));
  ItemClass items;
  items.role = role;
  items.term = index;
  if (term.span_hosts == 1) {
    items.kind = Kind::Whole;
    items.tasks = term.count;
    items.per_member = 1;
    return add_class(shape, counters, term, std::move(items));
  }
  if (term.span_ptile == 0) {
    items.kind = Kind::Spread;
    items.tasks = 1;
    items.per_member = term.count;
    return add_class(shape, counters, term, std::move(items));
  }
  if (const std::uint32_t tiles = term.count / term.span_ptile; tiles > 0) {
    ItemClass full = items;
    full.kind = Kind::Tile;
    full.tasks = term.span_ptile;
    full.per_member = tiles;
    items.tile = static_cast<std::uint32_t>(shape.classes.size());
    add_class(shape, counters, term, std::move(full));
  }
  if (const std::uint32_t rest = term.count % term.span_ptile; rest > 0) {
    items.kind = Kind::Remainder;
    items.tasks = rest;
    items.per_member = 1;
    add_class(shape, counters, term, std::move(items));
  }
}

}  // namespace

Shape make_shape(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand) {
  Shape shape;
  Counters counters(view, shape);
  for (const RoleDemand& each : demand) {
    LOCKSTEP_CHECK(each.role < spec.roles.size(), "a demand names a role that the spec does not have");
    const auto members = static_cast<std::uint32_t>(each.indexes.size()) + each.spares;
    if (members == 0) continue;
    const auto role = static_cast<std::uint32_t>(shape.roles.size());
    shape.members += members;
    const auto first = static_cast<std::uint32_t>(shape.classes.size());
    shape.roles.push_back({&each, &spec.roles[each.role], members, first, first});
    const auto& tasks = spec.roles[each.role].tasks;
    for (std::uint32_t term = 0; term < tasks.size(); ++term) add_term(shape, counters, role, term, tasks[term]);
    shape.roles.back().class_after = static_cast<std::uint32_t>(shape.classes.size());
  }
  return shape;
}

bool pools_suffice(const CapacityView& view, const Shape& shape) {
  return std::all_of(shape.pools.begin(), shape.pools.end(),
                     [&](const PoolNeed& need) { return need.amount <= view.pool_free(need.place.column); });
}

Field::Field(const CapacityView& view, const Shape& shape, RowRange rows) : rows_(rows), width_(shape.columns.size()) {
  free_.reserve(rows.size() * width_);
  open_.reserve(rows.size());
  for (std::uint32_t row = rows.first; row < rows.after; ++row) {
    open_.push_back(view.open(row));
    for (const std::uint32_t column : shape.columns) free_.push_back(view.free(row, column));
  }
}

std::int64_t Field::room(const ItemClass& items, std::uint32_t row) const {
  if (items.impossible || !open_[row - rows_.first]) return 0;
  std::int64_t most = kAnyNumber;
  for (const Size& size : items.size) most = std::min(most, free(row, size.column) / size.amount);
  return most;
}

void Field::use(const ItemClass& items, std::uint32_t row, std::int64_t count) {
  for (const Size& size : items.size) {
    free_[std::size_t{row - rows_.first} * width_ + size.column] -= size.amount * count;
  }
}

std::int64_t on_one_host_max(const Shape& shape, const ItemClass& items) {
  const bool apart = items.kind == Kind::Tile || items.kind == Kind::Remainder;
  return apart ? shape.roles[items.role].members : items.count;
}

std::int64_t room_alone(const CapacityView& view, const Field& field, const ItemClass& items, std::int64_t host_max,
                        RowRange rows, std::int64_t enough) {
  std::int64_t found = 0;
  for (std::uint32_t row = rows.first; row < rows.after && found < enough; ++row) {
    const std::int64_t here = std::min(host_max, field.room(items, row));
    if (here > 0 && matches(*items.select, view.host(row).facts.info)) found = saturating_plus(found, here);
  }
  return found;
}

namespace {

void deal_freely(const ItemClass& items, const std::vector<RowCount>& taken, std::vector<std::vector<Part>>& members) {
  std::size_t at = 0;
  std::int64_t left = taken.empty() ? 0 : taken[0].count;
  for (auto& member : members) {
    for (std::int64_t wanted = items.per_member; wanted > 0;) {
      while (left == 0) left = taken.at(++at).count;
      const std::int64_t here = std::min(left, wanted);
      member.push_back({taken[at].row, items.term, static_cast<std::uint32_t>(here * items.tasks)});
      left -= here;
      wanted -= here;
    }
  }
}

// Items of a ptile term on one row that are not dealt out yet.
struct Tiles {
  std::uint32_t row{};
  std::int64_t full{};
  std::int64_t rest{};
};

// Deals a ptile term to one member while `left` members, it included, have none. No row has more than `left` items; one
// with as many is due: it must give one to every member from now on. Whatever else is chosen, there are enough rows
// with tiles: per_member + 1 of them at least, or per_member that hold nothing else and are all due.
class TileDealer {
 public:
  TileDealer(std::vector<Tiles> rows, const ItemClass* full, const ItemClass* rest)
      : rows_(std::move(rows)), full_(full), rest_(rest) {}

  void deal(std::vector<Part>& member, std::int64_t left) {
    const std::size_t chosen = rest_ == nullptr ? rows_.size() : choose_rest();
    std::int64_t wanted = full_ == nullptr ? 0 : full_->per_member;
    for (std::size_t i = 0; i < rows_.size(); ++i) wanted -= i != chosen && due(rows_[i], left) ? 1 : 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Tiles& row = rows_[i];
      const bool forced = due(row, left);
      if (i == chosen) {
        member.push_back({row.row, rest_->term, rest_->tasks});
        --row.rest;
      } else if (forced || (wanted > 0 && row.full > 0)) {
        LOCKSTEP_CHECK(row.full > 0, "items of a ptile term that cannot be dealt out");
        member.push_back({row.row, full_->term, full_->tasks});
        --row.full;
        if (!forced) --wanted;
      }
    }
    LOCKSTEP_CHECK(wanted == 0, "items of a ptile term that do not add up");
    std::erase_if(rows_, [](const Tiles& row) { return row.full + row.rest == 0; });
  }

 private:
  static bool due(const Tiles& row, std::int64_t left) { return row.full + row.rest >= left; }

  // Any row that has one: where more rows are due than a member has tiles, every row is; and a due row with nothing but
  // remainders has all that are left.
  std::size_t choose_rest() const {
    const auto has_rest = [](const Tiles& row) { return row.rest > 0; };
    return static_cast<std::size_t>(std::find_if(rows_.begin(), rows_.end(), has_rest) - rows_.begin());
  }

  std::vector<Tiles> rows_;
  const ItemClass* full_;
  const ItemClass* rest_;
};

void deal_tiles(const ItemClass* full, const ItemClass* rest, const std::vector<RowCount>* full_taken,
                const std::vector<RowCount>* rest_taken, std::vector<std::vector<Part>>& members) {
  std::map<std::uint32_t, Tiles> by_row;
  const auto collect = [&](const std::vector<RowCount>* taken, std::int64_t Tiles::*which) {
    if (taken == nullptr) return;
    for (const RowCount& each : *taken) {
      auto& row = by_row[each.row];
      row.row = each.row;
      row.*which += each.count;
    }
  };
  collect(full_taken, &Tiles::full);
  collect(rest_taken, &Tiles::rest);
  std::vector<Tiles> rows;
  for (const auto& [row, tiles] : by_row) rows.push_back(tiles);
  TileDealer dealer(std::move(rows), full, rest);
  for (std::size_t i = 0; i < members.size(); ++i)
    dealer.deal(members[i], static_cast<std::int64_t>(members.size() - i));
}

}  // namespace

std::vector<std::vector<Part>> deal(const Shape& shape, std::uint32_t role,
                                    std::span<const std::vector<RowCount>> taken) {
  const RoleShape& each = shape.roles[role];
  std::vector<std::vector<Part>> members(each.members);
  for (std::uint32_t index = each.class_first; index < each.class_after; ++index) {
    const ItemClass& items = shape.classes[index];
    const std::vector<RowCount>& here = taken[index - each.class_first];
    if (items.kind == Kind::Spread || items.kind == Kind::Whole) {
      deal_freely(items, here, members);
      continue;
    }
    if (items.kind == Kind::Remainder) {
      deal_tiles(nullptr, &items, nullptr, &here, members);
      continue;
    }
    const bool has_rest = index + 1 < each.class_after && shape.classes[index + 1].tile == index;
    if (!has_rest) {
      deal_tiles(&items, nullptr, &here, nullptr, members);
      continue;
    }
    deal_tiles(&items, &shape.classes[index + 1], &here, &taken[index + 1 - each.class_first], members);
    ++index;  // its remainder is dealt
  }
  for (auto& member : members) std::sort(member.begin(), member.end());
  return members;
}

}  // namespace lockstep::fit_detail
