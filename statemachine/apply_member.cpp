// Events of single members, and what several events of a group do to its members.

#include <algorithm>

#include "events/error.h"
#include "statemachine/apply_detail.h"

namespace lockstep::apply_detail {

using edit::EditGroup;
using edit::EditMember;

// ---- shared ---------------------------------------------------------------------------------------------------------
void place_member(const Context& context, Group& group, const MemberPlacement& placement) {
  EditMember member(context.state, group, placement.member);
  member.set_hosts(placement.slices);
  member->phase = MemberPhase::Placed;
  member->required = true;
  member->kill = false;
  member->fenced = false;
  member->reason = FailureReason::None;
  member->run += 1;
  member->sequence = 0;
  member->exit_code = 0;
  member->signal = 0;
  member->placed_seq = context.event.seq;
  member->started_at = {};
  member->stop_deadline = {};
}

// One that was asked before keeps its clock, and stays killed.
void ask_to_stop(const Context& context, Group& group, const MemberKey& key) {
  if (group.roles.at(key.role).members.at(key.index).phase == MemberPhase::Stopping) return;
  EditMember member(context.state, group, key);
  member->phase = MemberPhase::Stopping;
  member->kill = false;
  member->fenced = false;
  member->stop_deadline = clock(context, group.spec->timeouts.stop);
}

void release_spares(const Context& context, Group& group) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    if (!group.roles[role].spares.empty()) edit::set_spares(context.state, group, role, {});
  }
}

void remove_spare(const Context& context, Group& group, RoleIndex role, const std::vector<Slice>& slices) {
  auto spares = group.roles.at(role).spares;
  const auto found = std::find(spares.begin(), spares.end(), Spare{slices});
  LOCKSTEP_CHECK(found != spares.end(), "a spare that is not there was taken or given back");
  spares.erase(found);
  edit::set_spares(context.state, group, role, std::move(spares));
}

void release_idle_hosts(const Context& context, Group& group) {
  for_each_member(group, [&](const MemberKey& key, const Member& member) {
    if (!is_live(member.phase) && !member.hosts.empty()) EditMember(context.state, group, key).set_hosts({});
  });
  release_spares(context, group);
}

void reset_members(const Context& context, Group& group, Succeeded succeeded) {
  for_each_member(group, [&](const MemberKey& key, const Member& each) {
    if (succeeded == Succeeded::Stay && each.phase == MemberPhase::Succeeded) return;
    const bool is_reset = each.phase == MemberPhase::Waiting && !each.required && each.hosts.empty() &&
                          !each.recover_deadline && !each.stop_deadline;
    if (is_reset) return;
    EditMember member(context.state, group, key);
    member.set_hosts({});
    member->phase = MemberPhase::Waiting;
    member->required = false;
    member->recover_deadline = {};
    member->stop_deadline = {};
  });
  release_spares(context, group);
}

void make_members(const Context& context, Group& group, RoleIndex role) {
  group.roles[role].members.reserve(group.roles[role].head.wanted);
  while (group.roles[role].members.size() < group.roles[role].head.wanted) {
    edit::add_member(context.state, group, role);
  }
}

namespace {

// Budgets compare only what was charged within the window, so what is older is forgotten.
void push_charge(std::vector<Time>& times, Time now, Duration window) {
  times.push_back(now);
  if (window.value <= 0) return;
  std::erase_if(times, [&](Time time) { return now - time >= window; });
}

}  // namespace

void charge(const Context& context, Group& group, const MemberKey& member, Scope scope) {
  const FailurePolicy& policy = group.spec->failure;
  const Time now = context.event.time;
  EditGroup edit(context.state, group);
  if (scope == Scope::Group) {
    edit->charged += 1;
    push_charge(edit->charges, now, policy.window);
    return;
  }
  if (policy.max_restarts_per_member != kNoBudget) {
    const auto found = group.member_charges.find(member);
    std::vector<Time> times = found == group.member_charges.end() ? std::vector<Time>{} : found->second.times;
    push_charge(times, now, policy.window);
    edit::set_charges(context.state, group, member, std::move(times));
  }
  const bool role_budget = std::any_of(policy.max_restarts_per_role.begin(), policy.max_restarts_per_role.end(),
                                       [&](const RoleBudget& budget) { return budget.role == member.role; });
  if (role_budget) push_charge(edit.role(member.role).charges, now, policy.window);
}

// ---- events
// -----------------------------------------------------------------------------------------------------------
namespace {

void start_armed(const Context& context, Group& group, RoleIndex role, const std::vector<std::uint32_t>& indexes) {
  const auto start = [&](std::uint32_t index) {
    const Member& member = group.roles.at(role).members.at(index);
    if (member.phase != MemberPhase::Armed || !member.required) return;
    EditMember(context.state, group, {role, index})->phase = MemberPhase::Starting;
  };
  if (!indexes.empty()) {
    std::for_each(indexes.begin(), indexes.end(), start);
    return;
  }
  for (std::uint32_t index = 0; index < group.roles.at(role).members.size(); ++index) start(index);
}

// A member of a running group that is to run again has so long to do it, from its loss: to be lost once more on the way
// does not begin it anew.
Time recover_clock(const Context& context, const Group& group, Time running) {
  if (!group.head.has_run || group.head.satisfied) return {};
  return running ? running : clock(context, group.spec->timeouts.recover);
}

}  // namespace

void on(const Context& context, const MemberArmed& event) {
  EditMember member(context.state, context.group(), event.member);
  member->phase = MemberPhase::Armed;
  member->sequence = event.sequence;
}

void on(const Context& context, const MembersStarting& event) {
  start_armed(context, context.group(), event.role, event.indexes);
}

void on(const Context& context, const GroupStarted& event) {
  move(context, GroupTrigger::Barrier);
  for (const RoleIndex role : event.roles) start_armed(context, context.group(), role, {});
}

void on(const Context& context, const MemberStarted& event) {
  EditMember member(context.state, context.group(), event.member);
  member->phase = MemberPhase::Running;
  member->sequence = event.sequence;
  member->started_at = context.event.time;
  member->recover_deadline = {};
}

void on(const Context& context, const MemberEnded& event) {
  Group& group = context.group();
  if (event.charged) charge(context, group, event.member, event.charged_scope);
  EditMember member(context.state, group, event.member);
  member->phase = event.fate == MemberFate::RunsAgain ? MemberPhase::Waiting : event.phase;
  member->reason = event.reason;
  member->exit_code = event.exit_code;
  member->signal = event.signal;
  if (event.sequence != 0) member->sequence = event.sequence;
  member->kill = false;
  member->fenced = false;
  member->stop_deadline = {};
  member->recover_deadline =
      event.fate == MemberFate::RunsAgain ? recover_clock(context, group, member->recover_deadline) : Time{};
  if (event.fate == MemberFate::GivenUp) member->required = false;
  if (event.fate != MemberFate::KeepsHosts) member.set_hosts({});
}

void on(const Context& context, const MemberReplaced& event) {
  Group& group = context.group();
  const RoleIndex role = event.placement.member.role;
  if (event.from_spare) remove_spare(context, group, role, event.placement.slices);
  place_member(context, group, event.placement);
}

void on(const Context& context, const MembersStopping& event) {
  Group& group = context.group();
  for (const std::uint32_t index : event.indexes) {
    const MemberKey key{event.role, index};
    if (event.charged) charge(context, group, key, event.charged_scope);
    if (is_live(group.roles.at(event.role).members.at(index).phase)) ask_to_stop(context, group, key);
    EditMember member(context.state, group, key);
    if (event.reason != FailureReason::None) member->reason = event.reason;
    if (event.fate == MemberFate::RunsAgain) {
      if (member->phase == MemberPhase::Succeeded) member->phase = MemberPhase::Waiting;
      member->recover_deadline = recover_clock(context, group, member->recover_deadline);
    } else {
      member->required = false;
      member->recover_deadline = {};
    }
  }
}

void on(const Context& context, const MemberStopped& event) {
  Group& group = context.group();
  const bool group_stops = group.head.phase == GroupPhase::Stopping;
  EditMember member(context.state, group, event.member);
  const bool runs_again = !group_stops && member->required;
  member->phase = runs_again ? MemberPhase::Waiting : MemberPhase::Stopped;
  if (!runs_again) {  // else it keeps those of the failure for which it runs again
    member->exit_code = event.exit_code;
    member->signal = event.signal;
  }
  if (event.sequence != 0) member->sequence = event.sequence;
  member->kill = false;
  member->fenced = false;
  member->stop_deadline = {};
  if (!(group_stops && group.head.keep_hosts && member->required)) member.set_hosts({});
}

void on(const Context& context, const StopExpired& event) {
  Group& group = context.group();
  EditMember member(context.state, group, event.member);
  member->kill = true;
  member->fenced = event.fence;
  member->stop_deadline = event.fence ? Time{} : clock(context, group.spec->timeouts.stop);
}

void on(const Context& context, const MemberGivenUp& event) {
  Group& group = context.group();
  const bool live = is_live(group.roles.at(event.member.role).members.at(event.member.index).phase);
  if (live) ask_to_stop(context, group, event.member);
  EditMember member(context.state, group, event.member);
  member->required = false;
  member->recover_deadline = {};
  if (!live) member.set_hosts({});
}

}  // namespace lockstep::apply_detail
