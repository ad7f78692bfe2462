// A plan is checked as a whole against the state it meets before any of it is taken (plan_check.h).

#include "statemachine/decider.h"
#include "statemachine/plan_check.h"

namespace lockstep {

Answer Decider::on(const ApplyPlan& command) {
  if (auto why = check_plan(state_, command.plan); !why.empty()) {
    return reject(AnswerCode::StalePlan,
                  "plan made for seq " + std::to_string(command.plan.made_for.value) + ": " + why);
  }
  for (const PlanAction& action : command.plan.actions) {
    cause_ = {};
    if (const auto* place = std::get_if<PlaceAction>(&action))
      take(*place);
    else if (const auto* replace = std::get_if<ReplaceAction>(&action))
      take(*replace);
    else if (const auto* grow = std::get_if<GrowAction>(&action))
      take(*grow);
    else if (const auto* reserve = std::get_if<ReserveAction>(&action))
      take(*reserve, command.plan);
    else if (const auto* release = std::get_if<ReleaseAction>(&action))
      take(*release);
    else if (const auto* evict = std::get_if<EvictAction>(&action))
      take(*evict);
  }
  return {};
}

void Decider::take(const PlaceAction& action) {
  emit(action.group, GroupPlaced{.attempt = group(action.group).head.attempt + 1,
                                 .domain = action.domain,
                                 .members = action.members,
                                 .spares = action.spares});
  request_claims(action.group, action.members);
  settle(action.group);
}

void Decider::take(const ReplaceAction& action) {
  for (const MemberPlacement& placement : action.members) emit(action.group, MemberReplaced{.placement = placement});
  request_claims(action.group, action.members);
  settle(action.group);
}

void Decider::take(const GrowAction& action) {
  emit(action.group, ResizeApplied{.role = action.role,
                                   .replicas = group(action.group).roles[action.role].head.resize_to,
                                   .grown = action.members});
  request_claims(action.group, action.members);
  settle(action.group);
}

// Opens the reservation of a Pending group, for which others may have been evicted just before, or changes an open one.
void Decider::take(const ReserveAction& action, const Plan& plan) {
  const Group& each = group(action.group);
  if (each.head.phase == GroupPhase::Reserving) {
    emit(action.group,
         ReservationExtended{.members = action.members, .lost = action.lost, .projected = action.projected});
    return;
  }
  const Duration holds = each.spec->timeouts.reserve;
  ReservationOpened opened{.domain = action.domain,
                           .members = action.members,
                           .deadline = holds.value > 0 ? now() + holds : Time{},
                           .projected = action.projected};
  for (const PlanAction& other : plan.actions) {
    const auto* eviction = std::get_if<EvictAction>(&other);
    if (eviction != nullptr && eviction->by == action.group) opened.victims.push_back(eviction->group);
  }
  emit(action.group, std::move(opened));
}

void Decider::take(const ReleaseAction& action) {
  emit(action.group, ReservationReleased{.why = action.why, .keeps_place = false});
}

void Decider::take(const EvictAction& action) {
  const GroupId id = action.group;
  if (action.members.empty()) {
    evict(group(id), action.by);
    return;
  }
  emit(id, GroupPreempted{.by = action.by, .members = action.members});
  for (RoleIndex role = 0; role < group(id).roles.size(); ++role) {
    MembersStopping out{.role = role, .fate = MemberFate::GivenUp};
    for (const MemberKey& key : action.members) {
      if (key.role == role) out.indexes.push_back(key.index);
    }
    if (!out.indexes.empty()) emit(id, std::move(out));
  }
  drop_resizes(id, ResizeDropReason::Evicted);
  settle(id);
}

}  // namespace lockstep
