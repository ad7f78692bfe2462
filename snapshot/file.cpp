#include "snapshot/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace lockstep {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;
// One fsync of tens of megabytes stalls other writers of the disk (TRAPS): write-back is kept this close behind.
constexpr std::uint64_t kPaceBytes = std::uint64_t{4} << 20U;

bool means_not_supported(int error_number) {
  return error_number == ENOSYS || error_number == EINVAL || error_number == ESPIPE || error_number == EOPNOTSUPP;
}

}  // namespace

// ---- writing ------------------------------------------------------------------------------------------------------

Result<FileWriter> FileWriter::create(const std::filesystem::path& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return errno_failure(errno, "create", path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return errno_failure(errno, "lock", path);
  FileWriter writer(path, std::move(fd));
  writer.buffer_.reserve(kBufferBytes);
  return writer;
}

Result<void> FileWriter::put(std::span<const std::byte> bytes) {
  checksum_.add(bytes);
  size_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
    bytes = bytes.subspan(part);
    if (buffer_.size() == kBufferBytes) LOCKSTEP_TRY(flush());
  }
  return {};
}

Result<void> FileWriter::flush() {
  std::span<const std::byte> left(buffer_);
  while (!left.empty()) {
    const ssize_t wrote = ::write(fd_.get(), left.data(), left.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno_failure(errno, "write at offset " + std::to_string(written_) + " of", path_);
    left = left.subspan(static_cast<std::size_t>(wrote));
    written_ += static_cast<std::uint64_t>(wrote);
  }
  buffer_.clear();
  return pace();
}

// Waits for the stretch before, starts this one: never more than two stretches are dirty.
Result<void> FileWriter::pace() {
  if (written_ - started_ < kPaceBytes) return {};
  const auto from = static_cast<off64_t>(started_);
  const auto length = static_cast<off64_t>(written_ - started_);
  if (started_ > 0 &&
      ::sync_file_range(fd_.get(), 0, from,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) != 0 &&
      !means_not_supported(errno)) {
    return errno_failure(errno, "write back", path_);
  }
  if (::sync_file_range(fd_.get(), from, length, SYNC_FILE_RANGE_WRITE) != 0 && !means_not_supported(errno)) {
    return errno_failure(errno, "write back", path_);
  }
  started_ = written_;
  return {};
}

Result<void> FileWriter::sync() {
  LOCKSTEP_TRY(flush());
  if (::fsync(fd_.get()) != 0) return errno_failure(errno, "sync", path_);
  return {};
}

// ---- reading ------------------------------------------------------------------------------------------------------

Result<FileReader> FileReader::open(const std::filesystem::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // never wait for the writer of a pipe
  if (!fd && errno == ENOENT) return fail(ErrorCode::NotFound, path.string() + ": no such file");
  if (!fd) return errno_failure(errno, "open", path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return errno_failure(errno, "look at", path);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::Damaged, path.string() + ": not a regular file; move it away");
  }
  return FileReader(path, std::move(fd), static_cast<std::uint64_t>(status.st_size));
}

Result<void> FileReader::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_failure(errno, "read at offset " + std::to_string(offset) + " of", path_);
    if (got == 0) {
      return fail(ErrorCode::Damaged, path_.string() + " ends at offset " + std::to_string(offset) + ", " +
                                          std::to_string(into.size()) + " bytes too early; use an older snapshot");
    }
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

void FileReader::drop_cache() const { ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED); }

// ---- directories --------------------------------------------------------------------------------------------------

bool is_being_written(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return false;
  return ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace lockstep
