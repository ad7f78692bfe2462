#pragma once
// One pass over a cluster made by hand, told in words: what the tests of passes compare, and the groups they are about.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "tests/scheduler/cluster.h"
#include "tests/scheduler/dice.h"

namespace lockstep::testing {

inline std::string shown(const State& state, const Group& group, const std::vector<MemberPlacement>& members,
                         const std::vector<SparePlacement>& spares = {}) {
  Fit fit;
  fit.fits = true;
  fit.members = members;
  fit.spares = spares;
  return lockstep::testing::shown(state, *group.spec, fit);
}

inline std::string shown(const GroupSpec& spec, const std::vector<MemberKey>& members) {
  std::string text;
  for (const MemberKey& key : members) text += " " + spec.roles[key.role].name + "[" + std::to_string(key.index) + "]";
  return text;
}

inline std::string shown(const State& state, const ReserveAction& action) {
  const Group& group = *state.group(action.group);
  std::string text = "reserve " + group.head.identity.name;
  if (!action.domain.empty()) text += " in " + action.domain;
  if (!action.members.empty()) text += ": " + shown(state, group, action.members);
  if (!action.lost.empty()) text += ", lost" + shown(*group.spec, action.lost);
  if (action.projected) text += ", at " + std::to_string(action.projected.value / seconds(1).value) + "s";
  return text;
}

// One line an action: "place g1 in /: w[0]: n1", "reserve g2 in /: w[0]: n1, lost w[1], at 3600s", "release g3",
// "evict g1 for g2", "evict g1 w[3] for g2".
inline std::string shown(const State& state, const Plan& plan) {
  std::string text;
  for (const PlanAction& action : plan.actions) {
    if (!text.empty()) text += "\n";
    if (const auto* place = std::get_if<PlaceAction>(&action)) {
      const Group& group = *state.group(place->group);
      text += "place " + group.head.identity.name + " in " + place->domain + ": " +
              shown(state, group, place->members, place->spares);
    } else if (const auto* replace = std::get_if<ReplaceAction>(&action)) {
      const Group& group = *state.group(replace->group);
      text += "replace " + group.head.identity.name + ": " + shown(state, group, replace->members);
    } else if (const auto* grow = std::get_if<GrowAction>(&action)) {
      const Group& group = *state.group(grow->group);
      text += "grow " + group.head.identity.name + ": " + shown(state, group, grow->members);
    } else if (const auto* reserve = std::get_if<ReserveAction>(&action)) {
      text += shown(state, *reserve);
    } else if (const auto* release = std::get_if<ReleaseAction>(&action)) {
      text += "release " + state.group(release->group)->head.identity.name;
    } else if (const auto* evict = std::get_if<EvictAction>(&action)) {
      const Group& group = *state.group(evict->group);
      text += "evict " + group.head.identity.name + shown(*group.spec, evict->members) + " for " +
              state.group(evict->by)->head.identity.name;
    }
  }
  return text;
}

inline std::string pass(Cluster& cluster, const ScheduleOptions& options = {}) {
  const State& state = cluster.state();
  return shown(state, plan(state, options));
}

inline GroupSpec workers(std::uint32_t count, std::int64_t cpu, std::int32_t priority = 0) {
  GroupSpec group = spec({role("w", count, {{"cpu", cpu}})});
  group.priority = priority;
  return group;
}

inline constexpr Time kMorning{seconds(1'000).value};

inline Time ago(std::int64_t passed) { return Time{kMorning.value - seconds(passed).value}; }

// A group of one member that can be on this host alone.
inline GroupSpec only_on(const std::string& host, std::int64_t cpu = 1, std::int64_t run_limit = 0) {
  GroupSpec group = spec({role("w", 1, {term(1, {{"cpu", cpu}}, {{"name", host}})})});
  group.run_limit = seconds(run_limit);
  return group;
}

inline GroupSpec with_limit(GroupSpec group, std::int64_t run_limit) {
  group.run_limit = seconds(run_limit);
  return group;
}

inline GroupSpec in_reserve_mode(GroupSpec group) {
  group.mode = PlacementMode::Reserve;
  return group;
}

inline GroupSpec not_preemptible(GroupSpec group) {
  group.preemptible = false;
  return group;
}

inline GroupSpec in_one_rack(GroupSpec group) {
  group.topology.required = "rack";
  return group;
}

// What the pass does, done.
inline std::string pass_and_go(Cluster& cluster, const ScheduleOptions& options = {}) {
  const Plan made = plan(cluster.state(), options);
  const std::string text = shown(cluster.state(), made);
  cluster.carry_out(made);
  return text;
}

class TwoRacks : public ::testing::Test {
 protected:
  TwoRacks() {
    cluster.levels({"rack"}).at(kMorning);
    cluster.hosts(3, "a", "r1", {{"cpu", 1}}).hosts(3, "b", "r2", {{"cpu", 1}});
  }
  Cluster cluster;
};

}  // namespace lockstep::testing
