// What the state keeps of a group is as large as the group, not as long as its life: late reports are a number, and of
// charged restarts only those are kept that a budget can still compare. The rest of the history is in the log. Sizes
// are those of a snapshot before it is compressed: every fact of the state, and of the group, as the field walk writes
// it.

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <vector>

#include "tests/replay/state_bytes.h"
#include "tests/statemachine/world.h"

namespace lockstep {
namespace {

constexpr int kLateReports = 100'000;
constexpr int kRestarts = 10'000;
constexpr int kMoves = 1'000;     // of what may go on for ever besides
constexpr int kFirstRounds = 10;  // after these a record has what it ever has

struct RecordSize {
  std::size_t state{};
  std::size_t group{};
  friend bool operator==(const RecordSize&, const RecordSize&) = default;
  friend std::ostream& operator<<(std::ostream& out, const RecordSize& size) {
    return out << size.group << " bytes of the group, " << size.state << " of the state";
  }
};

RecordSize record_size(const World& world, GroupId id) {
  std::vector<std::byte> group;
  ByteSink sink{group};
  walk_write(sink, *world.state.group(id));
  return {test::facts_of(world.state).size(), group.size()};
}

// Like World::run, without the events and without the invariants after each: for very many.
AnswerCode tell(World& world, CommandBody body, Actor actor = Actor::Agent) {
  return execute(world.state, Command{.time = world.now, .actor = actor, .body = std::move(body)}).answer.code;
}

Report report_of(const World& world, GroupId id, ReportKind kind, MemberKey key, std::int32_t exit_code = 0) {
  const Group& group = *world.state.group(id);
  const Member& member = group.roles.at(key.role).members.at(key.index);
  return Report{.kind = kind,
                .member = key,
                .attempt = group.head.attempt,
                .run = member.run,
                .sequence = member.sequence + 1,
                .exit_code = exit_code};
}

// Every agent does what it is asked, again and again until nobody is asked for anything.
void let_agents_work(World& world, GroupId id) {
  const auto asked = [](MemberPhase phase) -> std::optional<ReportKind> {
    if (phase == MemberPhase::Placed) return ReportKind::Armed;
    if (phase == MemberPhase::Starting) return ReportKind::Started;
    if (phase == MemberPhase::Stopping) return ReportKind::Stopped;
    return {};
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (RoleIndex role = 0; role < world.state.group(id)->roles.size(); ++role) {
      for (std::uint32_t index = 0; index < world.state.group(id)->roles[role].members.size(); ++index) {
        const auto kind = asked(world.member(id, role, index).phase);
        if (!kind) continue;
        changed = true;
        ASSERT_EQ(tell(world, ReportMember{id, report_of(world, id, *kind, {role, index})}), AnswerCode::Done);
      }
    }
  }
}

// Rounds of something that leads back to where it began. The record is as large after all of them as after a few.
template <class Round>
void expect_bounded(World& world, GroupId id, int rounds, Round round) {
  RecordSize first;
  for (int i = 0; i < rounds; ++i) {
    if (i == kFirstRounds) first = record_size(world, id);
    round();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "in round " << i;
  }
  EXPECT_EQ(record_size(world, id), first);
  EXPECT_EQ(check_invariants(world.state), "");
}

GroupId running_pair(World& world, const std::string& failure) {
  const GroupId id =
      world.define("g", "{roles: [{name: w, replicas: 2, tasks: '1*{cpu=8}'}], failure: " + failure + "}");
  world.bring_to_running(id);
  return id;
}

// A member fails every 20 seconds, so that two failures are less than a window of 30 seconds ago, never three.
void expect_bounded_by_failing(World& world, GroupId id) {
  expect_bounded(world, id, kRestarts, [&] {
    world.now = world.now + seconds(20);
    EXPECT_EQ(tell(world, ReportMember{id, report_of(world, id, ReportKind::Exit, {0, 0}, 7)}), AnswerCode::Done);
    let_agents_work(world, id);
    EXPECT_EQ(world.phase(id), GroupPhase::Running);
  });
}

// ---- late reports ---------------------------------------------------------------------------------------------------

TEST(BoundedRecord, LateReportsAreANumber) {
  World world(2);
  const GroupId id = running_pair(world, "{default: restartGroup}");
  const auto late = [&](int which) -> CommandBody {
    Report report = report_of(world, id, ReportKind::Exit, {0, 0}, 1);
    switch (which % 6) {
      case 0:
        report.attempt -= 1;
        break;
      case 1:
        report.run += 1;
        break;
      case 2:
        report.kind = ReportKind::Started;
        break;
      case 3:
        report.sequence -= 2;
        break;
      case 4:
        report.member = {0, 99 + static_cast<std::uint32_t>(which)};
        break;
      default:
        return ReportClaim{id, ClaimRef{{}, ClaimKey{static_cast<std::uint32_t>(which)}}, ClaimReportKind::Ready};
    }
    return ReportMember{id, report};
  };
  const RecordSize before = record_size(world, id);
  const Group group = *world.state.group(id);
  for (int i = 0; i < kLateReports; ++i) ASSERT_EQ(tell(world, late(i)), AnswerCode::Late) << i;
  EXPECT_EQ(record_size(world, id), before);

  // Nothing but the number, and where the history ends.
  const Group& after = *world.state.group(id);
  EXPECT_EQ(after.head.late_reports, static_cast<std::uint64_t>(kLateReports));
  GroupHead head = after.head;
  head.late_reports = group.head.late_reports;
  head.last_event = group.head.last_event;
  EXPECT_EQ(head, group.head);
  EXPECT_EQ(after.roles[0].head, group.roles[0].head);
  EXPECT_EQ(after.roles[0].members, group.roles[0].members);
  EXPECT_EQ(after.claims, group.claims);
  EXPECT_EQ(check_invariants(world.state), "");
}

TEST(BoundedRecord, LateReportsOfGroupsThatNobodyKnowsAreANumber) {
  World world(2);
  const GroupId id = running_pair(world, "{default: restartGroup}");
  const RecordSize before = record_size(world, id);
  for (std::uint64_t i = 0; i < kLateReports; ++i) {
    const ReportMember report{GroupId{1'000 + i}, Report{.kind = ReportKind::Exit, .member = {0, 0}, .sequence = i}};
    ASSERT_EQ(tell(world, report), AnswerCode::Late);
  }
  EXPECT_EQ(record_size(world, id), before);
  EXPECT_EQ(world.state.head.late_unknown, static_cast<std::uint64_t>(kLateReports));
}

// ---- restarts -------------------------------------------------------------------------------------------------------

TEST(BoundedRecord, GroupRestartsWithoutChargeAreANumber) {
  World world(2);
  const GroupId id = running_pair(world, "{rules: [{exitCodes: [7], action: restartGroup, charge: false}]}");
  expect_bounded_by_failing(world, id);
  EXPECT_EQ(world.state.group(id)->head.attempt, 1U + kRestarts);
  EXPECT_EQ(world.state.group(id)->head.charged, 0U);
}

TEST(BoundedRecord, ChargedGroupRestartsAreKeptWhileTheirWindowLasts) {
  World world(2);
  const GroupId id = running_pair(world, "{default: restartGroup, maxRestarts: 3, window: 30s, backoff: {base: 0s}}");
  expect_bounded_by_failing(world, id);
  EXPECT_EQ(world.state.group(id)->head.attempt, 1U + kRestarts);
  EXPECT_EQ(world.state.group(id)->head.charged, static_cast<std::uint32_t>(kRestarts));
  EXPECT_EQ(world.state.group(id)->head.charges.size(), 2U);
}

TEST(BoundedRecord, MemberRestartsChargedToTheGroupAreKeptWhileTheirWindowLasts) {
  World world(2);
  const GroupId id = running_pair(world, "{default: restartMember, maxRestarts: 3, window: 30s}");
  expect_bounded_by_failing(world, id);
  EXPECT_EQ(world.member(id, 0, 0).run, 1U + kRestarts);
  EXPECT_EQ(world.state.group(id)->head.charges.size(), 2U);
}

TEST(BoundedRecord, RoleRestartsAreKeptWhileTheirWindowLasts) {
  World world(2);
  const GroupId id = running_pair(world, "{default: restartRole, maxRestartsPerRole: {w: 3}, window: 30s}");
  expect_bounded_by_failing(world, id);
  EXPECT_EQ(world.state.group(id)->roles[0].head.charges.size(), 2U);
}

TEST(BoundedRecord, MemberRestartsAreKeptWhileTheirWindowLasts) {
  World world(2);
  const GroupId id = running_pair(world, "{default: restartMember, maxRestartsPerMember: 3, window: 30s}");
  expect_bounded_by_failing(world, id);
  EXPECT_EQ(world.state.group(id)->member_charges.at({0, 0}).times.size(), 2U);
}

// Without a window every charge counts for ever: as many are kept as the budget has, and then the group ends.
TEST(BoundedRecord, WithoutAWindowTheBudgetIsTheBound) {
  constexpr std::uint32_t kBudget = 50;
  for (const std::string& failure : {std::string("{default: restartGroup, maxRestarts: 50, backoff: {base: 0s}}"),
                                     std::string("{default: restartRole, maxRestartsPerRole: {w: 50}}"),
                                     std::string("{default: restartMember, maxRestartsPerMember: 50}")}) {
    World world(2);
    const GroupId id = running_pair(world, failure);
    std::uint32_t restarts = 0;
    for (; world.phase(id) == GroupPhase::Running && restarts < 2 * kBudget; ++restarts) {
      EXPECT_EQ(tell(world, ReportMember{id, report_of(world, id, ReportKind::Exit, {0, 0}, 7)}), AnswerCode::Done);
      let_agents_work(world, id);
    }
    EXPECT_EQ(world.phase(id), GroupPhase::Failed) << failure;
    const Group& group = *world.state.group(id);
    std::size_t kept = group.head.charges.size() + group.roles[0].head.charges.size();
    for (const auto& [member, charges] : group.member_charges) kept += charges.times.size();
    EXPECT_EQ(kept, kBudget) << failure;
    EXPECT_EQ(restarts, kBudget + 1) << failure;
  }
}

// ---- what else may go on for ever -----------------------------------------------------------------------------------

TEST(BoundedRecord, SuspensionsAndEvictionsLeaveNothing) {
  World world(2);
  const GroupId id = running_pair(world, "{default: restartGroup}");
  expect_bounded(world, id, kMoves, [&] {
    for (const GroupVerb verb : {GroupVerb::Suspend, GroupVerb::Evict}) {
      EXPECT_EQ(tell(world, GroupCommand{verb, id}, Actor::User), AnswerCode::Done);
      let_agents_work(world, id);
      if (verb == GroupVerb::Suspend) {
        EXPECT_EQ(tell(world, GroupCommand{GroupVerb::Resume, id}, Actor::User), AnswerCode::Done);
      }
      EXPECT_EQ(tell(world, ApplyPlan{plan(world.state)}, Actor::Scheduler), AnswerCode::Done);
      let_agents_work(world, id);
      EXPECT_EQ(world.phase(id), GroupPhase::Running);
    }
  });
  EXPECT_EQ(world.state.group(id)->head.attempt, 1U + 2 * kMoves);
}

TEST(BoundedRecord, GrowthUsesTheNumbersThatAreFree) {
  World world(4);
  const GroupId id = world.define("g", "{roles: [{name: w, replicas: 2, min: 1, max: 4, tasks: '1*{cpu=8}'}]}");
  world.bring_to_running(id);
  expect_bounded(world, id, kMoves, [&] {
    for (const std::uint32_t replicas : {4U, 2U}) {
      EXPECT_EQ(tell(world, ResizeGroup{id, 0, replicas}, Actor::User), AnswerCode::Done);
      EXPECT_EQ(tell(world, ApplyPlan{plan(world.state)}, Actor::Scheduler), AnswerCode::Done);
      let_agents_work(world, id);
      EXPECT_EQ(world.state.group(id)->roles[0].counts.required, replicas);
    }
  });
  EXPECT_EQ(world.state.group(id)->roles[0].members.size(), 4U);
}

}  // namespace
}  // namespace lockstep
