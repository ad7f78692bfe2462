#pragma once
// What a log in LMDB holds, for the two files that implement it: lmdb_log_open.cpp (making, opening, and all that is
// checked then) and lmdb_log.cpp (reading, appending, trimming).

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "events/log/chain.h"
#include "events/log/lmdb_cursor.h"
#include "events/log/lmdb_env.h"
#include "events/log/lmdb_log.h"
#include "events/log/lmdb_room.h"

namespace lockstep {

struct LmdbLog::Impl {
  OpenMode mode{OpenMode::ReadOnly};
  std::unique_ptr<LmdbEnv> env;
  std::optional<LmdbRoom> room;  // of the writer
  StoreId store{};
  MDB_dbi meta{};
  MDB_dbi records{};

  // Appends go before trims: a trim takes `turn` before `writing` for each slice and lets it go at once, so that an
  // append that waits comes next.
  std::mutex turn;
  std::mutex writing;
  bool latched{false};
  std::uint64_t appends{0};

  mutable std::mutex known_mutex;
  LogHead known{};  // of the writer: what its last successful commit left

  [[nodiscard]] std::string where() const { return env->path().string(); }
  [[nodiscard]] bool writer() const { return mode == OpenMode::Write; }

  // ---- reading
  [[nodiscard]] Result<LogHead> stored_head(const LmdbTxn& txn) const;
  [[nodiscard]] Result<LogHead> current() const;
  // Says where in the file the record is, which only a look at the pages can tell.
  [[nodiscard]] Error locate(Error error, const LmdbTxn& txn, std::uint64_t key) const;
  // The record under the cursor, held to `chain` and to its key.
  [[nodiscard]] Result<RecordHeader> checked(LmdbCursor& cursor, const LmdbTxn& txn, ChainReader& chain) const;
  // Visits up to a chunk of records from `from` to `last`, and moves `from` behind them.
  Result<Continue> read_chunk(Seq& from, Seq last, ChainReader& chain, const Visit& visit) const;
  Result<void> read(Seq from, Seq last, const Visit& visit) const;

  // ---- opening
  Result<void> open_tables();
  Result<void> check_pages_of(const LmdbTxn& txn) const;
  Result<void> check_head() const;
  Result<void> check_ends(const LmdbTxn& txn, const LogHead& stored) const;
  Result<void> become_writer();

  // ---- writing
  // A write transaction in which the head is what we left it at.
  Result<LmdbTxn> begin_append();
  int put_record(const LmdbTxn& txn, std::uint64_t seq, std::span<const std::byte> record) const;
  int put_head(const LmdbTxn& txn, const LogHead& head) const;
  Result<void> commit(LmdbTxn& txn, const LogHead& head, std::string_view what, std::uint64_t bytes);
  Result<void> append_once(std::span<const Link> links, const RingMark& ring, std::uint64_t flushed);
  Result<std::size_t> trim_slice(Seq before);
  // Does `act` with the right to write; once more when the map was full and dead readers were the reason.
  template <class Act>
  auto write(Act act) {
    std::unique_lock my_turn(turn);
    const std::lock_guard guard(writing);
    my_turn.unlock();
    auto done = act();
    if (done || done.error().code != ErrorCode::MapFull || env->sweep_readers() == 0) return done;
    return act();
  }
};

}  // namespace lockstep
