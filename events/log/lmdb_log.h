#pragma once
// What of the log is in LMDB: one directory with data.mdb and lock.mdb (events/log/FORMAT.md). A commit is two flushes;
// every call of append and every slice of a trim is one, and the head is part of it. redo_log.h puts a ring in front.
//
// head(), first() and read() may be called from any thread at any time, also beside append() and trim() on two others;
// an append waits for at most one slice of a trim. No read transaction outlives some hundreds of records, so a long
// read does not keep the file growing.

#include <filesystem>
#include <memory>
#include <span>

#include "events/log/log.h"
#include "events/log/log_head.h"
#include "events/log/store.h"

namespace lockstep {

class LmdbLog final : public Log {
 public:
  // A record that has been found to follow the one before it (check_append), its first seq, and the head after it.
  struct Link {
    std::span<const std::byte> record;
    Seq first{};
    Head after{};
  };

  // An empty log in an existing, empty directory; synced, the directory too.
  [[nodiscard]] static Result<void> create(const std::filesystem::path& directory, const StoreId& store);

  // Looks at every page (lmdb_check.h) and at the head before it answers. For writing its caller holds the writer's
  // lock; for reading it says whether somebody does. Errors: NotAStore (files missing), Locked (already open in this
  // process), Damaged, NewerFormat, DiskFull, StorageFailed.
  [[nodiscard]] static Result<std::unique_ptr<LmdbLog>> open(const std::filesystem::path& directory,
                                                             const StoreId& store, OpenMode mode, bool writer_alive);
  ~LmdbLog() override;

  [[nodiscard]] Result<Head> head() const override;
  [[nodiscard]] Result<Seq> first() const override;
  [[nodiscard]] Result<void> append(std::span<const std::byte> record) override;
  // Several at once, or none, the place in the ring behind them, and how far that was seen flushed (log_head.h). Errors
  // as those of append().
  [[nodiscard]] Result<void> append_all(std::span<const Link> links, const RingMark& ring, std::uint64_t flushed);
  [[nodiscard]] Result<LogHead> stored_head() const;
  // " (held back by readers: pid 12, pid 34)" or "": who keeps old pages from being used again.
  [[nodiscard]] std::string pinning_readers() const;
  [[nodiscard]] Result<void> read(Seq from, const Visit& visit) const override;
  [[nodiscard]] Result<void> trim(Seq before) override;

 private:
  struct Impl;
  explicit LmdbLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "LMDB 0.9.24: (date)".
[[nodiscard]] std::string lmdb_version();

}  // namespace lockstep
