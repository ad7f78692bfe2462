// What a group asks hosts for: all of it before an attempt, members that wait during one, and growth.

#include <algorithm>
#include <optional>

#include "statemachine/capacity.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

// Do members that have succeeded stay so when the group is placed next? Between attempts only suspension and eviction
// leave them, so there it is as it looks; a stop that restarts the group will make them run again.
bool successes_stay(const Group& group) {
  if (group.spec->resume != ResumeWhat::Unfinished) return false;
  switch (group.head.phase) {
    case GroupPhase::Pending:
    case GroupPhase::Reserving:
    case GroupPhase::Suspended:
      return true;
    case GroupPhase::Stopping:
      return group.head.next == StopNext::Requeue || group.head.next == StopNext::Suspend;
    default:
      return false;
  }
}

bool succeeded(const Role& role, std::uint32_t index) {
  return index < role.members.size() && role.members[index].phase == MemberPhase::Succeeded;
}

const std::vector<Slice>* first_held(const Role& role) {
  for (const Member& member : role.members) {
    if (!member.hosts.empty()) return &member.hosts;
  }
  for (const Spare& spare : role.spares) {
    if (!spare.hosts.empty()) return &spare.hosts;
  }
  return nullptr;
}

}  // namespace

std::string role_domain(const State& state, const Group& group, RoleIndex role) {
  const RoleSpec& spec = group.spec->roles[role];
  const std::vector<Slice>* held = spec.topology.required.empty() ? nullptr : first_held(group.roles[role]);
  return held == nullptr ? std::string{} : role_domain(state, spec, *held);
}

std::string role_domain(const State& state, const RoleSpec& role, const std::vector<Slice>& slices) {
  const std::string& level = role.topology.required;
  const Host* host = level.empty() || slices.empty() ? nullptr : state.host(slices.front().host);
  return host == nullptr ? std::string{} : level_domain(state, level, host->facts.info);
}

std::string level_domain(const State& state, std::string_view level, const HostInfo& host) {
  if (level == "host") return host_path(host);
  const auto& levels = state.head.levels;
  const auto found = std::find(levels.begin(), levels.end(), level);
  const auto depth = static_cast<std::size_t>(found - levels.begin()) + 1;
  return found == levels.end() || host.at.size() < depth ? std::string{} : domain_path(host.at, depth);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> demand_counts(const Group& group) {
  const bool stay = successes_stay(group);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const Role& here = group.roles[role];
    std::uint32_t done = 0;
    if (stay) {
      for (std::uint32_t index = 0; index < here.head.wanted; ++index) done += succeeded(here, index) ? 1U : 0U;
    }
    const std::uint32_t wanted = here.head.wanted - done;
    const std::uint32_t min = group.spec->roles[role].min;
    counts.emplace_back(wanted, std::min(wanted, min - std::min(min, done)));
  }
  return counts;
}

std::vector<RoleDemand> whole_demand(const Group& group, bool at_min) {
  const bool stay = successes_stay(group);
  const auto counts = demand_counts(group);
  std::vector<RoleDemand> demand;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    RoleDemand each{role, {}, group.spec->roles[role].spares, {}};
    const std::uint32_t count = at_min ? counts[role].second : counts[role].first;
    each.indexes.reserve(count);
    for (std::uint32_t index = 0; each.indexes.size() < count; ++index) {
      if (!stay || !succeeded(group.roles[role], index)) each.indexes.push_back(index);
    }
    demand.push_back(std::move(each));
  }
  return demand;
}

std::vector<RoleDemand> waiting_demand(const State& state, const Group& group) {
  std::vector<RoleDemand> demand;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    if (group.roles[role].counts.required_in(MemberPhase::Waiting) == 0) continue;
    RoleDemand each{role, {}, 0, role_domain(state, group, role)};
    const auto& members = group.roles[role].members;
    for (std::uint32_t index = 0; index < members.size(); ++index) {
      const Member& member = members[index];
      if (member.required && member.phase == MemberPhase::Waiting && member.hosts.empty())
        each.indexes.push_back(index);
    }
    if (!each.indexes.empty()) demand.push_back(std::move(each));
  }
  return demand;
}

std::vector<RoleDemand> growth_demand(const State& state, const Group& group, RoleIndex role) {
  const Role& here = group.roles.at(role);
  if (!here.head.resize_pending || here.head.resize_to <= here.counts.required) return {};
  RoleDemand each{role, {}, 0, role_domain(state, group, role)};
  std::uint32_t missing = here.head.resize_to - here.counts.required;
  for (std::uint32_t index = 0; missing > 0; ++index) {
    const bool is_free =
        index >= here.members.size() || (!here.members[index].required && !is_live(here.members[index].phase));
    if (!is_free) continue;
    each.indexes.push_back(index);
    --missing;
  }
  return {each};
}

}  // namespace lockstep
