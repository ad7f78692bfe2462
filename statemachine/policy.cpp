// The failure policy (LIFECYCLE.md): what one failure means for its member, role and group. Judged per failure in log
// order, so batching changes nothing.

#include <algorithm>

#include "statemachine/decider.h"
#include "statemachine/derived.h"

namespace lockstep {

namespace {

struct Judgement {
  FailureAction action{FailureAction::FailGroup};
  bool charge{true};
};

template <class List, class Value>
bool filter_allows(const List& list, const Value& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

bool names_member(const Failure& failure) { return failure.member.role != kNoRole; }

// Only an exit says a code, and one that names just a signal says none.
bool exit_code_allows(const FailureRule& rule, const Failure& failure) {
  if (rule.exit_codes.empty()) return true;
  const bool exited = failure.reason == FailureReason::Exited || failure.reason == FailureReason::Signaled ||
                      failure.reason == FailureReason::OutOfMemory;
  if (!exited || (failure.signal != 0 && failure.exit_code == 0)) return false;
  return std::any_of(rule.exit_codes.begin(), rule.exit_codes.end(), [&](const ExitRange& range) {
    return range.first <= failure.exit_code && failure.exit_code <= range.last;
  });
}

bool matches(const FailureRule& rule, const Failure& failure) {
  if (!filter_allows(rule.reasons, failure.reason)) return false;
  if (!names_member(failure)) return rule.roles.empty() && rule.exit_codes.empty() && rule.signals.empty();
  const bool signal_allows =
      rule.signals.empty() || (failure.signal != 0 && filter_allows(rule.signals, failure.signal));
  return filter_allows(rule.roles, failure.member.role) && signal_allows && exit_code_allows(rule, failure);
}

Judgement judge(const FailurePolicy& policy, const Failure& failure) {
  const auto rule = std::find_if(policy.rules.begin(), policy.rules.end(),
                                 [&](const FailureRule& each) { return matches(each, failure); });
  if (rule == policy.rules.end()) return {policy.default_action, true};
  return {rule->action, rule->charge};
}

EndCode end_code(FailureReason reason) { return static_cast<EndCode>(reason); }

End end_of(const Failure& failure, EndCode code, Scope scope) {
  return End{.code = code,
             .scope = scope,
             .role = failure.member.role,
             .member = failure.member.index,
             .exit_code = failure.exit_code,
             .signal = failure.signal};
}

End end_of(const Failure& failure) {
  return end_of(failure, end_code(failure.reason), names_member(failure) ? Scope::Member : Scope::Group);
}

// ---- budgets
std::size_t charged_within(const std::vector<Time>& times, Time now, Duration window) {
  if (window.value <= 0) return times.size();
  return static_cast<std::size_t>(
      std::count_if(times.begin(), times.end(), [&](Time time) { return now - time < window; }));
}

bool group_budget_used_up(const Group& group, Time now) {
  const FailurePolicy& policy = group.spec->failure;
  return charged_within(group.head.charges, now, policy.window) >= policy.max_restarts;
}

const RoleBudget* role_budget(const FailurePolicy& policy, RoleIndex role) {
  const auto found = std::find_if(policy.max_restarts_per_role.begin(), policy.max_restarts_per_role.end(),
                                  [&](const RoleBudget& budget) { return budget.role == role; });
  return found == policy.max_restarts_per_role.end() ? nullptr : &*found;
}

// The scope that a restart of `member` is charged to: the narrower budgets where any is set, else the group's.
Scope charged_scope(const FailurePolicy& policy, const MemberKey& member) {
  if (policy.max_restarts_per_member != kNoBudget) return Scope::Member;
  return role_budget(policy, member.role) != nullptr ? Scope::Role : Scope::Group;
}

// The scope whose budget has no restart of `member` left; None = all have.
Scope used_up(const Group& group, const MemberKey& member, Time now) {
  const FailurePolicy& policy = group.spec->failure;
  if (charged_scope(policy, member) == Scope::Group) {
    return group_budget_used_up(group, now) ? Scope::Group : Scope::None;
  }
  if (policy.max_restarts_per_member != kNoBudget) {
    const auto charges = group.member_charges.find(member);
    const std::size_t used =
        charges == group.member_charges.end() ? 0 : charged_within(charges->second.times, now, policy.window);
    if (used >= policy.max_restarts_per_member) return Scope::Member;
  }
  const RoleBudget* budget = role_budget(policy, member.role);
  if (budget == nullptr) return Scope::None;
  const std::size_t used = charged_within(group.roles[member.role].head.charges, now, policy.window);
  return used >= budget->max_restarts ? Scope::Role : Scope::None;
}

}  // namespace

// ---- a member
// ---------------------------------------------------------------------------------------------------------
void Decider::member_failed(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone) {
  if (group(id).head.satisfied) {
    end_member(id, failure, ending, gone, gone == Gone::NotYet ? MemberFate::GivenUp : MemberFate::Ends);
    settle(id);
    return;
  }
  const Judgement judgement = judge(group(id).spec->failure, failure);
  switch (judgement.action) {
    case FailureAction::FailGroup:
      end_member(id, failure, ending, gone, MemberFate::Ends);
      stop_group(id, StopNext::Fail, end_of(failure));
      break;
    case FailureAction::RestartGroup:
      restart_group(id, failure, ending, gone, judgement.charge);
      break;
    case FailureAction::RestartMember:
      restart_member(id, failure, ending, gone, judgement.charge);
      break;
    case FailureAction::RestartRole:
      restart_member(id, failure, ending, gone, judgement.charge);
      if (gone != Gone::StaysLive) restart_rest_of_role(id, failure.member);
      break;
    case FailureAction::Tolerate:
      end_member(id, failure, ending, gone, MemberFate::GivenUp);
      check_min(id, failure, EndCode::BelowMin);
      break;
  }
  settle(id);
}

// Records how the failed member ended and what becomes of it. One that is not gone is asked to stop unless its group is
// about to be; one that stays live is only given up, or its claim asked for again.
void Decider::end_member(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone, MemberFate fate,
                         Scope charged) {
  const bool counts = charged != Scope::None;
  if (gone == Gone::Yes) {
    emit(id, MemberEnded{.member = failure.member,
                         .phase = ending.phase,
                         .reason = failure.reason,
                         .exit_code = failure.exit_code,
                         .signal = failure.signal,
                         .sequence = ending.sequence,
                         .fate = fate,
                         .charged = counts,
                         .charged_scope = charged});
    return;
  }
  if (fate == MemberFate::Ends || fate == MemberFate::KeepsHosts) return;
  if (gone == Gone::NotYet) {
    emit(id, MembersStopping{.role = failure.member.role,
                             .indexes = {failure.member.index},
                             .fate = fate,
                             .reason = failure.reason,
                             .charged = counts,
                             .charged_scope = charged});
  } else if (fate == MemberFate::RunsAgain) {
    emit(id, ClaimRequested{.claim = ending.claim, .charged = counts, .charged_scope = charged});
  } else {
    emit(id, MemberGivenUp{failure.member});
  }
}

void Decider::restart_group(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone, bool charge) {
  const Group& each = group(id);
  if (charge && group_budget_used_up(each, now())) {
    if (names_member(failure)) end_member(id, failure, ending, gone, MemberFate::Ends);
    stop_group(id, StopNext::Fail, end_of(failure, EndCode::RestartBudgetExhausted, Scope::Group));
    return;
  }
  const bool keep = each.spec->failure.restart_on == RestartOn::Same && can_keep_hosts(each);
  if (names_member(failure)) end_member(id, failure, ending, gone, keep ? MemberFate::KeepsHosts : MemberFate::Ends);
  stop_group(id, StopNext::Restart, end_of(failure), charge, keep);
}

void Decider::restart_member(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone, bool charge) {
  const Group& each = group(id);
  const Scope exhausted = charge ? used_up(each, failure.member, now()) : Scope::None;
  if (exhausted != Scope::None) {
    end_member(id, failure, ending, gone, MemberFate::Ends);
    stop_group(id, StopNext::Fail, end_of(failure, EndCode::RestartBudgetExhausted, exhausted));
    return;
  }
  const std::vector<Slice> own = each.roles[failure.member.role].members[failure.member.index].hosts;
  const Scope scope = charge ? charged_scope(each.spec->failure, failure.member) : Scope::None;
  end_member(id, failure, ending, gone, MemberFate::RunsAgain, scope);
  if (gone == Gone::Yes) replace_in_place(id, failure.member, own);
  if (gone != Gone::StaysLive) recover_if_short(id);  // nobody is gone by a claim that failed
}

// Those that were asked to start or had succeeded run again with it.
void Decider::restart_rest_of_role(GroupId id, const MemberKey& failed) {
  const Group& each = group(id);
  if (!is_active(each.head.phase)) return;  // its budget was used up
  MembersStopping rest{.role = failed.role, .fate = MemberFate::RunsAgain};
  std::vector<std::uint32_t> succeeded;
  const auto& members = each.roles[failed.role].members;
  for (std::uint32_t index = 0; index < members.size(); ++index) {
    const Member& member = members[index];
    if (index == failed.index || !member.required) continue;
    if (member.phase == MemberPhase::Succeeded) succeeded.push_back(index);
    const bool asked = member.phase == MemberPhase::Starting || member.phase == MemberPhase::Running;
    if (asked || member.phase == MemberPhase::Succeeded) rest.indexes.push_back(index);
  }
  if (rest.indexes.empty()) return;
  emit(id, std::move(rest));
  for (const std::uint32_t index : succeeded) replace_in_place(id, {failed.role, index}, {});
  recover_if_short(id);
}

// A member that waits to run again gets its own hosts if they are up and not drained, else a spare of its role; else a
// pass finds some.
void Decider::replace_in_place(GroupId id, const MemberKey& member, const std::vector<Slice>& own) {
  const Group& each = group(id);
  MemberReplaced replaced{.placement = {member, own}};
  if (!usable(own)) {
    const auto& spares = each.roles[member.role].spares;
    const auto spare = std::find_if(spares.begin(), spares.end(), [&](const Spare& one) { return usable(one.hosts); });
    if (spare == spares.end()) return;
    replaced.placement.slices = spare->hosts;
    replaced.from_spare = true;
  }
  const MemberPlacement placed = replaced.placement;
  emit(id, std::move(replaced));
  request_claims(id, {placed});
}

void Decider::recover_if_short(GroupId id) {
  const Group& each = group(id);
  if (each.head.phase != GroupPhase::Running) return;
  const bool complete = std::all_of(each.roles.begin(), each.roles.end(), [](const Role& role) {
    const PhaseCounts& counts = role.counts;
    return counts.required_in(MemberPhase::Running) + counts.required_in(MemberPhase::Succeeded) == counts.required;
  });
  if (!complete) emit(id, GroupRecovering{});
}

// ---- the group as a whole
// -----------------------------------------------------------------------------------------------
void Decider::group_failed(GroupId id, const Failure& failure) {
  if (group(id).head.satisfied) {
    if (failure.reason != FailureReason::RunTimeout) return;  // failures change nothing any more
    stop_group(id, StopNext::Succeed, {EndCode::Completed, Scope::Group});
    settle(id);
    return;
  }
  const Judgement judgement = judge(group(id).spec->failure, failure);
  switch (judgement.action) {
    case FailureAction::FailGroup:
      stop_group(id, StopNext::Fail, end_of(failure));
      break;
    case FailureAction::RestartGroup:
    case FailureAction::RestartRole:
    case FailureAction::RestartMember:
      restart_group(id, failure, {}, Gone::StaysLive, judgement.charge);
      break;
    case FailureAction::Tolerate:
      fall_below_min(id, end_of(failure, EndCode::BelowMin, Scope::Group));
      break;
  }
  settle(id);
}

// `end` is what the group ends with when belowMin fails it.
void Decider::fall_below_min(GroupId id, const End& end) {
  const Group& each = group(id);
  if (each.spec->failure.below_min == FailureAction::FailGroup) {
    stop_group(id, StopNext::Fail, end);
    return;
  }
  End exhausted = end;
  exhausted.code = EndCode::RestartBudgetExhausted;
  exhausted.scope = Scope::Group;
  if (group_budget_used_up(each, now())) {
    stop_group(id, StopNext::Fail, exhausted);
    return;
  }
  const bool keep = each.spec->failure.restart_on == RestartOn::Same && can_keep_hosts(each);
  stop_group(id, StopNext::Restart, end, true, keep);  // always charged
}

void Decider::check_min(GroupId id, const Failure& failure, EndCode code) {
  const Group& each = group(id);
  const RoleIndex role = failure.member.role;
  if (each.roles[role].counts.required >= each.spec->roles[role].min) return;
  fall_below_min(id, end_of(failure, code, Scope::Role));
}

}  // namespace lockstep
