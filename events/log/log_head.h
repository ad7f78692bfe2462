#pragma once
// Where the records in LMDB end, and where in the ring goes on what it does not have yet: one value in LMDB, changed in
// the transaction that appends or trims (events/log/FORMAT.md). It must agree with the records.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "events/log/redo_frame.h"
#include "events/record.h"

namespace lockstep {

using StoreId = std::array<std::byte, 16>;

struct LogHead {
  StoreId store{};
  Head head{};
  Seq first{1};             // the first seq that is kept
  std::uint64_t records{};  // how many are kept
  RingMark ring{};          // behind the frame of the last of them
  // Behind the last frame that was seen to be flushed: not one that was found at a start, perhaps in the page cache
  // alone. A position in the ring.
  std::uint64_t ring_flushed{};
  friend bool operator==(const LogHead&, const LogHead&) = default;
};

inline constexpr std::size_t kLogHeadBytes = 128;
[[nodiscard]] std::array<std::byte, kLogHeadBytes> encode_log_head(const LogHead& head);
[[nodiscard]] Result<LogHead> decode_log_head(std::span<const std::byte> bytes, std::string_view where);

}  // namespace lockstep
