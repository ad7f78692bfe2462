#include "events/log/lmdb_log.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "events/log/chain.h"
#include "events/log/lmdb_check.h"
#include "events/log/lmdb_env.h"

namespace lockstep {
namespace {

constexpr std::size_t kChunkRecords = 256;      // visited under one read transaction at most
constexpr std::size_t kChunkBytes = 4U << 20U;  // likewise
constexpr std::size_t kTrimSlice = 1024;        // records forgotten in one transaction
constexpr std::uint64_t kSweepEvery = 1024;     // appends between looks for dead readers
constexpr std::uint64_t kBoundEvery = 1024;     // appends between raises of log/head
constexpr int kPinTries = 16;

MDB_val value_of(std::span<const std::byte> bytes) {
  return MDB_val{bytes.size(), const_cast<std::byte*>(bytes.data())};  // LMDB does not write through it
}
MDB_val key_of(const std::uint64_t& key) { return value_of(std::as_bytes(std::span(&key, 1))); }
std::span<const std::byte> bytes_of_value(const MDB_val& value) {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

// A cursor over the records of one transaction.
class Cursor {
 public:
  static Result<Cursor> open(const LmdbEnv& env, const LmdbTxn& txn, MDB_dbi records) {
    MDB_cursor* cursor = nullptr;
    const int code = mdb_cursor_open(txn.get(), records, &cursor);
    if (code != 0) return tl::unexpected(env.step_error(code, "read"));
    return Cursor(env, cursor);
  }
  Cursor(Cursor&& other) noexcept : env_(other.env_), cursor_(std::exchange(other.cursor_, nullptr)) {}
  Cursor& operator=(Cursor&&) = delete;
  ~Cursor() {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  }

  // Moves; false at the end.
  Result<bool> move(MDB_cursor_op operation, std::uint64_t wanted = 0) {
    MDB_val key = key_of(wanted);
    MDB_val data{};
    const int code = mdb_cursor_get(cursor_, &key, &data, operation);
    if (code == MDB_NOTFOUND) return false;
    if (code != 0) return tl::unexpected(env_.step_error(code, "read"));
    if (key.mv_size != sizeof seq_)
      return fail(ErrorCode::Damaged, fmt::format("{}: a key that is no seq", env_.path().string()));
    std::memcpy(&seq_, key.mv_data, sizeof seq_);
    data_ = bytes_of_value(data);
    return true;
  }
  // To the record that holds `seq`, or the next one after it.
  Result<bool> seek(std::uint64_t seq) {
    auto found = move(MDB_SET_RANGE, seq);
    LOCKSTEP_TRY(found);
    if (*found && seq_ == seq) return true;
    auto before = move(*found ? MDB_PREV : MDB_LAST);
    LOCKSTEP_TRY(before);
    return *before ? true : move(MDB_FIRST);
  }

  [[nodiscard]] std::uint64_t seq() const { return seq_; }
  // The record, 8-byte aligned: in place, as 8-byte keys and sizes make it, or else copied.
  std::span<const std::byte> record() {
    if (reinterpret_cast<std::uintptr_t>(data_.data()) % 8 == 0) return data_;
    copy_.assign(data_.begin(), data_.end());
    return copy_;
  }

 private:
  Cursor(const LmdbEnv& env, MDB_cursor* cursor) : env_(env), cursor_(cursor) {}
  const LmdbEnv& env_;
  MDB_cursor* cursor_;
  std::uint64_t seq_ = 0;
  std::span<const std::byte> data_;
  std::vector<std::byte> copy_;
};

}  // namespace

// Members in the order of their making: the environment is closed before the lock is let go.
struct LmdbLog::Impl {
  std::optional<WriterLock> lock;
  std::optional<HeadFile> head_file;
  std::unique_ptr<LmdbEnv> env;
  StoreId store{};
  MDB_dbi meta{};
  MDB_dbi records{};

  // Appends go before trims: a trim takes `turn` before `writing` for each slice and lets it go at once, so that an
  // append that waits comes next.
  std::mutex turn;
  std::mutex writing;
  bool latched{false};
  std::uint64_t appends{0};
  std::uint64_t appends_at_bound{0};

  mutable std::mutex known_mutex;
  LogHead known{};  // of the writer: what its last successful commit left

  [[nodiscard]] std::string where() const { return env->path().string(); }
  [[nodiscard]] bool writer() const { return lock.has_value(); }

  // ---- reading
  [[nodiscard]] Result<LogHead> stored_head(const LmdbTxn& txn) const {
    constexpr std::uint64_t kKey = 0;
    MDB_val key = key_of(kKey);
    MDB_val data{};
    const int code = mdb_get(txn.get(), meta, &key, &data);
    if (code != 0) return tl::unexpected(env->step_error(code, "read the head of"));
    return decode_log_head(bytes_of_value(data), where());
  }

  [[nodiscard]] Result<LogHead> current() const {
    if (writer()) {
      const std::lock_guard guard(known_mutex);
      return known;
    }
    auto txn = env->begin_read();
    LOCKSTEP_TRY(txn);
    return stored_head(*txn);
  }

  // Says where in the file the record is, which only a look at the pages can tell.
  [[nodiscard]] Error locate(Error error, const LmdbTxn& txn, std::uint64_t key) const {
    if (error.code != ErrorCode::Damaged) return error;
    if (!error.seq) error.seq = Seq{key};
    const auto offset = find_record_offset(env->file(), env->path(), txn.id(), key);
    error.message += fmt::format(" (the record kept for seq {}{})", key,
                                 offset ? fmt::format(", at offset {} of the file", *offset) : "");
    return error;
  }

  [[nodiscard]] Result<RecordHeader> checked(Cursor& cursor, const LmdbTxn& txn, ChainReader& chain) const {
    auto header = chain.read(cursor.record(), env->path().native());
    if (header && header->first.value != cursor.seq()) {
      header = fail(ErrorCode::Damaged, fmt::format("{}: a record of seq {} is kept for seq {}", where(),
                                                    header->first.value, cursor.seq()));
    }
    if (!header) return tl::unexpected(locate(std::move(header).error(), txn, cursor.seq()));
    return header;
  }

  // Visits up to a chunk of records from `from` to `last`, and moves `from` behind them.
  Result<Continue> read_chunk(Seq& from, Seq last, ChainReader& chain, const Visit& visit) const {
    auto txn = env->begin_read();
    LOCKSTEP_TRY(txn);
    auto stored = stored_head(*txn);
    LOCKSTEP_TRY(stored);
    LOCKSTEP_TRY(check_kept(from, stored->first));
    auto cursor = Cursor::open(*env, *txn, records);
    LOCKSTEP_TRY(cursor);
    auto found = cursor->seek(from.value);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kChunkRecords && bytes < kChunkBytes && from <= last; ++i) {
      LOCKSTEP_TRY(found);
      if (!*found)
        return fail(ErrorCode::Damaged, fmt::format("{}: the records end before seq {}", where(), from.value), from);
      auto header = checked(*cursor, *txn, chain);
      LOCKSTEP_TRY(header);
      if (header->first > from || header->last() < from) {
        return fail(ErrorCode::Damaged,
                    fmt::format("{}: no record holds seq {}: the log has a hole", where(), from.value), from);
      }
      auto more = visit(*header, cursor->record());
      LOCKSTEP_TRY(more);
      from = next(header->last());
      if (*more == Continue::No) return Continue::No;
      bytes += header->length;
      if (from <= last) found = cursor->move(MDB_NEXT);
    }
    LOCKSTEP_TRY(env->check_undisturbed(txn->id()));
    return Continue::Yes;
  }

  // ---- opening
  Result<void> open_tables();
  Result<void> check_pages_of(LmdbTxn& txn) const;
  Result<void> check_head() const;
  Result<void> check_ends(const LmdbTxn& txn, const LogHead& stored) const;
  Result<void> check_bound(const LmdbTxn& txn, const LogHead& stored) const;

  // ---- writing
  Result<LmdbTxn> begin_append();
  int put(const LmdbTxn& txn, const LogHead& head, std::uint64_t seq, std::span<const std::byte> record) const;
  Result<void> commit(LmdbTxn& txn, const LogHead& head, std::string_view what, std::uint64_t bytes);
  void after_append();
  void raise_bound();
  Result<bool> trim_slice(Seq before);
};

// ---- opening
// ----------------------------------------------------------------------------------------------------------------

Result<void> LmdbLog::create(const std::filesystem::path& directory, const StoreId& store) {
  LOCKSTEP_TRY(HeadFile::create(directory / "head", store));
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
                                               std::optional<WriterLock> lock) {
  for (const char* name : {"data.mdb", "head"}) {
    if (std::filesystem::exists(directory / name)) continue;
    return fail(ErrorCode::NotAStore, fmt::format("{} is missing: an incomplete store; bring it back from a backup",
                                                  (directory / name).string()));
  }
  auto impl = std::make_unique<Impl>();
  // The bound first: it only grows, so a head read later is not below it, also beside a live writer.
  auto head_file = HeadFile::open(directory / "head", lock.has_value());
  LOCKSTEP_TRY(head_file);
  impl->head_file = std::move(*head_file);
  impl->store = store;
  const auto mode = lock ? OpenMode::Write : OpenMode::ReadOnly;
  bool writer_alive = false;
  if (!lock) {
    auto owner = WriterLock::owner(directory / "writer.lock");
    writer_alive = !owner || owner->has_value();
  }
  impl->lock = std::move(lock);
  auto env = LmdbEnv::open(directory, mode, writer_alive);
  LOCKSTEP_TRY(env);
  impl->env = std::move(*env);
  LOCKSTEP_TRY(impl->open_tables());
  LOCKSTEP_TRY(impl->check_head());
  if (impl->writer()) {
    auto txn = impl->env->begin_read();
    LOCKSTEP_TRY(txn);
    auto stored = impl->stored_head(*txn);
    LOCKSTEP_TRY(stored);
    impl->known = *stored;
  }
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

Result<void> LmdbLog::Impl::check_pages_of(LmdbTxn& txn) const {
  auto size = file_size(env->file(), env->path());
  LOCKSTEP_TRY(size);
  return check_lmdb_pages(env->file(), env->path(), txn.id(), *size <= kWholeWalkBytes ? Walk::Pages : Walk::Spine);
}

// The head in LMDB against the records beside it and the bound outside.
Result<void> LmdbLog::Impl::check_head() const {
  auto txn = env->begin_read();
  LOCKSTEP_TRY(txn);
  auto stored = stored_head(*txn);
  LOCKSTEP_TRY(stored);
  if (stored->store != store || head_file->store() != store) {
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
  LOCKSTEP_TRY(check_ends(*txn, *stored));
  return check_bound(*txn, *stored);
}

Result<void> LmdbLog::Impl::check_ends(const LmdbTxn& txn, const LogHead& stored) const {
  auto cursor = Cursor::open(*env, txn, records);
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

Result<void> LmdbLog::Impl::check_bound(const LmdbTxn& txn, const LogHead& stored) const {
  const Head& bound = head_file->bound();
  if (stored.head.seq < bound.seq) {
    return fail(
        ErrorCode::Damaged,
        fmt::format("{}: acknowledged history is missing: the log ends at seq {}, but log/head knows of seq {}: bring "
                    "it back from a backup or a standby",
                    where(), stored.head.seq.value, bound.seq.value),
        next(stored.head.seq));
  }
  if (!bound.seq || bound.seq < stored.first) return {};
  auto cursor = Cursor::open(*env, txn, records);
  LOCKSTEP_TRY(cursor);
  auto found = cursor->seek(bound.seq.value);
  LOCKSTEP_TRY(found);
  ChainReader chain;
  auto header = checked(*cursor, txn, chain);
  LOCKSTEP_TRY(header);
  if (head_after(*header, cursor->record()) == bound) return {};
  return fail(ErrorCode::Damaged,
              fmt::format("{}: the record that ends at seq {} is not the one that log/head knows: another history",
                          where(), bound.seq.value),
              bound.seq);
}

LmdbLog::LmdbLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LmdbLog::~LmdbLog() { impl_->raise_bound(); }

// ---- reading
// ----------------------------------------------------------------------------------------------------------------

Result<Head> LmdbLog::head() const {
  return impl_->current().map([](const LogHead& head) { return head.head; });
}

Result<Seq> LmdbLog::first() const {
  return impl_->current().map([](const LogHead& head) { return head.first; });
}

Result<void> LmdbLog::read(Seq from, const Visit& visit) const {
  auto current = impl_->current();
  LOCKSTEP_TRY(current);
  LOCKSTEP_TRY(check_kept(from, current->first));
  ChainReader chain;
  while (from <= current->head.seq) {
    auto more = impl_->read_chunk(from, current->head.seq, chain, visit);
    LOCKSTEP_TRY(more);
    if (*more == Continue::No) break;
  }
  return {};
}

// ---- writing
// ----------------------------------------------------------------------------------------------------------------

// A write transaction in which the head is what we left it at.
Result<LmdbTxn> LmdbLog::Impl::begin_append() {
  if (!writer()) return fail(ErrorCode::Usage, fmt::format("{} was opened for reading only", where()));
  if (latched) return tl::unexpected(latched_error());
  auto txn = env->begin_write();
  LOCKSTEP_TRY(txn);
  auto stored = stored_head(*txn);
  LOCKSTEP_TRY(stored);
  if (*stored == known) return txn;
  const bool deposed = stored->head.epoch > known.head.epoch;
  return fail(deposed ? ErrorCode::NotLeader : ErrorCode::StaleHead,
              fmt::format("{}: another process has written up to seq {} in epoch {}: this controller must stop",
                          where(), stored->head.seq.value, stored->head.epoch.value),
              stored->head.seq);
}

int LmdbLog::Impl::put(const LmdbTxn& txn, const LogHead& head, std::uint64_t seq,
                       std::span<const std::byte> record) const {
  MDB_val key = key_of(seq);
  MDB_val value = value_of(record);
  // APPEND refuses a key that is not the last: a free check against a second append of the same seq.
  if (!record.empty()) {
    if (const int code = mdb_put(txn.get(), records, &key, &value, MDB_APPEND | MDB_NOOVERWRITE); code != 0)
      return code;
  }
  constexpr std::uint64_t kKey = 0;
  const auto bytes = encode_log_head(head);
  key = key_of(kKey);
  value = value_of(bytes);
  return mdb_put(txn.get(), meta, &key, &value, 0);
}

Result<void> LmdbLog::Impl::commit(LmdbTxn& txn, const LogHead& head, std::string_view what, std::uint64_t bytes) {
  if (const int code = txn.commit(); code != 0) {
    Error error = env->commit_error(code, what, bytes);
    latched = error.code == ErrorCode::OutcomeUnknown;
    return tl::unexpected(std::move(error));
  }
  const std::lock_guard guard(known_mutex);
  known = head;
  return {};
}

Result<void> LmdbLog::append(std::span<const std::byte> record) {
  std::unique_lock turn(impl_->turn);
  const std::lock_guard writing(impl_->writing);
  turn.unlock();
  auto& impl = *impl_;
  for (bool swept = false;; swept = true) {
    auto txn = impl.begin_append();
    LOCKSTEP_TRY(txn);
    auto header = check_append(impl.known.head, record);
    LOCKSTEP_TRY(header);
    LogHead head = impl.known;
    head.head = head_after(*header, record);
    ++head.records;
    const int code = impl.put(*txn, head, header->first.value, record);
    auto done = code != 0 ? tl::unexpected(impl.env->step_error(code, "append to"))
                          : impl.commit(*txn, head, "append to", record.size());
    if (done) break;
    const bool map_full = done.error().code == ErrorCode::MapFull;
    if (swept || !map_full || impl.env->sweep_readers() == 0) return done;
  }
  impl.after_append();
  return {};
}

void LmdbLog::Impl::after_append() {
  ++appends;
  if (appends == 1 || appends - appends_at_bound >= kBoundEvery) raise_bound();
  if (appends % kSweepEvery == 0) env->sweep_readers();
}

// A bound that could not be raised stays lower: nothing is lost by that.
void LmdbLog::Impl::raise_bound() {
  if (appends == appends_at_bound) return;
  (void)head_file->write(known.head);
  appends_at_bound = appends;
}

Result<void> LmdbLog::trim(Seq before) {
  for (bool more = true; more;) {
    std::unique_lock turn(impl_->turn);
    const std::lock_guard writing(impl_->writing);
    turn.unlock();
    auto sliced = impl_->trim_slice(before);
    LOCKSTEP_TRY(sliced);
    more = *sliced;
  }
  return {};
}

// Forgets up to kTrimSlice records; true when there may be more.
Result<bool> LmdbLog::Impl::trim_slice(Seq before) {
  auto txn = begin_append();
  LOCKSTEP_TRY(txn);
  LogHead head = known;
  std::size_t forgotten = 0;
  {
    auto cursor = Cursor::open(*env, *txn, records);
    LOCKSTEP_TRY(cursor);
    while (forgotten < kTrimSlice && head.records > 1) {
      LOCKSTEP_TRY(cursor->move(MDB_FIRST));
      const std::uint64_t oldest = cursor->seq();
      auto another = cursor->move(MDB_NEXT);
      LOCKSTEP_TRY(another);
      if (!*another || cursor->seq() > before.value) break;
      head.first = Seq{cursor->seq()};
      MDB_val key = key_of(oldest);
      if (const int code = mdb_del(txn->get(), records, &key, nullptr); code != 0) {
        return tl::unexpected(env->step_error(code, "trim"));
      }
      --head.records;
      ++forgotten;
    }
  }
  if (forgotten == 0) return false;
  if (const int code = put(*txn, head, 0, {}); code != 0) return tl::unexpected(env->step_error(code, "trim"));
  LOCKSTEP_TRY(commit(*txn, head, "trim", 0));
  return forgotten == kTrimSlice;
}

}  // namespace lockstep
