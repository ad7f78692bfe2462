#include "events/log/redo_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "events/log/chain.h"
#include "events/log/lmdb_log.h"
#include "events/log/redo_ring.h"

namespace lockstep {

namespace redo_log_detail {

// A record in the ring that LMDB does not have yet.
struct Waiting {
  std::shared_ptr<const std::vector<std::byte>> record;
  Seq first{};
  Head after{};
  RingMark mark{};  // behind it
};

}  // namespace redo_log_detail

namespace {

using redo_log_detail::Waiting;
using Bytes = std::vector<std::byte>;

constexpr std::chrono::milliseconds kMoveEvery{150};  // after the first record that waits for it
constexpr std::size_t kMoveBytes = 8U << 20U;         // or when so many wait; also the most of one commit
constexpr std::chrono::milliseconds kRetryEvery{200};

bool is_no_room(const Error& error) { return error.code == ErrorCode::DiskFull || error.code == ErrorCode::MapFull; }

std::vector<LmdbLog::Link> links_of(const std::deque<Waiting>& records, std::size_t count) {
  std::vector<LmdbLog::Link> links;
  for (std::size_t i = 0; i < count; ++i) links.push_back({*records[i].record, records[i].first, records[i].after});
  return links;
}

// Records and what they come to, after `head`.
std::deque<Waiting> waiting_of(std::vector<Bytes> records, const RingMark& mark) {
  std::deque<Waiting> waiting;
  for (Bytes& record : records) {
    const auto header = read_header(record, "log/redo");
    LOCKSTEP_CHECK(header, "a frame that was whole");
    const Head after = head_after(*header, record);
    waiting.push_back({std::make_shared<const Bytes>(std::move(record)), header->first, after, mark});
  }
  return waiting;
}

}  // namespace

// Members in the order of their making: the thread ends first, the ring, which holds the lock, goes last.
struct RedoLog::Impl {
  std::optional<RedoRing> ring;
  std::unique_ptr<LmdbLog> lmdb;
  bool writes{false};
  std::string cut;

  mutable std::mutex mutex;  // of what follows, and of what the ring says of its slots
  mutable std::condition_variable changed;
  std::deque<Waiting> waiting;
  std::size_t waiting_bytes{0};
  Head head{};
  RingMark mark{};          // behind the last record
  std::uint64_t covered{};  // by LMDB's last commit: a position
  std::uint64_t freed{};    // by its last two
  std::uint64_t flushed{};  // behind the last frame in LMDB that was seen flushed: a position
  std::optional<Error> latched;
  std::optional<Error> no_room;  // what LMDB said last; asked again every so often
  int waiters{0};                // that want records moved, or slots back
  bool stopping{false};
  Counts counts;
  std::thread mover;

  // ---- behind the ring
  void start_mover() {
    mover = std::thread([this] { run(); });
  }

  void stop_mover() {
    {
      const std::lock_guard guard(mutex);
      stopping = true;
    }
    changed.notify_all();
    if (mover.joinable()) mover.join();
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stopping || is_urgent() || !waiting.empty(); });
      changed.wait_for(lock, kMoveEvery, [&] { return stopping || is_urgent() || waiting_bytes >= kMoveBytes; });
      if (latched || (stopping && waiting.empty())) return;
      const bool moved = move(lock);
      if (moved) continue;
      if (latched || stopping) return;
      changed.wait_for(lock, kRetryEvery, [&] { return stopping || !no_room; });
    }
  }

  [[nodiscard]] bool is_urgent() const { return waiters > 0 && (!waiting.empty() || freed != covered); }

  // One commit of LMDB with what waits, with less of it when there is no room for all, or with nothing: an empty one
  // frees the slots that the last one covered, too.
  bool move(std::unique_lock<std::mutex>& lock) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < waiting.size() && bytes < kMoveBytes; ++count)
      bytes += waiting[count].record->size();
    auto done = commit_first(count, lock);
    while (!done && is_no_room(done.error()) && count > 1) done = commit_first(count /= 2, lock);
    if (!done && is_no_room(done.error())) {
      no_room = done.error();
    } else if (!done) {
      latched = done.error();
    }
    changed.notify_all();
    return done.has_value();
  }

  // Takes the first `count` that wait into LMDB.
  Result<void> commit_first(std::size_t count, std::unique_lock<std::mutex>& lock) {
    const RingMark moved_to = count == 0 ? mark : waiting[count - 1].mark;
    const std::uint64_t flushed_to = count == 0 ? flushed : moved_to.position;
    const std::vector<LmdbLog::Link> links = links_of(waiting, count);
    lock.unlock();
    auto done = ring->check_in_place();
    if (done) done = lmdb->append_all(links, moved_to, flushed_to);
    lock.lock();
    if (!done) return done;
    for (std::size_t i = 0; i < count; ++i) waiting_bytes -= waiting[i].record->size();
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
    // Either of LMDB's meta pages may be lost, so slots stay until the commit after the one that covers them.
    freed = std::exchange(covered, moved_to.position);
    ring->free_below(freed);
    flushed = flushed_to;
    no_room.reset();
    ++counts.commits;
    return done;
  }

  // Has the mover work at once, and waits until `enough`, which may look at everything under the mutex; false when it
  // cannot come to it now.
  template <class Enough>
  bool wait_for_mover(std::unique_lock<std::mutex>& lock, Enough enough) {
    no_room.reset();  // that was then
    ++waiters;
    bool came = enough();
    while (!came && !latched && !no_room) {
      changed.notify_all();
      changed.wait(lock);
      came = enough();
    }
    --waiters;
    return came;
  }

  [[nodiscard]] Result<void> cannot() const {
    if (!latched) return tl::unexpected(*no_room);
    return tl::unexpected(latched->code == ErrorCode::OutcomeUnknown ? latched_error() : *latched);
  }

  // ---- appending
  Result<void> append(std::span<const std::byte> record) {
    std::unique_lock lock(mutex);
    if (latched) return cannot();
    auto header = check_append(head, record);
    LOCKSTEP_TRY(header);
    const Head after = head_after(*header, record);
    if (!ring->takes(record.size())) return append_past(lock, {record, header->first, after});
    const bool short_of_room = no_room.has_value();
    const auto fits = [&] { return ring->has_room(record.size()) && !(short_of_room && ring->is_nearly_full()); };
    if (!fits()) {
      ++counts.waits;
      if (!wait_for_mover(lock, fits)) return cannot();
    }
    lock.unlock();
    auto kept = std::make_shared<const Bytes>(record.begin(), record.end());
    auto done = ring->append(record);
    lock.lock();
    if (!done) {
      latched = done.error();
      changed.notify_all();
      return done;
    }
    mark = ring->mark();
    waiting.push_back({std::move(kept), header->first, after, mark});
    waiting_bytes += record.size();
    head = after;
    if (waiting.size() == 1 || waiting_bytes >= kMoveBytes) changed.notify_all();
    return {};
  }

  // A record that is too large for the ring goes to LMDB itself, when that has all before it; once more so that both
  // of LMDB's meta pages know it.
  Result<void> append_past(std::unique_lock<std::mutex>& lock, const LmdbLog::Link& link) {
    if (!wait_for_mover(lock, [&] { return waiting.empty(); })) return cannot();
    lock.unlock();
    auto done = lmdb->append_all(std::span(&link, 1), mark, flushed);
    const bool appended = done.has_value();
    if (done) done = lmdb->append_all({}, mark, flushed);
    lock.lock();
    if (appended) head = link.after;
    if (!done && (appended || !is_no_room(done.error()))) latched = done.error();
    return done;
  }

  // ---- reading
  // What a writer that is gone has left in the ring.
  [[nodiscard]] Result<void> look_at_left(const LogHead& stored, const std::filesystem::path& path) {
    auto sound = ring->check_reaches(stored.ring_flushed);
    if (sound) {
      auto tail = ring->tail(stored.ring, stored.head, RedoRing::Writer::Gone);
      if (tail) cut = tail->cut;
      sound = std::move(tail).map([](const auto&) {});
    }
    if (sound) return {};
    const auto owner = WriterLock::owner(path);  // one that came meanwhile writes on
    return owner && !*owner ? sound : Result<void>{};
  }

  // What a look at the log finds beyond LMDB; the ring comes first, so that nothing is missed in between.
  struct Beyond {
    std::deque<Waiting> records;
    Head head;
  };
  [[nodiscard]] Result<Beyond> beyond() const {
    if (writes) {
      const std::lock_guard guard(mutex);
      return Beyond{waiting, head};
    }
    auto before = lmdb->stored_head();
    LOCKSTEP_TRY(before);
    auto tail = ring->tail(before->ring, before->head, RedoRing::Writer::Alive);
    LOCKSTEP_TRY(tail);
    auto now = lmdb->stored_head();
    LOCKSTEP_TRY(now);
    const Head& later = tail->head.seq > now->head.seq ? tail->head : now->head;
    return Beyond{waiting_of(std::move(tail->records), tail->mark), later};
  }

  Result<void> read(Seq from, const Visit& visit) const {
    auto more = beyond();
    LOCKSTEP_TRY(more);
    auto first = lmdb->first();
    LOCKSTEP_TRY(first);
    LOCKSTEP_TRY(check_kept(from, *first));
    bool stopped = false;
    Seq after = from;
    const auto pass_on = [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
      if (header.first > more->head.seq) return Continue::No;  // appended since
      auto next_one = visit(header, record);
      LOCKSTEP_TRY(next_one);
      after = next(header.last());
      stopped = *next_one == Continue::No;
      return *next_one;
    };
    LOCKSTEP_TRY(lmdb->read(from, pass_on));
    for (const Waiting& each : more->records) {
      if (stopped) break;
      if (each.after.seq < after) continue;
      auto header = read_header(*each.record, "log/redo");
      LOCKSTEP_TRY(header);
      LOCKSTEP_TRY(pass_on(*header, *each.record));
    }
    return {};
  }
};

RedoLog::RedoLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RedoLog::~RedoLog() { impl_->stop_mover(); }

Result<void> RedoLog::create(const std::filesystem::path& directory, const StoreId& store, std::uint64_t ring_slots) {
  LOCKSTEP_TRY(RedoRing::create(directory / "redo", store, ring_slots));
  return LmdbLog::create(directory, store);
}

Result<std::unique_ptr<RedoLog>> RedoLog::open(const std::filesystem::path& directory, const StoreId& store,
                                               std::optional<WriterLock> lock) {
  auto impl = std::make_unique<Impl>();
  impl->writes = lock.has_value();
  auto owner = WriterLock::owner(directory / "redo");
  const bool alive = !lock && (!owner || owner->has_value());
  auto ring = RedoRing::open(directory / "redo", store, std::move(lock));
  LOCKSTEP_TRY(ring);
  impl->ring = std::move(*ring);
  auto lmdb = LmdbLog::open(directory, store, impl->writes ? OpenMode::Write : OpenMode::ReadOnly, alive);
  LOCKSTEP_TRY(lmdb);
  impl->lmdb = std::move(*lmdb);
  auto stored = impl->lmdb->stored_head();
  LOCKSTEP_TRY(stored);
  if (!impl->writes) {
    if (!alive) LOCKSTEP_TRY(impl->look_at_left(*stored, directory / "redo"));
    return std::unique_ptr<RedoLog>(new RedoLog(std::move(impl)));
  }
  LOCKSTEP_TRY(impl->ring->check_reaches(stored->ring_flushed));
  auto tail = impl->ring->tail(stored->ring, stored->head, RedoRing::Writer::Gone);
  LOCKSTEP_TRY(tail);
  // Whatever was found may stand in the page cache alone, after a flush that failed: it is written again, and synced,
  // before anything is acknowledged. The same commit fences whoever wrote to the ring before.
  const RingMark mark{std::max(stored->ring.id, tail->mark.id) + 1, tail->mark.position};
  const auto found = waiting_of(std::move(tail->records), mark);
  LOCKSTEP_TRY(impl->lmdb->append_all(links_of(found, found.size()), mark, stored->ring_flushed));
  impl->cut = tail->cut;
  impl->head = tail->head;
  impl->mark = mark;
  impl->covered = mark.position;
  impl->flushed = stored->ring_flushed;
  impl->freed = stored->ring.position;
  impl->ring->begin(mark, impl->freed);
  impl->start_mover();
  return std::unique_ptr<RedoLog>(new RedoLog(std::move(impl)));
}

Result<Head> RedoLog::head() const {
  if (impl_->writes) {
    const std::lock_guard guard(impl_->mutex);
    return impl_->head;
  }
  auto beyond = impl_->beyond();
  LOCKSTEP_TRY(beyond);
  return beyond->head;
}

Result<Seq> RedoLog::first() const { return impl_->lmdb->first(); }

Result<void> RedoLog::append(std::span<const std::byte> record) {
  if (!impl_->writes) return fail(ErrorCode::Usage, "append: the log was opened for reading only");
  return impl_->append(record);
}

Result<void> RedoLog::read(Seq from, const Visit& visit) const { return impl_->read(from, visit); }

// Of what LMDB has: all up to the record that holds `before` is moved there first.
Result<void> RedoLog::trim(Seq before) {
  if (!impl_->writes) return fail(ErrorCode::Usage, "trim: the log was opened for reading only");
  {
    std::unique_lock lock(impl_->mutex);
    if (impl_->latched) return impl_->cannot();
    // Also the record that stays, since LMDB keeps its last one; but not what is appended meanwhile.
    const Seq last = std::min(before, impl_->head.seq);
    const auto moved = [&] { return impl_->waiting.empty() || impl_->waiting.front().first > last; };
    if (!impl_->wait_for_mover(lock, moved)) {
      if (impl_->latched) return impl_->cannot();
      lock.unlock();
      LOCKSTEP_TRY(impl_->lmdb->trim(before));  // no room for them: this makes some
      lock.lock();
      if (!impl_->wait_for_mover(lock, moved)) return impl_->cannot();
    }
  }
  return impl_->lmdb->trim(before);
}

std::string RedoLog::pinning_readers() const { return impl_->lmdb->pinning_readers(); }

RedoLog::Counts RedoLog::counts() const {
  const std::lock_guard guard(impl_->mutex);
  return impl_->counts;
}

std::string RedoLog::cut() const { return impl_->cut; }

}  // namespace lockstep
