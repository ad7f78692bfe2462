// Shown: a record is believed only when every byte of it is right, and each field is held to its bounds. How: flips and
// truncations of whole records, and single fields set with the checksum made right again.

#include "events/record.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <limits>

#include "events/events.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

using testing::Bytes;
using testing::make_record;

Head some_head() {
  Head head{Seq{41}, {}, Epoch{3}};
  head.hash.fill(std::byte{0xab});
  return head;
}

template <class T>
void set(Bytes& record, std::size_t offset, T value) {
  std::memcpy(record.data() + offset, &value, sizeof value);
}

// The checksum as FORMAT.md defines it, written a second time.
void seal_again(Bytes& record) {
  set(record, 24, std::uint64_t{0});
  set(record, 24, std::uint64_t{XXH3_64bits(record.data(), record.size())});
}

ErrorCode code_of(const Bytes& record) {
  const auto header = read_header(record, "test");
  return header ? ErrorCode::Usage : header.error().code;  // Usage: no error, which no caller here expects
}

TEST(Record, CarriesItsHeader) {
  const Bytes record = make_record(some_head(), 100, 7, Epoch{4});
  const auto header = read_header(record, "test");
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->format, kRecordFormat);
  EXPECT_EQ(header->count, 7U);
  EXPECT_EQ(header->length, kRecordHeaderBytes + 104);
  EXPECT_EQ(header->first, Seq{42});
  EXPECT_EQ(header->last(), Seq{48});
  EXPECT_EQ(header->epoch, Epoch{4});
  EXPECT_EQ(header->previous, some_head().hash);
  const Head after = head_after(*header, record);
  EXPECT_EQ(after.seq, Seq{48});
  EXPECT_EQ(after.epoch, Epoch{4});
  EXPECT_EQ(after.hash, hash_record(record));
}

TEST(Record, HasTheLayoutOfFormatMd) {
  const Bytes record = make_record(some_head(), 64, 7, Epoch{4});
  const auto u64 = [&](std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, record.data() + offset, sizeof value);
    return value;
  };
  EXPECT_EQ(std::memcmp(record.data(), "LKSTPREC", 8), 0);
  EXPECT_EQ(u64(8), std::uint64_t{1} | std::uint64_t{7} << 32U);
  EXPECT_EQ(u64(16), 192U);
  EXPECT_EQ(u64(32), 42U);
  EXPECT_EQ(u64(40), 4U);
  EXPECT_EQ(u64(48), 41000U);
  EXPECT_EQ(std::memcmp(record.data() + 56, some_head().hash.data(), 32), 0);
  for (std::size_t i = 88; i < 128; i += 8) EXPECT_EQ(u64(i), 0U);
  Bytes again = record;
  seal_again(again);
  EXPECT_EQ(again, record);
}

TEST(Record, EncodesAndDecodesEvents) {
  const Head head = some_head();
  std::vector<Event> events(3);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].seq = Seq{head.seq.value + 1 + i};
    events[i].time = Time{static_cast<std::int64_t>(100 + i)};
    events[i].actor = Actor::User;
    events[i].body = PoolSet{.name = "licences", .total = static_cast<std::int64_t>(i)};
  }
  const Bytes record = encode_record(head, Epoch{5}, events);
  EXPECT_EQ(record.size() % 8, 0U);
  const auto header = read_header(record, "test");
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->time, Time{102});
  const auto decoded = decode_record(record, "test");
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->size(), 3U);
  EXPECT_EQ((*decoded)[2].seq, Seq{44});
  EXPECT_EQ(std::get<PoolSet>((*decoded)[1].body).name, "licences");
  EXPECT_EQ(encode_record(head, Epoch{5}, *decoded), record);
}

TEST(Record, P16_RefusesEveryFlippedBit) {
  const Bytes record = make_record(some_head(), 200, 3);
  for (std::size_t i = 0; i < record.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes flipped = record;
      flipped[i] ^= static_cast<std::byte>(1U << bit);
      ASSERT_EQ(code_of(flipped), ErrorCode::Damaged) << "byte " << i << " bit " << bit;
    }
  }
}

TEST(Record, P1_RefusesEveryTruncationAndTrailingBytes) {
  const Bytes record = make_record(some_head(), 200, 3);
  for (std::size_t size = 0; size < record.size(); ++size) {
    ASSERT_EQ(code_of(Bytes(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size))), ErrorCode::Damaged);
  }
  Bytes longer = record;
  longer.resize(record.size() + 8);
  EXPECT_EQ(code_of(longer), ErrorCode::Damaged);
}

TEST(Record, P1_RefusesAZeroedTail) {
  const Bytes record = make_record(some_head(), 4096, 3);
  for (std::size_t zeros = 512; zeros < record.size(); zeros += 512) {
    Bytes torn = record;
    std::fill(torn.end() - static_cast<std::ptrdiff_t>(zeros), torn.end(), std::byte{});
    ASSERT_EQ(code_of(torn), ErrorCode::Damaged) << zeros;
  }
  EXPECT_EQ(code_of(Bytes(4096)), ErrorCode::Damaged);
}

TEST(Record, P7_RefusesAnImpossibleLength) {
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 31U,
                                     std::numeric_limits<std::uint64_t>::max(), std::uint64_t{127}}) {
    Bytes record = make_record(some_head());
    set(record, 16, length);
    seal_again(record);
    EXPECT_EQ(code_of(record), ErrorCode::Damaged) << length;
  }
  Bytes odd = make_record(some_head());
  odd.resize(odd.size() + 3);
  set(odd, 16, std::uint64_t{odd.size()});
  seal_again(odd);
  EXPECT_EQ(code_of(odd), ErrorCode::Damaged);
}

TEST(Record, P4_RefusesSeqZero) {
  Bytes record = make_record(some_head());
  set(record, 32, std::uint64_t{0});
  seal_again(record);
  const auto header = read_header(record, "data.mdb at offset 8");
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().code, ErrorCode::Damaged);
  EXPECT_EQ(header.error().message, "data.mdb at offset 8: record with seq 0");
}

TEST(Record, RefusesASeqThatWouldOverflow) {
  Bytes record = make_record(some_head(), 64, 8);
  set(record, 32, std::numeric_limits<std::uint64_t>::max() - 7);
  seal_again(record);
  EXPECT_EQ(code_of(record), ErrorCode::Damaged);
}

TEST(Record, RefusesNoEventsAndTooMany) {
  for (const std::uint32_t count : {0U, kRecordEventsMax + 1, std::numeric_limits<std::uint32_t>::max()}) {
    Bytes record = make_record(some_head());
    set(record, 12, count);
    seal_again(record);
    EXPECT_EQ(code_of(record), ErrorCode::Damaged) << count;
  }
}

TEST(Record, RefusesReservedBytesThatAreSet) {
  for (std::size_t i = 88; i < 128; ++i) {
    Bytes record = make_record(some_head());
    record[i] = std::byte{1};
    seal_again(record);
    EXPECT_EQ(code_of(record), ErrorCode::Damaged) << i;
  }
}

TEST(Record, RefusesANewerFormatByNameAndDoesNotTakeDamageForOne) {
  Bytes record = make_record(some_head());
  set(record, 8, kRecordFormat + 1);
  EXPECT_EQ(code_of(record), ErrorCode::Damaged);
  seal_again(record);
  const auto header = read_header(record, "log");
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().code, ErrorCode::NewerFormat);
  EXPECT_NE(header.error().message.find("format 2"), std::string::npos) << header.error().message;
  EXPECT_EQ(header.error().seq, Seq{42});
  set(record, 8, std::uint32_t{0});
  seal_again(record);
  EXPECT_EQ(code_of(record), ErrorCode::Damaged);
}

TEST(Record, ShowsAHashAsHex) {
  Hash hash{};
  hash[0] = std::byte{0xf0};
  hash[31] = std::byte{0x01};
  EXPECT_EQ(hex(hash), "f0" + std::string(60, '0') + "01");
}

}  // namespace
}  // namespace lockstep
