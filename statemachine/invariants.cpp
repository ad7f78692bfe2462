#include "statemachine/invariants.h"

#include <algorithm>

#include "statemachine/derived.h"
#include "statemachine/digest.h"
#include "statemachine/digest_detail.h"
#include "statemachine/explain.h"

namespace lockstep {

namespace {

std::string broken(int number, const Group& group, const std::string& what) {
  return "invariant " + std::to_string(number) + ": group #" + std::to_string(group.head.id.value) + " (" +
         group.head.identity.name + ", " + std::string(name(group.head.phase)) + "): " + what;
}

bool holds_hosts(GroupPhase phase) {
  return phase == GroupPhase::Reserving || is_active(phase) || phase == GroupPhase::Stopping;
}

// (1) Held resources follow the phase table.
std::string check_holds(const Group& group) {
  const GroupHead& head = group.head;
  const bool may_hold = holds_hosts(head.phase) || (head.phase == GroupPhase::Backoff && head.keep_hosts);
  for (const Role& role : group.roles) {
    for (const Member& member : role.members) {
      if (!member.hosts.empty() && !may_hold) return broken(1, group, "a member holds hosts");
      if (is_live(member.phase) && member.hosts.empty()) return broken(1, group, "a live member holds nothing");
      // One that failed keeps it while the restart of its group on the same hosts is being decided.
      const bool failed = member.phase == MemberPhase::Failed || member.phase == MemberPhase::Lost;
      const bool may_keep = is_live(member.phase) || member.phase == MemberPhase::Reserved || head.keep_hosts ||
                            (failed && member.required);
      if (!member.hosts.empty() && !may_keep) return broken(1, group, "a member that is gone keeps its share");
    }
    if (!role.spares.empty() && !may_hold) return broken(1, group, "a spare is held");
  }
  if (head.keep_hosts && head.phase != GroupPhase::Stopping && head.phase != GroupPhase::Backoff) {
    return broken(1, group, "keeps hosts without a restart");
  }
  return {};
}

// (2) No member runs, and none is asked to, before the barrier; (5) it is down while the group is Placed.
std::string check_barrier(const Group& group) {
  for (const Role& role : group.roles) {
    const PhaseCounts& counts = role.counts;
    const std::uint32_t beyond = counts.in(MemberPhase::Starting) + counts.in(MemberPhase::Running);
    const bool lifted = group.head.phase == GroupPhase::Starting || group.head.phase == GroupPhase::Running ||
                        group.head.phase == GroupPhase::Recovering;
    if (beyond > 0 && !lifted) return broken(2, group, "a member runs before the barrier");
    const bool live_allowed = is_active(group.head.phase) || group.head.phase == GroupPhase::Stopping;
    if (counts.live() > 0 && !live_allowed) return broken(2, group, "a member of an old attempt is not confirmed gone");
    if (group.head.phase == GroupPhase::Stopping && counts.live() != counts.in(MemberPhase::Stopping)) {
      return broken(6, group, "a live member of a stopping group was not asked to stop");
    }
  }
  return {};
}

// (4) Charged restarts stay within their budgets.
std::string check_budgets(const Group& group) {
  const FailurePolicy& policy = group.spec->failure;
  if (policy.window.value == 0 && group.head.charged > policy.max_restarts) {
    return broken(4, group,
                  "charged " + std::to_string(group.head.charged) + " of " + std::to_string(policy.max_restarts));
  }
  for (const RoleBudget& budget : policy.max_restarts_per_role) {
    if (policy.window.value == 0 && group.roles[budget.role].head.charges.size() > budget.max_restarts) {
      return broken(4, group, "a role's budget is overdrawn");
    }
  }
  for (const auto& [member, charges] : group.member_charges) {
    if (policy.window.value == 0 && charges.times.size() > policy.max_restarts_per_member) {
      return broken(4, group, "a member's budget is overdrawn");
    }
  }
  return {};
}

// (7) Every member is counted once, by the phase it is in.
std::string check_counts(const State& state, const Group& group) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const Role& each = group.roles[role];
    if (derived::count_phases(each) != each.counts) return broken(7, group, "phase counts differ from a recount");
    IndexSet startable;
    for (std::uint32_t index = 0; index < each.members.size(); ++index) {
      if (derived::is_startable(group, {role, index})) startable.insert(index);
    }
    if (!(startable == each.startable)) {
      return broken(7, group, "the members that can start differ from a recount");
    }
  }
  if (group.claims_not_ready != derived::count_claims_not_ready(state, group)) {
    return broken(7, group, "the count of claims that are not Ready differs from a recount");
  }
  if (group.claims_owed != derived::count_claims_owed(group)) {
    return broken(7, group, "the count of claims that are owed differs from a recount");
  }
  return {};
}

// (9) The promised domain is stored with every placement; (12) terminal groups hold and owe nothing but releases.
std::string check_promise_and_end(const Group& group) {
  const GroupHead& head = group.head;
  if (holds_hosts(head.phase) && head.domain.empty()) return broken(9, group, "no promised domain");
  if (head.phase == GroupPhase::Stopping && head.next == StopNext::None) return broken(6, group, "stops for nothing");
  if (!is_terminal(head.phase)) return {};
  const bool owes = std::any_of(group.claims.begin(), group.claims.end(), [](const auto& entry) {
    return entry.second.phase == ClaimPhase::Provisioning || entry.second.phase == ClaimPhase::Ready ||
           entry.second.phase == ClaimPhase::Failed;
  });
  if (owes) return broken(12, group, "a claim was not asked to be released");
  if (head.end.code == EndCode::None) return broken(12, group, "ended without a cause");
  const bool clock =
      head.pend_deadline || head.reserve_deadline || head.start_deadline || head.run_deadline || head.backoff_deadline;
  return clock ? broken(12, group, "a clock still runs") : std::string{};
}

// ---- the whole state
// ------------------------------------------------------------------------------------------------------ (1) Use is the
// sum over groups, (11) indexes equal a rebuild: of everything derived at once.
std::string check_derived(const State& state) {
  State rebuilt = state;
  rebuild_derived(rebuilt);
  if (rebuilt.digest() != state.digest())
    return "invariant 11: the kept digest " + hex(state.digest()) + " differs from a rebuild";
  const Indexes& kept = state.indexes;
  const Indexes& fresh = rebuilt.indexes;
  if (kept.timers != fresh.timers) return "invariant 11: the index of deadlines differs from a rebuild";
  if (kept.pending != fresh.pending) return "invariant 11: the order of pending groups differs from a rebuild";
  if (kept.goes_on != fresh.goes_on) return "invariant 11: the order of waiting members differs from a rebuild";
  if (kept.preemptible != fresh.preemptible) return "invariant 11: the groups to evict differ from a rebuild";
  if (kept.names != fresh.names) return "invariant 11: the index of names differs from a rebuild";
  if (kept.owing != fresh.owing) return "invariant 11: the index of owing groups differs from a rebuild";
  if (kept.standalone_users != fresh.standalone_users)
    return "invariant 11: users of standalone claims differ from a rebuild";
  if (kept.hosts_by_name != fresh.hosts_by_name) return "invariant 11: the index of hosts differs from a rebuild";
  if (kept.groups_in != fresh.groups_in) return "invariant 11: groups by phase differ from a recount";
  std::string wrong;
  state.hosts.for_each([&](const Host& host) {
    const Host& other = *rebuilt.hosts.find(host.facts.id);
    if (host.groups != other.groups)
      wrong = "invariant 1: groups on host " + host.facts.info.name + " differ from a recount";
    for (const std::string& resource : state.resources) {
      if (host_free(state, host, resource) != host_free(rebuilt, other, resource)) {
        wrong =
            "invariant 1: " + resource + " used on host " + host.facts.info.name + " differs from the sum over groups";
      }
    }
  });
  for (const auto& [pool, total] : state.pools) {
    if (pool_free(state, pool) != pool_free(rebuilt, pool))
      wrong = "invariant 1: pool " + pool + " differs from the sum over groups";
  }
  return wrong;
}

}  // namespace

std::string check_group_invariants(const State& state, const Group& group) {
  for (std::string text : {check_holds(group), check_barrier(group), check_budgets(group), check_counts(state, group),
                           check_promise_and_end(group)}) {
    if (!text.empty()) return text;
  }
  // (10) Every group that neither runs nor has ended has a reason.
  const bool wants_reason = group.head.phase != GroupPhase::Running && !is_terminal(group.head.phase);
  if (wants_reason && explain(state, group).code == ReasonCode::None)
    return broken(10, group, "no reason why it waits");
  return {};
}

std::string check_invariants(const State& state) {
  std::string wrong;
  state.groups.for_each([&](const Group& group) {
    if (wrong.empty()) wrong = check_group_invariants(state, group);
  });
  return wrong.empty() ? check_derived(state) : wrong;
}

}  // namespace lockstep
