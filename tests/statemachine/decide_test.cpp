// What scenarios cannot say: request ids, rejections that leave no trace, plans that have become stale, what-if on a
// copy, and input from callers that link the core without our manifest reader.
// Shows R05, R06, R43.

#include "statemachine/decide.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "statemachine/apply.h"
#include "statemachine/digest.h"
#include "statemachine/intents.h"
#include "tests/statemachine/world.h"

namespace lockstep {
namespace {

const char* const kTwo =
    "{roles: [{name: w, replicas: 2, tasks: '1*{cpu=8}'}], failure: {default: restartGroup, backoff: {base: 10s}}}";

TEST(Decide, ARejectionLeavesNoEventAndTheSameState) {
  World world(2);
  world.define("g", kTwo);
  const Digest before = world.state.digest();
  const std::size_t events = world.events.size();
  EXPECT_EQ(world.run(GroupCommand{GroupVerb::Resume, GroupId{1}}).code, AnswerCode::WrongPhase);
  EXPECT_EQ(world.run(GroupCommand{GroupVerb::Cancel, GroupId{99}}).code, AnswerCode::UnknownGroup);
  EXPECT_EQ(world.events.size(), events);
  EXPECT_EQ(world.state.digest(), before);
}

TEST(Decide, NeverFitsSaysWhatTheClusterLacks) {
  const auto refusal = [](World& world, const std::string& placement, const char* tasks) {
    const GroupId held = world.define("g", "{" + placement + "roles: [{name: w, tasks: '" + tasks + "'}]}", true);
    const Answer answer = world.run(GroupCommand{GroupVerb::Submit, held});
    EXPECT_EQ(answer.code, AnswerCode::NeverFits);
    return answer.text;
  };
  World none(0);
  EXPECT_EQ(refusal(none, "", "1*{cpu=1}"), "group g needs hosts, and this cluster has none");
  World small(2);
  EXPECT_EQ(refusal(small, "placement: {topology: {required: rack}}, ", "1*{cpu=1}"),
            "group g requires the topology level rack, which this cluster does not have");
  World other(2);
  EXPECT_EQ(refusal(other, "", "1*{cpu=9}"),
            "group g would not fit if every host were up and empty: role w needs 9 cpu, "
            "16 can be had in all, but not where it must be together");
}

TEST(Decide, ARequestAskedAgainGetsItsFirstAnswerAndIsNotDoneTwice) {
  World world(2);
  const GroupId id = world.define("g", kTwo, true);
  const Answer first = world.run(GroupCommand{GroupVerb::Submit, id}, 7, 1);
  EXPECT_EQ(first.code, AnswerCode::Done);
  const Digest after = world.state.digest();
  const Answer again = world.run(GroupCommand{GroupVerb::Submit, id}, 7, 1);
  EXPECT_EQ(again.code, AnswerCode::Done);
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.group, first.group);
  EXPECT_EQ(world.state.digest(), after);
}

TEST(Decide, ARejectedRequestStaysRejectedWhenAskedAgain) {
  World world(2);
  const GroupId id = world.define("g", kTwo, true);
  EXPECT_EQ(world.run(GroupCommand{GroupVerb::Resume, id}, 7, 1).code, AnswerCode::WrongPhase);
  EXPECT_EQ(world.run(GroupCommand{GroupVerb::Submit, id}).code, AnswerCode::Done);
  EXPECT_EQ(world.run(GroupCommand{GroupVerb::Suspend, id}).code, AnswerCode::Done);
  const Answer again = world.run(GroupCommand{GroupVerb::Resume, id}, 7, 1);
  EXPECT_EQ(again.code, AnswerCode::WrongPhase);
  EXPECT_TRUE(again.repeated);
}

TEST(Decide, AnswersAreKeptForTheLastRequestsOfAClientOnly) {
  World world(1);
  for (std::uint64_t request = 1; request <= kAnswersKept + 2; ++request) {
    const Command command{.client = 5, .request = request, .time = world.now, .body = SetPool{"license.a", 1}};
    EXPECT_EQ(execute(world.state, command).answer.code, AnswerCode::Done);
  }
  EXPECT_EQ(world.state.clients.at(5).answers.size(), kAnswersKept);
  EXPECT_EQ(world.run(SetPool{"license.a", 2}, 5, 1).code, AnswerCode::ForgottenRequest);
  EXPECT_EQ(world.run(SetPool{"license.a", 2}, 5, kAnswersKept).code, AnswerCode::Done);
}

TEST(Decide, ClientsAreBoundedAndTheOneSilentLongestIsForgotten) {
  World world(1);
  for (std::uint64_t client = 1; client <= kClientsKept + 1; ++client) {
    const Command command{.client = client, .request = 1, .time = world.now, .body = AdvanceTime{}};
    EXPECT_EQ(execute(world.state, command).answer.code, AnswerCode::Done);
  }
  EXPECT_EQ(world.state.clients.size(), kClientsKept);
  EXPECT_FALSE(world.state.clients.contains(1));
  EXPECT_EQ(check_invariants(world.state), "");
}

TEST(Decide, AStalePlanIsRefusedWhole) {
  World world(2);
  const GroupId first = world.define("a", "{roles: [{name: w, replicas: 1, tasks: '1*{cpu=8}'}]}");
  const GroupId second = world.define("b", "{roles: [{name: w, replicas: 1, tasks: '1*{cpu=8}'}]}");
  const Plan both = plan(world.state);
  ASSERT_EQ(both.actions.size(), 2U);
  EXPECT_EQ(world.run(HostCommand{HostVerb::Down, "n2"}).code, AnswerCode::Done);
  EXPECT_EQ(world.run(ApplyPlan{both}).code, AnswerCode::StalePlan);
  EXPECT_EQ(world.phase(first), GroupPhase::Pending);
  EXPECT_EQ(world.phase(second), GroupPhase::Pending);
}

TEST(Decide, APlanThatPlacesAPartIsRefused) {
  World world(2);
  const GroupId id = world.define("g", kTwo);
  Plan half = plan(world.state);
  std::get<PlaceAction>(half.actions.at(0)).members.pop_back();
  EXPECT_EQ(world.run(ApplyPlan{half}).code, AnswerCode::StalePlan);
  EXPECT_EQ(world.phase(id), GroupPhase::Pending);
}

TEST(Decide, APlanThatOverfillsAHostIsRefused) {
  World world(2);
  world.define("g", kTwo);
  Plan crowded = plan(world.state);
  auto& members = std::get<PlaceAction>(crowded.actions.at(0)).members;
  members[1].slices = members[0].slices;
  EXPECT_EQ(world.run(ApplyPlan{crowded}).code, AnswerCode::StalePlan);
}

// Two racks of one host, and what a plan was made for changes before it is taken.
void expect_refused_after(const std::string& spec, HostInfo changed) {
  SCOPED_TRACE(spec);
  World world(0);
  EXPECT_EQ(world.run(SetLevels{{"rack"}}).code, AnswerCode::Done);
  for (const char* name : {"n1", "n2"}) {
    const HostInfo host{.name = name, .counters = {{"cpu", 2000}}, .at = {"r1"}, .attributes = {{"model", "a"}}};
    EXPECT_EQ(world.run(SetHost{host}).code, AnswerCode::Done);
  }
  const GroupId id = world.define("g", spec);
  const Plan made = plan(world.state);
  ASSERT_EQ(made.actions.size(), 1U);
  changed.name = "n2";
  changed.counters = {{"cpu", 2000}};
  EXPECT_EQ(world.run(SetHost{changed}).code, AnswerCode::Done);
  EXPECT_EQ(world.run(ApplyPlan{made}).code, AnswerCode::StalePlan);
  EXPECT_EQ(world.phase(id), GroupPhase::Pending);
}

TEST(Decide, APlanWhoseHostHasMovedOrIsAnotherByNowIsRefused) {
  const std::string two = "roles: [{name: w, replicas: 2, tasks: '1*{cpu=2}'}]";
  const HostInfo moved{.at = {"r2"}, .attributes = {{"model", "a"}}};
  expect_refused_after("{placement: {topology: {required: rack}}, " + two + "}", moved);
  expect_refused_after("{roles: [{name: w, replicas: 2, topology: {required: rack}, tasks: '1*{cpu=2}'}]}", moved);
  expect_refused_after("{roles: [{name: w, replicas: 2, topology: {required: rack}, tasks: '1*{cpu=2}'}]}",
                       HostInfo{.attributes = {{"model", "a"}}});
  expect_refused_after("{roles: [{name: w, replicas: 2, tasks: [{count: 1, cpu: 2, select: {model: a}}]}]}",
                       HostInfo{.at = {"r1"}, .attributes = {{"model", "b"}}});
}

TEST(Decide, WhatIfChangesNothing) {
  World world(2);
  const GroupId id = world.define("g", kTwo);
  const Digest before = world.state.digest();
  const Decision decision = decide(world.state, {.time = world.now, .body = GroupCommand{GroupVerb::Cancel, id}});
  EXPECT_EQ(decision.answer.code, AnswerCode::Done);
  EXPECT_EQ(decision.events.size(), 1U);
  EXPECT_EQ(world.state.digest(), before);
  EXPECT_EQ(world.phase(id), GroupPhase::Pending);
}

TEST(Decide, TheCoreRefusesASpecThatNoManifestReaderWouldMake) {
  World world(1);
  DefineGroup define{.identity = {.name = "g", .user = "u"}, .spec = {}};
  EXPECT_EQ(world.run(define).code, AnswerCode::InvalidManifest);  // no role
  define.spec.roles.push_back({.name = "w", .replicas = 2, .min = 3, .max = 2, .tasks = {{.count = 1}}});
  EXPECT_EQ(world.run(define).code, AnswerCode::InvalidManifest);
}

TEST(Decide, ReportsAboutMembersThatDoNotExistAreLate) {
  World world(2);
  const GroupId id = world.define("g", kTwo);
  const Report nobody{.kind = ReportKind::Exit, .member = {7, 7}, .attempt = 1, .run = 1, .sequence = 1};
  EXPECT_EQ(world.run(ReportMember{id, nobody}).code, AnswerCode::Late);
  EXPECT_EQ(world.state.group(id)->head.late_reports, 1U);
  EXPECT_EQ(world.run(ReportMember{GroupId{42}, nobody}).code, AnswerCode::Late);
  EXPECT_EQ(world.state.head.late_unknown, 1U);
}

TEST(Decide, TimeNeverRunsBackwards) {
  World world(1);
  world.now = Time{seconds(100).value};
  world.define("g", "{roles: [{name: w, tasks: '1*{cpu=1}'}]}");
  world.now = Time{seconds(50).value};  // a wall clock that was set back
  world.schedule();
  EXPECT_EQ(world.events.back().time, Time{seconds(100).value});
}

TEST(Decide, APassedDeadlineComesBeforeANewDecision) {
  World world(2);
  const GroupId id = world.define("g", "{roles: [{name: w, tasks: '1*{cpu=1}'}], timeouts: {pend: 5s}}");
  world.now = Time{seconds(60).value};
  EXPECT_EQ(world.run(GroupCommand{GroupVerb::Suspend, id}).code, AnswerCode::WrongPhase);  // it has failed before
  EXPECT_EQ(world.phase(id), GroupPhase::Failed);
  EXPECT_EQ(world.state.group(id)->head.end.code, EndCode::PendTimeout);
}

TEST(Decide, EveryEventOfAGroupNamesTheOneBefore) {
  World world(2);
  const GroupId id = world.define("g", kTwo);
  world.bring_to_running(id);
  Seq last{};
  for (const Event& event : world.events) {
    if (event.group != id) continue;
    EXPECT_EQ(event.prev, last);
    last = event.seq;
  }
  EXPECT_EQ(world.state.group(id)->head.last_event, last);
}

// C91: what follows from one decision names its first event, however many members it reaches; what merely happens in
// the same command (another placement of the plan, another deadline) is a decision of its own.
TEST(Decide, EveryEventOfADecisionNamesItsFirst) {
  World world(3, 16);
  const std::string failing = "failure: {default: tolerate}, timeouts: {start: 60s}}";
  const GroupId a = world.define("a", "{roles: [{name: w, replicas: 2, tasks: '1*{cpu=8}'}], " + failing);
  const GroupId b = world.define("b", "{roles: [{name: w, replicas: 2, min: 1, tasks: '1*{cpu=16}'}], " + failing);
  const auto decisions_of = [&](const std::function<void()>& act) {
    const std::size_t before = world.events.size();
    act();
    std::vector<std::vector<EventKind>> decisions;
    Seq first{};
    for (std::size_t i = before; i < world.events.size(); ++i) {
      const Event& event = world.events[i];
      if (!event.cause) {
        decisions.emplace_back();
        first = event.seq;
      } else {
        EXPECT_EQ(event.cause, first) << name(kind(event));
      }
      if (!decisions.empty()) decisions.back().push_back(kind(event));
    }
    return decisions;
  };
  using K = EventKind;
  using Decisions = std::vector<std::vector<EventKind>>;
  EXPECT_EQ(decisions_of([&] { world.schedule(); }), (Decisions{{K::GroupPlaced}, {K::GroupPlaced}}));
  world.report(a, ReportKind::Armed, {0, 0});
  EXPECT_EQ(decisions_of([&] {
              world.report(a, ReportKind::Armed, {0, 1});
            }),
            (Decisions{{K::MemberArmed, K::GroupStarted}}));
  EXPECT_EQ(decisions_of([&] {
              world.run(GroupCommand{GroupVerb::Evict, a});
            }),
            (Decisions{{K::GroupPreempted, K::GroupStopping}}));
  world.report(a, ReportKind::Stopped, {0, 0});
  EXPECT_EQ(decisions_of([&] {
              world.report(a, ReportKind::Stopped, {0, 1});
            }),
            (Decisions{{K::MemberStopped, K::GroupRequeued}}));
  world.schedule();
  EXPECT_EQ(world.phase(a), GroupPhase::Placed);
  world.now = world.now + seconds(60);
  EXPECT_EQ(decisions_of([&] { world.run(AdvanceTime{}); }), (Decisions{{K::GroupStopping}, {K::GroupStopping}}));

  // Both members of `a` are on one host: declared down, it ends the group in the same decision.
  const std::string host = world.state.host(world.member(a, 0, 0).hosts.at(0).host)->facts.info.name;
  EXPECT_EQ(world.member(a, 0, 0).hosts.at(0).host, world.member(a, 0, 1).hosts.at(0).host);
  EXPECT_EQ(decisions_of([&] {
              world.run(HostCommand{HostVerb::Down, host});
            }),
            (Decisions{{K::HostChanged, K::MemberStopped, K::MemberStopped, K::GroupFailed}}));
  EXPECT_EQ(world.phase(b), GroupPhase::Stopping);
}

TEST(Decide, IntentsAreWhatTheStateOwesAndNothingElse) {
  World world(2);
  const GroupId id = world.define("g", kTwo);
  const auto owed = [&](IntentKind kind) {
    int count = 0;
    intents(world.state, [&](const Intent& intent) { count += intent.kind == kind ? 1 : 0; });
    return count;
  };
  EXPECT_EQ(owed(IntentKind::Arm), 0);
  world.schedule();
  EXPECT_EQ(owed(IntentKind::Arm), 2);
  world.report(id, ReportKind::Armed, {0, 0});
  EXPECT_EQ(owed(IntentKind::Arm), 1);
  EXPECT_EQ(owed(IntentKind::Start), 0);  // the barrier is down
  world.report(id, ReportKind::Armed, {0, 1});
  EXPECT_EQ(owed(IntentKind::Start), 2);
  world.run(GroupCommand{GroupVerb::Cancel, id});
  EXPECT_EQ(owed(IntentKind::Start), 0);
  EXPECT_EQ(owed(IntentKind::Stop), 2);
}

TEST(Apply, AnEventThatContradictsTheStateStopsTheProcess) {
  State state;
  EXPECT_DEATH(apply(state, Event{.seq = Seq{2}, .body = LevelsSet{}}), "does not follow");
  EXPECT_DEATH(apply(state, Event{.seq = Seq{1}, .group = GroupId{1}, .body = GroupRunning{}}), "not there");
}

}  // namespace
}  // namespace lockstep
