// The simulated hosts against a real controller in memory and a clock of the test's own: they bring a group to its end,
// fail it when told to, and after a crash go on from what the state says, nothing more.
#include "tools/lockstep/simulated_hosts.h"

#include <gtest/gtest.h>

#include "tests/tools/small_world.h"

namespace lockstep::cli {
namespace {

using ::lockstep::testing::small_manifest;
using ::lockstep::testing::SmallWorld;

class Simulation : public ::testing::Test {
 protected:
  // Reports, deadlines and passes until `duration` has passed.
  void live(Duration duration) {
    const Time until = world_.now() + duration;
    hosts_.observe_all(world_.state(), world_.now());
    while (true) {
      for (auto& report : hosts_.due(world_.now())) {
        ++reports_;
        const auto answer = world_.execute(std::move(report), Actor::Agent);
        late_ += answer.code == AnswerCode::Done ? 0 : 1;
        hosts_.observe(world_.state(), world_.controller().last_events(), world_.now());
      }
      world_.schedule();
      hosts_.observe(world_.state(), world_.controller().last_events(), world_.now());
      if (world_.now() >= until) return;
      world_.advance(Duration{50'000'000});
      hosts_.observe(world_.state(), world_.controller().last_events(), world_.now());
    }
  }

  void begin(SimulationOptions options) { hosts_ = SimulatedHosts(std::move(options)); }

  SmallWorld world_;
  SimulatedHosts hosts_{SimulationOptions{}};
  int reports_ = 0;
  int late_ = 0;
};

TEST_F(Simulation, BringsAGroupFromItsPlacementToItsEnd) {
  const GroupId id = world_.define(small_manifest("train"));
  live(seconds(1));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Running);
  live(seconds(5));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Succeeded);
  EXPECT_EQ(late_, 0);
  EXPECT_EQ(hosts_.next(), Time{}) << "nothing is left to be done";
}

TEST_F(Simulation, WaitsWithClaimsAsLongAsToldTo) {
  SimulationOptions options;
  options.claims_after = seconds(3);
  begin(options);
  const GroupId id = world_.define(small_manifest("train"));
  live(seconds(2));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Placed);
  live(seconds(2));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Running);
}

TEST_F(Simulation, FailsAMemberOnceAndNotAgainAfterTheRestart) {
  SimulationOptions options;
  options.failures = {*parse_failure("worker[1]@1s:code=7")};
  begin(options);
  const GroupId id = world_.define(small_manifest("train"));
  live(seconds(3));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Backoff);
  EXPECT_EQ(world_.group(id).head.charged, 1U);
  live(seconds(30));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Succeeded);
  EXPECT_EQ(world_.group(id).head.attempt, 2U);
  EXPECT_EQ(late_, 0);
}

TEST_F(Simulation, FailsAMemberInEveryRunWhenToldTo) {
  SimulationOptions options;
  options.failures = {*parse_failure("train/worker[*]@1s:signal=9,every")};
  begin(options);
  const GroupId id = world_.define(small_manifest("train"));
  const GroupId other = world_.define(small_manifest("other"));
  live(seconds(120));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Failed);
  EXPECT_EQ(world_.group(id).head.end.code, EndCode::RestartBudgetExhausted);
  EXPECT_EQ(world_.group(other).head.phase, GroupPhase::Succeeded) << "it was told of the other group";
}

TEST_F(Simulation, CanFailToLaunch) {
  SimulationOptions options;
  options.failures = {*parse_failure("launcher[0]@1s:launch-failed")};
  begin(options);
  const GroupId id = world_.define(small_manifest("train"));
  live(seconds(2));
  EXPECT_EQ(world_.group(id).head.charged, 1U);
}

TEST_F(Simulation, ReleasesClaimsAndConfirmsStopsOfACancelledGroup) {
  const GroupId id = world_.define(small_manifest("train"));
  live(seconds(1));
  world_.execute(GroupCommand{GroupVerb::Cancel, id});
  live(seconds(1));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Cancelled);
  EXPECT_EQ(world_.group(id).claims.begin()->second.phase, ClaimPhase::Released);
  EXPECT_EQ(late_, 0);
}

TEST_F(Simulation, AfterACrashGoesOnFromWhatTheStateSays) {
  const GroupId id = world_.define(small_manifest("train"));
  live(seconds(3));
  ASSERT_EQ(world_.group(id).head.phase, GroupPhase::Running);
  const Time started = world_.group(id).roles[0].members[0].started_at;
  world_.restart();
  begin(SimulationOptions{});
  hosts_.observe_all(world_.state(), world_.now());
  EXPECT_EQ(hosts_.next(), started + SimulationOptions{}.runtime) << "the runtime that remains, not a whole one";
  live(seconds(4));
  EXPECT_EQ(world_.group(id).head.phase, GroupPhase::Succeeded);
  EXPECT_EQ(late_, 0);
}

TEST_F(Simulation, SaysAgainWhatWasNotHeard) {
  world_.define(small_manifest("train"));
  world_.schedule();
  hosts_.observe_all(world_.state(), world_.now());
  const Time later = world_.now() + seconds(1);
  const auto first = hosts_.due(later);
  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(hosts_.due(later).empty());
  EXPECT_EQ(hosts_.due(later + seconds(10)).size(), first.size());
}

}  // namespace
}  // namespace lockstep::cli
