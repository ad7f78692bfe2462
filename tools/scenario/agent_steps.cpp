// What the outside reports: agents about members, providers about claims; said by a step, or done by itself with
// `agents auto`.

#include <fmt/format.h>

#include <algorithm>

#include "tools/scenario/run.h"

namespace lockstep::scenario {
namespace {

// LIFECYCLE.md, Reports: in which phase a report is due.
bool is_due(ReportKind kind, MemberPhase phase) {
  switch (kind) {
    case ReportKind::Armed:
      return phase == MemberPhase::Placed;
    case ReportKind::Started:
      return phase == MemberPhase::Starting;
    case ReportKind::Stopped:
      return phase == MemberPhase::Stopping;
    case ReportKind::Exit:
    case ReportKind::Lost:
    case ReportKind::LaunchFailed:
      return is_live(phase);
  }
  return false;
}

bool is_due(ClaimReportKind kind, ClaimPhase phase) {
  return kind == ClaimReportKind::Released ? phase == ClaimPhase::Releasing : phase == ClaimPhase::Provisioning;
}

// Of the attempt and run of now, unless the step says otherwise. A member that never was has neither.
ReportMember make_report(Run& run, const ReportStep& step, GroupId id, const Group* group, MemberKey key) {
  ReportMember report{id, {}};
  report.report.kind = step.kind;
  report.report.member = key;
  if (group != nullptr) {
    report.report.attempt = group->head.attempt;
    if (const Member* member = find_member(*group, key)) report.report.run = member->run;
  }
  report.report.attempt = step.attempt.value_or(report.report.attempt);
  report.report.run = step.run.value_or(report.report.run);
  report.report.sequence = step.sequence ? *step.sequence : ++run.reports;
  report.report.exit_code = step.exit_code;
  report.report.signal = step.signal;
  report.report.reason = step.reason;
  return report;
}

// The first named singly of which there never was a member: the core takes the report as late.
Refusal nobody(const Run& run, const ReportStep& step, GroupId id, const std::vector<MemberKey>& keys) {
  const Group* group = run.state().group(id);
  for (const MemberKey& key : keys) {
    if (group != nullptr && find_member(*group, key) != nullptr) continue;
    const auto code = group == nullptr ? AnswerCode::UnknownGroup : AnswerCode::UnknownMember;
    return Refusal{code, fmt::format("there is no {}", to_string(step.members)), true};
  }
  return Refusal{};
}

}  // namespace

Outcome run_step(Run& run, const ReportStep& step) {
  const GroupId id = resolve(run.world, step.members.group);
  if (!id) {
    return refuse(AnswerCode::UnknownGroup, fmt::format("there never was a group {}", to_string(step.members.group)));
  }
  if (!step.members.role.empty() && !run.world.book().role(id, step.members.role)) {
    return refuse(AnswerCode::UnknownRole,
                  fmt::format("group {} has no role {}", to_string(step.members.group), step.members.role));
  }
  const Group* group = run.state().group(id);
  const auto keys = resolve(run.world, step.members);
  const Refusal unknown = nobody(run, step, id, keys);
  std::vector<CommandBody> reports;
  for (const MemberKey& key : keys) {
    const Member* member = group == nullptr ? nullptr : find_member(*group, key);
    if (step.members.all && (member == nullptr || !is_due(step.kind, member->phase))) continue;
    reports.emplace_back(make_report(run, step, id, group, key));
  }
  auto outcome = send(run, Actor::Agent, std::move(reports));
  LOCKSTEP_TRY(outcome);
  return outcome->refused() ? outcome : Outcome(unknown);
}

Outcome run_step(Run& run, const ClaimStep& step) {
  const MemberRef& owner = step.claim.members;
  if (!step.claim.standalone && !resolve(run.world, owner.group)) {
    return refuse(AnswerCode::UnknownGroup, fmt::format("there never was a group {}", to_string(owner.group)));
  }
  const auto claims = resolve(run.world, step.claim, Whose::AnyMembers);
  if (claims.empty()) {
    return refuse(AnswerCode::UnknownClaim, fmt::format("there is no claim {}", to_string(step.claim)));
  }
  std::vector<CommandBody> reports;
  for (const FoundClaim& claim : claims) {
    if (owner.all && !is_due(step.kind, claim.phase)) continue;
    const GroupId group = claim.ref.name.empty() ? resolve(run.world, owner.group) : GroupId{};
    reports.emplace_back(ReportClaim{group, claim.ref, step.kind});
  }
  return send(run, Actor::Provider, std::move(reports));
}

// ---- agents auto --------------------------------------------------------------------------------------------------
namespace {

ReportKind answer_to(IntentKind kind) {
  switch (kind) {
    case IntentKind::Arm:
      return ReportKind::Armed;
    case IntentKind::Start:
      return ReportKind::Started;
    default:
      return ReportKind::Stopped;
  }
}

// An earlier report of the round may have changed what is owed: an agent that is no longer asked says nothing.
bool still_owed(const State& state, const Intent& intent) {
  const bool claim = intent.kind == IntentKind::Provision || intent.kind == IntentKind::Release;
  if (claim && !intent.claim.name.empty()) {
    const auto found = state.claims.find(intent.claim.name);
    return found != state.claims.end() && found->second.phase == ClaimPhase::Provisioning;
  }
  const Group* group = state.group(intent.group);
  if (group == nullptr) return false;
  if (claim) {
    const auto found = group->claims.find(intent.claim.key);
    const auto phase = intent.kind == IntentKind::Provision ? ClaimPhase::Provisioning : ClaimPhase::Releasing;
    return found != group->claims.end() && found->second.phase == phase;
  }
  const Member* member = find_member(*group, intent.member);
  return member != nullptr && group->head.attempt == intent.attempt && member->run == intent.run &&
         is_due(answer_to(intent.kind), member->phase);
}

Command answer(Run& run, const Intent& intent) {
  Command command;
  if (intent.kind == IntentKind::Provision || intent.kind == IntentKind::Release) {
    const auto kind = intent.kind == IntentKind::Provision ? ClaimReportKind::Ready : ClaimReportKind::Released;
    command.actor = Actor::Provider;
    command.body = ReportClaim{intent.group, intent.claim, kind};
    return command;
  }
  ReportMember report{intent.group, {}};
  report.report.kind = answer_to(intent.kind);
  report.report.member = intent.member;
  report.report.attempt = intent.attempt;
  report.report.run = intent.run;
  report.report.sequence = ++run.reports;
  command.actor = Actor::Agent;
  command.body = report;
  return command;
}

// Those of one kind of one group are answered in one batch: none of them makes another one late.
bool go_together(const Intent& a, const Intent& b) { return a.kind == b.kind && a.group == b.group; }

// Answers what is owed, in its order; true when anything was heard.
Result<bool> answer_all(Run& run, const std::vector<Intent>& owed) {
  bool changed = false;
  for (std::size_t first = 0, after = 0; first < owed.size(); first = after) {
    std::vector<Command> batch;
    for (after = first; after < owed.size() && go_together(owed[first], owed[after]); ++after) {
      if (still_owed(run.state(), owed[after])) batch.push_back(answer(run, owed[after]));
    }
    if (batch.empty()) continue;
    const auto answers = run.world.execute(std::move(batch));
    LOCKSTEP_TRY(answers);
    for (const Answer& each : *answers) changed = changed || each.code == AnswerCode::Done;
  }
  return changed;
}

}  // namespace

Result<bool> run_agents(Run& run) {
  bool anything = false;
  for (std::size_t round = 0; round < kRoundsMax; ++round) {
    std::vector<Intent> owed;
    intents(run.state(), [&owed](const Intent& intent) { owed.push_back(intent); });
    const auto changed = answer_all(run, owed);
    LOCKSTEP_TRY(changed);
    if (!*changed) return anything;
    anything = true;
  }
  run.world.add_unmet({"agents to come to rest", fmt::format("{} rounds", kRoundsMax)});
  return anything;
}

}  // namespace lockstep::scenario
