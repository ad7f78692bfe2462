// JobSets that others wrote: the examples of the JobSet project, each with what becomes of it, and the table of its
// admission tests. Both are read where they are and skipped, with a message, where they are not. Shows R44.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = fs::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared";

// ---- examples

// "1 group, 8 members", or the first problem.
std::string outcome_of(const std::string& text) {
  const ManifestResult result = read_manifest(text, "caller");
  if (!result.problems.empty()) return lines_of(result.problems).front();
  std::uint64_t members = 0;
  for (const DefineGroup& group : result.groups) {
    for (const RoleSpec& role : group.spec.roles) members += role.replicas;
  }
  return std::to_string(result.groups.size()) + (result.groups.size() == 1 ? " group, " : " groups, ") +
         std::to_string(members) + (members == 1 ? " member" : " members");
}

const std::map<std::string, std::string, std::less<>> kExamples{
    {"simple/paralleljobs.yaml", "1 group, 5 members"},
};

TEST(JobSetExamples, BecomeTheGroupsThatTheyAre) {
  const fs::path folder = kShared / "inputs" / "manifests" / "jobset";
  if (!fs::exists(folder)) GTEST_SKIP() << "no examples of JobSets: " << folder << " is not there";
  std::map<std::string, std::string, std::less<>> outcomes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    outcomes[fs::relative(entry.path(), folder).generic_string()] = outcome_of(read_file(entry.path().string()));
  }
  EXPECT_EQ(outcomes, kExamples);
  for (auto& [a, b] : outcomes) std::cout << "    {\"" << a << "\", \"" << b << "\"},\n";
}

}  // namespace
}  // namespace lockstep
