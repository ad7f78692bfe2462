#include "statemachine/edit.h"

#include <algorithm>

namespace lockstep::edit {

namespace {

constexpr MemberKey kNoMemberKey{kNoRole, kNoMember};

}  // namespace

// ---- group
// ------------------------------------------------------------------------------------------------------------
EditGroup::EditGroup(State& state, Group& group)
    : state_(state), group_(group), clocks_(derived::clocks_of(group)), phase_(group.head.phase) {
  digest_detail::subtract(state_.sum, digest_detail::hash_head(group_.head));
}

EditGroup::~EditGroup() {
  digest_detail::add(state_.sum, digest_detail::hash_head(group_.head));
  const derived::GroupClocks clocks = derived::clocks_of(group_);
  for (std::size_t i = 0; i < clocks.size(); ++i)
    derived::move_timer(state_, group_, derived::kGroupClockKinds[i], kNoMemberKey, clocks_[i], clocks[i]);
  for (const EditedRole& edited : roles_) {
    const RoleHead& head = group_.roles[edited.role].head;
    digest_detail::add(state_.sum, hash_entity(EntityKind::RoleHead, head, group_.head.id, edited.role));
    derived::move_timer(state_, group_, TimerKind::Resize, {edited.role, kNoMember}, edited.resize_deadline,
                        head.resize_deadline);
  }
  if (group_.head.phase == phase_) return;
  --state_.indexes.groups_in[static_cast<std::size_t>(phase_)];
  ++state_.indexes.groups_in[static_cast<std::size_t>(group_.head.phase)];
}

RoleHead& EditGroup::role(RoleIndex role) {
  RoleHead& head = group_.roles.at(role).head;
  const auto is_it = [role](const EditedRole& edited) { return edited.role == role; };
  if (std::none_of(roles_.begin(), roles_.end(), is_it)) {
    digest_detail::subtract(state_.sum, hash_entity(EntityKind::RoleHead, head, group_.head.id, role));
    roles_.push_back({role, head.resize_deadline});
  }
  return head;
}

void set_last_event(State& state, Group& group, Seq seq) {
  digest_detail::subtract(state.sum, digest_detail::hash_last_event(group.head));
  group.head.last_event = seq;
  digest_detail::add(state.sum, digest_detail::hash_last_event(group.head));
}

// ---- member
// -----------------------------------------------------------------------------------------------------------
EditMember::EditMember(State& state, Group& group, MemberKey key)
    : state_(state),
      group_(group),
      key_(key),
      member_(group.roles.at(key.role).members.at(key.index)),
      recover_deadline_(member_.recover_deadline),
      stop_deadline_(member_.stop_deadline),
      required_(member_.required),
      armed_(member_.phase == MemberPhase::Armed) {
  digest_detail::subtract(state_.sum, hash_entity(EntityKind::Member, member_, group_.head.id, key_));
  count(-1);
}

EditMember::~EditMember() {
  digest_detail::add(state_.sum, hash_entity(EntityKind::Member, member_, group_.head.id, key_));
  count(1);
  derived::move_timer(state_, group_, TimerKind::Recover, key_, recover_deadline_, member_.recover_deadline);
  derived::move_timer(state_, group_, TimerKind::Stop, key_, stop_deadline_, member_.stop_deadline);
  if (armed_ || member_.phase == MemberPhase::Armed) derived::index_startable(group_, key_);
  if (required_ == member_.required) return;
  derived::for_each_claim_of(group_, key_, [&](const ClaimKey& claim) {
    const auto found = group_.claims.find(claim);
    if (found == group_.claims.end() || found->second.phase == ClaimPhase::Ready) return;
    if (member_.required)
      ++group_.claims_not_ready;
    else
      --group_.claims_not_ready;
  });
}

void EditMember::count(int sign) {
  PhaseCounts& counts = group_.roles[key_.role].counts;
  const auto step = static_cast<std::uint32_t>(sign);  // wraps for -1
  counts.all[static_cast<std::size_t>(member_.phase)] += step;
  if (!member_.required) return;
  counts.of_required[static_cast<std::size_t>(member_.phase)] += step;
  counts.required += step;
}

void EditMember::set_hosts(std::vector<Slice> slices) {
  derived::release(state_, group_, key_.role, member_.hosts);
  member_.hosts = std::move(slices);
  derived::hold(state_, group_, key_.role, member_.hosts);
}

// ---- containers
// -------------------------------------------------------------------------------------------------------
void add_member(State& state, Group& group, RoleIndex role) {
  Role& each = group.roles.at(role);
  const auto index = static_cast<std::uint32_t>(each.members.size());
  const Member& member = each.members.emplace_back();
  ++each.counts.all[static_cast<std::size_t>(member.phase)];
  digest_detail::add(state.sum, hash_entity(EntityKind::Member, member, group.head.id, MemberKey{role, index}));
  derived::for_each_claim_of(group, {role, index},
                             [&](const ClaimKey& key) { set_claim(state, group, key, ClaimPhase::Wanted); });
}

void set_spares(State& state, Group& group, RoleIndex role, std::vector<Spare> spares) {
  Role& each = group.roles.at(role);
  const auto hash_all = [&] {
    Digest sum;
    for (std::uint32_t index = 0; index < each.spares.size(); ++index) {
      digest_detail::add(sum,
                         hash_entity(EntityKind::Spare, each.spares[index], group.head.id, MemberKey{role, index}));
    }
    return sum;
  };
  digest_detail::subtract(state.sum, hash_all());
  for (const Spare& spare : each.spares) derived::release(state, group, role, spare.hosts);
  each.spares = std::move(spares);
  for (const Spare& spare : each.spares) derived::hold(state, group, role, spare.hosts);
  digest_detail::add(state.sum, hash_all());
}

void set_claim(State& state, Group& group, const ClaimKey& key, ClaimPhase phase) {
  const auto owed = [](ClaimPhase each) { return each == ClaimPhase::Provisioning || each == ClaimPhase::Releasing; };
  const bool counts = derived::counts_for_barrier(group, key);
  const Time ttl_before = derived::clocks_of(group).back();  // it waits for what is owed
  const auto [found, fresh] = group.claims.try_emplace(key);
  if (!fresh) {
    digest_detail::subtract(state.sum, hash_entity(EntityKind::GroupClaim, found->second, group.head.id, key));
    if (counts && found->second.phase != ClaimPhase::Ready) --group.claims_not_ready;
    if (owed(found->second.phase)) --group.claims_owed;
  }
  found->second.phase = phase;
  digest_detail::add(state.sum, hash_entity(EntityKind::GroupClaim, found->second, group.head.id, key));
  if (counts && phase != ClaimPhase::Ready) ++group.claims_not_ready;
  if (owed(phase)) ++group.claims_owed;
  if (key.member.role != kNoRole) derived::index_startable(group, key.member);
  derived::move_timer(state, group, TimerKind::Ttl, kNoMemberKey, ttl_before, derived::clocks_of(group).back());
}

void set_standalone_claim(State& state, const std::string& name, ClaimPhase phase) {
  const auto [found, fresh] = state.claims.try_emplace(name);
  if (!fresh) {
    digest_detail::subtract(state.sum, hash_entity(EntityKind::StandaloneClaim, found->second, name));
  }
  const bool was_ready = !fresh && found->second.phase == ClaimPhase::Ready;
  found->second.phase = phase;
  digest_detail::add(state.sum, hash_entity(EntityKind::StandaloneClaim, found->second, name));
  const bool is_ready = phase == ClaimPhase::Ready;
  if (was_ready == is_ready) return;
  const auto users = state.indexes.standalone_users.find(name);
  if (users == state.indexes.standalone_users.end()) return;
  for (const GroupId id : users->second) {
    Group* group = state.groups.find(id);
    if (is_ready)
      --group->claims_not_ready;
    else
      ++group->claims_not_ready;
  }
}

void set_charges(State& state, Group& group, const MemberKey& key, std::vector<Time> times) {
  const auto [found, fresh] = group.member_charges.try_emplace(key);
  if (!fresh) {
    digest_detail::subtract(state.sum, hash_entity(EntityKind::MemberCharges, found->second, group.head.id, key));
  }
  found->second.times = std::move(times);
  digest_detail::add(state.sum, hash_entity(EntityKind::MemberCharges, found->second, group.head.id, key));
}

}  // namespace lockstep::edit
