// What a file of hosts is taken for: whoever asks whether it is one and whoever reads it judge by the same first line.

#include "tools/topology/inventory_files.h"

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kMark = "\xef\xbb\xbf";

TopologyResult read_file_of(const std::string& text) { return read_inventory_files({{"x", text}}); }

TEST(InventoryFiles, AreAboutHostsWheneverTheyAreRead) {
  for (const std::string& text : {
           std::string("SwitchName=s1 Nodes=n1\n"),
           std::string("# a comment\n\nNodeName = n1\n"),
           std::string("host,rack\nn1,r1\n"),
           std::string("\"host\",\"rack\"\nn1,r1\n"),
           std::string("host name,rack\nn1,r1\n"),
           std::string("host-name,rack\nn1,r1\n"),
           std::string(kMark) + "host,rack\nn1,r1\n",
           std::string("kind: Node\nmetadata: {name: n1}\n"),
           std::string("%YAML 1.2\n---\nkind: Node\nmetadata: {name: n1}\n"),
           std::string("--- {kind: Node, metadata: {name: n1}}\n"),
           std::string("kind: Inventory\nhosts: [{name: n1}]\n"),
       }) {
    const auto result = read_file_of(text);
    EXPECT_THAT(lines_of(result.problems), IsEmpty()) << text;
    EXPECT_THAT(names_of(result), ElementsAre("n1")) << text;
    EXPECT_TRUE(describes_hosts(text)) << text;
  }
}

TEST(InventoryFiles, MayBeAnInventoryThatIsWrittenInOneLine) {
  const std::string flow = R"({"kind":"Inventory","hosts":[{"name":"n1"}]})";
  for (const std::string& before : {std::string(), std::string(kMark), std::string("--- "), std::string("---\n"),
                                    std::string("--- # a comment\n"), std::string("&a ")}) {
    const auto result = read_file_of(before + flow);
    EXPECT_THAT(lines_of(result.problems), IsEmpty()) << before;
    EXPECT_THAT(names_of(result), ElementsAre("n1")) << before;
    EXPECT_TRUE(is_inventory(before + flow)) << before;
    EXPECT_TRUE(describes_hosts(before + flow)) << before;
  }
}

TEST(InventoryFiles, AreNeitherScriptsNorManifestsNorNothing) {
  for (const std::string& text : {
           std::string(),
           std::string("# nothing\n---\n"),
           std::string("#!/bin/sh\nNodes=4\n"),
           std::string(kMark) + "#!/bin/sh\nNodes=4\n",
           std::string("OMP_NUM_THREADS=4\n#SBATCH -N 2\n"),
           std::string("kind: GangGroup\nmetadata: {name: g}\n"),
           std::string("name,kind: GangGroup\nhosts,x: 1\n"),
           std::string("include: x\n"),
       }) {
    EXPECT_FALSE(describes_hosts(text)) << text;
  }
}

}  // namespace
}  // namespace lockstep
