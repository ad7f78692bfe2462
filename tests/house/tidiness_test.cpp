// Habits that a reader relies on: files that can be read in one sitting, tests that are not switched off,
// to-dos with a kind, public headers with a word of introduction.

#include <gtest/gtest.h>

#include <regex>

#include "tests/house/sources.h"

namespace lockstep {
namespace {

constexpr std::size_t kLinesMax = 600;

std::vector<SourceFile> all_sources() {
  std::vector<SourceFile> files;
  for (const char* folder : {"events", "statemachine", "scheduler", "snapshot", "replay", "tools", "tests"}) {
    for (SourceFile& file : read_sources(folder, {".h", ".cpp"})) files.push_back(std::move(file));
  }
  return files;
}

TEST(Tidiness, FilesCanBeReadInOneSitting) {
  for (const SourceFile& file : all_sources()) EXPECT_LE(file.lines.size(), kLinesMax) << file.path;
}

TEST(Tidiness, NoTestIsSwitchedOff) {
  const std::regex bad(R"(DISABLED_|GTEST_SKIP\(\)\s*;|#if 0)");
  for (const SourceFile& file : all_sources()) {
    if (file.path.starts_with("tests/house/") || !file.path.starts_with("tests/")) continue;
    for (const std::string& line : file.lines) EXPECT_FALSE(std::regex_search(line, bad)) << file.path << ": " << line;
  }
}

TEST(Tidiness, ToDosHaveAKind) {
  const std::regex bare(R"(TODO([^(]|$)|FIXME)");
  for (const SourceFile& file : all_sources()) {
    if (file.path.starts_with("tests/house/")) continue;
    for (const std::string& line : file.lines) EXPECT_FALSE(std::regex_search(line, bare)) << file.path << ": " << line;
  }
}

TEST(Tidiness, EveryHeaderIntroducesItself) {
  for (const SourceFile& file : all_sources()) {
    if (!file.path.ends_with(".h")) continue;
    ASSERT_GE(file.lines.size(), 2U) << file.path;
    EXPECT_EQ(file.lines[0], "#pragma once") << file.path;
    EXPECT_TRUE(file.lines[1].starts_with("//")) << file.path << " does not say what it is for";
  }
}

}  // namespace
}  // namespace lockstep
