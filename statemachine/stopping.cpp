// Asking a group to stop, and what it may keep while it does.

#include <algorithm>

#include "statemachine/decider.h"

namespace lockstep {

// Whatever asks a satisfied group to stop, it ends Succeeded.
void Decider::stop_group(GroupId id, StopNext next, const End& end, bool charged, bool keep_hosts) {
  drop_resizes(id, next == StopNext::Requeue ? ResizeDropReason::Evicted : ResizeDropReason::Stopped);
  if (group(id).head.satisfied) {
    emit(id, GroupStopping{.next = StopNext::Succeed, .end = {EndCode::Completed, Scope::Group}});
    return;
  }
  emit(id, GroupStopping{.next = next, .end = end, .charged = charged, .keep_hosts = keep_hosts});
}

void Decider::drop_resizes(GroupId id, ResizeDropReason why) {
  for (RoleIndex role = 0; role < group(id).roles.size(); ++role) {
    if (group(id).roles[role].head.resize_pending) emit(id, ResizeDropped{role, why});
  }
}

bool Decider::usable(const std::vector<Slice>& slices) const {
  return !slices.empty() && std::all_of(slices.begin(), slices.end(), [&](const Slice& slice) {
    const Host* host = state_.hosts.find(slice.host);
    return host != nullptr && host->usable();
  });
}

// Each required member still has its host, up and not drained, or a spare; and there are enough of them for a run.
bool Decider::can_keep_hosts(const Group& group) const {
  RoleIndex index = 0;
  return std::all_of(group.roles.begin(), group.roles.end(), [&](const Role& role) {
    if (role.counts.required < group.spec->roles[index++].min) return false;
    const auto without = std::count_if(role.members.begin(), role.members.end(),
                                       [&](const Member& member) { return member.required && !usable(member.hosts); });
    const auto spares =
        std::count_if(role.spares.begin(), role.spares.end(), [&](const Spare& spare) { return usable(spare.hosts); });
    return without <= spares;
  });
}

void Decider::release_kept_if_lost(GroupId id) {
  const Group& each = group(id);
  const bool keeps = each.head.phase == GroupPhase::Stopping || each.head.phase == GroupPhase::Backoff;
  if (keeps && each.head.keep_hosts && !can_keep_hosts(each)) emit(id, KeptHostsReleased{});
}

// Where nobody runs, a host that is down or drained is of no use: spares there, and what members keep there for a
// restart that will take a spare instead.
void Decider::release_idle(GroupId id) {
  const Group& each = group(id);
  IdleHostsReleased idle;
  for (RoleIndex role = 0; role < each.roles.size(); ++role) {
    const auto& members = each.roles[role].members;
    for (std::uint32_t index = 0; each.head.keep_hosts && index < members.size(); ++index) {
      const Member& member = members[index];
      if (!is_live(member.phase) && !member.hosts.empty() && !usable(member.hosts))
        idle.members.push_back({role, index});
    }
    for (const Spare& spare : each.roles[role].spares) {
      if (!usable(spare.hosts)) idle.spares.push_back({role, spare.hosts});
    }
  }
  if (!idle.members.empty() || !idle.spares.empty()) emit(id, std::move(idle));
}

}  // namespace lockstep
