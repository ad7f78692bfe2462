// Nodes, Kueue's Topology over their labels, lists of objects, and the configuration of a kind cluster.

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kLevels = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: default}
spec:
  levels:
  - nodeLabel: example.com/block
  - nodeLabel: example.com/rack
  - nodeLabel: kubernetes.io/hostname
)";

std::string node(std::string_view name, std::string_view labels, std::string_view rest = "") {
  return "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " + std::string(name) + "\n  labels: {" +
         std::string(labels) + "}\n" + std::string(rest);
}

TEST(Nodes, HaveTheirLabelsAndWhatIsAllocatable) {
  const auto result = read_one("nodes.yaml", node("n1", "kubernetes.io/hostname: n1, model: h100, n: 3", R"(
status:
  capacity: {cpu: "97"}
  allocatable: {cpu: 95500m, memory: 2Ti, nvidia.com/gpu: "8", hugepages-2Mi: "0", pods: "110", example.com/nic: 2k}
  nodeInfo: {osImage: x}
)"));
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.hosts,
              ElementsAre(HostInfo{
                  "n1",
                  {{"cpu", 95'500}, {"example.com/nic", 2'000}, {"gpu", 8}, {"mem", 2'048 * kGi}, {"pods", 110}},
                  {},
                  {{"model", "h100"}, {"n", "3"}}}));
  EXPECT_THAT(result.not_carried, ElementsAre("no topology is given: hosts have no place"));
}

TEST(Nodes, KeepAHostnameThatIsNotTheirName) {
  const auto result = read_one("nodes.yaml", node("n1.example", "kubernetes.io/hostname: n1"));
  ASSERT_EQ(result.hosts.size(), 1U);
  EXPECT_THAT(result.hosts[0].attributes, ElementsAre(KeyValue{"kubernetes.io/hostname", "n1"}));
}

TEST(Nodes, ComeInListsToo) {
  const std::string item = R"({"metadata": {"name": "n1"}})";
  const std::string object = R"({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}})";
  for (const std::string& text :
       {R"({"kind": "List", "apiVersion": "v1", "items": [)" + object + "]}",
        R"({"kind": "NodeList", "apiVersion": "v1", "items": [)" + item + "]}", "[" + object + "]"}) {
    const auto result = read_one("nodes.json", text);
    EXPECT_THAT(lines_of(result.problems), IsEmpty()) << text;
    EXPECT_THAT(names_of(result), ElementsAre("n1")) << text;
  }
}

TEST(Nodes, SayWhatIsNotCarried) {
  const auto result = read_one("nodes.yaml", node("n1", "", "spec: {unschedulable: true}\n") +
                                                 node("n2", "", "spec: {taints: [{key: a, effect: NoSchedule}]}\n") +
                                                 node("n3", "") + "---\nkind: ResourceFlavor\nmetadata: {name: tas}\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.not_carried,
              ElementsAre("nodes.yaml:22: ResourceFlavor tas, not carried", "no topology is given: hosts have no place",
                          "1 host that can take nothing at present, which 'lockstep hosts drain' says here; not carried: n1",
                          "1 host with taints, not carried: n2"));
}

TEST(Kueue, HasALevelForEachLabelButTheHostname) {
  const auto result =
      read_topology({{"topology.yaml", std::string(kLevels)},
                     {"nodes.yaml", node("n1", "example.com/block: b1, example.com/rack: r1") +
                                        node("n2", "example.com/block: b2, example.com/rack: r1") +
                                        node("n3", "example.com/block: b1") + node("n4", "example.com/rack: r1")}});
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("block", "rack"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 b1/r1", "n2 b2/r1", "n3 b1", "n4 "));
  EXPECT_THAT(result.not_carried, ElementsAre("1 host without the label example.com/block, so in no block: n4",
                                              "1 host without the label example.com/rack, so in no rack: n3"));
}

TEST(Kueue, MayComeAfterTheNodesAndHaveNoLevelButTheHost) {
  const auto result = read_one("all.yaml", node("n1", "") +
                                               "---\nkind: Topology\nspec: {levels: [{nodeLabel: "
                                               "kubernetes.io/hostname}]}\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, IsEmpty());
  EXPECT_THAT(places_of(result), ElementsAre("n1 "));
}

TEST(Kind, NamesItsWorkersAsItsContainers) {
  const auto result = read_topology({{"cluster.yaml", R"(
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
name: test
nodes:
- role: control-plane
- {role: worker, labels: {example.com/block: b1, example.com/rack: r1}}
- {role: worker, labels: {example.com/block: b1, example.com/rack: r2}}
)"},
                                     {"topology.yaml", std::string(kLevels)}});
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(places_of(result), ElementsAre("test-worker b1/r1", "test-worker2 b1/r2"));
  EXPECT_THAT(result.not_carried, ElementsAre("cluster.yaml:6: 1 node that is no worker, not carried"));
}

TEST(Kubernetes, IsRefusedWithTheField) {
  struct Case {
    std::string text;
    std::string problem;
  };
  const auto levels = [](std::string_view list) {
    return "kind: Topology\nspec: {levels: [" + std::string(list) + "]}\n" + node("n1", "a/x: b/c");
  };
  for (const Case& c : {
           Case{node("n1", "") + node("n1", ""), "k.yaml: document 2: document: n1 is a host of k.yaml:2 already"},
           Case{node("n1", "", "status: {allocatable: {cpu: much}}"),
                "k.yaml: status.allocatable.cpu: \"much\" is not a quantity, as 4, 500m, 1.5 or 64Gi"},
           Case{node("n1", "", "status: {allocatable: {at: 4}}"),
                "k.yaml: status.allocatable.at: no host has a counter of this name, or so many of them"},
           Case{node("N_1", ""),
                "k.yaml:2: \"N_1\" is not the name of a host: letters, digits, '-' and '.', at most 253 bytes"},
           Case{node("n1", "a: [b]"), "k.yaml: metadata.labels.a: a list where text is wanted"},
           Case{node("n1", "a b: c"),
                "k.yaml:2: n1: attributes.a b: 'a b' is not a key; use printable ASCII without spaces, at most 253 "
                "characters"},
           Case{"kind: Node\n", "k.yaml: metadata: is missing"},
           Case{levels("{nodeLabel: kubernetes.io/hostname}, {nodeLabel: a/x}"),
                "k.yaml: document 1: spec.levels[1].nodeLabel: a level below kubernetes.io/hostname, which is the host "
                "itself"},
           Case{levels("{nodeLabel: a/x}, {nodeLabel: b/x}"),
                "k.yaml: document 1: spec.levels[1].nodeLabel: \"x\" is a level already"},
           Case{levels("{nodeLabel: a/host}"),
                "k.yaml: document 1: spec.levels[0].nodeLabel: host is always the last level; it cannot be another"},
           Case{levels("{nodeLabel: a/x}"),
                "k.yaml:4: \"b/c\" is not the name of a domain: printable, no space, none of / , [ ]"},
           Case{levels("{nodeLabel: a/x}") + "---\nkind: Topology\nspec: {levels: []}\n",
                "k.yaml:10: a Topology of Kueue beside a Topology of Kueue (k.yaml:1); one topology is read at a time"},
           Case{std::string(kLevels), "files: a Topology of Kueue without hosts; give the Nodes that have its labels"},
           Case{"kind: Job\n", "files: no host in any of them"},
           Case{"kind: Inventory\n", "k.yaml: document: is a native Inventory, not the topology of another system"},
           Case{"networkTopologyDiscovery: []\n",
                "k.yaml: document: settings of Volcano's discovery are no topology; give the HyperNodes that it makes"},
       }) {
    const auto lines = lines_of(read_one("k.yaml", c.text).problems);
    ASSERT_FALSE(lines.empty()) << c.text;
    EXPECT_EQ(lines.front(), c.problem) << c.text;
  }
}

}  // namespace
}  // namespace lockstep
