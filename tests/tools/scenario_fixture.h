#pragma once
// What the tests of scenario files and of their runner share: the files, and a folder for one written by the test.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tools/scenario/scenario.h"

namespace lockstep {

namespace fs = std::filesystem;

inline std::vector<fs::path> scenario_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "tests" / "scenarios")) {
    if (entry.path().extension() == ".scn") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string read_all(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string lines(const std::vector<std::string>& failures) {
  std::string text;
  for (const auto& failure : failures) text += "\n  " + failure;
  return text;
}

// Of a random test: printed, and taken from LOCKSTEP_SEED to repeat it.
inline std::uint64_t seed() {
  const char* given = std::getenv("LOCKSTEP_SEED");
  const std::uint64_t value = given == nullptr ? std::random_device{}() : std::strtoull(given, nullptr, 10);
  std::cout << "LOCKSTEP_SEED=" << value << '\n';
  return value;
}

// A folder of its own for each test.
class Scenario : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "scenario-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& text, const std::string& name = "test.scn") {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  ScenarioResult run(const std::string& text, const ScenarioOptions& options = {}) {
    trace_.str("");
    return run_scenario(write(text), options, trace_);
  }
  // "FILE:LINE: what" of the file that run() wrote.
  std::string at(std::size_t line, const std::string& what) {
    return (folder_ / "test.scn").string() + ":" + std::to_string(line) + ": " + what;
  }

  fs::path folder_;
  std::ostringstream trace_;
};

}  // namespace lockstep
