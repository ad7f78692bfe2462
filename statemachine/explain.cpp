#include "statemachine/explain.h"

#include <algorithm>

#include "statemachine/capacity.h"
#include "statemachine/derived.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

Reason of(ReasonCode code, const Group& group) {
  return Reason{.code = code, .domain = group.head.domain, .since = group.head.phase_since};
}

// A role that has a domain of its own waits in that one.
void blame(Reason& reason, const Shortage& shortage, const std::vector<RoleDemand>& demand) {
  for (const RoleDemand& each : demand) {
    if (each.role == shortage.role && !each.inside.empty()) reason.domain = each.inside;
  }
  reason.role = shortage.role;
  reason.resource = shortage.resource;
  reason.needed = shortage.needed;
  reason.free = shortage.free;
}

// Could a reservation want some of what `fit` would take of a host?
bool wants_of(const State& state, const Group& reserving, const GroupSpec& spec, const Fit& fit) {
  const auto wants = [&](const Host& host, const TaskTerm& taken) {
    if (!in_promised_domain(*reserving.spec, reserving.head.domain, host.facts.info)) return false;
    for (const RoleSpec& role : reserving.spec->roles) {
      for (const TaskTerm& term : role.tasks) {
        const bool shares = std::any_of(term.requests.begin(), term.requests.end(), [&](const Counter& request) {
          return std::any_of(taken.requests.begin(), taken.requests.end(),
                             [&](const Counter& other) { return other.name == request.name; });
        });
        if (shares && matches(term.select, host.facts.info)) return true;
      }
    }
    return false;
  };
  return std::any_of(fit.members.begin(), fit.members.end(), [&](const MemberPlacement& member) {
    return std::any_of(member.slices.begin(), member.slices.end(), [&](const Slice& slice) {
      return wants(*state.host(slice.host), spec.roles[member.member.role].tasks[slice.term]);
    });
  });
}

// Reservations that come before the group in the order: what is free may be kept for what they still lack.
std::vector<GroupId> reservations_before(const State& state, const Group& group, const Fit& fit) {
  std::vector<GroupId> before;
  for (const OrderKey& key : state.indexes.goes_on) {
    if (!(key < group.indexed.order)) break;
    const Group& other = *state.group(key.group);
    if (other.head.phase == GroupPhase::Reserving && wants_of(state, other, *group.spec, fit))
      before.push_back(key.group);
  }
  return before;
}

// The reservations of others without which `demand` would fit; none when it would not fit even then.
std::vector<GroupId> reservations_in_the_way(const State& state, const Group& group,
                                             const std::vector<RoleDemand>& demand, std::string_view inside) {
  std::vector<const Group*> others;
  for (const OrderKey& key : state.indexes.goes_on) {
    const Group* other = state.group(key.group);
    if (other != nullptr && other != &group && other->head.phase == GroupPhase::Reserving) others.push_back(other);
  }
  if (others.empty()) return {};
  CapacityView view(state, Capacity::Free);
  const auto hold = [&](const Group& other, bool take) {
    for (RoleIndex role = 0; role < other.roles.size(); ++role) {
      for (const Member& member : other.roles[role].members) {
        if (take)
          (void)view.take(*other.spec, role, member.hosts);
        else
          view.give(*other.spec, role, member.hosts);
      }
    }
  };
  const auto fits = [&] { return fit_in(view, *group.spec, demand, Require::AsSaid, inside, Explain::No).fits; };
  for (const Group* other : others) hold(*other, false);
  if (!fits()) return {};
  std::vector<GroupId> needed;
  for (auto other = others.rbegin(); other != others.rend(); ++other) {
    hold(**other, true);
    if (fits()) continue;
    hold(**other, false);
    needed.insert(needed.begin(), (*other)->head.id);
  }
  return needed;
}

// Why `demand` has no hosts, inside a promised domain or anywhere.
Reason explain_demand(const State& state, const Group& group, const std::vector<RoleDemand>& demand,
                      std::string_view inside) {
  const auto fits = [&](Capacity capacity, Require require = Require::AsSaid) {
    return fit(state, *group.spec, demand, capacity, require, inside);
  };
  Reason reason = of(ReasonCode::None, group);
  if (const Fit ever = fits(Capacity::All); !ever.fits) {
    reason.code = ReasonCode::NeverFits;
    blame(reason, ever.shortage, demand);
    return reason;
  }
  const Fit now = fits(Capacity::Free);
  if (now.fits) {
    reason.code = ReasonCode::WaitingBehind;
    reason.blockers = reservations_before(state, group, now);
    return reason;
  }
  blame(reason, now.shortage, demand);
  reason.blockers = reservations_in_the_way(state, group, demand, inside);
  if (!reason.blockers.empty())
    reason.code = ReasonCode::WaitingBehind;
  else if (fits(Capacity::FreeIfUp).fits)
    reason.code = ReasonCode::WaitingForHosts;
  else if (fits(Capacity::Free, Require::Nothing).fits)
    reason.code = ReasonCode::TopologyUnsatisfiable;
  else
    reason.code = ReasonCode::InsufficientResources;
  return reason;
}

std::uint32_t required_in(const Group& group, MemberPhase phase) {
  std::uint32_t count = 0;
  for (const Role& role : group.roles) count += role.counts.required_in(phase);
  return count;
}

std::uint32_t all_in(const Group& group, MemberPhase phase) {
  std::uint32_t count = 0;
  for (const Role& role : group.roles) count += role.counts.in(phase);
  return count;
}

RoleIndex first_role_in(const Group& group, MemberPhase phase) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    if (group.roles[role].counts.in(phase) > 0) return role;
  }
  return kNoRole;
}

Reason waiting_for_claim(const State& state, const Group& group) {
  Reason reason = of(ReasonCode::WaitingForClaim, group);
  for (std::uint32_t index = 0; index < group.spec->claims.size(); ++index) {
    const ClaimSpec& spec = group.spec->claims[index];
    if (spec.kind == ClaimKind::Standalone) {
      if (state.claims.at(spec.name).phase == ClaimPhase::Ready) continue;
      reason.resource = spec.name;
      return reason;
    }
    for (auto claim = group.claims.lower_bound(ClaimKey{index, {0, 0}});
         claim != group.claims.end() && claim->first.claim == index; ++claim) {
      const bool waits = claim->second.phase != ClaimPhase::Ready && derived::counts_for_barrier(group, claim->first);
      if (!waits) continue;
      reason.resource = spec.name;
      reason.role = claim->first.member.role;
      return reason;
    }
  }
  return reason;
}

Reason explain_active(const State& state, const Group& group) {
  if (group.claims_not_ready > 0) return waiting_for_claim(state, group);
  if (required_in(group, MemberPhase::Waiting) > 0) {
    return explain_demand(state, group, waiting_demand(state, group), group.head.domain);
  }
  struct Line {
    MemberPhase phase;
    ReasonCode code;
  };
  static constexpr Line kLines[] = {{MemberPhase::Stopping, ReasonCode::WaitingForOldAttempt},
                                    {MemberPhase::Placed, ReasonCode::WaitingForArm},
                                    {MemberPhase::Armed, ReasonCode::WaitingForOrder},
                                    {MemberPhase::Starting, ReasonCode::WaitingForStart}};
  for (const Line& line : kLines) {
    if (all_in(group, line.phase) == 0) continue;
    Reason reason = of(line.code, group);
    reason.role = first_role_in(group, line.phase);
    return reason;
  }
  return of(ReasonCode::WaitingForStart, group);
}

// Of the groups that were evicted for it, whole or in part, those of which somebody is still stopping.
std::vector<GroupId> preempted_that_stop(const State& state, const Group& group) {
  std::vector<GroupId> stop;
  for (const GroupId id : group.head.victims) {
    const Group* victim = state.groups.find(id);
    if (victim != nullptr && all_in(*victim, MemberPhase::Stopping) > 0) stop.push_back(id);
  }
  return stop;
}

}  // namespace

Reason explain(const State& state, const Group& group) {
  switch (group.head.phase) {
    case GroupPhase::Defined:
      return of(ReasonCode::Held, group);
    case GroupPhase::Suspended:
      return of(ReasonCode::Suspended, group);
    case GroupPhase::Backoff:
      return of(ReasonCode::Backoff, group);
    case GroupPhase::Stopping:
      return of(ReasonCode::WaitingForOldAttempt, group);
    case GroupPhase::Pending:
      return explain_demand(state, group, whole_demand(group, group.spec->partial), {});
    case GroupPhase::Reserving: {
      std::vector<GroupId> preempted = preempted_that_stop(state, group);
      Reason reason =
          of(preempted.empty() ? ReasonCode::ReservationAccumulating : ReasonCode::WaitingForPreempted, group);
      reason.blockers = std::move(preempted);
      reason.projected_start = group.head.projected;
      return reason;
    }
    case GroupPhase::Placed:
    case GroupPhase::Starting:
    case GroupPhase::Recovering:
      return explain_active(state, group);
    default:
      return {};
  }
}

}  // namespace lockstep
