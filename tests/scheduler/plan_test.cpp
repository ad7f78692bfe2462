// Whole passes over clusters made by hand: order, atomicity, partial, replacement, growth, reservations and what they
// lend, preemption, and that the same state gives the same plan however it came about.
// Shows R29, R41.

#include "scheduler/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "statemachine/decide.h"
#include "tests/scheduler/cluster.h"
#include "tests/scheduler/dice.h"

namespace lockstep::testing {
namespace {

std::string shown(const State& state, const Group& group, const std::vector<MemberPlacement>& members,
                  const std::vector<SparePlacement>& spares = {}) {
  Fit fit;
  fit.fits = true;
  fit.members = members;
  fit.spares = spares;
  return lockstep::testing::shown(state, *group.spec, fit);
}

std::string shown(const GroupSpec& spec, const std::vector<MemberKey>& members) {
  std::string text;
  for (const MemberKey& key : members) text += " " + spec.roles[key.role].name + "[" + std::to_string(key.index) + "]";
  return text;
}

std::string shown(const State& state, const ReserveAction& action) {
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
std::string shown(const State& state, const Plan& plan) {
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

std::string pass(Cluster& cluster, const ScheduleOptions& options = {}) {
  const State& state = cluster.state();
  return shown(state, plan(state, options));
}

GroupSpec workers(std::uint32_t count, std::int64_t cpu, std::int32_t priority = 0) {
  GroupSpec group = spec({role("w", count, {{"cpu", cpu}})});
  group.priority = priority;
  return group;
}

TEST(Plan, IsMadeForTheStateItSaw) {
  Cluster cluster;
  cluster.hosts(1, "n", "", {{"cpu", 1}});
  (void)cluster.pending(workers(1, 1));
  const State& state = cluster.state();
  EXPECT_EQ(plan(state).made_for, state.head.seq);
  EXPECT_EQ(shown(state, plan(state)), "place g1 in /: w[0]: n001");
  EXPECT_EQ(shown(state, plan(state)), "place g1 in /: w[0]: n001") << "the state is not touched";
}

TEST(Plan, C13StartsOneOfTwoGangsThatEachNeedEverything) {
  Cluster cluster;
  cluster.hosts(100, "n", "", {{"cpu", 1}});
  const GroupId first = cluster.pending(workers(100, 1));
  (void)cluster.pending(workers(100, 1));
  const Plan made = plan(cluster.state());
  ASSERT_EQ(made.actions.size(), 1U);
  EXPECT_EQ(std::get<PlaceAction>(made.actions[0]).group, first);
  EXPECT_EQ(std::get<PlaceAction>(made.actions[0]).members.size(), 100U);
  cluster.carry_out(made);
  EXPECT_EQ(pass(cluster), "");
}

TEST(Plan, C101PlacesAllRolesOrNone) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.pending(spec({role("a", 2, {{"cpu", 1}}), role("b", 2, {{"cpu", 1}})}));
  EXPECT_EQ(pass(cluster), "");
}

TEST(Plan, C49AGroupThatDoesNotFitHoldsUpNobody) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.pending(workers(500, 1));
  (void)cluster.pending(workers(1, 1));
  (void)cluster.pending(workers(500, 1));
  (void)cluster.pending(workers(1, 1));
  EXPECT_EQ(pass(cluster), "place g2 in /: w[0]: n001\nplace g4 in /: w[0]: n002");
}

TEST(Plan, GoesByPriorityAndThenBySubmission) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.pending(workers(1, 1, 0));
  (void)cluster.pending(workers(1, 1, 5));
  (void)cluster.pending(workers(1, 1, 5));
  EXPECT_EQ(pass(cluster), "place g2 in /: w[0]: n001\nplace g3 in /: w[0]: n002");
}

TEST(Plan, LaterActionsSeeWhatEarlierOnesTake) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 3}}).pool("license.x", 2);
  (void)cluster.pending(spec({role("w", 2, {{"cpu", 2}, {"license.x", 1}})}));
  (void)cluster.pending(spec({role("w", 1, {{"license.x", 1}})}));
  (void)cluster.pending(workers(1, 2));
  (void)cluster.pending(workers(2, 1));
  EXPECT_EQ(pass(cluster), "place g1 in /: w[0]: n001; w[1]: n002\nplace g4 in /: w[0]: n001; w[1]: n002");
}

TEST(Plan, StopsAtTheBoundOfActionsAndTheNextPassGoesOn) {
  Cluster cluster;
  cluster.hosts(1, "n", "", {{"cpu", 9}});
  for (int i = 0; i < 5; ++i) (void)cluster.pending(workers(1, 1));
  ScheduleOptions options;
  options.actions_max = 2;
  const Plan made = plan(cluster.state(), options);
  EXPECT_EQ(shown(cluster.state(), made), "place g1 in /: w[0]: n001\nplace g2 in /: w[0]: n001");
  cluster.carry_out(made);
  EXPECT_EQ(pass(cluster, options), "place g3 in /: w[0]: n001\nplace g4 in /: w[0]: n001");
}

TEST(Plan, PartialPlacesAllWhereAllFit) {
  Cluster cluster;
  cluster.hosts(4, "n", "", {{"cpu", 1}});
  GroupSpec group = workers(4, 1);
  group.partial = true;
  group.roles[0].min = 1;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "place g1 in /: w[0]: n001; w[1]: n002; w[2]: n003; w[3]: n004");
}

TEST(Plan, PartialPlacesMinsOfAllRolesFirstThenRoleByRoleAsManyAsFit) {
  Cluster cluster;
  cluster.hosts(6, "n", "", {{"cpu", 1}});
  GroupSpec group = spec({role("a", 4, {{"cpu", 1}}), role("b", 4, {{"cpu", 1}})});
  group.partial = true;
  group.roles[0].min = 1;
  group.roles[1].min = 3;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "place g1 in /: a[0]: n001; a[1]: n002; a[2]: n003; b[0]: n004; b[1]: n005; b[2]: n006");
}

TEST(Plan, PartialGivesALaterRoleWhatAnEarlierOneCannotUse) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}}).host("g1", "", {{"cpu", 1}, {"gpu", 1}});
  GroupSpec group = spec({role("a", 3, {{"cpu", 1}, {"gpu", 1}}), role("b", 3, {{"cpu", 1}})});
  group.partial = true;
  group.roles[0].min = group.roles[1].min = 1;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "place g1 in /: a[0]: g1; b[0]: n001; b[1]: n002; b[2]: n003");
}

TEST(Plan, PartialNeverGoesBelowAMin) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}});
  GroupSpec group = spec({role("a", 4, {{"cpu", 1}}), role("b", 4, {{"cpu", 1}})});
  group.partial = true;
  group.roles[0].min = group.roles[1].min = 2;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "");
}

TEST(Plan, AGroupInReserveModeIsPlacedLikeAnyOther) {
  Cluster cluster;
  cluster.hosts(1, "n", "", {{"cpu", 1}});
  GroupSpec group = workers(1, 1);
  group.mode = PlacementMode::Reserve;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "place g1 in /: w[0]: n001");
}

TEST(Plan, C94PlacesSparesWithTheGroup) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}});
  GroupSpec group = workers(2, 1);
  group.roles[0].spares = 1;
  (void)cluster.pending(group);
  (void)cluster.pending(workers(1, 1));
  EXPECT_EQ(pass(cluster), "place g1 in /: w[0]: n001; w[1]: n002; w+: n003");
}

TEST(Plan, ReplacesLostMembersBeforeAnyoneElseIsPlaced) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.pending(workers(1, 1, 100));
  const GroupId running = cluster.running(workers(3, 1));
  cluster.lose(running, 0, 1);
  cluster.down("n002");
  cluster.host("n004", "", {{"cpu", 1}});
  EXPECT_EQ(pass(cluster), "replace g2: w[1]: n004");
}

TEST(Plan, ReplacesAsManyAsFitByRoleAndIndex) {
  Cluster cluster;
  cluster.hosts(6, "n", "", {{"cpu", 1}});
  const GroupId running = cluster.running(spec({role("a", 2, {{"cpu", 1}}), role("b", 4, {{"cpu", 1}})}));
  for (std::uint32_t index = 0; index < 2; ++index) cluster.lose(running, 0, index);
  for (std::uint32_t index = 0; index < 4; ++index) cluster.lose(running, 1, index);
  cluster.down("n002").down("n004").down("n006");
  EXPECT_EQ(pass(cluster), "replace g1: a[0]: n001; a[1]: n003; b[0]: n005");
}

TEST(Plan, ReplacesALaterRoleWhenAnEarlierOneFindsNothing) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 1}, {"gpu", 1}}).host("n2", "", {{"cpu", 1}}).host("n3", "", {{"cpu", 1}});
  const GroupId running = cluster.running(spec({role("a", 1, {{"gpu", 1}}), role("b", 1, {{"cpu", 1}})}));
  cluster.lose(running, 0, 0);
  cluster.lose(running, 1, 0);
  cluster.down("n1");
  EXPECT_EQ(pass(cluster), "replace g1: b[0]: n2");
}

TEST(Plan, ReplacesOnlyInsideThePromisedDomain) {
  Cluster cluster;
  cluster.levels({"rack"}).hosts(2, "a", "r1", {{"cpu", 1}}).hosts(2, "b", "r2", {{"cpu", 1}});
  const GroupId running = cluster.running(spec({role("w", 2, {{"cpu", 1}})}, "rack"));
  cluster.lose(running, 0, 0);
  cluster.down("a001");
  EXPECT_EQ(pass(cluster), "");
  cluster.host("a003", "r1", {{"cpu", 1}});
  EXPECT_EQ(pass(cluster), "replace g1: w[0]: a003");
}

TEST(Plan, ReplacesInTheRolesOwnDomainWhileOthersOfItAreThere) {
  Cluster cluster;
  cluster.levels({"rack"}).hosts(2, "a", "r1", {{"cpu", 1}}).hosts(2, "b", "r2", {{"cpu", 1}});
  const GroupId running = cluster.running(spec({within(role("w", 2, {{"cpu", 1}}), "rack")}));
  cluster.lose(running, 0, 0);
  cluster.down("a001");
  EXPECT_EQ(pass(cluster), "");
  cluster.lose(running, 0, 1);  // nobody is left there: any domain will do again
  EXPECT_EQ(pass(cluster), "replace g1: w[0]: b001; w[1]: b002");
}

TEST(Plan, DoesNotReplaceAMemberWhoseOldRunMightStillBeThere) {
  Cluster cluster;
  cluster.hosts(4, "n", "", {{"cpu", 1}});
  const GroupId running = cluster.running(workers(2, 1));
  cluster.group(running).roles[0].members[0].phase = MemberPhase::Stopping;
  cluster.group(running).head.phase = GroupPhase::Recovering;
  EXPECT_EQ(pass(cluster), "");
}

TEST(Plan, ReplacesNobodyOnceTheGroupIsSatisfiedOrNoLongerNeedsTheMember) {
  Cluster cluster;
  cluster.hosts(4, "n", "", {{"cpu", 1}});
  const GroupId running = cluster.running(workers(2, 1));
  cluster.lose(running, 0, 0);
  cluster.group(running).roles[0].members[0].required = false;
  EXPECT_EQ(pass(cluster), "");
  cluster.group(running).roles[0].members[0].required = true;
  cluster.group(running).head.satisfied = true;
  EXPECT_EQ(pass(cluster), "");
}

TEST(Plan, GrowsByTheLowestFreeIndexesAllOrNothing) {
  Cluster cluster;
  cluster.hosts(4, "n", "", {{"cpu", 1}});
  const GroupId running = cluster.running(workers(3, 1));
  Member& given_up = cluster.group(running).roles[0].members[1];
  given_up = Member{};
  given_up.phase = MemberPhase::Failed;
  cluster.ask_resize(running, 0, 5);
  EXPECT_EQ(pass(cluster), "") << "three are missing to five, and two fit";
  cluster.ask_resize(running, 0, 4);
  EXPECT_EQ(pass(cluster), "grow g1: w[1]: n002; w[3]: n004");
}

TEST(Plan, GrowsOneRoleAPassTheFirstThatFits) {
  Cluster cluster;
  cluster.hosts(9, "n", "", {{"cpu", 1}}).host("x", "", {{"gpu", 1}});
  const GroupId running =
      cluster.running(spec({role("a", 1, {{"gpu", 1}}), role("b", 1, {{"cpu", 1}}), role("c", 1, {{"cpu", 1}})}));
  for (RoleIndex role = 0; role < 3; ++role) cluster.ask_resize(running, role, 2);
  const Plan made = plan(cluster.state());
  EXPECT_EQ(shown(cluster.state(), made), "grow g1: b[1]: n003");
  cluster.carry_out(made);
  EXPECT_EQ(pass(cluster), "grow g1: c[1]: n004");
}

TEST(Plan, GrowsInsideThePromisedDomainAndOnlyWhileRunning) {
  Cluster cluster;
  cluster.levels({"rack"}).hosts(2, "a", "r1", {{"cpu", 1}}).hosts(2, "b", "r2", {{"cpu", 1}});
  const GroupId running = cluster.running(spec({role("w", 1, {{"cpu", 1}})}, "rack"));
  cluster.ask_resize(running, 0, 3);
  EXPECT_EQ(pass(cluster), "");
  cluster.ask_resize(running, 0, 2);
  cluster.group(running).head.phase = GroupPhase::Starting;
  EXPECT_EQ(pass(cluster), "");
  cluster.group(running).head.phase = GroupPhase::Running;
  EXPECT_EQ(pass(cluster), "grow g1: w[1]: a002");
}

TEST(Plan, PlacesOnlyMembersThatHaveNotSucceededWhereSuccessesStay) {
  Cluster cluster;
  cluster.hosts(4, "n", "", {{"cpu", 1}});
  GroupSpec group = workers(3, 1);
  group.resume = ResumeWhat::Unfinished;
  const GroupId id = cluster.pending(group);
  cluster.group(id).roles[0].members[1].phase = MemberPhase::Succeeded;
  EXPECT_EQ(pass(cluster), "place g1 in /: w[0]: n001; w[2]: n002");
}

// ---- reservations -------------------------------------------------------------------------------------------------

constexpr Time kMorning{seconds(1'000).value};

Time ago(std::int64_t passed) { return Time{kMorning.value - seconds(passed).value}; }

// A group of one member that can be on this host alone.
GroupSpec only_on(const std::string& host, std::int64_t cpu = 1, std::int64_t run_limit = 0) {
  GroupSpec group = spec({role("w", 1, {term(1, {{"cpu", cpu}}, {{"name", host}})})});
  group.run_limit = seconds(run_limit);
  return group;
}

GroupSpec with_limit(GroupSpec group, std::int64_t run_limit) {
  group.run_limit = seconds(run_limit);
  return group;
}

GroupSpec in_reserve_mode(GroupSpec group) {
  group.mode = PlacementMode::Reserve;
  return group;
}

GroupSpec not_preemptible(GroupSpec group) {
  group.preemptible = false;
  return group;
}

GroupSpec in_one_rack(GroupSpec group) {
  group.topology.required = "rack";
  return group;
}

// What the pass does, done.
std::string pass_and_go(Cluster& cluster, const ScheduleOptions& options = {}) {
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

TEST_F(TwoRacks, AReservationOpensWhereItIsCompleteFirstByRunLimits) {
  (void)cluster.running(only_on("a001", 1, 3600));  // two are free here,
  (void)cluster.running(only_on("b001", 1, 600));   // and one there, but sooner all
  (void)cluster.running(only_on("b002", 1, 500));
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(3, 1))));
  EXPECT_EQ(pass(cluster), "reserve g4 in r2: w[0]: b003, at 1600s");
}

TEST_F(TwoRacks, RunLimitsCountFromTheFirstStart) {
  cluster.started(cluster.running(only_on("a001", 1, 3600)), ago(900));
  cluster.started(cluster.running(only_on("b001", 1, 3000)), ago(200));
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(3, 1))));
  EXPECT_EQ(pass(cluster), "reserve g3 in r1: w[0]: a002; w[1]: a003, at 3700s");
}

TEST_F(TwoRacks, AReservationOpensWhereMostFitsNowWhenEndsAreUnknown) {
  (void)cluster.running(only_on("a001"));
  (void)cluster.running(only_on("a002"));
  (void)cluster.running(only_on("b001"));
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(3, 1))));
  EXPECT_EQ(pass(cluster), "reserve g4 in r2: w[0]: b002; w[1]: b003");
}

TEST_F(TwoRacks, AKnownEndComesBeforeAnUnknownOneWhateverFitsNow) {
  (void)cluster.running(only_on("a001"));
  (void)cluster.running(only_on("b001", 1, 90));
  (void)cluster.running(only_on("b002", 1, 90));
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(3, 1))));
  EXPECT_EQ(pass(cluster), "reserve g4 in r2: w[0]: b003, at 1090s");
}

TEST_F(TwoRacks, OfEqualEndsThatWhereMostFitsNow) {
  (void)cluster.running(only_on("a001", 1, 90));
  (void)cluster.running(only_on("a002", 1, 90));
  (void)cluster.running(only_on("b001", 1, 90));
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(3, 1))));
  EXPECT_EQ(pass(cluster), "reserve g4 in r2: w[0]: b002; w[1]: b003, at 1090s");
}

TEST_F(TwoRacks, NoReservationOpensWhereEvenEmptyHostsWouldNotDo) {
  (void)cluster.running(only_on("a001", 1, 60));
  cluster.down("b002");
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(4, 1))));
  EXPECT_EQ(pass(cluster), "");
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(3, 1))));
  EXPECT_EQ(pass(cluster), "reserve g3 in r1: w[0]: a002; w[1]: a003, at 1060s");
}

TEST(Reservation, IsExtendedByMembersThatFitNowAndKeepsWhatItHolds) {
  Cluster cluster;
  cluster.at(kMorning).hosts(4, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  const GroupId third = cluster.running(only_on("n003"));
  (void)cluster.running(only_on("n004", 1, 700));
  (void)cluster.pending(in_reserve_mode(workers(4, 1)));
  EXPECT_EQ(pass_and_go(cluster), "reserve g4 in /: w[0]: n002");
  EXPECT_EQ(pass(cluster), "") << "nothing came or went";
  cluster.stop(third);
  EXPECT_EQ(pass(cluster), "") << "nor is it gone yet";
  cluster.gone(third);
  EXPECT_EQ(pass_and_go(cluster), "reserve g4 in /: w[1]: n003");
  EXPECT_EQ(pass(cluster), "");
}

TEST(Reservation, TellsWhenItsEndIsAnother) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  const GroupId first = cluster.running(only_on("n001"));
  (void)cluster.pending(in_reserve_mode(workers(2, 1)));
  EXPECT_EQ(pass_and_go(cluster), "reserve g2 in /: w[0]: n002");
  cluster.stop(first);
  cluster.gone(first);
  (void)cluster.running(only_on("n001", 1, 40));
  EXPECT_EQ(pass_and_go(cluster), "reserve g2, at 1040s");
  EXPECT_EQ(pass(cluster), "");
}

TEST(Reservation, BecomesAPlacementWhenCompleteAndMayMoveWhatItHeld) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  const GroupId first = cluster.running(only_on("n001"));
  (void)cluster.running(only_on("n003"));
  (void)cluster.pending(in_reserve_mode(workers(2, 1)));
  EXPECT_EQ(pass_and_go(cluster), "reserve g3 in /: w[0]: n002");
  cluster.stop(first);
  cluster.gone(first);
  EXPECT_EQ(pass_and_go(cluster), "place g3 in /: w[0]: n001; w[1]: n002");
  EXPECT_EQ(pass(cluster), "");
}

TEST(Reservation, TakesWhatBecomesFreeBeforeAnyoneBehindIt) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  const GroupId first = cluster.running(only_on("n001"));
  (void)cluster.running(only_on("n002"));
  (void)cluster.pending(in_reserve_mode(workers(3, 1)));
  (void)cluster.pending(workers(1, 1));
  EXPECT_EQ(pass_and_go(cluster), "reserve g3 in /: w[0]: n003");
  cluster.stop(first);
  cluster.gone(first);
  EXPECT_EQ(pass(cluster), "reserve g3 in /: w[1]: n001");
}

TEST(Reservation, IsOneOfAQueueByDefaultOrAsManyAsTheOptionSays) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.running(not_preemptible(only_on("n001")));
  for (int i = 0; i < 3; ++i) (void)cluster.pending(in_reserve_mode(workers(2, 1)));
  const GroupId elsewhere = cluster.pending(in_reserve_mode(workers(2, 1)));
  cluster.group(elsewhere).head.identity.queue = "other";
  EXPECT_EQ(pass(cluster), "reserve g2 in /: w[0]: n002\nreserve g5 in /");
  EXPECT_EQ(pass(cluster, {.reservations_max_per_queue = 2}),
            "reserve g2 in /: w[0]: n002\nreserve g3 in /\nreserve g5 in /");
  EXPECT_EQ(pass(cluster, {.reservations_max_per_queue = 0}), "");
  EXPECT_EQ(pass_and_go(cluster), "reserve g2 in /: w[0]: n002\nreserve g5 in /");
  EXPECT_EQ(pass(cluster), "") << "those that are open count";
  EXPECT_EQ(pass(cluster, {.reservations_max_per_queue = 2}), "reserve g3 in /");
}

TEST(Reservation, OfAPreemptorIsNotCounted) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  (void)cluster.pending(workers(2, 1, 5));  // in atomic mode
  const GroupId first = cluster.pending(in_reserve_mode(workers(2, 1)));
  (void)cluster.pending(in_reserve_mode(workers(2, 1)));
  EXPECT_EQ(pass(cluster), "evict g1 for g2\nreserve g2 in /: w[1]: n002\nreserve g3 in /");
  cluster.group(first).head.phase = GroupPhase::Suspended;
  EXPECT_EQ(pass_and_go(cluster), "evict g1 for g2\nreserve g2 in /: w[1]: n002\nreserve g4 in /");
  cluster.group(first).head.phase = GroupPhase::Pending;
  EXPECT_EQ(pass(cluster), "") << "g4 counts";
  cluster.group(GroupId{4}).head.phase = GroupPhase::Suspended;
  EXPECT_EQ(pass(cluster), "reserve g3 in /") << "g2 does not, when it is open either";
}

TEST(Reservation, IsFreeToAStrictlyHigherPriorityAndNotToAnEqualOne) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.running(not_preemptible(only_on("n001")));
  (void)cluster.pending(in_reserve_mode(workers(3, 1)));
  EXPECT_EQ(pass_and_go(cluster), "reserve g2 in /: w[0]: n002; w[1]: n003");
  (void)cluster.pending(workers(1, 1, 0));
  EXPECT_EQ(pass(cluster), "");
  (void)cluster.pending(workers(1, 1, 1));
  EXPECT_EQ(pass_and_go(cluster), "release g2\nplace g4 in /: w[0]: n002\nplace g3 in /: w[0]: n003")
      << "taking any of it releases all of it";
}

TEST(Reservation, IsReleasedOnlyForWhatIsNotFreeOtherwise) {
  Cluster cluster;
  cluster.at(kMorning).hosts(4, "n", "", {{"cpu", 1}});
  (void)cluster.running(not_preemptible(only_on("n001")));
  (void)cluster.reserving(in_reserve_mode(workers(4, 1, 1)), "/", {"n002"});
  (void)cluster.reserving(in_reserve_mode(workers(4, 1, 2)), "/", {"n003"});
  (void)cluster.pending(workers(1, 1, 3));
  EXPECT_EQ(pass(cluster), "place g4 in /: w[0]: n004");
  (void)cluster.pending(workers(1, 1, 3));
  EXPECT_EQ(pass(cluster), "release g2\nplace g4 in /: w[0]: n004\nplace g5 in /: w[0]: n002") << "the last one first";
}

TEST(Reservation, IsTakenForReplacementsAndGrowthToo) {
  for (const bool grows : {false, true}) {
    Cluster cluster;
    cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
    const GroupId running = cluster.running(workers(2, 1, 1));
    if (grows) {
      cluster.ask_resize(running, 0, 3);
    } else {
      cluster.lose(running, 0, 1);
      cluster.down("n002");
    }
    (void)cluster.reserving(in_reserve_mode(workers(2, 1, 0)), "/", {"n003"});
    EXPECT_EQ(pass(cluster), grows ? "release g2\ngrow g1: w[2]: n003" : "release g2\nreplace g1: w[1]: n003");
  }
}

TEST(Reservation, IsCompletedByWhatALaterOneHolds) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.running(not_preemptible(only_on("n001")));
  (void)cluster.reserving(in_reserve_mode(workers(2, 1)), "/", {"n002"});
  (void)cluster.reserving(in_reserve_mode(workers(2, 1)), "/", {"n003"});
  EXPECT_EQ(pass(cluster, {.reservations_max_per_queue = 2}), "release g3\nplace g2 in /: w[0]: n002; w[1]: n003");
}

TEST(Reservation, IsNotReleasedForALaterOneOrAnEarlierOneThatIsNotCompleteThen) {
  Cluster cluster;
  cluster.at(kMorning).hosts(4, "n", "", {{"cpu", 1}});
  (void)cluster.running(not_preemptible(only_on("n001")));
  (void)cluster.running(not_preemptible(only_on("n004")));
  (void)cluster.reserving(in_reserve_mode(workers(3, 1)), "/", {"n002"});
  (void)cluster.reserving(in_reserve_mode(workers(2, 1)), "/", {"n003"});
  EXPECT_EQ(pass(cluster), "");
}

// ---- what reservations lend ---------------------------------------------------------------------------------------

class Lending : public ::testing::Test {
 protected:
  Lending() {
    cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
    cluster.started(cluster.running(only_on("n001", 1, 1000)), kMorning);
    (void)cluster.pending(in_reserve_mode(workers(3, 1)));
    EXPECT_EQ(pass_and_go(cluster), "reserve g2 in /: w[0]: n002; w[1]: n003, at 2000s");
  }
  Cluster cluster;
};

TEST_F(Lending, IsForAGroupThatEndsBeforeTheProjectedCompletion) {
  (void)cluster.pending(with_limit(workers(1, 1), 1000));
  EXPECT_EQ(pass(cluster), "") << "it ends no sooner";
  (void)cluster.pending(with_limit(workers(1, 1), 999));
  EXPECT_EQ(pass(cluster), "reserve g2, lost w[0], at 2000s\nplace g4 in /: w[0]: n002");
}

TEST_F(Lending, IsNotForAGroupWithoutARunLimit) {
  (void)cluster.pending(workers(1, 1));
  EXPECT_EQ(pass(cluster), "");
}

TEST_F(Lending, LeavesTheReservationAndComesBackToItFirst) {
  (void)cluster.pending(with_limit(workers(1, 1), 500));
  (void)cluster.pending(with_limit(workers(1, 1), 400));
  EXPECT_EQ(pass_and_go(cluster),
            "reserve g2, lost w[0] w[1], at 2000s\nplace g3 in /: w[0]: n002\nplace g4 in /: w[0]: n003");
  EXPECT_EQ(pass(cluster), "");
  (void)cluster.pending(workers(1, 1));
  cluster.stop(GroupId{4});
  cluster.gone(GroupId{4});
  EXPECT_EQ(pass_and_go(cluster), "reserve g2 in /: w[0]: n003, at 2000s");
  cluster.at(Time{kMorning.value + seconds(100).value});
  cluster.stop(GroupId{1});
  cluster.gone(GroupId{1});
  EXPECT_EQ(pass_and_go(cluster).substr(0, 35), "reserve g2 in /: w[1]: n001, at 160") << "when g3 ends";
  cluster.stop(GroupId{3});
  cluster.gone(GroupId{3});
  EXPECT_EQ(pass(cluster), "place g2 in /: w[0]: n001; w[1]: n002; w[2]: n003");
}

TEST_F(Lending, IsOfAllMembersThatTheBorrowerUses) {
  (void)cluster.pending(with_limit(workers(2, 1), 10));
  EXPECT_EQ(pass(cluster), "reserve g2, lost w[0] w[1], at 2000s\nplace g3 in /: w[0]: n002; w[1]: n003");
}

TEST_F(Lending, IsNotNeededWhereSomethingElseIsFree) {
  cluster.hosts(1, "m", "", {{"cpu", 1}});
  (void)cluster.pending(with_limit(workers(1, 1), 10));
  cluster.group(GroupId{2}).roles[0].members[2].hosts.clear();
  EXPECT_EQ(pass(cluster), "place g2 in /: w[0]: m001; w[1]: n002; w[2]: n003");
}

TEST(LendingNothing, WithoutAProjectedEnd) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  (void)cluster.pending(in_reserve_mode(workers(2, 1)));
  EXPECT_EQ(pass_and_go(cluster), "reserve g2 in /: w[0]: n002");
  (void)cluster.pending(with_limit(workers(1, 1), 1));
  EXPECT_EQ(pass(cluster), "");
}

TEST(LendingNothing, OfAPreemptor) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001", 1, 1000));
  (void)cluster.pending(in_reserve_mode(workers(2, 1, 5)));
  EXPECT_EQ(pass_and_go(cluster), "evict g1 for g2\nreserve g2 in /: w[1]: n002");
  (void)cluster.pending(with_limit(workers(1, 1), 1));
  EXPECT_EQ(pass(cluster), "");
  cluster.gone(GroupId{1});
  EXPECT_EQ(pass(cluster), "place g2 in /: w[0]: n001; w[1]: n002");
}

// ---- preemption ---------------------------------------------------------------------------------------------------

TEST(Preemption, IsInsideOneDomainWhereOneIsRequired) {
  Cluster cluster;
  cluster.levels({"rack"}).at(kMorning).hosts(2, "a", "r1", {{"cpu", 1}}).hosts(2, "b", "r2", {{"cpu", 1}});
  cluster.started(cluster.running(only_on("a001")), ago(10));
  cluster.started(cluster.running(only_on("a002")), ago(100));
  cluster.started(cluster.running(only_on("b001")), ago(20));  // with a001 the least of all, but not in one rack
  cluster.started(cluster.running(only_on("b002")), ago(30));
  (void)cluster.pending(in_one_rack(workers(2, 1, 1)));
  EXPECT_EQ(pass(cluster), "evict g3 for g5\nevict g4 for g5\nreserve g5 in r2");
}

TEST(Preemption, LosesTheLeastWork) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 4}});
  cluster.started(cluster.running(only_on("n001", 4)), ago(30));
  const GroupSpec four = spec({role("w", 1, {on_one_host(term(4, {{"cpu", 1}}, {{"name", "n002"}}))})});
  const GroupId other = cluster.running(four);
  cluster.started(other, ago(10));
  (void)cluster.pending(workers(1, 4, 1));
  EXPECT_EQ(pass(cluster), "evict g1 for g3\nreserve g3 in /") << "30 task seconds against 40";
  cluster.started(other, ago(7));
  EXPECT_EQ(pass(cluster), "evict g2 for g3\nreserve g3 in /");
}

TEST(Preemption, OfEqualWorkTakesFewerTasksAndThenTheLatestSubmitted) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 4}});
  cluster.started(cluster.running(only_on("n001", 4)), ago(20));
  cluster.started(cluster.running(only_on("n002", 4)), ago(20));
  const GroupSpec four = spec({role("w", 1, {on_one_host(term(4, {{"cpu", 1}}, {{"name", "n003"}}))})});
  cluster.started(cluster.running(four), ago(5));
  (void)cluster.pending(workers(1, 4, 1));
  EXPECT_EQ(pass(cluster), "evict g2 for g4\nreserve g4 in /");
}

TEST(Preemption, TakesMembersAboveMinAloneTheLastPlacedFirst) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  GroupSpec elastic = workers(3, 1);
  elastic.roles[0].min = 1;
  const GroupId running = cluster.running(elastic);
  cluster.started(running, ago(10));
  auto& members = cluster.group(running).roles[0].members;
  members[0].placed_seq = Seq{50};
  members[1].placed_seq = Seq{90};
  members[2].placed_seq = Seq{70};
  const GroupId one = cluster.pending(workers(1, 1, 1));
  EXPECT_EQ(pass(cluster), "evict g1 w[1] for g2\nreserve g2 in /");
  cluster.group(one).head.phase = GroupPhase::Suspended;
  const GroupId two = cluster.pending(workers(2, 1, 1));
  EXPECT_EQ(pass(cluster), "evict g1 w[1] w[2] for g3\nreserve g3 in /");
  cluster.group(two).head.phase = GroupPhase::Suspended;
  (void)cluster.pending(workers(3, 1, 1));
  EXPECT_EQ(pass(cluster), "evict g1 for g4\nreserve g4 in /");
}

TEST(Preemption, PlacesTheGroupOnceTheMembersAreGone) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  GroupSpec elastic = workers(2, 1);
  elastic.roles[0].min = 1;
  const GroupId running = cluster.running(elastic);
  cluster.started(running, ago(10));
  (void)cluster.pending(workers(2, 1, 1));
  (void)cluster.pending(workers(1, 1));
  EXPECT_EQ(pass_and_go(cluster), "evict g1 w[1] for g2\nreserve g2 in /: w[1]: n003");
  EXPECT_EQ(pass(cluster), "") << "it evicts no second time, and what it holds is not free";
  cluster.gone(running);
  EXPECT_EQ(pass(cluster), "place g2 in /: w[0]: n002; w[1]: n003");
}

TEST(Preemption, TakesGroupsThatKeepTheirHostsInBackoff) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  const GroupId waits = cluster.running(only_on("n001"));
  cluster.group(waits).head.phase = GroupPhase::Backoff;
  cluster.group(waits).head.keep_hosts = true;
  cluster.group(waits).roles[0].members[0].phase = MemberPhase::Waiting;
  cluster.started(cluster.running(only_on("n002")), ago(1));
  (void)cluster.pending(workers(1, 1, 1));
  EXPECT_EQ(pass(cluster), "evict g1 for g3\nreserve g3 in /");
  EXPECT_EQ(pass(cluster), pass(cluster));
}

TEST(Preemption, TakesNobodyOfEqualPriorityNorOneThatIsNotPreemptible) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  GroupSpec equal = only_on("n001");
  equal.priority = 1;
  (void)cluster.running(equal);
  (void)cluster.running(not_preemptible(only_on("n002")));
  (void)cluster.pending(workers(1, 1, 1));
  EXPECT_EQ(pass(cluster), "");
  (void)cluster.pending(workers(1, 1, 2));
  EXPECT_EQ(pass(cluster), "evict g1 for g4\nreserve g4 in /");
}

TEST(Preemption, TakesNobodyWhenAllOfThemTogetherWouldNotDo) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  (void)cluster.running(not_preemptible(only_on("n002")));
  (void)cluster.pending(workers(3, 1, 1));
  EXPECT_EQ(pass(cluster), "");
}

TEST(Preemption, CountsFirstWhatIsLeavingAnyway) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  const GroupId leaves = cluster.running(only_on("n001"));
  cluster.started(leaves, ago(900));
  cluster.stop(leaves);
  cluster.started(cluster.running(only_on("n002")), ago(5));
  cluster.started(cluster.running(only_on("n003")), ago(6));
  const GroupId one = cluster.pending(workers(1, 1, 1));
  EXPECT_EQ(pass(cluster), "");
  cluster.group(one).head.phase = GroupPhase::Suspended;
  (void)cluster.pending(workers(2, 1, 1));
  EXPECT_EQ(pass(cluster), "evict g2 for g5\nreserve g5 in /");
}

TEST(Preemption, IsNotForGrowthNorForReplacements) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  const GroupId grows = cluster.running(workers(1, 1, 5));
  const GroupId lost_one = cluster.running(workers(1, 1, 5));
  (void)cluster.running(workers(1, 1));
  cluster.ask_resize(grows, 0, 2);
  EXPECT_EQ(pass(cluster), "");
  cluster.lose(lost_one, 0, 0);
  cluster.down("n002");
  EXPECT_EQ(pass(cluster), "");
}

TEST(Preemption, IsNotForMembersThatPartialMayLeaveOut) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  (void)cluster.running(only_on("n002"));
  GroupSpec group = workers(3, 1, 1);
  group.partial = true;
  group.roles[0].min = 1;
  const GroupId one = cluster.pending(group);
  EXPECT_EQ(pass(cluster), "place g3 in /: w[0]: n003");
  cluster.group(one).head.phase = GroupPhase::Suspended;
  group.roles[0].min = 2;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "evict g2 for g4\nreserve g4 in /: w[1]: n003");
}

TEST(Preemption, IsNotByAGroupThatReserves) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  const GroupId reserves = cluster.reserving(in_reserve_mode(workers(2, 1, 5)), "/", {"n002"});
  EXPECT_EQ(pass(cluster), "");
  Group& group = cluster.group(reserves);
  group.head.phase = GroupPhase::Pending;
  group.roles[0].members[0].phase = MemberPhase::Waiting;
  group.roles[0].members[0].hosts.clear();
  EXPECT_EQ(pass(cluster), "evict g1 for g2\nreserve g2 in /: w[1]: n002") << "the same one, had it only waited";
}

TEST(Preemption, ReleasesWeakerReservationsThatThePlanNeedsAndNoOthers) {
  Cluster cluster;
  cluster.at(kMorning).hosts(4, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  (void)cluster.running(not_preemptible(only_on("n004")));
  (void)cluster.reserving(in_reserve_mode(workers(4, 1, 1)), "/", {"n002"});
  (void)cluster.reserving(in_reserve_mode(workers(4, 1, 2)), "/", {"n003"});
  (void)cluster.pending(workers(3, 1, 5));
  EXPECT_EQ(pass(cluster), "release g4\nrelease g3\nevict g1 for g5\nreserve g5 in /: w[1]: n002; w[2]: n003");
}

TEST(Preemption, LeavesWeakerReservationsThatHaveRoomBesideThePlan) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  (void)cluster.reserving(in_reserve_mode(workers(2, 1, 1)), "/", {"n002"});
  GroupSpec group = only_on("n001");
  group.priority = 5;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "evict g1 for g3\nreserve g3 in /");
}

TEST(Plan, StopsAtTheBoundWithinReservationsAndEvictions) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.running(only_on("n001"));
  (void)cluster.pending(workers(2, 1, 5));
  (void)cluster.pending(in_reserve_mode(workers(3, 1)));
  (void)cluster.pending(workers(3, 1, 5));
  const ScheduleOptions one{.actions_max = 1};
  EXPECT_EQ(pass_and_go(cluster, one), "place g2 in /: w[0]: n002; w[1]: n003");
  EXPECT_EQ(pass_and_go(cluster, one), "reserve g3 in /");
  EXPECT_EQ(pass_and_go(cluster, one), "");
  cluster.group(GroupId{4}).head.phase = GroupPhase::Suspended;
  (void)cluster.pending(workers(1, 1, 7));
  (void)cluster.pending(workers(2, 1, 7));
  EXPECT_EQ(pass_and_go(cluster, one), "evict g1 for g5\nreserve g5 in /") << "who evicts has its reservation with it";
  EXPECT_EQ(pass_and_go(cluster, one), "evict g2 for g6\nreserve g6 in /");
  EXPECT_EQ(pass(cluster, one), "");
}

// ---- the same state, however it came about -----------------------------------------------------------------------

struct Named {
  std::string name;
  std::string at;
  std::int64_t cpu;
};

TEST(Plan, C58IsTheSameHundredTimesWhateverTheOrderInWhichHostsWereAdded) {
  std::mt19937_64 random(seed_or(58));
  std::vector<Named> hosts;
  for (int i = 0; i < 24; ++i) {
    hosts.push_back({"n" + std::to_string(i), "b" + std::to_string(i % 2) + "/r" + std::to_string(i % 6), 2 + i % 5});
  }
  std::string first;
  for (int run = 0; run < 100; ++run) {
    std::shuffle(hosts.begin(), hosts.end(), random);
    Cluster cluster;
    cluster.levels({"block", "rack"}).pool("license.x", 7);
    for (const Named& host : hosts) cluster.host(host.name, host.at, {{"cpu", host.cpu}});
    for (std::uint32_t i = 1; i <= 12; ++i) {
      GroupSpec group = spec({role("l", 1, {{"cpu", 1}, {"license.x", 1}}), role("w", 1 + i % 4, {{"cpu", 1 + i % 3}})},
                             i % 3 == 0   ? "rack"
                             : i % 3 == 1 ? "block"
                                          : "");
      group.priority = static_cast<std::int32_t>(i % 2);
      group.partial = i % 4 == 0;
      group.roles[1].min = 1;
      (void)cluster.pending(group);
    }
    const std::string text = pass(cluster);
    if (run == 0) first = text;
    ASSERT_EQ(text, first) << "run " << run;
  }
  EXPECT_GT(std::count(first.begin(), first.end(), '\n'), 4);
}

TEST(Plan, RandomPassesNeverGoAboveCapacityAndEndWhenNothingFits) {
  std::mt19937_64 random(seed_or(13));
  const auto upto = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int round = 0; round < 60; ++round) {
    Cluster cluster;
    cluster.levels({"rack"}).pool("license.x", static_cast<std::int64_t>(upto(6)));
    for (std::uint64_t i = 0; i < 3 + upto(5); ++i) {
      cluster.host("n" + std::to_string(i), "r" + std::to_string(i % 3),
                   {{"cpu", static_cast<std::int64_t>(1 + upto(5))}});
    }
    for (int i = 0; i < 12; ++i) {
      const auto cpu = static_cast<std::int64_t>(1 + upto(2));
      GroupSpec group = spec({role("a", static_cast<std::uint32_t>(1 + upto(2)), {{"cpu", cpu}}),
                              role("b", static_cast<std::uint32_t>(1 + upto(2)), {{"cpu", 1}, {"license.x", 1}})},
                             upto(1) == 0 ? "rack" : "");
      group.partial = upto(2) == 0;
      if (group.partial) group.roles[0].min = group.roles[1].min = 1;
      group.roles[0].spares = upto(3) == 0 ? 1 : 0;
      (void)cluster.pending(group);
    }
    for (int passes = 0; passes < 20; ++passes) {
      const Plan made = plan(cluster.state());
      cluster.carry_out(made);
      const State& state = cluster.state();
      EXPECT_GE(pool_free(state, "license.x"), 0);
      state.hosts.for_each([&](const Host& host) { EXPECT_GE(host_free(state, host, "cpu"), 0); });
      if (passes > 0) {
        EXPECT_TRUE(made.actions.empty()) << "one pass places all that fits when nothing changes";
      }
      if (made.actions.empty()) break;
    }
  }
}

// Groups of one shape share a verdict within a pass. Without that the plan must be the same.
TEST(Plan, SharedVerdictsDoNotChangeThePlan) {
  std::mt19937_64 random(seed_or(7));
  for (int round = 0; round < 40; ++round) {
    Cluster shared;
    Cluster apart;
    for (int i = 0; i < 4; ++i) {
      const auto cpu = static_cast<std::int64_t>(1 + random() % 4);
      for (Cluster* each : {&shared, &apart}) each->host("n" + std::to_string(i), "", {{"cpu", cpu}});
    }
    for (int i = 0; i < 10; ++i) {
      GroupSpec group =
          workers(static_cast<std::uint32_t>(1 + random() % 3), static_cast<std::int64_t>(1 + random() % 2));
      (void)shared.pending(group);
      group.run_limit = seconds(i + 1);  // another spec, the same demand
      (void)apart.pending(group);
    }
    EXPECT_EQ(pass(shared), pass(apart));
  }
}

// ---- a scheduler that is kept -------------------------------------------------------------------------------------

// A state driven by commands, as a controller drives it.
class KeptCluster {
 public:
  explicit KeptCluster(std::uint64_t seed) : dice_(seed) {
    (void)run(SetLevels{{"block", "rack"}});
    for (int i = 0; i < 8; ++i) set_host();
  }
  State state;

  void step() {
    now_.value += seconds(dice_.between(0, 30)).value;
    something();
    (void)run(AdvanceTime{});  // no deadline is left between the plan and its taking
  }
  // Empty: the plan was taken.
  std::string take(Plan made) { return run(ApplyPlan{std::move(made)}).text; }

 private:
  Answer run(CommandBody body) { return execute(state, {.time = now_, .body = std::move(body)}).answer; }
  void something() {
    switch (dice_.between(1, 20)) {
      case 1:
        return set_host();
      case 2:
        return (void)run(HostCommand{HostVerb::Remove, a_host()});
      case 3:
        return (void)run(HostCommand{HostVerb::Down, a_host()});
      case 4:
        return (void)run(HostCommand{HostVerb::Drain, a_host()});
      case 5:
      case 6:
      case 7:
        return (void)run(HostCommand{HostVerb::Up, a_host()});
      case 8:
        return (void)run(SetPool{dice_.one_in(2) ? "license.x" : "token", dice_.between(0, 6)});
      case 9:
        return set_levels();
      case 10:
        return (void)run(GroupCommand{GroupVerb::Cancel, a_group()});
      case 11:
        return (void)run(ResizeGroup{a_group(), 0, dice_.count(1, 5)});
      case 12:
      case 13:
      case 14:
        return report();
      default:
        return define();
    }
  }
  std::string a_host() { return "n" + std::to_string(dice_.between(1, 12)); }
  // One of the latest: most of the others have ended.
  GroupId a_group() {
    return GroupId{static_cast<std::uint64_t>(dice_.between(std::max(1, defined_ - 9), std::max(1, defined_)))};
  }

  void set_host() {
    HostInfo info{.name = a_host(), .counters = {{"cpu", dice_.between(1, 4)}, {"gpu", dice_.between(0, 2)}}};
    if (dice_.one_in(3)) info.counters.push_back({"token", 3});
    if (!dice_.one_in(6))
      info.at = {"b" + std::to_string(dice_.between(1, 2)), "r" + std::to_string(dice_.between(1, 2))};
    if (dice_.one_in(3)) info.attributes.push_back({"kind", "new"});
    (void)run(SetHost{info, !dice_.one_in(3)});
  }

  void set_levels() { (void)run(SetLevels{{dice_.one_in(2) ? "rack" : "row", dice_.one_in(2) ? "block" : "shelf"}}); }

  void define() {
    Amounts requests{{"cpu", dice_.between(1, 2)}};
    if (dice_.one_in(4)) requests.emplace_back("gpu", 1);
    if (dice_.one_in(4)) requests.emplace_back(dice_.one_in(2) ? "license.x" : "token", 1);
    Attributes select;
    if (dice_.one_in(5)) select.emplace_back("kind", "new");
    GroupSpec group = spec({role("w", dice_.count(1, 4), {term(1, requests, select)})});
    group.priority = static_cast<std::int32_t>(dice_.between(0, 2));
    if (dice_.one_in(2)) group.mode = PlacementMode::Reserve;
    if (dice_.one_in(2)) group.run_limit = seconds(dice_.between(10, 300));
    if (dice_.one_in(3)) group.topology.required = dice_.one_in(2) ? "rack" : "block";
    if (dice_.one_in(4)) group.topology.preferred = "rack";
    group.roles[0].min = dice_.count(1, group.roles[0].replicas);
    group.roles[0].max = group.roles[0].replicas + 2;
    group.partial = dice_.one_in(3);
    group.failure.default_action = FailureAction::RestartMember;
    DefineGroup define{.identity = {.name = "g" + std::to_string(defined_ + 1)}, .spec = group};
    if (run(define).code == AnswerCode::Done) ++defined_;
  }

  // Whatever some member may say next.
  void report() {
    const Group* group = state.group(a_group());
    if (group == nullptr) return;
    for (std::uint32_t index = 0; index < group->roles[0].members.size(); ++index) {
      const Member& member = group->roles[0].members[index];
      if (!is_live(member.phase)) continue;
      const ReportKind kind = member.phase == MemberPhase::Placed     ? ReportKind::Armed
                              : member.phase == MemberPhase::Stopping ? ReportKind::Stopped
                              : member.phase == MemberPhase::Running
                                  ? (dice_.one_in(3) ? ReportKind::Lost : ReportKind::Exit)
                                  : ReportKind::Started;
      (void)run(ReportMember{group->head.id,
                             {.kind = kind,
                              .member = {0, index},
                              .attempt = group->head.attempt,
                              .run = member.run,
                              .sequence = member.sequence + 1}});
    }
  }

  Dice dice_;
  Time now_ = kMorning;
  int defined_ = 0;
};

// What it has kept from hosts that came, went, drained, changed counters or places, from pools and levels that changed,
// and from states that were copied or assigned is never seen in a plan. Every plan is taken as it is.
TEST(KeptScheduler, MakesTheSamePlansAsAFreshOneWhateverHappens) {
  const std::uint64_t seed = seed_or(11);
  std::map<std::size_t, int> kinds;
  for (std::uint64_t run = 0; run < count_or("LOCKSTEP_RUNS", 40); ++run) {
    KeptCluster cluster(seed + run);
    Scheduler kept;
    State saved = cluster.state;
    Scheduler of_saved;
    for (int step = 0; step < 150; ++step) {
      cluster.step();
      if (step % 3 != 0) continue;  // several things happen between two passes
      const std::string where = "LOCKSTEP_SEED=" + std::to_string(seed + run) + " step " + std::to_string(step);
      const Plan made = plan(cluster.state);
      ASSERT_EQ(shown(cluster.state, kept.plan(cluster.state)), shown(cluster.state, made)) << where;
      ASSERT_EQ(shown(cluster.state, kept.plan(cluster.state)), shown(cluster.state, made)) << where << ", once more";
      for (const PlanAction& action : made.actions) ++kinds[action.index()];
      if (step % 10 == 0) {
        saved = cluster.state;
        ASSERT_EQ(shown(saved, of_saved.plan(saved)), shown(saved, made)) << where << ", of an assigned state";
      }
      if (step % 4 != 0) {
        ASSERT_EQ(cluster.take(made), "") << where << "\n" << shown(cluster.state, made);
      }
    }
    const State later = cluster.state;
    ASSERT_EQ(shown(later, kept.plan(later)), shown(later, plan(later))) << "of another state";
    cluster.state = saved;  // the same object, another state
    ASSERT_EQ(shown(saved, kept.plan(cluster.state)), shown(saved, plan(saved)));
    ASSERT_EQ(shown(saved, of_saved.plan(saved)), shown(saved, plan(saved)));
    cluster.state = State(later);
    ASSERT_EQ(shown(later, kept.plan(cluster.state)), shown(later, plan(later)));
  }
  EXPECT_GE(kinds.size(), 6U) << "too tame";
}

// Each by itself, between two passes of one scheduler.
TEST(KeptScheduler, SeesWhatChangedSinceItsLastPass) {
  State state;
  const auto run = [&](CommandBody body) {
    const Answer answer = execute(state, {.time = kMorning, .body = std::move(body)}).answer;
    EXPECT_EQ(answer.code, AnswerCode::Done) << answer.text;
  };
  const auto host = [&](const std::string& name, std::int64_t cpu, std::vector<std::string> at) {
    run(SetHost{{.name = name, .counters = {{"cpu", cpu}, {"gpu", 1}}, .at = std::move(at)}});
  };
  run(SetLevels{{"rack"}});
  run(SetPool{"token", 1});
  host("n1", 2, {"r1"});
  host("n2", 2, {"r2"});
  run(DefineGroup{.identity = {.name = "g1"},
                  .spec = spec({role("w", 2, {{"cpu", 2}}), role("t", 1, {{"gpu", 1}, {"token", 1}})}, "rack"),
                  .hold = true});
  host("n3", 2, {"r2"});
  run(GroupCommand{GroupVerb::Submit, GroupId{1}});
  Scheduler kept;
  const auto pass = [&] { return shown(state, kept.plan(state)); };
  const std::string there = "place g1 in r2: w[0]: n2; w[1]: n3; t[0]: n2";
  EXPECT_EQ(pass(), there);
  EXPECT_EQ(pass(), there) << "nothing is taken yet";
  run(HostCommand{HostVerb::Drain, "n2"});
  EXPECT_EQ(pass(), "");
  run(HostCommand{HostVerb::Up, "n2"});
  EXPECT_EQ(pass(), there);
  run(HostCommand{HostVerb::Down, "n3"});
  EXPECT_EQ(pass(), "");
  run(HostCommand{HostVerb::Up, "n3"});
  host("n3", 1, {"r2"});
  EXPECT_EQ(pass(), "");
  host("n3", 2, {"r1"});
  EXPECT_EQ(pass(), "place g1 in r1: w[0]: n1; w[1]: n3; t[0]: n1");
  run(SetPool{"token", 0});
  EXPECT_EQ(pass(), "");
  run(SetPool{"token", 1});
  run(HostCommand{HostVerb::Remove, "n1"});
  EXPECT_EQ(pass(), "");
  host("n0", 2, {"r1"});
  EXPECT_EQ(pass(), "place g1 in r1: w[0]: n0; w[1]: n3; t[0]: n0");
  run(ApplyPlan{kept.plan(state)});
  EXPECT_EQ(pass(), "");
}

}  // namespace
}  // namespace lockstep::testing
