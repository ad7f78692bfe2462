#pragma once
// The redo ring, log/redo: a file of fixed size in front of LMDB, in which a record is durable after one write and one
// flush (events/log/FORMAT.md has the bytes and the argument). It knows frames, where they go and what is left of them;
// what LMDB has taken over, and so which slots are free again, is told to it (redo_log.h).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/log/log_head.h"
#include "events/log/redo_frame.h"
#include "events/log/writer_lock.h"

namespace lockstep {

inline constexpr std::uint64_t kRingSlots = 16'384;                     // 64 MiB
inline constexpr std::uint64_t kFramesAt = kWriterTextAt + kSlotBytes;  // in the file
// kRingSlots, or what LOCKSTEP_RING_SLOTS says, within bounds.
[[nodiscard]] std::uint64_t ring_slots();

class RedoRing {
 public:
  // A new file, written through and synced, so that no later frame changes anything but its own bytes. Between 64 and
  // 2^20 slots.
  [[nodiscard]] static Result<void> create(const std::filesystem::path& path, const StoreId& store,
                                           std::uint64_t slots);
  // For reading, or with the lock, which is on this file, for writing through the descriptor that holds it. Errors:
  // NotAStore, Damaged (also: of another store), NewerFormat, StorageFailed.
  [[nodiscard]] static Result<RedoRing> open(const std::filesystem::path& path, const StoreId& store,
                                             std::optional<WriterLock> lock);

  // What stands behind `head` from `mark` on: whole frames that follow each other without a gap.
  struct Tail {
    std::vector<std::vector<std::byte>> records;
    Head head{};
    RingMark mark{};  // behind the last of them
    std::string cut;  // "" or what was left out: a frame that was never whole, so never acknowledged
  };
  enum class Writer : std::uint8_t { Gone, Alive };  // Alive: what is not whole is on its way
  // Damaged: a sector that no torn write leaves, or a whole frame that cannot be there unless some before it are lost.
  [[nodiscard]] Result<Tail> tail(const RingMark& mark, const Head& head, Writer writer) const;
  // Damaged when the ring is an older one: it has neither the frame that ends at `flushed` nor one that came after it.
  [[nodiscard]] Result<void> check_reaches(std::uint64_t flushed) const;

  // ---- for the writer, from one thread
  // Where the next frame goes; slots from `freed` on are not to be written over.
  void begin(const RingMark& mark, std::uint64_t freed);
  // False: such a record would need too much of the ring; it goes to LMDB itself.
  [[nodiscard]] bool takes(std::size_t record_bytes) const { return frame_slots(record_bytes) <= slots_ / 4; }
  [[nodiscard]] bool has_room(std::size_t record_bytes) const;
  [[nodiscard]] bool is_nearly_full() const { return mark_.position - freed_ > slots_ / 4 * 3; }
  void free_below(std::uint64_t position) { freed_ = position; }
  [[nodiscard]] const RingMark& mark() const { return mark_; }
  // Durable when it returns. There must be room. Any error is OutcomeUnknown: part of it may be there.
  [[nodiscard]] Result<void> append(std::span<const std::byte> record);
  // NotLeader when another file has its name by now.
  [[nodiscard]] Result<void> check_in_place() const;

 private:
  enum class Look : std::uint8_t { Whole, Absent, Torn };
  struct Found {
    Look look{Look::Absent};
    FrameHead head{};
    std::vector<std::byte> record;
  };

  RedoRing() = default;
  [[nodiscard]] const Fd& file() const { return lock_ ? lock_->file() : file_; }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t position) const;
  // Where a frame of so many slots goes that is written at `position`: there, or at the beginning of the next lap.
  [[nodiscard]] std::uint64_t place_for(std::uint64_t position, std::uint64_t slots) const;
  [[nodiscard]] std::string where(std::uint64_t position) const;
  [[nodiscard]] Result<std::vector<std::byte>> read_slots(std::uint64_t position, std::uint64_t count) const;
  [[nodiscard]] Result<Found> look_at(std::uint64_t position, std::uint64_t id) const;
  [[nodiscard]] Result<Found> next_frame(const RingMark& mark) const;
  [[nodiscard]] Result<void> check_nothing_beyond(const Tail& tail) const;

  std::filesystem::path path_{};
  std::optional<WriterLock> lock_;
  Fd file_{};  // of a reader
  std::uint64_t slots_{};
  RingMark mark_{};
  std::uint64_t freed_{};
  std::vector<std::byte> frame_{};  // that is written
};

}  // namespace lockstep
