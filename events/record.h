#pragma once
// One record per commit batch: a 128-byte header and one Cap'n Proto message with the events. The same bytes go to
// LMDB, to an exported segment and to an etcd value, so one verifier serves all three (events/FORMAT.md has the layout).
// Records are chained: each names the SHA-256 of the one before, header included.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "events/error.h"
#include "events/events.h"
#include "events/ids.h"

namespace lockstep {

inline constexpr std::uint32_t kRecordFormat = 1;
inline constexpr std::size_t kRecordHeaderBytes = 128;
inline constexpr std::size_t kRecordBytesMax = 256U << 20U;
inline constexpr std::uint32_t kRecordEventsMax = 1U << 20U;

using Hash = std::array<std::byte, 32>;  // SHA-256; all zero = before the first record
[[nodiscard]] std::string hex(const Hash& hash);

struct RecordHeader {
  std::uint32_t format{};
  std::uint32_t count{};       // of events, at least 1
  std::uint64_t length{};      // of the whole record in bytes, a multiple of 8
  std::uint64_t checksum{};    // XXH3-64 of the record with this field zero
  Seq first{};                 // seq of its first event, at least 1
  Epoch epoch{};
  Time time{};                 // of its last event
  Hash previous{};
  [[nodiscard]] Seq last() const { return Seq{first.value + count - 1}; }
};

// The end of a log: seq of its last event, hash of its last record, epoch of that record.
struct Head {
  Seq seq{};
  Hash hash{};
  Epoch epoch{};
  friend bool operator==(const Head&, const Head&) = default;
};

// `events` have consecutive seqs, the first being head.seq + 1.
[[nodiscard]] std::vector<std::byte> encode_record(const Head& head, Epoch epoch, std::span<const Event> events);

// Fills the header of `record`: kRecordHeaderBytes of room, then a payload that makes its size a multiple of 8.
// (encode_record does this; tools that bring their own payload call it.)
void seal_record(std::span<std::byte> record, const Head& head, Epoch epoch, Time time, std::uint32_t count);

enum class Check { Fast, Full };  // Fast: header and checksum. Full: also the hash of `previous` when it is known.

// Checks magic, format, lengths, checksum, seq != 0. `where` (file and offset) goes into the message of an error.
[[nodiscard]] Result<RecordHeader> read_header(std::span<const std::byte> record, std::string_view where);
// The record's own hash: what the next one names.
[[nodiscard]] Hash hash_record(std::span<const std::byte> record);
// Header check, then the events.
[[nodiscard]] Result<std::vector<Event>> decode_record(std::span<const std::byte> record, std::string_view where);
// The Head after `record`.
[[nodiscard]] Head head_after(const RecordHeader& header, std::span<const std::byte> record);

}  // namespace lockstep
