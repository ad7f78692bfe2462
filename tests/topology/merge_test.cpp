// merge() and write_inventory(): an inventory in the places of a topology, and what is written reads back to the same.

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TopologyResult merge_texts(std::string_view inventory, const std::string& csv) {
  return merge(read_inventory(inventory), read_one("t.csv", csv));
}

TEST(Merge, PutsTheHostsOfTheInventoryIntoThePlacesOfTheTopology) {
  const auto result = merge_texts(
      "kind: Inventory\npools: {license.x: 2}\n"
      "hosts: [{name: 'n[1-2]', cpu: 8, attributes: {model: h100}}, {name: login}]\n",
      "host,row,rack\nN2,a,r1\nn1,a,r2\nn9,a,r2\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("row", "rack"));
  EXPECT_THAT(result.pools, ElementsAre(Counter{"license.x", 2}));
  EXPECT_THAT(result.hosts, ElementsAre(HostInfo{"n1", {{"cpu", 8'000}}, {"a", "r2"}, {{"model", "h100"}}},
                                        HostInfo{"n2", {{"cpu", 8'000}}, {"a", "r1"}, {{"model", "h100"}}},
                                        HostInfo{"login", {}, {}, {}}));
  EXPECT_THAT(result.not_carried,
              ElementsAre("1 host with capital letters, which are small letters here: N2",
                          "1 host of the inventory without a place in the topology: login",
                          "1 host of the topology that the inventory does not have, not carried: n9"));
}

TEST(Merge, LeavesNoPlaceOfTheInventory) {
  const auto result = merge_texts("kind: Inventory\nlevels: [rack, tray]\nhosts: [{name: 'n[1-2]', at: r1/t1}]\n",
                                  "host,rack\nn1,r1\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("rack"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 r1", "n2 "));
  EXPECT_THAT(result.not_carried,
              ElementsAre("1 host of the inventory that the topology does not have, their place not carried: n2"));
}

TEST(Merge, OfTwoWithoutAHostInCommonIsRefused) {
  const auto result = merge_texts("kind: Inventory\nhosts: [{name: 'n[1-9].example'}]\n", "host,rack\nn1,r1\nn2,r1\n");
  EXPECT_THAT(
      lines_of(result.problems),
      ElementsAre("hosts: none of the inventory (n1.example, n2.example, n3.example, n4.example, n5.example and 4 "
                  "more) is in the topology (n1, n2)"));
}

TEST(Merge, KeepsTheProblemsOfBoth) {
  const auto result = merge_texts("kind: Inventory\nhost: []\n", "host,rack\nn1\n");
  EXPECT_THAT(lines_of(result.problems), ElementsAre("host: unknown key", "t.csv:2: 1 cell where 2 are wanted"));
}

TEST(IsInventory, IsToldByTheKind) {
  EXPECT_TRUE(is_inventory("kind: Inventory\nhosts: []\n"));
  EXPECT_TRUE(is_inventory(R"({"kind": "Inventory"})"));
  EXPECT_FALSE(is_inventory("kind: Node\nmetadata: {name: Inventory}\n"));
  EXPECT_FALSE(is_inventory("SwitchName=Inventory\n"));
  EXPECT_FALSE(is_inventory("kind: Inventory\n---\nkind: Inventory\n"));
  EXPECT_FALSE(is_inventory(""));
}

TEST(WriteInventory, MakesOneEntryOfHostsThatDifferInTheirName) {
  const auto result = read_inventory(
      "kind: Inventory\nlevels: [block, rack]\npools: {license.x: 2}\n"
      "hosts: [{name: 'n[01-04,7]', cpu: 1500m, mem: 2Ti, at: b/r, attributes: {model: h100}}, {name: n8, at: b/r}]\n");
  EXPECT_EQ(write_inventory(result),
            "apiVersion: lockstep/v1\n"
            "kind: Inventory\n"
            "levels: [\"block\", \"rack\"]\n"
            "pools: {\"license.x\": 2}\n"
            "hosts:\n"
            "  - {name: \"n[01-04,7]\", cpu: 1500m, mem: 2Ti, at: \"b/r\", attributes: {\"model\": \"h100\"}}\n"
            "  - {name: \"n8\", at: \"b/r\"}\n");
}

void expect_same(const InventoryResult& inventory) {
  const auto back = read_inventory(write_inventory(inventory));
  EXPECT_THAT(lines_of(back.problems), IsEmpty());
  EXPECT_EQ(back.levels, inventory.levels);
  EXPECT_EQ(back.pools, inventory.pools);
  EXPECT_EQ(back.hosts, inventory.hosts);
}

TEST(WriteInventory, ReadsBackToTheSame) {
  expect_same({});
  InventoryResult odd;
  odd.levels = {"null", "#x", "a:b"};
  odd.pools = {{"license.a,b", 3}, {"true", 4}};
  odd.hosts = {{"1e3", {{"\"", 1}, {"mem", 1'000}, {"{", 0}}, {"yes", "*a", "b+3"}, {{"k", "a\nb\t\"\\"}, {"~", ""}}},
               {"n1", {}, {"yes"}, {{"u", "\xc2\x85\xe2\x80\xa8\x01 \xc3\xa9"}}},
               {"n2", {}, {}, {}}};
  expect_same(odd);
}

TEST(WriteInventory, OfManyHostsStillReadsBack) {
  InventoryResult many;
  many.levels = {"rack"};
  for (int i = 0; i < 60'000; ++i) {
    many.hosts.push_back({"n" + std::to_string(i),
                          {{"cpu", i}, {"mem", i}},
                          {"r" + std::to_string(i)},
                          {{"a", "1"}, {"b", "2"}, {"c", "3"}}});
  }
  EXPECT_EQ(write_inventory(many).find('{'), std::string::npos);  // a host would be 5 commas and 4 braces
  expect_same(many);
}

TEST(WriteInventory, OfRandomHostsReadsBackToTheSame) {
  Random random;
  const auto name = [&](std::string_view letters) {
    std::string text;
    for (std::uint64_t size = 1 + random.upto(5); size-- > 0;) text += letters[random.upto(letters.size() - 1)];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    InventoryResult inventory;
    inventory.levels = {"a", "b"};
    std::vector<std::string> seen;
    for (std::uint64_t hosts = random.upto(30); hosts-- > 0;) {
      HostInfo host;
      host.name = name("0019ab-.");
      if (std::find(seen.begin(), seen.end(), host.name) != seen.end()) continue;
      seen.push_back(host.name);
      if (random.chance()) host.counters = {{"cpu", static_cast<std::int64_t>(random.upto(3)) * 500}};
      if (random.chance()) host.attributes = {{"k", name("a\"\\: {}\n")}};
      for (std::uint64_t depth = random.upto(2); depth-- > 0;) host.at.push_back(name("a+:#{}"));
      inventory.hosts.push_back(std::move(host));
    }
    expect_same(inventory);
  }
}

}  // namespace
}  // namespace lockstep
