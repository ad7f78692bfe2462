// The address of a controller, and the one error line, as scripts rely on them.
#include "tools/lockstep/address.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tools/lockstep/client.h"
#include "tools/lockstep/outcome.h"

namespace lockstep::cli {
namespace {

TEST(ControlAddress, OfAShortPathIsThePathItself) {
  const auto address = ControlAddress::of("/tmp/store");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->path(), "/tmp/store/control.sock");
}

TEST(ControlAddress, OfALongPathIsShortEnoughForASocket) {
  const auto base = std::filesystem::temp_directory_path() / ("lockstep-address-" + std::to_string(::getpid()));
  const auto store = base / std::string(120, 'x');
  std::filesystem::create_directories(store);
  {
    const auto address = ControlAddress::of(store);
    ASSERT_TRUE(address);
    EXPECT_LE(address->path().size(), 107U);
    EXPECT_TRUE(std::filesystem::equivalent(std::filesystem::path(address->path()).parent_path(), store));
  }
  std::filesystem::remove_all(base);
}

TEST(ControlAddress, OfALongPathThatIsNotThereIsNoStore) {
  const auto address = ControlAddress::of("/tmp/" + std::string(150, 'x'));
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().code, "NotAStore");
  EXPECT_EQ(address.error().exit, 3);
}

TEST(ErrorLine, IsOneLineWhateverTheMessage) {
  EXPECT_EQ(error_line(Failure{"Usage", "first\nsecond\tthird", 2}), "lockstep: Usage: first; second third");
  EXPECT_EQ(error_line(Failure{"Usage", "\x1b[2J\r\xff\xc3\xa9", 2}), "lockstep: Usage: \\x1b[2J\\x0d\\xff\xc3\xa9");
}

TEST(ErrorLine, OfARejectionHasItsCodeAndStatusOne) {
  Answer answer;
  answer.code = AnswerCode::WrongPhase;
  answer.text = "train: has ended";
  EXPECT_EQ(error_line(failure(answer)), "lockstep: WrongPhase: train: has ended");
  EXPECT_EQ(failure(answer).exit, 1);
  answer.code = AnswerCode::NotLeader;
  EXPECT_EQ(failure(answer).exit, 5);
}

TEST(GroupTarget, WritesWhatAPathMayNotHoldAsPercent) {
  EXPECT_EQ(group_target("llama-1.b"), "/v1/groups/llama-1.b");
  EXPECT_EQ(group_target("#7", "why"), "/v1/groups/%237/why");
  EXPECT_EQ(group_target("a/../b?c"), "/v1/groups/a%2F..%2Fb%3Fc");
}

}  // namespace
}  // namespace lockstep::cli
