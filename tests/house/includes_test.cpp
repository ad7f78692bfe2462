// The layers of ARCHITECTURE.md, checked: a folder includes only what lies below it; the pure folders know no clock,
// file, thread, random source or storage library; third-party types stay out of public headers.

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/house/sources.h"

namespace lockstep {
namespace {

// What each folder may include of ours. `events` files may not include events/log.
const std::map<std::string, std::set<std::string>> kBelow = {
    {"events", {"events"}},
    {"events/log", {"events", "events/log"}},
    {"statemachine", {"events", "statemachine"}},
    {"scheduler", {"events", "statemachine", "scheduler"}},
    {"snapshot", {"events", "statemachine", "snapshot"}},
    {"replay", {"events", "events/log", "statemachine", "scheduler", "snapshot", "replay"}},
    {"tools/manifest", {"events", "tools/manifest"}},
    {"tools/topology", {"events", "tools/manifest", "tools/topology"}},
    {"tools/scenario",
     {"events", "events/log", "statemachine", "scheduler", "snapshot", "replay", "tools/manifest", "tools/topology",
      "tools/scenario"}},
    {"tools/bench", {"events", "events/log", "statemachine", "snapshot", "replay", "tools/bench"}},
    {"tools/lockstep",
     {"events", "events/log", "statemachine", "scheduler", "snapshot", "replay", "tools/manifest", "tools/topology",
      "tools/scenario", "tools/bench", "tools/lockstep"}},
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::vector<std::pair<std::string, std::string>> includes(const SourceFile& file) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& line : file.lines) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) found.emplace_back(match[1], match[2]);
  }
  return found;
}

TEST(Includes, EveryFolderLooksDownOnly) {
  std::size_t checked = 0;
  for (const auto& [folder, below] : kBelow) {
    for (const SourceFile& file : read_sources(folder, {".h", ".cpp"})) {
      if (folder_of(file.path) != folder) continue;  // a folder of its own
      for (const auto& [kind, header] : includes(file)) {
        if (kind != "\"" || header.ends_with(".capnp.h")) continue;
        ++checked;
        EXPECT_TRUE(below.contains(folder_of(header))) << file.path << " includes " << header;
      }
    }
  }
  EXPECT_GT(checked, 200U);
}

TEST(Includes, TheCoreIsPure) {
  const std::regex forbidden(
      R"re(^(chrono|thread|mutex|shared_mutex|condition_variable|future|random|fstream|iostream|filesystem|unordered_map|unordered_set|cstdio|ctime|lmdb\.h|zstd\.h|unistd\.h|capnp/.*|kj/.*|spdlog/.*|fcntl\.h|sys/.*)$)re");
  const std::regex words(R"re(\b(unordered_\w+|system_clock|steady_clock|getenv|std::rand|float|double)\b)re");
  std::size_t checked = 0;
  for (const char* folder : {"statemachine", "scheduler"}) {
    for (const SourceFile& file : read_sources(folder, {".h", ".cpp"})) {
      ++checked;
      for (const auto& [kind, header] : includes(file)) {
        EXPECT_FALSE(std::regex_match(header, forbidden)) << file.path << " includes " << header;
      }
      for (const std::string& line : file.lines) {
        const std::string code = line.substr(0, line.find("//"));
        EXPECT_FALSE(std::regex_search(code, words)) << file.path << ": " << line;
      }
    }
  }
  EXPECT_GT(checked, 30U);
}

TEST(Includes, ThirdPartyTypesStayOutOfPublicHeaders) {
  const std::regex third_party(
      R"re(^(capnp/.*|kj/.*|lmdb\.h|zstd\.h|boost/msm/.*|boost/beast.*|boost/asio.*|yaml-cpp/.*|openssl/.*|spdlog/.*)$)re");
  // Headers that serve one or two .cpp files beside them and are included by nobody outside their folder.
  for (const char* folder : {"events", "statemachine", "scheduler", "snapshot", "replay"}) {
    for (const SourceFile& file : read_sources(folder, {".h"})) {
      for (const auto& [kind, header] : includes(file)) {
        if (!std::regex_match(header, third_party)) continue;
        for (const char* other : {"events", "statemachine", "scheduler", "snapshot", "replay", "tools"}) {
          for (const SourceFile& user : read_sources(other, {".h", ".cpp"})) {
            if (folder_of(user.path) == folder_of(file.path)) continue;
            for (const auto& [user_kind, user_header] : includes(user)) {
              EXPECT_NE(user_header, file.path) << user.path << " sees " << header << " through " << file.path;
            }
          }
        }
      }
    }
  }
}

TEST(Includes, EverySourceIncludesItsOwnHeaderFirst) {
  for (const auto& [folder, below] : kBelow) {
    for (const SourceFile& file : read_sources(folder, {".cpp"})) {
      const std::string header = file.path.substr(0, file.path.size() - 4) + ".h";
      if (!std::filesystem::exists(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / header)) continue;
      const auto list = includes(file);
      ASSERT_FALSE(list.empty()) << file.path;
      EXPECT_EQ(list.front().second, header) << file.path;
    }
  }
}

}  // namespace
}  // namespace lockstep
