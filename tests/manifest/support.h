#pragma once
// What the tests of this folder share: a random source that names its seed, problems as lines, files of fixtures.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tools/manifest/manifest.h"

namespace lockstep {

// What others wrote, read where it is; a test of it skips itself, with a message, where it is not.
inline const std::filesystem::path kShared = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared";

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;

// Prints its seed; LOCKSTEP_SEED=n repeats a run.
class Random {
 public:
  Random() : Random(seed_of_run()) {}
  explicit Random(std::uint64_t seed) : engine_(seed) { std::cout << "LOCKSTEP_SEED=" << seed << '\n'; }
  // 0 to `most`, both included.
  std::uint64_t upto(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(engine_); }
  bool chance() { return upto(1) == 1; }

 private:
  static std::uint64_t seed_of_run() {
    const char* given = std::getenv("LOCKSTEP_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }
  std::mt19937_64 engine_;
};

// "path: text", one a problem.
inline std::vector<std::string> lines_of(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(problem.path + ": " + problem.text);
  return lines;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lockstep
