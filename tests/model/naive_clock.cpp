// Deadlines: in the order deadline, group, kind, role, index, at the time of the command that finds them passed, from
// which the clocks that they set count.
#include "tests/model/naive_model.h"

namespace lockstep::model {

std::set<NaiveModel::Timer> NaiveModel::timers() const {
  std::set<Timer> all;
  for (const auto& [id, group] : groups) {
    const auto add = [&, group_id = id](Time at, TimerKind kind, MemberKey key) {
      if (at) all.emplace(at, group_id, kind, key.role, key.index);
    };
    const MemberKey none{kNoRole, kNoMember};
    add(group.pend_deadline, TimerKind::Pend, none);
    add(group.reserve_deadline, TimerKind::Reserve, none);
    add(group.start_deadline, TimerKind::Start, none);
    add(group.run_deadline, TimerKind::Run, none);
    add(group.backoff_deadline, TimerKind::Backoff, none);
    if (!owes_release(group)) add(group.ttl_deadline, TimerKind::Ttl, none);
    for (const auto& [key, member] : group.members) {
      add(member.recover_deadline, TimerKind::Recover, key);
      add(member.stop_deadline, TimerKind::Stop, key);
    }
    for (RoleIndex role = 0; role < group.roles.size(); ++role)
      add(group.roles[role].resize_deadline, TimerKind::Resize, {role, kNoMember});
  }
  return all;
}

void NaiveModel::fire_deadlines() {
  while (true) {
    const std::set<Timer> all = timers();
    if (all.empty() || std::get<Time>(*all.begin()) > now) return;
    const auto [at, id, kind, role, index] = *all.begin();
    clock_fired_ = true;
    fire(groups.at(id), kind, {role, index});
  }
}

void NaiveModel::fire(Group& group, TimerKind kind, MemberKey key) {
  Failure failure;
  switch (kind) {
    case TimerKind::Pend: {
      End end;
      end.code = EndCode::PendTimeout;
      stop_group(group, StopNext::Fail, end, false, false);
      return;
    }
    case TimerKind::Reserve:
      release_reservation(group);
      return;
    case TimerKind::Start:
      group.start_deadline = {};
      failure.reason = FailureReason::StartTimeout;
      judge(group, failure);
      return;
    case TimerKind::Run:
      group.run_deadline = {};
      if (group.satisfied) {
        End end;
        end.code = EndCode::Completed;
        stop_group(group, StopNext::Succeed, end, false, false);
        return;
      }
      failure.reason = FailureReason::RunTimeout;
      judge(group, failure);
      return;
    case TimerKind::Recover:
      failure.member = key;
      failure.exit_code = group.members.at(key).exit_code;
      failure.reason = FailureReason::None;
      give_up(group, failure, EndCode::RecoverTimeout);
      settle(group);
      return;
    case TimerKind::Stop:
      fire_stop(group, group.members.at(key));
      return;
    case TimerKind::Backoff:
      group.backoff_deadline = {};
      if (group.keep_hosts)
        place_on_kept_hosts(group);
      else
        become_pending(group);
      return;
    case TimerKind::Resize:
      group.roles[key.role].resize_to.reset();
      group.roles[key.role].resize_deadline = {};
      return;
    case TimerKind::Ttl:
      groups.erase(group.id);
      return;
  }
}

// First it is killed; after as long again its hosts are drained, and the group waits.
void NaiveModel::fire_stop(Group& group, Member& member) {
  if (!member.kill) {
    member.kill = true;
    member.stop_deadline = deadline(group.spec.timeouts.stop);
    return;
  }
  member.fenced = true;
  member.stop_deadline = {};
  const Slices there = member.hosts;
  for (const Slice& slice : there) {
    HostInfo& info = hosts.at(slice.host).info;
    if (info.drained) continue;
    info.drained = true;
    host_not_usable(slice.host);
  }
}

}  // namespace lockstep::model
