// Reading, appending and trimming a log in LMDB.

#include "events/log/lmdb_log.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "events/log/lmdb_check.h"
#include "events/log/lmdb_log_impl.h"

namespace lockstep {
namespace {

constexpr std::size_t kChunkRecords = 256;      // visited under one read transaction at most
constexpr std::size_t kChunkBytes = 4U << 20U;  // likewise
constexpr std::size_t kTrimRecords = 1024;      // forgotten in one transaction at most
constexpr std::size_t kTrimBytes = 64U << 20U;  // likewise: each page of them is 8 bytes in the free list
constexpr std::uint64_t kSweepEvery = 1024;     // appends between looks for dead readers

}  // namespace

LmdbLog::LmdbLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LmdbLog::~LmdbLog() = default;

// ---- reading -----------------------------------------------------------------------------------------------------

Result<LogHead> LmdbLog::Impl::stored_head(const LmdbTxn& txn) const {
  constexpr std::uint64_t kKey = 0;
  MDB_val key = key_of(kKey);
  MDB_val data{};
  const int code = mdb_get(txn.get(), meta, &key, &data);
  if (code != 0) return tl::unexpected(env->step_error(code, "read the head of"));
  return decode_log_head(bytes_of_value(data), where());
}

Result<LogHead> LmdbLog::Impl::current() const {
  if (writer()) {
    const std::lock_guard guard(known_mutex);
    return known;
  }
  auto txn = env->begin_read();
  LOCKSTEP_TRY(txn);
  return stored_head(*txn);
}

Error LmdbLog::Impl::locate(Error error, const LmdbTxn& txn, std::uint64_t key) const {
  if (error.code != ErrorCode::Damaged) return error;
  if (!error.seq) error.seq = Seq{key};
  const auto offset = find_record_offset(env->file(), env->path(), txn.id(), key);
  error.message += fmt::format(" (the record kept for seq {}{})", key,
                               offset ? fmt::format(", at offset {} of the file", *offset) : "");
  return error;
}

Result<RecordHeader> LmdbLog::Impl::checked(LmdbCursor& cursor, const LmdbTxn& txn, ChainReader& chain) const {
  auto header = chain.read(cursor.record(), env->path().native());
  if (header && header->first.value != cursor.seq()) {
    header = fail(ErrorCode::Damaged,
                  fmt::format("{}: a record of seq {} is kept for seq {}", where(), header->first.value, cursor.seq()));
  }
  if (!header) return tl::unexpected(locate(std::move(header).error(), txn, cursor.seq()));
  return header;
}

Result<Continue> LmdbLog::Impl::read_chunk(Seq& from, Seq last, ChainReader& chain, const Visit& visit) const {
  auto txn = env->begin_read();
  LOCKSTEP_TRY(txn);
  auto stored = stored_head(*txn);
  LOCKSTEP_TRY(stored);
  LOCKSTEP_TRY(check_kept(from, stored->first));
  auto cursor = LmdbCursor::open(*env, *txn, records);
  LOCKSTEP_TRY(cursor);
  auto found = cursor->seek(from.value);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kChunkRecords && bytes < kChunkBytes && from <= last; ++i) {
    LOCKSTEP_TRY(found);
    if (!*found) {
      return fail(ErrorCode::Damaged, fmt::format("{}: the records end before seq {}", where(), from.value), from);
    }
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

Result<Head> LmdbLog::head() const {
  return impl_->current().map([](const LogHead& head) { return head.head; });
}

Result<LogHead> LmdbLog::stored_head() const { return impl_->current(); }

std::string LmdbLog::pinning_readers() const { return impl_->env->pinning_readers(); }

std::string lmdb_version() { return mdb_version(nullptr, nullptr, nullptr); }

Result<Seq> LmdbLog::first() const {
  return impl_->current().map([](const LogHead& head) { return head.first; });
}

Result<void> LmdbLog::read(Seq from, const Visit& visit) const {
  auto current = impl_->current();
  LOCKSTEP_TRY(current);
  LOCKSTEP_TRY(check_kept(from, current->first));
  return impl_->read(from, current->head.seq, visit);
}

Result<void> LmdbLog::Impl::read(Seq from, Seq last, const Visit& visit) const {
  ChainReader chain;
  while (from <= last) {
    auto more = read_chunk(from, last, chain, visit);
    LOCKSTEP_TRY(more);
    if (*more == Continue::No) break;
  }
  return {};
}

// ---- writing -----------------------------------------------------------------------------------------------------

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

int LmdbLog::Impl::put_record(const LmdbTxn& txn, std::uint64_t seq, std::span<const std::byte> record) const {
  MDB_val key = key_of(seq);
  MDB_val value = value_of(record);
  // APPEND refuses a key that is not the last: a free check against a second append of the same seq.
  return mdb_put(txn.get(), records, &key, &value, MDB_APPEND | MDB_NOOVERWRITE);
}

int LmdbLog::Impl::put_head(const LmdbTxn& txn, const LogHead& head) const {
  constexpr std::uint64_t kKey = 0;
  const auto bytes = encode_log_head(head);
  MDB_val key = key_of(kKey);
  MDB_val value = value_of(bytes);
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
  return impl_->write([&]() -> Result<void> {
    auto header = check_append(impl_->known.head, record);
    LOCKSTEP_TRY(header);
    const Link link{record, header->first, head_after(*header, record)};
    return impl_->append_once(std::span(&link, 1), impl_->known.ring, impl_->known.ring_flushed);
  });
}

Result<void> LmdbLog::append_all(std::span<const Link> links, const RingMark& ring, std::uint64_t flushed) {
  return impl_->write([&] { return impl_->append_once(links, ring, flushed); });
}

Result<void> LmdbLog::Impl::append_once(std::span<const Link> links, const RingMark& ring, std::uint64_t flushed) {
  auto txn = begin_append();
  LOCKSTEP_TRY(txn);
  LogHead head = known;
  head.ring = ring;
  head.ring_flushed = flushed;
  std::uint64_t bytes = 0;
  for (const Link& link : links) bytes += link.record.size();
  if (!links.empty()) LOCKSTEP_TRY(room->check(*txn, bytes, links.size()));
  for (const Link& link : links) {
    LOCKSTEP_CHECK(link.first == next(head.head.seq), "records do not follow each other");
    if (const int code = put_record(*txn, link.first.value, link.record); code != 0)
      return tl::unexpected(env->step_error(code, "append to"));
    head.head = link.after;
    ++head.records;
  }
  if (const int code = put_head(*txn, head); code != 0) return tl::unexpected(env->step_error(code, "append to"));
  LOCKSTEP_TRY(commit(*txn, head, "append to", bytes));
  const std::uint64_t before = std::exchange(appends, appends + links.size());
  if (appends / kSweepEvery != before / kSweepEvery) env->sweep_readers();
  return {};
}

Result<void> LmdbLog::trim(Seq before) {
  bool any = false;
  for (;;) {
    auto forgotten = impl_->write([&] { return impl_->trim_slice(before); });
    LOCKSTEP_TRY(forgotten);
    if (*forgotten == 0) break;
    any = true;
  }
  // LMDB uses a page again only when the commit that freed it is not the last one. Without one more commit, an append
  // into a full map would find nothing to use, fail, and so never make that commit.
  if (!any) return {};
  return impl_->write([&] { return impl_->append_once({}, impl_->known.ring, impl_->known.ring_flushed); });
}

// Forgets some of the oldest records; how many, 0 = there is nothing left to forget.
Result<std::size_t> LmdbLog::Impl::trim_slice(Seq before) {
  auto txn = begin_append();
  LOCKSTEP_TRY(txn);
  LogHead head = known;
  std::size_t forgotten = 0;
  {
    auto cursor = LmdbCursor::open(*env, *txn, records);
    LOCKSTEP_TRY(cursor);
    for (std::size_t bytes = 0; forgotten < kTrimRecords && bytes < kTrimBytes && head.records > 1; ++forgotten) {
      LOCKSTEP_TRY(cursor->move(MDB_FIRST));
      const std::uint64_t oldest = cursor->seq();
      bytes += cursor->record().size();
      auto another = cursor->move(MDB_NEXT);
      LOCKSTEP_TRY(another);
      if (!*another || cursor->seq() > before.value) break;
      head.first = Seq{cursor->seq()};
      MDB_val key = key_of(oldest);
      const int code = mdb_del(txn->get(), records, &key, nullptr);
      if (code != 0) return tl::unexpected(env->step_error(code, "trim"));
      --head.records;
    }
  }
  if (forgotten == 0) return std::size_t{0};
  if (const int code = put_head(*txn, head); code != 0) return tl::unexpected(env->step_error(code, "trim"));
  LOCKSTEP_TRY(commit(*txn, head, "trim", 0));
  return forgotten;
}

}  // namespace lockstep
