#include "scheduler/victims.h"

#include <algorithm>
#include <map>

#include "statemachine/capacity.h"

namespace lockstep::scheduler_detail {

namespace {

constexpr std::size_t kExactUnitsMax = 16;

std::int64_t tasks_of(const RoleSpec& role) {
  std::int64_t tasks = 0;
  for (const TaskTerm& term : role.tasks) tasks += term.count;
  return tasks;
}

void add_member(Unit& unit, const Group& group, RoleIndex role, const Member& member, Time now) {
  const std::int64_t tasks = tasks_of(group.spec->roles[role]);
  unit.tasks = saturating_plus(unit.tasks, tasks);
  if (member.started_at)
    unit.work = saturating_plus(unit.work, saturating_times(tasks, (now - member.started_at).value));
  unit.holdings.push_back({group.spec.get(), role, &member.hosts});
}

// Members above the minimum of their roles that can be evicted alone: last placed first, then later role, higher index.
std::vector<Unit> surplus_of(const Group& group, Time now) {
  std::vector<Unit> units;
  if (!is_active(group.head.phase) || group.head.satisfied) return units;
  struct Candidate {
    Seq placed{};
    MemberKey key{};
  };
  std::vector<Candidate> candidates;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    if (group.roles[role].counts.required <= group.spec->roles[role].min) continue;
    const auto& members = group.roles[role].members;
    for (std::uint32_t index = 0; index < members.size(); ++index) {
      const Member& member = members[index];
      if (member.required && is_live(member.phase) && member.phase != MemberPhase::Stopping)
        candidates.push_back({member.placed_seq, {role, index}});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.placed, a.key) > std::pair(b.placed, b.key);
  });
  std::vector<std::uint32_t> taken(group.roles.size(), 0);
  for (const Candidate& each : candidates) {
    const RoleIndex role = each.key.role;
    if (group.roles[role].counts.required - taken[role] <= group.spec->roles[role].min) continue;
    ++taken[role];
    Unit unit{&group, {each.key}, {}, 0, 0};
    add_member(unit, group, role, group.roles[role].members[each.key.index], now);
    units.push_back(std::move(unit));
  }
  return units;
}

Unit whole(const Group& group, Time now) {
  Unit unit{&group, {}, {}, 0, 0};
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (const Member& member : group.roles[role].members) {
      if (!member.hosts.empty() && is_live(member.phase)) add_member(unit, group, role, member, now);
    }
  }
  unit.holdings = staying(group);
  return unit;
}

// Of one group, who is evicted alone before whom.
bool goes_before(const Unit& a, const Unit& b) {
  const auto rank = [](const Unit& unit) {
    const MemberKey key = unit.members.front();
    return std::pair(unit.group->roles[key.role].members[key.index].placed_seq, key);
  };
  return rank(a) > rank(b);
}

// Cheapest first; of one group in the order in which its members may go, it as a whole last.
void sort_units(std::vector<Unit>& units) {
  struct Rank {
    std::pair<std::int64_t, std::int64_t> cost;  // no less than those of its group that come before it
    Seq order{};
    std::size_t position{};
  };
  std::vector<std::pair<Rank, std::size_t>> order;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Rank rank{{units[i].work, units[i].tasks}, units[i].group->head.order, i};
    if (i > 0 && units[i - 1].group == units[i].group) rank.cost = std::max(rank.cost, order.back().first.cost);
    order.emplace_back(rank, i);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.first.cost != b.first.cost) return a.first.cost < b.first.cost;
    if (a.first.order != b.first.order) return a.first.order > b.first.order;
    return a.first.position < b.first.position;
  });
  std::vector<Unit> sorted;
  sorted.reserve(units.size());
  for (const auto& [rank, i] : order) sorted.push_back(std::move(units[i]));
  units = std::move(sorted);
}

// What a set of units costs: compared in this order.
struct Cost {
  std::int64_t work{};
  std::int64_t tasks{};
  std::vector<Seq> submitted;  // of the groups, earliest first: the latest submitted go first
  friend bool operator<(const Cost& a, const Cost& b) {
    if (a.work != b.work) return a.work < b.work;
    if (a.tasks != b.tasks) return a.tasks < b.tasks;
    return a.submitted > b.submitted;
  }
};

class Search {
 public:
  Search(CapacityView& view, const Group& group, const std::vector<RoleDemand>& demand, const std::vector<Unit>& units)
      : view_(view), group_(group), demand_(demand), units_(units) {}

  [[nodiscard]] std::vector<std::size_t> find() {
    WhatIf all(view_);
    for (const Unit& unit : units_) {
      if (unit.members.empty()) all.give(unit.holdings);
    }
    if (!fits()) return {};
    all.rewind(0);
    return units_.size() <= kExactUnitsMax ? cheapest() : greedy();
  }

 private:
  [[nodiscard]] bool fits() const { return fits_in(view_, *group_.spec, demand_, {}); }

  [[nodiscard]] Cost cost_of(const std::vector<std::size_t>& set) const {
    Cost cost;
    for (const std::size_t i : set) {
      cost.work = saturating_plus(cost.work, units_[i].work);
      cost.tasks = saturating_plus(cost.tasks, units_[i].tasks);
      cost.submitted.push_back(units_[i].group->head.order);
    }
    std::sort(cost.submitted.begin(), cost.submitted.end());
    return cost;
  }

  // What `chosen` has of a group: nothing, some of its members, or all of it.
  enum class Part : std::uint8_t { Nothing, Members, Whole };
  [[nodiscard]] Part part_of(const Group* group, const std::vector<std::size_t>& chosen) const {
    Part part = Part::Nothing;
    for (const std::size_t i : chosen) {
      if (units_[i].group == group) part = units_[i].members.empty() ? Part::Whole : Part::Members;
    }
    return part;
  }

  // May `next` join `chosen`? A whole group goes with nobody of it alone; a member after those that go before it.
  [[nodiscard]] bool may_join(std::size_t next, const std::vector<std::size_t>& chosen) const {
    const Unit& unit = units_[next];
    const Part part = part_of(unit.group, chosen);
    if (unit.members.empty()) return part == Part::Nothing;
    if (part == Part::Whole) return false;
    std::size_t before = 0;
    for (const Unit& other : units_) {
      before += other.group == unit.group && !other.members.empty() && goes_before(other, unit) ? 1U : 0U;
    }
    const auto there =
        std::count_if(chosen.begin(), chosen.end(), [&](std::size_t i) { return units_[i].group == unit.group; });
    return static_cast<std::size_t>(there) == before;
  }

  // Every set, those that cost less first along each branch; what costs more than the best so far is not asked.
  [[nodiscard]] std::vector<std::size_t> cheapest() {
    std::vector<std::size_t> chosen;
    branch(0, chosen);
    return best_;
  }

  void branch(std::size_t next, std::vector<std::size_t>& chosen) {
    if (found_ && !(cost_of(chosen) < best_cost_)) return;
    if (fits()) {  // more of them would only cost more
      best_ = chosen;
      best_cost_ = cost_of(chosen);
      found_ = true;
      return;
    }
    if (next == units_.size() || !fits_with_rest(next, chosen)) return;
    if (may_join(next, chosen)) {
      WhatIf with(view_);
      with.give(units_[next].holdings);
      chosen.push_back(next);
      branch(next + 1, chosen);
      chosen.pop_back();
    }
    branch(next + 1, chosen);
  }

  // With everything that could still join.
  [[nodiscard]] bool fits_with_rest(std::size_t next, const std::vector<std::size_t>& chosen) const {
    WhatIf rest(view_);
    for (std::size_t i = next; i < units_.size(); ++i) {
      const Unit& unit = units_[i];
      const Part part = part_of(unit.group, chosen);
      if (part == Part::Whole) continue;
      if (unit.members.empty() ? part == Part::Nothing : part == Part::Members) rest.give(unit.holdings);
    }
    return fits();
  }

  // The cheapest until it fits, then without each that can be spared, the dearest first. A whole group comes after its
  // members here, and adds what they have not given.
  [[nodiscard]] std::vector<std::size_t> greedy() {
    std::vector<std::vector<Holding>> adds;
    std::map<const Group*, std::vector<const std::vector<Slice>*>> alone;
    for (const Unit& unit : units_) {
      std::vector<Holding> holdings = unit.holdings;
      auto& members = alone[unit.group];
      if (unit.members.empty()) {
        std::erase_if(holdings, [&](const Holding& each) {
          return std::find(members.begin(), members.end(), each.slices) != members.end();
        });
      } else {
        members.push_back(holdings.front().slices);
      }
      adds.push_back(std::move(holdings));
    }
    std::size_t given = 0;
    const auto give_first = [&](std::size_t count) {
      for (; given < count; ++given) give(adds[given]);
      for (; given > count; --given) take(adds[given - 1]);
    };
    std::size_t fails = 0;
    std::size_t works = units_.size();
    while (works - fails > 1) {
      const std::size_t middle = fails + (works - fails) / 2;
      give_first(middle);
      (fits() ? works : fails) = middle;
    }
    give_first(works);
    std::vector<std::size_t> set;
    std::map<const Group*, bool> member_stays;  // one that goes after it, or its whole group
    for (std::size_t i = works; i-- > 0;) {
      const Unit& unit = units_[i];
      if (!member_stays[unit.group]) {
        take(adds[i]);
        if (fits()) continue;
        give(adds[i]);
      }
      if (!unit.members.empty() || !member_stays[unit.group]) set.push_back(i);
      member_stays[unit.group] = true;
    }
    for (const std::size_t i : set) take(adds[i]);
    std::erase_if(set, [&](std::size_t i) {
      return !units_[i].members.empty() && std::any_of(set.begin(), set.end(), [&](std::size_t j) {
        return units_[j].group == units_[i].group && units_[j].members.empty();
      });
    });
    return set;
  }

  void give(const std::vector<Holding>& holdings) {
    for (const Holding& each : holdings) view_.give(*each.spec, each.role, *each.slices);
  }
  void take(const std::vector<Holding>& holdings) {
    for (const Holding& each : holdings) view_.take(*each.spec, each.role, *each.slices);
  }

  CapacityView& view_;
  const Group& group_;
  const std::vector<RoleDemand>& demand_;
  const std::vector<Unit>& units_;
  std::vector<std::size_t> best_;
  Cost best_cost_;
  bool found_ = false;
};

}  // namespace

std::vector<Unit> units_below(const State& state, Time now, std::int32_t priority) {
  std::vector<Unit> units;
  for (const auto& [below, groups] : state.indexes.preemptible) {
    if (below >= priority) break;
    for (const GroupId id : groups) {
      const Group& group = *state.group(id);
      for (Unit& unit : surplus_of(group, now)) units.push_back(std::move(unit));
      units.push_back(whole(group, now));
    }
  }
  sort_units(units);
  return units;
}

Victims find_victims(CapacityView& view, const Group& group, const std::vector<RoleDemand>& demand,
                     const std::vector<Unit>& units) {
  Victims found;
  const std::vector<std::size_t> chosen = Search(view, group, demand, units).find();
  if (chosen.empty()) return found;
  std::map<GroupId, EvictAction> evictions;
  for (const std::size_t i : chosen) {
    found.freed.insert(found.freed.end(), units[i].holdings.begin(), units[i].holdings.end());
    EvictAction& eviction = evictions[units[i].group->head.id];
    eviction.group = units[i].group->head.id;
    eviction.by = group.head.id;
    eviction.members.insert(eviction.members.end(), units[i].members.begin(), units[i].members.end());
  }
  for (auto& [id, eviction] : evictions) {
    std::sort(eviction.members.begin(), eviction.members.end());
    found.evictions.push_back(std::move(eviction));
  }
  WhatIf gone(view);
  gone.give(found.freed);
  found.fit = best_fit(view, *group.spec, demand, {}, Joining::No);
  if (!found.fit.fits) found.evictions.clear();
  return found;
}

}  // namespace lockstep::scheduler_detail
