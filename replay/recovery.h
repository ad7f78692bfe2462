#pragma once
// From what is on disk to a state: the newest snapshot that the log reaches, plus the tail. The plan is made, and can be
// printed, before anything is done. The same function, stopped at a seq, is time travel.

#include <functional>
#include <string>
#include <vector>

#include "events/log/log.h"
#include "snapshot/snapshot.h"
#include "statemachine/state.h"

namespace lockstep {

struct RecoveryPlan {
  bool from_snapshot{false};
  SnapshotInfo snapshot{};          // when from_snapshot
  Seq replay_first{};               // first event to replay
  Seq replay_last{};                // last one; replay_last < replay_first: none
  Head log_head{};
  std::vector<std::string> why{};   // one line per choice: what was passed over and why, what was taken and why
};

struct RecoveryReport {
  RecoveryPlan plan{};
  std::uint64_t events_replayed{};
  std::uint64_t digests_compared{};
  double seconds_snapshot{};
  double seconds_replay{};
};

struct Recovered {
  State state{};
  Head head{};  // of the log at the state's seq
  RecoveryReport report{};
};

// `until`: the last event wanted; Seq{} = all. `snapshots` may be null. Errors: Damaged, NewerFormat, Trimmed (no
// snapshot reaches down to the first kept event).
[[nodiscard]] Result<RecoveryPlan> plan_recovery(const Log& log, const SnapshotStore* snapshots, Seq until = {});

// `progress(done, total)` is called now and then with event counts; returning false interrupts (Error Interrupted).
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;
[[nodiscard]] Result<Recovered> recover(const Log& log, const SnapshotStore* snapshots, Seq until = {},
                                        const Progress& progress = {});

}  // namespace lockstep
