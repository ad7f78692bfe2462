// One group against a small cluster made by hand: does it fit, and where do its members go. The expected placements are
// written out; check_placement() looks at the rest.

#include "statemachine/fit.h"

#include <gtest/gtest.h>

#include "statemachine/apply.h"
#include "statemachine/capacity.h"
#include "statemachine/fit_shape.h"
#include "tests/scheduler/cluster.h"

namespace lockstep::testing {
namespace {

std::string placed(Cluster& cluster, const GroupSpec& spec) {
  const Fit found = fit_now(cluster, spec);
  if (found.fits) {
    EXPECT_EQ(check_placement(cluster.state(), spec, demand_of(spec), found), "");
  }
  return shown(cluster.state(), spec, found);
}

std::string placed_fully(Cluster& cluster, const GroupSpec& spec) {
  const Fit found = fit_now(cluster, spec);
  if (found.fits) {
    EXPECT_EQ(check_placement(cluster.state(), spec, demand_of(spec), found), "");
  }
  return shown_fully(cluster.state(), spec, found);
}

TEST(Fit, MembersByRoleAndIndexTakeHostsInPathOrder) {
  Cluster cluster;
  cluster.levels({"block"}).host("z", "a", {{"cpu", 8}}).host("a", "b", {{"cpu", 8}}).host("b", "a", {{"cpu", 8}});
  EXPECT_EQ(placed(cluster, spec({role("l", 1, {{"cpu", 4}}), role("w", 2, {{"cpu", 8}})})),
            "l[0]: b; w[0]: z; w[1]: a");
}

TEST(Fit, PathOrderGoesPieceByPieceThenByHostName) {
  Cluster cluster;
  cluster.levels({"block", "rack"})
      .host("n4", "b1-x/r1", {{"cpu", 1}})
      .host("n3", "b1/r2", {{"cpu", 1}})
      .host("n2", "b1", {{"cpu", 1}})
      .host("n1", "", {{"cpu", 1}});
  // As one text "b1-x/r1" would come before "b1/r2"; piece by piece it does not.
  EXPECT_EQ(placed(cluster, spec({role("w", 4, {{"cpu", 1}})})), "w[0]: n2; w[1]: n3; w[2]: n4; w[3]: n1");
}

TEST(Fit, C59PutsTheLeaderWhereItLeavesRoomForTheWorkers) {
  Cluster cluster;
  cluster.levels({"rack"}).host("h1", "r", {{"cpu", 2}}).host("h2", "r", {{"cpu", 4}}).host("h3", "r", {{"cpu", 3}});
  const GroupSpec group = spec({role("leader", 1, {{"cpu", 1}}), role("worker", 4, {{"cpu", 2}})}, "rack");
  EXPECT_EQ(placed(cluster, group), "leader[0]: h3; worker[0]: h1; worker[1]: h2; worker[2]: h2; worker[3]: h3");
}

TEST(Fit, C43DoesNotTakeTheHostsThatOnlyTheOtherRoleCanUse) {
  Cluster cluster;
  for (int i = 0; i < 5; ++i) cluster.host("a" + std::to_string(i), "", {{"cpu", 1}}, {{"p", "y"}, {"q", "y"}});
  for (int i = 0; i < 5; ++i) cluster.host("b" + std::to_string(i), "", {{"cpu", 1}}, {{"p", "y"}});
  const GroupSpec group =
      spec({role("p", 5, {term(1, {{"cpu", 1}}, {{"p", "y"}})}), role("q", 5, {term(1, {{"cpu", 1}}, {{"q", "y"}})})});
  const Fit found = fit_now(cluster, group);
  EXPECT_EQ(check_placement(cluster.state(), group, demand_of(group), found), "");
  EXPECT_EQ(shown(cluster.state(), group, found).substr(0, 36), "p[0]: b0; p[1]: b1; p[2]: b2; p[3]: ");
}

TEST(Fit, C43HoldsForHundredsOfMembersToo) {
  Cluster cluster;
  for (int i = 100; i < 300; ++i) cluster.host("a" + std::to_string(i), "", {{"cpu", 1}}, {{"p", "y"}, {"q", "y"}});
  for (int i = 100; i < 300; ++i) cluster.host("b" + std::to_string(i), "", {{"cpu", 1}}, {{"p", "y"}});
  const GroupSpec group = spec(
      {role("p", 200, {term(1, {{"cpu", 1}}, {{"p", "y"}})}), role("q", 200, {term(1, {{"cpu", 1}}, {{"q", "y"}})})});
  EXPECT_EQ(check_placement(cluster.state(), group, demand_of(group), fit_now(cluster, group)), "");
}

TEST(Fit, TriesTheMostConstrainedRoleFirstWhereAGroupIsTooVariedToSearch) {
  Cluster cluster;
  for (int i = 100; i < 200; ++i) cluster.host("a" + std::to_string(i), "", {{"cpu", 1}, {"mem", 99}}, {{"q", "y"}});
  for (int i = 100; i < 200; ++i) cluster.host("b" + std::to_string(i), "", {{"cpu", 1}, {"mem", 99}});
  std::vector<RoleSpec> roles{role("p", 100, {{"cpu", 1}}), role("q", 100, {term(1, {{"cpu", 1}}, {{"q", "y"}})})};
  for (int i = 1; i < 90; ++i) roles.push_back(role("m" + std::to_string(i), 1, {{"mem", i}}));
  const GroupSpec group = spec(std::move(roles));
  EXPECT_EQ(check_placement(cluster.state(), group, demand_of(group), fit_now(cluster, group)), "");
}

TEST(Fit, C41ChecksAPoolAgainstTheSumOverTheGroup) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 8}}).pool("license.x", 2);
  const auto group = [](std::int64_t a, std::int64_t b) {
    return spec({role("a", 1, {{"cpu", 1}, {"license.x", a}}), role("b", 1, {{"cpu", 1}, {"license.x", b}})});
  };
  EXPECT_EQ(placed(cluster, group(1, 2)), "no");
  EXPECT_EQ(placed(cluster, group(1, 1)), "a[0]: n1; b[0]: n1");
  (void)cluster.running(group(1, 1));
  EXPECT_EQ(placed(cluster, spec({role("a", 1, {{"license.x", 1}})})), "no");
}

TEST(Fit, APoolThatNobodyHasSetIsEmpty) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 8}, {"license.y", 5}});
  EXPECT_EQ(placed(cluster, spec({role("a", 1, {{"license.y", 1}})})), "no");
}

TEST(Fit, C64TakesNothingForRolesAndTermsOfSizeZero) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 1}, {"gpu", 0}});
  RoleSpec empty = role("empty", 0, {{"cpu", 5}});
  RoleSpec nothing = role("nothing", 2, {term(0, {{"cpu", 5}}), term(1, {})});
  RoleSpec zero = role("zero", 1, {{"cpu", 0}});
  EXPECT_EQ(placed_fully(cluster, spec({empty, nothing, zero})),
            "nothing[0]: n1(1x1); nothing[1]: n1(1x1); zero[0]: n1(0x1)");
  EXPECT_TRUE(fit(cluster.state(), spec({empty}), {}, Capacity::Free).fits);
  EXPECT_EQ(placed(cluster, spec({role("g", 1, {{"gpu", 1}})})), "no");
}

TEST(Fit, C64AnswersForAClusterWithoutHosts) {
  Cluster cluster;
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {{"cpu", 1}})})), "no");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {{"cpu", 1}})}, "host")), "no");
  EXPECT_EQ(placed(cluster, spec({within(role("w", 1, {{"cpu", 1}}), "host")})), "no");
}

TEST(Fit, AmountsThatPassTheLargestNumberDoNotFitRatherThanWrapAround) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"mem", kQuantityMax}}).pool("license.x", kQuantityMax);
  EXPECT_EQ(placed(cluster, spec({role("w", 3, {{"mem", kQuantityMax}})})), "no");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {on_one_host(term(100'000, {{"mem", kQuantityMax}}))})})), "no");
  EXPECT_EQ(placed(cluster, spec({role("w", 1'000, {term(100'000, {{"license.x", kQuantityMax}})})})), "no");
  EXPECT_EQ(placed(cluster, spec({role("w", 2, {{"mem", kQuantityMax}})})), "w[0]: n001; w[1]: n002");
}

TEST(Fit, C94PlacesSparesBesideTheMembers) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}});
  RoleSpec worker = role("w", 2, {{"cpu", 1}});
  worker.spares = 1;
  EXPECT_EQ(placed(cluster, spec({worker})), "w[0]: n001; w[1]: n002; w+: n003");
  worker.spares = 2;
  EXPECT_EQ(placed(cluster, spec({worker})), "no");
}

TEST(Fit, SelectAsksForEqualAttributes) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 4}}, {{"model", "a100"}}).host("n2", "", {{"cpu", 4}}, {{"model", "h100"}});
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {term(1, {{"cpu", 1}}, {{"model", "h100"}})})})), "w[0]: n2");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {term(1, {{"cpu", 1}}, {{"model", "v100"}})})})), "no");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {term(1, {{"cpu", 1}}, {{"zone", "h100"}})})})), "no");
  EXPECT_EQ(fit_now(cluster, spec({role("w", 1, {term(1, {{"cpu", 1}}, {{"hostname", "n2"}})})})).fits, true);
}

TEST(Fit, TasksThatMaySpreadStayTogetherWhereOneHostHasRoom) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 3}}).host("n2", "", {{"cpu", 8}});
  EXPECT_EQ(placed_fully(cluster, spec({role("w", 1, {term(8, {{"cpu", 1}})})})), "w[0]: n2(0x8)");
  EXPECT_EQ(placed_fully(cluster, spec({role("w", 1, {term(11, {{"cpu", 1}})})})), "w[0]: n1(0x3) n2(0x8)");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {term(12, {{"cpu", 1}})})})), "no");
}

TEST(Fit, SpanHostsKeepsATermOnOneHost) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 4}});
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {on_one_host(term(5, {{"cpu", 1}}))})})), "no");
  // Each term for itself: together they need both hosts.
  EXPECT_EQ(
      placed_fully(cluster,
                   spec({role("w", 1, {on_one_host(term(3, {{"cpu", 1}})), on_one_host(term(4, {{"cpu", 1}}))})})),
      "w[0]: n001(0x3) n002(1x4)");
}

TEST(Fit, SpanPtilePutsSoManyTasksOnEachHostAndTheRestOnTheLast) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 4}});
  EXPECT_EQ(placed_fully(cluster, spec({role("w", 1, {tiled(term(5, {{"cpu", 1}}), 2)})})),
            "w[0]: n001(0x2) n002(0x2) n003(0x1)");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {tiled(term(7, {{"cpu", 1}}), 2)})})), "no");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {tiled(term(5, {{"cpu", 1}}), 5)})})), "no");
  // Two members may share hosts.
  EXPECT_EQ(placed_fully(cluster, spec({role("w", 2, {tiled(term(6, {{"cpu", 1}}), 2)})})),
            "w[0]: n001(0x2) n002(0x2) n003(0x2); w[1]: n001(0x2) n002(0x2) n003(0x2)");
}

TEST(Fit, RequiredLevelTakesTheFirstDomainInPathOrderThatHoldsAll) {
  Cluster cluster;
  cluster.levels({"block", "rack"})
      .host("n1", "b1/r1", {{"cpu", 1}})
      .host("n2", "b1/r2", {{"cpu", 1}})
      .host("n3", "b2/r1", {{"cpu", 2}})
      .host("n4", "b2/r1", {{"cpu", 2}});
  EXPECT_EQ(fit_now(cluster, spec({role("w", 2, {{"cpu", 1}})}, "block")).domain, "b1");
  EXPECT_EQ(fit_now(cluster, spec({role("w", 2, {{"cpu", 1}})}, "rack")).domain, "b2/r1");
  EXPECT_EQ(fit_now(cluster, spec({role("w", 3, {{"cpu", 1}})}, "block")).domain, "b2");
  EXPECT_EQ(fit_now(cluster, spec({role("w", 2, {{"cpu", 1}})}, "host")).domain, "b2/r1/n3");
  EXPECT_EQ(fit_now(cluster, spec({role("w", 5, {{"cpu", 1}})})).domain, "/");
  EXPECT_FALSE(fit_now(cluster, spec({role("w", 5, {{"cpu", 1}})}, "block")).fits);
  EXPECT_TRUE(fit(cluster.state(), spec({role("w", 5, {{"cpu", 1}})}, "block"),
                  demand_of(spec({role("w", 5, {{"cpu", 1}})})), Capacity::Free, Require::Nothing)
                  .fits);
}

TEST(Fit, AnUnknownLevelHasNoDomains) {
  Cluster cluster;
  cluster.levels({"block"}).host("n1", "b1", {{"cpu", 1}});
  EXPECT_FALSE(fit_now(cluster, spec({role("w", 1, {{"cpu", 1}})}, "zone")).fits);
  EXPECT_FALSE(fit_now(cluster, spec({within(role("w", 1, {{"cpu", 1}}), "zone")})).fits);
}

TEST(Fit, AHostThatNamesTooFewLevelsIsInNoDomainOfTheOthers) {
  Cluster cluster;
  cluster.levels({"block", "rack"})
      .host("n1", "", {{"cpu", 4}})
      .host("n2", "b1", {{"cpu", 4}})
      .host("n3", "b1/r1", {{"cpu", 4}});
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {{"cpu", 1}})}, "rack")), "w[0]: n3");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {{"cpu", 1}})}, "block")), "w[0]: n2");
  EXPECT_EQ(placed(cluster, spec({role("w", 1, {{"cpu", 1}})}, "host")), "w[0]: n2");
}

TEST(Fit, RolesWithDomainsOfTheirOwnAreChosenJointly) {
  Cluster cluster;
  cluster.levels({"block", "rack"})
      .host("n1", "b1/r1", {{"cpu", 2}})
      .host("n2", "b1/r1", {{"cpu", 2}})
      .host("n3", "b1/r2", {{"cpu", 2}});
  // `a` alone would take r1, which `b` needs whole.
  const GroupSpec group =
      spec({within(role("a", 1, {{"cpu", 2}}), "rack"), within(role("b", 2, {{"cpu", 2}}), "rack")}, "block");
  EXPECT_EQ(placed(cluster, group), "a[0]: n3; b[0]: n1; b[1]: n2");
}

TEST(Fit, ARolesLevelAsWideAsItsGroupsAsksForNothingMore) {
  Cluster cluster;
  cluster.levels({"block", "rack"}).host("n1", "b1/r1", {{"cpu", 1}}).host("n2", "b1/r2", {{"cpu", 2}});
  EXPECT_EQ(placed(cluster, spec({within(role("a", 2, {{"cpu", 1}}), "block")}, "rack")), "a[0]: n2; a[1]: n2");
}

TEST(Fit, ARoleThatRequiresAHostHasAllItsMembersThere) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 2}}).host("n2", "", {{"cpu", 4}});
  EXPECT_EQ(placed(cluster, spec({within(role("a", 2, {term(2, {{"cpu", 1}})}), "host"), role("b", 2, {{"cpu", 1}})})),
            "a[0]: n2; a[1]: n2; b[0]: n1; b[1]: n1");
}

TEST(Fit, StaysInsideAPromisedDomain) {
  Cluster cluster;
  cluster.levels({"block", "rack"})
      .host("n1", "b1/r1", {{"cpu", 1}})
      .host("n2", "b1/r10", {{"cpu", 1}})
      .host("n3", "b2", {{"cpu", 9}});
  const GroupSpec group = spec({role("w", 1, {{"cpu", 1}})}, "rack");
  const auto inside = [&](const std::string& domain, std::uint32_t replicas) {
    GroupSpec wanted = group;
    wanted.roles[0].replicas = replicas;
    const Fit found = fit(cluster.state(), wanted, demand_of(wanted), Capacity::Free, Require::AsSaid, domain);
    if (found.fits) {
      EXPECT_EQ(found.domain, domain);
    }
    return shown(cluster.state(), wanted, found);
  };
  EXPECT_EQ(inside("b1/r10", 1), "w[0]: n2");
  EXPECT_EQ(inside("b1/r1", 1), "w[0]: n1");
  EXPECT_EQ(inside("b1/r1", 2), "no");
  EXPECT_EQ(inside("b1/r2", 1), "no");
  EXPECT_EQ(inside("b1", 2), "w[0]: n1; w[1]: n2");
  GroupSpec on_host = spec({role("w", 1, {{"cpu", 1}})}, "host");
  EXPECT_EQ(shown(cluster.state(), on_host,
                  fit(cluster.state(), on_host, demand_of(on_host), Capacity::Free, Require::AsSaid, "b2/n3")),
            "w[0]: n3");
}

TEST(Fit, CapacityIsFreeOrUpOrAll) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}}).pool("license.x", 1);
  (void)cluster.running(spec({role("w", 1, {{"cpu", 1}, {"license.x", 1}})}));
  cluster.down("n002");
  const GroupSpec three = spec({role("w", 3, {{"cpu", 1}})});
  const GroupSpec two = spec({role("w", 2, {{"cpu", 1}})});
  const GroupSpec licensed = spec({role("w", 1, {{"license.x", 1}})});
  const auto fits = [&](const GroupSpec& group, Capacity capacity) {
    return fit(cluster.state(), group, demand_of(group), capacity).fits;
  };
  EXPECT_FALSE(fits(two, Capacity::Free));
  EXPECT_TRUE(fits(two, Capacity::Up));
  EXPECT_FALSE(fits(three, Capacity::Up));
  EXPECT_TRUE(fits(three, Capacity::All));
  EXPECT_TRUE(fits(two, Capacity::FreeIfUp));
  EXPECT_FALSE(fits(three, Capacity::FreeIfUp));
  EXPECT_FALSE(fits(licensed, Capacity::Free));
  EXPECT_TRUE(fits(licensed, Capacity::Up));
}

TEST(Fit, NothingGoesToAHostThatShrankBelowWhatIsHeld) {
  Cluster cluster;
  cluster.host("n1", "", {{"cpu", 4}, {"mem", 4}});
  (void)cluster.running(spec({role("w", 1, {{"cpu", 3}})}));
  State shrunk = cluster.state();
  shrunk.hosts.find(HostId{1})->facts.info.counters[0].amount = 2;
  rebuild_derived(shrunk);
  const GroupSpec group = spec({role("w", 1, {{"cpu", 1}})});
  EXPECT_FALSE(fit(shrunk, group, demand_of(group), Capacity::Free).fits);
}

TEST(Fit, C56ChoosesHostsByNameAndNeverByTheOrderInWhichTheyWereAdded) {
  const GroupSpec group = spec({role("l", 1, {{"cpu", 1}}), role("w", 3, {{"cpu", 2}})}, "rack");
  const std::vector<std::pair<std::string, std::string>> hosts = {
      {"n1", "b1/r1"}, {"n2", "b1/r1"}, {"n3", "b1/r1"}, {"n4", "b1/r2"}};
  Cluster forward;
  forward.levels({"block", "rack"});
  for (const auto& [name, at] : hosts) forward.host(name, at, {{"cpu", 3}});
  Cluster backward;
  backward.levels({"block", "rack"});
  for (auto host = hosts.rbegin(); host != hosts.rend(); ++host) backward.host(host->first, host->second, {{"cpu", 3}});
  EXPECT_EQ(placed_fully(forward, group), placed_fully(backward, group));
  EXPECT_EQ(placed(forward, group), "l[0]: n1; w[0]: n1; w[1]: n2; w[2]: n3");
}

TEST(Fit, AMillionMembersTakeOneWalkOverTheHosts) {
  Cluster cluster;
  cluster.hosts(100, "n", "", {{"cpu", 10'000}});
  const GroupSpec group = spec({role("w", 999'999, {{"cpu", 1}}), role("l", 1, {{"cpu", 1}})});
  const Fit found = fit_now(cluster, group);
  ASSERT_TRUE(found.fits);
  EXPECT_EQ(found.members.size(), 1'000'000U);
  EXPECT_FALSE(fit_now(cluster, spec({role("w", 1'000'000, {{"cpu", 1}}), role("l", 1, {{"cpu", 1}})})).fits);
}

// Sixteen roles that each need a block to themselves, and ten blocks: every choice of blocks is wrong.
TEST(Fit, GivesUpOnRolesWithDomainsOfTheirOwnAfterABoundedWork) {
  Cluster cluster;
  cluster.levels({"block"});
  for (int block = 0; block < 10; ++block) {
    const std::string name = "b" + std::to_string(block);
    cluster.hosts(10, name + "-", name, {{"cpu", 8}});
  }
  std::vector<RoleSpec> roles;
  for (int i = 0; i < 16; ++i) {
    RoleSpec one = role("w" + std::to_string(i), 6, {tiled(term(3, {{"cpu", 4}}), 2)});
    roles.push_back(within(std::move(one), "block"));
  }
  const CapacityView view(cluster.state(), Capacity::Free);
  const GroupSpec all = spec(roles);
  const Fit none = fit_in(view, all, demand_of(all), Require::AsSaid, {}, Explain::No);
  EXPECT_FALSE(none.fits);
  EXPECT_LE(none.work, fit_detail::kDomainWorkMax + 1'000);
  roles.resize(8);
  const GroupSpec some = spec(roles);
  const Fit eight = fit_in(view, some, demand_of(some), Require::AsSaid, {}, Explain::No);
  EXPECT_TRUE(eight.fits);
  EXPECT_EQ(check_placement(cluster.state(), some, demand_of(some), eight), "");
  EXPECT_LE(eight.work, 200U) << "roles in blocks apart are not solved again with each other";
}

TEST(Fit, CouldEverFitFollowsEveryChangeOfTheCluster) {
  State state;
  const auto happens = [&state](EventBody body) {
    apply(state, Event{.seq = Seq{state.head.seq.value + 1}, .actor = Actor::User, .body = std::move(body)});
  };
  const auto add = [&](std::uint32_t id, std::int64_t cpu) {
    happens(HostAdded{HostId{id}, HostInfo{.name = "n" + std::to_string(id), .counters = {{"cpu", cpu}}, .at = {"b"}}});
  };
  const GroupSpec four = spec({role("w", 4, {{"cpu", 1}})});
  const GroupSpec licensed = spec({role("w", 1, {{"license.x", 2}})});
  const GroupSpec in_block = spec({role("w", 1, {{"cpu", 1}})}, "block");
  EXPECT_FALSE(could_ever_fit(state, four).fits);
  add(1, 3);
  EXPECT_FALSE(could_ever_fit(state, four).fits);
  add(2, 1);
  EXPECT_TRUE(could_ever_fit(state, four).fits);
  happens(HostRemoved{HostId{2}});
  EXPECT_FALSE(could_ever_fit(state, four).fits);
  happens(HostChanged{HostId{1}, HostInfo{.name = "n1", .counters = {{"cpu", 4}}, .at = {"b"}}});
  EXPECT_TRUE(could_ever_fit(state, four).fits);
  EXPECT_FALSE(could_ever_fit(state, licensed).fits);
  happens(PoolSet{"license.x", 2});
  EXPECT_TRUE(could_ever_fit(state, licensed).fits);
  EXPECT_FALSE(could_ever_fit(state, in_block).fits);
  happens(LevelsSet{{"block"}});
  EXPECT_TRUE(could_ever_fit(state, in_block).fits);
  State copy = state;
  state = State{};
  EXPECT_FALSE(could_ever_fit(state, four).fits);
  EXPECT_TRUE(could_ever_fit(copy, four).fits) << "the copy looks at its own hosts";
}

// A few hosts are asked first; what needs more of them, or only the last, fits all the same.
TEST(Fit, CouldEverFitOnMoreHostsThanAreAskedFirst) {
  Cluster cluster;
  cluster.hosts(200, "n", "", {{"cpu", 1}}).host("z", "", {{"gpu", 1}});
  EXPECT_TRUE(could_ever_fit(cluster.state(), spec({role("w", 64, {{"cpu", 1}})})).fits);
  EXPECT_TRUE(could_ever_fit(cluster.state(), spec({role("w", 200, {{"cpu", 1}})})).fits);
  EXPECT_FALSE(could_ever_fit(cluster.state(), spec({role("w", 201, {{"cpu", 1}})})).fits);
  EXPECT_TRUE(could_ever_fit(cluster.state(), spec({role("w", 1, {{"gpu", 1}})})).fits);
}

TEST(Fit, CouldEverFitCountsMinsWithPartialAndSparesAlways) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}}).down("n001").drained("n002");
  (void)cluster.running(spec({role("x", 1, {{"cpu", 1}})}));
  GroupSpec group = spec({role("w", 4, {{"cpu", 1}})});
  group.roles[0].min = 2;
  group.roles[0].spares = 1;
  EXPECT_FALSE(could_ever_fit(cluster.state(), group).fits);
  group.partial = true;
  EXPECT_TRUE(could_ever_fit(cluster.state(), group).fits);
  group.roles[0].spares = 2;
  EXPECT_FALSE(could_ever_fit(cluster.state(), group).fits);
  const GroupId id = cluster.pending(group);
  EXPECT_FALSE(could_ever_fit(cluster.state(), cluster.group(id)).fits);
}

}  // namespace
}  // namespace lockstep::testing
