// Every requirement of docs/spec/requirements.md is named by a test or a scenario, and none is named that is not there.

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/house/sources.h"

namespace lockstep {
namespace {

const std::regex kId(R"(\bR([0-9]{2})\b)");

std::set<std::string> ids(const std::string& line) {
  std::set<std::string> found;
  for (auto at = std::sregex_iterator(line.begin(), line.end(), kId); at != std::sregex_iterator(); ++at) {
    found.insert(at->str());
  }
  return found;
}

std::set<std::string> required() {
  std::set<std::string> found;
  for (const SourceFile& file : read_sources("docs/spec", {"requirements.md"})) {
    for (const std::string& line : file.lines) {
      std::smatch match;
      static const std::regex kLine(R"(^- \*\*(R[0-9]{2})\*\*)");
      if (std::regex_search(line, match, kLine)) {
        EXPECT_TRUE(found.insert(match[1]).second) << match[1] << " stands twice";
      }
    }
  }
  return found;
}

TEST(Requirements, EachIsNamedByATestAndEachNameExists) {
  const std::set<std::string> wanted = required();
  ASSERT_GE(wanted.size(), 40U);
  std::map<std::string, std::string> named;
  for (const SourceFile& file : read_sources("tests", {".cpp", ".h", ".scn"})) {
    if (file.path.starts_with("tests/house/")) continue;
    for (const std::string& line : file.lines) {
      for (const std::string& id : ids(line)) named.emplace(id, file.path);
    }
  }
  for (const std::string& id : wanted) EXPECT_TRUE(named.contains(id)) << id << " is named by no test";
  for (const auto& [id, path] : named)
    EXPECT_TRUE(wanted.contains(id)) << path << " names " << id << ", which is no requirement";
}

TEST(Requirements, ALineThatNamesNoneIsNotMistakenForOne) {
  EXPECT_TRUE(ids("XR07 R7 R123 r07").empty());
  EXPECT_EQ(ids("shows R07 and R12."), (std::set<std::string>{"R07", "R12"}));
}

}  // namespace
}  // namespace lockstep
