// Whom a pass evicts, against an exhaustive search on random small states: of the sets of units that let the group fit
// together with what is leaving anyway, one that loses least work. Units are whole groups of strictly lower priority
// that may be preempted and hold something, or members above `min` of one, the last placed first. For more units than
// are searched exactly: nobody of the set can be spared. Then, whoever is evicted, that a reservation is opened with
// it.
//
// LOCKSTEP_STATES=20000 gives the long form; a state's own seed repeats it (LOCKSTEP_SEED).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "scheduler/plan.h"
#include "tests/scheduler/brute_force.h"
#include "tests/scheduler/cluster.h"
#include "tests/scheduler/dice.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kStatesUsual = 4'000;
constexpr std::size_t kExactUnitsMax = 16;
constexpr Time kNow{seconds(1'000).value};

// ---- states
// ----------------------------------------------------------------------------------------------------------

struct Sizes {
  std::int64_t hosts_least;
  std::int64_t hosts_most;
  std::int64_t groups_least;
  std::int64_t groups_most;
  std::int64_t cpu_least;  // of a host
  std::int64_t cpu_most;
  std::int64_t members_most;  // of a role
  bool elastic;               // most roles are, and members are small
};

TaskTerm victims_term(Dice& dice, const Sizes& sizes) {
  if (sizes.elastic && !dice.one_in(3)) return term(1, {{"cpu", 1}});
  Amounts requests{{"cpu", dice.between(1, 3)}};
  if (dice.one_in(5)) requests.emplace_back("gpu", 1);
  if (dice.one_in(8)) requests.emplace_back("license.x", 1);
  TaskTerm made = term(dice.one_in(2) ? 1 : dice.count(1, 2), requests);
  if (dice.one_in(6)) made.span_hosts = 1;
  return made;
}

GroupSpec victims_group(Dice& dice, const Sizes& sizes) {
  std::vector<RoleSpec> roles;
  for (std::int64_t left = dice.one_in(3) ? 2 : 1; left > 0; --left) {
    roles.push_back(role("r" + std::to_string(left), dice.count(1, sizes.members_most), {victims_term(dice, sizes)}));
    if (dice.one_in(2)) roles.back().min = dice.count(1, roles.back().replicas);
    if (sizes.elastic && !dice.one_in(3)) roles.back().min = 1;
    if (dice.one_in(10)) roles.back().spares = 1;
    if (dice.one_in(10)) roles.back().topology.required = "rack";
  }
  GroupSpec group = spec(std::move(roles), dice.one_in(4) ? "rack" : "");
  group.preemptible = !dice.one_in(6);
  return group;
}

// What has become of a group that was placed.
void age(Dice& dice, Group& group, const GroupSpec& spec) {
  const std::int64_t how = dice.between(1, 20);
  const Time started{kNow.value - seconds(dice.between(1, 4) * 10).value};
  Seq placed{group.head.order.value};
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (Member& member : group.roles[role].members) {
      if (dice.one_in(3)) placed.value += 100;  // grown, or replaced since
      member.placed_seq = placed;
      if (how > 4) member.started_at = dice.one_in(4) ? Time{started.value + seconds(5).value} : started;
      if (how <= 2) member.phase = dice.one_in(2) ? MemberPhase::Placed : MemberPhase::Armed;
      if (how == 3 || how == 4) member.phase = MemberPhase::Starting;
    }
  }
  group.head.phase = how <= 2 ? GroupPhase::Placed : how <= 4 ? GroupPhase::Starting : GroupPhase::Running;
  std::vector<Member*> all;
  for (Role& role : group.roles) {
    for (Member& member : role.members) all.push_back(&member);
  }
  if (how == 5 || how == 6) {  // stops, to be gone
    group.head.phase = GroupPhase::Stopping;
    group.head.next = StopNext::Requeue;
    for (Member* member : all) member->phase = MemberPhase::Stopping;
    for (Role& role : group.roles) role.spares.clear();
  }
  if (how == 7 || how == 8) {  // restarts on its own hosts
    group.head.phase = how == 7 ? GroupPhase::Stopping : GroupPhase::Backoff;
    group.head.next = StopNext::Restart;
    group.head.keep_hosts = true;
    for (Member* member : all) {
      member->phase = how == 7 ? MemberPhase::Stopping : MemberPhase::Waiting;
      if (how == 8) member->started_at = {};
    }
  }
  if (how == 9) group.head.satisfied = true;
  if (how >= 10 && how <= 12) {  // one of it is given up, gone or not yet
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      auto& members = group.roles[role].members;
      if (members.size() <= spec.roles[role].min) continue;
      members.back().required = false;
      if (how == 10) {
        members.back().phase = MemberPhase::Failed;
        members.back().hosts.clear();
      } else {
        members.back().phase = MemberPhase::Stopping;
      }
    }
  }
}

// ---- units
// -----------------------------------------------------------------------------------------------------------

// A part of a group that may be evicted: none of it, so many of its members, or all.
struct Part {
  const Group* group{};
  std::vector<MemberKey> members;  // of some: as many as go, in their order
  bool whole{false};
};

struct LostWork {
  std::int64_t work{};
  std::int64_t tasks{};
  friend auto operator<=>(const LostWork&, const LostWork&) = default;
};

bool is_there(const Member& member) { return is_live(member.phase) && !member.hosts.empty(); }

// Members above the minimum of their roles, in the order in which they go.
std::vector<MemberKey> above_min(const Group& group) {
  std::vector<std::pair<std::pair<Seq, MemberKey>, MemberKey>> all;
  if (!is_active(group.head.phase) || group.head.satisfied) return {};
  std::vector<std::uint32_t> left;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    left.push_back(0);
    for (std::uint32_t index = 0; index < group.roles[role].members.size(); ++index) {
      const Member& member = group.roles[role].members[index];
      left[role] += member.required ? 1 : 0;
      if (member.required && is_there(member) && member.phase != MemberPhase::Stopping)
        all.push_back({{member.placed_seq, {role, index}}, {role, index}});
    }
  }
  std::sort(all.rbegin(), all.rend());
  std::vector<MemberKey> found;
  for (const auto& [rank, key] : all) {
    if (left[key.role] <= group.spec->roles[key.role].min) continue;
    --left[key.role];
    found.push_back(key);
  }
  return found;
}

bool may_be_evicted(const Group& group, std::int32_t priority) {
  const GroupPhase phase = group.head.phase;
  const bool keeps = group.head.keep_hosts && (phase == GroupPhase::Stopping || phase == GroupPhase::Backoff);
  return group.spec->preemptible && group.spec->priority < priority && (is_active(phase) || keeps);
}

bool goes(const Part& part, const MemberKey& key) {
  return part.whole || std::find(part.members.begin(), part.members.end(), key) != part.members.end();
}

void for_each_member_of(const Part& part, auto&& visit) {
  if (part.group == nullptr) return;
  for (RoleIndex role = 0; role < part.group->roles.size(); ++role) {
    const auto& members = part.group->roles[role].members;
    for (std::uint32_t index = 0; index < members.size(); ++index) {
      if (goes(part, {role, index})) visit(role, members[index]);
    }
  }
}

LostWork lost_with(const Part& part) {
  LostWork lost;
  for_each_member_of(part, [&](RoleIndex role, const Member& member) {
    if (!is_there(member)) return;
    std::int64_t tasks = 0;
    for (const TaskTerm& each : part.group->spec->roles[role].tasks) tasks += each.count;
    lost.tasks += tasks;
    if (member.started_at) lost.work += tasks * (kNow - member.started_at).value;
  });
  return lost;
}

using Parts = std::vector<Part>;

LostWork lost_with(const Parts& parts) {
  LostWork lost;
  for (const Part& part : parts) {
    const LostWork one = lost_with(part);
    lost.work += one.work;
    lost.tasks += one.tasks;
  }
  return lost;
}

class OneState {
 public:
  OneState(std::uint64_t seed, const Sizes& sizes) {
    Dice dice(seed);
    cluster_.levels({"rack"}).pool("license.x", dice.between(1, 8)).at(kNow);
    const std::int64_t hosts = dice.between(sizes.hosts_least, sizes.hosts_most);
    for (std::int64_t i = 0; i < hosts; ++i) {
      cluster_.host("n" + std::to_string(i), "r" + std::to_string(dice.between(1, 2)),
                    {{"cpu", dice.between(sizes.cpu_least, sizes.cpu_most)}, {"gpu", dice.between(0, 3)}});
    }
    for (std::int64_t groups = dice.between(sizes.groups_least, sizes.groups_most); groups > 0; --groups) {
      GroupSpec other = victims_group(dice, sizes);
      other.priority = dice.one_in(5) ? 2 : static_cast<std::int32_t>(dice.between(-1, 1));
      if (fit_now(cluster_, other).fits) age(dice, cluster_.group(cluster_.running(other)), other);
    }
    if (dice.one_in(8)) cluster_.down("n0");
    GroupSpec group = victims_group(dice, sizes);
    group.priority = 2;
    group.partial = dice.one_in(5);
    id_ = cluster_.pending(group);
    const State& state = cluster_.state();
    group_ = state.group(id_);
    demand_ = whole_demand(*group_, group.partial);
    state.groups.for_each([&](const Group& other) {
      if (!may_be_evicted(other, 2)) return;
      candidates_.push_back(&other);
      alone_.push_back(above_min(other));
      units_ += 1 + alone_.back().size();
    });
    free_ = free_now(state);
    with_leaving_ = free_;
    state.groups.for_each([&](const Group& other) {
      for (RoleIndex role = 0; role < other.roles.size(); ++role) {
        for (const Member& member : other.roles[role].members) {
          if (leaves(other, member)) give_back(state, with_leaving_, *other.spec, role, member.hosts);
        }
      }
    });
  }

  [[nodiscard]] std::size_t units() const { return units_; }
  [[nodiscard]] const State& state() { return cluster_.state(); }

  // What the pass made of the group.
  enum class Outcome { Placed, Waits, Nothing, EvictsGroups, EvictsMembers };
  void judge(Outcome& outcome) {
    const State& state = *&cluster_.state();
    const Plan made = plan(state);
    Parts evicted;
    const ReserveAction* reserve = nullptr;
    bool placed = false;
    for (const PlanAction& action : made.actions) {
      if (const auto* evict = std::get_if<EvictAction>(&action)) {
        ASSERT_EQ(evict->by, id_);
        evicted.push_back({state.group(evict->group), evict->members, evict->members.empty()});
      } else if (std::holds_alternative<PlaceAction>(action)) {
        placed = true;
      } else {
        reserve = std::get_if<ReserveAction>(&action);
      }
    }
    const bool fits_now = fits(free_);
    ASSERT_EQ(placed, fits_now);
    const bool waits = !fits_now && fits(with_leaving_);
    ASSERT_EQ(evicted.empty(), reserve == nullptr) << "with the eviction the group opens a reservation";
    const bool alone = std::any_of(evicted.begin(), evicted.end(), [](const Part& part) { return !part.whole; });
    outcome = placed            ? Outcome::Placed
              : waits           ? Outcome::Waits
              : evicted.empty() ? Outcome::Nothing
              : alone           ? Outcome::EvictsMembers
                                : Outcome::EvictsGroups;
    if (fits_now || waits) {
      ASSERT_TRUE(evicted.empty()) << "nothing has to be evicted";
      return;
    }
    if (evicted.empty()) {
      ASSERT_FALSE(fits_without(everybody())) << "it would fit if all were evicted";
      return;
    }
    for (const Part& part : evicted) ASSERT_TRUE(is_a_part(part)) << part.group->head.identity.name;
    ASSERT_TRUE(fits_without(evicted)) << "P7: evicted in vain";
    if (units_ <= kExactUnitsMax)
      expect_least(evicted);
    else
      expect_none_to_spare(evicted);
    expect_free_part(*reserve);
  }

 private:
  // On its way to be free without anybody's doing.
  static bool leaves(const Group& group, const Member& member) {
    if (member.phase != MemberPhase::Stopping) return false;
    const bool runs_again = group.head.phase != GroupPhase::Stopping || group.head.keep_hosts;
    return !(member.required && runs_again);
  }

  bool fits(const FreeHosts& free) const { return fits_by_brute_force(cluster_state(), *group_->spec, demand_, free); }
  const State& cluster_state() const { return *state_of(); }
  const State* state_of() const { return &const_cast<OneState*>(this)->cluster_.state(); }

  bool fits_without(const Parts& parts) const {
    FreeHosts free = with_leaving_;
    for (const Part& part : parts) {
      for_each_member_of(part, [&](RoleIndex role, const Member& member) {
        if (!leaves(*part.group, member)) give_back(cluster_state(), free, *part.group->spec, role, member.hosts);
      });
      if (part.group == nullptr || !part.whole) continue;
      for (RoleIndex role = 0; role < part.group->roles.size(); ++role) {
        for (const Spare& spare : part.group->roles[role].spares) {
          give_back(cluster_state(), free, *part.group->spec, role, spare.hosts);
        }
      }
    }
    return fits(free);
  }

  Parts everybody() const {
    Parts parts;
    for (const Group* group : candidates_) parts.push_back({group, {}, true});
    return parts;
  }

  // Members of a part are listed by role and index.
  static std::vector<MemberKey> sorted(std::vector<MemberKey> keys) {
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  bool is_a_part(const Part& part) const {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i] != part.group) continue;
      const auto& alone = alone_[i];
      return part.whole || (part.members.size() <= alone.size() &&
                            sorted({alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(part.members.size())}) ==
                                part.members);
    }
    return false;
  }

  void for_each_set(std::size_t at, Parts& parts, auto&& visit) const {
    if (at == candidates_.size()) return visit(parts);
    for_each_set(at + 1, parts, visit);
    Part part{candidates_[at], {}, false};
    for (const MemberKey& key : alone_[at]) {
      part.members.push_back(key);
      parts.push_back(part);
      for_each_set(at + 1, parts, visit);
      parts.pop_back();
    }
    parts.push_back({candidates_[at], {}, true});
    for_each_set(at + 1, parts, visit);
    parts.pop_back();
  }

  // Every set that is cheaper does not do; nor does an equal one of groups submitted later.
  void expect_least(const Parts& evicted) const {
    const LostWork lost = lost_with(evicted);
    std::vector<std::pair<LostWork, Parts>> others;
    Parts parts;
    for_each_set(0, parts, [&](const Parts& set) {
      const LostWork here = lost_with(set);
      if (here < lost || (here == lost && later(set, evicted))) others.emplace_back(here, set);
    });
    for (const auto& [here, set] : others) {
      ASSERT_FALSE(fits_without(set)) << "evicted " << text_of(evicted) << " at " << lost.work << "/" << lost.tasks
                                      << ", better: " << text_of(set) << " at " << here.work << "/" << here.tasks;
    }
  }

  // Is every group that only `set` has submitted after every one that only `other` has?
  static bool later(const Parts& set, const Parts& other) {
    const auto only_in = [](const Parts& these, const Parts& those) {
      std::vector<Seq> orders;
      for (const Part& part : these) {
        const bool shared = std::any_of(those.begin(), those.end(), [&](const Part& each) {
          return each.group == part.group && each.whole == part.whole && sorted(each.members) == sorted(part.members);
        });
        if (!shared) orders.push_back(part.group->head.order);
      }
      std::sort(orders.begin(), orders.end());
      return orders;
    };
    const std::vector<Seq> here = only_in(set, other);
    const std::vector<Seq> there = only_in(other, set);
    return !here.empty() && !there.empty() && here.front() > there.back();
  }

  void expect_none_to_spare(const Parts& evicted) const {
    for (std::size_t i = 0; i < evicted.size(); ++i) {
      Parts fewer = evicted;
      const auto candidate = std::find(candidates_.begin(), candidates_.end(), fewer[i].group);
      const auto& alone = alone_[static_cast<std::size_t>(candidate - candidates_.begin())];
      if (fewer[i].whole && !alone.empty()) {
        fewer[i] = {fewer[i].group, alone, false};
      } else if (fewer[i].whole || fewer[i].members.size() == 1) {
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        fewer[i].members.assign(alone.begin(),
                                alone.begin() + static_cast<std::ptrdiff_t>(fewer[i].members.size()) - 1);
      }
      ASSERT_FALSE(fits_without(fewer)) << "in vain: a part of " << evicted[i].group->head.identity.name << " of "
                                        << text_of(evicted);
    }
  }

  // What the reservation holds is free now.
  void expect_free_part(const ReserveAction& reserve) const {
    FreeHosts free = free_;
    ASSERT_EQ(reserve.group, id_);
    for (const MemberPlacement& each : reserve.members) {
      give_back(cluster_state(), free, *group_->spec, each.member.role, each.slices, -1);
    }
    for (const auto& [host, amounts] : free.hosts) {
      for (const auto& [name, amount] : amounts) ASSERT_GE(amount, 0) << "held, and not free";
    }
    for (const auto& [name, amount] : free.pools) ASSERT_GE(amount, 0) << "held, and not free";
  }

  static std::string text_of(const Parts& parts) {
    std::string text;
    for (const Part& part : parts) {
      text += " " + part.group->head.identity.name;
      for (const MemberKey& key : part.members)
        text += "[" + std::to_string(key.role) + "." + std::to_string(key.index) + "]";
    }
    return text;
  }

  Cluster cluster_;
  GroupId id_;
  const Group* group_{};
  std::vector<RoleDemand> demand_;
  std::vector<const Group*> candidates_;
  std::vector<std::vector<MemberKey>> alone_;
  std::size_t units_ = 0;
  FreeHosts free_;
  FreeHosts with_leaving_;
};

void judge_states(std::uint64_t states, const Sizes& sizes, bool exact) {
  const std::uint64_t seed = seed_or(1);
  using Outcome = OneState::Outcome;
  std::map<Outcome, std::uint64_t> outcomes;
  for (std::uint64_t i = 0; i < states; ++i) {
    OneState state(seed + i, sizes);
    if ((state.units() <= kExactUnitsMax) != exact) continue;
    Outcome outcome{};
    state.judge(outcome);
    if (::testing::Test::HasFailure()) FAIL() << "LOCKSTEP_SEED=" << seed + i;
    ++outcomes[outcome];
  }
  const auto number = [&](Outcome outcome) { return static_cast<unsigned long long>(outcomes[outcome]); };
  std::printf(
      "placed %llu, waits for what leaves %llu, nothing helps %llu, evicts groups %llu, and members alone %llu\n",
      number(Outcome::Placed), number(Outcome::Waits), number(Outcome::Nothing), number(Outcome::EvictsGroups),
      number(Outcome::EvictsMembers));
  if (states < 500) return;
  for (const Outcome each : {Outcome::Waits, Outcome::Nothing, Outcome::EvictsGroups, Outcome::EvictsMembers}) {
    EXPECT_GT(outcomes[each], 10U);
  }
}

TEST(VictimsAgainstBruteForce, AreOfAllSetsOfUnitsOneThatLosesLeastWork) {
  judge_states(count_or("LOCKSTEP_STATES", kStatesUsual), {2, 6, 2, 7, 2, 7, 3, false}, true);
}

TEST(VictimsAgainstBruteForce, OfManyUnitsNoneCanBeSpared) {
  judge_states(count_or("LOCKSTEP_STATES", kStatesUsual) / 2, {5, 8, 8, 14, 4, 8, 6, true}, false);
}

}  // namespace
}  // namespace lockstep::testing
