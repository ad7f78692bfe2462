// Two roles of two members, and every order of a set of reports, for each failure policy: the invariants hold after
// each, and the digest at the end is the same however the reports were batched.
//
// The reports that may come next are derived from the state (what is due of each member, a success, a failure), so
// every path to LOCKSTEP_MODEL_DEPTH reports is walked; states that were met before at the same depth are not walked
// again. Shows R33.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "events/log/memory_log.h"
#include "replay/controller.h"
#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "statemachine/invariants.h"
#include "tests/model/compare.h"
#include "tests/model/say.h"

namespace lockstep::model {
namespace {

constexpr std::uint32_t kDepthUsual = 6;
constexpr std::size_t kBatchedEvery = 97;    // of the paths walked, these are also run through the controller
constexpr std::size_t kBatchedCommands = 7;  // the last of a path, cut into batches in every of 2^6 ways

const GroupId kGroup{1};

struct Policy {
  std::string name;
  FailureAction action{FailureAction::FailGroup};
  FailureAction below_min{FailureAction::FailGroup};
  std::uint32_t min{2};
  RestartOn restart_on{RestartOn::Same};
  bool first_role_decides{false};  // the success of role 0 alone is the group's
};

std::vector<Policy> all_policies() {
  std::vector<Policy> policies;
  const auto add = [&](Policy policy) { policies.push_back(std::move(policy)); };
  add({"fail the group", FailureAction::FailGroup});
  add({"restart on the same hosts", FailureAction::RestartGroup});
  add({"restart anywhere", FailureAction::RestartGroup, FailureAction::FailGroup, 2, RestartOn::Anywhere});
  add({"restart the role", FailureAction::RestartRole});
  add({"restart the role, role 0 decides", FailureAction::RestartRole, FailureAction::FailGroup, 2, RestartOn::Same,
       true});
  add({"restart the member", FailureAction::RestartMember});
  add({"tolerate one", FailureAction::Tolerate, FailureAction::FailGroup, 1});
  add({"tolerate one, then restart", FailureAction::Tolerate, FailureAction::RestartGroup, 1});
  add({"tolerate none", FailureAction::Tolerate, FailureAction::FailGroup, 2});
  return policies;
}

Command at(CommandBody body, std::int64_t second) {
  Command command;
  command.time = Time{seconds(second).value};
  command.body = std::move(body);
  return command;
}

// Four hosts of one member each, and the group placed on them.
std::vector<Command> opening(const Policy& policy) {
  std::vector<Command> commands{at(StartController{kFeatureLevel}, 1)};
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    HostInfo host;
    host.name = name;
    host.counters = {{"cpu", 1'000}};
    commands.push_back(at(SetHost{host, true}, 1));
  }
  DefineGroup define;
  define.identity.name = "g";
  define.identity.user = "ana";
  for (const char* name : {"a", "b"}) {
    RoleSpec role;
    role.name = name;
    role.replicas = role.max = 2;
    role.min = policy.min;
    TaskTerm term;
    term.requests = {{"cpu", 1'000}};
    role.tasks = {term};
    define.spec.roles.push_back(role);
  }
  define.spec.failure.default_action = policy.action;
  define.spec.failure.below_min = policy.below_min;
  define.spec.failure.max_restarts = 1;
  define.spec.failure.backoff = BackoffPolicy{Duration{}, 1, Duration{}};
  define.spec.failure.restart_on = policy.restart_on;
  if (policy.first_role_decides) define.spec.success.roles = {0};
  commands.push_back(at(std::move(define), 1));
  return commands;
}

// What may be reported of each member: what it was asked for, an end with 0 and with 1, and what is not due.
std::vector<Command> next_reports(const State& state, std::int64_t second) {
  std::vector<Command> reports;
  const Group& group = *state.group(kGroup);
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (std::uint32_t index = 0; index < group.roles[role].members.size(); ++index) {
      const Member& member = group.roles[role].members[index];
      if (!is_live(member.phase)) continue;
      const auto add = [&](ReportKind kind, std::int32_t code) {
        Report report;
        report.kind = kind;
        report.member = {role, index};
        report.attempt = group.head.attempt;
        report.run = member.run;
        report.sequence = member.sequence + 1;
        report.exit_code = code;
        reports.push_back(at(ReportMember{kGroup, report}, second));
      };
      if (member.phase == MemberPhase::Placed) add(ReportKind::Armed, 0);
      if (member.phase == MemberPhase::Starting) add(ReportKind::Started, 0);
      if (member.phase == MemberPhase::Stopping)
        add(ReportKind::Stopped, 0);
      else
        add(ReportKind::Exit, 1);
      if (member.phase == MemberPhase::Running) add(ReportKind::Exit, 0);
    }
  }
  return reports;
}

enum class From { Placed, Running };  // where the orders begin

struct Counts {
  std::uint64_t states{};
  std::uint64_t paths{};
  std::uint64_t batchings{};
  std::set<GroupPhase> phases;
};

std::string text_of_path(const std::vector<Command>& path) {
  std::string text;
  for (const Command& command : path) text += "\n  " + say_command(command);
  return text;
}

class Walk {
 public:
  Walk(const Policy& policy, From from, std::uint32_t depth, Counts& counts)
      : policy_(policy), from_(from), depth_(depth), counts_(counts) {}

  std::string run() {
    State state;
    NaiveModel model;
    for (const Command& command : opening(policy_)) {
      if (std::string wrong = step(state, model, command); !wrong.empty()) return wrong;
    }
    if (std::string wrong = place(state, model); !wrong.empty()) return wrong;
    while (from_ == From::Running && state.group(kGroup)->head.phase != GroupPhase::Running) {
      if (std::string wrong = step(state, model, step_towards_running(state)); !wrong.empty()) return wrong;
    }
    std::string wrong = visit(state, model);
    return wrong.empty() ? wrong : policy_.name + ": " + wrong + text_of_path(path_);
  }

 private:
  std::string step(State& state, NaiveModel& model, const Command& command) {
    path_.push_back(command);
    const Seq before = state.head.seq;
    const Decision decision = execute(state, command);
    Choices choices;
    choices.code = decision.answer.code;
    const AnswerCode answer = model.execute(command, choices);
    if (answer != decision.answer.code)
      return "answer: product " + std::string(name(decision.answer.code)) + ", model " + std::string(name(answer));
    if (!model.complaint().empty()) return model.complaint();
    if (std::string wrong = first_difference(state, model); !wrong.empty()) return wrong;
    return before == state.head.seq ? std::string{} : check_invariants(state);
  }

  [[nodiscard]] Command step_towards_running(const State& state) const {
    const auto reports = next_reports(state, second());
    return *std::find_if(reports.begin(), reports.end(), [](const Command& command) {
      const ReportKind kind = std::get<ReportMember>(command.body).report.kind;
      return kind == ReportKind::Armed || kind == ReportKind::Started;
    });
  }

  // A group that became Pending again is placed at once, as are members that wait.
  std::string place(State& state, NaiveModel& model) {
    Plan next = plan(state);
    return next.actions.empty() ? std::string{} : step(state, model, at(ApplyPlan{std::move(next)}, second()));
  }

  [[nodiscard]] std::int64_t second() const { return 1 + static_cast<std::int64_t>(path_.size()); }

  std::string visit(const State& state, const NaiveModel& model) {
    ++counts_.states;
    counts_.phases.insert(state.group(kGroup)->head.phase);
    const auto reports = next_reports(state, second());
    if (reports.empty() || level_ == depth_) return end_of_path(state);
    for (const Command& report : reports) {
      State next = state;
      NaiveModel next_model = model;
      const std::size_t length = path_.size();
      ++level_;
      std::string wrong = step(next, next_model, report);
      if (wrong.empty()) wrong = place(next, next_model);
      const Digest digest = next.digest();
      const auto key = std::pair{level_, std::pair{digest.high, digest.low}};
      if (wrong.empty() && seen_.insert(key).second) wrong = visit(next, next_model);
      if (!wrong.empty()) return wrong;
      --level_;
      path_.resize(length);
    }
    return {};
  }

  std::string end_of_path(const State& state) {
    if (counts_.paths++ % kBatchedEvery != 0) return {};
    const std::size_t cuts = std::min(path_.size(), kBatchedCommands) - 1;
    for (std::uint32_t batching = 0; batching < (1U << cuts); ++batching) {
      ++counts_.batchings;
      if (std::string wrong = run_batched(state, batching); !wrong.empty()) return wrong;
    }
    return {};
  }

  // Bit i: a batch ends before the ith of the last commands. The path began with what the controller's start does.
  std::string run_batched(const State& state, std::uint32_t batching) {
    MemoryLog log;
    ControllerOptions options;
    options.digest_every = options.snapshot_every = 0;
    auto started = Controller::start(log, nullptr, options, path_.front().time);
    if (!started) return started.error().message;
    Controller& controller = **started;
    const std::size_t first_cut = path_.size() - std::min(path_.size(), kBatchedCommands) + 1;
    std::vector<Command> batch;
    for (std::size_t i = 1; i < path_.size(); ++i) {
      const bool cut = i >= first_cut && ((batching >> (i - first_cut)) & 1U) != 0;
      if (cut && !controller.execute(batch)) return "the controller met an error";
      if (cut) batch.clear();
      batch.push_back(path_[i]);
    }
    if (!controller.execute(batch)) return "the controller met an error";
    if (controller.state().digest() == state.digest()) return {};
    return "batching " + std::to_string(batching) + " ends in another digest";
  }

  const Policy& policy_;
  From from_;
  std::uint32_t depth_;
  Counts& counts_;
  std::uint32_t level_ = 0;
  std::vector<Command> path_;
  std::set<std::pair<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>> seen_;
};

TEST(Exhaustive, EveryOrderOfReportsKeepsTheInvariantsAndEveryBatchingEndsAlike) {
  const char* given = std::getenv("LOCKSTEP_MODEL_DEPTH");
  const std::uint32_t depth =
      given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 0)) : kDepthUsual;
  Counts counts;
  for (const Policy& policy : all_policies()) {
    for (const From from : {From::Placed, From::Running}) {
      const std::string wrong = Walk(policy, from, depth, counts).run();
      ASSERT_TRUE(wrong.empty()) << wrong;
    }
  }
  std::printf("depth %u: %llu states, %llu paths, %llu batchings\n", depth,
              static_cast<unsigned long long>(counts.states), static_cast<unsigned long long>(counts.paths),
              static_cast<unsigned long long>(counts.batchings));
  for (const GroupPhase phase : {GroupPhase::Placed, GroupPhase::Starting, GroupPhase::Running, GroupPhase::Recovering,
                                 GroupPhase::Stopping, GroupPhase::Succeeded, GroupPhase::Failed})
    EXPECT_TRUE(counts.phases.contains(phase)) << name(phase);
  EXPECT_GT(counts.batchings, 1'000U);
}

}  // namespace
}  // namespace lockstep::model
