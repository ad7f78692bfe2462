// bench: prints every figure that scripts know by name, leaves nothing behind, and keeps away from a store.

#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

class Bench : public CommandTest {
 protected:
  [[nodiscard]] nlohmann::json figures(std::vector<std::string> words) const {
    words.insert(words.begin(), "bench");
    words.insert(words.end(), {"--dir", place(), "-o", "json"});
    const Ran ran = lockstep(std::move(words));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(std::filesystem::is_empty(place()));
    return nlohmann::json::parse(ran.out, nullptr, false);
  }
  [[nodiscard]] std::string place() const {
    const std::filesystem::path path = dir_.path() / "bench";
    std::filesystem::create_directories(path);
    return path.string();
  }
};

void expect_positive(const nlohmann::json& json, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    ASSERT_TRUE(json.contains(name)) << name << " in " << json;
    EXPECT_GT(json.at(name).get<double>(), 0) << name;
  }
}

TEST_F(Bench, TellsOfAppendsBesideBareWrites) {
  const auto append = figures({"append", "--slices", "1"}).at("append");
  expect_positive(append, {"p50Us", "floorP50Us", "p50Ratio", "eventsPerSecond256", "floorEventsPerSecond256",
                           "fullFrameThroughputRatio", "throughputRatio", "floorSpread"});
  EXPECT_GE(append.at("cpuWaitPercent").get<double>(), 0);
  const bool busy = append.at("cpuWaitPercent") > 5 || append.at("floorSpread") > 1.5;
  EXPECT_EQ(append.at("verdict"), busy ? "machine busy" : "quiet");
}

TEST_F(Bench, TellsOfReplayBesideAScan) {
  const auto replay = figures({"replay", "--groups", "300"}).at("replay");
  expect_positive(replay, {"eventsPerSecond", "scanEventsPerSecond", "ratio"});
  EXPECT_EQ(replay.at("mixes").size(), 4U);
  EXPECT_EQ(replay.at("mixes").at("lifecycle").at("events"),
            30 * 17 + 626 + 2);  // and hosts, an epoch, a digest
  for (const auto& [mix, each] : replay.at("mixes").items())
    expect_positive(each, {"events", "eventsPerSecond", "ratio"});
}

TEST_F(Bench, TellsOfASnapshotAndARecovery) {
  const auto both = figures({"all", "--slices", "1", "--groups", "200", "--tail", "100"});
  expect_positive(both.at("snapshot"), {"groups", "seconds", "bytes", "rawBytes", "maxPauseMs"});
  expect_positive(both.at("recovery"), {"groups", "tailEvents", "seconds", "floorSeconds", "ratio"});
  EXPECT_GE(both.at("recovery").at("bytesPerGroup").get<double>(), 0);  // of so few groups nothing may be seen
  EXPECT_GE(both.at("recovery").at("tailEvents").get<int>(), 100);
  EXPECT_TRUE(both.contains("append") && both.contains("replay"));
}

TEST_F(Bench, KeepsAwayFromAStore) {
  init();
  const Ran ran = lockstep({"bench", "append", "--dir", store()});
  expect_failure(ran, 2, "Usage");
  EXPECT_NE(ran.err.find("is a store"), std::string::npos) << ran.err;
  EXPECT_EQ(lockstep({"bench", "--dir", (dir_.path() / "nowhere").string()}).status, 2);
}

}  // namespace
}  // namespace lockstep::testing
