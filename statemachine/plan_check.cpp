#include "statemachine/plan_check.h"

#include <map>
#include <set>
#include <vector>

#include "statemachine/capacity.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

// Where members that are placed together may go.
struct Bounds {
  const Group& group;
  bool anew;                              // the domain has to be of the level that the group requires
  std::string domain;                     // that is promised
  std::vector<std::string> role_domains;  // of roles that require one of their own; empty: the first member decides
};

// Keeps what the actions so far would use beyond what is used now.
class PlanCheck {
 public:
  explicit PlanCheck(const State& state) : state_(state) {}

  std::string check(const PlanAction& action) {
    return std::visit([&](const auto& each) { return check(each); }, action);
  }

 private:
  std::string check(const PlaceAction& action) {
    const Group* group = find(action.group);
    if (group == nullptr || (group->head.phase != GroupPhase::Pending && group->head.phase != GroupPhase::Reserving)) {
      return "group #" + std::to_string(action.group.value) + " does not wait for a placement";
    }
    if (action.domain.empty()) return "a placement without a domain";
    give_back(*group);
    Bounds bounds{*group, true, action.domain, std::vector<std::string>(group->roles.size())};
    std::vector<std::uint32_t> placed(group->roles.size(), 0);
    std::vector<std::uint32_t> spares(group->roles.size(), 0);
    MemberKey last{kNoRole, kNoMember};
    for (const MemberPlacement& each : action.members) {
      if (last.role != kNoRole && !(last < each.member)) return "members are not in order";
      last = each.member;
      if (each.member.role >= group->roles.size() || each.member.index >= group->roles[each.member.role].head.wanted) {
        return "a member that is not wanted";
      }
      if (group->roles[each.member.role].members[each.member.index].phase == MemberPhase::Succeeded) {
        return "a member that has succeeded";
      }
      ++placed[each.member.role];
      if (auto text = charge(bounds, each.member.role, each.slices); !text.empty()) return text;
    }
    for (const SparePlacement& each : action.spares) {
      if (each.role >= group->roles.size()) return "a spare of no role";
      ++spares[each.role];
      if (auto text = charge(bounds, each.role, each.slices); !text.empty()) return text;
    }
    return check_counts(*group, placed, spares);
  }

  std::string check_counts(const Group& group, const std::vector<std::uint32_t>& placed,
                           const std::vector<std::uint32_t>& spares) {
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      const RoleSpec& spec = group.spec->roles[role];
      const std::uint32_t there = placed[role] + group.roles[role].counts.in(MemberPhase::Succeeded);
      const std::uint32_t least = group.spec->partial ? spec.min : group.roles[role].head.wanted;
      if (there < least || spares[role] != spec.spares) return "only a part of role " + spec.name;
    }
    return {};
  }

  std::string check(const ReplaceAction& action) {
    const Group* group = find(action.group);
    if (group == nullptr || !is_active(group->head.phase) || group->head.satisfied) return "its group does not run";
    Bounds bounds = as_placed(*group);
    for (const MemberPlacement& each : action.members) {
      const bool known =
          each.member.role < group->roles.size() && each.member.index < group->roles[each.member.role].members.size();
      if (!known) return "a member that is not there";
      const Member& member = group->roles[each.member.role].members[each.member.index];
      if (!member.required || member.phase != MemberPhase::Waiting) return "a member that does not wait for hosts";
      if (auto text = charge(bounds, each.member.role, each.slices); !text.empty()) return text;
    }
    return {};
  }

  std::string check(const GrowAction& action) {
    const Group* group = find(action.group);
    const bool pending = group != nullptr && group->head.phase == GroupPhase::Running && !group->head.satisfied &&
                         action.role < group->roles.size() && group->roles[action.role].head.resize_pending;
    if (!pending) return "no resize is pending";
    const Role& role = group->roles[action.role];
    if (role.counts.required + action.members.size() != role.head.resize_to) return "a growth of another size";
    Bounds bounds = as_placed(*group);
    for (const MemberPlacement& each : action.members) {
      const bool fresh = each.member.role == action.role &&
                         each.member.index < group->spec->roles[action.role].max + role.members.size();
      if (!fresh) return "a member of another role";
      if (each.member.index < role.members.size()) {
        const Member& member = role.members[each.member.index];
        if (member.required || is_live(member.phase)) return "a number that is in use";
      }
      if (auto text = charge(bounds, action.role, each.slices); !text.empty()) return text;
    }
    return {};
  }

  std::string check(const ReserveAction& action) {
    const Group* group = find(action.group);
    const bool opens = group != nullptr && group->head.phase == GroupPhase::Pending;
    if (!opens && (group == nullptr || group->head.phase != GroupPhase::Reserving)) {
      return "group #" + std::to_string(action.group.value) + " does not wait for hosts";
    }
    if (!action.spares.empty()) return "spares are placed with their group, not reserved";
    if (opens && (action.domain.empty() || !action.lost.empty())) return "a reservation without a domain";
    std::set<MemberKey> lost;
    for (const MemberKey& key : action.lost) {
      const Member* member = member_of(*group, key);
      if (member == nullptr || member->phase != MemberPhase::Reserved) return "a member that is not reserved";
      if (lost.insert(key).second) give_back(*group, key.role, member->hosts);
    }
    Bounds bounds{*group, opens, opens ? action.domain : group->head.domain, {}};
    for (RoleIndex role = 0; role < group->roles.size(); ++role)
      bounds.role_domains.push_back(domain_of_kept(*group, role, lost));
    std::set<MemberKey> fresh;
    for (const MemberPlacement& each : action.members) {
      const Member* member = member_of(*group, each.member);
      const bool waits = member != nullptr && each.member.index < group->roles[each.member.role].head.wanted &&
                         (member->phase == MemberPhase::Waiting || lost.contains(each.member));
      if (!waits || !fresh.insert(each.member).second) return "a member that does not wait for hosts";
      if (auto text = charge(bounds, each.member.role, each.slices); !text.empty()) return text;
    }
    return {};
  }

  std::string check(const ReleaseAction& action) {
    const Group* group = find(action.group);
    if (group == nullptr || group->head.phase != GroupPhase::Reserving) return "a reservation that is not open";
    give_back(*group);
    return {};
  }

  // What it holds is free only once it is gone, but for hosts that are kept for a restart.
  std::string check(const EvictAction& action) {
    const Group* group = find(action.group);
    const Group* by = state_.groups.find(action.by);
    if (group == nullptr || by == nullptr) return "an eviction of nobody, or for nobody";
    if (!group->spec->preemptible || group->spec->priority >= by->spec->priority) {
      return "group #" + std::to_string(action.group.value) + " is not to be preempted";
    }
    const GroupPhase phase = group->head.phase;
    if (action.members.empty()) {
      if (!is_active(phase) && !group->head.keep_hosts) return "an eviction of a group that holds nothing";
      if (phase == GroupPhase::Backoff) give_back(*group);
      return {};
    }
    if (!is_active(phase) || group->head.satisfied) return "an eviction of members of a group that does not go on";
    std::set<MemberKey> out;
    std::vector<std::uint32_t> left;
    for (const Role& role : group->roles) left.push_back(role.counts.required);
    for (const MemberKey& key : action.members) {
      const Member* member = member_of(*group, key);
      const bool runs = member != nullptr && member->required && is_live(member->phase) && out.insert(key).second;
      if (!runs || left[key.role]-- <= group->spec->roles[key.role].min)
        return "a member that is not above the minimum";
    }
    return {};
  }

  static const Member* member_of(const Group& group, const MemberKey& key) {
    const bool known = key.role < group.roles.size() && key.index < group.roles[key.role].members.size();
    return known ? &group.roles[key.role].members[key.index] : nullptr;
  }

  void give_back(const Group& group, RoleIndex role, const std::vector<Slice>& slices) {
    for (const Slice& slice : slices) {
      for (const auto& [resource, amount] : (*group.requests)[role][slice.term]) {
        const HostId host = is_pool(state_, state_.resources[resource.value]) ? HostId{} : slice.host;
        taken_[{host, resource}] -= amount * static_cast<std::int64_t>(slice.count);
      }
    }
  }

  void give_back(const Group& group) {
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      for (const Member& member : group.roles[role].members) give_back(group, role, member.hosts);
      for (const Spare& spare : group.roles[role].spares) give_back(group, role, spare.hosts);
    }
  }

  // One action a group: the second would meet another group than it was made for.
  const Group* find(GroupId id) { return groups_.insert(id).second ? state_.groups.find(id) : nullptr; }

  [[nodiscard]] Bounds as_placed(const Group& group) const {
    Bounds bounds{group, false, group.head.domain, {}};
    for (RoleIndex role = 0; role < group.roles.size(); ++role)
      bounds.role_domains.push_back(role_domain(state_, group, role));
    return bounds;
  }

  // The role's own domain by the members that keep what they hold.
  [[nodiscard]] std::string domain_of_kept(const Group& group, RoleIndex role, const std::set<MemberKey>& lost) const {
    const RoleSpec& spec = group.spec->roles[role];
    const auto& members = group.roles[role].members;
    for (std::uint32_t index = 0; index < members.size() && !spec.topology.required.empty(); ++index) {
      if (!members[index].hosts.empty() && !lost.contains({role, index}))
        return role_domain(state_, spec, members[index].hosts);
    }
    return {};
  }

  // Empty: the host is where the group and the role have to be.
  std::string check_bounds(Bounds& bounds, RoleIndex role, const HostInfo& host) const {
    const GroupSpec& spec = *bounds.group.spec;
    const std::string& of_group = spec.topology.required;
    const bool inside = bounds.anew && !of_group.empty() ? level_domain(state_, of_group, host) == bounds.domain
                                                         : in_promised_domain(spec, bounds.domain, host);
    if (!inside) return "a host outside the domain " + bounds.domain;
    const std::string& level = spec.roles[role].topology.required;
    if (level.empty()) return {};
    std::string own = level_domain(state_, level, host);
    if (own.empty()) return "a host in no " + level;
    std::string& of_role = bounds.role_domains[role];
    if (of_role.empty())
      of_role = std::move(own);
    else if (own != of_role)
      return "a host outside the domain " + of_role;
    return {};
  }

  std::string charge(Bounds& bounds, RoleIndex role, const std::vector<Slice>& slices) {
    const Group& group = bounds.group;
    const auto& terms = group.spec->roles[role].tasks;
    std::vector<std::uint64_t> tasks(terms.size(), 0);
    for (const Slice& slice : slices) {
      const Host* host = state_.hosts.find(slice.host);
      if (host == nullptr || !host->usable()) return "a host that is gone, down or drained";
      if (slice.term >= terms.size() || slice.count == 0) return "a task that is not there";
      if (!matches(terms[slice.term].select, host->facts.info))
        return "a host without the attributes that are asked for";
      if (auto text = check_bounds(bounds, role, host->facts.info); !text.empty()) return text;
      tasks[slice.term] += slice.count;
      for (const auto& [resource, amount] : (*group.requests)[role][slice.term]) {
        if (auto text = take(*host, resource, amount, slice.count); !text.empty()) return text;
      }
    }
    for (std::size_t term = 0; term < terms.size(); ++term) {
      if (tasks[term] != terms[term].count) return "a member with other tasks than its role's";
    }
    return {};
  }

  std::string take(const Host& host, ResourceId resource, std::int64_t amount, std::uint32_t count) {
    std::int64_t total = 0;
    if (__builtin_mul_overflow(amount, std::int64_t{count}, &total)) return "more than can be counted";
    const std::string& name = state_.resources[resource.value];
    const bool pool = is_pool(state_, name);
    std::int64_t& taken = taken_[{pool ? HostId{} : host.facts.id, resource}];
    const std::int64_t free = pool ? pool_free(state_, name) : host_free(state_, host, name);
    if (__builtin_add_overflow(taken, total, &taken) || taken > free) {
      return (pool ? "pool " : "host " + host.facts.info.name + ": ") + name + " is not free any more";
    }
    return {};
  }

  const State& state_;
  std::set<GroupId> groups_;
  std::map<std::pair<HostId, ResourceId>, std::int64_t> taken_;
};

}  // namespace

std::string check_plan(const State& state, const Plan& plan) {
  PlanCheck check(state);
  for (const PlanAction& action : plan.actions) {
    if (auto why = check.check(action); !why.empty()) return why;
  }
  return {};
}

}  // namespace lockstep
