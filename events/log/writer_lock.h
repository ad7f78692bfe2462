#pragma once
// The right to append: an OFD write lock on log/redo, on the descriptor through which its holder writes, freed by the
// kernel when that holder is gone. A text in the file's second block names the holder (pid, start time, pid namespace),
// because the kernel does not; it counts only while the lock is held.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "events/file.h"

namespace lockstep {

struct LockOwner {
  int pid{};
  std::uint64_t start_time{};     // clock ticks since boot: tells a pid from its later namesakes
  std::uint64_t pid_namespace{};  // inode of /proc/self/ns/pid
  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

inline constexpr std::uint64_t kWriterTextAt = 4096;  // in the file, which is longer

class WriterLock {
 public:
  // Errors: Locked (names the holder's pid), NotFound, StorageFailed. The descriptor is close-on-exec, but a forked
  // child that does not exec keeps the lock alive.
  [[nodiscard]] static Result<WriterLock> acquire(const std::filesystem::path& path);
  // Who holds the lock now. nullopt = nobody.
  [[nodiscard]] static Result<std::optional<LockOwner>> owner(const std::filesystem::path& path);

  WriterLock(WriterLock&&) noexcept = default;
  WriterLock& operator=(WriterLock&&) noexcept = default;
  ~WriterLock();
  [[nodiscard]] const Fd& file() const { return file_; }

 private:
  explicit WriterLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

// This process, as it would stand in the file.
[[nodiscard]] LockOwner this_process();

}  // namespace lockstep
