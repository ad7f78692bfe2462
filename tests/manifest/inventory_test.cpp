// Inventories and the scenario's host lines: what entries expand to, how ranges in `at` divide the hosts, and what is
// refused with which path and words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/manifest/support.h"
#include "tools/manifest/host_line.h"
#include "tools/manifest/manifest.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Inventory, OfTheContractExpandsToItsHosts) {
  const InventoryResult result = read_inventory(R"(
apiVersion: lockstep/v1
kind: Inventory
levels: [block, rack, nvlink]
pools: {license.matlab: 20}
hosts:
  - {name: "n[001-128]", cpu: 96, mem: 2Ti, gpu: 8, at: "b1/r[1-16]/d[1-32]", attributes: {model: h100, rev: 3}}
  - {name: login, cpu: 500m}
)");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("block", "rack", "nvlink"));
  EXPECT_THAT(result.pools, ElementsAre(Counter{"license.matlab", 20}));
  ASSERT_EQ(result.hosts.size(), 129U);
  EXPECT_EQ(result.hosts[0], (HostInfo{"n001",
                                       {{"cpu", 96'000}, {"gpu", 8}, {"mem", 2048 * kGi}},
                                       {"b1", "r1", "d1"},
                                       {{"model", "h100"}, {"rev", "3"}}}));
  EXPECT_THAT(result.hosts[3].at, ElementsAre("b1", "r1", "d1"));
  EXPECT_THAT(result.hosts[4].at, ElementsAre("b1", "r1", "d2"));
  EXPECT_THAT(result.hosts[8].at, ElementsAre("b1", "r2", "d3"));
  EXPECT_THAT(result.hosts[127].at, ElementsAre("b1", "r16", "d32"));
  EXPECT_EQ(result.hosts[128], (HostInfo{"login", {{"cpu", 500}}, {}, {}}));
}

TEST(Inventory, MayBeJson) {
  const InventoryResult result =
      read_inventory(R"({"kind": "Inventory", "hosts": [{"name": "n[1-2]", "cpu": 4, "mem": "8Gi"}]})");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_EQ(result.hosts.size(), 2U);
}

TEST(Inventory, NamesThePathOfAProblem) {
  struct Case {
    std::string_view text;
    std::string_view problem;
  };
  for (const Case& c : {
           Case{"", "document: 0 documents where one Inventory is wanted"},
           Case{"hosts: []", "kind: is missing"},
           Case{"kind: GangGroup", "kind: \"GangGroup\" is not Inventory"},
           Case{"kind: Inventory\napiVersion: v1", "apiVersion: \"v1\" is not lockstep/v1"},
           Case{"kind: Inventory\nhost: []", "host: unknown key"},
           Case{"kind: Inventory\nlevels: [rack, rack]", "levels[1]: \"rack\" is there twice"},
           Case{"kind: Inventory\nlevels: [rack, host]", "levels[1]: host is always the last level; leave it out"},
           Case{"kind: Inventory\nlevels: [a/b]",
                "levels[0]: \"a/b\" is not the name of a level: printable, no space, no /"},
           Case{"kind: Inventory\npools: {license.x: -1}", "pools.license.x: \"-1\" is negative"},
           Case{"kind: Inventory\npools: [a]", "pools: a list where a map is wanted"},
           Case{"kind: Inventory\nhosts: [{cpu: 1}]", "hosts[0].name: is missing"},
           Case{"kind: Inventory\nhosts: [{name: 'n[1-'}]", "hosts[0].name: \"n[1-\": a [ without its ]"},
           Case{
               "kind: Inventory\nhosts: [{name: N1}]",
               "hosts[0].name: 'N1' is not a name; use lowercase letters, digits, '-' and '.', at most 253 characters"},
           Case{"kind: Inventory\nhosts: [{name: n1}, {name: 'n[1-2]'}]",
                "hosts[1].name: \"n1\" is a host of hosts[0] too"},
           Case{"kind: Inventory\nhosts: [{name: n1, cpu: fast}]",
                "hosts[0].cpu: \"fast\" is not a quantity: an integer, alone or with Ki Mi Gi Ti or K M G T (cpu also "
                "500m)"},
           Case{"kind: Inventory\nhosts: [{name: n1, gpu: -8}]", "hosts[0].gpu: \"-8\" is negative"},
           Case{"kind: Inventory\nhosts: [{name: n1, cpu: 1, cpu: 2}]", "hosts[0].cpu: the key is there twice"},
           Case{"kind: Inventory\nhosts: [{name: n1, 'a b': 2}]",
                "hosts[0].a b: 'a b' is not a key; use printable ASCII without spaces, at most 253 characters"},
           Case{"kind: Inventory\nhosts: [{name: n1, attributes: {a: [b]}}]",
                "hosts[0].attributes.a: a list where text is wanted"},
           Case{"kind: Inventory\nhosts: [{name: 'n[1-4]', at: 'r[1-3]'}]",
                "hosts[0].at: the 3 elements of \"r[1-3]\" do not divide 4 hosts evenly"},
           Case{"kind: Inventory\nhosts: [{name: 'n[1-4]', at: 'b1/r[1-8]'}]",
                "hosts[0].at: \"r[1-8]\" makes more than 4 names"},
           Case{"kind: Inventory\nhosts: [{name: n1, at: 'b1//r1'}]", "hosts[0].at: an empty name"},
           Case{"kind: Inventory\nhosts: [{name: n1, at: 'b1/'}]", "hosts[0].at: ends with a /"},
           Case{"kind: Inventory\nlevels: [rack]\nhosts: [{name: n1, at: 'b1/r1'}]",
                "hosts[0].at: 2 names, but there is 1 level"},
           Case{"kind: Inventory\nhosts: [{name: 'n[1-1000001]'}]",
                "hosts[0].name: \"n[1-1000001]\" makes more than 1000000 names"},
       }) {
    EXPECT_THAT(lines_of(read_inventory(c.text).problems), ElementsAre(c.problem)) << c.text;
  }
}

TEST(Inventory, BoundsWhatItExpandsTo) {
  std::string entry = "kind: Inventory\nhosts:\n- name: n[1-100000]\n  attributes:\n";
  for (int i = 0; i < 12; ++i) entry += "    a" + std::to_string(i) + ": " + std::string(1000, 'x') + "\n";
  EXPECT_THAT(lines_of(read_inventory(entry).problems), ElementsAre(HasSubstr("hosts[0].name: 100000 hosts of")));
}

TEST(HostLine, TellsCountersFromAttributes) {
  const auto hosts = read_host_line("n[1-4]", {{"cpu", "64"},
                                               {"mem", "512Gi"},
                                               {"gpu", "8"},
                                               {"at", "b1/r1/d[1-2]"},
                                               {"model", "h100"},
                                               {"disk", "5m"},
                                               {"version", "1.5"}});
  ASSERT_TRUE(hosts) << hosts.error().message;
  ASSERT_EQ(hosts->size(), 4U);
  EXPECT_EQ((*hosts)[2], (HostInfo{"n3",
                                   {{"cpu", 64'000}, {"gpu", 8}, {"mem", 512 * kGi}},
                                   {"b1", "r1", "d2"},
                                   {{"disk", "5m"}, {"model", "h100"}, {"version", "1.5"}}}));
}

TEST(HostLine, IsRefusedWithTheReason) {
  struct Case {
    std::string_view hosts;
    std::vector<KeyValue> keys;
    std::string_view message;
  };
  for (const Case& c : {
           Case{"n[1-", {}, "name: \"n[1-\": a [ without its ]"},
           Case{"n1", {{"cpu", "many"}}, "cpu: \"many\" is not a quantity"},
           Case{"n1", {{"mem", "1.5Gi"}}, "mem: \"1.5Gi\" is not a quantity"},
           Case{"n1", {{"gpu", "-1"}}, "gpu: \"-1\" is negative"},
           Case{"n1", {{"gpu", "99999999999999999999"}}, "gpu: \"99999999999999999999\" is more than a counter holds"},
           Case{"n1", {{"cpu", "1"}, {"cpu", "2"}}, "\"cpu\" is given twice"},
           Case{"n[1-4]", {{"at", "r[1-3]"}}, "at: the 3 elements"},
       }) {
    const auto hosts = read_host_line(c.hosts, c.keys);
    ASSERT_FALSE(hosts) << c.hosts;
    EXPECT_THAT(hosts.error().message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace lockstep
