#include "tests/scheduler/stream.h"

#include <algorithm>

#include "statemachine/decide.h"

namespace lockstep::testing {
namespace {

constexpr std::int64_t kStreamHosts = 18;
constexpr std::uint64_t kStreamGroupsAliveMax = 14;

std::string host_name(std::int64_t number) {
  return "n" + std::string(number < 10 ? "0" : "") + std::to_string(number);
}

std::vector<GroupId> groups_where(const State& state, auto&& holds) {
  std::vector<GroupId> found;
  state.groups.for_each([&](const Group& group) {
    if (holds(group)) found.push_back(group.head.id);
  });
  return found;
}

}  // namespace

ReportMember report_about(const Group& group, MemberKey key, ReportKind kind) {
  const Member& member = group.roles[key.role].members[key.index];
  ReportMember about;
  about.group = group.head.id;
  about.report.kind = kind;
  about.report.member = key;
  about.report.attempt = group.head.attempt;
  about.report.run = member.run;
  about.report.sequence = member.sequence + 1;
  return about;
}

CommandBody done_as_asked(const State& state, const Intent& intent) {
  switch (intent.kind) {
    case IntentKind::Provision:
      return ReportClaim{intent.group, intent.claim, ClaimReportKind::Ready};
    case IntentKind::Release:
      return ReportClaim{intent.group, intent.claim, ClaimReportKind::Released};
    case IntentKind::Arm:
      return report_about(*state.group(intent.group), intent.member, ReportKind::Armed);
    case IntentKind::Start:
      return report_about(*state.group(intent.group), intent.member, ReportKind::Started);
    default:
      return report_about(*state.group(intent.group), intent.member, ReportKind::Stopped);
  }
}

std::vector<Intent> all_intents(const State& state) {
  std::vector<Intent> all;
  intents(state, [&](const Intent& intent) { all.push_back(intent); });
  return all;
}

std::vector<std::pair<GroupId, MemberKey>> members_running(const State& state) {
  std::vector<std::pair<GroupId, MemberKey>> found;
  state.groups.for_each([&](const Group& group) {
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      const auto& members = group.roles[role].members;
      for (std::uint32_t index = 0; index < members.size(); ++index) {
        if (members[index].phase == MemberPhase::Running) found.emplace_back(group.head.id, MemberKey{role, index});
      }
    }
  });
  return found;
}

// ---- the cluster ------------------------------------------------------------------------------------------------

std::vector<Command> GangStream::levels_and_pools() {
  return {by(Actor::User, SetLevels{{"zone", "block", "rack"}}),
          by(Actor::User, SetPool{"license.x", dice_.between(3, 10)}),
          by(Actor::User, SetPool{"license.y", dice_.between(1, 5)})};
}

std::vector<Command> GangStream::hosts() {
  std::vector<Command> all;
  for (std::int64_t number = 0; number < kStreamHosts; ++number) {
    all.push_back(by(Actor::User, SetHost{host(number), true}));
  }
  return all;
}

HostInfo GangStream::host(std::int64_t number) {
  HostInfo info;
  info.name = host_name(number);
  info.counters = {{"cpu", dice_.between(2, 4) * 2}, {"mem", dice_.between(8, 24)}};
  if (dice_.chance(60)) info.counters.insert(info.counters.begin() + 1, {"gpu", dice_.between(1, 3)});
  info.at = {"z" + std::to_string(number % 2), "b" + std::to_string(number / 2 % 2),
             "r" + std::to_string(number / 4 % 2)};
  if (dice_.one_in(12)) info.at.pop_back();
  info.attributes = {{"model", dice_.chance(50) ? "a" : "b"}};
  return info;
}

CommandBody GangStream::host_verb(const State& state) {
  const std::string name = host_name(dice_.between(0, kStreamHosts - 1));
  const Host* known = state.host_named(name);
  if (known == nullptr) return SetHost{host(std::stoll(name.substr(1))), true};
  if (!known->usable()) return HostCommand{HostVerb::Up, name};
  if (known->groups.empty() && dice_.chance(30)) return HostCommand{HostVerb::Remove, name};
  return HostCommand{dice_.chance(60) ? HostVerb::Down : HostVerb::Drain, name};
}

CommandBody GangStream::change_cluster() {
  if (dice_.chance(40)) return SetPool{"license.x", dice_.between(3, 10)};
  return SetHost{host(dice_.between(0, kStreamHosts - 1)), dice_.chance(30)};
}

// ---- what happens -----------------------------------------------------------------------------------------------

Command GangStream::next(const State& state) {
  now_ = now_ + Duration{dice_.between(0, 500) * 1'000'000};
  const std::uint64_t alive = state.groups.size() - state.groups_in(GroupPhase::Succeeded) -
                              state.groups_in(GroupPhase::Failed) - state.groups_in(GroupPhase::Cancelled);
  const std::int64_t roll = dice_.between(0, 999);
  if (alive == 0 || (roll < 170 && alive < kStreamGroupsAliveMax)) return by(Actor::User, define());
  if (roll < 720) return by(Actor::Agent, agent(state));
  if (roll < 860) return by(Actor::Agent, member_ends(state));
  if (roll < 910) return advance(state);
  if (roll < 950) return by(Actor::User, verb(state));
  if (roll < 975) return by(Actor::User, resize(state));
  if (roll < 996) return by(Actor::User, host_verb(state));
  return by(Actor::User, change_cluster());
}

Command GangStream::advance(const State& state) {
  const Time deadline = next_deadline(state);
  if (deadline > now_ && dice_.chance(40)) {
    now_ = deadline;
  } else {
    now_ = now_ + seconds(dice_.between(1, dice_.one_in(10) ? 200 : 6));
  }
  return by(Actor::Clock, AdvanceTime{});
}

CommandBody GangStream::agent(const State& state) {
  const std::vector<Intent> owed = all_intents(state);
  if (owed.empty()) return member_ends(state);
  CommandBody body = done_as_asked(state, dice_.pick(owed));
  auto* about = std::get_if<ReportMember>(&body);
  if (about != nullptr && dice_.one_in(40)) about->report.kind = ReportKind::LaunchFailed;
  if (about != nullptr && dice_.one_in(60)) about->report.kind = ReportKind::Lost;
  if (about != nullptr && dice_.one_in(60)) ++about->report.run;  // of a run that nobody knows
  return body;
}

CommandBody GangStream::member_ends(const State& state) {
  const auto running = members_running(state);
  if (running.empty()) return AdvanceTime{};
  const auto& [id, key] = dice_.pick(running);
  ReportMember about = report_about(*state.group(id), key, ReportKind::Exit);
  if (dice_.chance(25)) about.report.exit_code = dice_.chance(50) ? 1 : 2;
  return about;
}

CommandBody GangStream::verb(const State& state) {
  const auto alive = groups_where(state, [](const Group& group) { return !is_terminal(group.head.phase); });
  const auto resting = groups_where(state, [](const Group& group) {
    return group.head.phase == GroupPhase::Suspended || group.head.phase == GroupPhase::Defined;
  });
  if (!resting.empty() && dice_.chance(50)) {
    const GroupId id = dice_.pick(resting);
    const bool defined = state.group(id)->head.phase == GroupPhase::Defined;
    return GroupCommand{defined ? GroupVerb::Submit : GroupVerb::Resume, id};
  }
  static const std::vector<GroupVerb> kVerbs{GroupVerb::Cancel, GroupVerb::Suspend, GroupVerb::Suspend,
                                             GroupVerb::Evict,  GroupVerb::Evict,   GroupVerb::Resume};
  return GroupCommand{dice_.pick(kVerbs), alive.empty() ? GroupId{1} : dice_.pick(alive)};
}

CommandBody GangStream::resize(const State& state) {
  auto which = groups_where(state, [](const Group& group) { return group.head.phase == GroupPhase::Running; });
  if (which.empty() || dice_.chance(20))
    which = groups_where(state, [](const Group& group) { return !is_terminal(group.head.phase); });
  if (which.empty()) return AdvanceTime{};
  const Group& group = *state.group(dice_.pick(which));
  const RoleIndex role = dice_.count(0, static_cast<std::int64_t>(group.roles.size()) - 1);
  const RoleSpec& spec = group.spec->roles[role];
  return ResizeGroup{group.head.id, role, dice_.count(spec.min, spec.max)};
}

// ---- groups -------------------------------------------------------------------------------------------------------

CommandBody GangStream::define() {
  DefineGroup command;
  command.identity.name = "g" + std::to_string(++names_);
  command.identity.user = "u";
  command.identity.queue = "q" + std::to_string(dice_.between(0, 3));
  command.hold = dice_.one_in(25);
  command.spec = group_spec();
  return command;
}

GroupSpec GangStream::group_spec() {
  static const std::vector<std::string> kRequired{"zone", "block", "block", "rack"};
  static const std::vector<FailureAction> kActions{FailureAction::FailGroup,     FailureAction::RestartGroup,
                                                   FailureAction::RestartRole,   FailureAction::RestartMember,
                                                   FailureAction::RestartMember, FailureAction::Tolerate};
  GroupSpec spec;
  spec.priority = static_cast<std::int32_t>(dice_.between(0, 3));
  spec.preemptible = dice_.chance(60);
  spec.mode = dice_.chance(50) ? PlacementMode::Reserve : PlacementMode::Atomic;
  spec.partial = dice_.one_in(5);
  if (dice_.chance(25)) spec.topology.required = dice_.pick(kRequired);
  if (spec.topology.required != "rack" && dice_.chance(25)) spec.topology.preferred = "rack";
  const std::int64_t roles = dice_.between(1, 3);
  for (std::int64_t role = 0; role < roles; ++role) {
    spec.roles.push_back(role_spec(static_cast<std::size_t>(role), 12 / roles));
  }
  spec.failure.default_action = dice_.pick(kActions);
  spec.failure.below_min = dice_.chance(50) ? FailureAction::FailGroup : FailureAction::RestartGroup;
  spec.failure.max_restarts = dice_.count(0, 4);
  spec.failure.backoff = BackoffPolicy{seconds(dice_.between(0, 8)), dice_.count(1, 2), seconds(30)};
  spec.failure.restart_on = dice_.chance(50) ? RestartOn::Same : RestartOn::Anywhere;
  if (dice_.one_in(5)) spec.success.op = SuccessOperator::Any;
  if (dice_.one_in(3)) spec.success.rest = SuccessRest::Kill;
  spec.resume = dice_.chance(60) ? ResumeWhat::All : ResumeWhat::Unfinished;
  spec.timeouts.pend = dice_.one_in(6) ? seconds(dice_.between(30, 300)) : Duration{};
  spec.timeouts.reserve = dice_.chance(60) ? seconds(dice_.between(5, 60)) : Duration{};
  spec.timeouts.start = dice_.one_in(4) ? seconds(dice_.between(20, 120)) : Duration{};
  spec.timeouts.recover = seconds(dice_.between(20, 300));
  spec.timeouts.run = dice_.one_in(4) ? seconds(dice_.between(30, 200)) : Duration{};
  spec.timeouts.stop = seconds(dice_.between(20, 90));
  spec.run_limit = dice_.chance(60) ? seconds(dice_.between(5, 200)) : Duration{};
  spec.ttl_after_finished = seconds(dice_.between(5, 60));
  return spec;
}

RoleSpec GangStream::role_spec(std::size_t number, std::int64_t members_max) {
  RoleSpec role;
  role.name = "r" + std::to_string(number);
  role.replicas = dice_.count(1, dice_.chance(70) ? std::min<std::int64_t>(4, members_max) : members_max);
  role.min = dice_.chance(50) ? role.replicas : dice_.count(1, role.replicas);
  role.max = dice_.chance(50) ? role.replicas : role.replicas + dice_.count(0, 3);
  const std::int64_t terms = dice_.one_in(8) ? 2 : 1;
  for (std::int64_t i = 0; i < terms; ++i) {
    TaskTerm term;
    term.count = dice_.one_in(4) ? dice_.count(2, 4) : 1;
    term.requests = {{"cpu", dice_.between(1, term.count > 1 ? 2 : 5)}};
    if (dice_.one_in(4)) term.requests.push_back({"gpu", 1});
    if (dice_.one_in(6)) term.requests.push_back({dice_.chance(70) ? "license.x" : "license.y", 1});
    if (dice_.one_in(3)) term.requests.push_back({"mem", dice_.between(1, 6)});
    if (dice_.one_in(8)) term.select = {{"model", dice_.chance(50) ? "a" : "b"}};
    if (dice_.one_in(8))
      term.span_hosts = 1;
    else if (dice_.one_in(8))
      term.span_ptile = dice_.count(1, 2);
    role.tasks.push_back(std::move(term));
  }
  if (dice_.one_in(10)) role.topology.required = "rack";
  if (dice_.one_in(6)) role.spares = 1;
  if (number > 0 && dice_.one_in(6))
    role.after = {{static_cast<RoleIndex>(number - 1), dice_.chance(70) ? AfterWhat::Started : AfterWhat::Succeeded}};
  return role;
}

}  // namespace lockstep::testing
