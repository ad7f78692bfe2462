#pragma once
// Files for the store: descriptors that close themselves, whole reads and writes, flushes, and what a filesystem can be
// trusted with. Every failure is an Error that names the file; a short read or write is a failure.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "events/error.h"

namespace lockstep {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// "what path: text of `code`", as DiskFull (ENOSPC, EDQUOT) or StorageFailed.
[[nodiscard]] Error io_error(int code, std::string_view what, const std::filesystem::path& path);

// open(2) with O_CLOEXEC.
[[nodiscard]] Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0666);
[[nodiscard]] Result<std::uint64_t> file_size(const Fd& file, const std::filesystem::path& path);
// At most `into.size()` bytes from `offset`; fewer only at the end of the file. Returns how many.
[[nodiscard]] Result<std::size_t> read_at(const Fd& file, std::span<std::byte> into, std::uint64_t offset,
                                          const std::filesystem::path& path);
[[nodiscard]] Result<void> write_at(const Fd& file, std::span<const std::byte> bytes, std::uint64_t offset,
                                    const std::filesystem::path& path);
[[nodiscard]] Result<void> sync_data(const Fd& file, const std::filesystem::path& path);
[[nodiscard]] Result<void> sync_directory(const std::filesystem::path& directory);

// A new file with these bytes, synced. An existing one is an error.
[[nodiscard]] Result<void> write_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
// The text of a small file. NotFound when there is none; Damaged when it is longer than `bytes_max`.
[[nodiscard]] Result<std::string> read_small_file(const std::filesystem::path& path, std::size_t bytes_max);

// Refuses filesystems whose locks, flushes or shared maps cannot be trusted (NetworkFilesystem).
[[nodiscard]] Result<void> check_filesystem(const std::filesystem::path& path);
// Whether the filesystem of `path` has less than `bytes` left. False when it cannot be asked.
[[nodiscard]] bool has_no_room(const std::filesystem::path& path, std::uint64_t bytes);

}  // namespace lockstep
