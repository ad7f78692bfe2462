// Bytes that nobody honest wrote: every byte of a batch flipped, every truncation, claims of absurd sizes, kinds and
// codes of the future. Each is an error with its seq, or decodes to something; never a crash, an exception, or memory
// out of proportion to the input. (The record around a batch has a checksum; the codec does not lean on it.)
// Shows R14, R15.

#include <cstring>

#include "events/codec.h"
#include "tests/events/filler.h"

namespace lockstep {
namespace {

using Bytes = std::vector<std::byte>;
constexpr Seq kSeq{1'000};

Bytes every_kind() {
  std::vector<Event> events;
  for (std::size_t kind = 0; kind < kEventKindCount; ++kind) {
    events.push_back(filler::counting_event(kind, Seq{kSeq.value + kind}));
  }
  Bytes bytes;
  encode_events(events, bytes);
  return bytes;
}

Bytes one(std::size_t kind) {
  const Event event = filler::counting_event(kind, kSeq);
  Bytes bytes;
  encode_events({&event, 1}, bytes);
  return bytes;
}

template <class T>
void poke(Bytes& bytes, std::size_t offset, T value) {
  ASSERT_LE(offset + sizeof value, bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// Decoded or refused; what decodes can be written and read again.
void survives(const Bytes& bytes, std::uint32_t count) {
  const auto events = decode_events(bytes, kSeq, count);
  if (!events) {
    ASSERT_TRUE(events.error().code == ErrorCode::Damaged || events.error().code == ErrorCode::NewerFormat);
    ASSERT_GE(events.error().seq, kSeq);
    ASSERT_EQ(events.error().message.find('\n'), std::string::npos);
    return;
  }
  ASSERT_EQ(events->size(), count);
  Bytes again;
  encode_events(*events, again);
  ASSERT_TRUE(decode_events(again, kSeq, count));
}

TEST(Hostile, EveryFlippedByteOfEveryKindIsRefusedOrDecodes) {
  for (std::size_t kind = 0; kind < kEventKindCount; ++kind) {
    const Bytes good = one(kind);
    Bytes bytes = good;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {1 << (i % 8), 0xff}) {
        bytes[i] = good[i] ^ static_cast<std::byte>(flip);
        ASSERT_NO_FATAL_FAILURE(survives(bytes, 1)) << "kind " << kind + 1 << ", byte " << i << " ^ " << flip;
      }
      bytes[i] = good[i];
    }
  }
}

TEST(Hostile, RandomDamageOfABatchOfEveryKindIsRefusedOrDecodes) {
  filler::Random random(filler::seed());
  const Bytes good = every_kind();
  for (int round = 0; round < 1'000; ++round) {
    Bytes bytes = good;
    for (std::size_t n = 1 + random.pick(4); n > 0; --n) {
      bytes[random.pick(bytes.size())] ^= static_cast<std::byte>(1 + random.pick(255));
    }
    ASSERT_NO_FATAL_FAILURE(survives(bytes, kEventKindCount));
  }
}

TEST(Hostile, EveryFlippedBitOfTheSmallKindsIsRefusedOrDecodes) {
  for (std::size_t kind = 0; kind < kEventKindCount; ++kind) {
    const Bytes good = one(kind);
    if (good.size() > 200) continue;
    Bytes bytes = good;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] = good[bit / 8] ^ static_cast<std::byte>(1 << (bit % 8));
      ASSERT_NO_FATAL_FAILURE(survives(bytes, 1)) << "kind " << kind + 1 << ", bit " << bit;
      bytes[bit / 8] = good[bit / 8];
    }
  }
}

TEST(Hostile, EveryTruncationAndEveryTrailingByteIsRefused) {
  Bytes bytes = one(8);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto events = decode_events(std::span(bytes).first(size), kSeq, 1);
    ASSERT_FALSE(events) << size;
    EXPECT_EQ(events.error().code, ErrorCode::Damaged);
    EXPECT_EQ(events.error().seq, kSeq);
  }
  for (int more = 1; more <= 16; ++more) {
    bytes.push_back(std::byte{});
    EXPECT_FALSE(decode_events(bytes, kSeq, 1)) << more;
  }
}

TEST(Hostile, RandomDamageOfCommandsIsRefusedOrDecodes) {
  filler::Random random(filler::seed());
  for (std::size_t kind = 0; kind < std::variant_size_v<CommandBody>; ++kind) {
    Bytes good;
    encode_command(filler::counting_command(kind), good);
    for (int round = 0; round < 500; ++round) {
      Bytes bytes = good;
      for (std::size_t n = 1 + random.pick(4); n > 0; --n) {
        bytes[random.pick(bytes.size())] ^= static_cast<std::byte>(1 + random.pick(255));
      }
      const auto command = decode_command(bytes);
      if (!command) continue;
      Bytes again;
      encode_command(*command, again);
      ASSERT_TRUE(decode_command(again));
    }
    for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(decode_command(std::span(good).first(size)));
  }
}

TEST(Hostile, AbsurdNumbersOfSegmentsAndWordsAreRefused) {
  for (const std::uint32_t number : {1U, 2U, 511U, 0x7fffffffU, 0xfffffffeU, 0xffffffffU}) {
    Bytes bytes = one(2);
    poke(bytes, 0, number);
    EXPECT_EQ(decode_events(bytes, kSeq, 1).error().code, ErrorCode::Damaged) << number;
    bytes = one(2);
    poke(bytes, 4, number);
    EXPECT_EQ(decode_events(bytes, kSeq, 1).error().code, ErrorCode::Damaged) << number;
  }
}

TEST(Hostile, ANullRootIsNotABatchOfDefaults) {
  Bytes bytes(16);  // one segment of one word: a null pointer
  poke(bytes, 4, std::uint32_t{1});
  const auto events = decode_events(bytes, kSeq, 1);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, ErrorCode::Damaged);
  EXPECT_FALSE(decode_command(bytes));
  EXPECT_FALSE(decode_events(Bytes(8), kSeq, 1));  // a segment of nothing
}

// Words of a one-segment message.
Bytes message(std::initializer_list<std::uint64_t> words) {
  Bytes bytes(8 + 8 * words.size());
  poke(bytes, 4, static_cast<std::uint32_t>(words.size()));
  std::size_t at = 8;
  for (const std::uint64_t word : words) {
    poke(bytes, at, word);
    at += 8;
  }
  return bytes;
}

constexpr std::uint64_t kRootWithOnePointer = std::uint64_t{1} << 48U;
constexpr std::uint64_t list_pointer(std::uint64_t element_size, std::uint64_t count) {
  return 1U | (element_size << 32U) | (count << 35U);
}

TEST(Hostile, AListOfHalfABillionVoidsCostsNothing) {
  for (const std::uint64_t count : {1ULL, 1'000ULL, (1ULL << 29U) - 1}) {
    const Bytes bytes = message({kRootWithOnePointer, list_pointer(0, count)});
    const auto events = decode_events(bytes, kSeq, static_cast<std::uint32_t>(count));
    ASSERT_FALSE(events);
    EXPECT_EQ(events.error().code, ErrorCode::Damaged);
  }
}

TEST(Hostile, AListOfHalfABillionStructsWithoutFieldsCostsNothing) {
  // A struct list of no words, with a tag that claims as many empty structs as the frame does.
  for (const std::uint64_t count : {1ULL, 1'000ULL, (1ULL << 29U) - 1}) {
    const Bytes bytes = message({kRootWithOnePointer, list_pointer(7, 0), count << 2U});
    const auto events = decode_events(bytes, kSeq, static_cast<std::uint32_t>(count));
    ASSERT_FALSE(events);
    EXPECT_EQ(events.error().code, ErrorCode::Damaged);
  }
}

TEST(Hostile, ACountThatIsNotTheMessagesIsRefused) {
  const Bytes bytes = every_kind();
  for (const std::uint32_t count :
       {0U, 1U, std::uint32_t{kEventKindCount} - 1, std::uint32_t{kEventKindCount} + 1, 0xffffffffU}) {
    EXPECT_EQ(decode_events(bytes, kSeq, count).error().code, ErrorCode::Damaged) << count;
  }
}

TEST(Hostile, SeqZeroAndSeqsPastTheEndAreRefused) {
  const Bytes bytes = every_kind();
  EXPECT_FALSE(decode_events(bytes, Seq{0}, kEventKindCount));
  EXPECT_FALSE(decode_events(bytes, Seq{std::numeric_limits<std::uint64_t>::max() - 3}, kEventKindCount));
}

// Where the event stands in a message of one: table, root pointer, list pointer, tag.
constexpr std::size_t kEventAt = 8 + 3 * 8;
constexpr std::size_t kKindAt = kEventAt + 34;  // the discriminant, behind prev, cause, time, group, actor

TEST(Hostile, PrevAndCauseMustLieBeforeTheEvent) {
  for (const std::size_t offset : {std::size_t{0}, std::size_t{8}}) {
    for (const std::uint64_t seq : {kSeq.value, kSeq.value + 1, std::numeric_limits<std::uint64_t>::max()}) {
      Bytes bytes = one(2);
      poke(bytes, kEventAt + offset, seq);
      const auto events = decode_events(bytes, kSeq, 1);
      ASSERT_FALSE(events);
      EXPECT_EQ(events.error().code, ErrorCode::Damaged);
      EXPECT_NE(events.error().message.find("not before it"), std::string::npos) << events.error().message;
    }
  }
}

TEST(Hostile, AKindOfALaterReleaseIsRefusedByItsSeqAndNeverSkipped) {
  for (const std::uint16_t tag : {std::uint16_t{kEventKindCount}, std::uint16_t{1'000}, std::uint16_t{0xffff}}) {
    Bytes bytes = one(2);
    std::uint16_t before = 0;
    std::memcpy(&before, bytes.data() + kKindAt, sizeof before);
    ASSERT_EQ(before, 2) << "the discriminant has moved";
    poke(bytes, kKindAt, tag);
    const auto events = decode_events(bytes, kSeq, 1);
    ASSERT_FALSE(events);
    EXPECT_EQ(events.error().code, ErrorCode::NewerFormat);
    EXPECT_EQ(events.error().seq, kSeq);
    EXPECT_EQ(events.error().message,
              "event 1000: a kind of event that this release does not know (" + std::to_string(int{tag} + 1) + ")");
  }
}

TEST(Hostile, ACodeOfALaterReleaseIsRefused) {
  Bytes bytes = one(2);
  poke(bytes, kEventAt + 32, std::uint8_t{99});  // actor
  const auto events = decode_events(bytes, kSeq, 1);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, ErrorCode::NewerFormat);
  EXPECT_EQ(events.error().message, "event 1000: a code that this release does not know (99)");
}

TEST(Hostile, AStructWithMoreWordsThanThisReleaseKnowsIsRefused) {
  const Bytes good = one(2);
  // The same event with one more word of data: tag and list length grow by one, the pointer section moves.
  Bytes bytes(good.begin(), good.begin() + kEventAt + 64);
  bytes.resize(kEventAt + 64 + 8 + 8);
  poke(bytes, 4, static_cast<std::uint32_t>(bytes.size() / 8 - 1));
  poke(bytes, 16, list_pointer(7, 10));
  poke(bytes, 24, (std::uint64_t{1} << 2U) | (std::uint64_t{9} << 32U) | (std::uint64_t{1} << 48U));
  const auto events = decode_events(bytes, kSeq, 1);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, ErrorCode::NewerFormat) << events.error().message;
}

TEST(Hostile, ManyPointersToOneObjectRunOutOfBudget) {
  // LevelsSet whose 100 levels all are the same long text: what is decoded would be 100 times what was sent.
  Event event;
  event.seq = kSeq;
  event.body = LevelsSet{std::vector<std::string>(100, "x")};
  std::get<LevelsSet>(event.body).levels[99] = std::string(8'000, 'y');
  Bytes bytes;
  encode_events({&event, 1}, bytes);
  const std::size_t texts = kEventAt + 9 * 8;
  std::uint64_t last = 0;
  std::memcpy(&last, bytes.data() + texts + 99 * 8, sizeof last);
  const std::uint64_t target = ((last & 0xffffffffU) >> 2U) + 100;  // in words from the first pointer
  for (std::uint64_t i = 0; i < 100; ++i) {
    poke(bytes, texts + i * 8, (last & 0xffffffff00000000U) | ((target - 1 - i) << 2U) | 1U);
  }
  const auto events = decode_events(bytes, kSeq, 1);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, ErrorCode::Damaged);
  EXPECT_NE(events.error().message.find("traversal limit"), std::string::npos) << events.error().message;
}

}  // namespace
}  // namespace lockstep
