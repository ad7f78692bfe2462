#pragma once
// LMDB held by its rules (TRAPS: LMDB): one environment per file and process, opened with no flag that trades safety,
// transactions as objects that end with their scope, stale readers cleared, integers turned into Errors that say which
// file and what to do. Only the .cpp files of this folder include it.

#include <lmdb.h>
#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "events/error.h"
#include "events/file.h"
#include "events/log/store.h"

namespace lockstep {

class LmdbEnv;

// An error of LMDB or the system, by what it means to our caller. MDB_MAP_FULL and disk trouble need the environment's
// help: LmdbEnv::append_error.
[[nodiscard]] Error lmdb_error(int code, std::string_view what, const std::filesystem::path& path);

// A transaction; aborted when it goes out of scope uncommitted.
class LmdbTxn {
 public:
  LmdbTxn(LmdbTxn&& other) noexcept
      : env_(other.env_), txn_(std::exchange(other.txn_, nullptr)), write_(other.write_) {}
  LmdbTxn& operator=(LmdbTxn&&) = delete;
  ~LmdbTxn();
  [[nodiscard]] MDB_txn* get() const { return txn_; }
  [[nodiscard]] std::uint64_t id() const { return mdb_txn_id(txn_); }
  [[nodiscard]] int commit();  // LMDB's code; the transaction is over whatever it says

 private:
  friend class LmdbEnv;
  LmdbTxn(const LmdbEnv* env, MDB_txn* txn, bool write) : env_(env), txn_(txn), write_(write) {}
  const LmdbEnv* env_;
  MDB_txn* txn_;
  bool write_;
};

class LmdbEnv {
 public:
  // `directory` holds data.mdb, which exists. The meta pages are checked before LMDB sees them. A reader registers in
  // lock.mdb, so that a writer leaves its pages alone; where that cannot be done (a read-only copy, a full disk) it
  // reads without, unless `writer_alive`. Errors: Locked (already open in this process), Damaged, NewerFormat,
  // DiskFull, StorageFailed.
  [[nodiscard]] static Result<std::unique_ptr<LmdbEnv>> open(const std::filesystem::path& directory, OpenMode mode,
                                                             bool writer_alive);
  // Makes data.mdb and lock.mdb in an empty directory.
  [[nodiscard]] static Result<std::unique_ptr<LmdbEnv>> create(const std::filesystem::path& directory);
  LmdbEnv(const LmdbEnv&) = delete;
  LmdbEnv& operator=(const LmdbEnv&) = delete;
  ~LmdbEnv();

  // Read transactions may nest and may live on any thread. A full reader table is swept once.
  [[nodiscard]] Result<LmdbTxn> begin_read() const;
  [[nodiscard]] Result<LmdbTxn> begin_write() const;

  // Clears the slots of dead readers; returns how many there were.
  int sweep_readers() const;
  // " (held back by readers: pid 12, pid 34)" or "": who keeps old pages from being used again.
  [[nodiscard]] std::string pinning_readers() const;
  // What a failed commit of `bytes` comes to: MapFull, DiskFull or Damaged when LMDB has certainly written nothing that
  // counts, OutcomeUnknown otherwise.
  [[nodiscard]] Error commit_error(int code, std::string_view what, std::uint64_t bytes) const;
  // The same for a step before the commit: nothing has happened.
  [[nodiscard]] Error step_error(int code, std::string_view what) const;

  // Of an unregistered reader: an Error once a commit has been made since `txn` was begun.
  [[nodiscard]] Result<void> check_undisturbed(std::uint64_t txn) const;

  // The oldest commit that somebody reads; the largest number when nobody does.
  [[nodiscard]] std::uint64_t oldest_reader() const;

  [[nodiscard]] MDB_env* get() const { return env_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const Fd& file() const { return file_; }

 private:
  class Registration;
  LmdbEnv() = default;
  [[nodiscard]] Result<void> start(const std::filesystem::path& directory, OpenMode mode, unsigned flags);
  [[nodiscard]] int begin(unsigned flags, MDB_txn** txn) const;
  friend class LmdbTxn;

  std::filesystem::path path_{};  // of data.mdb
  Fd file_{};                     // for plain reads of it
  std::unique_ptr<Registration> registration_;
  MDB_env* env_ = nullptr;
  bool registered_ = true;
  pid_t pid_ = 0;
  mutable std::mutex resize_mutex_{};
  mutable bool lost_map_ = false;  // a resize failed and left no map: nothing may be touched any more
  mutable int active_ = 0;         // transactions of this process; set_mapsize is legal at 0 only
};

}  // namespace lockstep
