// What a stranger may send: bytes that are nothing, good texts with bytes changed, and good texts that are too large or
// too deep. None of it may crash, and all of it ends soon; every problem is one line.

#include <gmock/gmock.h>

#include "tests/topology/support.h"
#include "tools/topology/inventory_files.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string>& samples() {
  static const std::vector<std::string> kSamples = {
      "SwitchName=a Switches=b,c LinkSpeed=9\nSwitchName=b Nodes=n[1-2] # x\nSwitchName=c Nodes=\"n3\"\n",
      "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=2,4\n",
      "NodeName=DEFAULT CPUs=2\nNodeName=n[1-2] Gres=gpu:a100:4(S:0,1) Feature=x,y RealMemory=5\nLicenses=a:1\n",
      "host,row,rack,cpu\nn1,a,\"r1\",5\nn2,b,r1,500m\n",
      "- topology: a\n  cluster_default: true\n  tree:\n    switches:\n    - {switch: a, children: b}\n"
      "    - {switch: b, nodes: 'n[1-2]'}\n",
      "switches: {a: {switches: [b], labels: {k: v}}}\nblocks:\n- {switch: b, nodes: ['n[1-2]'], labels: {l: w}}\n",
      "kind: Topology\nspec: {levels: [{nodeLabel: x/rack}]}\n---\nkind: Node\nmetadata: {name: n1, labels: {x/rack: "
      "r}}\n"
      "status: {allocatable: {cpu: 4, memory: 8Gi}}\n",
      "kind: Node\nmetadata: {name: n1, labels: {a: b}}\n---\nkind: HyperNode\nmetadata: {name: s}\nspec:\n  tier: 1\n"
      "  members:\n  - {type: Node, selector: {regexMatch: {pattern: '^n(1|[2-3])*$'}}}\n"
      "  - {type: Node, selector: {labelMatch: {matchExpressions: [{key: a, operator: In, values: [b]}]}}}\n",
      "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes: [{role: worker, labels: {a: b}}]\n",
      "kind: Inventory\nhosts: [{name: n1}]\n",
  };
  return kSamples;
}

void expect_well_formed(const TopologyResult& result) {
  for (const std::string& line : lines_of(result.problems)) EXPECT_TRUE(is_printable_line(line)) << line;
  for (const std::string& line : result.not_carried) EXPECT_TRUE(is_printable_line(line)) << line;
  EXPECT_LE(result.problems.size(), 1'001U);
  if (!result.problems.empty()) return;
  for (const HostInfo& host : result.hosts) {
    EXPECT_TRUE(validate(host).empty()) << host.name;
    EXPECT_LE(host.at.size(), result.levels.size()) << host.name;
  }
  const auto back = read_inventory(write_inventory(result));
  EXPECT_TRUE(back.problems.empty() && back.hosts == result.hosts && back.levels == result.levels);
}

TEST(Hostile, BytesThatAreNothingAreRefused) {
  Random random;
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (std::uint64_t size = random.upto(200); size-- > 0;) text += static_cast<char>(random.upto(255));
    if (random.chance()) text = "SwitchName=" + text;
    expect_well_formed(read_one("x", text));
  }
}

TEST(Hostile, MessagesArePrintedWhateverAFileIsCalled) {
  for (const std::string& bytes : hostile_bytes()) {
    const std::string name = with_bytes("x@.yaml", bytes);
    for (const std::string& text : samples()) expect_well_formed(read_inventory_files({{name, text + "@\x01"}}));
    const std::pair<std::string, std::string> inventory{name, "kind: Inventory\n"};
    expect_well_formed(read_inventory_files({inventory, inventory}));
    expect_well_formed(read_inventory_files({inventory, {"t.csv", "host,rack\nn1,r1\n"}}));
  }
}

TEST(Hostile, TextsWithBytesChangedDoNoHarm) {
  Random random;
  static constexpr std::string_view kBytes = "\n=,[]{}-:\"'\\#()*+|^$0123456789anS \x80\x01";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = samples()[random.upto(samples().size() - 1)];
    for (std::uint64_t changes = random.upto(4); changes-- > 0 && !text.empty();) {
      const std::size_t at = random.upto(text.size() - 1);
      const std::size_t size = random.upto(8);
      switch (random.upto(3)) {
        case 0:
          text[at] = kBytes[random.upto(kBytes.size() - 1)];
          break;
        case 1:
          text.erase(at, size);
          break;
        case 2:
          text.insert(at, text.substr(random.upto(text.size() - 1), size));
          break;
        default:
          text.insert(at, 1, kBytes[random.upto(kBytes.size() - 1)]);
      }
    }
    Files files = {{"x", text}};
    if (random.chance()) files.emplace_back("y", samples()[random.upto(samples().size() - 1)]);
    expect_well_formed(read_topology(files));
  }
}

std::string chain(std::size_t count, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    text += "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string(i + 1) + "\n";
  }
  return text + "SwitchName=s" + std::to_string(count - 1) + " " + std::string(last) + "\n";
}

TEST(Hostile, SwitchesMayBeAsDeepAsThereAreLevels) {
  EXPECT_EQ(read_one("x", chain(kLevelsMax, "Nodes=n1")).levels.size(), kLevelsMax);
  EXPECT_THAT(lines_of(read_one("x", chain(kLevelsMax + 1, "Nodes=n1")).problems),
              ElementsAre("x:1: 17 levels of switches are more than 16"));
  EXPECT_THAT(lines_of(read_one("x", chain(100'000, "Nodes=n1")).problems),
              ElementsAre("x:1: 100000 levels of switches are more than 16"));
}

TEST(Hostile, ACycleOfManySwitchesIsNamedInOneLine) {
  EXPECT_THAT(lines_of(read_one("x", chain(100'000, "Switches=s0")).problems),
              ElementsAre("x:1: a cycle of switches: s0 > s1 > s2 > s3 > s4 > s5 > s6 > s7 > ... > s0"));
}

TEST(Hostile, ManyLinesAreRead) {
  std::string text = "SwitchName=top Switches=s[0-99998]\n";
  for (int i = 0; i < 99'999; ++i) text += "SwitchName=s" + std::to_string(i) + " Nodes=n" + std::to_string(i) + "\n";
  const auto result = read_one("x", text);
  ASSERT_EQ(result.hosts.size(), 99'999U);
  EXPECT_THAT(result.hosts.back().at, ElementsAre("top", "s99998"));
}

TEST(Hostile, HostsAndHostlistsAreBounded) {
  EXPECT_THAT(lines_of(read_one("x", "SwitchName=a Nodes=n[1-1000001]\n").problems),
              ElementsAre("x:1: Nodes: \"n[1-1000001]\" makes more than 1000000 names"));
  std::string many = "SwitchName=a Nodes=n[1-999999]\nSwitchName=b Nodes=m[1-2]\n";
  EXPECT_THAT(lines_of(read_one("x", many).problems),
              ElementsAre("x:2: Nodes: the lists up to this one make more than 1000000 names"));
  // Each of these makes its names before it turns out bad.
  std::string bad;
  for (int i = 0; i < 3'000; ++i) bad += "SwitchName=s" + std::to_string(i) + " Nodes=n[1-900000],n1\n";
  EXPECT_THAT(lines_of(read_one("x", bad).problems), testing::SizeIs(2));
}

TEST(Hostile, WhatHostsTakeIsBounded) {
  std::string text = "NodeName=n[1-100000] Feature=";
  for (int i = 0; i < 1'000; ++i) text += "feature-" + std::to_string(i) + "-of-many,";
  EXPECT_THAT(lines_of(read_one("x", text + "\n").problems),
              ElementsAre("x:1: the hosts up to this one take more than 1073741824 bytes"));
}

TEST(Hostile, TheWorkOfSelectorsIsBounded) {
  std::string text = "kind: NodeList\nitems:\n";
  for (int i = 0; i < 3'000; ++i) text += "- metadata: {name: " + std::string(200, 'n') + std::to_string(i) + "}\n";
  text += "---\nkind: HyperNode\nmetadata: {name: s}\nspec:\n  tier: 1\n  members:\n";
  for (int i = 0; i < 40; ++i) text += "  - {type: Node, selector: {regexMatch: {pattern: '(n?){900}x'}}}\n";
  EXPECT_THAT(lines_of(read_one("x", text).problems),
              ElementsAre(HasSubstr("the selectors up to this one take more work than they may")));
}

// Each of these is small as it is written, and large as it is read.
TEST(Hostile, WhatAliasesStandForIsBounded) {
  std::string keys = "a: &keys {";
  for (int i = 0; i < 50'000; ++i) keys += "k" + std::to_string(i) + ": 1, ";
  std::string objects = keys + "}\nkind: List\nitems:\n";
  for (int i = 0; i < 100'000; ++i) objects += "- *keys\n";
  EXPECT_EQ(read_one("x", objects).problems.size(), 1'001U);

  std::string names = "switches:\n  s: {switches: &names [";
  for (int i = 0; i < 10'000; ++i) names += "t" + std::to_string(i) + ", ";
  names += "]}\n";
  for (int i = 0; i < 1'000; ++i) names += "  u" + std::to_string(i) + ": {switches: *names}\n";
  EXPECT_THAT(lines_of(read_one("x", names).problems), Contains(HasSubstr("more than 1000000 names of switches")));

  std::string members =
      "kind: HyperNodeList\nitems:\n- metadata: {name: s}\n  spec: &spec\n    tier: 1\n    members:\n";
  for (int i = 0; i < 3'000; ++i) members += "    - {type: Node, selector: {exactMatch: {name: n}}}\n";
  for (int i = 0; i < 1'000; ++i) members += "- {metadata: {name: t" + std::to_string(i) + "}, spec: *spec}\n";
  EXPECT_THAT(lines_of(read_one("x", members).problems),
              ElementsAre(HasSubstr("more than 1000000 members, labels and values in all selectors")));
}

TEST(Hostile, FilesAreBounded) {
  EXPECT_THAT(lines_of(read_one("x", std::string(kTopologyBytesMax + 1, '\n')).problems),
              ElementsAre("x: 67108865 bytes are more than 67108864"));
  EXPECT_THAT(lines_of(read_topology(Files(kTopologyFilesMax + 1)).problems),
              ElementsAre("files: 1025 are more than 1024"));
  EXPECT_THAT(lines_of(read_topology({}).problems), ElementsAre("files: no host in any of them"));
}

TEST(Hostile, ProblemsAreBounded) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "SwitchName=s Nodes=N_\n";
  const auto problems = read_one("x", text).problems;
  ASSERT_EQ(problems.size(), 1'001U);
  EXPECT_EQ(problems.back().text, "more than 1000 problems; the rest is not shown");
}

}  // namespace
}  // namespace lockstep
