#pragma once
// The ordered durable log: records appended at the head, read from any seq, trimmed from the front. One interface for
// every place that can keep one: memory (tests, scenarios), a redo ring in front of LMDB (the store), later etcd.
//
// Calls come from one thread at a time unless an implementation says otherwise. The caller builds the record
// (record.h); the log checks that it follows the head, so a controller with an old view cannot append (P6).

#include <functional>
#include <span>
#include <string>

#include "events/error.h"
#include "events/ids.h"
#include "events/record.h"

namespace lockstep {

enum class Continue { Yes, No };

class Log {
 public:
  Log() = default;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  virtual ~Log() = default;

  [[nodiscard]] virtual Result<Head> head() const = 0;

  // The first seq that can still be read; head.seq + 1 when nothing is kept.
  [[nodiscard]] virtual Result<Seq> first() const = 0;

  // Durable when it returns. Errors: StaleHead (record.first != head.seq + 1, or record.previous != head.hash),
  // NotLeader (a higher epoch has appended), DiskFull and MapFull (nothing was appended, may be tried again),
  // OutcomeUnknown (it may or may not be there: only reopening decides; the log refuses every later append).
  [[nodiscard]] virtual Result<void> append(std::span<const std::byte> record) = 0;

  // Visits records in order, beginning with the one that holds `from` (a record may begin before it), until the head
  // or Continue::No. The bytes are valid during the call. Error Trimmed when `from` < first(); a `from` beyond the head
  // visits nothing. Every visited record has passed its fast check and follows the one before it.
  using Visit = std::function<Result<Continue>(const RecordHeader& header, std::span<const std::byte> record)>;
  [[nodiscard]] virtual Result<void> read(Seq from, const Visit& visit) const = 0;

  // What stood behind the last record when this was opened and was left out, for it was never whole and so never
  // acknowledged; "" = nothing.
  [[nodiscard]] virtual std::string cut() const { return {}; }

  // Forgets whole records that end before `before`, in slices that do not stall appends. Never the last record.
  [[nodiscard]] virtual Result<void> trim(Seq before) = 0;
};

}  // namespace lockstep
