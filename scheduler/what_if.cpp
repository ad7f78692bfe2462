#include "scheduler/what_if.h"

#include <algorithm>

namespace lockstep::scheduler_detail {

std::vector<Holding> holdings_of(const Group& group) {
  std::vector<Holding> found;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (const Member& member : group.roles[role].members) {
      if (!member.hosts.empty()) found.push_back({group.spec.get(), role, &member.hosts});
    }
    for (const Spare& spare : group.roles[role].spares) found.push_back({group.spec.get(), role, &spare.hosts});
  }
  return found;
}

std::vector<Holding> leaving(const Group& group) {
  const bool stops = group.head.phase == GroupPhase::Stopping;
  std::vector<Holding> found;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (const Member& member : group.roles[role].members) {
      const bool stays = stops ? group.head.keep_hosts && member.required : member.required;
      if (member.phase == MemberPhase::Stopping && !stays) found.push_back({group.spec.get(), role, &member.hosts});
    }
  }
  return found;
}

std::vector<Holding> staying(const Group& group) {
  std::vector<Holding> all = holdings_of(group);
  const std::vector<Holding> going = leaving(group);
  if (going.empty()) return all;
  std::erase_if(all, [&](const Holding& each) {
    return std::any_of(going.begin(), going.end(), [&](const Holding& other) { return other.slices == each.slices; });
  });
  return all;
}

}  // namespace lockstep::scheduler_detail
