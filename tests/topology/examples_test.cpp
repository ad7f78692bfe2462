// Every file of others' topologies that is at hand (../shared/inputs/topology), read as it is: how many hosts, of which
// levels, or the problem. A file that is not in the table fails the test, so that no new one goes unread. What is read
// is written as an inventory and read back.

#include <gmock/gmock.h>

#include <map>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kRequest = "document: a request to topograph is no topology; give the model that it names";
constexpr std::string_view kFabric =
    "the links of an InfiniBand fabric are not read; topograph makes a topology of them";
constexpr std::string_view kNoForm = "document: has none of the forms that are read";
constexpr std::string_view kNoLabels = "files: a Topology of Kueue without hosts; give the Nodes that have its labels";
constexpr std::string_view kNoHost = "files: no host in any of them";

// By the path below the folder; a problem is compared up to the end of what stands here.
const std::map<std::string, std::string, std::less<>> kOutcomes = {
    {"alibaba-lingjun/data/topo.csv", "847 hosts: DSW PSW ASW"},
    {"kueue/hack/testing/kind-cluster-tas.yaml", "8 hosts:"},
    {"kueue/site/static/examples/multikueue/tas/manager-setup.yaml", std::string(kNoLabels)},
    {"kueue/site/static/examples/multikueue/tas/worker-setup.yaml", std::string(kNoLabels)},
    {"kueue/site/static/examples/serving-workloads/sample-leaderworkerset-tas.yaml", std::string(kNoHost)},
    {"kueue/site/static/examples/tas/kind-cluster.yaml", "8 hosts:"},
    {"kueue/site/static/examples/tas/sample-gpu-queues.yaml", std::string(kNoLabels)},
    {"kueue/site/static/examples/tas/sample-job-preferred.yaml", std::string(kNoHost)},
    {"kueue/site/static/examples/tas/sample-job-required.yaml", std::string(kNoHost)},
    {"kueue/site/static/examples/tas/sample-job-unconstrained.yaml", std::string(kNoHost)},
    {"kueue/site/static/examples/tas/sample-queues.yaml", std::string(kNoLabels)},
    {"slurm-docs/man-topology-conf-00.txt", "18 hosts: switch1 switch2"},
    {"slurm-docs/man-topology-conf-01.txt", "128 hosts: block120 block"},
    {"slurm-docs/man-topology-conf-02.txt", "a topology of the kind ring is not supported"},
    {"slurm-docs/man-topology-yaml-00.txt", "4 hosts: switch1 switch2"},
    {"slurm-docs/topology-00.txt", "8 hosts: switch1 switch2 switch3"},
    {"slurm-docs/topology-01.txt", "16 hosts: switch1 switch2"},
    {"slurm-docs/topology-02.txt", "16 hosts: switch1 switch2"},
    {"slurm-docs/topology-04.txt", "[0].ring: a topology of the kind ring is not supported"},
    {"slurm-docs/topology-05.txt", "[0].torus3d: a topology of the kind torus3d is not supported"},
    {"slurm-docs/topology-06.txt", "[0].torus3d: a topology of the kind torus3d is not supported"},
    {"slurm-docs/topology-08.txt", std::string(kNoForm)},
    {"slurm-docs/topology-09.txt", std::string(kNoForm)},
    {"slurm-docs/topology-11.txt", std::string(kNoForm)},
    {"slurm/testsuite/python/check/topology/slurm.conf", "32 hosts:"},
    {"slurm/testsuite/python/check/topology/topology.conf", "32 hosts: block32 block16 block8 block"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase1/slurm.conf", "10000 hosts:"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase1/topology.conf",
     "10000 hosts: switch1 switch2 switch3 switch4"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase2/slurm.conf", "10000 hosts:"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase2/topology.conf",
     "10000 hosts: switch1 switch2 switch3 switch4"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase3/slurm.conf", "400 hosts:"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase3/topology.conf", "400 hosts: switch1 switch2 switch3"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase4/slurm.conf", "400 hosts:"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase4/topology.conf", "400 hosts: switch1 switch2"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase5/slurm.conf", "401 hosts:"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase5/topology.conf", "400 hosts: switch1 switch2"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase6/slurm.conf", "40 hosts:"},
    {"slurm/testsuite/python/tests/test_133_1_testcases/testcase6/topology.conf", "40 hosts: switch1 switch2"},
    {"slurm/testsuite/slurm_unit/backfill/slurm.conf", "32 hosts:"},
    {"slurm/testsuite/slurm_unit/backfill/topology.conf", "32 hosts: block32 block16 block8 block"},
    {"topograph/tests/ci/expected.slinky-dra-block.conf", "96 hosts: block32 block16 block"},
    {"topograph/tests/ci/expected.slinky-oci-sim-tree.conf", "96 hosts: switch1 switch2 switch3"},
    {"topograph/tests/integration/payload-valid-topology.json", std::string(kRequest)},
    {"topograph/tests/models/dual-xclr-irregular.yaml", "255 hosts: switch1 switch2 switch3"},
    {"topograph/tests/models/dual-xclr-regular.yaml", "96 hosts: switch1 switch2 switch3"},
    {"topograph/tests/models/large.yaml", "96 hosts: switch1 switch2 switch3"},
    {"topograph/tests/models/medium.yaml", "8 hosts: switch1 switch2 switch3"},
    {"topograph/tests/models/nvl72.yaml", "72 hosts: switch1 switch2 switch3"},
    {"topograph/tests/models/small-tree.yaml", "6 hosts: switch1 switch2"},
    {"topograph/tests/output/ibnetdiscover/example-bad.out", std::string(kFabric)},
    {"topograph/tests/output/ibnetdiscover/example.out", std::string(kFabric)},
    {"topograph/tests/output/netq/computeNodes.json", std::string(kNoForm)},
    {"topograph/tests/output/netq/topologyGraph.json", std::string(kNoForm)},
    {"volcano/benchmark/testcases/gang/cases/net-topo.yaml", std::string(kNoForm)},
    {"volcano/pkg/controllers/hypernode/api/example.yaml",
     "document: settings of Volcano's discovery are no topology; give the HyperNodes that it makes"},
};

std::string outcome_of(const TopologyResult& result, const std::string& file) {
  if (!result.problems.empty()) {
    const Problem& problem = result.problems.front();
    std::string text = problem.path + ": " + problem.text;
    if (!text.starts_with(file)) return text;
    return text.substr(text.find(": ") + 2);
  }
  std::string text = std::to_string(result.hosts.size()) + " hosts:";
  for (const std::string& level : result.levels) text += " " + level;
  return text;
}

class TopologyExamples : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(folder_)) GTEST_SKIP() << "no examples here: " << folder_;
  }

  [[nodiscard]] std::string text(const std::string& path) const { return read_file((folder_ / path).string()); }

  [[nodiscard]] TopologyResult read(const std::vector<std::string>& paths) const {
    Files files;
    for (const std::string& path : paths) files.emplace_back(path, text(path));
    return read_topology(files);
  }

  static void expect_same_when_written(const TopologyResult& result, const std::string& what) {
    const auto back = read_inventory(write_inventory(result));
    EXPECT_THAT(lines_of(back.problems), IsEmpty()) << what;
    EXPECT_EQ(back.levels, result.levels) << what;
    EXPECT_EQ(back.pools, result.pools) << what;
    EXPECT_TRUE(back.hosts == result.hosts) << what;
  }

  fs::path folder_ = kShared / "inputs" / "topology";
};

TEST_F(TopologyExamples, AreReadOrRefusedAsTheTableSays) {
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string path = fs::relative(entry.path(), folder_).generic_string();
    if (!entry.is_regular_file() || path.ends_with("SOURCES.md") || path.ends_with("/testcases")) continue;
    const auto result = read({path});
    const std::string outcome = outcome_of(result, path);
    if (path.starts_with("topograph/tests/payloads/")) {
      EXPECT_EQ(outcome, kRequest) << path;
      continue;
    }
    ++seen;
    const auto known = kOutcomes.find(path);
    const std::string wanted = known == kOutcomes.end() ? "not in the table" : known->second;
    const bool is_read = result.problems.empty();
    EXPECT_EQ(is_read ? outcome : outcome.substr(0, wanted.size()), wanted) << path;
    if (is_read) expect_same_when_written(result, path);
  }
  EXPECT_EQ(seen, kOutcomes.size());
}

// Of the 48 names of ASW switches, 42 are below several PSW switches.
TEST_F(TopologyExamples, OfAClosNetworkKeepSwitchesOfOneNameApart) {
  const auto result = read({"alibaba-lingjun/data/topo.csv"});
  std::map<std::vector<std::string>, std::size_t> domains;
  std::map<std::string, std::vector<std::string>> above;
  for (const HostInfo& host : result.hosts) {
    ASSERT_EQ(host.at.size(), 3U);
    if (domains[host.at]++ == 0) above[host.at[2]].push_back(host.at[1]);
  }
  const auto recurs = [](const auto& entry) { return entry.second.size() > 1; };
  EXPECT_EQ(domains.size(), 119U);
  EXPECT_EQ(above.size(), 48U);
  EXPECT_EQ(std::count_if(above.begin(), above.end(), recurs), 42);
}

TEST_F(TopologyExamples, OfSlurmTakeCountersFromTheConfigurationBesideThem) {
  const std::string folder = "slurm/testsuite/slurm_unit/backfill/";
  const auto result = read({folder + "topology.conf", folder + "slurm.conf"});
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  ASSERT_EQ(result.hosts.size(), 32U);
  const std::vector<Counter> counters = {{"cpu", 4'000}, {"mem", 2'000 * (kGi >> 10)}};
  EXPECT_EQ(result.hosts[31], (HostInfo{"node32", counters, {"b1+7", "b5+3", "b7+1", "b8"}, {}}));
  EXPECT_THAT(result.pools, ElementsAre(Counter{"license.lic1", 1}, Counter{"license.lic2", 6}));
  expect_same_when_written(result, folder);
}

TEST_F(TopologyExamples, OfSlurmNameTheHostThatIsUnderNoSwitch) {
  const std::string folder = "slurm/testsuite/python/tests/test_133_1_testcases/testcase5/";
  const auto result = read({folder + "topology.conf", folder + "slurm.conf"});
  ASSERT_EQ(result.hosts.size(), 401U);
  EXPECT_THAT(result.hosts[400].at, IsEmpty());
  EXPECT_THAT(result.not_carried, testing::Contains("1 host without a place in the topology: peta99999"));
}

TEST_F(TopologyExamples, OfSlurmAreUnevenTrees) {
  const auto result = read({"slurm/testsuite/python/tests/test_133_1_testcases/testcase2/topology.conf"});
  ASSERT_FALSE(result.hosts.empty());
  EXPECT_THAT(result.hosts.front().at, ElementsAre("root", "im0", "grp10", "leaf100"));
  EXPECT_THAT(result.hosts.back().at, ElementsAre("root", "grp35", "grp35", "leaf599"));
}

TEST_F(TopologyExamples, OfSlurmWithEqualSpinesAreTheSimplerOnes) {
  EXPECT_EQ(read({"slurm-docs/topology-01.txt"}).hosts, read({"slurm-docs/topology-02.txt"}).hosts);
}

TEST_F(TopologyExamples, OfKueueAreTheWorkersOfItsTestCluster) {
  const std::string folder = "kueue/site/static/examples/tas/";
  const auto result = read({folder + "sample-queues.yaml", folder + "kind-cluster.yaml"});
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("topology-block", "topology-rack"));
  EXPECT_THAT(places_of(result),
              ElementsAre("kind-worker b1/r1", "kind-worker2 b1/r1", "kind-worker3 b1/r2", "kind-worker4 b1/r2",
                          "kind-worker5 b2/r1", "kind-worker6 b2/r1", "kind-worker7 b2/r2", "kind-worker8 b2/r2"));
  expect_same_when_written(result, folder);
}

// A model, and what topograph itself makes of it for Slurm: the same hosts below the same number of switches.
TEST_F(TopologyExamples, OfTopographAgreeWithWhatItMakesOfThem) {
  const auto model = read({"topograph/tests/models/large.yaml"});
  const auto made = read({"topograph/tests/ci/expected.slinky-oci-sim-tree.conf"});
  ASSERT_EQ(names_of(model), names_of(made));
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < model.hosts.size(); ++i) {
    ASSERT_EQ(model.hosts[i].at.size(), 3U);
    ASSERT_EQ(made.hosts[i].at.size(), 3U);
    for (std::size_t level = 0; level < 3; ++level) {
      const std::string& other = names.emplace(model.hosts[i].at[level], made.hosts[i].at[level]).first->second;
      EXPECT_EQ(other, made.hosts[i].at[level]) << model.hosts[i].name;
    }
  }
  EXPECT_EQ(names.size(), 1U + 6U + 12U);
}

}  // namespace
}  // namespace lockstep
