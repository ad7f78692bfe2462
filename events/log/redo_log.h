#pragma once
// The log of a store: a ring in front of LMDB (events/log/FORMAT.md has the argument). An append is durable when the
// ring has flushed it, by the thread that calls; another one moves records on to LMDB, many in one commit.
//
// As LmdbLog: head(), first() and read() from any thread at any time, append() and trim() from one each.

#include <filesystem>
#include <memory>
#include <optional>

#include "events/log/log.h"
#include "events/log/log_head.h"
#include "events/log/store.h"
#include "events/log/writer_lock.h"

namespace lockstep {

class RedoLog final : public Log {
 public:
  // An empty log in an existing, empty directory; synced, the directory too.
  [[nodiscard]] static Result<void> create(const std::filesystem::path& directory, const StoreId& store,
                                           std::uint64_t ring_slots);

  // With `lock`, which is on log/redo, for writing: what the ring has beyond LMDB is moved there, and synced, before
  // this returns. Without for reading, also beside a live writer; then nothing is written. Errors: NotAStore (files
  // missing), Locked (already open in this process), Damaged, NewerFormat, DiskFull, MapFull, StorageFailed.
  [[nodiscard]] static Result<std::unique_ptr<RedoLog>> open(const std::filesystem::path& directory,
                                                             const StoreId& store, std::optional<WriterLock> lock);
  // Moves what is left on to LMDB, if that can be done.
  ~RedoLog() override;

  [[nodiscard]] Result<Head> head() const override;
  [[nodiscard]] Result<Seq> first() const override;
  // DiskFull and MapFull: LMDB has had no room for so long that the ring is nearly full; goes on by itself.
  [[nodiscard]] Result<void> append(std::span<const std::byte> record) override;
  [[nodiscard]] Result<void> read(Seq from, const Visit& visit) const override;
  [[nodiscard]] Result<void> trim(Seq before) override;
  [[nodiscard]] std::string cut() const override;

  // As LmdbLog's.
  [[nodiscard]] std::string pinning_readers() const;

  // For metrics and tests.
  struct Counts {
    std::uint64_t waits{};    // appends that waited for a slot
    std::uint64_t commits{};  // of LMDB behind the ring
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Impl;
  explicit RedoLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
