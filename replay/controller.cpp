#include "replay/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "events/walk.h"
#include "statemachine/decide.h"
#include "statemachine/invariants.h"

namespace lockstep {
namespace {

constexpr std::size_t kSnapshotsKept = 2;

// Counts the bytes of a field walk without making them.
struct CountSink {
  std::size_t bytes = 0;
  void put(const void*, std::size_t size) { bytes += size; }
};

template <class T>
std::size_t walk_bytes(const T& value) {
  CountSink sink;
  walk_write(sink, value);
  return sink.bytes;
}

std::size_t walk_bytes(const Event& event) {
  return std::visit([](const auto& body) { return sizeof(Event) - sizeof(EventBody) + walk_bytes(body); }, event.body);
}

// A definition that no record could hold is refused before it is looked at.
std::optional<Answer> refuse_oversized(const State& state, const Command& command) {
  const auto* define = std::get_if<DefineGroup>(&command.body);
  if (define == nullptr) return {};
  const std::size_t bytes = walk_bytes(*define);
  if (bytes <= kRecordFactsMax) return {};
  Answer answer;
  answer.code = AnswerCode::InvalidManifest;
  answer.seq = state.head.seq;
  answer.text =
      fmt::format("the manifest has {} bytes, at most {} can be recorded: make it smaller", bytes, kRecordFactsMax);
  return answer;
}

Command by_controller(CommandBody body, Actor actor, Time time) {
  Command command;
  command.time = time;
  command.actor = actor;
  command.body = std::move(body);
  return command;
}

}  // namespace

// ---- start ----------------------------------------------------------------------------------------------------------

Controller::Controller(Log& log, const SnapshotStore* snapshots, const ControllerOptions& options, Recovered recovered)
    : log_(log),
      snapshots_(snapshots),
      options_(options),
      state_(std::move(recovered.state)),
      head_(recovered.head),
      decided_(recovered.head),
      recovery_(std::move(recovered.report)),
      snapshot_tried_(recovery_.plan.snapshot.head.seq) {}

Result<std::unique_ptr<Controller>> Controller::start(Log& log, const SnapshotStore* snapshots,
                                                      const ControllerOptions& options, Time now) {
  auto recovered = recover(log, snapshots);
  LOCKSTEP_TRY(recovered);
  std::unique_ptr<Controller> controller(new Controller(log, snapshots, options, std::move(*recovered)));
  LOCKSTEP_TRY(controller->begin_epoch(now));
  return controller;
}

// One record: the deadlines that passed while nobody was there, before any new decision, and the epoch that fences
// whoever was there before.
Result<void> Controller::begin_epoch(Time now) {
  LOCKSTEP_TRY(check_state());
  const std::vector<Command> commands{
      by_controller(AdvanceTime{}, Actor::Clock, now),
      by_controller(StartController{kFeatureLevel}, Actor::Controller, now),
  };
  std::vector<Answer> answers;
  LOCKSTEP_TRY(execute(commands, answers));
  const Answer& started = answers.back();
  if (!is_rejection(started.code)) return {};
  return fail(ErrorCode::NewerFormat, fmt::format("start: {}", started.text), state_.head.seq);
}

// ---- commands -------------------------------------------------------------------------------------------------------

Result<std::vector<Answer>> Controller::execute(std::span<const Command> commands) {
  std::vector<Answer> answers;
  LOCKSTEP_TRY(execute(commands, answers));
  maintain();
  return answers;
}

Result<Answer> Controller::execute(const Command& command) {
  auto answers = execute(std::span(&command, 1));
  LOCKSTEP_TRY(answers);
  return std::move(answers->front());
}

Result<void> Controller::execute(std::span<const Command> commands, std::vector<Answer>& answered) {
  events_.clear();
  while (!commands.empty()) {
    auto batch = decide(commands);
    if (!batch) return tl::unexpected(undo(std::move(batch).error()));
    if (auto done = finish(*batch, append(log_, *batch)); !done) return tl::unexpected(undo(std::move(done).error()));
    std::move(batch->answers.begin(), batch->answers.end(), std::back_inserter(answered));
    std::move(batch->events.begin(), batch->events.end(), std::back_inserter(events_));
    commands = commands.subspan(batch->commands);
  }
  return {};
}

Result<Controller::Batch> Controller::decide(std::span<const Command> commands) {
  if (latched_) return tl::unexpected(*latched_);
  Batch batch;
  pending_bytes_ = 0;
  while (batch.commands < commands.size() && batch.events.size() < options_.batch_events_max &&
         pending_bytes_ < kRecordFactsMax) {
    auto answer = decide_one(commands[batch.commands], batch);
    LOCKSTEP_TRY(answer);
    batch.answers.push_back(std::move(*answer));
    ++batch.commands;
  }
  LOCKSTEP_TRY(encode(batch));
  return batch;
}

Result<Answer> Controller::decide_one(Command command, Batch& batch) {
  if (auto refused = refuse_oversized(state_, command)) return std::move(*refused);
  command.time = std::max(command.time, state_.head.time);
  Decision decision = lockstep::execute(state_, command);
  take_events(std::move(decision.events), batch);
  const std::uint64_t since_digest = state_.head.seq.value - state_.head.digest_seq.value;
  if (options_.digest_every != 0 && since_digest >= options_.digest_every) {
    const Command digest = by_controller(RecordDigest{}, Actor::Controller, state_.head.time);
    take_events(lockstep::execute(state_, digest).events, batch);
  }
  LOCKSTEP_TRY(check_state());
  return std::move(decision.answer);
}

void Controller::take_events(std::vector<Event> events, Batch& batch) {
  for (const Event& event : events) pending_bytes_ += walk_bytes(event);
  std::move(events.begin(), events.end(), std::back_inserter(batch.events));
}

// A wrong state never reaches the log.
Result<void> Controller::check_state() {
  if (!options_.check_invariants) return {};
  std::string violation = check_invariants(state_);
  if (violation.empty()) return {};
  if (violation_.empty()) violation_ = violation;
  return tl::unexpected(latch(Error{
      ErrorCode::Damaged, fmt::format("invariant violated, nothing was appended: {}", violation), state_.head.seq}));
}

// ---- the log --------------------------------------------------------------------------------------------------------

// How many of the events the next record takes: all, or as many as fit and end before a new decision.
std::size_t Controller::record_events(std::span<const Event> events) const {
  // What closes a record may go beyond the bound by one command; four times as much still encodes to less than a
  // record.
  const std::size_t bytes_max = 4 * kRecordFactsMax;
  if (events.size() <= kRecordEventsMax && pending_bytes_ <= bytes_max) return events.size();
  std::size_t fits = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < events.size() && i < kRecordEventsMax && bytes <= bytes_max; ++i) {
    if (i > 0 && events[i].cause == Seq{}) fits = i;
    bytes += walk_bytes(events[i]);
  }
  return fits;
}

Result<void> Controller::encode(Batch& batch) {
  for (std::span<const Event> events = batch.events; !events.empty();) {
    const std::size_t count = record_events(events);
    if (count == 0) {
      return fail(ErrorCode::Usage,
                  fmt::format("append: one decision has {} events and {} bytes, more than a record can hold: ask for "
                              "less at once",
                              events.size(), pending_bytes_),
                  next(decided_.seq));
    }
    batch.records.push_back(encode_record(decided_, state_.head.epoch, events.first(count)));
    decided_ = Head{events[count - 1].seq, hash_record(batch.records.back()), state_.head.epoch};
    for (const Event& event : events.first(count)) pending_bytes_ -= walk_bytes(event);
    events = events.subspan(count);
  }
  batch.after = decided_;
  return {};
}

Result<void> Controller::append(Log& log, const Batch& batch) {
  for (const auto& record : batch.records) LOCKSTEP_TRY(log.append(record));
  return {};
}

Result<void> Controller::finish(const Batch& batch, Result<void> appended) {
  LOCKSTEP_TRY(appended);
  head_ = batch.after;
  return {};
}

Error Controller::undo(Error error) {
  if (latched_) return *latched_;
  const bool nothing_appended =
      error.code == ErrorCode::DiskFull || error.code == ErrorCode::MapFull || error.code == ErrorCode::Usage;
  if (!nothing_appended) return latch(std::move(error));
  if (auto again = rebuild(); !again) return latch(std::move(again).error());
  return error;
}

// The state of what is durable, after a batch that is not.
Result<void> Controller::rebuild() {
  auto recovered = recover(log_, snapshots_);
  LOCKSTEP_TRY(recovered);
  // (A batch of several records may have been cut between two of them.)
  if (recovered->head != head_ && recovered->head.epoch != state_.head.epoch) {
    return fail(ErrorCode::NotLeader,
                fmt::format("append: the log ends at seq {}, not at seq {} where this controller left it: another one "
                            "has taken over",
                            recovered->head.seq.value, head_.seq.value),
                recovered->head.seq);
  }
  state_ = std::move(recovered->state);
  head_ = decided_ = recovered->head;
  return {};
}

Error Controller::latch(Error error) {
  if (!latched_) latched_ = std::move(error);
  return *latched_;
}

// ---- snapshots ------------------------------------------------------------------------------------------------------

Result<SnapshotInfo> Controller::snapshot() {
  if (latched_) return tl::unexpected(*latched_);
  if (snapshots_ == nullptr) return fail(ErrorCode::Usage, "snapshot: this controller keeps none");
  snapshot_tried_ = state_.head.seq;
  auto written = snapshots_->write(state_, head_);
  LOCKSTEP_TRY(written);
  for (const std::string& text : snapshots_->prune(kSnapshotsKept)) warn(text);
  return written;
}

bool Controller::snapshot_is_due() const {
  if (latched_ || snapshots_ == nullptr || options_.snapshot_every == 0) return false;
  return state_.head.seq.value - snapshot_tried_.value >= options_.snapshot_every;
}

void Controller::maintain() {
  if (!snapshot_is_due()) return;
  if (auto written = snapshot(); !written) warn(written.error().message);
}

Result<Seq> Controller::trim() {
  if (latched_) return tl::unexpected(*latched_);
  if (snapshots_ == nullptr) return log_.first();
  auto listed = snapshots_->list();
  LOCKSTEP_TRY(listed);
  if (listed->snapshots.size() < kSnapshotsKept) return log_.first();
  for (std::size_t i = 0; i < kSnapshotsKept; ++i) LOCKSTEP_TRY(check_can_recover(listed->snapshots[i]));
  LOCKSTEP_TRY(log_.trim(next(listed->snapshots[kSnapshotsKept - 1].head.seq)));
  return log_.first();
}

// Every byte of the snapshot, and that recovery would take it.
Result<void> Controller::check_can_recover(const SnapshotInfo& info) const {
  LOCKSTEP_TRY(verify_snapshot(info.path));
  auto plan = plan_recovery(log_, snapshots_, info.head.seq);
  LOCKSTEP_TRY(plan);
  if (plan->from_snapshot && plan->snapshot.path == info.path) return {};
  return fail(
      ErrorCode::Damaged,
      fmt::format("trim: nothing was trimmed, for recovery would not use a snapshot: {}", fmt::join(plan->why, "; ")),
      info.head.seq);
}

// The same thing again is said once.
void Controller::warn(const std::string& text) {
  if (text == warned_ || !options_.warn) return;
  warned_ = text;
  options_.warn(text);
}

}  // namespace lockstep
