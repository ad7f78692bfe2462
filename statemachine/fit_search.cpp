// The exhaustive solver: host by host in path order, it chooses how many items of each class the host takes. Only
// choices to which nothing can be added are looked at: moving an item from a later host to an earlier one that has room
// for it never spoils a placement. A remainder that failed from some host on is remembered, so the work is bounded by
// hosts times the number of different remainders, and by the budget.

#include <algorithm>
#include <map>
#include <set>

#include "statemachine/fit_shape.h"

namespace lockstep::fit_detail {

namespace {

constexpr std::size_t kSearchClassesMax = 64;
constexpr std::size_t kFailuresKeptMax = 200'000;

using Amounts = std::vector<std::int64_t>;

// Classes that are equal in size, select and rows: one for the search.
struct Merged {
  const ItemClass* items{};  // one of them
  RowRange rows{};
  std::int64_t count{};
  std::int64_t host_max{};
  std::size_t tile{};  // position of the Tile class with which it shares host_max; itself otherwise
  std::vector<std::uint32_t> classes{};
};

struct Candidate {
  std::uint32_t row{};
  Amounts room{};  // by merged class, alone; 0 where it may not lie
};

struct Frame {
  std::size_t host{};
  Amounts remaining{};
  Amounts chosen{};
  Amounts left{};  // of this host, by column, after `chosen`
  bool begun{false};
};

class Search {
 public:
  Search(const Problem& problem, Budget& budget)
      : problem_(problem), shape_(problem.shape), budget_(budget), field_(problem.view, problem.shape, problem.rows) {
    merge_classes();
  }

  std::optional<Assignment> run() {
    if (merged_.size() > kSearchClassesMax) return std::nullopt;
    collect_candidates();
    sum_from_the_end();
    Amounts all;
    for (const Merged& each : merged_) all.push_back(each.count);
    if (all.empty()) return result();
    enter(0, std::move(all));
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (!next_choice(top)) {
        if (!budget_left_) return std::nullopt;
        if (failed_.size() < kFailuresKeptMax) failed_.insert(key(top.host, top.remaining));
        stack_.pop_back();
        continue;
      }
      Amounts after = top.remaining;
      for (std::size_t i = 0; i < after.size(); ++i) after[i] -= top.chosen[i];
      if (std::all_of(after.begin(), after.end(), [](std::int64_t count) { return count == 0; })) return result();
      enter(top.host + 1, std::move(after));
    }
    return std::nullopt;
  }

 private:
  bool apart(const Merged& each) const { return each.items->kind == Kind::Tile || each.items->kind == Kind::Remainder; }

  void merge_classes() {
    std::vector<std::size_t> position(shape_.classes.size());
    for (std::uint32_t index = 0; index < shape_.classes.size(); ++index) {
      const ItemClass& items = shape_.classes[index];
      if (!problem_.roles[items.role]) continue;
      Merged fresh{&items, *problem_.roles[items.role], items.count, on_one_host_max(shape_, items), merged_.size(),
                   {}};
      const auto same = std::find_if(merged_.begin(), merged_.end(), [&](const Merged& other) {
        return !apart(fresh) && !apart(other) && other.rows == fresh.rows && other.items->size == items.size &&
               other.items->impossible == items.impossible && *other.items->select == *items.select;
      });
      if (same != merged_.end()) {
        same->count = saturating_plus(same->count, items.count);
        same->host_max = same->count;
        same->classes.push_back(index);
        continue;
      }
      position[index] = merged_.size();
      if (items.tile != kNoClass) fresh.tile = position[items.tile];
      fresh.classes.push_back(index);
      merged_.push_back(std::move(fresh));
    }
  }

  // Hosts that can take something, and of hosts that are alike in all that matters no more than there are items.
  void collect_candidates() {
    Amounts demand(shape_.columns.size(), 0);
    std::int64_t items = 0;
    for (const Merged& each : merged_) {
      items = saturating_plus(items, each.count);
      for (const Size& size : each.items->size) {
        demand[size.column] = saturating_plus(demand[size.column], saturating_times(size.amount, each.count));
      }
    }
    std::map<Amounts, std::int64_t> alike;
    for (std::uint32_t row = problem_.rows.first; row < problem_.rows.after; ++row) {
      Candidate host{row, rooms(row)};
      if (std::all_of(host.room.begin(), host.room.end(), [](std::int64_t room) { return room == 0; })) continue;
      Amounts likeness = host.room;
      for (std::uint32_t column = 0; column < demand.size(); ++column) {
        likeness.push_back(std::min(demand[column], field_.free(row, column)));
      }
      if (alike[std::move(likeness)]++ < items) hosts_.push_back(std::move(host));
    }
  }

  Amounts rooms(std::uint32_t row) const {
    Amounts room;
    room.reserve(merged_.size());
    for (const Merged& each : merged_) {
      std::int64_t here = 0;
      if (each.rows.contains({row, row + 1})) {
        here = std::min({each.count, each.host_max, field_.room(*each.items, row)});
        if (here > 0 && !matches(*each.items->select, problem_.view.host(row).facts.info)) here = 0;
      }
      room.push_back(here);
    }
    return room;
  }

  void sum_from_the_end() {
    const std::size_t width = shape_.columns.size();
    room_from_.assign(hosts_.size() + 1, Amounts(merged_.size(), 0));
    free_from_.assign(hosts_.size() + 1, Amounts(width, 0));
    for (std::size_t i = hosts_.size(); i-- > 0;) {
      for (std::size_t j = 0; j < merged_.size(); ++j) {
        room_from_[i][j] = saturating_plus(room_from_[i + 1][j], hosts_[i].room[j]);
      }
      for (std::uint32_t column = 0; column < width; ++column) {
        free_from_[i][column] = saturating_plus(free_from_[i + 1][column], field_.free(hosts_[i].row, column));
      }
    }
  }

  // Could the remainder fit on the hosts from here on, as far as sums tell?
  bool possible(std::size_t host, const Amounts& remaining) const {
    for (std::size_t i = 0; i < remaining.size(); ++i) {
      if (remaining[i] > room_from_[host][i]) return false;
    }
    Amounts demand(shape_.columns.size(), 0);
    for (std::size_t i = 0; i < remaining.size(); ++i) {
      for (const Size& size : merged_[i].items->size) {
        demand[size.column] = saturating_plus(demand[size.column], saturating_times(size.amount, remaining[i]));
      }
    }
    for (std::size_t column = 0; column < demand.size(); ++column) {
      if (demand[column] > free_from_[host][column]) return false;
    }
    return true;
  }

  bool takes_some(std::size_t host, const Amounts& remaining) const {
    for (std::size_t i = 0; i < remaining.size(); ++i) {
      if (remaining[i] > 0 && hosts_[host].room[i] > 0) return true;
    }
    return false;
  }

  static Amounts key(std::size_t host, const Amounts& remaining) {
    Amounts key = remaining;
    key.push_back(static_cast<std::int64_t>(host));
    return key;
  }

  void enter(std::size_t host, Amounts remaining) {
    while (host < hosts_.size() && !takes_some(host, remaining)) ++host;
    if (host == hosts_.size() || !possible(host, remaining) || failed_.contains(key(host, remaining))) return;
    Frame frame{host, std::move(remaining), Amounts(merged_.size(), 0), {}, false};
    for (std::uint32_t column = 0; column < shape_.columns.size(); ++column) {
      frame.left.push_back(field_.free(hosts_[host].row, column));
    }
    stack_.push_back(std::move(frame));
  }

  std::int64_t can_add(const Frame& frame, std::size_t which) const {
    const Merged& each = merged_[which];
    std::int64_t most = std::min(frame.remaining[which], hosts_[frame.host].room[which]) - frame.chosen[which];
    if (apart(each)) {  // a Tile class and its Remainder, next to each other, share what one host may take
      std::int64_t here = frame.chosen[each.tile];
      if (each.tile != which)
        here += frame.chosen[which];
      else if (which + 1 < merged_.size() && merged_[which + 1].tile == which)
        here += frame.chosen[which + 1];
      most = std::min(most, each.host_max - here);
    }
    for (const Size& size : each.items->size) most = std::min(most, frame.left[size.column] / size.amount);
    return most;
  }

  void add(Frame& frame, std::size_t which, std::int64_t count) const {
    frame.chosen[which] += count;
    for (const Size& size : merged_[which].items->size) frame.left[size.column] -= size.amount * count;
  }

  void fill(Frame& frame, std::size_t from) const {
    for (std::size_t i = from; i < merged_.size(); ++i) {
      if (const std::int64_t more = can_add(frame, i); more > 0) add(frame, i, more);
    }
  }

  // The next choice to which nothing can be added, those with most items of earlier classes first.
  bool next_choice(Frame& frame) {
    const std::uint64_t cost = 1 + merged_.size() / 8;
    if (!frame.begun) {
      frame.begun = true;
      fill(frame, 0);
      budget_left_ = budget_.spend(cost);
      return budget_left_;
    }
    while (step_back(frame)) {
      budget_left_ = budget_.spend(cost);
      if (!budget_left_) return false;
      bool complete = true;
      for (std::size_t i = 0; i < merged_.size() && complete; ++i) complete = can_add(frame, i) <= 0;
      if (complete) return true;
    }
    return false;
  }

  bool step_back(Frame& frame) const {
    for (std::size_t i = merged_.size(); i-- > 0;) {
      if (frame.chosen[i] == 0) continue;
      if (i + 1 == merged_.size()) {  // fewer of the last class alone is never complete
        add(frame, i, -frame.chosen[i]);
        continue;
      }
      add(frame, i, -1);
      fill(frame, i + 1);
      return true;
    }
    return false;
  }

  Assignment result() const {
    std::vector<std::vector<RowCount>> taken(shape_.classes.size());
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      std::size_t at = 0;  // of the classes merged, the one to serve
      std::int64_t missing = shape_.classes[merged_[i].classes[0]].count;
      for (const Frame& frame : stack_) {
        for (std::int64_t here = frame.chosen[i]; here > 0;) {
          while (missing == 0) missing = shape_.classes[merged_[i].classes.at(++at)].count;
          const std::int64_t now = std::min(here, missing);
          taken[merged_[i].classes[at]].push_back({hosts_[frame.host].row, now});
          here -= now;
          missing -= now;
        }
      }
    }
    Assignment assignment(shape_.roles.size());
    for (std::uint32_t role = 0; role < shape_.roles.size(); ++role) {
      if (!problem_.roles[role]) continue;
      const RoleShape& each = shape_.roles[role];
      const std::span<const std::vector<RowCount>> all(taken);
      assignment[role] = deal(shape_, role, all.subspan(each.class_first, each.class_after - each.class_first));
    }
    return assignment;
  }

  const Problem& problem_;
  const Shape& shape_;
  Budget& budget_;
  Field field_;
  std::vector<Merged> merged_;
  std::vector<Candidate> hosts_;
  std::vector<Amounts> room_from_;  // [host][merged class]: on this host and all after it
  std::vector<Amounts> free_from_;  // [host][column]
  std::vector<Frame> stack_;
  std::set<Amounts> failed_;
  bool budget_left_ = true;
};

}  // namespace

std::optional<Assignment> search(const Problem& problem, Budget& budget) { return Search(problem, budget).run(); }

}  // namespace lockstep::fit_detail
