// Models of topograph: switches, blocks of hosts below them, labels that hosts inherit.

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Topograph, PutsTheHostsOfABlockBelowItsSwitch) {
  const auto result = read_one("model.yaml", R"(
switches:
  core: {labels: {zone: z0, region: eu}, switches: [s1, s2, unused]}
  s1: {labels: {zone: z1}, switches: [leaf1]}
blocks:
- {switch: leaf1, nodes: ["n[1-2]", n5], labels: {rack: r1}, annotations: {domain: d1}}
- {switch: leaf1, nodes: ["[7-8]"]}
- {switch: s2, nodes: [n9]}
- {switch: alone, nodes: [n10]}
)");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("switch1", "switch2", "switch3"));
  ASSERT_THAT(places_of(result),
              ElementsAre("n1 core/s1/leaf1", "n2 core/s1/leaf1", "n5 core/s1/leaf1", "7 core/s1/leaf1",
                          "8 core/s1/leaf1", "n9 core/s2/s2", "n10 alone/alone/alone"));
  EXPECT_THAT(result.hosts[0].attributes, ElementsAre(KeyValue{"domain", "d1"}, KeyValue{"rack", "r1"},
                                                      KeyValue{"region", "eu"}, KeyValue{"zone", "z1"}));
  EXPECT_THAT(result.hosts[5].attributes, ElementsAre(KeyValue{"region", "eu"}, KeyValue{"zone", "z0"}));
  EXPECT_THAT(result.hosts[6].attributes, IsEmpty());
}

TEST(Topograph, IsRefusedWithTheFieldOrTheLine) {
  struct Case {
    std::string_view text;
    std::string problem;
  };
  for (const Case& c : {
           Case{"switches: {a: {switches: [b]}, b: {switches: [a]}}\nblocks: [{switch: a, nodes: [n1]}]\n",
                "m.yaml:1: a cycle of switches: a > b > a"},
           Case{"blocks:\n- {switch: a, nodes: [n1]}\n- {switch: b, nodes: [n1]}\n",
                "m.yaml:3: n1 is under b, and under a (m.yaml:2) too: a host has one place"},
           Case{"switches: [a]\n", "m.yaml: switches: a list where a map is wanted"},
           Case{"blocks: [{nodes: [n1]}]\n", "m.yaml: blocks[0].switch: is missing"},
           Case{"blocks: [{switch: a, nodes: ['n[']}]\n", "m.yaml: blocks[0].nodes[0]: \"n[\": a [ without its ]"},
           Case{R"({"provider": {"name": "test"}, "engine": {"name": "slurm"}})",
                "m.yaml: document: a request to topograph is no topology; give the model that it names"},
       }) {
    EXPECT_THAT(lines_of(read_one("m.yaml", std::string(c.text)).problems), ElementsAre(c.problem)) << c.text;
  }
}

}  // namespace
}  // namespace lockstep
