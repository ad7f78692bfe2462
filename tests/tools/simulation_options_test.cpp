// What --runtime and --fail say, and that what they cannot mean is refused with the word that is wrong.
#include "tools/lockstep/simulation_options.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

TEST(Runtime, IsOfOneRoleOrOfAll) {
  SimulationOptions options;
  ASSERT_TRUE(add_runtime("worker=3s", options));
  ASSERT_TRUE(add_runtime("7s", options));
  EXPECT_EQ(options.runtime, seconds(7));
  EXPECT_EQ(options.runtime_of_role.at("worker"), seconds(3));
}

TEST(Runtime, RefusesWhatIsNoDuration) {
  SimulationOptions options;
  for (const char* text : {"", "worker", "worker=", "worker=soon", "=3s", "WORKER=3s", "worker=-3s"}) {
    const auto added = add_runtime(text, options);
    ASSERT_FALSE(added) << text;
    EXPECT_EQ(added.error().exit, 2);
  }
}

TEST(ScriptedFailures, NameAMemberATimeAndAnEnd) {
  const auto failure = parse_failure("worker[2]@1s:code=13");
  ASSERT_TRUE(failure) << failure.error().message;
  EXPECT_EQ(failure->group, "");
  EXPECT_EQ(failure->role, "worker");
  EXPECT_EQ(failure->index, 2U);
  EXPECT_EQ(failure->after, seconds(1));
  EXPECT_EQ(failure->how, ReportKind::Exit);
  EXPECT_EQ(failure->exit_code, 13);
  EXPECT_FALSE(failure->every);
}

TEST(ScriptedFailures, MayBeOfOneGroupOfAllMembersAndOfEveryRun) {
  const auto failure = parse_failure("train/worker[*]@0:signal=9,every");
  ASSERT_TRUE(failure) << failure.error().message;
  EXPECT_EQ(failure->group, "train");
  EXPECT_FALSE(failure->index);
  EXPECT_EQ(failure->signal, 9);
  EXPECT_TRUE(failure->every);
}

TEST(ScriptedFailures, MayBeALossALaunchThatFailsOrNoMemory) {
  EXPECT_EQ(parse_failure("w[0]@1s:lost")->how, ReportKind::Lost);
  EXPECT_EQ(parse_failure("w[0]@1s:launch-failed")->how, ReportKind::LaunchFailed);
  EXPECT_EQ(parse_failure("w[0]@1s:oom")->reason, FailureReason::OutOfMemory);
}

TEST(ScriptedFailures, RefuseWhatTheyCannotMean) {
  for (const char* text : {"", "w", "w[0]", "w[0]@1s", "w[0]@1s:", "w[0]@1s:code=", "w[0]@1s:code=x", "w[0]@1s:code=0",
                           "w[0]@1s:every", "w[0]@soon:code=1", "w[-1]@1s:code=1", "w[0@1s:code=1", "[0]@1s:code=1",
                           "w[0]@1s:code=1,,every", "w[99999999999]@1s:code=1", "a/b/w[0]@1s:code=1"}) {
    const auto failure = parse_failure(text);
    ASSERT_FALSE(failure) << text;
    EXPECT_EQ(failure.error().exit, 2);
    EXPECT_NE(failure.error().message.find("as in"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::cli
