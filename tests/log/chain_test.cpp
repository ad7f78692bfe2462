// Shown: a reader of records in order notices a hole, a step back to an older epoch, and (when asked) another history.
// Shows R12.

#include "events/log/chain.h"

#include <gtest/gtest.h>

#include "tests/log/support.h"

namespace lockstep {
namespace {

using testing::Bytes;
using testing::make_record;

std::vector<Bytes> run_of(int n) {
  std::vector<Bytes> records;
  Head head{};
  for (int i = 0; i < n; ++i) {
    records.push_back(make_record(head, 64, 2));
    head = head_after(*read_header(records.back(), ""), records.back());
  }
  return records;
}

TEST(ChainReader, AcceptsARunThatBeginsAnywhere) {
  const auto records = run_of(5);
  ChainReader chain(Seq{}, Check::Full);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_TRUE(chain.read(records[i], "t"));
}

TEST(ChainReader, P5_NamesAHole) {
  const auto records = run_of(5);
  ChainReader chain;
  ASSERT_TRUE(chain.read(records[0], "t"));
  const auto hole = chain.read(records[2], "t");
  ASSERT_FALSE(hole);
  EXPECT_EQ(hole.error().code, ErrorCode::Damaged);
  EXPECT_EQ(hole.error().seq, Seq{3});
}

TEST(ChainReader, RefusesALowerEpoch) {
  ChainReader chain;
  const Bytes first = make_record({}, 64, 1, Epoch{5});
  ASSERT_TRUE(chain.read(first, "t"));
  const Head head = head_after(*read_header(first, ""), first);
  EXPECT_EQ(chain.read(make_record(head, 64, 1, Epoch{4}), "t").error().code, ErrorCode::Damaged);
}

TEST(ChainReader, FullCheckRefusesAnotherHistory) {
  const Bytes first = make_record({}, 64, 1);
  Head head = head_after(*read_header(first, ""), first);
  head.hash[7] ^= std::byte{1};
  const Bytes second = make_record(head, 64, 1);
  ChainReader fast;
  ASSERT_TRUE(fast.read(first, "t"));
  EXPECT_TRUE(fast.read(second, "t"));
  ChainReader full(Seq{}, Check::Full);
  ASSERT_TRUE(full.read(first, "t"));
  const auto other = full.read(second, "t");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::Damaged);
  EXPECT_EQ(other.error().seq, Seq{2});
}

}  // namespace
}  // namespace lockstep
