// A plan is checked as a whole against the state it meets, its actions one after another, before any of it is taken.

#include <algorithm>
#include <map>
#include <set>

#include "statemachine/decider.h"

namespace lockstep {

namespace {

// What the actions so far would use beyond what is used now.
class PlanCheck {
 public:
  explicit PlanCheck(const State& state) : state_(state) {}

  // Empty: all of it can be taken.
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
      if (auto text = charge(*group, each.member.role, each.slices); !text.empty()) return text;
    }
    for (const SparePlacement& each : action.spares) {
      if (each.role >= group->roles.size()) return "a spare of no role";
      ++spares[each.role];
      if (auto text = charge(*group, each.role, each.slices); !text.empty()) return text;
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
    for (const MemberPlacement& each : action.members) {
      const bool known =
          each.member.role < group->roles.size() && each.member.index < group->roles[each.member.role].members.size();
      if (!known) return "a member that is not there";
      const Member& member = group->roles[each.member.role].members[each.member.index];
      if (!member.required || member.phase != MemberPhase::Waiting) return "a member that does not wait for hosts";
      if (auto text = charge(*group, each.member.role, each.slices); !text.empty()) return text;
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
    for (const MemberPlacement& each : action.members) {
      const bool fresh = each.member.role == action.role &&
                         each.member.index < group->spec->roles[action.role].max + role.members.size();
      if (!fresh) return "a member of another role";
      if (each.member.index < role.members.size()) {
        const Member& member = role.members[each.member.index];
        if (member.required || is_live(member.phase)) return "a number that is in use";
      }
      if (auto text = charge(*group, action.role, each.slices); !text.empty()) return text;
    }
    return {};
  }

  std::string check(const ReserveAction&) { return "reservations are not taken by this release"; }
  std::string check(const ReleaseAction&) { return "reservations are not taken by this release"; }
  std::string check(const EvictAction&) { return "evictions by the scheduler are not taken by this release"; }

  // One action a group: the second would meet another group than it was made for.
  const Group* find(GroupId id) { return groups_.insert(id).second ? state_.groups.find(id) : nullptr; }

  std::string charge(const Group& group, RoleIndex role, const std::vector<Slice>& slices) {
    const auto& terms = group.spec->roles[role].tasks;
    std::vector<std::uint64_t> tasks(terms.size(), 0);
    for (const Slice& slice : slices) {
      const Host* host = state_.hosts.find(slice.host);
      if (host == nullptr || !host->usable()) return "a host that is gone, down or drained";
      if (slice.term >= terms.size() || slice.count == 0) return "a task that is not there";
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

Answer Decider::on(const ApplyPlan& command) {
  PlanCheck check(state_);
  for (const PlanAction& action : command.plan.actions) {
    if (auto why = check.check(action); !why.empty()) {
      return reject(AnswerCode::StalePlan,
                    "plan made for seq " + std::to_string(command.plan.made_for.value) + ": " + why);
    }
  }
  for (const PlanAction& action : command.plan.actions) {
    cause_ = {};
    if (const auto* place = std::get_if<PlaceAction>(&action))
      take(*place);
    else if (const auto* replace = std::get_if<ReplaceAction>(&action))
      take(*replace);
    else if (const auto* grow = std::get_if<GrowAction>(&action))
      take(*grow);
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

}  // namespace lockstep
