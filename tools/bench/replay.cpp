// Replay on one core beside a scan of the same records that only checks and decodes.

#include "events/codec.h"
#include "replay/recovery.h"
#include "tools/bench/measure.h"
#include "tools/bench/stage.h"

namespace lockstep::bench {
namespace {

constexpr int kRounds = 5;
constexpr std::uint32_t kBigGroup = 100'000;

// Events per second of reading what the log has from `from` on.
Result<double> scan(const Log& log, Seq from) {
  std::uint64_t events = 0;
  std::vector<Event> decoded;
  const Stopwatch watch;
  LOCKSTEP_TRY(log.read(from, [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
    LOCKSTEP_TRY(decode_events(record.subspan(kRecordHeaderBytes), header.first, header.count, decoded));
    events += decoded.size();
    return Continue::Yes;
  }));
  return static_cast<double>(events) / watch.seconds();
}

// The whole log, or what is behind the newest snapshot.
Result<ReplayFigures> measure(const std::string& mix, const Log& log, const SnapshotStore* snapshots) {
  std::vector<double> scans;
  std::vector<double> replays;
  std::uint64_t events = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto recovered = recover(log, snapshots);
    LOCKSTEP_TRY(recovered);
    const RecoveryReport& report = recovered->report;
    events = report.events_replayed;
    replays.push_back(static_cast<double>(events) / report.seconds_replay);
    const auto scanned = scan(log, report.plan.replay_first);
    LOCKSTEP_TRY(scanned);
    scans.push_back(*scanned);
  }
  return ReplayFigures{mix, events, median(replays), median(scans)};
}

// 17 events each, 10,000 groups alive.
Result<ReplayFigures> lifecycle(const Stage& stage, const std::string& mix, std::uint64_t groups, std::uint64_t specs) {
  LOCKSTEP_TRY(stage.say("replay: " + mix));
  const auto store = stage.fresh_store(mix);
  LOCKSTEP_TRY(store);
  {
    const auto controller = start_plain(*store->log, nullptr);
    LOCKSTEP_TRY(controller);
    const Take take = into(**controller);
    LOCKSTEP_TRY(take(cluster(kWindow * kMembers)));
    LOCKSTEP_TRY(live(groups, Life::UntilEnd, specs, take));
  }
  return measure(mix, *store->log, nullptr);
}

// `prepare` makes and places groups of `members` members, which then report.
Result<ReplayFigures> reports(const Stage& stage, const std::string& mix, std::uint64_t groups, std::uint32_t members,
                              std::uint64_t count, const std::function<Result<void>(const Take&)>& prepare) {
  LOCKSTEP_TRY(stage.say("replay: " + mix));
  const auto store = stage.fresh_store(mix);
  LOCKSTEP_TRY(store);
  const SnapshotStore snapshots(store->snapshots(), store->id);
  {
    const auto controller = start_plain(*store->log, &snapshots);
    LOCKSTEP_TRY(controller);
    const Take take = into(**controller);
    LOCKSTEP_TRY(take(cluster(groups * members)));
    LOCKSTEP_TRY(prepare(take));
    LOCKSTEP_TRY((*controller)->snapshot());
    LOCKSTEP_TRY(report_at_random(groups, members, count, take));
  }
  return measure(mix, *store->log, &snapshots);
}

}  // namespace

Result<std::vector<ReplayFigures>> bench_replay(const BenchOptions& options) {
  const Stage stage(options);
  const std::uint64_t lives = std::max<std::uint64_t>(options.groups / 10, 1);
  std::vector<ReplayFigures> all;
  const auto add = [&](Result<ReplayFigures> figures) -> Result<void> {
    LOCKSTEP_TRY(figures);
    all.push_back(std::move(*figures));
    return {};
  };
  LOCKSTEP_TRY(add(lifecycle(stage, "lifecycle", lives, kSpecs)));
  LOCKSTEP_TRY(add(lifecycle(stage, "lifecycleAllSpecsDistinct", lives, lives)));
  LOCKSTEP_TRY(add(reports(stage, "reportsAtRandom", options.groups, kMembers, options.groups,
                           [&](const Take& take) { return live(options.groups, Life::UntilPlaced, kSpecs, take); })));
  LOCKSTEP_TRY(add(reports(stage, "reportsOfOneGroup", 1, kBigGroup, 2 * std::uint64_t{kBigGroup},
                           [&](const Take& take) { return place_big_group(1, kBigGroup, take); })));
  return all;
}

}  // namespace lockstep::bench
