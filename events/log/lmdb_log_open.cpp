// Making and opening a log in LMDB, and all that is checked before it is trusted.

#include <fmt/format.h>

#include <utility>

#include "events/log/lmdb_check.h"
#include "events/log/lmdb_log_impl.h"

namespace lockstep {
namespace {

constexpr int kPinTries = 16;

// A writer reads the whole of a log up to this size before it appends behind it (tens of milliseconds). Of a longer one
// it reads the first and the last record, and recovery reads what no snapshot covers.
constexpr std::uint64_t kWholeReadBytes = 64U << 20U;

}  // namespace

Result<void> LmdbLog::create(const std::filesystem::path& directory, const StoreId& store) {
  {
    auto env = LmdbEnv::create(directory);
    LOCKSTEP_TRY(env);
    auto txn = (*env)->begin_write();
    LOCKSTEP_TRY(txn);
    MDB_dbi meta{};
    MDB_dbi records{};
    int code = mdb_dbi_open(txn->get(), "meta", MDB_CREATE | MDB_INTEGERKEY, &meta);
    if (code == 0) code = mdb_dbi_open(txn->get(), "records", MDB_CREATE | MDB_INTEGERKEY, &records);
    constexpr std::uint64_t kKey = 0;
    const auto bytes = encode_log_head(LogHead{.store = store});
    MDB_val key = key_of(kKey);
    MDB_val value = value_of(bytes);
    if (code == 0) code = mdb_put(txn->get(), meta, &key, &value, 0);
    if (code == 0) code = txn->commit();
    if (code != 0) return tl::unexpected((*env)->commit_error(code, "create", 0));
  }
  return sync_directory(directory);
}

Result<std::unique_ptr<LmdbLog>> LmdbLog::open(const std::filesystem::path& directory, const StoreId& store,
                                               OpenMode mode, bool writer_alive) {
  if (!std::filesystem::exists(directory / "data.mdb")) {
    return fail(ErrorCode::NotAStore, fmt::format("{} is missing: an incomplete store; bring it back from a backup",
                                                  (directory / "data.mdb").string()));
  }
  auto impl = std::make_unique<Impl>();
  impl->store = store;
  impl->mode = mode;
  auto env = LmdbEnv::open(directory, mode, writer_alive);
  LOCKSTEP_TRY(env);
  impl->env = std::move(*env);
  LOCKSTEP_TRY(impl->open_tables());
  LOCKSTEP_TRY(impl->check_head());
  if (impl->writer()) LOCKSTEP_TRY(impl->become_writer());
  return std::unique_ptr<LmdbLog>(new LmdbLog(std::move(impl)));
}

// The pages are walked under a read transaction that LMDB has not yet followed anywhere.
Result<void> LmdbLog::Impl::open_tables() {
  for (int i = 0; i < kPinTries; ++i) {
    auto txn = env->begin_read();
    LOCKSTEP_TRY(txn);
    auto sound = check_pages_of(*txn);
    if (!sound && sound.error().code == ErrorCode::StaleHead) continue;
    LOCKSTEP_TRY(sound);
    int code = mdb_dbi_open(txn->get(), "meta", MDB_INTEGERKEY, &meta);
    if (code == 0) code = mdb_dbi_open(txn->get(), "records", MDB_INTEGERKEY, &records);
    if (code == 0) code = txn->commit();  // keeps the two handles
    if (code != 0) return tl::unexpected(env->step_error(code, "open"));
    return {};
  }
  return fail(ErrorCode::StorageFailed,
              fmt::format("{}: the writer was too quick for {} looks: try again", where(), kPinTries));
}

Result<void> LmdbLog::Impl::check_pages_of(const LmdbTxn& txn) const {
  auto size = file_size(env->file(), env->path());
  LOCKSTEP_TRY(size);
  return check_lmdb_pages(env->file(), env->path(), txn.id(), *size <= kWholeWalkBytes ? Walk::Pages : Walk::Spine);
}

// The head against the records beside it.
Result<void> LmdbLog::Impl::check_head() const {
  auto txn = env->begin_read();
  LOCKSTEP_TRY(txn);
  auto stored = stored_head(*txn);
  LOCKSTEP_TRY(stored);
  if (stored->store != store) {
    return fail(ErrorCode::Damaged, fmt::format("{}: this log belongs to another store: files were mixed up", where()));
  }
  MDB_stat stat{};
  if (const int code = mdb_stat(txn->get(), records, &stat); code != 0)
    return tl::unexpected(env->step_error(code, "open"));
  if (stat.ms_entries != stored->records) {
    return fail(
        ErrorCode::Damaged,
        fmt::format("{}: {} records are kept, but the head counts {}", where(), stat.ms_entries, stored->records),
        stored->head.seq);
  }
  return check_ends(*txn, *stored);
}

Result<void> LmdbLog::Impl::check_ends(const LmdbTxn& txn, const LogHead& stored) const {
  auto cursor = LmdbCursor::open(*env, txn, records);
  LOCKSTEP_TRY(cursor);
  auto any = cursor->move(MDB_FIRST);
  LOCKSTEP_TRY(any);
  Head end{};
  Seq first{1};
  if (*any) {
    ChainReader begins;
    auto header = checked(*cursor, txn, begins);
    LOCKSTEP_TRY(header);
    first = header->first;
    LOCKSTEP_TRY(cursor->move(MDB_LAST));
    ChainReader ends;
    header = checked(*cursor, txn, ends);
    LOCKSTEP_TRY(header);
    end = head_after(*header, cursor->record());
  }
  if (first == stored.first && end == stored.head) return {};
  return fail(
      ErrorCode::Damaged,
      fmt::format("{}: the records go from seq {} to {} ({}), but the head says {} to {} ({})", where(), first.value,
                  end.seq.value, hex(end.hash), stored.first.value, stored.head.seq.value, hex(stored.head.hash)),
      stored.head.seq);
}

// P10: nothing is appended behind a record that cannot be read.
Result<void> LmdbLog::Impl::become_writer() {
  room.emplace(*env);
  {
    auto txn = env->begin_read();
    LOCKSTEP_TRY(txn);
    auto stored = stored_head(*txn);
    LOCKSTEP_TRY(stored);
    known = *stored;
  }
  auto size = file_size(env->file(), env->path());
  LOCKSTEP_TRY(size);
  if (*size > kWholeReadBytes) return {};
  return read(known.first, known.head.seq,
              [](const RecordHeader&, std::span<const std::byte>) -> Result<Continue> { return Continue::Yes; });
}

}  // namespace lockstep
