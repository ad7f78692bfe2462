#include "events/log/chain.h"

#include <fmt/format.h>

namespace lockstep {

Result<RecordHeader> check_append(const Head& head, std::span<const std::byte> record) {
  auto header = read_header(record, "append");
  LOCKSTEP_TRY(header);
  if (header->epoch < head.epoch) {
    return fail(ErrorCode::NotLeader,
                fmt::format("append at seq {}: epoch {} has taken over from epoch {}: this controller must stop",
                            header->first.value, head.epoch.value, header->epoch.value),
                head.seq);
  }
  if (header->first != next(head.seq)) {
    return fail(ErrorCode::StaleHead,
                fmt::format("append at seq {}: the log ends at {}: read what is new and decide again",
                            header->first.value, head.seq.value),
                head.seq);
  }
  if (header->previous != head.hash) {
    return fail(ErrorCode::StaleHead,
                fmt::format("append at seq {}: it follows a record {}, the log ends with {}: another history",
                            header->first.value, hex(header->previous), hex(head.hash)),
                head.seq);
  }
  return header;
}

Result<void> check_kept(Seq from, Seq first) {
  if (from >= first) return {};
  return fail(ErrorCode::Trimmed,
              fmt::format("seq {} is no longer in the log, which begins at seq {}: look in a snapshot or the archive",
                          from.value, first.value),
              first);
}

Error latched_error() {
  return Error{ErrorCode::OutcomeUnknown,
               "append: an earlier append failed half way, so its outcome is unknown: stop and open the store again",
               {}};
}

Result<RecordHeader> ChainReader::read(std::span<const std::byte> record, std::string_view where) {
  auto header = read_header(record, where);
  LOCKSTEP_TRY(header);
  if (next_ && header->first != next_) {
    return fail(ErrorCode::Damaged,
                fmt::format("{}: record at seq {} where seq {} must be: the log has a hole", where, header->first.value,
                            next_.value),
                next_);
  }
  if (header->epoch < epoch_) {
    return fail(ErrorCode::Damaged,
                fmt::format("{}: record at seq {} goes back from epoch {} to {}", where, header->first.value,
                            epoch_.value, header->epoch.value),
                header->first);
  }
  if (check_ == Check::Full) {
    LOCKSTEP_TRY(check_previous(*header, where));
    hash_ = hash_record(record);
  }
  next_ = next(header->last());
  epoch_ = header->epoch;
  return header;
}

Result<void> ChainReader::check_previous(const RecordHeader& header, std::string_view where) const {
  if (!hash_ || header.previous == *hash_) return {};
  return fail(ErrorCode::Damaged,
              fmt::format("{}: record at seq {} follows a record {}, the one before it is {}: another history", where,
                          header.first.value, hex(header.previous), hex(*hash_)),
              header.first);
}

}  // namespace lockstep
