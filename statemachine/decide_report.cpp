// What agents and claim providers say. Never refused: a report that is not due is recorded as late and changes nothing.

#include "statemachine/decider.h"
#include "statemachine/derived.h"

namespace lockstep {

namespace {

bool due(ReportKind kind, MemberPhase phase) {
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

FailureReason reason_of(const Report& report) {
  if (report.kind == ReportKind::Lost) return FailureReason::HostLost;
  if (report.kind == ReportKind::LaunchFailed) return FailureReason::LaunchFailed;
  if (report.reason != FailureReason::None) return report.reason;
  return report.signal != 0 ? FailureReason::Signaled : FailureReason::Exited;
}

}  // namespace

Answer Decider::late(LateReport report) {
  const GroupId about = report.about;
  const bool known = state_.groups.find(about) != nullptr;
  emit(known ? about : GroupId{}, std::move(report));
  return Answer{.code = AnswerCode::Late, .group = about, .seq = {}, .text = {}};
}

Answer Decider::on(const ReportMember& command) {
  const Report& report = command.report;
  const Group* found = state_.groups.find(command.group);
  const auto late_report = [&] { return late({.about = command.group, .report = report}); };
  if (found == nullptr) return late_report();
  const auto [role, index] = report.member;
  if (role >= found->roles.size() || index >= found->roles[role].members.size()) return late_report();
  const Member& member = found->roles[role].members[index];
  if (report.attempt != found->head.attempt || report.run != member.run) return late_report();
  const Answer done{.code = AnswerCode::Done, .group = command.group, .seq = {}, .text = {}};
  if (report.sequence == member.sequence && report.sequence != 0) {
    return Answer{.code = AnswerCode::Duplicate, .group = command.group, .seq = {}, .text = {}};
  }
  if (report.sequence < member.sequence || !due(report.kind, member.phase)) return late_report();
  switch (report.kind) {
    case ReportKind::Armed:
      emit(command.group, MemberArmed{report.member, report.sequence});
      settle(command.group);
      return done;
    case ReportKind::Started:
      emit(command.group, MemberStarted{report.member, report.sequence});
      settle(command.group);
      return done;
    default:
      member_reported_gone(command.group, report);
      return done;
  }
}

void Decider::member_reported_gone(GroupId id, const Report& report) {
  const MemberPhase phase = group(id).roles[report.member.role].members[report.member.index].phase;
  if (phase == MemberPhase::Stopping) {
    member_stopped(id, report.member, report.exit_code, report.signal, report.sequence);
    return;
  }
  const bool asked = phase == MemberPhase::Starting || phase == MemberPhase::Running;
  const bool clean = report.kind == ReportKind::Exit && report.exit_code == 0 && report.signal == 0 &&
                     report.reason == FailureReason::None;
  if (clean && asked) {
    emit(id, MemberEnded{.member = report.member, .phase = MemberPhase::Succeeded, .sequence = report.sequence});
    settle(id);
    return;
  }
  const Failure failure{reason_of(report), report.member, report.exit_code, report.signal};
  const MemberPhase ended = report.kind == ReportKind::Lost ? MemberPhase::Lost : MemberPhase::Failed;
  member_failed(id, failure, {ended, report.sequence, {}}, Gone::Yes);
}

// However a member in Stopping ends, it is Stopped. One that is to run again gets hosts at once where it can; once the
// group is satisfied nobody runs again.
void Decider::member_stopped(GroupId id, const MemberKey& member, std::int32_t exit_code, std::int32_t signal,
                             std::uint64_t sequence) {
  const std::vector<Slice> own = group(id).roles[member.role].members[member.index].hosts;
  const bool goes_on = is_active(group(id).head.phase);
  if (goes_on && group(id).head.satisfied && group(id).roles[member.role].members[member.index].required) {
    emit(id, MemberGivenUp{member});
  }
  emit(id, MemberStopped{member, exit_code, signal, sequence});
  const Member& stopped = group(id).roles[member.role].members[member.index];
  if (goes_on && stopped.required && stopped.phase == MemberPhase::Waiting) {
    replace_in_place(id, member, own);
  }
  settle(id);
}

// ---- claims
// -------------------------------------------------------------------------------------------------------------
Answer Decider::on(const ReportClaim& command) {
  const bool standalone = !command.claim.name.empty();
  const GroupId id = standalone ? GroupId{} : command.group;
  ClaimPhase phase = ClaimPhase::None;
  if (standalone) {
    const auto found = state_.claims.find(command.claim.name);
    if (found != state_.claims.end()) phase = found->second.phase;
  } else if (const Group* owner = state_.groups.find(id)) {
    const auto found = owner->claims.find(command.claim.key);
    if (found != owner->claims.end()) phase = found->second.phase;
  }
  const ClaimPhase due = command.kind == ClaimReportKind::Released ? ClaimPhase::Releasing : ClaimPhase::Provisioning;
  if (phase != due) return late({.about = id, .claim = command.claim, .claim_kind = command.kind});
  const Answer done{.code = AnswerCode::Done, .group = id, .seq = {}, .text = {}};
  if (command.kind == ClaimReportKind::Released) {
    emit(id, ClaimReleased{command.claim});
    return done;
  }
  std::vector<GroupId> waiting{id};
  if (standalone) {
    const auto users = state_.indexes.standalone_users.find(command.claim.name);
    waiting.clear();
    if (users != state_.indexes.standalone_users.end()) waiting.assign(users->second.begin(), users->second.end());
  }
  if (command.kind == ClaimReportKind::Ready) {
    emit(id, ClaimReady{command.claim});
    for (const GroupId each : waiting) settle(each);
    return done;
  }
  emit(id, ClaimFailed{command.claim});
  for (const GroupId each : waiting) claim_failed(each, command.claim);
  return done;
}

void Decider::claim_failed(GroupId id, const ClaimRef& claim) {
  const Group& each = group(id);
  if (!is_active(each.head.phase)) return;
  const MemberKey member = claim.name.empty() ? claim.key.member : MemberKey{kNoRole, kNoMember};
  if (member.role == kNoRole) {
    group_failed(id, {.reason = FailureReason::ClaimFailed});
  } else if (each.roles[member.role].members[member.index].required) {
    member_failed(id, {.reason = FailureReason::ClaimFailed, .member = member}, {.claim = claim}, Gone::StaysLive);
  }
}

}  // namespace lockstep
