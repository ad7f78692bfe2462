#include "tools/lockstep/simulated_hosts.h"

#include <algorithm>

#include "statemachine/intents.h"

namespace lockstep::cli {
namespace {
constexpr Duration kSayAgainAfter = seconds(2);
}

// The duties of one group as its state stands.
struct SimulatedHosts::Find {
  const SimulatedHosts& hosts;
  const Group& group;
  Time now;
  Duties found{};

  [[nodiscard]] const Member& member(MemberKey key) const { return group.roles[key.role].members[key.index]; }

  // A report that its agent would make, following the last one it is known to have made.
  [[nodiscard]] Report report(MemberKey key, ReportKind kind) const {
    Report result;
    result.kind = kind;
    result.member = key;
    result.attempt = group.head.attempt;
    result.run = member(key).run;
    result.sequence = member(key).sequence + 1;
    return result;
  }

  void add(Kind kind, const Report& report, Time at) {
    found[Duty{kind, report.member, report.run, {}}] = Planned{at, ReportMember{group.head.id, report}};
  }

  [[nodiscard]] static Report failed(Report report, const ScriptedFailure& failure) {
    report.kind = failure.how;
    report.exit_code = failure.exit_code;
    report.signal = failure.signal;
    report.reason = failure.reason;
    return report;
  }

  void start(MemberKey key) {
    const auto* failure = hosts.scripted(group, key, member(key).run);
    const Report started = report(key, ReportKind::Started);
    if (failure != nullptr && failure->how == ReportKind::LaunchFailed) {
      add(Kind::Start, failed(started, *failure), now + failure->after);
    } else {
      add(Kind::Start, started, now + hosts.options_.step);
    }
  }

  void end(MemberKey key) {
    const Time started = member(key).started_at;
    const Report exit = report(key, ReportKind::Exit);
    const auto* failure = hosts.scripted(group, key, member(key).run);
    const Duration runtime = hosts.runtime(group, key.role);
    if (failure != nullptr && failure->how != ReportKind::LaunchFailed && failure->after <= runtime) {
      add(Kind::End, failed(exit, *failure), started + failure->after);
    } else {
      add(Kind::End, exit, started + runtime);
    }
  }

  void owed(const Intent& intent) {
    const Duration step = hosts.options_.step;
    const auto claim = [&](Kind kind, ClaimReportKind report, Duration after) {
      found[Duty{kind, {}, 0, intent.claim}] = Planned{now + after, ReportClaim{intent.group, intent.claim, report}};
    };
    switch (intent.kind) {
      case IntentKind::Arm:
        return add(Kind::Arm, report(intent.member, ReportKind::Armed), now + step);
      case IntentKind::Start:
        return start(intent.member);
      case IntentKind::Stop:
        return add(Kind::Stop, report(intent.member, ReportKind::Stopped), now + step);
      case IntentKind::Kill:
        return add(Kind::Stop, report(intent.member, ReportKind::Stopped), now);
      case IntentKind::Provision:
        return claim(Kind::Provision, ClaimReportKind::Ready, hosts.options_.claims_after);
      case IntentKind::Release:
        return claim(Kind::Release, ClaimReportKind::Released, step);
    }
  }
};

void SimulatedHosts::observe(const State& state, const std::vector<Event>& events, Time now) {
  std::set<GroupId> about;
  for (const auto& event : events) {
    about.insert(event.group);
    if (kind(event) == EventKind::ClaimRequested) about.insert(GroupId{});
  }
  for (const GroupId id : about) observe_group(state, id, now);
}

void SimulatedHosts::observe_all(const State& state, Time now) {
  observe_group(state, GroupId{}, now);
  state.groups.for_each([&](const Group& group) { observe_group(state, group.head.id, now); });
}

void SimulatedHosts::observe_group(const State& state, GroupId id, Time now) {
  if (!id) {
    Duties wanted;
    for (const auto& [name, claim] : state.claims) {
      if (claim.phase != ClaimPhase::Provisioning) continue;
      const ClaimRef ref{name, {}};
      wanted[Duty{Kind::Provision, {}, 0, ref}] =
          Planned{now + options_.claims_after, ReportClaim{GroupId{}, ref, ClaimReportKind::Ready}};
    }
    return replace(id, std::move(wanted));
  }
  const Group* group = state.group(id);
  if (group == nullptr) return replace(id, {});
  Find find{*this, *group, now};
  intents(state, *group, [&](const Intent& intent) { find.owed(intent); });
  for (RoleIndex role = 0; role < group->roles.size(); ++role) {
    const auto& members = group->roles[role].members;
    for (std::uint32_t index = 0; index < members.size(); ++index) {
      if (members[index].phase == MemberPhase::Running) find.end({role, index});
    }
  }
  replace(id, std::move(find.found));
}

// A duty that was there keeps its time; its report is renewed, since the sequence may have moved on.
void SimulatedHosts::replace(GroupId id, Duties wanted) {
  auto& known = duties_[id];
  for (const auto& [duty, planned] : known) {
    if (!wanted.contains(duty)) queue_.erase({planned.at, id, duty});
  }
  for (auto& [duty, planned] : wanted) {
    const auto before = known.find(duty);
    if (before != known.end()) planned.at = before->second.at;
    queue_.insert({planned.at, id, duty});
  }
  known = std::move(wanted);
  if (known.empty()) duties_.erase(id);
}

const ScriptedFailure* SimulatedHosts::scripted(const Group& group, MemberKey member, std::uint32_t run) const {
  const std::string& role = group.spec->roles[member.role].name;
  for (const auto& failure : options_.failures) {
    const bool here = failure.role == role && failure.index.value_or(member.index) == member.index &&
                      (failure.group.empty() || failure.group == group.head.identity.name);
    if (here && (failure.every || run == 1)) return &failure;
  }
  return nullptr;
}

Duration SimulatedHosts::runtime(const Group& group, RoleIndex role) const {
  const auto found = options_.runtime_of_role.find(group.spec->roles[role].name);
  return found != options_.runtime_of_role.end() ? found->second : options_.runtime;
}

std::vector<CommandBody> SimulatedHosts::due(Time now) {
  std::vector<CommandBody> reports;
  while (!queue_.empty() && std::get<Time>(*queue_.begin()) <= now) {
    const auto [at, id, duty] = *queue_.begin();
    queue_.erase(queue_.begin());
    Planned& planned = duties_.at(id).at(duty);
    reports.push_back(planned.report);
    planned.at = std::max(now, at) + kSayAgainAfter;
    queue_.insert({planned.at, id, duty});
  }
  return reports;
}

Time SimulatedHosts::next() const { return queue_.empty() ? Time{} : std::get<Time>(*queue_.begin()); }

}  // namespace lockstep::cli
