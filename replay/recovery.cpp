#include "replay/recovery.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "events/codec.h"
#include "statemachine/apply.h"
#include "statemachine/digest.h"
#include "statemachine/prefetch.h"

namespace lockstep {
namespace {

constexpr std::uint64_t kObserveEvery = 8'192;  // events between two calls of the observer
constexpr std::size_t kSnapshotTriesMax = 64;   // that turn out not to load, before recovery gives up

// Snapshots that were chosen once and did not load: path and what was wrong.
using Unusable = std::map<std::filesystem::path, Error>;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string describe(const SnapshotInfo& info) {
  return fmt::format("snapshot {} at seq {}", info.path.filename().string(), info.head.seq.value);
}

// The head after the record that ends at `seq`; nothing when no record ends there.
Result<std::optional<Head>> head_at(const Log& log, Seq seq) {
  std::optional<Head> found;
  LOCKSTEP_TRY(log.read(seq, [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
    if (header.last() == seq) found = head_after(header, record);
    return Continue::No;
  }));
  return found;
}

// Makes one plan: looks at the snapshots newest first and takes the first that nothing speaks against.
class Planner {
 public:
  Planner(const Log& log, const SnapshotStore* snapshots, Seq until, const Unusable& unusable)
      : log_(log), snapshots_(snapshots), until_(until), unusable_(unusable) {}

  Result<RecoveryPlan> plan() {
    // Snapshots before the head: a live controller may publish one, and the log only grows under our hands.
    SnapshotStore::Listing listing;
    if (snapshots_ != nullptr) {
      auto listed = snapshots_->list();
      LOCKSTEP_TRY(listed);
      listing = std::move(*listed);
    }
    LOCKSTEP_TRY(look_at_log());
    if (const std::string cut = log_.cut(); !cut.empty())
      plan_.why.push_back(fmt::format("left out, for it was never acknowledged: {}", cut));
    for (const Error& error : listing.damaged) pass_over(error);
    for (const auto& [path, error] : unusable_) pass_over(error);
    for (const SnapshotInfo& info : listing.snapshots) {
      if (unusable_.contains(info.path)) continue;
      auto objection = object_to(info);
      LOCKSTEP_TRY(objection);
      if (objection->empty()) {
        take(info);
        return std::move(plan_);
      }
      plan_.why.push_back(fmt::format("{}: passed over: {}", describe(info), *objection));
    }
    return from_empty();
  }

 private:
  Result<void> look_at_log() {
    auto head = log_.head();
    LOCKSTEP_TRY(head);
    auto first = log_.first();
    LOCKSTEP_TRY(first);
    plan_.log_head = *head;
    first_ = *first;
    goal_ = until_ ? until_ : head->seq;
    if (goal_ > head->seq) {
      return fail(ErrorCode::NotFound,
                  fmt::format("seq {} is not in the log, which ends at seq {}", goal_.value, head->seq.value),
                  head->seq);
    }
    return {};
  }

  void pass_over(const Error& error) {
    plan_.why.push_back(fmt::format("passed over: {}", error.message));
    if (error.code == ErrorCode::NewerFormat) newer_ = true;
    if (error.code == ErrorCode::Damaged) damaged_ = true;
  }

  // Why `info` is not to be used; empty: it may be.
  Result<std::string> object_to(const SnapshotInfo& info) const {
    const Seq seq = info.head.seq;
    const Head& head = plan_.log_head;
    if (seq > head.seq && !until_) {
      return fail(ErrorCode::Damaged,
                  fmt::format("{}: the log ends at seq {}, so it has lost events that were acknowledged: put the whole "
                              "log back, or move the snapshot away to go on without them",
                              describe(info), head.seq.value),
                  head.seq);
    }
    if (seq > head.seq) return fmt::format("the log ends at seq {}", head.seq.value);
    if (seq > goal_) return fmt::format("newer than seq {}", goal_.value);
    if (next(seq) < first_) return fmt::format("the log begins at seq {}, after it", first_.value);
    if (seq < first_) return std::string{};  // the next record names its hash: looked at when it is replayed
    auto here = head_at(log_, seq);
    LOCKSTEP_TRY(here);
    if (!*here) return std::string("no record of the log ends there");
    if ((*here)->hash != info.head.hash)
      return std::string("of another history: the log's record there has another hash");
    return std::string{};
  }

  void take(const SnapshotInfo& info) {
    plan_.from_snapshot = true;
    plan_.snapshot = info;
    span_from(info.head.seq);
    plan_.why.push_back(fmt::format("{}: taken, the newest that can be used", describe(info)));
    say_tail();
  }

  Result<RecoveryPlan> from_empty() {
    if (first_ <= Seq{1} || plan_.log_head.seq == Seq{}) {
      span_from(Seq{});
      plan_.why.emplace_back("from empty: no snapshot can be used, and the log is kept from its first event");
      say_tail();
      return std::move(plan_);
    }
    const ErrorCode code = damaged_ ? ErrorCode::Damaged : newer_ ? ErrorCode::NewerFormat : ErrorCode::Trimmed;
    std::string reasons;
    for (const std::string& line : plan_.why) reasons += (reasons.empty() ? ": " : "; ") + line;
    return fail(
        code,
        fmt::format("no snapshot reaches down to seq {}, where the log begins, so seq {} cannot be rebuilt: put "
                    "back a snapshot or the archived log{}",
                    first_.value, goal_.value, reasons),
        first_);
  }

  void span_from(Seq base) {
    plan_.replay_first = next(base);
    plan_.replay_last = goal_;
  }

  void say_tail() {
    if (plan_.replay_last < plan_.replay_first) {
      plan_.why.emplace_back("nothing to replay");
    } else {
      plan_.why.push_back(fmt::format("replay of seq {} to {}", plan_.replay_first.value, plan_.replay_last.value));
    }
  }

  const Log& log_;
  const SnapshotStore* snapshots_;
  Seq until_;
  const Unusable& unusable_;
  RecoveryPlan plan_;
  Seq first_;  // of the log
  Seq goal_;
  bool damaged_ = false;
  bool newer_ = false;
};

enum class Looks { AtProgress, AtState };  // what somebody who observes a recovery looks at

// Applies the records of the tail, each following the one before by seq and by hash.
class Tail {
 public:
  Tail(Recovered& into, const Observe& observe, Looks looks)
      : state_(into.state),
        head_(into.head),
        report_(into.report),
        observe_(observe),
        looks_(looks),
        digest_good_(into.state.head.seq) {}

  Result<void> replay(const Log& log) {
    const RecoveryPlan& plan = report_.plan;
    if (plan.replay_last >= plan.replay_first) {
      LOCKSTEP_TRY(show());
      std::optional<IndexesOff> off;
      if (indexes_are_dear()) off.emplace(state_);
      LOCKSTEP_TRY(log.read(plan.replay_first, [this](const RecordHeader& header, std::span<const std::byte> record) {
        return take(header, record);
      }));
      off.reset();
      LOCKSTEP_TRY(show());
    }
    return check_end();
  }

 private:
  // To keep them event by event is dearer than to make them again at the end; not while somebody looks at the state on
  // its way, who looks groups up by name.
  [[nodiscard]] bool indexes_are_dear() const {
    constexpr std::uint64_t kEventsPerGroup = 8;
    const RecoveryPlan& plan = report_.plan;
    return looks_ == Looks::AtProgress &&
           plan.replay_last.value - plan.replay_first.value >= kEventsPerGroup * state_.groups.size();
  }

  Result<Continue> take(const RecordHeader& header, std::span<const std::byte> record) {
    LOCKSTEP_TRY(check_follows(header));
    LOCKSTEP_TRY(decode_events(record.subspan(kRecordHeaderBytes), header.first, header.count, events_, known_specs_));
    const Seq last = report_.plan.replay_last;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (event.seq <= state_.head.seq) continue;  // the snapshot has it
      if (event.seq > last) return Continue::No;
      prefetch(state_, events_, i);
      LOCKSTEP_TRY(apply_one(event));
    }
    if (header.last() >= last) {
      head_ = head_after(header, record);
      return Continue::No;
    }
    // The next record names this one's hash: to compute it, too, is for those who verify the log.
    head_ = Head{header.last(), {}, header.epoch};
    hash_known_ = false;
    return Continue::Yes;
  }

  Result<void> check_follows(const RecordHeader& header) {
    const Seq expected = next(head_.seq);
    if (header.first != expected) {
      return fail(ErrorCode::Damaged,
                  fmt::format("log: a record at seq {} where seq {} must be", header.first.value, expected.value),
                  expected);
    }
    if (!std::exchange(hash_known_, true)) head_.hash = header.previous;
    if (header.previous != head_.hash) {
      return fail(ErrorCode::Damaged,
                  fmt::format("log: the record at seq {} follows a record {}, the one before it is {}: two histories",
                              header.first.value, hex(header.previous), hex(head_.hash)),
                  header.first);
    }
    return {};
  }

  Result<void> apply_one(const Event& event) {
    if (const auto* recorded = std::get_if<DigestRecorded>(&event.body)) {
      LOCKSTEP_TRY(compare(event.seq, *recorded));
    }
    apply(state_, event);
    if (++report_.events_replayed % kObserveEvery == 0) return show();
    return {};
  }

  // The event holds the digest of the state just before it.
  Result<void> compare(Seq seq, const DigestRecorded& recorded) {
    if (recorded.version != kDigestVersion) {
      ++report_.digests_skipped;
      return {};
    }
    const Digest expected{recorded.high, recorded.low};
    if (state_.digest() != expected) {
      return fail(ErrorCode::Damaged,
                  fmt::format("replay: the state before seq {} has digest {}, the log recorded {}: they part between "
                              "seq {} and seq {}",
                              seq.value, hex(state_.digest()), hex(expected), digest_good_.value, seq.value),
                  seq);
    }
    ++report_.digests_compared;
    digest_good_ = seq;
    return {};
  }

  Result<void> check_end() const {
    const Seq last = report_.plan.replay_last;
    if (state_.head.seq != last) {
      return fail(ErrorCode::Damaged,
                  fmt::format("log: it was said to reach seq {} and ends at seq {}", last.value, state_.head.seq.value),
                  state_.head.seq);
    }
    const Head& log_head = report_.plan.log_head;
    if (last == log_head.seq && head_ != log_head) {
      return fail(ErrorCode::Damaged,
                  fmt::format("log: its head at seq {} is {}, its last record has {}", last.value, hex(log_head.hash),
                              hex(head_.hash)),
                  last);
    }
    return {};
  }

  Result<void> show() const {
    const RecoveryPlan& plan = report_.plan;
    const std::uint64_t total = plan.replay_last.value - plan.replay_first.value + 1;
    if (!observe_ || observe_(state_, report_.events_replayed, total)) return {};
    return fail(ErrorCode::Interrupted, fmt::format("recovery was interrupted at seq {}", state_.head.seq.value),
                state_.head.seq);
  }

  State& state_;
  Head& head_;
  bool hash_known_ = true;  // of head_
  RecoveryReport& report_;
  const Observe& observe_;
  Looks looks_;
  std::vector<Event> events_;  // of the record at hand
  KnownSpec known_specs_ = [this](const SpecHash& hash) {
    const auto found = state_.specs.find(hash);
    return found == state_.specs.end() ? nullptr : found->second.spec;
  };
  Seq digest_good_;  // the last point at which log and state were known to agree
};

// The state of the plan's snapshot. An error means: not this one.
Result<State> load(const SnapshotInfo& info) {
  auto state = load_snapshot(info.path);
  if (!state) return tl::unexpected(std::move(state).error());
  if (state->head.seq != info.head.seq) {
    return fail(ErrorCode::Damaged,
                fmt::format("{}: it holds the state at seq {}", describe(info), state->head.seq.value));
  }
  return state;
}

}  // namespace

Result<RecoveryPlan> plan_recovery(const Log& log, const SnapshotStore* snapshots, Seq until) {
  const Unusable none;
  return Planner(log, snapshots, until, none).plan();
}

namespace {

Result<Recovered> recover_looking(const Log& log, const SnapshotStore* snapshots, Seq until, const Observe& observe,
                                  Looks looks) {
  Unusable unusable;
  for (;;) {
    auto plan = Planner(log, snapshots, until, unusable).plan();
    LOCKSTEP_TRY(plan);
    Recovered recovered;
    recovered.report.plan = std::move(*plan);
    const SnapshotInfo& info = recovered.report.plan.snapshot;
    if (recovered.report.plan.from_snapshot) {
      const auto start = std::chrono::steady_clock::now();
      auto state = load(info);
      if (!state) {
        if (unusable.size() == kSnapshotTriesMax) return tl::unexpected(std::move(state).error());
        unusable.emplace(info.path, std::move(state).error());
        continue;
      }
      recovered.state = std::move(*state);
      recovered.head = info.head;
      recovered.report.seconds_snapshot = seconds_since(start);
    }
    const auto start = std::chrono::steady_clock::now();
    LOCKSTEP_TRY(Tail(recovered, observe, looks).replay(log));
    recovered.report.seconds_replay = seconds_since(start);
    return recovered;
  }
}

}  // namespace

Result<Recovered> recover_observed(const Log& log, const SnapshotStore* snapshots, Seq until, const Observe& observe) {
  return recover_looking(log, snapshots, until, observe, Looks::AtState);
}

Result<Recovered> recover(const Log& log, const SnapshotStore* snapshots, Seq until, const Progress& progress) {
  Observe observe;
  if (progress) {
    observe = [&progress](const State&, std::uint64_t done, std::uint64_t total) { return progress(done, total); };
  }
  return recover_looking(log, snapshots, until, observe, Looks::AtProgress);
}

}  // namespace lockstep
