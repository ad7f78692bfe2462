// Evictions in one pass: whose, for whom, and when nobody. Shows R47.

#include "tests/scheduler/passes.h"

namespace lockstep::testing {
namespace {

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

TEST(Preemption, CountsNotWhatIsLeavingForAnothersReservation) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 1}});
  const GroupId first = cluster.running(only_on("n001"));
  cluster.started(first, ago(1));
  cluster.started(cluster.running(only_on("n002")), ago(5));
  (void)cluster.pending(workers(1, 1, 5));
  EXPECT_EQ(pass_and_go(cluster), "evict g1 for g3\nreserve g3 in /");
  (void)cluster.pending(workers(1, 1, 4));
  EXPECT_EQ(pass(cluster), "evict g2 for g4\nreserve g4 in /");
}

TEST(Preemption, CountsWhatEvictionsOfThisPassLeaveOver) {
  Cluster cluster;
  cluster.at(kMorning).hosts(2, "n", "", {{"cpu", 4}});
  cluster.started(cluster.running(only_on("n001", 4)), ago(1));
  cluster.started(cluster.running(only_on("n002", 4)), ago(5));
  (void)cluster.pending(workers(1, 1, 5));
  (void)cluster.pending(workers(1, 3, 4));
  EXPECT_EQ(pass(cluster), "evict g1 for g3\nreserve g3 in /") << "the other three are for g4, which has only to wait";
}

TEST(Preemption, OfAGroupThatWasToGrow) {
  Cluster cluster;
  cluster.at(kMorning).hosts(1, "n", "", {{"cpu", 4}});
  const GroupId grows = cluster.running(workers(1, 1));
  cluster.hosts(1, "m", "", {{"cpu", 1}});
  cluster.ask_resize(grows, 0, 2);
  (void)cluster.pending(workers(1, 4, 1));
  EXPECT_EQ(pass(cluster), "evict g1 for g2\nreserve g2 in /");
}

}  // namespace
}  // namespace lockstep::testing
