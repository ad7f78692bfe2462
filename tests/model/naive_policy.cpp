// The failure policy: what becomes of a failure.
#include <algorithm>

#include "tests/model/naive_model.h"

namespace lockstep::model {
namespace {

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool matches(const FailureRule& rule, const Failure& failure) {
  if (!rule.reasons.empty() && !contains(rule.reasons, failure.reason)) return false;
  if (!failure.member) return rule.roles.empty() && rule.exit_codes.empty() && rule.signals.empty();
  if (!rule.roles.empty() && !contains(rule.roles, failure.member->role)) return false;
  if (!rule.signals.empty() && !contains(rule.signals, failure.signal)) return false;
  if (rule.exit_codes.empty()) return true;
  // Only an exit says a code, and one that names just a signal says none.
  const bool exited = failure.reason == FailureReason::Exited || failure.reason == FailureReason::Signaled ||
                      failure.reason == FailureReason::OutOfMemory;
  if (!exited || (failure.signal != 0 && failure.exit_code == 0)) return false;
  return std::any_of(rule.exit_codes.begin(), rule.exit_codes.end(), [&](const ExitRange& range) {
    return range.first <= failure.exit_code && failure.exit_code <= range.last;
  });
}

}  // namespace

void NaiveModel::judge(Group& group, const Failure& failure) {
  Member* member = failure.member ? &group.members.at(*failure.member) : nullptr;
  if (group.satisfied || !is_active(group.phase)) {  // failures change nothing any more
    if (failure.left == Failure::Left::Part && member != nullptr) {
      member->required = false;
      ask_to_stop(group, *member);
    }
    if (failure.left == Failure::Left::Nothing && member != nullptr) member->hosts.clear();
    return;
  }
  FailureAction action = group.spec.failure.default_action;
  bool charge = true;
  for (const FailureRule& rule : group.spec.failure.rules) {
    if (!matches(rule, failure)) continue;
    action = rule.action;
    charge = rule.charge;
    break;
  }
  actions_taken.insert(action);
  if (member == nullptr) {
    if (action == FailureAction::RestartMember || action == FailureAction::RestartRole)
      action = FailureAction::RestartGroup;
    if (action == FailureAction::Tolerate) return below_min(group, failure, EndCode::BelowMin);
  }
  switch (action) {
    case FailureAction::FailGroup:
      return fail_group(group, failure, static_cast<EndCode>(failure.reason), Scope::None);
    case FailureAction::RestartGroup:
      return restart_group(group, failure, charge);
    case FailureAction::RestartRole:
    case FailureAction::RestartMember:
      return restart_some(group, failure, action, charge);
    case FailureAction::Tolerate:
      return give_up(group, failure, EndCode::BelowMin);
  }
}

void NaiveModel::fail_group(Group& group, const Failure& failure, EndCode code, Scope scope) {
  End end;
  end.code = code;
  end.scope = scope;
  if (failure.member) {
    end.role = failure.member->role;
    end.member = failure.member->index;
    end.exit_code = failure.exit_code;
    end.signal = failure.signal;
  }
  stop_group(group, StopNext::Fail, end, false, false);
}

// What was charged less than `window` ago.
std::uint32_t NaiveModel::counted(const Group& group, const std::vector<Time>& charges) const {
  const Duration window = group.spec.failure.window;
  return static_cast<std::uint32_t>(std::count_if(
      charges.begin(), charges.end(), [&](Time charged) { return window.value == 0 || (now - charged) < window; }));
}

void NaiveModel::restart_group(Group& group, const Failure& failure, bool charge) {
  if (charge) {
    if (counted(group, group.charges) >= group.spec.failure.max_restarts)
      return fail_group(group, failure, EndCode::RestartBudgetExhausted, Scope::Group);
    ++group.charged;
    group.charges.push_back(now);
    group.backoff_step = counted(group, group.charges);
  }
  End end;
  end.code = static_cast<EndCode>(failure.reason);
  const bool keep = group.spec.failure.restart_on == RestartOn::Same && can_keep_hosts(group);
  stop_group(group, StopNext::Restart, end, charge, keep);
}

// Fewer than `min` remain of a role; also `tolerate` of a failure that names no member.
void NaiveModel::below_min(Group& group, const Failure& failure, EndCode code) {
  if (group.spec.failure.below_min == FailureAction::RestartGroup) return restart_group(group, failure, true);
  fail_group(group, failure, code, Scope::None);
}

// Scope::None: charged. Else the scope whose budget is used up; nothing was counted.
Scope NaiveModel::charge_some(Group& group, MemberKey key) {
  const FailurePolicy& policy = group.spec.failure;
  const auto role_budget = std::find_if(policy.max_restarts_per_role.begin(), policy.max_restarts_per_role.end(),
                                        [&](const RoleBudget& budget) { return budget.role == key.role; });
  const bool of_role = role_budget != policy.max_restarts_per_role.end();
  const bool of_member = policy.max_restarts_per_member != kNoBudget;
  if (!of_role && !of_member) {
    if (counted(group, group.charges) >= policy.max_restarts) return Scope::Group;
    ++group.charged;
    group.charges.push_back(now);
    return Scope::None;
  }
  std::vector<Time>& member_charges = group.member_charges[key];
  std::vector<Time>& role_charges = group.roles[key.role].charges;
  if (of_member && counted(group, member_charges) >= policy.max_restarts_per_member) return Scope::Member;
  if (of_role && counted(group, role_charges) >= role_budget->max_restarts) return Scope::Role;
  if (of_member) member_charges.push_back(now);
  if (of_role) role_charges.push_back(now);
  return Scope::None;
}

// restartMember and restartRole. Nobody is ended by a claim that failed: it is asked for again.
void NaiveModel::restart_some(Group& group, const Failure& failure, FailureAction action, bool charge) {
  const MemberKey key = *failure.member;
  if (charge) {
    const Scope used_up = charge_some(group, key);
    if (used_up != Scope::None) return fail_group(group, failure, EndCode::RestartBudgetExhausted, used_up);
  }
  if (failure.left == Failure::Left::All) return request_claim(group, *failure.claim);
  if (group.phase == GroupPhase::Running) group.phase = GroupPhase::Recovering;
  Member& failed = group.members.at(key);
  start_recover_clock(group, failed);
  if (failure.left == Failure::Left::Part)
    ask_to_stop(group, failed);
  else
    run_again(group, key);
  if (action != FailureAction::RestartRole) return;
  for (auto& [other, member] : group.members) {
    if (other.role != key.role || other == key || !member.required) continue;
    if (member.phase == MemberPhase::Starting || member.phase == MemberPhase::Running) {
      start_recover_clock(group, member);
      ask_to_stop(group, member);
    } else if (member.phase == MemberPhase::Succeeded) {
      start_recover_clock(group, member);
      run_again(group, other);
    }
  }
}

void NaiveModel::start_recover_clock(Group& group, Member& member) {
  if (group.has_run && !member.recover_deadline) member.recover_deadline = deadline(group.spec.timeouts.recover);
}

// On its own host if that is healthy, else on a spare of its role, else it waits for a pass.
void NaiveModel::run_again(Group& group, MemberKey key) {
  Member& member = group.members.at(key);
  if (!member.hosts.empty() && usable(member.hosts)) return give_run(member, member.hosts);
  member.hosts.clear();
  auto& spares = group.roles[key.role].spares;
  const auto spare = std::find_if(spares.begin(), spares.end(), [&](const Slices& slices) { return usable(slices); });
  if (spare == spares.end()) {
    member.phase = MemberPhase::Waiting;
    return;
  }
  const Slices slices = *spare;
  spares.erase(spare);
  give_run(member, slices);
}

void NaiveModel::ask_to_stop(Group& group, Member& member) {
  if (member.phase == MemberPhase::Stopping) return;
  member.phase = MemberPhase::Stopping;
  member.stop_deadline = deadline(group.spec.timeouts.stop);
}

// No longer required; stopped if it is live.
void NaiveModel::give_up(Group& group, const Failure& failure, EndCode code) {
  const MemberKey key = *failure.member;
  Member& member = group.members.at(key);
  member.required = false;
  member.recover_deadline = {};
  if (is_live(member.phase))
    ask_to_stop(group, member);
  else
    member.hosts.clear();
  if (required(group, key.role) < group.spec.roles[key.role].min) below_min(group, failure, code);
}

}  // namespace lockstep::model
