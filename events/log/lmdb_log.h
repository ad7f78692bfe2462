#pragma once
// The log in LMDB: one directory with data.mdb, lock.mdb and head (events/log/FORMAT.md). A commit is two flushes;
// every append and every slice of a trim is one commit, and the head is part of it.
//
// head(), first() and read() may be called from any thread at any time, also beside append() and trim() on two others;
// an append waits for at most one slice of a trim. No read transaction outlives some hundreds of records, so a long
// read does not keep the file growing.

#include <memory>
#include <optional>

#include "events/log/log.h"
#include "events/log/log_head.h"
#include "events/log/store.h"
#include "events/log/writer_lock.h"

namespace lockstep {

class LmdbLog final : public Log {
 public:
  // An empty log in an existing, empty directory; synced, the directory too.
  [[nodiscard]] static Result<void> create(const std::filesystem::path& directory, const StoreId& store);

  // With `lock` for writing, without for reading. Looks at every page (lmdb_check.h) and at both heads before it
  // answers. Errors: NotAStore (files missing), Locked (already open in this process), Damaged, NewerFormat, DiskFull,
  // StorageFailed.
  [[nodiscard]] static Result<std::unique_ptr<LmdbLog>> open(const std::filesystem::path& directory,
                                                             const StoreId& store, std::optional<WriterLock> lock);
  ~LmdbLog() override;

  [[nodiscard]] Result<Head> head() const override;
  [[nodiscard]] Result<Seq> first() const override;
  [[nodiscard]] Result<void> append(std::span<const std::byte> record) override;
  [[nodiscard]] Result<void> read(Seq from, const Visit& visit) const override;
  [[nodiscard]] Result<void> trim(Seq before) override;

 private:
  struct Impl;
  explicit LmdbLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
