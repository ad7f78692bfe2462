// Reservations in one pass: where they open, what they hold and lend, and who may take it. Shows R45, R46.

#include "tests/scheduler/passes.h"

namespace lockstep::testing {
namespace {

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

// The lender comes behind the borrower in the order, and is gone through after it.
TEST(Reservation, KeepsTheProjectedEndWhenTheBorrowerCameFirst) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  cluster.started(cluster.running(only_on("n001", 1, 1000)), kMorning);
  (void)cluster.pending(with_limit(workers(2, 1), 10));
  const GroupId lender = cluster.reserving(in_reserve_mode(workers(3, 1)), "/", {"n002", "n003"});
  cluster.group(lender).head.projected = Time{seconds(2'000).value};
  EXPECT_EQ(pass(cluster), "reserve g3, lost w[0] w[1], at 2000s\nplace g2 in /: w[0]: n002; w[1]: n003");
}

TEST(Reservation, IsTakenForAsManyMembersOfAPartialGroupAsFit) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.reserving(in_reserve_mode(workers(4, 1)), "/", {"n001", "n002", "n003"});
  cluster.down("n003");
  GroupSpec group = workers(3, 1, 1);
  group.partial = true;
  group.roles[0].min = 1;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "release g1\nplace g2 in /: w[0]: n001; w[1]: n002");
}

TEST(Reservation, LendsAsManyMembersOfAPartialGroupAsFit) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  cluster.started(cluster.running(only_on("n001", 1, 1000)), kMorning);
  const GroupId lender = cluster.reserving(in_reserve_mode(workers(3, 1)), "/", {"n002", "n003"});
  cluster.group(lender).head.projected = Time{seconds(2'000).value};
  GroupSpec group = with_limit(workers(2, 1), 10);
  group.partial = true;
  group.roles[0].min = 1;
  (void)cluster.pending(group);
  EXPECT_EQ(pass(cluster), "reserve g2, lost w[0] w[1], at 2000s\nplace g3 in /: w[0]: n002; w[1]: n003");
}

// g2 is complete elsewhere; what it held and needs no more belongs to g1, which has waited longer than g3.
TEST(Reservation, LeavesWhatItNeedsNoMoreToTheFirstInTheOrder) {
  Cluster cluster;
  cluster.at(kMorning).host("a", "", {{"cpu", 2}}).host("x", "", {{"cpu", 1}});
  (void)cluster.pending(only_on("x"));
  (void)cluster.reserving(in_reserve_mode(workers(2, 1)), "/", {"x"});
  (void)cluster.pending(only_on("x"));
  const Plan made = plan(cluster.state());
  for (const PlanAction& action : made.actions) {
    const auto* place = std::get_if<PlaceAction>(&action);
    EXPECT_FALSE(place != nullptr && place->group == GroupId{3}) << shown(cluster.state(), made);
  }
}

// The borrower comes before its lender in the plan, and the lender is then complete elsewhere: decide refuses the plan.
TEST(Reservation, BorrowerAheadOfALenderThatIsCompleteElsewhere) {
  Cluster cluster;
  cluster.at(kMorning).hosts(3, "n", "", {{"cpu", 1}});
  (void)cluster.pending(with_limit(only_on("n001"), 10));
  const GroupId lender = cluster.reserving(in_reserve_mode(workers(2, 1)), "/", {"n001"});
  cluster.group(lender).head.projected = Time{seconds(2'000).value};
  const State& state = cluster.state();
  const Plan made = plan(state);
  EXPECT_EQ(decide(state, {.time = kMorning, .body = ApplyPlan{made}}).answer.text, "") << shown(state, made);
}

TEST_F(TwoRacks, AReservationCountsTheEndsOfGroupsPlacedInThisPass) {
  (void)cluster.running(only_on("a001"));
  (void)cluster.pending(only_on("b001", 1, 500));
  (void)cluster.pending(in_reserve_mode(in_one_rack(workers(3, 1))));
  EXPECT_EQ(pass(cluster), "place g2 in /: w[0]: b001\nreserve g3 in r2: w[0]: b002; w[1]: b003, at 1500s");
}

TEST_F(TwoRacks, AReservationEndsWhenItsDomainCouldNotHoldItEvenIfEmpty) {
  (void)cluster.running(only_on("a001"));
  (void)cluster.running(only_on("b001"));
  (void)cluster.reserving(in_reserve_mode(in_one_rack(workers(3, 1))), "r1", {"a002"});
  EXPECT_EQ(pass(cluster), "reserve g3 in r1: w[1]: a003") << "all is up";
  cluster.down("a003");  // which it did not hold
  EXPECT_EQ(pass_and_go(cluster), "release g3");
  EXPECT_EQ(pass(cluster), "reserve g3 in r2: w[0]: b002; w[1]: b003") << "anew, elsewhere";
}

TEST(Reservation, EndsWhenAPoolHasBecomeTooSmallForIt) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}}).pool("license", 2);
  (void)cluster.running(only_on("n001"));
  GroupSpec group = in_reserve_mode(spec({role("w", 2, {{"cpu", 1}, {"license", 1}})}));
  (void)cluster.reserving(group, "/", {"n002"});
  EXPECT_EQ(pass(cluster), "");
  cluster.pool("license", 1);
  EXPECT_EQ(pass(cluster), "release g2");
}

TEST(Reservation, IsTakenForAsManyReplacementsAsFit) {
  Cluster cluster;
  cluster.at(kMorning).hosts(4, "n", "", {{"cpu", 1}});
  const GroupId running = cluster.running(workers(3, 1, 1));
  cluster.lose(running, 0, 1);
  cluster.lose(running, 0, 2);
  cluster.down("n002").down("n003");
  (void)cluster.reserving(in_reserve_mode(workers(2, 1)), "/", {"n004"});
  EXPECT_EQ(pass(cluster), "release g2\nreplace g1: w[1]: n004");
}

TEST(Reservation, IsLeftAloneWhenNoMoreReplacementsFitWithWhatItHolds) {
  Cluster cluster;
  cluster.at(kMorning).hosts(5, "n", "", {{"cpu", 2}});
  const GroupId running = cluster.running(workers(3, 2, 1));
  cluster.lose(running, 0, 1);
  cluster.lose(running, 0, 2);
  cluster.down("n002").down("n003");
  (void)cluster.running(only_on("n005", 1));
  (void)cluster.reserving(in_reserve_mode(workers(2, 1)), "/", {"n005"});
  EXPECT_EQ(pass(cluster), "replace g1: w[1]: n004") << "n005 is in use";
}

}  // namespace
}  // namespace lockstep::testing
