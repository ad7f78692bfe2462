// What follows from the state by itself, one event at a time, until nothing more does: the barrier lifts, members are
// asked to start, the group runs, succeeds, or becomes what it stopped for.

#include <algorithm>

#include "events/error.h"
#include "statemachine/decider.h"
#include "statemachine/derived.h"

namespace lockstep {

namespace {

using M = MemberPhase;

template <class Test>
bool every_role(const Group& group, Test&& test) {
  return std::all_of(group.roles.begin(), group.roles.end(), test);
}

std::uint64_t live_members(const Group& group) {
  std::uint64_t live = 0;
  for (const Role& role : group.roles) live += role.counts.live();
  return live;
}

// `after` of a role: every required member of the named role runs or has succeeded, or every one has succeeded.
bool order_allows(const Group& group, RoleIndex role) {
  const auto& after = group.spec->roles[role].after;
  return std::all_of(after.begin(), after.end(), [&](const After& each) {
    const PhaseCounts& counts = group.roles[each.role].counts;
    const std::uint32_t succeeded = counts.required_in(M::Succeeded);
    const std::uint32_t there =
        each.what == AfterWhat::Started ? succeeded + counts.required_in(M::Running) : succeeded;
    return there == counts.required;
  });
}

// Those of the whole group and the standalone ones that it uses.
bool shared_claims_ready(const State& state, const Group& group) {
  if (group.claims_not_ready == 0) return true;
  for (std::uint32_t claim = 0; claim < group.spec->claims.size(); ++claim) {
    const ClaimSpec& spec = group.spec->claims[claim];
    if (spec.kind == ClaimKind::Template && spec.per == ClaimPer::Member) continue;
    const ClaimPhase phase =
        spec.kind == ClaimKind::Standalone ? state.claims.at(spec.name).phase : group.claims.at(ClaimKey{claim}).phase;
    if (phase != ClaimPhase::Ready) return false;
  }
  return true;
}

bool success_holds(const Group& group) {
  const SuccessPolicy& policy = group.spec->success;
  const auto named = [&](RoleIndex role) {
    return policy.roles.empty() || std::binary_search(policy.roles.begin(), policy.roles.end(), role);
  };
  bool all = true;
  bool any = false;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    if (!named(role)) continue;
    const PhaseCounts& counts = group.roles[role].counts;
    all = all && counts.required_in(M::Succeeded) == counts.required;
    any = any || counts.in(M::Succeeded) > 0;
  }
  return policy.op == SuccessOperator::Any ? any : all && any;
}

}  // namespace

void Decider::settle(GroupId id) {
  while (settle_step(id)) {
  }
}

bool Decider::settle_step(GroupId id) {
  const Group* found = state_.groups.find(id);
  if (found == nullptr) return false;
  switch (found->head.phase) {
    case GroupPhase::Placed:
      return settle_placed(*found);
    case GroupPhase::Starting:
    case GroupPhase::Running:
    case GroupPhase::Recovering:
      return settle_started(*found);
    case GroupPhase::Stopping:
      if (live_members(*found) > 0) return false;
      finish_stop(*found);
      return true;
    default:
      return false;
  }
}

bool Decider::settle_placed(const Group& group) {
  const bool armed = every_role(group, [](const Role& role) {
    return role.counts.required_in(M::Armed) + role.counts.required_in(M::Succeeded) == role.counts.required;
  });
  if (!armed || group.claims_not_ready > 0) return false;
  std::vector<RoleIndex> first;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    if (group.roles[role].counts.required_in(M::Armed) > 0 && order_allows(group, role)) first.push_back(role);
  }
  emit(group.head.id, GroupStarted{std::move(first)});
  return true;
}

bool Decider::settle_started(const Group& group) {
  if (settle_success(group)) return true;
  if (start_ready_members(group)) return true;
  const bool all_run = every_role(group, [](const Role& role) {
    return role.counts.required_in(M::Running) + role.counts.required_in(M::Succeeded) == role.counts.required;
  });
  if (all_run && group.head.phase != GroupPhase::Running) {
    emit(group.head.id, GroupRunning{});
    return true;
  }
  return settle_resize(group);
}

// After the barrier: replaced, added or ordered members start by themselves once nothing stands in their way.
bool Decider::start_ready_members(const Group& group) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const Role& each = group.roles[role];
    if (each.startable.empty() || each.counts.required_in(M::Stopping) > 0 || !order_allows(group, role)) continue;
    if (!shared_claims_ready(state_, group)) return false;
    emit(group.head.id, MembersStarting{role, each.startable.list()});
    return true;
  }
  return false;
}

bool Decider::settle_success(const Group& group) {
  const GroupId id = group.head.id;
  const std::uint64_t live = live_members(group);
  if (group.head.satisfied) {
    if (live == 0) end_succeeded(id);
    return live == 0;
  }
  if (!success_holds(group)) return false;
  if (live == 0) {
    end_succeeded(id);
    return true;
  }
  emit(id, GroupSatisfied{});
  if (group.spec->success.rest == SuccessRest::Kill) {
    stop_group(id, StopNext::Succeed, {EndCode::Completed, Scope::Group});
    return true;
  }
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (std::uint32_t index = 0; index < group.roles[role].members.size(); ++index) {
      const Member& member = group.roles[role].members[index];
      if (member.required && member.phase == M::Waiting) emit(id, MemberGivenUp{{role, index}});
    }
  }
  return true;
}

void Decider::end_succeeded(GroupId id) {
  drop_resizes(id, ResizeDropReason::Stopped);
  emit(id, GroupSucceeded{{EndCode::Completed, Scope::Group}});
}

// A pending resize that needs no new host: applied while the group runs.
bool Decider::settle_resize(const Group& group) {
  if (group.head.phase != GroupPhase::Running || group.head.satisfied) return false;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const Role& each = group.roles[role];
    if (!each.head.resize_pending || each.head.resize_to > each.counts.required) continue;
    ResizeApplied applied{.role = role, .replicas = each.head.resize_to};
    std::uint32_t surplus = each.counts.required - each.head.resize_to;
    for (std::size_t index = each.members.size(); index > 0 && surplus > 0; --index) {
      const Member& member = each.members[index - 1];
      if (!member.required || !is_live(member.phase) || member.phase == M::Stopping) continue;
      applied.shrunk.push_back(static_cast<std::uint32_t>(index - 1));
      --surplus;
    }
    emit(group.head.id, std::move(applied));
    return true;
  }
  return false;
}

// ---- the end of a stop
// --------------------------------------------------------------------------------------------------
void Decider::finish_stop(const Group& group) {
  const GroupId id = group.head.id;
  const End end = group.head.end;
  switch (group.head.next) {
    case StopNext::Succeed:
      emit(id, GroupSucceeded{{EndCode::Completed, Scope::Group}});
      return;
    case StopNext::Cancel:
      emit(id, GroupCancelled{end});
      return;
    case StopNext::Fail:
      emit(id, GroupFailed{end});
      return;
    case StopNext::Suspend:
      emit(id, GroupSuspended{});
      return;
    case StopNext::Requeue:
      emit(id, GroupRequeued{});
      return;
    case StopNext::Restart:
      finish_restart(group);
      return;
    case StopNext::None:
      break;
  }
  LOCKSTEP_CHECK(false, "a stopping group does not know what it stops for");
}

namespace {

// min(cap, base * factor^(n-1)), in integers; n >= 1.
Duration backoff(const BackoffPolicy& policy, std::size_t n) {
  std::int64_t wait = std::min(policy.base.value, policy.cap.value);
  for (std::size_t i = 1; i < n && wait > 0 && wait < policy.cap.value && policy.factor > 1; ++i) {
    if (__builtin_mul_overflow(wait, std::int64_t{policy.factor}, &wait)) return policy.cap;
  }
  return Duration{std::min(wait, policy.cap.value)};
}

}  // namespace

void Decider::finish_restart(const Group& group) {
  const GroupId id = group.head.id;
  release_kept_if_lost(id);
  const Duration wait =
      group.head.stop_charged ? backoff(group.spec->failure.backoff, group.head.charges.size()) : Duration{};
  const bool kept = group.head.keep_hosts;
  if (wait.value > 0) {
    release_idle(id);  // a member that stopped on a drained host
    emit(id, GroupRestarted{GroupPhase::Backoff, now() + wait});
  } else if (kept) {
    emit(id, GroupRestarted{GroupPhase::Backoff, {}});
    place_kept(id);
  } else {
    emit(id, GroupRestarted{GroupPhase::Pending, {}});
  }
}

// The same members on the hosts that were kept; one whose host is lost takes a spare.
void Decider::place_kept(GroupId id) {
  const Group& each = group(id);
  GroupPlaced placed{.attempt = each.head.attempt + 1, .domain = each.head.domain};
  for (RoleIndex role = 0; role < each.roles.size(); ++role) {
    std::vector<Spare> spares = each.roles[role].spares;
    for (std::uint32_t index = 0; index < each.roles[role].members.size(); ++index) {
      const Member& member = each.roles[role].members[index];
      if (!member.required) continue;
      std::vector<Slice> hosts = member.hosts;
      if (!usable(hosts)) {
        const auto spare =
            std::find_if(spares.begin(), spares.end(), [&](const Spare& one) { return usable(one.hosts); });
        LOCKSTEP_CHECK(spare != spares.end(), "a group keeps hosts that it does not have");
        hosts = spare->hosts;
        spares.erase(spare);
      }
      placed.members.push_back({{role, index}, std::move(hosts)});
    }
    for (Spare& spare : spares) placed.spares.push_back({role, std::move(spare.hosts)});
  }
  const std::vector<MemberPlacement> members = placed.members;
  emit(id, std::move(placed));
  request_claims(id, members);
  settle(id);
}

// Whoever is placed asks for what it needs, as far as that is Wanted or has Failed: its own claims and the shared ones.
void Decider::request_claims(GroupId id, const std::vector<MemberPlacement>& placed) {
  const Group& each = group(id);
  if (each.claims_not_ready == 0) return;
  const auto wanted = [](ClaimPhase phase) { return phase == ClaimPhase::Wanted || phase == ClaimPhase::Failed; };
  std::vector<ClaimRef> asked;
  const auto ask = [&](const ClaimKey& key) {
    if (wanted(each.claims.at(key).phase)) asked.push_back({{}, key});
  };
  std::vector<ClaimRef> standalone;
  for (std::uint32_t claim = 0; claim < each.spec->claims.size(); ++claim) {
    const ClaimSpec& spec = each.spec->claims[claim];
    if (spec.kind == ClaimKind::Standalone) {
      if (wanted(state_.claims.at(spec.name).phase)) standalone.push_back({spec.name, {}});
    } else if (spec.per == ClaimPer::Group) {
      ask(ClaimKey{claim});
    } else {
      for (const MemberPlacement& one : placed) {
        if (derived::has_claims_of(spec, one.member.role)) ask(ClaimKey{claim, one.member});
      }
    }
  }
  asked.insert(asked.end(), standalone.begin(), standalone.end());
  for (ClaimRef& claim : asked) emit(id, ClaimRequested{.claim = std::move(claim)});
}

}  // namespace lockstep
