#include "events/record.h"

#include <openssl/evp.h>

#define XXH_STATIC_LINKING_ONLY  // a hash state on the stack
#include <fmt/format.h>
#include <xxhash.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "events/codec.h"

namespace lockstep {
namespace {

// The header as it stands on disk, little-endian (events/FORMAT.md, "Record").
//
//       0        8      12      16       24         32      40      48     56           88           128
//       | magic  |format|count  | length | checksum | first | epoch | time | previous   | reserved 0 | payload ...
//
// magic to checksum (the first 32 bytes) mean the same in every format, so that a newer record can be told from damage.
struct WireHeader {
  std::array<char, 8> magic;
  std::uint32_t format;
  std::uint32_t count;
  std::uint64_t length;
  std::uint64_t checksum;
  std::uint64_t first;
  std::uint64_t epoch;
  std::int64_t time;
  Hash previous;
  std::array<std::uint64_t, 5> reserved;
};
static_assert(sizeof(WireHeader) == kRecordHeaderBytes);
static_assert(std::is_trivially_copyable_v<WireHeader> && offsetof(WireHeader, previous) == 56);

constexpr std::array<char, 8> kMagic{'L', 'K', 'S', 'T', 'P', 'R', 'E', 'C'};
constexpr std::size_t kChecksumAt = offsetof(WireHeader, checksum);

std::uint64_t checksum_of(std::span<const std::byte> record) {
  constexpr std::uint64_t kZero = 0;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, record.data(), kChecksumAt);
  XXH3_64bits_update(&state, &kZero, sizeof kZero);
  const auto rest = record.subspan(kChecksumAt + sizeof kZero);
  XXH3_64bits_update(&state, rest.data(), rest.size());
  return XXH3_64bits_digest(&state);
}

tl::unexpected<Error> damaged(std::string_view where, const std::string& what, Seq seq = {}) {
  return fail(ErrorCode::Damaged, fmt::format("{}: {}", where, what), seq);
}

// What can be said before the checksum: enough to know which bytes it covers.
Result<void> check_frame(const WireHeader& wire, std::size_t size, std::string_view where) {
  if (wire.magic != kMagic) return damaged(where, "not a record (wrong magic)");
  if (wire.length != size) {
    return damaged(where,
                   fmt::format("record at seq {} says {} bytes, but there are {}", wire.first, wire.length, size),
                   Seq{wire.first});
  }
  return {};
}

// What no release has ever written, whatever its checksum says.
Result<void> check_fields(const WireHeader& wire, std::string_view where) {
  const Seq seq{wire.first};
  if (wire.format == 0) return damaged(where, "record of format 0", seq);
  if (wire.length % 8 != 0 || wire.length > kRecordBytesMax) {
    return damaged(where, fmt::format("record at seq {} has an impossible length {}", wire.first, wire.length), seq);
  }
  if (wire.first == 0) return damaged(where, "record with seq 0");
  if (wire.count == 0 || wire.count > kRecordEventsMax ||
      wire.first > std::numeric_limits<std::uint64_t>::max() - wire.count) {
    return damaged(where, fmt::format("record at seq {} claims {} events", wire.first, wire.count), seq);
  }
  for (const std::uint64_t word : wire.reserved) {
    if (word != 0) return damaged(where, fmt::format("record at seq {} has reserved bytes set", wire.first), seq);
  }
  return {};
}

}  // namespace

std::string hex(const Hash& hash) {
  std::string text;
  text.reserve(2 * hash.size());
  for (const std::byte byte : hash) fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

void seal_record(std::span<std::byte> record, const Head& head, Epoch epoch, Time time, std::uint32_t count) {
  LOCKSTEP_CHECK(record.size() > kRecordHeaderBytes && record.size() % 8 == 0 && record.size() <= kRecordBytesMax,
                 fmt::format("a record of {} bytes after seq {}", record.size(), head.seq.value));
  LOCKSTEP_CHECK(count > 0 && count <= kRecordEventsMax,
                 fmt::format("a record of {} events after seq {}", count, head.seq.value));
  WireHeader wire{};
  wire.magic = kMagic;
  wire.format = kRecordFormat;
  wire.count = count;
  wire.length = record.size();
  wire.first = head.seq.value + 1;
  wire.epoch = epoch.value;
  wire.time = time.value;
  wire.previous = head.hash;
  std::memcpy(record.data(), &wire, sizeof wire);
  const std::uint64_t checksum = checksum_of(record);
  std::memcpy(record.data() + kChecksumAt, &checksum, sizeof checksum);
}

std::vector<std::byte> encode_record(const Head& head, Epoch epoch, std::span<const Event> events) {
  LOCKSTEP_CHECK(!events.empty() && events.size() <= kRecordEventsMax,
                 fmt::format("a record of {} events after seq {}", events.size(), head.seq.value));
  LOCKSTEP_CHECK(events.front().seq == next(head.seq) && events.back().seq.value == head.seq.value + events.size(),
                 fmt::format("events {}..{} do not follow head {}", events.front().seq.value, events.back().seq.value,
                             head.seq.value));
  std::vector<std::byte> record(kRecordHeaderBytes);
  encode_events(events, record);
  seal_record(record, head, epoch, events.back().time, static_cast<std::uint32_t>(events.size()));
  return record;
}

Result<RecordHeader> read_header(std::span<const std::byte> record, std::string_view where) {
  if (record.size() <= kRecordHeaderBytes) {
    return damaged(where, fmt::format("{} bytes are too few for a record", record.size()));
  }
  WireHeader wire{};
  std::memcpy(&wire, record.data(), sizeof wire);
  LOCKSTEP_TRY(check_frame(wire, record.size(), where));
  if (checksum_of(record) != wire.checksum) {
    return damaged(where, fmt::format("record at seq {} fails its checksum", wire.first), Seq{wire.first});
  }
  if (wire.format > kRecordFormat) {
    return fail(ErrorCode::NewerFormat,
                fmt::format("{}: record at seq {} has format {}, this release knows up to {}: use a newer lockstep",
                            where, wire.first, wire.format, kRecordFormat),
                Seq{wire.first});
  }
  LOCKSTEP_TRY(check_fields(wire, where));
  return RecordHeader{wire.format,     wire.count,        wire.length,     wire.checksum,
                      Seq{wire.first}, Epoch{wire.epoch}, Time{wire.time}, wire.previous};
}

Hash hash_record(std::span<const std::byte> record) {
  Hash hash{};
  unsigned size = 0;
  const int done = EVP_Digest(record.data(), record.size(), reinterpret_cast<unsigned char*>(hash.data()), &size,
                              EVP_sha256(), nullptr);
  LOCKSTEP_CHECK(done == 1 && size == hash.size(), "SHA-256 is not available in this OpenSSL");
  return hash;
}

Result<std::vector<Event>> decode_record(std::span<const std::byte> record, std::string_view where) {
  auto header = read_header(record, where);
  LOCKSTEP_TRY(header);
  auto events = decode_events(record.subspan(kRecordHeaderBytes), header->first, header->count);
  if (!events) {
    Error error = std::move(events).error();
    error.message = fmt::format("{}: {}", where, error.message);
    return tl::unexpected(std::move(error));
  }
  return events;
}

Head head_after(const RecordHeader& header, std::span<const std::byte> record) {
  return Head{header.last(), hash_record(record), header.epoch};
}

}  // namespace lockstep
