// What follows by itself, asked again until nothing follows; and how a stop begins and ends.
#include <algorithm>

#include "tests/model/naive_model.h"

namespace lockstep::model {
namespace {

bool is_up(MemberPhase phase) { return phase == MemberPhase::Running || phase == MemberPhase::Succeeded; }

template <class Test>
bool all_required(const NaiveGroup& group, const Test& test) {
  return std::all_of(group.members.begin(), group.members.end(),
                     [&](const auto& entry) { return !entry.second.required || test(entry.first, entry.second); });
}

}  // namespace

void NaiveModel::settle(Group& group) {
  while (settle_once(group)) {
  }
}

bool NaiveModel::settle_once(Group& group) {
  if (group.phase == GroupPhase::Stopping) {
    if (live(group) > 0) return false;
    stop_finished(group);
    return true;
  }
  if (!is_active(group.phase)) return false;
  return settle_barrier(group) || settle_success(group) || settle_starts(group) || settle_running(group) ||
         settle_resize(group);
}

bool NaiveModel::settle_barrier(Group& group) {
  if (group.phase != GroupPhase::Placed || !group_claims_ready(group)) return false;
  const bool armed = all_required(group, [&](const MemberKey& key, const Member& member) {
    return member.phase == MemberPhase::Succeeded ||
           (member.phase == MemberPhase::Armed && member_claims_ready(group, key));
  });
  if (!armed) return false;
  group.phase = GroupPhase::Starting;
  return true;
}

bool NaiveModel::success_satisfied(const Group& group) const {
  const std::vector<RoleIndex>& roles = group.spec.success.roles;
  const auto counts = [&](RoleIndex role) {
    return roles.empty() || std::find(roles.begin(), roles.end(), role) != roles.end();
  };
  if (group.spec.success.op == SuccessOperator::All) {
    return all_required(group, [&](const MemberKey& key, const Member& member) {
      return !counts(key.role) || member.phase == MemberPhase::Succeeded;
    });
  }
  return std::any_of(group.members.begin(), group.members.end(), [&](const auto& entry) {
    return counts(entry.first.role) && entry.second.phase == MemberPhase::Succeeded;
  });
}

bool NaiveModel::settle_success(Group& group) {
  if (group.phase == GroupPhase::Placed) return false;
  bool changed = false;
  if (!group.satisfied && success_satisfied(group)) {
    group.satisfied = changed = true;
    group.start_deadline = {};
    for (auto& [key, member] : group.members) {
      member.recover_deadline = {};
      if (member.hosts.empty() && member.phase != MemberPhase::Succeeded) member.required = false;
    }
  }
  if (!group.satisfied) return false;
  End end;
  end.code = EndCode::Completed;
  if (live(group) == 0) {
    end_group(group, GroupPhase::Succeeded, end);
    return true;
  }
  if (group.spec.success.rest == SuccessRest::Kill) {
    stop_group(group, StopNext::Succeed, end, false, false);
    return true;
  }
  return changed;
}

bool NaiveModel::after_holds(const Group& group, RoleIndex role) const {
  const auto& after = group.spec.roles[role].after;
  return std::all_of(after.begin(), after.end(), [&](const After& other) {
    return all_required(group, [&](const MemberKey& key, const Member& member) {
      if (key.role != other.role) return true;
      return other.what == AfterWhat::Started ? is_up(member.phase) : member.phase == MemberPhase::Succeeded;
    });
  });
}

bool NaiveModel::settle_starts(Group& group) {
  if (group.phase == GroupPhase::Placed) return false;
  bool changed = false;
  for (auto& [key, member] : group.members) {
    if (member.phase != MemberPhase::Armed || !group_claims_ready(group) || !member_claims_ready(group, key)) continue;
    const bool old_run =
        std::any_of(group.members.begin(), group.members.end(), [&, role = key.role](const auto& other) {
          return other.first.role == role && other.second.required && other.second.phase == MemberPhase::Stopping;
        });
    if (old_run || !after_holds(group, key.role)) continue;
    member.phase = MemberPhase::Starting;
    changed = true;
  }
  return changed;
}

bool NaiveModel::settle_running(Group& group) {
  if (group.phase != GroupPhase::Starting && group.phase != GroupPhase::Recovering) return false;
  if (!all_required(group, [](const MemberKey&, const Member& member) { return is_up(member.phase); })) return false;
  group.phase = GroupPhase::Running;
  group.start_deadline = {};
  if (!group.has_run) group.run_deadline = deadline(group.spec.timeouts.run);
  group.has_run = true;
  return true;
}

// Equal: done. Fewer: the highest-numbered live ones that are not already ending stop. More: a plan must grow it.
bool NaiveModel::settle_resize(Group& group) {
  if (group.phase != GroupPhase::Running || group.satisfied) return false;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    NaiveRole& state = group.roles[role];
    if (!state.resize_to || *state.resize_to > required(group, role)) continue;
    std::uint32_t too_many = required(group, role) - *state.resize_to;
    for (auto entry = group.members.rbegin(); entry != group.members.rend(); ++entry) {
      Member& member = entry->second;
      if (too_many == 0 || entry->first.role != role || !member.required) continue;
      if (!is_live(member.phase) || member.phase == MemberPhase::Stopping) continue;
      member.required = false;
      member.recover_deadline = {};
      ask_to_stop(group, member);
      --too_many;
    }
    state.wanted = *state.resize_to;
    state.resize_to.reset();
    state.resize_deadline = {};
    return true;
  }
  return false;
}

// ---- stopping
// ---------------------------------------------------------------------------------------------------------

void NaiveModel::end_clocks(Group& group) {
  group.pend_deadline = group.reserve_deadline = group.start_deadline = group.run_deadline =
      group.backoff_deadline = {};
  for (auto& [key, member] : group.members) member.recover_deadline = {};
  for (NaiveRole& role : group.roles) {
    role.resize_to.reset();
    role.resize_deadline = {};
  }
}

void NaiveModel::stop_group(Group& group, StopNext next, const End& end, bool charged, bool keep) {
  if (group.phase == GroupPhase::Reserving) release_reservation(group);
  end_clocks(group);
  release_kept_hosts(group);
  group.phase = GroupPhase::Stopping;
  group.next = next;
  group.end = end;
  group.stop_charged = charged;
  group.keep_hosts = keep;
  for (auto& [key, member] : group.members) {
    if (is_live(member.phase))
      ask_to_stop(group, member);
    else if (!keep || !member.required)
      member.hosts.clear();
  }
  if (!keep) {
    for (NaiveRole& role : group.roles) role.spares.clear();
  }
  settle(group);
}

void NaiveModel::stop_finished(Group& group) {
  const StopNext next = group.next;
  group.next = StopNext::None;
  group.has_run = group.satisfied = false;
  switch (next) {
    case StopNext::Restart:
      return restarted(group);
    case StopNext::Requeue:
      reset_members(group, group.spec.resume == ResumeWhat::Unfinished);
      return become_pending(group);
    case StopNext::Suspend:
      reset_members(group, group.spec.resume == ResumeWhat::Unfinished);
      group.phase = GroupPhase::Suspended;
      return;
    case StopNext::Fail:
      return end_group(group, GroupPhase::Failed, group.end);
    case StopNext::Cancel:
      return end_group(group, GroupPhase::Cancelled, group.end);
    case StopNext::Succeed:
      return end_group(group, GroupPhase::Succeeded, group.end);
    case StopNext::None:
      break;
  }
}

void NaiveModel::reset_members(Group& group, bool keep_successes) {
  group.end = {};
  for (auto& [key, member] : group.members) {
    if (!group.keep_hosts) {
      member.required = false;
      member.hosts.clear();
    }
    if (member.phase != MemberPhase::Succeeded || !keep_successes) member.phase = MemberPhase::Waiting;
  }
  if (!group.keep_hosts) group.domain.clear();
}

void NaiveModel::restarted(Group& group) {
  reset_members(group, false);
  Duration wait{};
  if (group.stop_charged) {
    const BackoffPolicy& backoff = group.spec.failure.backoff;
    wait = backoff.base;
    for (std::uint32_t n = 1; n < group.backoff_step && wait < backoff.cap; ++n) wait.value *= backoff.factor;
    wait = std::min(wait, backoff.cap);
  }
  if (wait.value > 0) {
    group.phase = GroupPhase::Backoff;
    group.backoff_deadline = now + wait;
    give_back_where_nobody_runs(group);
  } else if (group.keep_hosts) {
    place_on_kept_hosts(group);
  } else {
    become_pending(group);
  }
}

void NaiveModel::end_group(Group& group, GroupPhase phase, const End& end) {
  end_clocks(group);
  group.phase = phase;
  group.end = end;
  group.domain.clear();
  for (auto& [key, member] : group.members) member.hosts.clear();
  for (NaiveRole& role : group.roles) role.spares.clear();
  release_claims(group);
  group.ttl_deadline = deadline(group.spec.ttl_after_finished);
}

// ---- restart on the same hosts
// ------------------------------------------------------------------------------------------

// Each required member still has its host, or a spare; and no role has fewer than its min.
bool NaiveModel::can_keep_hosts(const Group& group) const {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    if (required(group, role) < group.spec.roles[role].min) return false;
    const auto& spares = group.roles[role].spares;
    const auto healthy =
        std::count_if(spares.begin(), spares.end(), [&](const Slices& slices) { return usable(slices); });
    const auto without = std::count_if(group.members.begin(), group.members.end(), [&](const auto& entry) {
      const Member& member = entry.second;
      return entry.first.role == role && member.required && (member.hosts.empty() || !usable(member.hosts));
    });
    if (without > healthy) return false;
  }
  return true;
}

void NaiveModel::release_kept_hosts(Group& group) {
  if (!group.keep_hosts) return;
  group.keep_hosts = false;
  for (auto& [key, member] : group.members) {
    if (!is_live(member.phase)) member.hosts.clear();
    if (group.phase == GroupPhase::Backoff) member.required = false;
  }
  for (NaiveRole& role : group.roles) role.spares.clear();
}

// Of hosts that are down or drained: spares, and what members keep for a restart.
void NaiveModel::give_back_where_nobody_runs(Group& group) {
  for (auto& [key, member] : group.members) {
    if (group.keep_hosts && !is_live(member.phase) && !usable(member.hosts)) member.hosts.clear();
  }
  for (NaiveRole& role : group.roles) {
    std::erase_if(role.spares, [&](const Slices& slices) { return !usable(slices); });
  }
}

void NaiveModel::place_on_kept_hosts(Group& group) {
  for (auto& [key, member] : group.members) {
    if (member.required) run_again(group, key);
  }
  group.keep_hosts = false;
  enter_placed(group);
}

void NaiveModel::enter_placed(Group& group) {
  group.phase = GroupPhase::Placed;
  ++group.attempt;
  group.has_run = group.satisfied = group.stop_charged = false;
  group.pend_deadline = group.reserve_deadline = group.backoff_deadline = {};
  group.start_deadline = deadline(group.spec.timeouts.start);
  request_claims(group);
  settle(group);
}

}  // namespace lockstep::model
