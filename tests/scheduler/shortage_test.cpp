// What a demand that does not fit lacks: role, counter, needed and free, as `why` shows them.

#include <gtest/gtest.h>

#include "statemachine/fit.h"
#include "tests/scheduler/cluster.h"

namespace lockstep::testing {
namespace {

std::string missing(Cluster& cluster, const GroupSpec& group, Capacity capacity = Capacity::Free) {
  const Fit found = fit(cluster.state(), group, demand_of(group), capacity);
  if (found.fits) return "fits";
  if (found.shortage.role == kNoRole) return "nobody";
  const std::string role = group.roles[found.shortage.role].name;
  if (found.shortage.resource.empty()) return role;
  return role + " " + found.shortage.resource + " " + std::to_string(found.shortage.needed) + " of " +
         std::to_string(found.shortage.free);
}

TEST(Shortage, NamesTheCounterByWhichTheFewestMembersFit) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 64}, {"gpu", 4}, {"mem", 100}});
  EXPECT_EQ(missing(cluster, spec({role("w", 4, {{"cpu", 8}, {"gpu", 3}, {"mem", 10}})})), "w gpu 12 of 8");
  EXPECT_EQ(missing(cluster, spec({role("w", 4, {{"cpu", 8}, {"gpu", 3}, {"mem", 60}})})), "w gpu 12 of 8");
  EXPECT_EQ(missing(cluster, spec({role("w", 4, {{"cpu", 8}, {"gpu", 2}, {"mem", 60}})})), "w mem 240 of 200");
}

TEST(Shortage, CountsHostByHostAndNotTheSum) {
  Cluster cluster;
  cluster.hosts(4, "n", "", {{"cpu", 3}, {"mem", 100}});
  EXPECT_EQ(missing(cluster, spec({role("w", 5, {{"cpu", 2}, {"mem", 1}})})), "w cpu 10 of 12");
}

TEST(Shortage, NamesTheFirstRoleThatDoesNotFitAfterThoseBeforeIt) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 4}});
  const GroupSpec group = spec({role("a", 2, {{"cpu", 3}}), role("b", 3, {{"cpu", 1}}), role("c", 9, {{"cpu", 9}})});
  EXPECT_EQ(missing(cluster, group), "b cpu 3 of 2");
}

TEST(Shortage, NamesACounterThatNoHostHas) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 4}});
  EXPECT_EQ(missing(cluster, spec({role("w", 2, {{"cpu", 1}, {"fpga", 1}})})), "w fpga 2 of 0");
}

TEST(Shortage, NamesAPoolByTheRoleThatPassesIt) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 4}}).pool("license.x", 3);
  EXPECT_EQ(missing(cluster, spec({role("a", 2, {{"license.x", 1}}), role("b", 2, {{"cpu", 1}, {"license.x", 1}})})),
            "b license.x 2 of 1");
  EXPECT_EQ(missing(cluster, spec({role("a", 1, {{"license.y", 1}})})), "a license.y 1 of 0");
}

TEST(Shortage, NamesNoCounterWhereNoHostMatchesSelect) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 4}});
  EXPECT_EQ(missing(cluster, spec({role("w", 1, {term(1, {{"cpu", 1}}, {{"model", "x"}})})})), "w");
}

TEST(Shortage, CountsOnlyHostsThatMatchSelect) {
  Cluster cluster;
  cluster.host("n1", "", {{"gpu", 2}}, {{"model", "x"}}).host("n2", "", {{"gpu", 8}}, {{"model", "y"}});
  EXPECT_EQ(missing(cluster, spec({role("w", 3, {term(1, {{"gpu", 1}}, {{"model", "x"}})})})), "w gpu 3 of 2");
}

TEST(Shortage, SpeaksOfTheDomainWhereMostMembersFit) {
  Cluster cluster;
  cluster.levels({"rack"}).hosts(2, "a", "r1", {{"cpu", 2}}).hosts(2, "b", "r2", {{"cpu", 3}});
  EXPECT_EQ(missing(cluster, spec({role("w", 7, {{"cpu", 1}})}, "rack")), "w cpu 7 of 6");
  EXPECT_EQ(missing(cluster, spec({within(role("w", 4, {{"cpu", 1}}), "host")})), "w cpu 4 of 3");
  EXPECT_EQ(missing(cluster, spec({role("w", 7, {{"cpu", 1}})}, "zone")), "w");
}

TEST(Shortage, CountsSparesAsMembers) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 4}});
  RoleSpec worker = role("w", 2, {{"cpu", 4}});
  worker.spares = 1;
  EXPECT_EQ(missing(cluster, spec({worker})), "w cpu 12 of 8");
}

TEST(Shortage, SeesWhatOthersHold) {
  Cluster cluster;
  cluster.hosts(2, "n", "", {{"cpu", 4}});
  (void)cluster.running(spec({role("x", 1, {{"cpu", 3}})}));
  EXPECT_EQ(missing(cluster, spec({role("w", 2, {{"cpu", 3}})})), "w cpu 6 of 5");
  EXPECT_EQ(missing(cluster, spec({role("w", 2, {{"cpu", 3}})}), Capacity::Up), "fits");
}

}  // namespace
}  // namespace lockstep::testing
