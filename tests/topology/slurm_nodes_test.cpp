// slurm.conf beside a topology, or alone: what hosts have, what the cluster shares, and what is said to be left out.

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMi = std::int64_t{1} << 20;

HostInfo only_host(const std::string& line) {
  const auto result = read_one("slurm.conf", line);
  EXPECT_THAT(lines_of(result.problems), IsEmpty()) << line;
  return result.hosts.size() == 1 ? result.hosts.front() : HostInfo{};
}

TEST(SlurmNodes, GiveTheHostsOfATopologyTheirCounters) {
  const auto result =
      read_topology({{"topology.conf", "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n"},
                     {"slurm.conf",
                      "ClusterName=x\nNodeName=DEFAULT CPUs=8 Gres=gpu:2\nNodeName=n[2-3] RealMemory=1000\n"
                      "NodeName=login CPUs=2 Gres=none\n"}});
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.hosts, ElementsAre(HostInfo{"n2", {{"cpu", 8'000}, {"gpu", 2}, {"mem", 1'000 * kMi}}, {"a"}, {}},
                                        HostInfo{"n3", {{"cpu", 8'000}, {"gpu", 2}, {"mem", 1'000 * kMi}}, {"b"}, {}},
                                        HostInfo{"login", {{"cpu", 2'000}}, {}, {}}));
  EXPECT_THAT(result.not_carried,
              ElementsAre("slurm.conf: 1 other setting, not carried",
                          "2 hosts of the topology that no NodeName line or Node describes, not carried: n1, n4",
                          "1 host without a place in the topology: login"));
}

TEST(SlurmNodes, CountCpusOrWhatTheyAreMadeOf) {
  struct Case {
    std::string_view keys;
    std::int64_t cpu;
  };
  for (const Case& c : {Case{"CPUs=6 Sockets=2 CoresPerSocket=2", 6'000}, Case{"Procs=3", 3'000},
                        Case{"Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 32'000}, Case{"CoresPerSocket=4", 4'000},
                        Case{"Boards=2 SocketsPerBoard=2 CoresPerSocket=3", 12'000},
                        Case{"Boards=2 Sockets=2 CoresPerSocket=3", 6'000}}) {
    const HostInfo host = only_host("NodeName=n1 " + std::string(c.keys));
    EXPECT_EQ(host.counters, (std::vector<Counter>{{"cpu", c.cpu}})) << c.keys;
  }
}

TEST(SlurmNodes, CountEachGresAndKeepItsType) {
  struct Case {
    std::string_view gres;
    std::vector<Counter> counters;
    std::vector<KeyValue> attributes;
  };
  for (const Case& c : {
           Case{"gpu", {{"gpu", 1}}, {}},
           Case{"gpu:4", {{"gpu", 4}}, {}},
           Case{"gpu:a100:4(S:0,1),shard:8", {{"gpu", 4}, {"shard", 8}}, {{"gpu.type", "a100"}}},
           Case{"gpu:4:a100", {{"gpu", 4}}, {{"gpu.type", "a100"}}},
           Case{"gpu:a100:4,gpu:h100:2", {{"gpu", 6}}, {{"gpu.type", "a100,h100"}}},
           Case{"craynetwork:2K", {{"craynetwork", 2'048}}, {}},
           Case{"(null)", {}, {}},
           Case{"bandwidth:lustre:no_consume:4G", {}, {}},
           Case{"mem:4", {}, {}},
       }) {
    const HostInfo host = only_host("NodeName=n1 Gres=" + std::string(c.gres));
    EXPECT_EQ(host.counters, c.counters) << c.gres;
    EXPECT_EQ(host.attributes, c.attributes) << c.gres;
  }
}

TEST(SlurmNodes, HaveAnAttributeForEachFeature) {
  EXPECT_THAT(only_host("NodeName=n1 Features=nvme,gpu&ib").attributes,
              ElementsAre(KeyValue{"gpu", "true"}, KeyValue{"ib", "true"}, KeyValue{"nvme", "true"}));
}

TEST(SlurmNodes, ShareTheLicensesOfTheCluster) {
  const auto result = read_one("slurm.conf", "Licenses=matlab:20,ansys\nNodeName=n1\n");
  EXPECT_THAT(result.pools, ElementsAre(Counter{"license.ansys", 1}, Counter{"license.matlab", 20}));
}

TEST(SlurmNodes, SayOnceWhatIsNotCarried) {
  const auto result = read_one("slurm.conf",
                               "Include nodes.conf\nNodeName=n1 Weight=5 State=DOWN Gres=x:no_consume\n"
                               "NodeName=n2 weight=6\nPartitionName=all Nodes=ALL\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.not_carried,
              ElementsAre("slurm.conf:1: Include nodes.conf: give that file too, not carried",
                          "slurm.conf:2: Weight of hosts, not carried", "slurm.conf:2: State of hosts, not carried",
                          "slurm.conf:2: Gres \"x:no_consume\", not carried",
                          "slurm.conf: 1 other setting, not carried", "no topology is given: hosts have no place"));
}

TEST(SlurmNodes, AreRefusedWithTheLine) {
  struct Case {
    std::string_view text;
    std::string problem;
  };
  for (const Case& c : {
           Case{"NodeName=n1\nNodeName=n[1-2]\n", "s.conf:2: NodeName: n1 is at s.conf:1 already"},
           Case{"NodeName=n1 CPUs=many\n", "s.conf:1: CPUs: \"many\" is not a whole number that a host can have"},
           Case{"NodeName=n1 RealMemory=-1\n",
                "s.conf:1: RealMemory: \"-1\" is not a whole number that a host can have"},
           Case{"NodeName=n1 CPUs=4 cpus=8\n", "s.conf:1: cpus: is there twice in one line"},
           Case{"NodeName=n[1-2\n", "s.conf:1: NodeName: \"n[1-2\": a [ without its ]"},
           Case{"Licenses=a:b\nNodeName=n1\n", "s.conf:1: Licenses: \"a:b\" is not name:count, each name once"},
           Case{"Licenses=a,a\nNodeName=n1\n", "s.conf:1: Licenses: \"a\" is not name:count, each name once"},
           Case{"ClusterName=x\n", "files: no host in any of them"},
       }) {
    EXPECT_THAT(lines_of(read_one("s.conf", std::string(c.text)).problems), ElementsAre(c.problem)) << c.text;
  }
}

}  // namespace
}  // namespace lockstep
