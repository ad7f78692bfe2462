#pragma once
// A state with some hosts, driven by commands, for tests of the core alone.

#include <gtest/gtest.h>

#include <string>

#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "statemachine/invariants.h"
#include "tools/manifest/manifest.h"

namespace lockstep {

class World {
 public:
  explicit World(int hosts, std::int64_t cpus = 8) {
    for (int i = 1; i <= hosts; ++i) {
      HostInfo info{.name = "n" + std::to_string(i), .counters = {{"cpu", cpus * 1000}}};
      EXPECT_EQ(run(SetHost{info}).code, AnswerCode::Done);
    }
  }

  Answer run(CommandBody body, std::uint64_t client = 0, std::uint64_t request = 0) {
    const Command command{
        .client = client, .request = request, .time = now, .actor = Actor::User, .body = std::move(body)};
    Decision decision = execute(state, command);
    events.insert(events.end(), decision.events.begin(), decision.events.end());
    EXPECT_EQ(check_invariants(state), "");
    return decision.answer;
  }

  // The spec text is what stands under `spec:`.
  GroupId define(const std::string& name, const std::string& spec, bool hold = false) {
    const auto read = read_manifest("kind: GangGroup\nmetadata: {name: " + name + "}\nspec: " + spec + "\n", "tester");
    EXPECT_TRUE(read.problems.empty()) << read.problems.front().path << ": " << read.problems.front().text;
    DefineGroup define = read.groups.at(0);
    define.hold = hold;
    const Answer answer = run(define);
    EXPECT_EQ(answer.code, AnswerCode::Done) << answer.text;
    return answer.group;
  }

  void schedule() {
    Plan next = plan(state);
    if (next.actions.empty()) return;
    EXPECT_EQ(run(ApplyPlan{std::move(next)}).code, AnswerCode::Done);
  }

  Answer report(GroupId id, ReportKind kind, MemberKey member, std::int32_t code = 0) {
    const Group& group = *state.group(id);
    const Member& at = group.roles.at(member.role).members.at(member.index);
    return run(ReportMember{id, Report{.kind = kind,
                                       .member = member,
                                       .attempt = group.head.attempt,
                                       .run = at.run,
                                       .sequence = at.sequence + 1,
                                       .exit_code = code}});
  }

  void bring_to_running(GroupId id) {
    schedule();
    for (const ReportKind kind : {ReportKind::Armed, ReportKind::Started}) {
      for (RoleIndex role = 0; role < state.group(id)->roles.size(); ++role) {
        for (std::uint32_t index = 0; index < state.group(id)->roles[role].members.size(); ++index) {
          EXPECT_EQ(report(id, kind, {role, index}).code, AnswerCode::Done);
        }
      }
    }
    EXPECT_EQ(phase(id), GroupPhase::Running);
  }

  [[nodiscard]] GroupPhase phase(GroupId id) const { return state.group(id)->head.phase; }
  [[nodiscard]] const Member& member(GroupId id, RoleIndex role, std::uint32_t index) const {
    return state.group(id)->roles.at(role).members.at(index);
  }

  State state;
  std::vector<Event> events;
  Time now{seconds(1).value};
};

}  // namespace lockstep
