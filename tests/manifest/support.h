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
#include <string_view>
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

// No control character, and UTF-8 to its end.
inline bool is_printable_line(std::string_view text) {
  int wanted = 0;  // bytes until the character is whole
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool goes_on = byte >= 0x80 && byte < 0xC0;
    if (byte < 0x20 || byte == 0x7F || byte == 0xC0 || byte == 0xC1 || byte > 0xF4 || goes_on != (wanted > 0)) {
      return false;
    }
    wanted = goes_on ? wanted - 1 : byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
  }
  return wanted == 0;
}

// What a hostile text may hold: control characters, and bytes that are no UTF-8.
inline std::vector<std::string> hostile_bytes() {
  std::vector<std::string> all{"\x7f", "\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xff"};
  for (char c = 0; c < ' '; ++c) all.emplace_back(1, c);
  return all;
}

// `text` with `bytes` for every @ in it.
inline std::string with_bytes(std::string_view text, const std::string& bytes) {
  std::string result;
  for (const char c : text) result += c == '@' ? bytes : std::string(1, c);
  return result;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lockstep
