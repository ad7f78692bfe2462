// A large state: its snapshot, and the recovery from it and a tail.

#include <malloc.h>

#include "replay/recovery.h"
#include "tools/bench/measure.h"
#include "tools/bench/stage.h"

namespace lockstep::bench {
namespace {

constexpr double kTailEventsPerSecond = 5e6;  // of the floor

Command some_command() {
  Command command;
  command.time = Time{seconds(2'000).value};
  command.body = SetPool{"license.bench", 1};
  return command;
}

}  // namespace

Result<GroupsFigures> bench_groups(const BenchOptions& options) {
  const Stage stage(options);
  GroupsFigures figures;
  LOCKSTEP_TRY(stage.say(fmt::format("snapshot: {} groups are made", options.groups)));
  std::filesystem::path directory;
  SnapshotInfo info;
  {
    const auto store = stage.fresh_store("groups");
    LOCKSTEP_TRY(store);
    directory = store->directory;
    const SnapshotStore snapshots(store->snapshots(), store->id);
    const auto controller = start_plain(*store->log, &snapshots);
    LOCKSTEP_TRY(controller);
    const Take take = into(**controller);
    LOCKSTEP_TRY(take(cluster(options.groups * kMembers)));
    LOCKSTEP_TRY(live(options.groups, Life::UntilPlaced, kSpecs, take));
    LOCKSTEP_TRY(stage.say("snapshot: written"));
    const Stopwatch writing;
    auto written = (*controller)->snapshot();
    LOCKSTEP_TRY(written);
    figures.snapshot.seconds = writing.seconds();
    info = std::move(*written);
    LOCKSTEP_TRY(stage.say("recovery: the tail is made"));
    LOCKSTEP_TRY(report_at_random(options.groups, kMembers, options.tail_events, take));
    figures.recovery.tail_events = (*controller)->head().seq.value - info.head.seq.value;
  }
  figures.snapshot.groups = figures.recovery.groups = options.groups;
  figures.snapshot.bytes = info.file_bytes;
  figures.snapshot.raw_bytes = info.raw_bytes;
  LOCKSTEP_TRY(stage.say("recovery: the snapshot is read"));
  const Stopwatch reading;
  LOCKSTEP_TRY(read_through_snapshot(info.path));
  figures.recovery.floor_seconds =
      reading.seconds() + static_cast<double>(figures.recovery.tail_events) / kTailEventsPerSecond;
  LOCKSTEP_TRY(stage.say("recovery: from the snapshot and the tail"));
  ::malloc_trim(0);  // what the first controller held is not counted as free room of the next
  const std::uint64_t before = status_bytes("RssAnon");
  const Stopwatch recovering;
  const auto store = open_store(directory, OpenMode::Write);
  LOCKSTEP_TRY(store);
  const SnapshotStore snapshots(store->snapshots(), store->id);
  const auto controller = start_plain(*store->log, &snapshots);
  LOCKSTEP_TRY(controller);
  LOCKSTEP_TRY((*controller)->execute(some_command()));
  figures.recovery.seconds = recovering.seconds();
  figures.recovery.bytes_per_group =
      static_cast<double>(status_bytes("RssAnon") - before) / static_cast<double>(options.groups);
  return figures;
}

}  // namespace lockstep::bench
