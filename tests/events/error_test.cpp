// Names and exit statuses of errors, which scripts rely on (DESIGN, "Words that scripts rely on"), and what a broken
// invariant prints.

#include "events/error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace lockstep {
namespace {

constexpr std::array kCodes{
    ErrorCode::Usage,          ErrorCode::InvalidInput, ErrorCode::NotFound,          ErrorCode::NotAStore,
    ErrorCode::NewerFormat,    ErrorCode::Damaged,      ErrorCode::Trimmed,           ErrorCode::MapFull,
    ErrorCode::DiskFull,       ErrorCode::Locked,       ErrorCode::NetworkFilesystem, ErrorCode::StorageFailed,
    ErrorCode::OutcomeUnknown, ErrorCode::NotLeader,    ErrorCode::StaleHead,         ErrorCode::Interrupted};

TEST(Error, EveryCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const ErrorCode code : kCodes) {
    EXPECT_NE(name(code), "?");
    EXPECT_TRUE(names.insert(name(code)).second) << name(code);
  }
}

TEST(Error, ExitStatusesAreThoseThatScriptsRelyOn) {
  EXPECT_EQ(exit_status(ErrorCode::NotFound), 1);
  EXPECT_EQ(exit_status(ErrorCode::Trimmed), 1);
  EXPECT_EQ(exit_status(ErrorCode::Usage), 2);
  EXPECT_EQ(exit_status(ErrorCode::InvalidInput), 2);
  EXPECT_EQ(exit_status(ErrorCode::NotAStore), 3);
  EXPECT_EQ(exit_status(ErrorCode::NewerFormat), 3);
  EXPECT_EQ(exit_status(ErrorCode::Damaged), 3);
  EXPECT_EQ(exit_status(ErrorCode::MapFull), 4);
  EXPECT_EQ(exit_status(ErrorCode::DiskFull), 4);
  EXPECT_EQ(exit_status(ErrorCode::NetworkFilesystem), 4);
  EXPECT_EQ(exit_status(ErrorCode::StorageFailed), 4);
  EXPECT_EQ(exit_status(ErrorCode::OutcomeUnknown), 4);
  EXPECT_EQ(exit_status(ErrorCode::Locked), 5);
  EXPECT_EQ(exit_status(ErrorCode::NotLeader), 5);
  EXPECT_EQ(exit_status(ErrorCode::StaleHead), 5);
  EXPECT_EQ(exit_status(ErrorCode::Interrupted), 130);
}

using CheckDeathTest = testing::Test;

TEST(CheckDeathTest, ABrokenInvariantPrintsOneLineWithItsPlaceAndStops) {
  EXPECT_EXIT(LOCKSTEP_CHECK(1 > 2, "seq 17: held is negative"), testing::KilledBySignal(SIGABRT),
              "^lockstep: CheckFailed: .*error_test.cpp:[0-9]+: 1 > 2: seq 17: held is negative\n$");
}

}  // namespace
}  // namespace lockstep
