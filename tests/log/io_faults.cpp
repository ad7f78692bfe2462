#include "tests/log/io_faults.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <mutex>
#include <random>
#include <vector>

#include "tests/log/support.h"

namespace lockstep::testing {
namespace {

constexpr std::size_t kSector = 512;

// A write that no flush has covered: what stood there before.
struct Unflushed {
  dev_t device;
  ino_t inode;
  int fd;  // a private descriptor of the file
  off_t offset;
  off_t size_before;
  std::vector<char> before;
};

struct Disk {
  FaultPlan plan;
  std::uint64_t calls = 0;
  std::vector<Unflushed> unflushed;
};

// Armed, one call at a time, whatever thread it comes from. (Disarmed nobody waits, so a child of fork() may arm.)
std::atomic<bool> armed{false};
std::recursive_mutex one_at_a_time;

class Turn {
 public:
  Turn() {
    if (armed) lock_ = std::unique_lock(one_at_a_time);
  }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

Disk& disk() {
  static Disk instance;
  return instance;
}

void take_back(Unflushed& write, std::mt19937_64& random) {
  const bool torn = random() % 2 == 0;
  const bool all = random() % 2 == 0;
  for (std::size_t at = 0; at < write.before.size(); at += kSector) {
    if (torn ? random() % 2 == 0 : all) continue;
    const std::size_t size = std::min(kSector, write.before.size() - at);
    ::syscall(SYS_pwrite64, write.fd, write.before.data() + at, size, write.offset + static_cast<off_t>(at));
  }
  // A file that did not have the bytes before may have kept its old length.
  if (!torn && !all) (void)::syscall(SYS_ftruncate, write.fd, write.size_before);
}

[[noreturn]] void crash() {
  if (disk().plan.fault == Fault::PowerCut) {
    std::mt19937_64 random(disk().plan.seed);
    for (auto it = disk().unflushed.rbegin(); it != disk().unflushed.rend(); ++it) take_back(*it, random);
  }
  ::_exit(kCrashStatus);
}

// True: the call is to fail with errno.
bool counted(bool flush) {
  auto& state = disk();
  if (!armed || (state.plan.flushes_only && !flush)) return false;
  if (++state.calls != state.plan.at) return false;
  if (state.plan.fault != Fault::Error) crash();
  errno = state.plan.error;
  return true;
}

bool keeps_writes() { return armed && disk().plan.fault == Fault::PowerCut; }

void note_write(int fd, off_t offset, std::size_t size) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  Unflushed write{info.st_dev, info.st_ino, static_cast<int>(::syscall(SYS_dup, fd)), offset, info.st_size, {}};
  write.before.resize(size);
  // (LMDB's descriptors are open for reading, too; where one is not, zeros stand for what was there)
  (void)::syscall(SYS_pread64, fd, write.before.data(), size, offset);
  disk().unflushed.push_back(std::move(write));
}

void note_flush(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return;
  std::erase_if(disk().unflushed, [&](const Unflushed& write) {
    const bool same = write.device == info.st_dev && write.inode == info.st_ino;
    if (same) ::syscall(SYS_close, write.fd);
    return same;
  });
}

bool is_dsync(int fd) { return (::fcntl(fd, F_GETFL) & O_DSYNC) != 0; }

ssize_t do_pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
  const Turn turn;
  if (armed && counted(is_dsync(fd))) return -1;
  if (keeps_writes() && !is_dsync(fd)) note_write(fd, offset, size);
  return ::syscall(SYS_pwrite64, fd, bytes, size, offset);
}

int do_sync(int fd, long call) {
  const Turn turn;
  if (counted(true)) return -1;
  if (keeps_writes()) note_flush(fd);
  return static_cast<int>(::syscall(call, fd));
}

int do_open(const char* path, int flags, mode_t mode) {
  const Turn turn;
  if ((flags & O_CREAT) != 0 && counted(false)) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

void arm(const FaultPlan& plan) {
  const std::lock_guard guard(one_at_a_time);
  disk() = Disk{plan, 0, {}};
  armed = true;
}
void disarm() {
  const std::lock_guard guard(one_at_a_time);
  armed = false;
}
std::uint64_t armed_calls() {
  const std::lock_guard guard(one_at_a_time);
  return disk().calls;
}

}  // namespace lockstep::testing

// ---- in place of the C library's ------------------------------------------------------------------------------------

namespace faults = lockstep::testing;

extern "C" {

ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
  return faults::do_pwrite(fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off_t offset) {
  return faults::do_pwrite(fd, bytes, size, offset);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  const faults::Turn turn;
  if (faults::counted(false)) return -1;
  if (faults::keeps_writes()) {
    off_t offset = ::lseek(fd, 0, SEEK_CUR);
    for (int i = 0; i < count && offset >= 0; ++i) {
      faults::note_write(fd, offset, parts[i].iov_len);
      offset += static_cast<off_t>(parts[i].iov_len);
    }
  }
  return ::syscall(SYS_writev, fd, parts, count);
}
int fsync(int fd) { return faults::do_sync(fd, SYS_fsync); }
int fdatasync(int fd) { return faults::do_sync(fd, SYS_fdatasync); }
int rename(const char* from, const char* to) noexcept {
  const faults::Turn turn;
  if (faults::counted(false)) return -1;
  return static_cast<int>(::syscall(SYS_rename, from, to));
}
int mkdir(const char* path, mode_t mode) noexcept {
  const faults::Turn turn;
  if (faults::counted(false)) return -1;
  return static_cast<int>(::syscall(SYS_mkdir, path, mode));
}
int ftruncate(int fd, off_t size) noexcept {
  const faults::Turn turn;
  if (faults::counted(false)) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}
int fallocate(int fd, int mode, off_t offset, off_t size) {
  const faults::Turn turn;
  if (faults::counted(false)) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, size));
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return faults::do_open(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return faults::do_open(path, flags, mode);
}

}  // extern "C"
