#include "events/log/writer_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace lockstep {
namespace {

constexpr std::size_t kTextBytes = 128;
constexpr int kNameRetries = 1000;  // looks at the text of a holder that is just writing it

std::uint64_t namespace_inode(const char* path) {
  struct stat info {};
  return ::stat(path, &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

// Field 22 of /proc/PID/stat, counted after the name, which may hold anything. 0 = no such process.
std::uint64_t start_time_of(int pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string line{std::istreambuf_iterator<char>(in), {}};
  auto at = line.rfind(')');
  if (at == std::string::npos) return 0;
  for (int field = 2; field < 22; ++field) {
    at = line.find(' ', at + 1);
    if (at == std::string::npos) return 0;
  }
  return std::strtoull(line.c_str() + at, nullptr, 10);
}

std::string to_text(const LockOwner& owner) {
  std::string text = fmt::format("pid {}\nstart {}\npidns {}\n", owner.pid, owner.start_time, owner.pid_namespace);
  text.resize(kTextBytes - 1, ' ');
  return text + '\n';
}

std::optional<LockOwner> read_text(const Fd& file, const std::filesystem::path& path) {
  std::array<char, kTextBytes + 1> text{};
  const auto size = read_at(file, std::as_writable_bytes(std::span(text)).first(kTextBytes), kWriterTextAt, path);
  LockOwner owner{};
  if (!size || std::sscanf(text.data(), "pid %d start %" SCNu64 " pidns %" SCNu64, &owner.pid, &owner.start_time,
                           &owner.pid_namespace) != 3) {
    return std::nullopt;
  }
  return owner;
}

struct flock whole_file(int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  return lock;
}

// Whether the text may be of the process that holds the lock: it lives. In another pid namespace that cannot be known.
bool plausible(const LockOwner& owner) {
  if (owner.pid <= 0) return false;
  if (owner.pid_namespace != this_process().pid_namespace) return true;
  return start_time_of(owner.pid) == owner.start_time;
}

Result<std::optional<LockOwner>> owner_of(const Fd& file, const std::filesystem::path& path) {
  for (int i = 0; i < kNameRetries; ++i) {
    auto lock = whole_file(F_WRLCK);
    if (::fcntl(file.get(), F_OFD_GETLK, &lock) != 0) return tl::unexpected(io_error(errno, "look at the lock", path));
    if (lock.l_type == F_UNLCK) return std::optional<LockOwner>{};
    if (const auto owner = read_text(file, path); owner && plausible(*owner)) return owner;
    ::sched_yield();
  }
  return fail(ErrorCode::Locked, fmt::format("{} is locked, and its text names no living process", path.string()));
}

}  // namespace

LockOwner this_process() {
  return LockOwner{::getpid(), start_time_of(::getpid()), namespace_inode("/proc/self/ns/pid")};
}

Result<WriterLock> WriterLock::acquire(const std::filesystem::path& path) {
  auto file = open_file(path, O_RDWR);
  LOCKSTEP_TRY(file);
  auto lock = whole_file(F_WRLCK);
  while (::fcntl(file->get(), F_OFD_SETLK, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES) return tl::unexpected(io_error(errno, "lock", path));
    auto owner = owner_of(*file, path);
    LOCKSTEP_TRY(owner);
    if (!*owner) continue;  // it has just let go
    return fail(ErrorCode::Locked, fmt::format("{} is held by pid {}: one controller at a time may write to a store",
                                               path.string(), (*owner)->pid));
  }
  LOCKSTEP_TRY(write_at(*file, bytes_of(to_text(this_process())), kWriterTextAt, path));
  return WriterLock(std::move(*file));
}

Result<std::optional<LockOwner>> WriterLock::owner(const std::filesystem::path& path) {
  auto file = open_file(path, O_RDONLY);
  LOCKSTEP_TRY(file);
  return owner_of(*file, path);
}

WriterLock::~WriterLock() {
  if (!file_) return;
  // Courtesy to readers of the text; the lock itself goes with the descriptor.
  (void)write_at(file_, bytes_of(to_text(LockOwner{})), kWriterTextAt, "");
}

}  // namespace lockstep
