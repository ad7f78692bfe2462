#include "events/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace lockstep {
namespace {

struct Filesystem {
  std::uint32_t type;
  std::string_view name;
};

// f_type of statfs(2). Two hosts may write behind each other's backs on these, a lock may be local, a flush may be a
// wish, or a shared map may not be coherent. (overlayfs is not among them: see LmdbEnv::open.)
constexpr std::array kRefused{
    Filesystem{0x6969, "NFS"},        Filesystem{0x517B, "SMB"},        Filesystem{0xFF534D42, "CIFS"},
    Filesystem{0xFE534D42, "SMB2"},   Filesystem{0x01021997, "9p"},     Filesystem{0x65735546, "FUSE"},
    Filesystem{0x5346414F, "AFS"},    Filesystem{0x6B414653, "AFS"},    Filesystem{0x73757245, "Coda"},
    Filesystem{0x564C, "NCP"},        Filesystem{0x00C36400, "Ceph"},   Filesystem{0x0BD00BD0, "Lustre"},
    Filesystem{0x47504653, "GPFS"},   Filesystem{0x7461636F, "OCFS2"},  Filesystem{0x01161970, "GFS2"},
    Filesystem{0x19830326, "BeeGFS"}, Filesystem{0x786F4256, "vboxsf"},
};

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

Error io_error(int code, std::string_view what, const std::filesystem::path& path) {
  const bool full = code == ENOSPC || code == EDQUOT;
  return Error{full ? ErrorCode::DiskFull : ErrorCode::StorageFailed,
               fmt::format("{} {}: {}{}", what, path.string(), std::generic_category().message(code),
                           full ? ": free some space and try again" : ""),
               {}};
}

Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode);  // never wait for the other end of a pipe
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return tl::unexpected(io_error(errno, "open", path));
  Fd file{fd};
  struct stat info {};
  if (::fstat(fd, &info) != 0) return tl::unexpected(io_error(errno, "stat", path));
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::Damaged, fmt::format("{} is neither a file nor a directory", path.string()));
  }
  return file;
}

Result<std::uint64_t> file_size(const Fd& file, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return tl::unexpected(io_error(errno, "stat", path));
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::size_t> read_at(const Fd& file, std::span<std::byte> into, std::uint64_t offset,
                            const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(file.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(io_error(errno, "read", path));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> write_at(const Fd& file, std::span<const std::byte> bytes, std::uint64_t offset,
                      const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put =
        ::pwrite(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return tl::unexpected(io_error(errno, "write", path));
    if (put == 0) return tl::unexpected(io_error(ENOSPC, "write", path));
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Result<void> sync_data(const Fd& file, const std::filesystem::path& path) {
  if (::fdatasync(file.get()) != 0) return tl::unexpected(io_error(errno, "sync", path));
  return {};
}

Result<void> sync_directory(const std::filesystem::path& directory) {
  auto opened = open_file(directory, O_RDONLY | O_DIRECTORY);
  LOCKSTEP_TRY(opened);
  if (::fsync(opened->get()) != 0) return tl::unexpected(io_error(errno, "sync", directory));
  return {};
}

Result<void> write_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
  LOCKSTEP_TRY(file);
  LOCKSTEP_TRY(write_at(*file, bytes, 0, path));
  return sync_data(*file, path);
}

Result<std::string> read_small_file(const std::filesystem::path& path, std::size_t bytes_max) {
  auto file = open_file(path, O_RDONLY);
  if (!file && !std::filesystem::exists(path)) {
    return fail(ErrorCode::NotFound, fmt::format("{} does not exist", path.string()));
  }
  LOCKSTEP_TRY(file);
  std::string text(bytes_max + 1, '\0');
  auto size = read_at(*file, std::as_writable_bytes(std::span(text)), 0, path);
  LOCKSTEP_TRY(size);
  if (*size > bytes_max) {
    return fail(ErrorCode::Damaged, fmt::format("{} is longer than {} bytes", path.string(), bytes_max));
  }
  text.resize(*size);
  return text;
}

Result<void> check_filesystem(const std::filesystem::path& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return tl::unexpected(io_error(errno, "statfs", path));
  const auto type = static_cast<std::uint32_t>(info.f_type);
  for (const auto& refused : kRefused) {
    if (type != refused.type) continue;
    return fail(ErrorCode::NetworkFilesystem,
                fmt::format("{} is on {}, where locks and flushes cannot be trusted: put the store on a local disk",
                            path.string(), refused.name));
  }
  return {};
}

bool has_no_room(const std::filesystem::path& path, std::uint64_t bytes) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return false;
  return info.f_bavail * info.f_frsize < bytes;
}

}  // namespace lockstep
