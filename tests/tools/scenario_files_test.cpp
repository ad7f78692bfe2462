// Every tests/scenarios/*.scn passes in memory, on LMDB, and with the process dropped after every step: nothing may
// change, neither a verdict nor a line of the trace. And real files with faults made at random are run to their end
// without breaking an invariant.

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tests/tools/scenario_fixture.h"

namespace lockstep {
namespace {

constexpr std::size_t kScenariosMin = 80;  // fewer: the folder was not found whole

void run_all(const ScenarioOptions& options) {
  const auto files = scenario_files();
  ASSERT_GE(files.size(), kScenariosMin);
  for (const auto& file : files) {
    std::ostringstream trace;
    const auto result = run_scenario(file, options, trace);
    EXPECT_EQ(result.status, 0) << lines(result.failures);
    EXPECT_GT(result.events, 0U) << file;
  }
}

TEST(ScenarioFiles, HoldInMemory) { run_all({}); }

TEST(ScenarioFiles, HoldOnLmdb) {
  ScenarioOptions options;
  options.store = ScenarioStore::Lmdb;
  run_all(options);
}

TEST(ScenarioFiles, HoldWithACrashAfterEveryStep) {
  ScenarioOptions options;
  options.crash_everywhere = true;
  run_all(options);
}

TEST(ScenarioFiles, HoldOnLmdbWithACrashAfterEveryStep) {
  ScenarioOptions options;
  options.store = ScenarioStore::Lmdb;
  options.crash_everywhere = true;
  options.check = false;
  run_all(options);
}

TEST(ScenarioFiles, CauseTheSameEventsWithAndWithoutCrashes) {
  ScenarioOptions options;
  options.trace = true;
  options.check = false;
  for (const auto& file : scenario_files()) {
    std::ostringstream plain;
    options.crash_everywhere = false;
    static_cast<void>(run_scenario(file, options, plain));
    std::ostringstream crashing;
    options.crash_everywhere = true;
    static_cast<void>(run_scenario(file, options, crashing));
    EXPECT_EQ(plain.str(), crashing.str()) << file;
  }
}

TEST(ScenarioFiles, BeginWithWhatTheyTeach) {
  for (const auto& file : scenario_files()) EXPECT_TRUE(read_all(file).starts_with("# ")) << file;
}

// Three times: a line left out, doubled, moved, or with another line's last word.
std::string with_faults(const std::string& text, std::mt19937_64& random) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  for (int i = 0; i < 3; ++i) {
    const auto at = random() % all.size();
    const auto other = random() % all.size();
    switch (random() % 4) {
      case 0:
        all[at].clear();
        break;
      case 1:
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), std::string(all[other]));
        break;
      case 2:
        std::swap(all[at], all[other]);
        break;
      default:
        all[at] = all[at].substr(0, all[at].rfind(' ')) + " " + all[other].substr(all[other].rfind(' ') + 1);
    }
  }
  std::string changed;
  for (const auto& line : all) changed += line + '\n';
  return changed;
}

TEST_F(Scenario, FilesWithFaultsAreRunToTheirEnd) {
  std::mt19937_64 random(seed());
  const auto files = scenario_files();
  ASSERT_FALSE(files.empty());
  for (int round = 0; round < 150; ++round) {
    const auto& file = files[random() % files.size()];
    const auto text = with_faults(read_all(file), random);
    const auto result = run(text);
    for (const auto& failure : result.failures) {
      EXPECT_EQ(failure.find("invariant"), std::string::npos) << file << "\n" << failure << "\n" << text;
      EXPECT_EQ(failure.find("a difference"), std::string::npos) << file << "\n" << failure << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace lockstep
