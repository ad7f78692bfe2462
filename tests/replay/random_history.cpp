#include "tests/replay/random_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "statemachine/intents.h"

namespace lockstep::test {
namespace {

constexpr std::size_t kRemembered = 16;  // of what may be said again

Duration milliseconds(std::int64_t count) { return Duration{count * 1'000'000}; }

std::vector<std::pair<GroupId, MemberKey>> members_in(const State& state, MemberPhase phase) {
  std::vector<std::pair<GroupId, MemberKey>> found;
  state.groups.for_each([&](const Group& group) {
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      const auto& members = group.roles[role].members;
      for (std::uint32_t index = 0; index < members.size(); ++index) {
        if (members[index].phase == phase) found.emplace_back(group.head.id, MemberKey{role, index});
      }
    }
  });
  return found;
}

// A report that is due, but for what it says.
ReportMember report_about(const State& state, GroupId id, MemberKey key) {
  const Group& group = *state.group(id);
  const Member& member = group.roles[key.role].members[key.index];
  ReportMember about;
  about.group = id;
  about.report.member = key;
  about.report.attempt = group.head.attempt;
  about.report.run = member.run;
  about.report.sequence = member.sequence + 1;
  return about;
}

template <class T>
void remember(std::vector<T>& list, const T& value) {
  if (list.size() == kRemembered) list.erase(list.begin());
  list.push_back(value);
}

}  // namespace

std::uint64_t seed_of_run(std::uint64_t usual) {
  const char* given = std::getenv("LOCKSTEP_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : usual;
  std::printf("LOCKSTEP_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

RandomWorld::RandomWorld(std::uint64_t seed, const WorldOptions& options)
    : options_(options), random_(seed), now_{seconds(1'000'000).value} {
  const auto open = [&](Body body) { opening_.emplace_back().body = std::move(body); };
  for (std::uint64_t host = options_.hosts; host > 0; --host) open(SetHost{host_info(host), true});
  open(SetPool{"license.solver", between(1, 6)});
  open(SetLevels{{"block", "rack"}});
}

std::uint64_t RandomWorld::below(std::uint64_t bound) { return random_() % bound; }
std::int64_t RandomWorld::between(std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(last - first) + 1));
}
bool RandomWorld::chance(std::uint32_t percent) { return below(100) < percent; }
template <class T>
const T& RandomWorld::pick(const std::vector<T>& from) {
  return from[below(from.size())];
}

Command RandomWorld::next(const State& state) {
  now_ = now_ + milliseconds(between(0, 400));
  Command command;
  if (!opening_.empty()) {
    command = std::move(opening_.back());
    opening_.pop_back();
  } else if (options_.requests && !asked_.empty() && chance(3)) {
    command = pick(asked_);  // its answer was lost on the way
  } else {
    command = choose(state);
    identify(command);
  }
  command.time = now_;
  return command;
}

Command RandomWorld::choose(const State& state) {
  Command command;
  const std::uint64_t dice = below(100);
  const std::uint64_t alive = state.groups.size() - state.groups_in(GroupPhase::Succeeded) -
                              state.groups_in(GroupPhase::Failed) - state.groups_in(GroupPhase::Cancelled);
  if (alive == 0 || (dice < 8 && alive < options_.groups_alive_max)) {
    command.body = define(state);
  } else if (dice < 46) {
    command.actor = Actor::Agent;
    command.body = answer_intent(state);
  } else if (dice < 58) {
    command.actor = Actor::Agent;
    command.body = end_member(state);
  } else if (dice < 74) {
    command.actor = Actor::Scheduler;
    command.body = ApplyPlan{plan(state)};
  } else if (dice < 84) {
    command.actor = Actor::Clock;
    command.body = advance(state);
  } else if (dice < 88) {
    command.actor = Actor::Agent;
    command.body = stray_report(state);
  } else if (dice < 92) {
    command.body = host_verb(state);
  } else if (dice < 95) {
    command.body = group_verb(state);
  } else if (dice < 97) {
    command.body = resize(state);
  } else {
    command.actor = Actor::Controller;
    command.body = change_cluster();
  }
  return command;
}

void RandomWorld::identify(Command& command) {
  if (!options_.requests || !chance(30)) return;
  if (std::holds_alternative<AdvanceTime>(command.body) || std::holds_alternative<RecordDigest>(command.body)) return;
  if (std::holds_alternative<StartController>(command.body)) return;
  command.client = 1 + below(3);
  command.request = ++requests_;
  remember(asked_, command);
}

// ---- agents and providers -------------------------------------------------------------------------------------------

RandomWorld::Body RandomWorld::answer_intent(const State& state) {
  std::vector<Intent> owed;
  intents(state, [&](const Intent& intent) { owed.push_back(intent); });
  if (owed.empty()) return advance(state);
  const Intent& intent = pick(owed);
  if (intent.kind == IntentKind::Provision || intent.kind == IntentKind::Release) {
    ReportClaim report{intent.group, intent.claim, ClaimReportKind::Ready};
    if (intent.kind == IntentKind::Release)
      report.kind = ClaimReportKind::Released;
    else if (chance(12))
      report.kind = ClaimReportKind::Failed;
    return report;
  }
  ReportMember about = report_about(state, intent.group, intent.member);
  Report& report = about.report;
  if (intent.kind == IntentKind::Arm) report.kind = ReportKind::Armed;
  if (intent.kind == IntentKind::Start) report.kind = ReportKind::Started;
  if (intent.kind == IntentKind::Stop || intent.kind == IntentKind::Kill) report.kind = ReportKind::Stopped;
  if (chance(8)) report.kind = chance(50) ? ReportKind::LaunchFailed : ReportKind::Lost;
  if (chance(5)) {
    report.kind = ReportKind::Exit;
    report.exit_code = static_cast<std::int32_t>(below(3));
  }
  remember(reported_, about);
  return about;
}

RandomWorld::Body RandomWorld::end_member(const State& state) {
  const auto running = members_in(state, MemberPhase::Running);
  if (running.empty()) return answer_intent(state);
  const auto& [group, key] = pick(running);
  ReportMember about = report_about(state, group, key);
  Report& report = about.report;
  report.kind = ReportKind::Exit;
  report.sequence += below(3);
  if (chance(35)) report.exit_code = static_cast<std::int32_t>(1 + below(20));
  if (chance(8)) report.signal = static_cast<std::int32_t>(chance(50) ? 9 : 11);
  if (chance(4)) report.reason = FailureReason::OutOfMemory;
  if (chance(4)) report.kind = ReportKind::Lost;
  remember(reported_, about);
  return about;
}

// Late, doubled, of another run, or about nobody.
RandomWorld::Body RandomWorld::stray_report(const State& state) {
  if (!reported_.empty() && chance(50)) return pick(reported_);
  ReportMember about;
  about.group = chance(20) ? GroupId{state.head.group_last.value + 1 + below(3)} : any_group(state);
  about.report.kind = static_cast<ReportKind>(1 + below(6));
  about.report.member = MemberKey{static_cast<RoleIndex>(below(3)), static_cast<std::uint32_t>(below(4))};
  about.report.attempt = static_cast<std::uint32_t>(below(3));
  about.report.run = static_cast<std::uint32_t>(below(4));
  about.report.sequence = 1 + below(5);
  about.report.exit_code = static_cast<std::int32_t>(below(2));
  if (chance(70)) return about;
  ReportClaim claim{about.group, ClaimRef{}, static_cast<ClaimReportKind>(1 + below(3))};
  if (chance(30)) claim = ReportClaim{GroupId{}, ClaimRef{"dataset", {}}, claim.kind};
  return claim;
}

// ---- users and operators --------------------------------------------------------------------------------------------

GroupId RandomWorld::any_group(const State& state) {
  if (state.head.group_last.value == 0) return GroupId{1};
  const std::uint64_t back = std::min<std::uint64_t>(below(16), state.head.group_last.value - 1);
  return GroupId{state.head.group_last.value - back};
}

RandomWorld::Body RandomWorld::group_verb(const State& state) {
  static const std::vector<GroupVerb> kVerbs{GroupVerb::Submit,  GroupVerb::Submit, GroupVerb::Cancel,
                                             GroupVerb::Suspend, GroupVerb::Resume, GroupVerb::Resume,
                                             GroupVerb::Evict,   GroupVerb::Purge,  GroupVerb::Purge};
  return GroupCommand{pick(kVerbs), any_group(state)};
}

RandomWorld::Body RandomWorld::resize(const State& state) {
  const GroupId id = any_group(state);
  const Group* group = state.group(id);
  const std::size_t roles = group != nullptr ? group->roles.size() : 1;
  return ResizeGroup{id, static_cast<RoleIndex>(below(roles)), static_cast<std::uint32_t>(1 + below(5))};
}

RandomWorld::Body RandomWorld::host_verb(const State& state) {
  static const std::vector<HostVerb> kVerbs{HostVerb::Down, HostVerb::Up,    HostVerb::Up,
                                            HostVerb::Up,   HostVerb::Drain, HostVerb::Remove};
  HostCommand command{pick(kVerbs), fmt::format("n{}", 1 + below(options_.hosts))};
  if (state.host_named(command.name) == nullptr) return SetHost{host_info(1 + below(options_.hosts)), true};
  if (command.verb == HostVerb::Remove && chance(70)) command.verb = HostVerb::Up;
  return command;
}

RandomWorld::Body RandomWorld::change_cluster() {
  switch (below(5)) {
    case 0:
      return SetHost{host_info(1 + below(options_.hosts + 2)), chance(70)};
    case 1:
      return SetPool{"license.solver", between(0, 8)};
    case 2:
      return SetLevels{{"block", "rack"}};
    case 3:
      if (options_.restarts) return StartController{kFeatureLevel};
      [[fallthrough]];
    default:
      return RecordDigest{};
  }
}

RandomWorld::Body RandomWorld::advance(const State& state) {
  const Time deadline = next_deadline(state);
  if (deadline > now_ && chance(60)) {
    now_ = deadline + Duration{between(0, 1) * seconds(between(0, 90)).value};
  } else {
    now_ = now_ + milliseconds(between(1, chance(10) ? 600'000 : 5'000));
  }
  return AdvanceTime{};
}

HostInfo RandomWorld::host_info(std::uint64_t number) {
  HostInfo info;
  info.name = fmt::format("n{}", number);
  info.counters = {{"cpu", between(4, 16) * 1'000}, {"gpu", between(1, 4)}, {"mem", between(8, 64) << 30}};
  info.at = {fmt::format("b{}", number % 2), fmt::format("r{}", number % 4)};
  if (chance(10)) info.at.pop_back();
  info.attributes = {{"model", number % 3 == 0 ? "a100" : "h100"}};
  return info;
}

// ---- manifests ------------------------------------------------------------------------------------------------------

RandomWorld::Body RandomWorld::define(const State& state) {
  DefineGroup command;
  const bool again = names_ > 0 && chance(10);
  command.identity.name = fmt::format("g{}", again ? 1 + below(names_) : ++names_);
  command.identity.user = fmt::format("user{}", below(3));
  if (chance(20)) command.identity.labels = {{"team", "nlp"}};
  command.hold = chance(10);
  command.spec = spec();
  // One spec for many groups: its users are counted.
  if (const Group* other = state.group(any_group(state)); other != nullptr && chance(25)) command.spec = *other->spec;
  return command;
}

GroupSpec RandomWorld::spec() {
  GroupSpec spec;
  spec.priority = static_cast<std::int32_t>(between(-1, 2));
  spec.preemptible = chance(80);
  spec.mode = chance(70) ? PlacementMode::Atomic : PlacementMode::Reserve;
  spec.partial = chance(15);
  if (chance(15)) spec.topology.required = chance(50) ? "block" : "rack";
  if (chance(15)) spec.topology.preferred = "rack";
  const std::uint32_t roles = static_cast<std::uint32_t>(1 + below(3));
  for (std::uint32_t i = 0; i < roles; ++i) spec.roles.push_back(role(i));
  add_claims(spec);
  spec.failure = failure(roles);
  spec.success.op = chance(80) ? SuccessOperator::All : SuccessOperator::Any;
  spec.success.rest = chance(70) ? SuccessRest::Wait : SuccessRest::Kill;
  if (chance(30)) spec.success.roles = {static_cast<RoleIndex>(below(roles))};
  spec.resume = chance(60) ? ResumeWhat::All : ResumeWhat::Unfinished;
  spec.timeouts = timeouts();
  spec.run_limit = chance(50) ? seconds(between(10, 900)) : Duration{};
  spec.ttl_after_finished = chance(20) ? Duration{} : seconds(between(5, 600));
  return spec;
}

RoleSpec RandomWorld::role(std::uint32_t number) {
  RoleSpec role;
  role.name = fmt::format("role{}", number);
  role.replicas = static_cast<std::uint32_t>(1 + below(3));
  role.min = chance(60) ? role.replicas : static_cast<std::uint32_t>(1 + below(role.replicas));
  role.max = chance(70) ? role.replicas : static_cast<std::uint32_t>(role.replicas + below(3));
  const std::uint64_t terms = chance(85) ? 1 : 2;
  for (std::uint64_t i = 0; i < terms; ++i) {
    TaskTerm term;
    term.count = static_cast<std::uint32_t>(1 + below(3));
    term.requests = {{"cpu", between(1, 4) * 500}};
    if (chance(30)) term.requests.push_back({"gpu", 1});
    if (chance(10)) term.requests.push_back({"license.solver", 1});
    if (chance(40)) term.requests.push_back({"mem", between(1, 4) << 30});
    if (chance(10)) term.select = {{"model", "h100"}};
    if (chance(15))
      term.span_hosts = 1;
    else if (chance(10))
      term.span_ptile = static_cast<std::uint32_t>(1 + below(2));
    role.tasks.push_back(std::move(term));
  }
  if (chance(8)) role.topology.required = "rack";
  if (chance(12)) role.spares = 1;
  if (number > 0 && chance(25)) {
    role.after = {{static_cast<RoleIndex>(below(number)), chance(80) ? AfterWhat::Started : AfterWhat::Succeeded}};
  }
  if (chance(30)) role.command = {"run", "it"};
  if (chance(20)) role.env = {{"LEVEL", "1"}};
  return role;
}

void RandomWorld::add_claims(GroupSpec& spec) {
  if (chance(25)) {
    ClaimSpec claim;
    claim.name = "scratch";
    claim.per = chance(50) ? ClaimPer::Group : ClaimPer::Member;
    if (claim.per == ClaimPer::Member && chance(50)) claim.roles = {static_cast<RoleIndex>(below(spec.roles.size()))};
    claim.size = std::int64_t{1} << 40;
    spec.claims.push_back(std::move(claim));
  }
  if (chance(15)) {
    ClaimSpec claim;
    claim.name = "dataset";
    claim.kind = ClaimKind::Standalone;
    spec.claims.push_back(std::move(claim));
  }
}

FailurePolicy RandomWorld::failure(std::size_t roles) {
  static const std::vector<FailureAction> kActions{FailureAction::FailGroup,     FailureAction::RestartGroup,
                                                   FailureAction::RestartGroup,  FailureAction::RestartRole,
                                                   FailureAction::RestartMember, FailureAction::Tolerate};
  FailurePolicy policy;
  for (std::uint64_t i = below(3); i > 0; --i) {
    FailureRule rule;
    if (chance(30)) rule.roles = {static_cast<RoleIndex>(below(roles))};
    if (chance(30)) rule.reasons = {chance(50) ? FailureReason::HostLost : FailureReason::Exited};
    if (chance(30)) rule.exit_codes = {{1, static_cast<std::int32_t>(1 + below(15))}};
    if (chance(10)) rule.signals = {9};
    rule.action = pick(kActions);
    rule.charge = chance(80);
    policy.rules.push_back(std::move(rule));
  }
  policy.default_action = pick(kActions);
  policy.below_min = chance(50) ? FailureAction::FailGroup : FailureAction::RestartGroup;
  policy.max_restarts = static_cast<std::uint32_t>(below(4));
  if (chance(20)) policy.max_restarts_per_role = {{0, static_cast<std::uint32_t>(1 + below(3))}};
  if (chance(20)) policy.max_restarts_per_member = static_cast<std::uint32_t>(1 + below(2));
  if (chance(20)) policy.window = seconds(between(5, 120));
  policy.backoff = BackoffPolicy{seconds(between(0, 10)), static_cast<std::uint32_t>(1 + below(3)), seconds(60)};
  policy.restart_on = chance(50) ? RestartOn::Same : RestartOn::Anywhere;
  return policy;
}

Timeouts RandomWorld::timeouts() {
  const auto some = [this](std::int64_t last) { return chance(30) ? Duration{} : seconds(between(1, last)); };
  return Timeouts{some(300), some(120), some(120), some(60), some(300), some(30)};
}

std::vector<Command> RandomWorld::probes(const State& state) {
  std::vector<Command> commands(4);
  commands[0].body = define(state);
  commands[1].body = ApplyPlan{plan(state)};
  commands[2].body = answer_intent(state);
  commands[3].body = AdvanceTime{};
  for (Command& command : commands) command.time = now_;
  commands[3].time = std::max(now_, next_deadline(state)) + seconds(30);
  return commands;
}

History make_history(std::uint64_t seed, std::size_t events_min, const WorldOptions& options) {
  History history;
  history.seed = seed;
  RandomWorld world(seed, options);
  while (history.events.size() < events_min) {
    History::Step step;
    step.command = world.next(history.state);
    Decision decision = execute(history.state, step.command);
    step.answer = std::move(decision.answer);
    step.seq = history.state.head.seq;
    step.digest = history.state.digest();
    history.steps.push_back(std::move(step));
    std::move(decision.events.begin(), decision.events.end(), std::back_inserter(history.events));
  }
  return history;
}

}  // namespace lockstep::test
