// P2 as promised: at least 2,000 random histories of at least 200 events each, every cut. LOCKSTEP_SEED= repeats a run;
// a failing history is also named by its own seed.
// Shows R17, R24.

#include "tests/replay/law.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace lockstep::test {
namespace {

TEST(Law, P2ReplayFromEmptyEqualsSnapshotPlusTailAtEveryCutOfTwoThousandHistories) {
  constexpr std::size_t kHistories = 2'000;
  constexpr std::size_t kEvents = 200;
  const std::uint64_t seed = seed_of_run(1);
  LawCounts counts;
  for (std::size_t i = 0; i < kHistories; ++i) {
    const History history = make_history(seed * 1'000'003 + i, kEvents);
    ASSERT_EQ(check_law(history, LawOptions{4, 16, 8}, counts), "");
  }
  std::printf("%llu histories, %llu events, %llu cuts, %llu live points, %llu probes, %llu tails of %llu events\n",
              static_cast<unsigned long long>(counts.histories), static_cast<unsigned long long>(counts.events),
              static_cast<unsigned long long>(counts.cuts), static_cast<unsigned long long>(counts.live_points),
              static_cast<unsigned long long>(counts.probes), static_cast<unsigned long long>(counts.tails),
              static_cast<unsigned long long>(counts.tail_events));
  EXPECT_EQ(counts.histories, kHistories);
  EXPECT_GE(counts.events, kHistories * kEvents);
  EXPECT_EQ(counts.cuts, counts.events + kHistories);
  EXPECT_GE(counts.tails, counts.cuts / 4);
  EXPECT_GT(counts.probes, counts.cuts / 5);
}

}  // namespace
}  // namespace lockstep::test
