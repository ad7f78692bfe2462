#include "events/log/redo_frame.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace lockstep {
namespace {

// Written to disk; events/log/FORMAT.md has the picture.
struct WireFrameHead {
  std::array<char, 8> magic;
  std::uint64_t id;
  std::uint64_t position;
  std::uint64_t record_bytes;
};
static_assert(sizeof(WireFrameHead) == 32);

struct WireStamp {
  std::uint32_t position;  // low half of that of the frame
  std::uint32_t checksum;  // low half of the XXH3-64 of all before it
};
static_assert(sizeof(WireStamp) == 8);

constexpr std::array<char, 8> kFrameMagic{'L', 'K', 'S', 'T', 'R', 'E', 'D', 'O'};
constexpr std::size_t kSectorRoom = kSectorBytes - sizeof(WireStamp);
constexpr std::size_t kChecked = kSectorBytes - sizeof(std::uint32_t);

std::uint32_t checksum_of(const std::byte* sector) { return static_cast<std::uint32_t>(XXH3_64bits(sector, kChecked)); }

void stamp(std::byte* sector, std::uint64_t position) {
  WireStamp stamp{static_cast<std::uint32_t>(position), 0};
  std::memcpy(sector + kSectorRoom, &stamp.position, sizeof stamp.position);
  stamp.checksum = checksum_of(sector);
  std::memcpy(sector + kChecked, &stamp.checksum, sizeof stamp.checksum);
}

// The bytes that `count` of them after `skip` occupy, sector by sector.
template <class Each>
void each_piece(std::size_t skip, std::size_t count, Each each) {
  std::size_t done = 0;
  while (done < count) {
    const std::size_t at = skip + done;
    const std::size_t size = std::min(kSectorRoom - at % kSectorRoom, count - done);
    each(at / kSectorRoom * kSectorBytes + at % kSectorRoom, done, size);
    done += size;
  }
}

}  // namespace

std::uint64_t frame_slots(std::size_t record_bytes) {
  constexpr std::size_t kSlotRoom = kSlotSectors * kSectorRoom;
  return (sizeof(WireFrameHead) + record_bytes + kSlotRoom - 1) / kSlotRoom;
}

void lay_frame(std::span<const std::byte> record, const RingMark& mark, std::span<std::byte> into) {
  const WireFrameHead head{kFrameMagic, mark.id, mark.position, record.size()};
  std::memcpy(into.data(), &head, sizeof head);
  std::size_t end = sizeof head;
  each_piece(sizeof head, record.size(), [&](std::size_t at, std::size_t from, std::size_t size) {
    std::memcpy(into.data() + at, record.data() + from, size);
    end = at + size;
  });
  for (std::size_t sector = 0; sector < into.size(); sector += kSectorBytes) {
    const std::size_t used = std::clamp(end, sector, sector + kSectorRoom);
    std::fill(into.begin() + static_cast<std::ptrdiff_t>(used),
              into.begin() + static_cast<std::ptrdiff_t>(sector + kSectorRoom), std::byte{0});
    stamp(into.data() + sector, mark.position);
  }
}

std::optional<std::uint32_t> stamp_of(std::span<const std::byte> sector) {
  WireStamp stamp{};
  std::memcpy(&stamp, sector.data() + kSectorRoom, sizeof stamp);
  if (stamp.checksum != checksum_of(sector.data())) return std::nullopt;
  return stamp.position;
}

Sector look_at_sector(std::span<const std::byte> sector, std::uint64_t position) {
  if (const auto stamp = stamp_of(sector))
    return *stamp == static_cast<std::uint32_t>(position) ? Sector::OfIt : Sector::OfOther;
  const bool blank = std::all_of(sector.begin(), sector.end(), [](std::byte byte) { return byte == std::byte{0}; });
  return blank ? Sector::OfOther : Sector::Damaged;
}

std::optional<FrameHead> frame_head(std::span<const std::byte> sector) {
  WireFrameHead head{};
  std::memcpy(&head, sector.data(), sizeof head);
  if (head.magic != kFrameMagic) return std::nullopt;
  return FrameHead{{head.id, head.position}, head.record_bytes};
}

std::vector<std::byte> lift_record(std::span<const std::byte> frame, std::size_t record_bytes) {
  std::vector<std::byte> record(record_bytes);
  each_piece(sizeof(WireFrameHead), record_bytes, [&](std::size_t at, std::size_t from, std::size_t size) {
    std::memcpy(record.data() + from, frame.data() + at, size);
  });
  return record;
}

}  // namespace lockstep
