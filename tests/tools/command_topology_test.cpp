// Topologies of other systems, wherever an inventory is wanted: `convert` to a native one, `init --hosts`, and
// `inventory` of a scenario.
#include <filesystem>

#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

constexpr const char* kSwitches =
    "SwitchName=core Switches=a,b\nSwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-5]\n";
constexpr const char* kNodeNames =
    "ClusterName=c\nSlurmctldHost=head\nNodeName=n[1-4] CPUs=8 RealMemory=1024\nPartitionName=p Nodes=ALL\n";
constexpr const char* kPaths = "host,block,rack\nn1,A,r1\nn2,B,r1\nn9,B,r2\n";
constexpr const char* kCounters = "kind: Inventory\npools: {license.x: 2}\nhosts: [{name: 'n[1-2]', cpu: 8, gpu: 2}]\n";
constexpr const char* kKueue = R"(apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: default}
spec: {levels: [{nodeLabel: example.com/block}, {nodeLabel: kubernetes.io/hostname}]}
)";
constexpr const char* kNodes = R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {example.com/block: b1}}, status: {allocatable: {cpu: "4"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2, labels: {example.com/block: b2}}, status: {allocatable: {cpu: "4"}}}
)";
constexpr const char* kHyperNodes = R"(apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s0}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s1}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n2}}}]}
)";

class TopologyFiles : public CommandTest {
 protected:
  // "name at" of the hosts of a new store that begins with these files.
  [[nodiscard]] std::vector<std::string> places(const std::vector<std::string>& files) const {
    std::vector<std::string> words{"init", "--hosts"};
    words.insert(words.end(), files.begin(), files.end());
    const Ran made = command(words);
    EXPECT_EQ(made.status, 0) << made.err;
    std::vector<std::string> result;
    for (const auto& host : json({"hosts"})) {
      result.push_back(host["name"].get<std::string>() + " " + host["at"].get<std::string>());
    }
    return result;
  }
};

using Places = std::vector<std::string>;

TEST_F(TopologyFiles, OfSlurmBecomeAnInventoryThatIsReadBack) {
  const std::string switches = dir_.file("topology.conf", kSwitches);
  const Ran converted = lockstep({"convert", switches, dir_.file("slurm.conf", kNodeNames)});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_NE(converted.out.find("kind: Inventory"), std::string::npos) << converted.out;
  EXPECT_NE(converted.err.find("lockstep: NotCarried: "), std::string::npos) << converted.err;
  EXPECT_NE(converted.err.find("not carried: n5\n"), std::string::npos) << "no NodeName line has it: " << converted.err;
  const std::string native = dir_.file("native.yaml", converted.out);
  EXPECT_EQ(lockstep({"convert", native}).out, converted.out);
  EXPECT_EQ(places({native}), (Places{"n1 core/a", "n2 core/a", "n3 core/b", "n4 core/b"}));
  EXPECT_EQ(json({"hosts"})[0]["capacity"]["mem"], 1024LL << 20U);
}

TEST_F(TopologyFiles, OfKubernetesBeginAStore) {
  const Places wanted{"n1 b1", "n2 b2"};
  EXPECT_EQ(places({dir_.file("topology.yaml", kKueue), dir_.file("nodes.yaml", kNodes)}), wanted);
  EXPECT_EQ(json({"hosts", "--tree"})["domains"][1]["path"], "b2");
}

TEST_F(TopologyFiles, OfVolcanoBeginAStore) {
  EXPECT_EQ(places({dir_.file("hyper.yaml", kHyperNodes), dir_.file("nodes.yaml", kNodes)}),
            (Places{"n1 s0", "n2 s1"}));
}

TEST_F(TopologyFiles, SayWhereTheHostsOfAnInventoryAre) {
  const std::string paths = dir_.file("paths.csv", kPaths);
  const std::string counters = dir_.file("counters.yaml", kCounters);
  EXPECT_EQ(places({counters, paths}), (Places{"n1 A/r1", "n2 B/r1"}));
  EXPECT_EQ(json({"hosts"})[1]["capacity"], (nlohmann::json{{"cpu", 8}, {"gpu", 2}}));
  EXPECT_EQ(json({"state"})["pools"]["license.x"]["total"], 2);
  const Ran converted = lockstep({"convert", paths, counters});
  EXPECT_EQ(converted.err,
            "lockstep: NotCarried: 1 host of the topology that the inventory does not have, not carried: n9\n");
}

TEST_F(TopologyFiles, OfStandardInputAreReadOnce) {
  const Ran converted = lockstep({"convert", "-"}, kPaths);
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(converted.out, lockstep({"convert", dir_.file("paths.csv", kPaths)}).out);
}

TEST_F(TopologyFiles, ThatAreWrongAreToldOneLineEach) {
  const std::string bad = dir_.file("bad.csv", "host,block\nn1\nn2,A\nn3,A,B\n");
  const std::string lines = "lockstep: InvalidInput: " + bad + ":2: 1 cell where 2 are wanted\n" +
                            "lockstep: InvalidInput: " + bad + ":4: 3 cells where 2 are wanted\n";
  for (const Ran& ran : {lockstep({"convert", bad}), command({"init", "--hosts", bad})}) {
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.err, lines);
    EXPECT_EQ(ran.out, "");
  }
  EXPECT_FALSE(std::filesystem::exists(store()));
  const std::string native = dir_.file("native.yaml", "hosts: [{name: n1}]\n");
  const Ran no_kind = command({"init", "--hosts", native});
  expect_failure(no_kind, 2, "InvalidInput");
  EXPECT_NE(no_kind.err.find(native + ": kind: "), std::string::npos) << no_kind.err;
  const std::string counters = dir_.file("counters.yaml", kCounters);
  const Ran twice = command({"init", "--hosts", counters, counters});
  expect_failure(twice, 2, "InvalidInput");
  EXPECT_NE(twice.err.find("is an Inventory, as " + counters + " is"), std::string::npos) << twice.err;
}

TEST_F(TopologyFiles, AreNotConvertedTogetherWithManifests) {
  expect_failure(lockstep({"convert", dir_.file("paths.csv", kPaths), manifest()}), 2, "Usage");
  // A batch script begins like a slurm.conf, a manifest may have a Topology beside it.
  const Ran script = lockstep({"convert", dir_.file("job.sh", "#SBATCH -N 2\nOMP_NUM_THREADS=4 srun a.out\n")});
  expect_failure(script, 1, "InvalidManifest");
  const Ran both = lockstep({"convert", dir_.file("both.yaml", std::string(kTrain) + "---\n" + kKueue)});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_NE(both.out.find("kind: GangGroup"), std::string::npos) << both.out;
}

TEST_F(TopologyFiles, MakeTheClusterOfAScenario) {
  dir_.file("paths.csv", kPaths);
  dir_.file("counters.yaml", kCounters);
  const std::string story = dir_.file("story.scn", R"(inventory counters.yaml paths.csv
run <<EOF
kind: GangGroup
metadata: {name: g}
spec:
  placement: {topology: {required: rack}}
  roles: [{name: w, tasks: "1*{gpu=2}"}]
EOF
schedule
expect group g domain A/r1
)");
  const Ran ran = lockstep({"scenario", story});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const Ran none = lockstep({"scenario", dir_.file("none.scn", "inventory\n")});
  EXPECT_EQ(none.status, 2) << none.out << none.err;
  EXPECT_NE(none.out.find("inventory FILE..."), std::string::npos) << none.out;
}

}  // namespace
}  // namespace lockstep::testing
