// What agents report, and hosts that are lost.
#include <algorithm>

#include "tests/model/naive_model.h"

namespace lockstep::model {
namespace {

bool on_host(const Slices& slices, HostId host) {
  return std::any_of(slices.begin(), slices.end(), [&](const Slice& slice) { return slice.host == host; });
}

}  // namespace

AnswerCode NaiveModel::late(Group& group) {
  ++group.late_reports;
  return AnswerCode::Late;
}

AnswerCode NaiveModel::on(const ReportMember& command) {
  Group* found = find(command.group);
  if (found == nullptr) {
    ++late_unknown;
    return AnswerCode::Late;
  }
  Group& group = *found;
  const Report& report = command.report;
  const auto entry = group.members.find(report.member);
  if (entry == group.members.end()) return late(group);
  Member& member = entry->second;
  if (report.attempt != group.attempt || report.run != member.run) return late(group);
  if (report.sequence == member.sequence) return AnswerCode::Duplicate;
  if (report.sequence < member.sequence) return late(group);

  bool due = is_live(member.phase);
  if (report.kind == ReportKind::Armed) due = member.phase == MemberPhase::Placed;
  if (report.kind == ReportKind::Started) due = member.phase == MemberPhase::Starting;
  if (report.kind == ReportKind::Stopped) due = member.phase == MemberPhase::Stopping;
  if (!due) return late(group);

  member.sequence = report.sequence;
  if (report.kind == ReportKind::Armed) {
    member.phase = MemberPhase::Armed;
  } else if (report.kind == ReportKind::Started) {
    member.phase = MemberPhase::Running;
    member.recover_deadline = {};
  } else if (member.phase == MemberPhase::Stopping) {
    member_confirmed_gone(group, report.member);
  } else {
    member_ended(group, report.member, report);
  }
  settle(group);
  return AnswerCode::Done;
}

// exit, launch-failed or lost of a member that nobody asked to stop.
void NaiveModel::member_ended(Group& group, MemberKey key, const Report& report) {
  Member& member = group.members.at(key);
  const bool asked_to_start = member.phase == MemberPhase::Starting || member.phase == MemberPhase::Running;
  const bool clean = report.exit_code == 0 && report.signal == 0 && report.reason == FailureReason::None;
  if (report.kind == ReportKind::Exit && clean && asked_to_start) {
    member.phase = MemberPhase::Succeeded;
    member.exit_code = 0;
    member.recover_deadline = {};
    member.hosts.clear();
    return;
  }
  Failure failure;
  failure.member = key;
  member.phase = MemberPhase::Failed;
  if (report.kind == ReportKind::Lost) {
    member.phase = MemberPhase::Lost;
    failure.reason = FailureReason::HostLost;
  } else if (report.kind == ReportKind::LaunchFailed) {
    failure.reason = FailureReason::LaunchFailed;
  } else {
    failure.reason = report.signal != 0 ? FailureReason::Signaled : FailureReason::Exited;
    if (report.reason != FailureReason::None) failure.reason = report.reason;
  }
  failure.exit_code = report.exit_code;
  failure.signal = report.signal;
  member.exit_code = failure.exit_code;
  judge(group, failure);
}

// A member in Stopping ended, however it did.
void NaiveModel::member_confirmed_gone(Group& group, MemberKey key) {
  Member& member = group.members.at(key);
  member.phase = MemberPhase::Stopped;
  member.stop_deadline = {};
  member.kill = member.fenced = false;
  if (group.phase == GroupPhase::Stopping) {
    if (!group.keep_hosts || !member.required) member.hosts.clear();
  } else if (member.required && !group.satisfied) {
    run_again(group, key);
  } else {
    member.required = false;
    member.hosts.clear();
  }
}

// In the order group id, role, index; nothing of what runs on the host is there any more.
void NaiveModel::host_down(HostId host) {
  host_not_usable(host);
  std::vector<std::pair<GroupId, MemberKey>> there;
  for (const auto& [id, group] : groups) {
    for (const auto& [key, member] : group.members) {
      if (is_live(member.phase) && on_host(member.hosts, host)) there.emplace_back(id, key);
    }
  }
  for (const auto& [id, key] : there) {
    Group& group = groups.at(id);
    Member& member = group.members.at(key);
    const bool all_down = std::all_of(member.hosts.begin(), member.hosts.end(),
                                      [&](const Slice& slice) { return hosts.at(slice.host).info.down; });
    if (member.phase == MemberPhase::Stopping) {
      if (all_down) member_confirmed_gone(group, key);
    } else {
      Failure failure;
      failure.reason = FailureReason::HostLost;
      failure.member = key;
      failure.left = all_down ? Failure::Left::Nothing : Failure::Left::Part;
      if (all_down) member.phase = MemberPhase::Lost;
      judge(group, failure);
    }
    settle(group);
  }
  for (auto& [id, group] : groups) give_back_where_nobody_runs(group);
}

// Down or drained: reservations go on without it, and nobody restarts on it.
void NaiveModel::host_not_usable(HostId host) {
  for (auto& [id, group] : groups) {
    if (group.phase == GroupPhase::Reserving) reserved_host_lost(group, host);
    if (group.keep_hosts && !can_keep_hosts(group)) release_kept_hosts(group);
    give_back_where_nobody_runs(group);
  }
}

}  // namespace lockstep::model
