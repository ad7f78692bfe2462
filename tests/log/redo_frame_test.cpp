// Shown: a frame gives back the record that was laid into it, whatever its size; every wrong bit of it is seen; a
// sector of another frame, or of none, is told from a damaged one. How: all sizes around the edges of sectors and
// slots; every bit flipped; positions that differ by laps of any length.

#include "events/log/redo_frame.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <set>

#include "tests/log/support.h"

namespace lockstep {
namespace {

using testing::Bytes;
using testing::make_record;

constexpr std::size_t kRoom = 504;  // of a sector
constexpr std::size_t kHead = 32;
constexpr RingMark kMark{7, (std::uint64_t{5} << 32U) + 1000};

Bytes frame_of(std::span<const std::byte> record, const RingMark& mark = kMark) {
  Bytes frame(frame_slots(record.size()) * kSlotBytes, std::byte{0xee});  // what was there before
  lay_frame(record, mark, frame);
  return frame;
}

std::span<const std::byte> sector_of(const Bytes& frame, std::size_t number) {
  return std::span(frame).subspan(number * kSectorBytes, kSectorBytes);
}

std::set<std::size_t> sizes_around_edges() {
  std::set<std::size_t> sizes{0, 1, 8, 136, 1 << 20, (1 << 20) + 13};
  for (const std::size_t sectors : {1U, 2U, 3U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 32U, 33U, 64U, 800U}) {
    for (std::size_t off = 0; off <= 20; ++off) sizes.insert(sectors * kRoom - kHead + off - 10);
  }
  return sizes;
}

TEST(RedoFrame, GivesBackRecordsOfAllSizesAroundSectorsAndSlots) {
  for (const std::size_t size : sizes_around_edges()) {
    Bytes record(size);
    for (std::size_t i = 0; i < size; ++i) record[i] = static_cast<std::byte>(i * 131 + i / 256);
    const Bytes frame = frame_of(record);
    ASSERT_EQ(frame.size(), (kHead + size + 8 * kRoom - 1) / (8 * kRoom) * kSlotBytes) << size;
    for (std::size_t i = 0; i < frame.size() / kSectorBytes; ++i) {
      ASSERT_EQ(look_at_sector(sector_of(frame, i), kMark.position), Sector::OfIt) << size << " sector " << i;
    }
    const auto head = frame_head(sector_of(frame, 0));
    ASSERT_TRUE(head);
    ASSERT_EQ(head->mark, kMark);
    ASSERT_EQ(head->record_bytes, size);
    ASSERT_TRUE(lift_record(frame, size) == record) << size;
  }
}

TEST(RedoFrame, HasTheLayoutOfFormatMd) {
  const Bytes record = make_record({}, 1000);
  const Bytes frame = frame_of(record);
  const auto u64 = [&](std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, frame.data() + offset, sizeof value);
    return value;
  };
  EXPECT_EQ(std::memcmp(frame.data(), "LKSTREDO", 8), 0);
  EXPECT_EQ(u64(8), 7U);
  EXPECT_EQ(u64(16), kMark.position);
  EXPECT_EQ(u64(24), record.size());
  EXPECT_TRUE(std::equal(record.begin(), record.begin() + kRoom - kHead, frame.begin() + kHead));
  EXPECT_TRUE(std::equal(record.begin() + kRoom - kHead, record.begin() + 2 * kRoom - kHead,
                         frame.begin() + kSectorBytes));  // goes on in the next sector
  for (std::size_t at = 0; at < frame.size(); at += kSectorBytes) {
    const auto check = XXH3_64bits(frame.data() + at, 508) & 0xffffffffU;
    EXPECT_EQ(u64(at + kRoom), (kMark.position & 0xffffffffU) | check << 32U);
  }
}

// Padding with what was there before would leave whole sectors of an older frame.
TEST(RedoFrame, IsZeroBehindItsRecord) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, kRoom - kHead, kRoom, std::size_t{3000}}) {
    const Bytes record(size, std::byte{1});
    const Bytes frame = frame_of(record);
    std::size_t set = 0;
    for (std::size_t i = kHead; i < frame.size(); ++i) {
      if (i % kSectorBytes < kRoom && frame[i] != std::byte{0}) ++set;
    }
    EXPECT_EQ(set, size);
  }
}

TEST(RedoFrame, P16_EveryFlippedBitIsDamageAndNeverAnotherFrame) {
  Bytes frame = frame_of(make_record({}, 3000));
  for (std::size_t i = 0; i < frame.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      frame[i] ^= static_cast<std::byte>(1U << bit);
      ASSERT_EQ(look_at_sector(sector_of(frame, i / kSectorBytes), kMark.position), Sector::Damaged)
          << "byte " << i << " bit " << bit;
      frame[i] ^= static_cast<std::byte>(1U << bit);
    }
  }
}

TEST(RedoFrame, P1_ASectorOfNoFrameOrOfAnotherIsNotDamage) {
  const Bytes blank(kSectorBytes);
  EXPECT_EQ(look_at_sector(blank, 0), Sector::OfOther);
  EXPECT_EQ(stamp_of(blank), std::nullopt);
  EXPECT_EQ(frame_head(blank), std::nullopt);
  for (const std::uint64_t laps : {1U, 64U, 16'384U, 1U << 20U, 1U << 31U}) {
    const Bytes frame = frame_of(make_record({}, 64), {1, kMark.position + laps});
    EXPECT_EQ(look_at_sector(sector_of(frame, 0), kMark.position), Sector::OfOther);
    EXPECT_EQ(look_at_sector(sector_of(frame, 0), kMark.position + laps), Sector::OfIt);
    EXPECT_EQ(stamp_of(sector_of(frame, 7)), static_cast<std::uint32_t>(kMark.position + laps));
  }
}

}  // namespace
}  // namespace lockstep
