// The view of free capacity: its order, its domains and their sums, and that take() keeps all of them right.

#include "statemachine/capacity.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/scheduler/cluster.h"

namespace lockstep::testing {
namespace {

std::vector<std::string> names(const CapacityView& view, RowRange rows) {
  std::vector<std::string> names;
  for (std::uint32_t row = rows.first; row < rows.after; ++row) names.push_back(view.host(row).facts.info.name);
  return names;
}

std::vector<std::string> paths(const CapacityView& view, const std::vector<Domain>& domains) {
  std::vector<std::string> found;
  for (const Domain& domain : domains) found.push_back(view.path(domain));
  return found;
}

using Names = std::vector<std::string>;

TEST(CapacityView, ListsDomainsInPathOrder) {
  Cluster cluster;
  cluster.levels({"block", "rack"})
      .host("n5", "b2/r1", {{"cpu", 5}})
      .host("n4", "b1/r2", {{"cpu", 4}})
      .host("n3", "b1/r10", {{"cpu", 3}})
      .host("n2", "b1", {{"cpu", 2}})
      .host("n1", "", {{"cpu", 1}});
  const CapacityView view(cluster.state(), Capacity::Free);
  EXPECT_EQ(names(view, view.cluster().rows), (Names{"n2", "n3", "n4", "n5", "n1"}));
  EXPECT_EQ(paths(view, view.domains(1, view.cluster())), (Names{"b1", "b2"}));
  EXPECT_EQ(paths(view, view.domains(2, view.cluster())), (Names{"b1/r10", "b1/r2", "b2/r1"}));
  const Domain block = view.find("b1", false).value();
  EXPECT_EQ(names(view, block.rows), (Names{"n2", "n3", "n4"}));
  EXPECT_EQ(paths(view, view.domains(2, block)), (Names{"b1/r10", "b1/r2"}));
  EXPECT_EQ(paths(view, view.domains(kHostDepth, block)), (Names{"b1/n2", "b1/r10/n3", "b1/r2/n4"}));
  EXPECT_EQ(paths(view, view.domains(1, view.find("b1/r2", false).value())), (Names{"b1/r2"}));
  const std::uint32_t cpu = view.place("cpu").column;
  EXPECT_EQ(view.sum(view.cluster(), cpu), 15);
  EXPECT_EQ(view.sum(block, cpu), 9);
}

TEST(CapacityView, FindsStoredPaths) {
  Cluster cluster;
  cluster.levels({"block"})
      .host("n1", "b1/x", {{"cpu", 1}})
      .host("n2", "b1", {{"cpu", 1}})
      .host("n3", "", {{"cpu", 1}});
  const CapacityView view(cluster.state(), Capacity::Free);
  EXPECT_EQ(view.find("/", false), view.cluster());
  EXPECT_EQ(view.find("", false), view.cluster());
  EXPECT_FALSE(view.find("b", false));
  EXPECT_FALSE(view.find("b1/", false));
  EXPECT_EQ(names(view, view.find("b1/x", false)->rows), Names{"n1"});
  EXPECT_EQ(names(view, view.find("b1/n2", true)->rows), Names{"n2"});
  EXPECT_EQ(names(view, view.find("n3", true)->rows), Names{"n3"});
  EXPECT_FALSE(view.find("b1/n1", true)) << "it is at b1/x";
}

// The hosts that name fewer levels stand among the others, by their names; no search may be misled by them.
TEST(CapacityView, FindsDomainsBetweenHostsThatNameFewerLevels) {
  Cluster cluster;
  cluster.levels({"block", "rack"});
  for (const char* name : {"a", "b1", "b2", "r1", "z"}) {
    cluster.host(name, "", {{"cpu", 1}});
    cluster.host(std::string("in-") + name, "b1", {{"cpu", 1}});
  }
  cluster.host("p", "b1/in-b1", {{"cpu", 1}}).host("q", "b1/in-c", {{"cpu", 1}}).host("s", "b2/r", {{"cpu", 1}});
  const CapacityView view(cluster.state(), Capacity::Free);
  EXPECT_EQ(names(view, view.cluster().rows),
            (Names{"a", "b1", "in-a", "in-b1", "p", "in-b2", "q", "in-r1", "in-z", "b2", "s", "r1", "z"}));
  EXPECT_EQ(view.find("b1", false)->rows, (RowRange{2, 9}));
  EXPECT_EQ(names(view, view.find("b1/in-b1", false)->rows), Names{"p"});
  EXPECT_EQ(names(view, view.find("b1/in-c", false)->rows), Names{"q"});
  EXPECT_EQ(names(view, view.find("b2", false)->rows), Names{"s"});
  EXPECT_EQ(names(view, view.find("b1", true)->rows), Names{"b1"});
  EXPECT_EQ(names(view, view.find("b1/in-b1", true)->rows), Names{"in-b1"});
  EXPECT_FALSE(view.find("b1/in-bb", false));
  EXPECT_EQ(paths(view, view.domains(2, view.find("b1", false).value())), (Names{"b1/in-b1", "b1/in-c"}));
}

TEST(CapacityView, CountsNoHostThatIsDownOrDrainedUnlessAllAreMeant) {
  Cluster cluster;
  cluster.hosts(3, "n", "", {{"cpu", 1}}).down("n001").drained("n003");
  EXPECT_EQ(CapacityView(cluster.state(), Capacity::Free).row_count(), 1U);
  EXPECT_EQ(CapacityView(cluster.state(), Capacity::Up).row_count(), 1U);
  EXPECT_EQ(CapacityView(cluster.state(), Capacity::All).row_count(), 3U);
  EXPECT_EQ(CapacityView(cluster.state(), Capacity::FreeIfUp).row_count(), 3U);
}

TEST(CapacityView, HasAColumnOnlyForWhatSomeHostHas) {
  Cluster cluster;
  cluster.hosts(1, "n", "", {{"cpu", 1}, {"license.x", 4}}).pool("license.x", 2).pool("token", 5);
  (void)cluster.pending(spec({role("w", 1, {{"quantum", 1}})}));
  const CapacityView view(cluster.state(), Capacity::Free);
  EXPECT_EQ(view.place("cpu").kind, CounterPlace::Kind::Host);
  EXPECT_EQ(view.place("quantum").kind, CounterPlace::Kind::Nowhere);
  EXPECT_EQ(view.place("license.y").kind, CounterPlace::Kind::Nowhere);
  ASSERT_EQ(view.place("license.x").kind, CounterPlace::Kind::Pool);
  EXPECT_EQ(view.pool_free(view.place("license.x").column), 2);
  EXPECT_EQ(view.pool_free(view.place("token").column), 5);
}

TEST(CapacityView, TakingInTheViewEqualsAViewOfTheStateThatHoldsIt) {
  std::mt19937_64 random(seed_or(3));
  for (int round = 0; round < 50; ++round) {
    Cluster cluster;
    cluster.levels({"block", "rack"}).pool("license.x", 100);
    for (int i = 0; i < 8; ++i) {
      const std::string at = i == 0 ? "" : i == 1 ? "b0" : "b" + std::to_string(i % 2) + "/r" + std::to_string(i % 3);
      cluster.host("n" + std::to_string(i), at, {{"cpu", static_cast<std::int64_t>(2 + random() % 5)}, {"gpu", 2}});
    }
    CapacityView taken(cluster.state(), Capacity::Free);
    for (int i = 0; i < 4; ++i) {
      const GroupSpec group = spec({role("w", static_cast<std::uint32_t>(1 + random() % 3),
                                         {{"cpu", static_cast<std::int64_t>(1 + random() % 2)}, {"license.x", 2}}),
                                    role("g", 1, {{"gpu", 1}})});
      const Fit found = fit_in(taken, group, demand_of(group), Require::AsSaid, {}, Explain::No);
      if (!found.fits) continue;
      (void)cluster.running(group);
      const CapacityView fresh(cluster.state(), Capacity::Free);
      taken.take(group, found.members, found.spares);
      EXPECT_EQ(taken.pool_free(taken.place("license.x").column), fresh.pool_free(fresh.place("license.x").column));
      for (const char* counter : {"cpu", "gpu"}) {
        const std::uint32_t mine = taken.place(counter).column;
        const std::uint32_t theirs = fresh.place(counter).column;
        for (const std::uint32_t depth : {1U, 2U, kHostDepth}) {
          for (const Domain& domain : taken.domains(depth, taken.cluster())) {
            EXPECT_EQ(taken.sum(domain, mine), fresh.sum(domain, theirs)) << taken.path(domain);
          }
        }
        EXPECT_EQ(taken.sum(taken.cluster(), mine), fresh.sum(fresh.cluster(), theirs));
      }
    }
  }
}

TEST(PromisedDomain, HoldsHostsByWholePieces) {
  HostInfo host;
  host.name = "n1";
  host.at = {"b1", "r1"};
  const GroupSpec any = spec({role("w", 1, {{"cpu", 1}})}, "rack");
  EXPECT_TRUE(in_promised_domain(any, "/", host));
  EXPECT_TRUE(in_promised_domain(any, "b1", host));
  EXPECT_TRUE(in_promised_domain(any, "b1/r1", host));
  EXPECT_FALSE(in_promised_domain(any, "b1/r", host));
  EXPECT_FALSE(in_promised_domain(any, "b1/r1/x", host));
  EXPECT_FALSE(in_promised_domain(any, "b1/r1/n1", host));
  EXPECT_TRUE(in_promised_domain(spec({role("w", 1, {{"cpu", 1}})}, "host"), "b1/r1/n1", host));
}

}  // namespace
}  // namespace lockstep::testing
