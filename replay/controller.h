#pragma once
// The single writer, without a thread: a state, its log and its snapshots. A batch of commands is decided against the
// state plus the batch so far, appended as one record, and only then answered. Scenarios drive it by execute(); the
// engine by its two halves, so that one batch is decided while the one before it is flushed.
//
// After an append whose outcome is not known the controller is latched: every later call returns the same error, and
// only a new start, which looks at what is on disk, can say more. DiskFull and MapFull do not latch: what was decided
// is undone (recovered from the log) and may be tried again.
//
// A record holds whole commands, up to batch_events_max events and kRecordFactsMax bytes. The one exception is an
// advance of time that fires more deadlines than a record can hold: it is cut between two deadlines, and a crash in
// between leaves the rest to fire at the next start.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/commands.h"
#include "events/log/log.h"
#include "replay/recovery.h"
#include "snapshot/snapshot.h"
#include "statemachine/state.h"

namespace lockstep {

// Of one record, as field walk (events/walk.h); the encoded message is up to a few times as large, and must stay below
// kRecordBytesMax. Also the most that one DefineGroup may have.
inline constexpr std::size_t kRecordFactsMax = std::size_t{16} << 20U;

struct ControllerOptions {
  std::uint64_t digest_every{1'024};        // events between two DigestRecorded; 0 = never
  std::uint64_t snapshot_every{1'000'000};  // events between two snapshots by itself; 0 = never
  std::uint32_t batch_events_max{65'536};   // a record is closed when it has this many events
  bool check_invariants{false};             // after every command, and every start; scenarios and tests
  // What went wrong beside the commands: a snapshot that could not be written, a file that could not be removed.
  std::function<void(const std::string&)> warn{};
};

class Controller {
 public:
  // Recovers from `log` and `snapshots` (may be null), which must outlive it, fires the deadlines that passed while
  // nobody was there, at `now`, and begins a new epoch. Errors of recover() and append().
  [[nodiscard]] static Result<std::unique_ptr<Controller>> start(Log& log, const SnapshotStore* snapshots,
                                                                 const ControllerOptions& options, Time now);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Decides, appends, and answers in order. Every answer is durable when this returns. A time before the state's is
  // taken as the state's. Then takes a snapshot when one is due.
  [[nodiscard]] Result<std::vector<Answer>> execute(std::span<const Command> commands);
  [[nodiscard]] Result<Answer> execute(const Command& command);
  // The same without the snapshot; `answered` gets the answers that are durable, also when the rest met an error.
  [[nodiscard]] Result<void> execute(std::span<const Command> commands, std::vector<Answer>& answered);

  // ---- the same in two halves
  // Commands that were decided together, and the record that makes them durable.
  struct Batch {
    std::size_t commands{};
    std::vector<Event> events;
    std::vector<Answer> answers;                  // one for each command
    std::vector<std::vector<std::byte>> records;  // one, but for a decision that no record holds; none without events
    Head after{};                                 // of the log, once they are in it
  };
  // As many of `commands` as a record takes; not durable, nor to be shown, before finish() says so. An error (Usage:
  // the decision is too large for the log) has to be undone.
  [[nodiscard]] Result<Batch> decide(std::span<const Command> commands);
  // May be called beside decide(); of the batches in their order.
  [[nodiscard]] static Result<void> append(Log& log, const Batch& batch);
  // What came of the append, of the batches in their order. An error has to be undone.
  [[nodiscard]] Result<void> finish(const Batch& batch, Result<void> appended);
  // Back to what is in the log, or latched: when all batches before the one that failed are finished, and those after
  // it are dropped. Returns what their callers are told.
  [[nodiscard]] Error undo(Error error);

  // The durable state: memory and disk agree while no batch is unfinished, until the controller is latched. Then the
  // state may be ahead of the disk: show nobody.
  [[nodiscard]] const State& state() const { return state_; }
  // Of the log: what is durable.
  [[nodiscard]] const Head& head() const { return head_; }
  [[nodiscard]] const RecoveryReport& recovery() const { return recovery_; }
  // The events of the last execute(), for traces.
  [[nodiscard]] const std::vector<Event>& last_events() const { return events_; }
  // The error that every call returns from now on.
  [[nodiscard]] const std::optional<Error>& latched() const { return latched_; }
  // With check_invariants: the first one that did not hold. Nothing of that command was appended; it latches.
  [[nodiscard]] const std::string& violation() const { return violation_; }

  [[nodiscard]] Result<SnapshotInfo> snapshot();
  [[nodiscard]] bool snapshot_is_due() const;
  // The snapshot that is due by snapshot_every, if one is; what fails is a warning and is tried again later.
  void maintain();
  // Trims the log below the older of the two newest snapshots, both read through before; never with fewer than two.
  // Returns the first seq kept.
  [[nodiscard]] Result<Seq> trim();

 private:
  Controller(Log& log, const SnapshotStore* snapshots, const ControllerOptions& options, Recovered recovered);
  [[nodiscard]] Result<void> begin_epoch(Time now);
  [[nodiscard]] Result<Answer> decide_one(Command command, Batch& batch);
  [[nodiscard]] Result<void> check_state();
  void take_events(std::vector<Event> events, Batch& batch);
  [[nodiscard]] Result<void> encode(Batch& batch);
  [[nodiscard]] std::size_t record_events(std::span<const Event> events) const;
  [[nodiscard]] Result<void> rebuild();
  [[nodiscard]] Error latch(Error error);
  [[nodiscard]] Result<void> check_can_recover(const SnapshotInfo& info) const;
  void warn(const std::string& text);

  Log& log_;
  const SnapshotStore* snapshots_;
  ControllerOptions options_;
  State state_;
  Head head_;     // of the log: what is durable
  Head decided_;  // of the log, once all that is decided is in it
  RecoveryReport recovery_;
  std::vector<Event> events_;      // of the call of execute() that runs, or ran last
  std::size_t pending_bytes_ = 0;  // field walk of the events of the batch that is decided
  Seq snapshot_tried_;             // where the last snapshot was taken, or could not be
  std::optional<Error> latched_;
  std::string violation_;
  std::string warned_;  // the last warning: said once
};

}  // namespace lockstep
