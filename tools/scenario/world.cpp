#include "tools/scenario/world.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <system_error>
#include <utility>

#include "snapshot/snapshot.h"
#include "statemachine/apply.h"
#include "statemachine/digest.h"
#include "statemachine/invariants.h"
#include "tools/scenario/trace.h"

namespace lockstep::scenario {
namespace {

constexpr std::size_t kDifferencesMax = 5;  // told of one comparison
constexpr std::size_t kUnmetMax = 20;       // told of one step
// Checking every invariant costs O(state): above this many hosts and groups only those of the group at hand are checked
// after each event, and all of them at the end of the step.
constexpr std::size_t kCheckAllMax = 512;
constexpr std::uint64_t kDigestEvery = 16;  // often, so that every recovery compares some
constexpr std::string_view kMemoryStoreId = "00000000000000000000000000000000";

Result<std::filesystem::path> make_temporary() {
  std::error_code error;
  auto pattern = (std::filesystem::temp_directory_path(error) / "lockstep-scenario-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorCode::StorageFailed, fmt::format("{}: no temporary directory can be made there", pattern));
  }
  return std::filesystem::path(pattern);
}

bool is_large(const State& state) { return state.hosts.size() + state.groups.size() > kCheckAllMax; }

std::string one_line(const std::vector<std::string>& differences) {
  return fmt::format("{}", fmt::join(differences, "; "));
}

// Every event after `seq`, in order.
template <class Visit>
Result<void> read_tail(const Log& log, Seq seq, Visit visit) {
  return log.read(next(seq), [&](const RecordHeader&, std::span<const std::byte> record) -> Result<Continue> {
    const auto events = decode_record(record, "the scenario's log");
    LOCKSTEP_TRY(events);
    for (const Event& event : *events) {
      if (event.seq > seq) visit(event);
    }
    return Continue::Yes;
  });
}

// What differs, or one line that says that only the digests do.
std::vector<std::string> differences(const State& a, const State& b) {
  auto lines = diff_states(a, b, kDifferencesMax);
  if (lines.empty() && compute_digest(a) != compute_digest(b)) lines.emplace_back("the digests");
  if (lines.empty() && (a.digest() != compute_digest(a) || b.digest() != compute_digest(b))) {
    lines.emplace_back("the kept digest from the computed one");
  }
  return lines;
}

}  // namespace

// ---- opening and closing ------------------------------------------------------------------------------------------

World::World(const ScenarioOptions& options) : options_(options) {}

World::~World() {
  close();
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
}

Result<std::unique_ptr<World>> World::open(const ScenarioOptions& options) {
  std::unique_ptr<World> world(new World(options));
  if (options.store == ScenarioStore::Memory || options.directory.empty()) {
    auto temporary = make_temporary();
    LOCKSTEP_TRY(temporary);
    world->temporary_ = std::move(*temporary);
  }
  if (options.store == ScenarioStore::Lmdb) LOCKSTEP_TRY(init_store(world->directory(), {.ring_slots = 256}));
  LOCKSTEP_TRY(world->open_store());
  LOCKSTEP_TRY(world->start(Count::Yes));
  return world;
}

std::filesystem::path World::directory() const {
  return options_.directory.empty() ? temporary_ / "store" : options_.directory;
}

Result<void> World::open_store() {
  if (options_.store == ScenarioStore::Memory) {
    memory_.reopen();
    log_ = &memory_;
    snapshots_ = std::make_unique<SnapshotStore>(temporary_, std::string(kMemoryStoreId));
    return {};
  }
  auto store = lockstep::open_store(directory(), OpenMode::Write);
  LOCKSTEP_TRY(store);
  store_ = std::move(*store);
  log_ = store_.log.get();
  snapshots_ = std::make_unique<SnapshotStore>(store_.snapshots(), store_.id);
  return {};
}

Result<void> World::start(Count count) {
  ControllerOptions options;
  options.digest_every = kDigestEvery;
  options.snapshot_every = 0;
  auto controller = Controller::start(*log_, snapshots_.get(), options, now_);
  LOCKSTEP_TRY(controller);
  controller_ = std::move(*controller);
  return read_events(count);
}

void World::close() {
  controller_.reset();
  snapshots_.reset();
  log_ = nullptr;
  store_ = Store{};
}

// ---- commands -----------------------------------------------------------------------------------------------------

Result<std::vector<Answer>> World::execute(std::vector<Command> commands) {
  for (Command& command : commands) command.time = now_;
  auto answers = controller_->execute(commands);
  LOCKSTEP_TRY(answers);
  LOCKSTEP_TRY(read_events(Count::Yes));
  return answers;
}

Result<Answer> World::execute(Actor actor, CommandBody body) {
  std::vector<Command> commands(1);
  commands[0].actor = actor;
  commands[0].body = std::move(body);
  auto answers = execute(std::move(commands));
  LOCKSTEP_TRY(answers);
  return std::move(answers->front());
}

Result<void> World::read_events(Count count) {
  LOCKSTEP_TRY(read_tail(*log_, shadow_.head.seq, [&](const Event& event) { learn(event, count); }));
  if (shadow_.digest() != state().digest()) compare(state(), "the state to be what its events say");
  return {};
}

void World::learn(const Event& event, Count count) {
  apply(shadow_, event);
  book_.learn(event, count);
  if (tracing_ && is_shown(event)) trace_.push_back(format_event(book_, event));
  if (options_.check) check_shadow(event);
}

void World::end_step() {
  if (!options_.check || !is_large(shadow_)) return;
  if (auto broken = check_invariants(shadow_); !broken.empty()) add_unmet({"the invariants to hold", broken});
}

void World::check_shadow(const Event& event) {
  std::string broken;
  if (!is_large(shadow_)) {
    broken = check_invariants(shadow_);
  } else if (const Group* group = shadow_.group(event.group)) {
    broken = check_group_invariants(shadow_, *group);
  }
  if (broken.empty()) return;
  add_unmet({fmt::format("the invariants to hold after {}", format_event(book_, event)), broken});
}

void World::compare(const State& other, const std::string& what) {
  const auto lines = differences(shadow_, other);
  if (!lines.empty()) add_unmet({what, "a difference: " + one_line(lines)});
}

// ---- crashes, snapshots, replays ----------------------------------------------------------------------------------

Result<void> World::restart(Duration downtime, Count count) {
  close();
  LOCKSTEP_TRY(open_store());
  {
    const auto recovered = recover(*log_, snapshots_.get());
    LOCKSTEP_TRY(recovered);
    compare(recovered->state, "recovery to reach the state before the crash");
  }
  now_ = now_ + downtime;
  return start(count);
}

Result<void> World::snapshot() {
  LOCKSTEP_TRY(controller_->snapshot());
  return {};
}

Result<void> World::trim() {
  LOCKSTEP_TRY(controller_->trim());
  return {};
}

Result<std::vector<std::string>> World::replay_differences() const {
  std::vector<std::string> found;
  const auto add = [&](const std::string& from, const State& replayed) {
    for (const auto& line : differences(state(), replayed)) found.push_back(from + ": " + line);
  };
  const auto first = log_->first();
  LOCKSTEP_TRY(first);
  if (*first == Seq{1}) {
    const auto replayed = recover(*log_, nullptr);
    LOCKSTEP_TRY(replayed);
    add("from empty", replayed->state);
  }
  const auto listing = snapshots_->list();
  LOCKSTEP_TRY(listing);
  for (const auto& damaged : listing->damaged) found.push_back(damaged.message);
  for (const auto& snapshot : listing->snapshots) {
    const auto replayed = replay_from(snapshot);
    LOCKSTEP_TRY(replayed);
    add(fmt::format("from the snapshot at seq {}", snapshot.head.seq.value), *replayed);
  }
  return found;
}

Result<State> World::replay_from(const SnapshotInfo& snapshot) const {
  auto state = load_snapshot(snapshot.path);
  LOCKSTEP_TRY(state);
  LOCKSTEP_TRY(read_tail(*log_, state->head.seq, [&](const Event& event) { apply(*state, event); }));
  return state;
}

// ---- what a step has to tell --------------------------------------------------------------------------------------

std::vector<std::string> World::take_trace() { return std::exchange(trace_, {}); }
std::vector<Unmet> World::take_unmet() { return std::exchange(unmet_, {}); }

void World::add_unmet(Unmet unmet) {
  if (unmet_.size() >= kUnmetMax || !told_.insert(unmet.got).second) return;
  unmet_.push_back(std::move(unmet));
}

}  // namespace lockstep::scenario
