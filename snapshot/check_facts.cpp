#include "snapshot/check_facts.h"

#include <algorithm>
#include <limits>

namespace lockstep {
namespace {

__extension__ using Wide = __int128;
constexpr Wide kSumMax = std::numeric_limits<std::int64_t>::max();

// A table of ids costs memory by its highest one; two years of a thousand groups a second stay below this.
constexpr std::uint64_t kGroupIdMax = std::uint64_t{1} << 36U;

bool below(const std::vector<RoleIndex>& roles, std::size_t count) {
  return std::all_of(roles.begin(), roles.end(), [&](RoleIndex role) { return role < count; });
}

template <class T>
bool roles_below(const std::vector<T>& list, std::size_t count) {
  return std::all_of(list.begin(), list.end(), [&](const T& each) { return each.role < count; });
}

bool not_negative(const std::vector<Counter>& counters) {
  return std::all_of(counters.begin(), counters.end(), [](const Counter& counter) { return counter.amount >= 0; });
}

// Never out of range of a role's members, or one for the whole group.
bool names_member(const MemberKey& key, const Group& group, std::uint32_t index_after) {
  if (key.role == kNoRole) return key.index == kNoMember;
  return key.role < group.roles.size() && key.index < index_after;
}

std::string check_slices(const State& state, const RoleSpec& spec, const std::vector<Slice>& slices) {
  for (const Slice& slice : slices) {
    if (state.host(slice.host) == nullptr)
      return "holds something on host " + std::to_string(slice.host.value) + ", which is not there";
    if (slice.term >= spec.tasks.size())
      return "holds tasks of term " + std::to_string(slice.term) + ", which it does not have";
    if (slice.count == 0 || slice.count > kTasksPerMemberMax)
      return "holds " + std::to_string(slice.count) + " tasks in one slice";
  }
  return {};
}

std::string check_role(const State& state, const Role& role, const RoleSpec& spec) {
  if (role.members.size() > kMembersMax || role.spares.size() > kMembersMax) return "has too many members";
  if (role.head.wanted > role.members.size()) return "wants members that are not there";
  if (role.head.resize_to > kMembersMax) return "is to become too large";
  for (std::size_t i = 0; i < role.members.size(); ++i) {
    std::string wrong = check_slices(state, spec, role.members[i].hosts);
    if (role.members[i].phase == MemberPhase::None) wrong = "has no phase";
    if (!wrong.empty()) return "[" + std::to_string(i) + "] " + wrong;
  }
  for (const Spare& spare : role.spares) {
    if (const auto wrong = check_slices(state, spec, spare.hosts); !wrong.empty()) return "a spare " + wrong;
  }
  return {};
}

std::string check_keys(const Group& group, const GroupSpec& spec) {
  for (const auto& [key, claim] : group.claims) {
    if (key.claim >= spec.claims.size() || !names_member(key.member, group, kMembersMax))
      return "a claim that it does not have";
    if (claim.phase == ClaimPhase::None) return "a claim without a phase";
  }
  for (const auto& [key, charges] : group.member_charges) {
    if (key.role == kNoRole || !names_member(key, group, kMembersMax))
      return "charges of a member that it does not have";
  }
  const End& end = group.head.end;
  if (end.role != kNoRole && end.role >= group.roles.size()) return "ended by a role that it does not have";
  return {};
}

// The claims that its spec gives a group are all there, from the first day on.
std::string check_claims(const State& state, const Group& group, const GroupSpec& spec) {
  for (std::uint32_t claim = 0; claim < spec.claims.size(); ++claim) {
    const ClaimSpec& each = spec.claims[claim];
    if (each.kind == ClaimKind::Standalone) {
      if (!state.claims.contains(each.name)) return "uses claim " + each.name + ", which is not there";
      continue;
    }
    if (each.per == ClaimPer::Group) {
      if (!group.claims.contains(ClaimKey{claim, {kNoRole, kNoMember}})) return "lacks its claim " + each.name;
      continue;
    }
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      if (!each.roles.empty() && !std::binary_search(each.roles.begin(), each.roles.end(), role)) continue;
      for (std::uint32_t index = 0; index < group.roles[role].members.size(); ++index) {
        if (!group.claims.contains(ClaimKey{claim, {role, index}})) return "lacks a member's claim " + each.name;
      }
    }
  }
  return {};
}

std::int64_t largest(const TaskTerm& term) {
  std::int64_t amount = 0;
  for (const Counter& request : term.requests) amount = std::max(amount, request.amount);
  return amount;
}

// visit(term, slice) for all that a group holds.
template <class Visit>
void for_each_held(const State& state, const Group& group, Visit&& visit) {
  const GroupSpec& spec = *state.specs.at(group.head.spec).spec;
  for (std::size_t role = 0; role < group.roles.size(); ++role) {
    const auto& terms = spec.roles[role].tasks;
    for (const Member& member : group.roles[role].members) {
      for (const Slice& slice : member.hosts) visit(terms[slice.term], slice);
    }
    for (const Spare& spare : group.roles[role].spares) {
      for (const Slice& slice : spare.hosts) visit(terms[slice.term], slice);
    }
  }
}

// Exactly, for the rare state that holds so much that a bound does not tell.
std::string check_sums_exactly(const State& state) {
  std::map<std::string, Wide> of_pools;
  std::map<std::pair<HostId, std::string>, Wide> of_hosts;
  std::string wrong;
  const auto add = [&](Wide& sum, const Counter& request, const Slice& slice) {
    sum += Wide{request.amount} * slice.count;
    if (sum > kSumMax) wrong = "what is held of " + request.name + " has no number";
  };
  state.groups.for_each([&](const Group& group) {
    std::map<std::string, Wide> of_group;
    for_each_held(state, group, [&](const TaskTerm& term, const Slice& slice) {
      for (const Counter& request : term.requests) {
        add(of_group[request.name], request, slice);
        add(of_hosts[{slice.host, request.name}], request, slice);
        if (is_pool(state, request.name)) add(of_pools[request.name], request, slice);
      }
    });
  });
  return wrong;
}

}  // namespace

std::string check_fact(const State&, const StateHead& head) {
  if (head.group_last.value > kGroupIdMax) return "more groups than there can have been";
  if (head.levels.size() > kLevelsMax) return "too many levels";
  return {};
}

std::string check_fact(const State& state, const Host& host) {
  if (!host.facts.id || host.facts.id > state.head.host_last) return "an id that was never given out";
  if (!not_negative(host.facts.info.counters)) return "a negative counter";
  return {};
}

std::string check_fact(const State&, const Pool& pool) {
  return pool.total < -kQuantityMax || pool.total > kQuantityMax ? "a total that is no quantity" : "";
}

std::string check_fact(const State&, const StandaloneClaim& claim) {
  return claim.phase == ClaimPhase::None ? "no phase" : "";
}

std::string check_fact(const State&, const Client&) { return {}; }

std::string check_fact(const State&, const GroupSpec& spec) {
  const std::size_t roles = spec.roles.size();
  if (roles == 0 || roles > kRolesMax) return "no roles, or too many";
  for (const RoleSpec& role : spec.roles) {
    if (role.tasks.empty() || role.tasks.size() > kTaskTermsMax) return "a role without tasks, or with too many";
    if (!roles_below(role.after, roles)) return "a role that waits for one that is not there";
    if (role.replicas > kMembersMax || role.max > kMembersMax || role.spares > kMembersMax) return "too many members";
    for (const TaskTerm& term : role.tasks) {
      if (!not_negative(term.requests)) return "a negative request";
    }
  }
  for (const ClaimSpec& claim : spec.claims) {
    if (!below(claim.roles, roles)) return "a claim of a role that is not there";
  }
  for (const FailureRule& rule : spec.failure.rules) {
    if (!below(rule.roles, roles)) return "a rule for a role that is not there";
  }
  if (!roles_below(spec.failure.max_restarts_per_role, roles)) return "a budget for a role that is not there";
  if (!below(spec.success.roles, roles)) return "success by a role that is not there";
  return {};
}

std::string check_fact(const State& state, const Group& group) {
  if (!group.head.id || group.head.id > state.head.group_last) return "an id that was never given out";
  if (group.head.phase == GroupPhase::None) return "no phase";
  const auto entry = state.specs.find(group.head.spec);
  if (entry == state.specs.end()) return "its spec is not there";
  const GroupSpec& spec = *entry->second.spec;
  if (group.roles.size() != spec.roles.size()) return "other roles than its spec";
  for (std::size_t i = 0; i < group.roles.size(); ++i) {
    const auto wrong = check_role(state, group.roles[i], spec.roles[i]);
    if (!wrong.empty()) return "role " + spec.roles[i].name + " " + wrong;
  }
  if (std::string wrong = check_keys(group, spec); !wrong.empty()) return wrong;
  return check_claims(state, group, spec);
}

std::string check_sums(const State& state) {
  Wide bound = 0;  // not below any sum of one counter, wherever
  state.groups.for_each([&](const Group& group) {
    for_each_held(state, group,
                  [&](const TaskTerm& term, const Slice& slice) { bound += Wide{largest(term)} * slice.count; });
  });
  return bound <= kSumMax ? "" : check_sums_exactly(state);
}

}  // namespace lockstep
