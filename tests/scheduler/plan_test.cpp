// Whole passes over clusters made by hand: order, atomicity, partial, replacement, growth, reservations and what they
// lend, preemption, and that the same state gives the same plan however it came about.
// Shows R29, R41.

#include "tests/scheduler/passes.h"

namespace lockstep::testing {
namespace {

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

}  // namespace
}  // namespace lockstep::testing
