// Deadlines, in the order of their index: (deadline, group, kind, role, member).

#include "events/error.h"
#include "statemachine/decider.h"

namespace lockstep {

void Decider::fire_deadlines() {
  const auto& timers = state_.indexes.timers;
  for (Time due = next_deadline(state_); due && due <= now(); due = next_deadline(state_)) {
    const TimerKey timer = *timers.begin();
    cause_ = {};
    fire(timer);
    LOCKSTEP_CHECK(timers.empty() || *timers.begin() != timer, "a deadline that fired is still there");
  }
}

Answer Decider::on(const AdvanceTime&) { return {}; }

void Decider::fire(const TimerKey& timer) {
  const GroupId id = timer.group;
  switch (timer.kind) {
    case TimerKind::Pend:
      if (group(id).head.phase == GroupPhase::Reserving) emit(id, ReservationReleased{ReservationEnd::Stopped, false});
      emit(id, GroupFailed{{EndCode::PendTimeout, Scope::Group}});
      return;
    case TimerKind::Reserve:
      emit(id, ReservationReleased{ReservationEnd::Deadline, false});
      return;
    case TimerKind::Start:
      group_failed(id, {.reason = FailureReason::StartTimeout});
      return;
    case TimerKind::Recover:
      recover_expired(id, timer.member);
      return;
    case TimerKind::Run:
      group_failed(id, {.reason = FailureReason::RunTimeout});
      return;
    case TimerKind::Stop:
      stop_expired(id, timer.member);
      return;
    case TimerKind::Backoff:
      release_kept_if_lost(id);
      if (group(id).head.keep_hosts)
        place_kept(id);
      else
        emit(id, GroupRequeued{});
      return;
    case TimerKind::Resize:
      emit(id, ResizeDropped{timer.member.role, ResizeDropReason::Expired});
      return;
    case TimerKind::Ttl: {
      const GroupHead& head = group(id).head;
      emit(id, GroupPurged{head.identity.name, head.identity.user, head.phase, head.end, head.attempt, head.charged});
      return;
    }
  }
}

// The member is given up; the group goes on without it while its role keeps its min.
void Decider::recover_expired(GroupId id, const MemberKey& key) {
  const Member& member = group(id).roles[key.role].members[key.index];
  const Failure failure{member.reason, key, member.exit_code, member.signal};
  emit(id, MemberGivenUp{key});
  check_min(id, failure, EndCode::RecoverTimeout);
  settle(id);
}

// First the intent becomes `kill`; after as long again the hosts are drained and the group waits: nothing is assumed
// gone that was not confirmed.
void Decider::stop_expired(GroupId id, const MemberKey& key) {
  const Member& member = group(id).roles[key.role].members[key.index];
  if (!member.kill) {
    emit(id, StopExpired{key, false});
    return;
  }
  const std::vector<Slice> slices = member.hosts;
  emit(id, StopExpired{key, true});
  for (const Slice& slice : slices) {
    HostInfo info = state_.hosts.find(slice.host)->facts.info;
    if (info.drained) continue;
    info.drained = true;
    change_host(slice.host, info);
  }
}

}  // namespace lockstep
