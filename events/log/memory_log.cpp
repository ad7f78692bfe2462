#include "events/log/memory_log.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "events/log/chain.h"

namespace lockstep {

// Records are immutable and shared, so a visit holds no lock: a reader on another thread, or a visitor that appends, is
// as welcome as with LMDB.
struct MemoryLog::Impl {
  using Record = std::shared_ptr<const std::vector<std::byte>>;
  mutable std::mutex mutex;
  std::map<Seq, Record> records;  // by first seq
  Head head{};
  bool latched{false};
  std::optional<std::pair<ErrorCode, bool>> next_failure;

  // The record that holds `from`, which is not beyond the head, or the first one after it.
  [[nodiscard]] std::pair<Seq, Record> find(Seq from) const {
    const std::lock_guard lock(mutex);
    auto it = records.upper_bound(from);
    if (it != records.begin()) --it;
    return *it;
  }

  void put(const RecordHeader& header, std::span<const std::byte> record) {
    records.emplace(header.first, std::make_shared<const std::vector<std::byte>>(record.begin(), record.end()));
    head = head_after(header, record);
  }
};

MemoryLog::MemoryLog() : impl_(std::make_unique<Impl>()) {}
MemoryLog::~MemoryLog() = default;

Result<Head> MemoryLog::head() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->head;
}

Result<Seq> MemoryLog::first() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->records.empty() ? next(impl_->head.seq) : impl_->records.begin()->first;
}

Result<void> MemoryLog::append(std::span<const std::byte> record) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->latched) return tl::unexpected(latched_error());
  auto header = check_append(impl_->head, record);
  LOCKSTEP_TRY(header);
  if (const auto failure = std::exchange(impl_->next_failure, std::nullopt)) {
    impl_->latched = failure->first == ErrorCode::OutcomeUnknown;
    if (impl_->latched && failure->second) impl_->put(*header, record);
    return fail(failure->first, "append: failed as asked by fail_next", header->first);
  }
  impl_->put(*header, record);
  return {};
}

Result<void> MemoryLog::read(Seq from, const Visit& visit) const {
  auto kept = first();
  LOCKSTEP_TRY(kept);
  LOCKSTEP_TRY(check_kept(from, *kept));
  auto end = head();
  LOCKSTEP_TRY(end);
  ChainReader chain;
  while (from <= end->seq) {
    const auto [seq, record] = impl_->find(from);
    LOCKSTEP_TRY(check_kept(from, seq));  // trimmed between two records
    auto header = chain.read(*record, "memory log");
    LOCKSTEP_TRY(header);
    auto more = visit(*header, *record);
    LOCKSTEP_TRY(more);
    if (*more == Continue::No) break;
    from = next(header->last());
  }
  return {};
}

Result<void> MemoryLog::trim(Seq before) {
  const std::lock_guard lock(impl_->mutex);
  auto& records = impl_->records;
  while (records.size() > 1 && std::next(records.begin())->first <= before) records.erase(records.begin());
  return {};
}

void MemoryLog::fail_next(ErrorCode code, bool landed) {
  const std::lock_guard lock(impl_->mutex);
  impl_->next_failure = {code, landed};
}

void MemoryLog::reopen() {
  const std::lock_guard lock(impl_->mutex);
  impl_->latched = false;
}

}  // namespace lockstep
