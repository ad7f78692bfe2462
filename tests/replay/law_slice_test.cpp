// P2 on a few random histories: the quick slice of law_test.cpp, for every build and the sanitizers.

#include <gtest/gtest.h>

#include "tests/replay/law.h"

namespace lockstep::test {
namespace {

TEST(Law, P2ReplayFromEmptyEqualsSnapshotPlusTailAtEveryCutOfAFewHistories) {
  constexpr std::size_t kHistories = 12;
  const std::uint64_t seed = seed_of_run(20'240'601);
  LawCounts counts;
  for (std::size_t i = 0; i < kHistories; ++i) {
    const History history = make_history(seed + i, 200);
    ASSERT_EQ(check_law(history, LawOptions{8, 4, 2}, counts), "");
  }
  EXPECT_EQ(counts.histories, kHistories);
  EXPECT_GE(counts.events, kHistories * 200);
  EXPECT_EQ(counts.cuts, counts.events + kHistories);
  EXPECT_GT(counts.live_points, kHistories * 50);
  EXPECT_GT(counts.probes, counts.cuts / 2);
  EXPECT_GT(counts.tails, counts.cuts / 10);
}

}  // namespace
}  // namespace lockstep::test
