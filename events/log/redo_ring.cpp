#include "events/log/redo_ring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "events/log/chain.h"

namespace lockstep {
namespace {

// Written to disk; events/log/FORMAT.md has the picture.
struct WireRingHead {
  std::array<char, 8> magic;
  std::uint32_t format;
  std::uint32_t reserved0;
  std::uint64_t slots;
  StoreId store;
  std::array<std::byte, kSlotBytes - 48> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(WireRingHead) == kSlotBytes);

constexpr std::array<char, 8> kRingMagic{'L', 'K', 'S', 'T', 'R', 'I', 'N', 'G'};
constexpr std::uint32_t kRingFormat = 1;
constexpr std::uint64_t kSlotsMin = 64;
constexpr std::uint64_t kSlotsMax = std::uint64_t{1} << 20U;
constexpr std::size_t kWriteStep = std::size_t{1} << 20U;
constexpr std::uint64_t kReadSlots = 256;  // at a time, where all are looked at

std::uint64_t checksum_of(const WireRingHead& head) { return XXH3_64bits(&head, sizeof head - sizeof head.checksum); }

Result<void> check(const WireRingHead& head, std::uint64_t size, const StoreId& store, const std::string& path) {
  if (head.magic != kRingMagic || head.checksum != checksum_of(head)) {
    return fail(ErrorCode::Damaged, fmt::format("{}: its first block fails its checksum", path));
  }
  if (head.format > kRingFormat) {
    return fail(ErrorCode::NewerFormat, fmt::format("{}: ring of format {}, this release knows up to {}: use a newer "
                                                    "lockstep",
                                                    path, head.format, kRingFormat));
  }
  if (head.store != store) {
    return fail(ErrorCode::Damaged, fmt::format("{}: this ring belongs to another store: files were mixed up", path));
  }
  const bool sane = head.slots >= kSlotsMin && head.slots <= kSlotsMax;
  if (sane && size == kFramesAt + head.slots * kSlotBytes) return {};
  return fail(ErrorCode::Damaged, fmt::format("{}: {} bytes long, not what its {} slots take: bring it back from a "
                                              "backup",
                                              path, size, head.slots));
}

}  // namespace

std::uint64_t ring_slots() {
  const char* given = std::getenv("LOCKSTEP_RING_SLOTS");
  if (given == nullptr) return kRingSlots;
  return std::clamp<std::uint64_t>(std::strtoull(given, nullptr, 10), kSlotsMin, kSlotsMax);
}

Result<void> RedoRing::create(const std::filesystem::path& path, const StoreId& store, std::uint64_t slots) {
  LOCKSTEP_CHECK(slots >= kSlotsMin && slots <= kSlotsMax, "a ring of that size");
  WireRingHead head{};
  head.magic = kRingMagic;
  head.format = kRingFormat;
  head.slots = slots;
  head.store = store;
  head.checksum = checksum_of(head);
  auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
  LOCKSTEP_TRY(file);
  LOCKSTEP_TRY(write_at(*file, std::as_bytes(std::span(&head, 1)), 0, path));
  const std::vector<std::byte> blank(kWriteStep);
  const std::uint64_t end = kFramesAt + slots * kSlotBytes;
  for (std::uint64_t at = sizeof head; at < end; at += kWriteStep) {
    const std::size_t size = std::min<std::uint64_t>(kWriteStep, end - at);
    LOCKSTEP_TRY(write_at(*file, std::span(blank).first(size), at, path));
  }
  return sync_data(*file, path);
}

Result<RedoRing> RedoRing::open(const std::filesystem::path& path, const StoreId& store,
                                std::optional<WriterLock> lock) {
  RedoRing ring;
  ring.path_ = path;
  ring.lock_ = std::move(lock);
  if (!ring.lock_) {
    auto file = open_file(path, O_RDONLY);
    LOCKSTEP_TRY(file);
    ring.file_ = std::move(*file);
  }
  WireRingHead head{};
  auto got = read_at(ring.file(), std::as_writable_bytes(std::span(&head, 1)), 0, path);
  LOCKSTEP_TRY(got);
  auto size = file_size(ring.file(), path);
  LOCKSTEP_TRY(size);
  LOCKSTEP_TRY(check(head, *size, store, path.string()));
  ring.slots_ = head.slots;
  return ring;
}

// ---- places ------------------------------------------------------------------------------------------------------

std::uint64_t RedoRing::offset_of(std::uint64_t position) const { return kFramesAt + position % slots_ * kSlotBytes; }

std::uint64_t RedoRing::place_for(std::uint64_t position, std::uint64_t slots) const {
  const std::uint64_t left = slots_ - position % slots_;
  return slots <= left ? position : position + left;
}

std::string RedoRing::where(std::uint64_t position) const {
  return fmt::format("{}: slot {} (offset {})", path_.string(), position % slots_, offset_of(position));
}

// ---- reading -----------------------------------------------------------------------------------------------------

Result<std::vector<std::byte>> RedoRing::read_slots(std::uint64_t position, std::uint64_t count) const {
  std::vector<std::byte> bytes(count * kSlotBytes);
  auto got = read_at(file(), bytes, offset_of(position), path_);
  LOCKSTEP_TRY(got);
  if (*got == bytes.size()) return bytes;
  return fail(ErrorCode::Damaged, fmt::format("{}: the file ends there", where(position)));
}

// A frame that begins at `position`, of a writer not before `id`.
Result<RedoRing::Found> RedoRing::look_at(std::uint64_t position, std::uint64_t id) const {
  auto first = read_slots(position, 1);
  LOCKSTEP_TRY(first);
  const auto sectors = std::span(*first);
  Found found;
  switch (look_at_sector(sectors.first(kSectorBytes), position)) {
    case Sector::Damaged:
      return fail(ErrorCode::Damaged, fmt::format("{}: a sector fails its checksum", where(position)));
    case Sector::OfOther: {
      for (std::size_t at = kSectorBytes; at < kSlotBytes; at += kSectorBytes)
        if (look_at_sector(sectors.subspan(at, kSectorBytes), position) == Sector::OfIt) found.look = Look::Torn;
      return found;
    }
    case Sector::OfIt:
      break;
  }
  const auto head = frame_head(sectors);
  if (!head || head->mark.position != position || head->mark.id < id) return found;
  found.head = *head;
  const std::uint64_t count = head->record_bytes <= kRecordBytesMax ? frame_slots(head->record_bytes) : slots_ + 1;
  if (place_for(position, count) != position) {
    return fail(ErrorCode::Damaged,
                fmt::format("{}: a frame of {} bytes cannot be there", where(position), head->record_bytes));
  }
  auto frame = read_slots(position, count);
  LOCKSTEP_TRY(frame);
  found.look = Look::Whole;
  for (std::size_t at = 0; at < frame->size(); at += kSectorBytes) {
    const Sector sector = look_at_sector(std::span(*frame).subspan(at, kSectorBytes), position);
    if (sector == Sector::Damaged) {
      return fail(ErrorCode::Damaged,
                  fmt::format("{}: a sector fails its checksum", where(position + at / kSlotBytes)));
    }
    if (sector == Sector::OfOther) found.look = Look::Torn;
  }
  if (found.look != Look::Whole) return found;
  found.record = lift_record(*frame, head->record_bytes);
  // All sectors are whole and the record is not: of two writes at this position, both torn, some of each is left.
  const auto header = read_header(found.record, where(position));
  if (!header && header.error().code == ErrorCode::Damaged) found.look = Look::Torn;
  return found;
}

// The frame that was written at `mark`: there, or at the beginning of the next lap if it did not fit before the end.
Result<RedoRing::Found> RedoRing::next_frame(const RingMark& mark) const {
  auto here = look_at(mark.position, mark.id);
  LOCKSTEP_TRY(here);
  const std::uint64_t left = slots_ - mark.position % slots_;
  if (here->look == Look::Whole || left >= slots_ / 4) return here;  // (no frame is longer than a quarter)
  auto there = look_at(mark.position + left, mark.id);
  LOCKSTEP_TRY(there);
  if (there->look == Look::Whole) return frame_slots(there->head.record_bytes) > left ? there : here;
  return here->look == Look::Torn ? here : there;
}

Result<RedoRing::Tail> RedoRing::tail(const RingMark& mark, const Head& head, Writer writer) const {
  Tail tail{{}, head, mark, {}};
  for (;;) {
    auto found = next_frame(tail.mark);
    if (!found && writer == Writer::Alive) return tail;
    LOCKSTEP_TRY(found);
    if (found->look != Look::Whole) {
      if (found->look == Look::Torn)
        tail.cut = fmt::format("{}: a frame that was cut while it was written", where(tail.mark.position));
      break;
    }
    auto header = check_append(tail.head, found->record);
    if (!header) {
      if (writer == Writer::Alive) return tail;
      return fail(ErrorCode::Damaged,
                  fmt::format("{}: the frame there does not follow seq {}: {}: files of different times were mixed up",
                              where(found->head.mark.position), tail.head.seq.value, header.error().message),
                  next(tail.head.seq));
    }
    tail.head = head_after(*header, found->record);
    tail.mark = {found->head.mark.id, found->head.mark.position + frame_slots(found->record.size())};
    tail.records.push_back(std::move(found->record));
  }
  if (writer == Writer::Gone) LOCKSTEP_TRY(check_nothing_beyond(tail));
  return tail;
}

Result<void> RedoRing::check_reaches(std::uint64_t flushed) const {
  if (flushed == 0) return {};
  auto slot = read_slots(flushed - 1, 1);
  LOCKSTEP_TRY(slot);
  // The frame that ends there begins at most a quarter of the ring before; whatever is older, a lap.
  const std::uint64_t oldest = flushed - std::min(flushed, slots_ / 4);
  for (std::size_t at = 0; at < kSlotBytes; at += kSectorBytes) {
    const auto stamp = stamp_of(std::span(*slot).subspan(at, kSectorBytes));
    if (stamp && static_cast<std::int32_t>(*stamp - static_cast<std::uint32_t>(oldest)) >= 0) return {};
  }
  return fail(ErrorCode::Damaged,
              fmt::format("{}: the frame that data.mdb took over last is not there: this ring is older than data.mdb: "
                          "bring the store back from a backup or a standby",
                          where(flushed - 1)));
}

// A frame is written only after the one before it is flushed. So a whole one beyond a gap says that what stood in the
// gap was acknowledged, or that LMDB is older than this ring.
Result<void> RedoRing::check_nothing_beyond(const Tail& tail) const {
  std::vector<std::byte> bytes(std::min(kReadSlots, slots_) * kSlotBytes);
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    const std::uint64_t at = slot % kReadSlots * kSlotBytes;
    if (at == 0) LOCKSTEP_TRY(read_at(file(), bytes, offset_of(slot), path_));
    const auto head = frame_head(std::span(bytes).subspan(at, kSectorBytes));
    if (!head || head->mark.position % slots_ != slot || head->mark.position < tail.mark.position) continue;
    auto found = look_at(head->mark.position, tail.mark.id);  // of a writer that was deposed: never acknowledged
    if (!found || found->look != Look::Whole) continue;
    return fail(ErrorCode::Damaged,
                fmt::format("{}: a whole frame is there, but what follows seq {} is not: acknowledged history is "
                            "missing: bring the store back from a backup or a standby",
                            where(slot), tail.head.seq.value),
                next(tail.head.seq));
  }
  return {};
}

// ---- writing -----------------------------------------------------------------------------------------------------

void RedoRing::begin(const RingMark& mark, std::uint64_t freed) {
  mark_ = mark;
  freed_ = freed;
}

bool RedoRing::has_room(std::size_t record_bytes) const {
  const std::uint64_t slots = frame_slots(record_bytes);
  return place_for(mark_.position, slots) + slots - freed_ <= slots_;
}

Result<void> RedoRing::append(std::span<const std::byte> record) {
  const std::uint64_t slots = frame_slots(record.size());
  const RingMark at{mark_.id, place_for(mark_.position, slots)};
  frame_.resize(std::max(frame_.size(), slots * kSlotBytes));
  const auto frame = std::span(frame_).first(slots * kSlotBytes);
  lay_frame(record, at, frame);
  auto done = write_at(file(), frame, offset_of(at.position), path_);
  if (done) done = sync_data(file(), path_);
  if (!done) {
    return fail(ErrorCode::OutcomeUnknown,
                fmt::format("append: {}: whether it is there, only the next start can tell", done.error().message));
  }
  mark_.position = at.position + slots;
  return {};
}

Result<void> RedoRing::check_in_place() const {
  struct stat named {};
  struct stat held {};
  const bool same = ::fstat(file().get(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                    held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  if (same) return {};
  return fail(ErrorCode::NotLeader,
              fmt::format("{} is not the file any more that this controller holds: it must stop", path_.string()));
}

}  // namespace lockstep
