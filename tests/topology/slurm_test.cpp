// Slurm's topologies: trees of switches and blocks, from topology.conf and topology.yaml, and what is refused with
// which words.

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SlurmTree, OfUnequalDepthSaysWhichSwitchesAreDomainsOfSeveralLevels) {
  const auto result = read_one("t.conf",
                               "SwitchName=a Switches=b,c\nSwitchName=b Nodes=n1\n"
                               "SwitchName=c Switches=d\nSwitchName=d Nodes=n2\n");
  EXPECT_THAT(places_of(result), ElementsAre("n1 a/b/b", "n2 a/c/d"));
  EXPECT_THAT(result.not_carried,
              ElementsAre("branches are not equally deep: 1 switch stands for more than one level: b"));
}

TEST(SlurmTree, TakesNoKeyTwiceInALine) {
  EXPECT_THAT(lines_of(read_one("t.conf", "SwitchName=s Nodes=n1 Nodes=n2\n").problems),
              ElementsAre("t.conf:1: Nodes: is there twice in one line"));
}

TEST(SlurmTree, IsThePathOfSwitchesAboveEachHost) {
  const auto result = read_one("topology.conf", R"(
# two halls
switchname=core SWITCHES=hall[1-2]   # keys in any case
SwitchName=hall1 Switches=a1,a2 LinkSpeed=900
SwitchName=hall2 Switches=b1
SwitchName=a1 Nodes=n[1-2],\
n3
SwitchName=a2 Nodes="n4"
SwitchName = b1 Nodes = n[10-11]
)");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("switch1", "switch2", "switch3"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 core/hall1/a1", "n2 core/hall1/a1", "n3 core/hall1/a1",
                                             "n4 core/hall1/a2", "n10 core/hall2/b1", "n11 core/hall2/b1"));
  EXPECT_THAT(result.not_carried, IsEmpty());
}

TEST(SlurmTree, MayHaveNoCommonRootAndLeavesAtUnequalDepths) {
  const auto result = read_one("topology.conf", R"(
SwitchName=spine Switches=rack,leaf1
SwitchName=rack Switches=leaf2
SwitchName=leaf1 Nodes=n1
SwitchName=leaf2 Nodes=n2
SwitchName=alone Nodes=n3
SwitchName=empty
)");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("switch1", "switch2", "switch3"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 spine/leaf1/leaf1", "n2 spine/rack/leaf2", "n3 alone/alone/alone"));
}

TEST(SlurmTree, KeepsHostsRightBelowAnInnerSwitchOutOfTheNarrowerLevels) {
  const auto result = read_one("topology.conf", "SwitchName=top Switches=leaf Nodes=n1\nSwitchName=leaf Nodes=n2\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(places_of(result), ElementsAre("n1 top", "n2 top/leaf"));
}

TEST(SlurmTree, TakesSwitchesOverTheSameOnesForOneDomain) {
  const auto result = read_one("fat.conf", R"(
SwitchName=core1 Switches=spine1
SwitchName=core2 Switches=spine2
SwitchName=spine1 Switches=leaf[1-2]
SwitchName=spine2 Switches=leaf[1-2]
SwitchName=leaf1 Nodes=n1
SwitchName=leaf2 Nodes=n2
)");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(places_of(result), ElementsAre("n1 core1/spine1/leaf1", "n2 core1/spine1/leaf2"));
  EXPECT_THAT(result.not_carried,
              ElementsAre("fat.conf:2: core1 and core2 have the same switches below them: one domain, core1",
                          "fat.conf:4: spine1 and spine2 have the same switches below them: one domain, spine1"));
}

TEST(SlurmTree, DoesNotMixSwitchesWithACommonPrefixOrTheNameOfAHost) {
  const auto result = read_one("topology.conf", R"(
SwitchName=r1 Nodes=r1
SwitchName=r10 Nodes=n1
SwitchName=r1x0 Nodes=n2
)");
  EXPECT_THAT(places_of(result), ElementsAre("r1 r1", "n1 r10", "n2 r1x0"));
}

TEST(SlurmTree, IsRefusedWithTheLineOfEachProblem) {
  struct Case {
    std::string_view text;
    std::vector<std::string> problems;
  };
  for (const Case& c : {
           Case{"SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3]\n",
                {"t.conf:2: n2 is under b, and under a (t.conf:1) too: a host has one place"}},
           Case{"SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=a\n",
                {"t.conf:1: a cycle of switches: a > b > c > a"}},
           Case{"SwitchName=a Switches=a\n", {"t.conf:1: a cycle of switches: a > a"}},
           Case{"SwitchName=a Switches=b\n", {"t.conf:1: b is below a, but there is no switch b"}},
           Case{"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", {"t.conf:2: a (t.conf:1) is a switch already"}},
           Case{"SwitchName=a Switches=l\nSwitchName=b Switches=l,m\nSwitchName=l Nodes=n1\nSwitchName=m Nodes=n2\n",
                {"t.conf:3: l is below a (t.conf:1) and below b (t.conf:2): a switch is below one other"}},
           Case{"SwitchName=a Nodes=n[1-\n", {"t.conf:1: Nodes: \"n[1-\": a [ without its ]"}},
           Case{"SwitchName=a Nodes=n_1\n",
                {"t.conf:1: \"n_1\" is not the name of a host: letters, digits, '-' and '.', at most 253 bytes"}},
           Case{"SwitchName=a[1-2] Nodes=n1\n",
                {"t.conf:1: \"a[1-2]\" is not the name of a domain: printable, no space, none of / , [ ]"}},
           Case{"SwitchName=a Node=n1\n", {"t.conf:1: Node: unknown key"}},
           Case{"SwitchName=a Nodes=n1\n\nSwitchName=b Nodes\n", {"t.conf:3: \"Nodes\" is not Key=Value"}},
           Case{"SwitchName=a Nodes=\"n1\n", {"t.conf:1: \"Nodes=\"n1\" is not Key=Value"}},
           Case{"SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n",
                {"t.conf:2: blocks beside a tree of switches (t.conf:1); one topology is read at a time"}},
           Case{"RingName=r0 Nodes=n[1-8]\nRingName=r1 Nodes=n[9-16]\n",
                {"t.conf:1: a topology of the kind ring is not supported: only tree and block are"}},
           Case{"SwitchName=a\n", {"files: a tree of switches without hosts"}},
           Case{"# nothing\n", {"t.conf: is empty"}},
       }) {
    EXPECT_EQ(lines_of(read_one("t.conf", std::string(c.text)).problems), c.problems) << c.text;
  }
}

TEST(SlurmTree, ReportsAllProblemsAtOnce) {
  const auto result = read_one(
      "t.conf", "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\nSwitchName=c Switches=d\nSwitchName=e Switches=e\n");
  EXPECT_THAT(lines_of(result.problems),
              ElementsAre("t.conf:3: d is below c, but there is no switch d",
                          "t.conf:2: n1 is under b, and under a (t.conf:1) too: a host has one place",
                          "t.conf:4: a cycle of switches: e > e"));
}

TEST(SlurmBlocks, AreInLargerBlocksOfSoManyThatFollowOneAnother) {
  const auto result = read_one("topology.conf", R"(
BlockName=b1 Nodes=n[1-2]
BlockName=b2 Nodes=n[3-4]
BlockName=b3 Nodes=n[5-6]
BlockSizes=2,4,8,16
)");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("block8", "block4", "block"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 b1+2/b1+1/b1", "n2 b1+2/b1+1/b1", "n3 b1+2/b1+1/b2", "n4 b1+2/b1+1/b2",
                                             "n5 b1+2/b3+0/b3", "n6 b1+2/b3+0/b3"));
  EXPECT_THAT(result.not_carried, ElementsAre("topology.conf:5: BlockSizes 16: more than all blocks, not carried"));
}

TEST(SlurmBlocks, WithoutSizesAreOneLevel) {
  const auto result = read_one("topology.conf", "BlockName=b1 Nodes=n1\nBlockName=b2 Nodes=n2,n3\nBlockName=b3\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("block"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 b1", "n2 b2", "n3 b2"));
}

TEST(SlurmBlocks, AreRefusedWithTheLineOfEachProblem) {
  struct Case {
    std::string_view text;
    std::vector<std::string> problems;
  };
  for (const Case& c : {
           Case{"BlockName=a Nodes=n1\nBlockName=a Nodes=n2\n", {"t.conf:2: \"a\" is a block already"}},
           Case{"BlockName=a Nodes=n1\nBlockName=b Nodes=n1\n",
                {"t.conf:2: n1 is in a already (t.conf:1); a host has one place"}},
           Case{"BlockName=a Nodes=n1\nBlockSizes=1,3\n",
                {"t.conf:2: BlockSizes: 3 is not 1 times a power of two, larger than 1"}},
           Case{"BlockName=a Nodes=n1\nBlockSizes=4,4\n",
                {"t.conf:2: BlockSizes: 4 is not 4 times a power of two, larger than 4"}},
           Case{"BlockName=a Nodes=n1\nBlockSizes=0\n", {"t.conf:2: BlockSizes: \"0\" is not a number of nodes"}},
           Case{"BlockName=a Nodes=n1\nBlockSizes=1,\n", {"t.conf:2: BlockSizes: \"\" is not a number of nodes"}},
           Case{"BlockName=a Nodes=n1\nBlockSizes=1\nBlockSizes=1\n", {"t.conf:3: BlockSizes: is at t.conf:2 already"}},
           Case{"BlockSizes=1\n", {"t.conf:1: BlockSizes without a block"}},
       }) {
    EXPECT_EQ(lines_of(read_one("t.conf", std::string(c.text)).problems), c.problems) << c.text;
  }
}

TEST(SlurmYaml, IsTheSameTreeOrBlocks) {
  const auto tree = read_one("topology.yaml", R"(
- topology: one
  tree:
    switches:
      - {switch: root, children: "s[1-2]"}
      - {switch: s1, nodes: "n[1-2]"}
      - {switch: s2, nodes: n3}
)");
  EXPECT_THAT(lines_of(tree.problems), IsEmpty());
  EXPECT_THAT(tree.levels, ElementsAre("switch1", "switch2"));
  EXPECT_THAT(places_of(tree), ElementsAre("n1 root/s1", "n2 root/s1", "n3 root/s2"));
  const auto blocks = read_one("topology.yaml", R"(
- topology: two
  block: {block_sizes: [1, 2], blocks: [{block: b1, nodes: n1}, {block: b2, nodes: n2}]}
)");
  EXPECT_THAT(lines_of(blocks.problems), IsEmpty());
  EXPECT_THAT(blocks.levels, ElementsAre("block2", "block"));
  EXPECT_THAT(places_of(blocks), ElementsAre("n1 b1+1/b1", "n2 b1+1/b2"));
}

TEST(SlurmYaml, OfSeveralTopologiesIsTheDefault) {
  const auto result = read_one("topology.yaml", R"(
- {topology: a, ring: {rings: []}}
- {topology: b, cluster_default: true, block: {blocks: [{block: b1, nodes: n1}]}}
- {topology: c, cluster_default: true, flat: true}
)");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(places_of(result), ElementsAre("n1 b1"));
  EXPECT_THAT(result.not_carried,
              ElementsAre("topology.yaml:2: the topology a (b is the one that is read), not carried",
                          "topology.yaml:4: the topology c (b is the one that is read), not carried"));
}

TEST(SlurmYaml, IsRefusedWithTheFieldOrTheLine) {
  struct Case {
    std::string_view text;
    std::vector<std::string> problems;
  };
  for (const Case& c : {
           Case{"- {topology: a, torus3d: {toruses: []}}\n",
                {"t.yaml: [0].torus3d: a topology of the kind torus3d is not supported: only tree and block are"}},
           Case{"- {topology: a, tree: {switches: [{switch: s, node: n1}]}}\n",
                {"t.yaml: [0].tree.switches[0].node: unknown key"}},
           Case{"- topology: a\n  tree:\n    switches:\n    - {switch: s, nodes: n1}\n    - {switch: t, nodes: n1}\n",
                {"t.yaml:5: n1 is under t, and under s (t.yaml:4) too: a host has one place"}},
           Case{"- topology: a\n  tree: {\n", {"t.yaml: line 3, column 1: end of map flow not found"}},
       }) {
    EXPECT_EQ(lines_of(read_one("t.yaml", std::string(c.text)).problems), c.problems) << c.text;
  }
}

}  // namespace
}  // namespace lockstep
