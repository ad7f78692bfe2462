#include "events/log/log_head.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>

namespace lockstep {
namespace {

// Written to disk; events/log/FORMAT.md has the picture. Ends in the XXH3-64 of what stands before it.
struct WireLogHead {
  std::array<char, 8> magic;
  std::uint32_t format;
  std::uint32_t reserved0;
  StoreId store;
  std::uint64_t seq;
  std::uint64_t epoch;
  std::uint64_t first;
  std::uint64_t records;
  Hash hash;
  std::uint64_t ring_id;
  std::uint64_t ring_position;
  std::uint64_t ring_flushed;
  std::uint64_t checksum;
};
static_assert(sizeof(WireLogHead) == kLogHeadBytes);

constexpr std::array<char, 8> kHeadMagic{'L', 'K', 'S', 'T', 'H', 'E', 'A', 'D'};
constexpr std::uint32_t kHeadFormat = 2;

std::uint64_t checksum_of(const WireLogHead& wire) { return XXH3_64bits(&wire, sizeof wire - sizeof wire.checksum); }

}  // namespace

std::array<std::byte, kLogHeadBytes> encode_log_head(const LogHead& head) {
  WireLogHead wire{};
  wire.magic = kHeadMagic;
  wire.format = kHeadFormat;
  wire.store = head.store;
  wire.seq = head.head.seq.value;
  wire.epoch = head.head.epoch.value;
  wire.first = head.first.value;
  wire.records = head.records;
  wire.hash = head.head.hash;
  wire.ring_id = head.ring.id;
  wire.ring_position = head.ring.position;
  wire.ring_flushed = head.ring_flushed;
  wire.checksum = checksum_of(wire);
  return std::bit_cast<std::array<std::byte, kLogHeadBytes>>(wire);
}

Result<LogHead> decode_log_head(std::span<const std::byte> bytes, std::string_view where) {
  WireLogHead wire{};
  if (bytes.size() != sizeof wire) {
    return fail(ErrorCode::Damaged, fmt::format("{}: the head has {} bytes", where, bytes.size()));
  }
  std::memcpy(&wire, bytes.data(), sizeof wire);
  if (wire.magic != kHeadMagic || wire.checksum != checksum_of(wire)) {
    return fail(ErrorCode::Damaged, fmt::format("{}: the head written there fails its checksum", where));
  }
  if (wire.format > kHeadFormat) {
    return fail(ErrorCode::NewerFormat, fmt::format("{}: head of format {}, this release knows up to {}: use a newer "
                                                    "lockstep",
                                                    where, wire.format, kHeadFormat));
  }
  return LogHead{wire.store,   Head{Seq{wire.seq}, wire.hash, Epoch{wire.epoch}}, Seq{wire.first},
                 wire.records, RingMark{wire.ring_id, wire.ring_position},        wire.ring_flushed};
}

}  // namespace lockstep
