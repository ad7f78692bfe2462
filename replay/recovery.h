#pragma once
// From what is on disk to a state: the newest snapshot that the log reaches, plus the tail. The plan is made, and can
// be printed, before anything is done. The same function, stopped at a seq, is time travel.
//
// What is passed over is said: a snapshot that is damaged, of another store, newer than what is wanted, or not of this
// log's history. A whole snapshot beyond the log's head means that the log has lost acknowledged events: refused.

#include <functional>
#include <string>
#include <vector>

#include "events/log/log.h"
#include "snapshot/snapshot.h"
#include "statemachine/state.h"

namespace lockstep {

struct RecoveryPlan {
  bool from_snapshot{false};
  SnapshotInfo snapshot{};  // when from_snapshot
  Seq replay_first{};       // first event to replay
  Seq replay_last{};        // last one; replay_last < replay_first: none
  Head log_head{};
  std::vector<std::string> why;  // one line per choice: what was passed over and why, what was taken and why
};

struct RecoveryReport {
  RecoveryPlan plan{};
  std::uint64_t events_replayed{};
  std::uint64_t digests_compared{};
  std::uint64_t digests_skipped{};  // recorded by a release whose digest means something else
  double seconds_snapshot{};
  double seconds_replay{};
};

struct Recovered {
  State state{};
  Head head{};  // of the log at the state's seq; when `until` cuts a record, of the last whole record before it
  RecoveryReport report{};
};

// `until`: the last event wanted; Seq{} = all. `snapshots` may be null. Errors: Damaged, NewerFormat, Trimmed (no
// snapshot reaches down to the first kept event), NotFound (`until` is beyond the log's head).
[[nodiscard]] Result<RecoveryPlan> plan_recovery(const Log& log, const SnapshotStore* snapshots, Seq until = {});

// `progress(done, total)` is called now and then with event counts; returning false interrupts (Error Interrupted).
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;
[[nodiscard]] Result<Recovered> recover(const Log& log, const SnapshotStore* snapshots, Seq until = {},
                                        const Progress& progress = {});

// The same, showing the state on its way: what it sees was true at state.head.seq, so reads that say so (`as_of`) can
// be answered from it while the tail replays.
using Observe = std::function<bool(const State& so_far, std::uint64_t done, std::uint64_t total)>;
[[nodiscard]] Result<Recovered> recover_observed(const Log& log, const SnapshotStore* snapshots, Seq until,
                                                 const Observe& observe);

}  // namespace lockstep
