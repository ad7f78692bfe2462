#pragma once
// One frame of the redo ring: a record laid over sectors, each of which carries a stamp, so that a torn write can be
// told from a flipped bit (events/log/FORMAT.md, log/redo, has the bytes).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep {

inline constexpr std::size_t kSectorBytes = 512;  // what a disk writes whole or not at all
inline constexpr std::size_t kSlotBytes = 4096;   // frames share none, so acknowledged bytes are never written again
inline constexpr std::size_t kSlotSectors = kSlotBytes / kSectorBytes;

// A place in the ring. Positions count slots from the making of the ring on, lap after lap, and never go back.
struct RingMark {
  std::uint64_t id{};  // of the writer: each that opens the store takes the next one
  std::uint64_t position{};
  friend bool operator==(const RingMark&, const RingMark&) = default;
};

// Slots that a record of so many bytes takes.
[[nodiscard]] std::uint64_t frame_slots(std::size_t record_bytes);

// Fills `into`, frame_slots() slots.
void lay_frame(std::span<const std::byte> record, const RingMark& mark, std::span<std::byte> into);

// What a sector is to the frame that begins at a position.
enum class Sector : std::uint8_t {
  OfIt,     // written for it, and whole
  OfOther,  // never written, or written for another one, and whole
  Damaged,  // neither: no torn write leaves that behind
};
[[nodiscard]] Sector look_at_sector(std::span<const std::byte> sector, std::uint64_t position);

// The low half of the position that a whole sector was written for.
[[nodiscard]] std::optional<std::uint32_t> stamp_of(std::span<const std::byte> sector);

struct FrameHead {
  RingMark mark{};
  std::uint64_t record_bytes{};
};
// Of the first sector of a frame, which is whole. Nothing when it is none.
[[nodiscard]] std::optional<FrameHead> frame_head(std::span<const std::byte> sector);

// The record of a whole frame.
[[nodiscard]] std::vector<std::byte> lift_record(std::span<const std::byte> frame, std::size_t record_bytes);

}  // namespace lockstep
