#pragma once
// What apply() does for each kind of event: one overload of on() each, in the file of its subject. Private to
// statemachine/.

#include "events/events.h"
#include "statemachine/edit.h"
#include "statemachine/lifecycle.h"
#include "statemachine/state.h"

namespace lockstep::apply_detail {

struct Context {
  State& state;
  const Event& event;

  [[nodiscard]] Group& group() const;  // the event's; must be there
};

// The deadline of a clock that starts now; none when the manifest says 0.
[[nodiscard]] inline Time clock(const Context& context, Duration duration) {
  return duration.value > 0 ? context.event.time + duration : Time{};
}

// The group's phase by the lifecycle; one that refuses the trigger is a defect.
void move(const Context& context, edit::EditGroup& group, GroupTrigger trigger);
void move(const Context& context, GroupTrigger trigger);

// ---- members: shared by several events
// visit(key, member)
template <class Visit>
void for_each_member(const Group& group, Visit visit) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const auto& members = group.roles[role].members;
    for (std::uint32_t index = 0; index < members.size(); ++index) visit(MemberKey{role, index}, members[index]);
  }
}
void place_member(const Context& context, Group& group, const MemberPlacement& placement);
void ask_to_stop(const Context& context, Group& group, const MemberKey& key);
void release_spares(const Context& context, Group& group);
void remove_spare(const Context& context, Group& group, RoleIndex role, const std::vector<Slice>& slices);
// Gives back what members that are not live still hold (kept or reserved hosts).
void release_idle_hosts(const Context& context, Group& group);
enum class Succeeded : std::uint8_t { RunAgain, Stay };
// Members of a group that goes on without hosts: all Waiting, of no attempt.
void reset_members(const Context& context, Group& group, Succeeded succeeded);
// At least `wanted` numbers of a role exist.
void make_members(const Context& context, Group& group, RoleIndex role);
void charge(const Context& context, Group& group, const MemberKey& member, Scope scope);

// ---- one per event kind
void on(const Context& context, const HostAdded& event);
void on(const Context& context, const HostChanged& event);
void on(const Context& context, const HostRemoved& event);
void on(const Context& context, const PoolSet& event);
void on(const Context& context, const LevelsSet& event);
void on(const Context& context, const ControllerStarted& event);
void on(const Context& context, const DigestRecorded& event);
void on(const Context& context, const RequestAnswered& event);
void on(const Context& context, const GroupDefined& event);
void on(const Context& context, const GroupSubmitted& event);
void on(const Context& context, const ReservationOpened& event);
void on(const Context& context, const ReservationExtended& event);
void on(const Context& context, const ReservationReleased& event);
void on(const Context& context, const GroupPlaced& event);
void on(const Context& context, const ClaimRequested& event);
void on(const Context& context, const ClaimReady& event);
void on(const Context& context, const ClaimFailed& event);
void on(const Context& context, const ClaimReleased& event);
void on(const Context& context, const MemberArmed& event);
void on(const Context& context, const GroupStarted& event);
void on(const Context& context, const MembersStarting& event);
void on(const Context& context, const MemberStarted& event);
void on(const Context& context, const MemberEnded& event);
void on(const Context& context, const MemberReplaced& event);
void on(const Context& context, const GroupRunning& event);
void on(const Context& context, const GroupRecovering& event);
void on(const Context& context, const GroupStopping& event);
void on(const Context& context, const MembersStopping& event);
void on(const Context& context, const MemberStopped& event);
void on(const Context& context, const StopExpired& event);
void on(const Context& context, const MemberGivenUp& event);
void on(const Context& context, const GroupRestarted& event);
void on(const Context& context, const GroupRequeued& event);
void on(const Context& context, const GroupPreempted& event);
void on(const Context& context, const KeptHostsReleased& event);
void on(const Context& context, const GroupSuspended& event);
void on(const Context& context, const GroupResumed& event);
void on(const Context& context, const ResizeRequested& event);
void on(const Context& context, const ResizeApplied& event);
void on(const Context& context, const ResizeDropped& event);
void on(const Context& context, const GroupSucceeded& event);
void on(const Context& context, const GroupFailed& event);
void on(const Context& context, const GroupCancelled& event);
void on(const Context& context, const GroupPurged& event);
void on(const Context& context, const LateReport& event);
void on(const Context& context, const GroupSatisfied& event);
void on(const Context& context, const IdleHostsReleased& event);

}  // namespace lockstep::apply_detail
