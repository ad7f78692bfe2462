// Events of a group as a whole: its definition, placement, phases, claims and end.

#include <algorithm>

#include "events/error.h"
#include "statemachine/apply_detail.h"

namespace lockstep::apply_detail {

using edit::EditGroup;
using edit::EditMember;

namespace {

void make_claims(const Context& context, Group& group) {
  for (std::uint32_t claim = 0; claim < group.spec->claims.size(); ++claim) {
    const ClaimSpec& spec = group.spec->claims[claim];
    if (spec.kind == ClaimKind::Standalone) {
      if (!context.state.claims.contains(spec.name)) {
        edit::set_standalone_claim(context.state, spec.name, ClaimPhase::Wanted);
      }
      context.state.indexes.standalone_users[spec.name].insert(group.head.id);
    } else if (spec.per == ClaimPer::Group) {
      edit::set_claim(context.state, group, ClaimKey{claim}, ClaimPhase::Wanted);
    }
  }
}

void enter_queue(const Context& context, EditGroup& group) {
  group->pend_deadline = clock(context, group.group().spec->timeouts.pend);
}

void clear_placement(EditGroup& group) {
  group->domain.clear();
  group->next = StopNext::None;
  group->stop_charged = false;
  group->keep_hosts = false;
  group->has_run = false;
  group->satisfied = false;
  group->reserve_deadline = {};
  group->projected = {};
  group->victims.clear();
  group->start_deadline = {};
  group->run_deadline = {};
  group->backoff_deadline = {};
}

void end_resize(RoleHead& role) {
  role.resize_pending = false;
  role.resize_to = 0;
  role.resize_deadline = {};
}

Succeeded succeeded_on_resume(const Group& group) {
  return group.spec->resume == ResumeWhat::Unfinished ? Succeeded::Stay : Succeeded::RunAgain;
}

}  // namespace

// ---- wishes
// -----------------------------------------------------------------------------------------------------------
void on(const Context& context, const GroupDefined& event) {
  State& state = context.state;
  const GroupId id = context.event.group;
  LOCKSTEP_CHECK(id.value == state.head.group_last.value + 1, "group ids are given out in order");
  state.head.group_last = id;
  const bool new_spec = !state.specs.contains(event.spec_hash);
  SpecEntry& entry = derived::spec_entry(state, event.spec_hash, event.spec.pointer());
  if (new_spec) {
    digest_detail::add(state.sum, edit::hash_entity(edit::EntityKind::Spec, event.spec_hash));
  }
  ++entry.users;
  Group& group = state.groups.insert(id);
  group.head.id = id;
  group.head.identity = event.identity;
  group.head.spec = event.spec_hash;
  group.spec = entry.spec;
  group.requests = entry.requests;
  group.head.phase = event.hold ? GroupPhase::Defined : GroupPhase::Pending;
  group.head.phase_since = context.event.time;
  group.head.order = context.event.seq;
  if (!event.hold) {
    group.head.submitted_at = context.event.time;
    group.head.pend_deadline = clock(context, event.spec->timeouts.pend);
  }
  group.roles.resize(event.spec->roles.size());
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    group.roles[role].head.wanted = event.spec->roles[role].replicas;
  }
  // Nothing of the group is derived yet: what its guards take out at their start, they must find.
  digest_detail::add(state.sum, digest_detail::hash_group(group));
  derived::index_group(state, group);
  group.claims_not_ready = derived::count_claims_not_ready(state, group);
  make_claims(context, group);
  for (RoleIndex role = 0; role < group.roles.size(); ++role) make_members(context, group, role);
}

void on(const Context& context, const GroupSubmitted&) {
  EditGroup group(context.state, context.group());
  move(context, group, GroupTrigger::Submit);
  group->order = context.event.seq;
  group->submitted_at = context.event.time;
  enter_queue(context, group);
}

void on(const Context& context, const ResizeRequested& event) {
  Group& group = context.group();
  {
    EditGroup edit(context.state, group);
    RoleHead& role = edit.role(event.role);
    role.resize_pending = event.pending;
    role.resize_to = event.pending ? event.replicas : 0;
    role.resize_deadline = event.pending ? event.deadline : Time{};
    if (!event.pending) role.wanted = event.replicas;
  }
  make_members(context, group, event.role);
}

void on(const Context& context, const ResizeApplied& event) {
  Group& group = context.group();
  {
    EditGroup edit(context.state, group);
    RoleHead& role = edit.role(event.role);
    role.wanted = event.replicas;
    end_resize(role);
  }
  make_members(context, group, event.role);
  for (const std::uint32_t index : event.shrunk) {
    const MemberKey key{event.role, index};
    const bool live = is_live(group.roles[event.role].members.at(index).phase);
    if (live) ask_to_stop(context, group, key);
    EditMember member(context.state, group, key);
    member->required = false;
    member->recover_deadline = {};
    if (!live) member.set_hosts({});
  }
  for (const MemberPlacement& placement : event.grown) {
    while (group.roles[event.role].members.size() <= placement.member.index) {
      edit::add_member(context.state, group, event.role);
    }
    place_member(context, group, placement);
  }
}

void on(const Context& context, const ResizeDropped& event) {
  EditGroup group(context.state, context.group());
  RoleHead& role = group.role(event.role);
  end_resize(role);
}

// ---- placement
// ----------------------------------------------------------------------------------------------------------
namespace {

void hold_spares(const Context& context, Group& group, const std::vector<SparePlacement>& placements, bool add) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    std::vector<Spare> spares;
    if (add) spares = group.roles[role].spares;
    for (const SparePlacement& placement : placements) {
      if (placement.role == role) spares.push_back({placement.slices});
    }
    if (!spares.empty() || !group.roles[role].spares.empty()) {
      edit::set_spares(context.state, group, role, std::move(spares));
    }
  }
}

void reserve_members(const Context& context, Group& group, const std::vector<MemberPlacement>& members) {
  for (const MemberPlacement& placement : members) {
    EditMember member(context.state, group, placement.member);
    member.set_hosts(placement.slices);
    member->phase = MemberPhase::Reserved;
  }
}

}  // namespace

void on(const Context& context, const ReservationOpened& event) {
  Group& group = context.group();
  {
    EditGroup edit(context.state, group);
    move(context, edit, GroupTrigger::Reserve);
    edit->domain = event.domain;
    edit->reserve_deadline = event.deadline;
    edit->projected = event.projected;
    edit->victims = event.victims;
  }
  reserve_members(context, group, event.members);
  hold_spares(context, group, event.spares, true);
}

void on(const Context& context, const ReservationExtended& event) {
  Group& group = context.group();
  {
    EditGroup edit(context.state, group);
    move(context, edit, GroupTrigger::Extend);
    edit->projected = event.projected;
  }
  for (const MemberKey& key : event.lost) {
    EditMember member(context.state, group, key);
    member.set_hosts({});
    member->phase = MemberPhase::Waiting;
  }
  reserve_members(context, group, event.members);
  hold_spares(context, group, event.spares, true);
}

void on(const Context& context, const ReservationReleased& event) {
  Group& group = context.group();
  reset_members(context, group, succeeded_on_resume(group));
  EditGroup edit(context.state, group);
  move(context, edit, GroupTrigger::Release);
  clear_placement(edit);
  if (!event.keeps_place) edit->order = context.event.seq;
}

void on(const Context& context, const GroupPlaced& event) {
  Group& group = context.group();
  LOCKSTEP_CHECK(event.attempt == group.head.attempt + 1, "attempts are counted one by one");
  {
    EditGroup edit(context.state, group);
    move(context, edit, GroupTrigger::Place);
    clear_placement(edit);
    edit->attempt = event.attempt;
    edit->domain = event.domain;
    edit->claims_asked = true;
    edit->end = {};
    edit->pend_deadline = {};
    edit->start_deadline = clock(context, group.spec->timeouts.start);
  }
  // What was kept or reserved is in the placement again, as far as it is used.
  reset_members(context, group, Succeeded::Stay);
  for (const MemberPlacement& placement : event.members) place_member(context, group, placement);
  hold_spares(context, group, event.spares, false);
}

void on(const Context& context, const KeptHostsReleased&) {
  Group& group = context.group();
  {
    EditGroup edit(context.state, group);
    move(context, edit, GroupTrigger::Progress);
    edit->keep_hosts = false;
    if (edit->phase == GroupPhase::Backoff) edit->domain.clear();
  }
  release_idle_hosts(context, group);
}

void on(const Context& context, const IdleHostsReleased& event) {
  Group& group = context.group();
  move(context, GroupTrigger::Progress);
  for (const MemberKey& key : event.members) EditMember(context.state, group, key).set_hosts({});
  for (const SparePlacement& spare : event.spares) remove_spare(context, group, spare.role, spare.slices);
}

// Says why; what it does follows in its own events (GroupStopping, MembersStopping, KeptHostsReleased).
void on(const Context& context, const GroupPreempted&) { move(context, GroupTrigger::Progress); }

// ---- phases
// -------------------------------------------------------------------------------------------------------------
void on(const Context& context, const GroupRunning&) {
  Group& group = context.group();
  EditGroup edit(context.state, group);
  move(context, edit, GroupTrigger::Run);
  edit->start_deadline = {};
  if (edit->has_run) return;
  edit->has_run = true;
  edit->run_deadline = clock(context, group.spec->timeouts.run);
}

void on(const Context& context, const GroupRecovering&) { move(context, GroupTrigger::Recover); }

void on(const Context& context, const GroupSatisfied&) {
  Group& group = context.group();
  {
    EditGroup edit(context.state, group);
    move(context, edit, GroupTrigger::Progress);
    edit->satisfied = true;
    edit->start_deadline = {};
  }
  for_each_member(group, [&](const MemberKey& key, const Member& member) {
    if (member.recover_deadline) EditMember(context.state, group, key)->recover_deadline = {};
  });
}

void on(const Context& context, const GroupStopping& event) {
  Group& group = context.group();
  if (event.charged) charge(context, group, {}, Scope::Group);
  {
    EditGroup edit(context.state, group);
    move(context, edit, GroupTrigger::Stop);
    edit->next = event.next;
    edit->end = event.end;
    edit->stop_charged = event.charged;
    edit->keep_hosts = event.keep_hosts;
    edit->start_deadline = {};
    edit->run_deadline = {};
  }
  for_each_member(group, [&](const MemberKey& key, const Member& member) {
    if (is_live(member.phase) && member.phase != MemberPhase::Stopping) ask_to_stop(context, group, key);
    if (member.recover_deadline) EditMember(context.state, group, key)->recover_deadline = {};
  });
  if (!event.keep_hosts) release_idle_hosts(context, group);
}

void on(const Context& context, const GroupRestarted& event) {
  Group& group = context.group();
  const bool kept = group.head.keep_hosts;
  {
    EditGroup edit(context.state, group);
    move(context, edit, event.to == GroupPhase::Backoff ? GroupTrigger::Backoff : GroupTrigger::Requeue);
    const std::string domain = edit->domain;
    clear_placement(edit);
    edit->keep_hosts = kept;
    if (kept) edit->domain = domain;
    edit->backoff_deadline = event.backoff_until;
    if (event.to == GroupPhase::Pending) enter_queue(context, edit);
  }
  if (!kept) {
    reset_members(context, group, Succeeded::RunAgain);
    return;
  }
  for_each_member(group, [&](const MemberKey& key, const Member&) {
    EditMember(context.state, group, key)->phase = MemberPhase::Waiting;
  });
}

namespace {

void leave_hosts(const Context& context, GroupTrigger trigger) {
  Group& group = context.group();
  {
    EditGroup edit(context.state, group);
    move(context, edit, trigger);
    clear_placement(edit);
    edit->pend_deadline = {};
  }
  reset_members(context, group, succeeded_on_resume(group));
}

}  // namespace

void on(const Context& context, const GroupRequeued&) {
  leave_hosts(context, GroupTrigger::Requeue);
  EditGroup group(context.state, context.group());
  enter_queue(context, group);
}

void on(const Context& context, const GroupSuspended&) { leave_hosts(context, GroupTrigger::Suspend); }

void on(const Context& context, const GroupResumed&) {
  EditGroup group(context.state, context.group());
  move(context, group, GroupTrigger::Resume);
  enter_queue(context, group);
}

// ---- the end
// --------------------------------------------------------------------------------------------------------------
namespace {

void end_group(const Context& context, GroupTrigger trigger, const End& end) {
  Group& group = context.group();
  for_each_member(group, [&](const MemberKey& key, const Member& each) {
    LOCKSTEP_CHECK(!is_live(each.phase), "a group ends with a member that is not confirmed gone");
    if (each.hosts.empty() && !each.recover_deadline && each.phase != MemberPhase::Reserved) return;
    EditMember member(context.state, group, key);
    member.set_hosts({});
    member->recover_deadline = {};
    if (member->phase == MemberPhase::Reserved) member->phase = MemberPhase::Waiting;
  });
  release_spares(context, group);
  {
    EditGroup edit(context.state, group);
    move(context, edit, trigger);
    clear_placement(edit);
    edit->pend_deadline = {};
    edit->end = end;
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      if (group.roles[role].head.resize_pending) end_resize(edit.role(role));
    }
    edit->ttl_deadline = clock(context, group.spec->ttl_after_finished);
  }
  for (const auto& [key, claim] : group.claims) {
    const bool asked = claim.phase == ClaimPhase::Provisioning || claim.phase == ClaimPhase::Ready ||
                       claim.phase == ClaimPhase::Failed;
    if (asked) edit::set_claim(context.state, group, key, ClaimPhase::Releasing);
  }
  for (const ClaimSpec& spec : group.spec->claims) {
    if (spec.kind != ClaimKind::Standalone) continue;
    auto& users = context.state.indexes.standalone_users;
    const auto found = users.find(spec.name);
    if (context.state.claims.at(spec.name).phase != ClaimPhase::Ready) --group.claims_not_ready;
    found->second.erase(group.head.id);
    if (found->second.empty()) users.erase(found);
  }
}

}  // namespace

void on(const Context& context, const GroupSucceeded& event) { end_group(context, GroupTrigger::Succeed, event.end); }
void on(const Context& context, const GroupFailed& event) { end_group(context, GroupTrigger::Fail, event.end); }
void on(const Context& context, const GroupCancelled& event) { end_group(context, GroupTrigger::Cancel, event.end); }

void on(const Context& context, const GroupPurged&) {
  State& state = context.state;
  Group& group = context.group();
  LOCKSTEP_CHECK(is_terminal(group.head.phase) && group.claims_owed == 0,
                 "only an ended group that owes nothing is forgotten");
  derived::forget_group(state, group);
  digest_detail::subtract(state.sum, digest_detail::hash_group(group));
  const auto spec = state.specs.find(group.head.spec);
  if (--spec->second.users == 0) {
    digest_detail::subtract(state.sum, edit::hash_entity(edit::EntityKind::Spec, spec->first));
    state.specs.erase(spec);
  }
  state.groups.erase(context.event.group);
}

// ---- claims
// -----------------------------------------------------------------------------------------------------------------
namespace {

void set_claim(const Context& context, const ClaimRef& claim, ClaimPhase phase) {
  if (!claim.name.empty()) {
    edit::set_standalone_claim(context.state, claim.name, phase);
    return;
  }
  edit::set_claim(context.state, context.group(), claim.key, phase);
}

}  // namespace

void on(const Context& context, const ClaimRequested& event) {
  if (event.charged) charge(context, context.group(), event.claim.key.member, event.charged_scope);
  set_claim(context, event.claim, ClaimPhase::Provisioning);
}
void on(const Context& context, const ClaimReady& event) { set_claim(context, event.claim, ClaimPhase::Ready); }
void on(const Context& context, const ClaimFailed& event) { set_claim(context, event.claim, ClaimPhase::Failed); }
void on(const Context& context, const ClaimReleased& event) { set_claim(context, event.claim, ClaimPhase::Released); }

void on(const Context& context, const LateReport&) {
  if (!context.event.group) {
    context.state.head.late_unknown += 1;
    return;
  }
  EditGroup(context.state, context.group())->late_reports += 1;
}

}  // namespace lockstep::apply_detail
