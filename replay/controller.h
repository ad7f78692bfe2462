#pragma once
// The single writer, without a thread: a state, its log and its snapshots. A batch of commands is decided against the
// state plus the batch so far, appended as one record, and only then answered. Scenarios and the engine drive it.
//
// After an append whose outcome is not known the controller is latched: every later call returns the same error, and
// only a new start, which looks at what is on disk, can say more. DiskFull and MapFull do not latch: the batch is
// undone (recovered from the log) and may be tried again.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "events/commands.h"
#include "events/log/log.h"
#include "replay/recovery.h"
#include "snapshot/snapshot.h"
#include "statemachine/state.h"

namespace lockstep {

struct ControllerOptions {
  std::uint64_t digest_every{1'024};        // events between two DigestRecorded; 0 = never
  std::uint64_t snapshot_every{1'000'000};  // events between two snapshots by itself; 0 = never
  std::uint32_t batch_events_max{65'536};   // a record is closed when it has this many events
  bool check_invariants{false};             // after every event; scenarios and tests
};

class Controller {
 public:
  // Recovers from `log` and `snapshots` (may be null), which must outlive it, fires the deadlines that passed while
  // nobody was there, at `now`, and begins a new epoch. Errors of recover() and append().
  [[nodiscard]] static Result<std::unique_ptr<Controller>> start(Log& log, const SnapshotStore* snapshots,
                                                                 const ControllerOptions& options, Time now);

  // Decides, appends, and answers in order. Every answer is durable when this returns.
  [[nodiscard]] Result<std::vector<Answer>> execute(std::span<const Command> commands);
  [[nodiscard]] Result<Answer> execute(const Command& command);

  // The durable state: state-of-memory and disk agree between calls.
  [[nodiscard]] const State& state() const;
  [[nodiscard]] const Head& head() const;
  [[nodiscard]] const RecoveryReport& recovery() const;
  // The events of the last execute(), for traces.
  [[nodiscard]] const std::vector<Event>& last_events() const;

  [[nodiscard]] Result<SnapshotInfo> snapshot();
  // Trims the log below the older of the two newest snapshots; returns the first seq kept.
  [[nodiscard]] Result<Seq> trim();
};

}  // namespace lockstep
