#include "events/log/lmdb_env.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "events/log/lmdb_check.h"

namespace lockstep {
namespace {

constexpr unsigned kReadersMax = 1024;
constexpr unsigned kTablesMax = 4;
constexpr std::uint64_t kLockFileBytes = 68U << 10U;  // LMDB's header and kReadersMax slots of 64 bytes, rounded up
constexpr std::uint64_t kRoomBytes = 256U << 10U;     // less than this left besides what was asked for = full

std::size_t map_bytes() {
  const char* text = std::getenv("LOCKSTEP_MAP_BYTES");
  if (text == nullptr) return kLogMapBytes;
  const std::string_view view{text};
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), bytes);
  return error == std::errc{} && end == view.data() + view.size() && bytes > 0 ? bytes : kLogMapBytes;
}

// An assertion inside LMDB means pages that the walk at open did not see (too big a file, or damage since).
void assertion_failed(MDB_env* env, const char* message) {
  const char* path = "?";
  (void)mdb_env_get_path(env, &path);
  std::fprintf(stderr,
               "lockstep: damaged: %s: LMDB found a page that contradicts itself (%s): run `lockstep log verify`\n",
               path, message);
  std::abort();
}

struct Reader {
  int pid;
  std::uint64_t txn;
};

// mdb_reader_list prints a heading, then "pid thread txn" per slot; txn is "-" while it reads nothing.
std::vector<Reader> list_readers(MDB_env* env) {
  std::vector<Reader> readers;
  const auto line = [](const char* text, void* context) {
    Reader reader{};
    if (std::sscanf(text, "%d %*x %" SCNu64, &reader.pid, &reader.txn) == 2) {
      static_cast<std::vector<Reader>*>(context)->push_back(reader);
    }
    return 0;
  };
  mdb_reader_list(env, line, &readers);
  return readers;
}

std::string join_pids(const std::set<int>& pids) {
  std::string text;
  for (const int pid : pids) text += fmt::format("{}pid {}", text.empty() ? "" : ", ", pid);
  return text;
}

// LMDB sets the file's size through a hole and maps it: on a full disk the first touch of a slot would be SIGBUS.
// Overlay filesystems: opened for writing once, both files are copied up before anything keeps a descriptor of the
// lower ones.
Result<void> prepare_lock_file(const std::filesystem::path& path) {
  auto file = open_file(path, O_RDWR | O_CREAT, 0664);
  LOCKSTEP_TRY(file);
  if (::fallocate(file->get(), 0, 0, static_cast<off_t>(kLockFileBytes)) == 0 || errno == EOPNOTSUPP) return {};
  return tl::unexpected(io_error(errno, "reserve", path));
}

}  // namespace

Error lmdb_error(int code, std::string_view what, const std::filesystem::path& path) {
  switch (code) {
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
      return {
          ErrorCode::MapFull,
          fmt::format(
              "{} {}: the log's map has no room: stop the controller, and start it with a larger LOCKSTEP_MAP_BYTES",
              what, path.string()),
          {}};
    case MDB_VERSION_MISMATCH:
      return {ErrorCode::NewerFormat,
              fmt::format("{} {}: of another LMDB version: use a newer lockstep", what, path.string()),
              {}};
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
    case MDB_NOTFOUND:
    case MDB_BAD_VALSIZE:
    case MDB_BAD_DBI:
    case MDB_CURSOR_FULL:
      return {ErrorCode::Damaged, fmt::format("{} {}: {}", what, path.string(), mdb_strerror(code)), {}};
    case ENOMEM:
      return {ErrorCode::StorageFailed,
              fmt::format("{} {}: no address space for a map of {} bytes: raise `ulimit -v` or set "
                          "LOCKSTEP_MAP_BYTES",
                          what, path.string(), map_bytes()),
              {}};
    default:
      if (code > 0) return io_error(code, what, path);
      return {ErrorCode::StorageFailed, fmt::format("{} {}: {}", what, path.string(), mdb_strerror(code)), {}};
  }
}

// ---- one environment per file and process
// -----------------------------------------------------------------------------

// POSIX locks belong to the process: closing a second environment of the same file would drop the locks of the first.
class LmdbEnv::Registration {
 public:
  static Result<std::unique_ptr<Registration>> enter(const Fd& file, const std::filesystem::path& path) {
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return tl::unexpected(io_error(errno, "stat", path));
    const Key key{static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
    const std::lock_guard lock(mutex());
    if (!open_files().insert(key).second) {
      return fail(ErrorCode::Locked,
                  fmt::format("{} is already open in this process (pid {}): use that log", path.string(), ::getpid()));
    }
    return std::unique_ptr<Registration>(new Registration(key));
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    const std::lock_guard lock(mutex());
    open_files().erase(key_);
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  explicit Registration(Key key) : key_(key) {}
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::set<Key>& open_files() {
    static std::set<Key> instance;
    return instance;
  }
  Key key_;
};

// ---- opening
// ------------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<LmdbEnv>> LmdbEnv::create(const std::filesystem::path& directory) {
  std::unique_ptr<LmdbEnv> env(new LmdbEnv);
  env->path_ = directory / "data.mdb";
  auto file = open_file(env->path_, O_RDWR | O_CREAT | O_EXCL, 0664);
  LOCKSTEP_TRY(file);
  env->file_ = std::move(*file);
  auto entered = Registration::enter(env->file_, env->path_);
  LOCKSTEP_TRY(entered);
  env->registration_ = std::move(*entered);
  LOCKSTEP_TRY(prepare_lock_file(directory / "lock.mdb"));
  LOCKSTEP_TRY(env->start(directory, OpenMode::Write, 0));
  return env;
}

Result<std::unique_ptr<LmdbEnv>> LmdbEnv::open(const std::filesystem::path& directory, OpenMode mode,
                                               bool writer_alive) {
  std::unique_ptr<LmdbEnv> env(new LmdbEnv);
  env->path_ = directory / "data.mdb";
  // For writing where that is allowed, although only read: on an overlay filesystem it makes the file a copy of our own
  // before anything keeps a descriptor of the lower layer's.
  auto file = open_file(env->path_, ::access(env->path_.c_str(), W_OK) == 0 ? O_RDWR : O_RDONLY);
  LOCKSTEP_TRY(file);
  env->file_ = std::move(*file);
  // Before the lock file is touched: closing a second descriptor of it would drop the locks of a first environment.
  auto entered = Registration::enter(env->file_, env->path_);
  LOCKSTEP_TRY(entered);
  env->registration_ = std::move(*entered);
  LOCKSTEP_TRY(check_lmdb_metas(env->file_, env->path_));
  auto lock_file = prepare_lock_file(directory / "lock.mdb");
  env->registered_ = lock_file.has_value();
  if (!lock_file && (mode == OpenMode::Write || writer_alive)) return tl::unexpected(std::move(lock_file).error());
  LOCKSTEP_TRY(env->start(directory, mode, env->registered_ ? 0 : MDB_NOLOCK));
  return env;
}

Result<void> LmdbEnv::start(const std::filesystem::path& directory, OpenMode mode, unsigned flags) {
  pid_ = ::getpid();
  if (const int code = mdb_env_create(&env_); code != 0) return tl::unexpected(lmdb_error(code, "open", path_));
  mdb_env_set_assert(env_, assertion_failed);
  mdb_env_set_mapsize(env_, map_bytes());
  mdb_env_set_maxreaders(env_, kReadersMax);
  mdb_env_set_maxdbs(env_, kTablesMax);
  // Nothing else, ever: WRITEMAP turns a full disk into SIGBUS, NOSYNC and MAPASYNC lose or corrupt (tests/log, P32).
  flags |= MDB_NOTLS;
  if (mode == OpenMode::ReadOnly) flags |= MDB_RDONLY;
  const int code = mdb_env_open(env_, directory.c_str(), flags, 0664);
  if (code != 0) return tl::unexpected(lmdb_error(code, "open", path_));
  if (registered_) sweep_readers();
  return {};
}

LmdbEnv::~LmdbEnv() {
  // A forked child must not: it would clear its parent's reader slots.
  if (env_ != nullptr && pid_ == ::getpid()) mdb_env_close(env_);
}

// ---- transactions
// ---------------------------------------------------------------------------------------------------------

int LmdbEnv::begin(unsigned flags, MDB_txn** txn) const {
  LOCKSTEP_CHECK(pid_ == ::getpid(), "an LMDB environment was used after fork()");
  const std::lock_guard lock(resize_mutex_);
  if (lost_map_) return MDB_PANIC;
  int code = mdb_txn_begin(env_, nullptr, flags, txn);
  if (code == MDB_MAP_RESIZED && active_ == 0) {  // a writer with a bigger map; take its size
    code = mdb_env_set_mapsize(env_, 0);
    lost_map_ = code != 0;
    if (code == 0) code = mdb_txn_begin(env_, nullptr, flags, txn);
  }
  if (code == 0) ++active_;
  return code;
}

Result<LmdbTxn> LmdbEnv::begin_read() const {
  MDB_txn* txn = nullptr;
  int code = begin(MDB_RDONLY, &txn);
  if (code == MDB_READERS_FULL && sweep_readers() > 0) code = begin(MDB_RDONLY, &txn);
  if (code == MDB_READERS_FULL) {
    std::set<int> pids;
    for (const Reader& reader : list_readers(env_)) pids.insert(reader.pid);
    return fail(ErrorCode::StorageFailed,
                fmt::format("read {}: all {} reader slots are taken (by {}): end some of them", path_.string(),
                            kReadersMax, join_pids(pids)));
  }
  if (code != 0) return tl::unexpected(lmdb_error(code, "read", path_));
  return LmdbTxn(this, txn, false);
}

Result<LmdbTxn> LmdbEnv::begin_write() const {
  MDB_txn* txn = nullptr;
  const int code = begin(0, &txn);
  if (code == MDB_PANIC)
    return fail(ErrorCode::OutcomeUnknown, "an earlier commit failed half way: open the store again");
  if (code != 0) return tl::unexpected(lmdb_error(code, "write", path_));
  return LmdbTxn(this, txn, true);
}

LmdbTxn::~LmdbTxn() {
  if (txn_ == nullptr || env_->pid_ != ::getpid()) return;
  mdb_txn_abort(txn_);
  const std::lock_guard lock(env_->resize_mutex_);
  --env_->active_;
}

int LmdbTxn::commit() {
  const int code = mdb_txn_commit(std::exchange(txn_, nullptr));
  const std::lock_guard lock(env_->resize_mutex_);
  --env_->active_;
  return code;
}

// ---- readers and errors
// -----------------------------------------------------------------------------------------------------

int LmdbEnv::sweep_readers() const {
  int dead = 0;
  (void)mdb_reader_check(env_, &dead);
  return dead;
}

std::uint64_t LmdbEnv::oldest_reader() const {
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (const Reader& reader : list_readers(env_)) oldest = std::min(oldest, reader.txn);
  return oldest;
}

std::string LmdbEnv::pinning_readers() const {
  MDB_envinfo info{};
  if (mdb_env_info(env_, &info) != 0) return "";
  std::set<int> pids;
  for (const Reader& reader : list_readers(env_)) {
    if (reader.txn < info.me_last_txnid) pids.insert(reader.pid);
  }
  return pids.empty() ? "" : fmt::format(" (held back by readers: {})", join_pids(pids));
}

Error LmdbEnv::step_error(int code, std::string_view what) const {
  Error error = lmdb_error(code, what, path_);
  if (error.code == ErrorCode::MapFull) error.message += pinning_readers();
  return error;
}

Error LmdbEnv::commit_error(int code, std::string_view what, std::uint64_t bytes) const {
  if (code < 0 && code != MDB_PANIC) return step_error(code, what);  // LMDB's own codes come before anything is written
  // A short write on a full disk comes out of LMDB as EIO. When the data could not be written, the meta page was not
  // touched and the environment still works; after a failed meta page it refuses everything (MDB_PANIC).
  const bool full = code == ENOSPC || code == EDQUOT || (code == EIO && has_no_room(path_, bytes + kRoomBytes));
  if (full && begin_write()) {
    return {ErrorCode::DiskFull,
            fmt::format("{} {}: no room on the disk: free some and try again", what, path_.string()),
            {}};
  }
  return {ErrorCode::OutcomeUnknown,
          fmt::format("{} {}: {}: it may or may not be there: stop and open the store again", what, path_.string(),
                      mdb_strerror(code)),
          {}};
}

Result<void> LmdbEnv::check_undisturbed(std::uint64_t txn) const {
  if (registered_) return {};
  auto metas = check_lmdb_metas(file_, path_);
  LOCKSTEP_TRY(metas);
  if (metas->txn == txn) return {};
  return fail(
      ErrorCode::StorageFailed,
      fmt::format("{}: a controller has begun to write, and this process may not register as a reader: read a copy, "
                  "or run with its rights",
                  path_.string()));
}

}  // namespace lockstep
