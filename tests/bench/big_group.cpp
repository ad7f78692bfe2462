// One group of many members, through the core alone: what each step of its life costs per member, so that growth that
// is more than linear shows. Restarts of single members, one of the group and the storm of reports after it are part
// of that life.
//
//     lockstep_bench_big_group [--members N,N,...] [--json]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "statemachine/invariants.h"
#include "tools/bench/measure.h"

namespace lockstep::bench {
namespace {

constexpr std::uint32_t kMembersPerHost = 64;
constexpr GroupId kGroup{1};
constexpr std::int32_t kRestartsAlone = 7;  // the exit code of a member that alone runs again

class BigGroup {
 public:
  explicit BigGroup(std::uint32_t members) : members_(members) {
    for (std::uint32_t host = 0; host * kMembersPerHost < members; ++host) {
      (void)take(Actor::User, SetHost{.info = {.name = fmt::format("n{:06}", host),
                                               .counters = {{"cpu", std::int64_t{kMembersPerHost} * 1000}}}});
    }
  }

  nlohmann::ordered_json live() {
    step("define", [&] { return take(Actor::User, definition()); });
    step("plan", [&] {
      next_ = plan(state_);
      return std::size_t{0};
    });
    step("place", [&] { return take(Actor::Scheduler, ApplyPlan{next_}); });
    step("claims", [&] { return claims_ready(); });
    step("arm", [&] { return reports(ReportKind::Armed); });
    step("start", [&] { return reports(ReportKind::Started); });
    must_be(GroupPhase::Running);
    step("one by one", [&] { return restarts(); });
    must_be(GroupPhase::Running);
    step("fail", [&] { return report(ReportKind::Exit, members_ / 2, 1); });
    must_be(GroupPhase::Stopping);
    step("stop", [&] { return reports(ReportKind::Stopped); });
    step("back off", [&] {
      now_ = Time{now_.value + seconds(3'600).value};
      return take(Actor::Clock, AdvanceTime{});
    });
    step("arm again", [&] { return reports(ReportKind::Armed); });
    step("start again", [&] { return reports(ReportKind::Started); });
    must_be(GroupPhase::Running);
    step("end", [&] { return reports(ReportKind::Exit); });
    must_be(GroupPhase::Succeeded);
    LOCKSTEP_CHECK(check_invariants(state_).empty(), "the invariants do not hold");
    return figures_;
  }

 private:
  DefineGroup definition() const {
    DefineGroup define;
    define.identity.name = "big";
    define.identity.user = "ana";
    RoleSpec role;
    role.name = "worker";
    role.replicas = role.min = role.max = members_;
    TaskTerm term;
    term.requests = {{"cpu", 1000}};
    role.tasks = {term};
    define.spec.roles = {role};
    ClaimSpec claim;
    claim.name = "scratch";
    claim.kind = ClaimKind::Template;
    claim.per = ClaimPer::Member;
    claim.roles = {0};
    define.spec.claims = {claim};
    FailureRule alone;
    alone.exit_codes = {{kRestartsAlone, kRestartsAlone}};
    alone.action = FailureAction::RestartMember;
    alone.charge = false;
    define.spec.failure.rules = {alone};
    define.spec.failure.default_action = FailureAction::RestartGroup;
    define.spec.failure.restart_on = RestartOn::Same;
    define.spec.failure.max_restarts = 3;
    return define;
  }

  std::size_t take(Actor actor, CommandBody body) {
    Command command;
    command.time = now_;
    command.actor = actor;
    command.body = std::move(body);
    const Decision decision = execute(state_, command);
    LOCKSTEP_CHECK(!is_rejection(decision.answer.code), decision.answer.text);
    return decision.events.size();
  }

  std::size_t report(ReportKind kind, std::uint32_t index, std::int32_t code = 0) {
    const Group& group = *state_.group(kGroup);
    const Member& member = group.roles.at(0).members.at(index);
    Report said;
    said.kind = kind;
    said.member = MemberKey{0, index};
    said.attempt = group.head.attempt;
    said.run = member.run;
    said.sequence = member.sequence + 1;
    said.exit_code = code;
    return take(Actor::Agent, ReportMember{kGroup, said});
  }

  std::size_t reports(ReportKind kind) {
    std::size_t events = 0;
    for (std::uint32_t index = 0; index < members_; ++index) events += report(kind, index);
    return events;
  }

  // Each member fails and runs again by itself, one after the other.
  std::size_t restarts() {
    std::size_t events = 0;
    for (std::uint32_t index = 0; index < members_; ++index) {
      events += report(ReportKind::Exit, index, kRestartsAlone);
      events += report(ReportKind::Armed, index) + report(ReportKind::Started, index);
    }
    return events;
  }

  std::size_t claims_ready() {
    std::size_t events = 0;
    for (std::uint32_t index = 0; index < members_; ++index) {
      events += take(Actor::Provider, ReportClaim{.group = kGroup, .claim = {.name = {}, .key = {0, {0, index}}}});
    }
    return events;
  }

  void must_be(GroupPhase phase) const {
    LOCKSTEP_CHECK(state_.group(kGroup)->head.phase == phase, "the group is in another phase");
  }

  void step(const char* name, const std::function<std::size_t()>& run) {
    const Stopwatch watch;
    const std::size_t events = run();
    figures_[name] = {{"seconds", watch.seconds()}, {"events", events}};
  }

  std::uint32_t members_;
  State state_;
  Plan next_;
  Time now_{seconds(1).value};
  nlohmann::ordered_json figures_;
};

// A line a step: microseconds a member, for each size.
void print(const std::vector<std::uint32_t>& sizes, const std::vector<nlohmann::ordered_json>& figures) {
  fmt::print("{:<12}", "us a member");
  for (const std::uint32_t size : sizes) fmt::print("{:>12}", size);
  fmt::print("\n");
  for (const auto& [step, unused] : figures.front().items()) {
    fmt::print("{:<12}", step);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      fmt::print("{:>12.3f}", figures[i][step]["seconds"].get<double>() * 1e6 / sizes[i]);
    }
    fmt::print("\n");
  }
}

int run(int argc, char** argv) {
  std::vector<std::uint32_t> sizes{1'000, 10'000, 100'000};
  bool json = false;
  CLI::App app("What a group of many members costs, step by step");
  app.add_option("--members", sizes, "sizes")->delimiter(',')->capture_default_str();
  app.add_flag("--json", json, "figures as JSON");
  CLI11_PARSE(app, argc, argv);
  std::vector<nlohmann::ordered_json> figures;
  for (const std::uint32_t size : sizes) figures.push_back(BigGroup(size).live());
  if (!json) {
    print(sizes, figures);
    return 0;
  }
  nlohmann::ordered_json all;
  for (std::size_t i = 0; i < sizes.size(); ++i) all[std::to_string(sizes[i])] = figures[i];
  fmt::print("{}\n", all.dump(2));
  return 0;
}

}  // namespace
}  // namespace lockstep::bench

int main(int argc, char** argv) { return lockstep::bench::run(argc, argv); }
