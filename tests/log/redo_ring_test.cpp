// Shown: what was flushed to the ring is found again, in order and once, whatever else a crash has left there; a write
// that was torn is cut and reported, a wrong bit is refused; nothing that is still needed is written over. How: rings
// of 64 slots; torn and damaged frames are laid over what the ring wrote, sector by sector.

#include "events/log/redo_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "tests/log/io_faults.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::file_bytes;
using ::testing::HasSubstr;
using testing::kSmallRingSlots;
using testing::make_record;
using testing::overwrite;
using testing::TempDir;

constexpr std::uint64_t kFarOn = (std::uint64_t{1} << 32U) - 20;  // a little before the stamps begin again
constexpr StoreId kStore{std::byte{1}, std::byte{2}};

// A record that takes so many slots.
Bytes record_of(const Head& head, std::uint64_t slots, Epoch epoch = Epoch{1}) {
  Bytes record = make_record(head, slots * 4032 - 32 - kRecordHeaderBytes - 100, 1, epoch);
  EXPECT_EQ(frame_slots(record.size()), slots);
  return record;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Ring : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(RedoRing::create(path(), kStore, kSmallRingSlots)); }
  fs::path path() const { return dir_ / "redo"; }

  RedoRing open_writer() const {
    auto lock = WriterLock::acquire(path());
    EXPECT_TRUE(lock) << lock.error().message;
    auto ring = RedoRing::open(path(), kStore, std::move(*lock));
    EXPECT_TRUE(ring) << ring.error().message;
    return std::move(*ring);
  }
  RedoRing open_reader() const {
    auto ring = RedoRing::open(path(), kStore, std::nullopt);
    EXPECT_TRUE(ring) << ring.error().message;
    return std::move(*ring);
  }
  Result<RedoRing::Tail> tail(const RingMark& mark, const Head& head = {},
                              RedoRing::Writer writer = RedoRing::Writer::Gone) const {
    return open_reader().tail(mark, head, writer);
  }

  // Appends records of so many slots each after `head`, which it moves.
  std::vector<Bytes> append(RedoRing& ring, Head& head, const std::vector<std::uint64_t>& slots) const {
    std::vector<Bytes> records;
    for (const std::uint64_t each : slots) {
      records.push_back(record_of(head, each));
      EXPECT_TRUE(ring.has_room(records.back().size()));
      const auto done = ring.append(records.back());
      EXPECT_TRUE(done) << done.error().message;
      head = head_after(*read_header(records.back(), ""), records.back());
    }
    return records;
  }

  // A ring that begins at `start` and holds records of so many slots; the mark and head behind them.
  struct Written {
    std::vector<Bytes> records;
    RingMark mark{};
    Head head{};
  };
  Written write(const RingMark& start, const std::vector<std::uint64_t>& slots, const Head& head = {}) const {
    Written written{{}, start, head};
    RedoRing ring = open_writer();
    ring.begin(start, start.position);
    written.records = append(ring, written.head, slots);
    written.mark = ring.mark();
    return written;
  }

  // As it was when it was made.
  void wipe() const { overwrite(path(), kFramesAt, std::string(kSmallRingSlots * kSlotBytes, '\0')); }

  std::uint64_t offset_of(std::uint64_t position) const { return kFramesAt + position % kSmallRingSlots * kSlotBytes; }

  // Lays those sectors of the frame there for which `lands` says so.
  template <class Lands>
  void lay(std::span<const std::byte> record, const RingMark& mark, Lands lands) const {
    Bytes frame(frame_slots(record.size()) * kSlotBytes);
    lay_frame(record, mark, frame);
    for (std::size_t sector = 0; sector < frame.size() / kSectorBytes; ++sector) {
      if (!lands(sector)) continue;
      overwrite(path(), offset_of(mark.position) + sector * kSectorBytes,
                text_of(std::span(frame).subspan(sector * kSectorBytes, kSectorBytes)));
    }
  }
  void lay(std::span<const std::byte> record, const RingMark& mark) const {
    lay(record, mark, [](std::size_t) { return true; });
  }

 private:
  TempDir dir_;
};

// ---- making and opening --------------------------------------------------------------------------------------------

TEST_F(Ring, IsWrittenThroughWhenItIsMadeAndEmpty) {
  const fs::path large = path().string() + ".large";
  ASSERT_TRUE(RedoRing::create(large, kStore, 1000));
  struct stat info {};
  ASSERT_EQ(::stat(large.c_str(), &info), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(info.st_size), kFramesAt + 1000 * kSlotBytes);
  EXPECT_GE(info.st_blocks * 512, info.st_size);  // no holes
  EXPECT_TRUE(tail({})->records.empty());
  EXPECT_TRUE(tail({9, kFarOn})->records.empty());
  EXPECT_EQ(tail({})->cut, "");
  EXPECT_FALSE(RedoRing::create(path(), kStore, kSmallRingSlots));  // never over one that is there
}

TEST_F(Ring, HasTheHeadOfFormatMd) {
  const std::string bytes = file_bytes(path());
  EXPECT_EQ(bytes.substr(0, 8), "LKSTRING");
  EXPECT_EQ(bytes.substr(8, 8), std::string("\1\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(16, 8), std::string("\x40\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(24, 16), text_of(kStore));
  EXPECT_EQ(bytes.find_first_not_of('\0', 40), 4088U);  // the checksum
  EXPECT_EQ(bytes.find_first_not_of('\0', 4096), std::string::npos);
}

TEST_F(Ring, P16_EveryFlippedByteOfItsHeadIsRefused) {
  const std::string sound = file_bytes(path());
  for (std::uint64_t i = 0; i < 4096; ++i) {
    overwrite(path(), i, std::string(1, static_cast<char>(sound[i] ^ (1 << i % 8))));
    const auto ring = RedoRing::open(path(), kStore, std::nullopt);
    ASSERT_FALSE(ring) << i;
    ASSERT_EQ(ring.error().code, ErrorCode::Damaged);
    overwrite(path(), i, sound.substr(i, 1));
  }
  open_reader();
}

TEST_F(Ring, OfAnotherStoreOrLengthIsRefused) {
  StoreId other = kStore;
  other[15] = std::byte{9};
  const auto mixed = RedoRing::open(path(), other, std::nullopt);
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message, HasSubstr("another store"));
  for (const std::uint64_t size :
       {kFramesAt + kSmallRingSlots * kSlotBytes - 1, kFramesAt + kSmallRingSlots * kSlotBytes + kSlotBytes,
        std::uint64_t{4096}, std::uint64_t{100}, std::uint64_t{0}}) {
    fs::resize_file(path(), size);
    const auto ring = RedoRing::open(path(), kStore, std::nullopt);
    ASSERT_FALSE(ring) << size;
    EXPECT_EQ(ring.error().code, ErrorCode::Damaged) << size;
  }
}

// ---- where frames go -----------------------------------------------------------------------------------------------

TEST_F(Ring, AnAppendIsOneWriteAndOneFlush) {
  RedoRing ring = open_writer();
  ring.begin({1, 0}, 0);
  Head head{};
  testing::arm({});
  append(ring, head, {1});
  EXPECT_EQ(testing::armed_calls(), 2U);
  append(ring, head, {16});
  EXPECT_EQ(testing::armed_calls(), 4U);
  testing::arm({.flushes_only = true});
  append(ring, head, {1});
  EXPECT_EQ(testing::armed_calls(), 1U);
  testing::disarm();
}

// A frame that does not fit before the end goes to the beginning of the next lap; positions stay what they are.
TEST_F(Ring, FramesAreFoundAgainFromEveryOffsetAndInEveryLap) {
  for (const std::uint64_t lap :
       {std::uint64_t{0}, kFarOn / kSmallRingSlots * kSmallRingSlots, kSmallRingSlots << 40U}) {
    for (std::uint64_t offset = 0; offset < kSmallRingSlots; ++offset) {
      wipe();
      const RingMark start{3, lap + offset};
      const Written written = write(start, {1, 2, 5, 16, 1, 9});
      const auto found = tail(start);
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_EQ(found->records.size(), 6U) << "lap " << lap << " offset " << offset;
      ASSERT_TRUE(found->records == written.records);
      ASSERT_EQ(found->mark, written.mark);
      ASSERT_EQ(found->head, written.head);
      ASSERT_EQ(found->cut, "");
    }
  }
}

TEST_F(Ring, EveryLengthOfFrameWrapsAtEveryDistanceFromTheEnd) {
  for (std::uint64_t left = 1; left <= 17; ++left) {
    for (std::uint64_t slots = 1; slots <= 16; ++slots) {
      wipe();
      const RingMark start{1, kFarOn / kSmallRingSlots * kSmallRingSlots + kSmallRingSlots - left};
      const Written written = write(start, {slots, 1});
      const std::uint64_t skipped = slots <= left ? 0 : left;
      EXPECT_EQ(written.mark.position, start.position + skipped + slots + 1);
      const auto found = tail(start);
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_TRUE(found->records == written.records) << left << " left, " << slots << " needed";
    }
  }
}

TEST_F(Ring, FramesOfOlderLapsAreNotTaken) {
  const RingMark start{1, kFarOn};
  const Written first = write(start, std::vector<std::uint64_t>(kSmallRingSlots, 1));
  EXPECT_TRUE(tail(first.mark, first.head)->records.empty());
  const Written second = write(first.mark, {1, 1}, first.head);
  EXPECT_EQ(tail(first.mark, first.head)->records.size(), 2U);
  EXPECT_TRUE(tail(second.mark, second.head)->records.empty());
}

// Any order of writes and of slots given back, against a count of the slots.
TEST_F(Ring, P5_NoSlotThatIsNotFreeIsEverWrittenOver) {
  std::mt19937_64 random(testing::test_seed());
  RedoRing ring = open_writer();
  const RingMark start{1, kFarOn};
  ring.begin(start, start.position);
  Head head{};
  struct Kept {
    std::uint64_t begin, after;
  };
  std::vector<Kept> kept;
  std::uint64_t freed = start.position;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t slots = 1 + random() % 16;
    const Bytes record = record_of(head, slots);
    ASSERT_TRUE(ring.takes(record.size()));
    if (ring.has_room(record.size())) {
      ASSERT_TRUE(ring.append(record));
      head = head_after(*read_header(record, ""), record);
      const Kept next{ring.mark().position - slots, ring.mark().position};
      ASSERT_EQ(next.begin / kSmallRingSlots, (next.after - 1) / kSmallRingSlots) << "a frame over the edge";
      for (const Kept& each : kept) {
        const auto distance =
            (next.begin % kSmallRingSlots + kSmallRingSlots - each.begin % kSmallRingSlots) % kSmallRingSlots;
        ASSERT_GE(distance, each.after - each.begin);
        ASSERT_LE(distance + slots, kSmallRingSlots);
      }
      kept.push_back(next);
    } else {
      ASSERT_FALSE(kept.empty()) << "an empty ring has room";
      const std::size_t count = 1 + random() % kept.size();
      freed = kept[count - 1].after;
      kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
      ring.free_below(freed);
    }
  }
  EXPECT_GT(ring.mark().position, start.position + 10 * kSmallRingSlots);
}

TEST_F(Ring, TakesRecordsOfAQuarterOfItAtMost) {
  RedoRing ring = open_writer();
  EXPECT_TRUE(ring.takes(16 * 4032 - 32));
  EXPECT_FALSE(ring.takes(16 * 4032 - 31));
}

// ---- torn writes ---------------------------------------------------------------------------------------------------

// What stands in the ring before the torn write: nothing, or frames of the lap before.
class TornRing : public Ring, public ::testing::WithParamInterface<bool> {
 protected:
  Written before() const {
    const RingMark start{2, kFarOn - kSmallRingSlots};
    if (!GetParam()) return write({2, kFarOn}, {2, 1});
    const Written lap = write(start, std::vector<std::uint64_t>(kSmallRingSlots, 1));
    return write(lap.mark, {2, 1}, lap.head);
  }

  // The frame before is the last; `some`: something of the torn one is left to be seen.
  void expect_cut(const Written& from, const RingMark& mark, const Head& head, bool some, const std::string& what) {
    const auto found = open_reader().tail(mark, head, RedoRing::Writer::Gone);
    ASSERT_TRUE(found) << what << ": " << found.error().message;
    ASSERT_TRUE(found->records.empty()) << what;
    ASSERT_EQ(found->mark, from.mark) << what;
    ASSERT_EQ(found->head, from.head) << what;
    ASSERT_EQ(!found->cut.empty(), some) << what;
    if (some) {
      ASSERT_THAT(found->cut, HasSubstr("slot " + std::to_string(mark.position % kSmallRingSlots)));
      ASSERT_THAT(found->cut, HasSubstr(path().string()));
    }
  }
};

TEST_P(TornRing, P1_EverySubsetOfTheSectorsOfTheLastFrameIsCutAndReported) {
  const Written sound = before();
  const std::string bytes = file_bytes(path());
  const Bytes last = record_of(sound.head, 1);
  for (unsigned subset = 0; subset < 255; ++subset) {
    lay(last, sound.mark, [&](std::size_t sector) { return (subset >> sector & 1U) != 0; });
    expect_cut(sound, sound.mark, sound.head, subset != 0, "subset " + std::to_string(subset));
    if (HasFatalFailure()) return;
    overwrite(path(), offset_of(sound.mark.position), bytes.substr(offset_of(sound.mark.position), kSlotBytes));
  }
  lay(last, sound.mark);
  EXPECT_EQ(tail(sound.mark, sound.head)->records.size(), 1U);  // whole: it is kept, acknowledged or not
}

TEST_P(TornRing, P1_ALongFrameWithAnySectorsMissingIsCut) {
  std::mt19937_64 random(testing::test_seed());
  const Written sound = before();
  const std::string bytes = file_bytes(path());
  constexpr std::uint64_t kLong = 5;
  const Bytes last = record_of(sound.head, kLong);
  std::vector<std::vector<bool>> landed;
  for (std::size_t missing = 0; missing < kLong * 8; ++missing) {
    landed.emplace_back(kLong * 8, true)[missing] = false;
    landed.emplace_back(kLong * 8, false)[missing] = true;
    landed.emplace_back(kLong * 8, false);
    std::fill_n(landed.back().begin(), missing, true);  // the P1 of the book: all up to some sector
  }
  for (int i = 0; i < 200; ++i) {
    landed.emplace_back(kLong * 8);
    for (std::size_t sector = 0; sector < kLong * 8; ++sector) landed.back()[sector] = random() % 2 == 0;
    landed.back()[random() % (kLong * 8)] = false;
  }
  for (std::size_t i = 0; i < landed.size(); ++i) {
    lay(last, sound.mark, [&](std::size_t sector) { return landed[i][sector]; });
    const bool some = std::find(landed[i].begin(), landed[i].begin() + 8, true) != landed[i].begin() + 8;
    expect_cut(sound, sound.mark, sound.head, some, "case " + std::to_string(i));
    if (HasFatalFailure()) return;
    overwrite(path(), offset_of(sound.mark.position), bytes.substr(offset_of(sound.mark.position), kLong * kSlotBytes));
  }
}

// Another writer's frame at the same position, torn as well: the sectors of the two cannot be told apart.
TEST_P(TornRing, P1_TwoTornWritesOfOnePositionAreCut) {
  const Written sound = before();
  const RingMark next_writer{3, sound.mark.position};
  for (const std::uint64_t slots : {1U, 3U}) {
    const Bytes first = record_of(sound.head, slots);
    Bytes second = first;
    for (std::size_t i = kRecordHeaderBytes; i < second.size(); ++i) second[i] ^= std::byte{0x55};
    seal_record(second, sound.head, Epoch{2}, Time{1}, 1);
    for (unsigned subset = 1; subset < 256; subset += 2) {
      lay(first, sound.mark, [&](std::size_t sector) { return sector > 0; });
      lay(second, next_writer, [&](std::size_t sector) { return (subset >> sector % 8 & 1U) != 0; });
      const auto found = tail(next_writer, sound.head);
      ASSERT_TRUE(found) << found.error().message;
      const bool all = subset == 255;
      ASSERT_EQ(found->records.size(), all ? 1U : 0U) << subset;
      ASSERT_EQ(found->cut.empty(), all) << subset;
    }
  }
}

// A torn frame shortly before the end of the ring, and then the next writer's, which had to go over the edge.
TEST_P(TornRing, ATornFrameDoesNotHideTheOneThatWentOverTheEdge) {
  const std::uint64_t near_end = kFarOn / kSmallRingSlots * kSmallRingSlots + kSmallRingSlots - 3;
  const Written sound = write({2, near_end}, {1});
  lay(record_of(sound.head, 2), sound.mark, [](std::size_t sector) { return sector == (GetParam() ? 0U : 1U); });
  const Written after = write({3, sound.mark.position}, {8, 1}, sound.head);
  const auto found = tail({3, sound.mark.position}, sound.head);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->records == after.records);
  EXPECT_EQ(found->mark, after.mark);
  EXPECT_EQ(found->cut, "");
}

INSTANTIATE_TEST_SUITE_P(Over, TornRing, ::testing::Bool(),
                         [](const auto& over) { return over.param ? "AnOlderLap" : "Zeros"; });

// ---- damage --------------------------------------------------------------------------------------------------------

TEST_F(Ring, P16_P13_AFlippedBitAnywhereInTheLastFrameIsRefusedAndNotCut) {
  const Written sound = write({1, kFarOn}, {1, 3});
  const RingMark last{1, kFarOn + 1};
  const std::string bytes = file_bytes(path());
  for (std::uint64_t at = 0; at < 3 * kSlotBytes; ++at) {
    const std::uint64_t offset = offset_of(last.position) + at;
    overwrite(path(), offset, std::string(1, static_cast<char>(bytes[offset] ^ (1 << at % 8))));
    const auto found = tail({1, kFarOn});
    ASSERT_FALSE(found) << "byte " << at;
    ASSERT_EQ(found.error().code, ErrorCode::Damaged);
    ASSERT_THAT(found.error().message,
                HasSubstr("slot " + std::to_string((last.position + at / kSlotBytes) % kSmallRingSlots) + " (offset "));
    overwrite(path(), offset, bytes.substr(offset, 1));
  }
  EXPECT_EQ(tail({1, kFarOn})->records.size(), 2U);
}

TEST_F(Ring, P16_AFlippedBitInAFrameThatLmdbHasTakenOverIsNoMatter) {
  const Written moved = write({1, 0}, {1, 1, 1});
  const std::string bytes = file_bytes(path());
  for (std::uint64_t at = offset_of(0); at < offset_of(2); ++at) {
    overwrite(path(), at, std::string(1, static_cast<char>(bytes[at] ^ 1)));
    const auto found = tail(moved.mark, moved.head);
    ASSERT_TRUE(found) << found.error().message;
    overwrite(path(), at, bytes.substr(at, 1));
  }
}

TEST_F(Ring, P11_AWholeFrameBehindAGapIsRefused) {
  const Written sound = write({1, kFarOn}, {1, 1, 1, 1});
  const std::string blank(kSlotBytes, '\0');
  for (const std::uint64_t gap : {0U, 1U, 2U}) {
    const std::string bytes = file_bytes(path());
    overwrite(path(), offset_of(kFarOn + gap), blank);
    const auto found = tail({1, kFarOn});
    ASSERT_FALSE(found) << gap;
    EXPECT_EQ(found.error().code, ErrorCode::Damaged);
    EXPECT_EQ(found.error().seq, Seq{gap + 1});
    EXPECT_THAT(found.error().message, HasSubstr("acknowledged history is missing"));
    overwrite(path(), 0, bytes);
  }
  // The last one, all gone, was perhaps never written.
  overwrite(path(), offset_of(kFarOn + 3), blank);
  EXPECT_EQ(tail({1, kFarOn})->records.size(), 3U);
}

TEST_F(Ring, P5_AFrameThatDoesNotFollowIsRefused) {
  const Written sound = write({1, 0}, {1});
  Head other = sound.head;
  other.hash[0] ^= std::byte{1};
  const auto found = tail({1, 0}, {Seq{7}, {}, {}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::Damaged);
  lay(record_of(other, 1), sound.mark);
  EXPECT_THAT(tail({1, 0}).error().message, HasSubstr("does not follow seq 1"));
}

TEST_F(Ring, P7_AFrameWithAnImpossibleLengthIsRefused) {
  const Written sound = write({1, 60}, {1});
  for (const std::uint64_t length : {std::uint64_t{1} << 20U, std::uint64_t{1} << 31U, ~std::uint64_t{0}}) {
    Bytes frame(kSlotBytes);
    lay_frame(record_of(sound.head, 1), sound.mark, frame);
    std::memcpy(frame.data() + 24, &length, sizeof length);
    // (stamped again: laid over as the beginning of a record that is made of these bytes)
    Bytes again(kSlotBytes);
    lay_frame(std::span(frame).first(400), sound.mark, again);
    std::memcpy(again.data(), frame.data(), 32);
    overwrite(path(), offset_of(sound.mark.position), text_of(again));
    const auto found = tail(sound.mark, sound.head);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::Damaged);
  }
}

// ---- other writers, other times ------------------------------------------------------------------------------------

TEST_F(Ring, P101_TheLateFrameOfADeposedWriterIsIgnored) {
  const Written sound = write({1, 5}, {1});
  lay(record_of(sound.head, 1), {1, sound.mark.position});      // late, after the second one has begun there
  lay(record_of(sound.head, 2), {1, sound.mark.position + 3});  // and one beyond
  const RingMark second{2, sound.mark.position};
  const auto found = tail(second, sound.head);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->records.empty());
  EXPECT_EQ(found->mark, second);
  // What the second one wrote goes over it, and counts.
  const Written after = write(second, {1, 1}, sound.head);
  EXPECT_TRUE(tail(second, sound.head)->records == after.records);
}

TEST_F(Ring, FramesOfLaterWritersAreFoundFromTheMarkOfAnEarlierOne) {
  const Written first = write({1, 5}, {1, 2});
  const Written second = write({4, first.mark.position}, {3}, first.head);
  const auto found = tail({1, 5});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->records.size(), 3U);
  EXPECT_EQ(found->mark, second.mark);
}

TEST_F(Ring, AnOlderOneIsNotTakenForOneThatReachesTheMark) {
  const std::string fresh = file_bytes(path());
  EXPECT_TRUE(open_reader().check_reaches(0));
  std::vector<std::pair<RingMark, std::string>> copies{{{1, 0}, fresh}};
  Head head{};
  RingMark mark{1, 0};
  for (const std::uint64_t slots : {1U, 16U, 3U, 16U, 16U, 16U, 1U, 16U, 16U, 2U}) {  // more than a lap
    const Written next = write(mark, {slots}, head);
    mark = next.mark;
    head = next.head;
    copies.emplace_back(mark, file_bytes(path()));
  }
  for (std::size_t has = 0; has < copies.size(); ++has) {
    overwrite(path(), 0, copies[has].second);
    for (std::size_t needs = 0; needs < copies.size(); ++needs) {
      const auto reaches = open_reader().check_reaches(copies[needs].first.position);
      EXPECT_EQ(reaches.has_value(), has >= needs) << "has " << has << ", needs " << needs;
      EXPECT_TRUE(reaches || reaches.error().code == ErrorCode::Damaged);
    }
  }
}

// Part of a frame of the next lap over it leaves enough to see that the ring is not an older one.
TEST_F(Ring, AFrameThatIsPartlyWrittenOverStillReachesTheMark) {
  const Written sound = write({1, 0}, std::vector<std::uint64_t>(kSmallRingSlots, 1));
  for (unsigned subset = 0; subset < 256; ++subset) {
    lay(record_of(sound.head, 1), {1, kSmallRingSlots + 20},
        [&](std::size_t sector) { return (subset >> sector & 1U) != 0; });
    ASSERT_TRUE(open_reader().check_reaches(21)) << subset;
  }
}

TEST_F(Ring, ALiveWriterMayBeInTheMiddleOfAFrame) {
  const Written sound = write({1, 0}, {1});
  const Bytes next_one = record_of(sound.head, 2);
  lay(next_one, sound.mark, [](std::size_t sector) { return sector < 3; });
  overwrite(path(), offset_of(sound.mark.position) + 5 * kSectorBytes, std::string(100, 'x'));  // half a sector
  const auto found = tail({1, 0}, {}, RedoRing::Writer::Alive);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->records == sound.records);
}

TEST_F(Ring, P6_AWriterNoticesThatItsFileIsNoLongerTheRing) {
  RedoRing ring = open_writer();
  EXPECT_TRUE(ring.check_in_place());
  fs::rename(path(), path().string() + ".old");
  EXPECT_EQ(ring.check_in_place().error().code, ErrorCode::NotLeader);
  ASSERT_TRUE(RedoRing::create(path(), kStore, kSmallRingSlots));
  EXPECT_EQ(ring.check_in_place().error().code, ErrorCode::NotLeader);
}

}  // namespace
}  // namespace lockstep
