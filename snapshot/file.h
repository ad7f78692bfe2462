#pragma once
// Files as Results: writing one through to the disk with a checksum of all that was written, reading parts of one.
// Every message names the file, the offset and what to do.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "events/error.h"
#include "events/file.h"
#include "snapshot/checksum.h"

namespace lockstep {

// io_error() as a Result's failure.
[[nodiscard]] inline tl::unexpected<Error> errno_failure(int error_number, const std::string& doing,
                                                         const std::filesystem::path& path) {
  return tl::unexpected<Error>(io_error(error_number, doing, path));
}

// A new file, written in order. Holds a lock on it while open, which tells a live writer from a dead one.
class FileWriter {
 public:
  [[nodiscard]] static Result<FileWriter> create(const std::filesystem::path& path);  // fails when it exists
  [[nodiscard]] Result<void> put(std::span<const std::byte> bytes);
  // Everything on the disk, size included.
  [[nodiscard]] Result<void> sync();
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t checksum_so_far() const { return checksum_.value(); }

 private:
  FileWriter(std::filesystem::path path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<void> flush();
  Result<void> pace();

  std::filesystem::path path_;
  Fd fd_;
  std::vector<std::byte> buffer_;
  Checksum checksum_;
  std::uint64_t size_ = 0;     // buffered bytes included
  std::uint64_t written_ = 0;  // given to the system
  std::uint64_t started_ = 0;  // writeback was started up to here
};

class FileReader {
 public:
  // NotFound when there is none, StorageFailed when it is not a regular file.
  [[nodiscard]] static Result<FileReader> open(const std::filesystem::path& path);
  // Exactly that many bytes. Damaged when the file ends before.
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Forgets what the page cache holds, so that the next read asks the disk.
  void drop_cache() const;

 private:
  FileReader(std::filesystem::path path, Fd fd, std::uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}
  std::filesystem::path path_;
  Fd fd_;
  std::uint64_t size_ = 0;
};

// True when a writer (FileWriter) somewhere still holds `path` open.
[[nodiscard]] bool is_being_written(const std::filesystem::path& path);

}  // namespace lockstep
