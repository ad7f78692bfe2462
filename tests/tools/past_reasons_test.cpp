// Why did a group wait then? explain() is a function of the state alone, and the log has every state. A story brings
// every code of LIFECYCLE.md about; what each group answers is kept with its seq while that is the present. At the end
// the state of each seq is made again by recover(), from the first event and from snapshots, and must answer the same,
// fact by fact; so must the JSON that `why` and `state --at` print. Seqs inside a batch, which never were the present
// of anybody, must answer what the events up to there say.
//
// Reservations and what was evicted for them are events that the test puts into the log itself, so that each fact can
// be written by hand. Shows R39.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "events/log/memory_log.h"
#include "events/record.h"
#include "replay/controller.h"
#include "scheduler/plan.h"
#include "statemachine/apply.h"
#include "statemachine/explain.h"
#include "tests/tools/process.h"
#include "tools/lockstep/view.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

// Every fact of an answer.
std::string facts(const Reason& reason) {
  std::vector<std::uint64_t> blockers;
  for (const GroupId id : reason.blockers) blockers.push_back(id.value);
  return fmt::format("{} role={} resource={} needed={} free={} domain={} blockers=[{}] since={} projected={}",
                     name(reason.code), reason.role == kNoRole ? "none" : std::to_string(reason.role), reason.resource,
                     reason.needed, reason.free, reason.domain, fmt::join(blockers, ","), reason.since.value,
                     reason.projected_start.value);
}

struct Told {  // by whom, and what, when the state was at `seq`
  Seq seq{};
  GroupId group{};
  std::string facts;
  std::string json;
};

std::vector<Told> told_by(const State& state) {
  std::vector<Told> all;
  state.groups.for_each([&](const Group& group) {
    all.push_back({state.head.seq, group.head.id, facts(explain(state, group)), reason_json(state, group).dump()});
  });
  return all;
}

class PastReasons : public ::testing::Test {
 protected:
  void SetUp() override {
    snapshots_ = std::make_unique<SnapshotStore>(directory_.path(), std::string(32, '0'));
    start();
    execute(SetLevels{{"rack"}});
    for (const char* host : {"a1", "a2", "b1", "b2", "c1"}) add_host(host);
  }

  [[nodiscard]] const State& state() const { return controller_->state(); }
  [[nodiscard]] const Group& group(GroupId id) const { return *state().group(id); }

  void start() {
    controller_.reset();
    auto controller = Controller::start(log_, snapshots_.get(), ControllerOptions{.digest_every = 8}, now_);
    ASSERT_TRUE(controller) << controller.error().message;
    controller_ = std::move(*controller);
    remember();
  }

  // A second later.
  Answer execute(CommandBody body) {
    now_ = now_ + seconds(1);
    const auto answer = controller_->execute(Command{.time = now_, .body = std::move(body)});
    EXPECT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->code, AnswerCode::Done) << answer->text;
    remember();
    return *answer;
  }

  void add_host(const std::string& host) {
    execute(SetHost{HostInfo{.name = host,
                             .counters = {{"cpu", 8'000}},
                             .at = {std::string("r-") + host[0]},
                             .attributes = {{"name", host}}}});
  }

  GroupId define(const std::string& name, const std::string& spec, bool hold = false) {
    const auto read = read_manifest("kind: GangGroup\nmetadata: {name: " + name + "}\nspec: " + spec + "\n", "ana");
    EXPECT_TRUE(read.problems.empty()) << read.problems.front().path << read.problems.front().text;
    DefineGroup define = read.groups.at(0);
    define.hold = hold;
    return execute(define).group;
  }

  void schedule() { execute(ApplyPlan{plan(state())}); }
  void verb(GroupVerb verb, GroupId id) { execute(GroupCommand{verb, id}); }

  void report(GroupId id, ReportKind kind, MemberKey key, std::int32_t exit_code = 0) {
    const Member& member = group(id).roles.at(key.role).members.at(key.index);
    execute(ReportMember{id, Report{.kind = kind,
                                    .member = key,
                                    .attempt = group(id).head.attempt,
                                    .run = member.run,
                                    .sequence = member.sequence + 1,
                                    .exit_code = exit_code}});
  }

  void bring_up(GroupId id) {
    for (const ReportKind kind : {ReportKind::Armed, ReportKind::Started}) {
      for (RoleIndex role = 0; role < group(id).roles.size(); ++role) {
        for (std::uint32_t index = 0; index < group(id).roles[role].members.size(); ++index) {
          report(id, kind, {role, index});
        }
      }
    }
    EXPECT_EQ(group(id).head.phase, GroupPhase::Running);
  }

  // What this release never decides, but understands: the event is put into the log, and the controller finds it there.
  void find_in_log(GroupId id, EventBody body) {
    now_ = now_ + seconds(1);
    const Event event{.seq = next(state().head.seq),
                      .prev = group(id).head.last_event,
                      .time = now_,
                      .actor = Actor::Scheduler,
                      .group = id,
                      .body = std::move(body)};
    const auto record = encode_record(controller_->head(), state().head.epoch, std::span(&event, 1));
    controller_.reset();
    ASSERT_TRUE(log_.append(record));
    start();
  }

  // The present, said by hand; `since` is when the group came into its phase.
  void expect_now(GroupId id, Reason expected) {
    if (expected.code != ReasonCode::None) expected.since = group(id).head.phase_since;
    EXPECT_EQ(facts(explain(state(), group(id))), facts(expected)) << "group " << group(id).head.identity.name;
    expected_.insert(expected.code);
  }

  void remember() {
    for (Told& told : told_by(state())) told_.push_back(std::move(told));
  }

  [[nodiscard]] std::vector<Event> events() const {
    std::vector<Event> all;
    const auto read = log_.read(Seq{1}, [&](const RecordHeader&, auto record) -> Result<Continue> {
      const auto decoded = decode_record(record, "the test's log");
      LOCKSTEP_TRY(decoded);
      all.insert(all.end(), decoded->begin(), decoded->end());
      return Continue::Yes;
    });
    EXPECT_TRUE(read);
    return all;
  }

  void play();
  void play_reservation(GroupId waits, GroupId victim);

  testing::TempDir directory_;
  MemoryLog log_;
  std::unique_ptr<SnapshotStore> snapshots_;
  std::unique_ptr<Controller> controller_;
  Time now_{seconds(1'000).value};
  std::vector<Told> told_;
  std::set<ReasonCode> expected_;
};

void PastReasons::play() {
  const GroupId held = define("held", "{roles: [{name: w, tasks: '1*{cpu=8}'}]}", true);
  expect_now(held, {.code = ReasonCode::Held});

  // From the queue to its run, and down again.
  const GroupId train = define(
      "train",
      "{placement: {topology: {required: rack}}, roles: [{name: head, tasks: '1*{cpu=8}'}, "
      "{name: w, tasks: '1*{cpu=8}', after: {head: started}}], "
      "claims: [{name: scratch, per: member, roles: [w]}], failure: {default: restartGroup, backoff: {base: 10m}}}");
  expect_now(train, {.code = ReasonCode::WaitingBehind});
  schedule();
  expect_now(train, {.code = ReasonCode::WaitingForClaim, .role = 1, .resource = "scratch", .domain = "r-a"});
  execute(ReportClaim{train, ClaimRef{{}, ClaimKey{0, {1, 0}}}, ClaimReportKind::Ready});
  expect_now(train, {.code = ReasonCode::WaitingForArm, .role = 0, .domain = "r-a"});
  report(train, ReportKind::Armed, {0, 0});
  expect_now(train, {.code = ReasonCode::WaitingForArm, .role = 1, .domain = "r-a"});
  report(train, ReportKind::Armed, {1, 0});
  expect_now(train, {.code = ReasonCode::WaitingForOrder, .role = 1, .domain = "r-a"});
  report(train, ReportKind::Started, {0, 0});
  expect_now(train, {.code = ReasonCode::WaitingForStart, .role = 1, .domain = "r-a"});
  report(train, ReportKind::Started, {1, 0});
  expect_now(train, {});
  report(train, ReportKind::Exit, {1, 0}, 1);
  expect_now(train, {.code = ReasonCode::WaitingForOldAttempt, .domain = "r-a"});
  report(train, ReportKind::Stopped, {0, 0});
  expect_now(train, {.code = ReasonCode::Backoff, .domain = "r-a"});
  ASSERT_TRUE(controller_->snapshot());

  // What stands in the way of a pair that wants one rack: b1 and c1 are free, a1 and a2 are kept, b2 is taken.
  const GroupId one = define("one", "{roles: [{name: w, tasks: [{cpu: 8, select: {name: b2}}]}]}");
  schedule();
  bring_up(one);
  const GroupId pair = define("pair",
                              "{placement: {topology: {required: rack}}, roles: [{name: w, replicas: 2, tasks: "
                              "'1*{cpu=8}'}], failure: {default: restartMember}}");
  expect_now(
      pair, {.code = ReasonCode::TopologyUnsatisfiable, .role = 0, .resource = "cpu", .needed = 16'000, .free = 8'000});
  execute(HostCommand{HostVerb::Down, "c1"});
  expect_now(
      pair, {.code = ReasonCode::InsufficientResources, .role = 0, .resource = "cpu", .needed = 16'000, .free = 8'000});
  const GroupId lonely = define("lonely", "{roles: [{name: w, tasks: [{cpu: 8, select: {name: c1}}]}]}");
  expect_now(lonely,
             {.code = ReasonCode::WaitingForHosts, .role = 0});  // no host it could take, so no counter is short
  execute(HostCommand{HostVerb::Remove, "c1"});
  expect_now(lonely, {.code = ReasonCode::NeverFits, .role = 0});
  verb(GroupVerb::Cancel, lonely);
  report(one, ReportKind::Exit, {0, 0});
  expect_now(pair, {.code = ReasonCode::WaitingBehind});
  schedule();
  bring_up(pair);

  // Of a member of a group that runs: inside its domain.
  execute(HostCommand{HostVerb::Down, "b1"});
  expect_now(
      pair,
      {.code = ReasonCode::WaitingForHosts, .role = 0, .resource = "cpu", .needed = 8'000, .free = 0, .domain = "r-b"});
  execute(HostCommand{HostVerb::Up, "b1"});
  schedule();
  report(pair, ReportKind::Armed, {0, 0});
  report(pair, ReportKind::Started, {0, 0});

  verb(GroupVerb::Suspend, train);
  expect_now(train, {.code = ReasonCode::Suspended});
  verb(GroupVerb::Resume, train);
  verb(GroupVerb::Cancel, train);
  execute(ReportClaim{train, ClaimRef{{}, ClaimKey{0, {1, 0}}}, ClaimReportKind::Released});
  verb(GroupVerb::Purge, train);
  verb(GroupVerb::Cancel, held);
  ASSERT_TRUE(controller_->snapshot());
  play_reservation(
      define("big", "{placement: {topology: {required: rack}}, roles: [{name: w, replicas: 2, tasks: '1*{cpu=8}'}]}"),
      pair);
}

void PastReasons::play_reservation(GroupId waits, GroupId victim) {
  verb(GroupVerb::Evict, victim);
  const Time projected = now_ + minutes(5);
  find_in_log(waits, ReservationOpened{
                         .domain = "r-b", .victims = {victim}, .deadline = now_ + minutes(30), .projected = projected});
  expect_now(
      waits,
      {.code = ReasonCode::WaitingForPreempted, .domain = "r-b", .blockers = {victim}, .projected_start = projected});
  report(victim, ReportKind::Stopped, {0, 0});
  report(victim, ReportKind::Stopped, {0, 1});
  expect_now(waits, {.code = ReasonCode::ReservationAccumulating, .domain = "r-b", .projected_start = projected});
  const HostId host = state().host_named("b1")->facts.id;
  find_in_log(waits,
              ReservationExtended{.members = {{{0, 0}, {Slice{host, 0, 1}}}}, .projected = projected + minutes(1)});
  expect_now(waits,
             {.code = ReasonCode::ReservationAccumulating, .domain = "r-b", .projected_start = projected + minutes(1)});
  now_ = now_ + minutes(30);
  execute(AdvanceTime{});
  expect_now(waits, {.code = ReasonCode::WaitingBehind});
  execute(HostCommand{HostVerb::Remove, "b2"});
  schedule();
}

TEST_F(PastReasons, EveryCodeIsAnsweredWithItsFactsForEverySeq) {
  play();
  std::set<ReasonCode> all;
  for (std::uint8_t code = 0; is_enumerator<ReasonCode>(code); ++code) all.insert(static_cast<ReasonCode>(code));
  EXPECT_EQ(expected_, all);

  // Every seq, also those inside a batch; and the present of each batch is among them.
  std::map<std::pair<Seq, GroupId>, Told> by_events;
  State so_far;
  for (const Event& event : events()) {
    apply(so_far, event);
    for (Told& told : told_by(so_far)) by_events[{told.seq, told.group}] = std::move(told);
  }
  ASSERT_EQ(so_far.head.seq, state().head.seq);
  for (const Told& told : told_) {
    const auto found = by_events.find({told.seq, told.group});
    ASSERT_NE(found, by_events.end());
    EXPECT_EQ(found->second.facts, told.facts) << "at seq " << told.seq.value;
  }

  const SnapshotStore* const sources[] = {nullptr, snapshots_.get()};
  for (const SnapshotStore* source : sources) {
    std::size_t from_snapshots = 0;
    for (Seq seq{1}; seq <= state().head.seq; seq = next(seq)) {
      const auto recovered = recover(log_, source, seq);
      ASSERT_TRUE(recovered) << recovered.error().message;
      from_snapshots += recovered->report.plan.from_snapshot ? 1U : 0U;
      const std::vector<Told> then = told_by(recovered->state);
      EXPECT_EQ(then.size(), recovered->state.groups.size());
      for (const Told& told : then) {
        EXPECT_EQ(told.facts, by_events.at({seq, told.group}).facts) << "at seq " << seq.value;
        EXPECT_EQ(told.json, by_events.at({seq, told.group}).json) << "at seq " << seq.value;
      }
    }
    EXPECT_EQ(from_snapshots > 0, source != nullptr);
  }
  EXPECT_GT(told_.size(), 100U);
}

}  // namespace
}  // namespace lockstep::cli
