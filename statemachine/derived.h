#pragma once
// Upkeep of everything in State that is derived from the facts: interned counters, host and pool use, phase counts,
// claim counts, indexes. Used by the guards of edit.h, event by event, and by rebuild_derived() for a whole state, so
// that there is one definition of each. Private to statemachine/.

#include <array>
#include <functional>
#include <span>

#include "statemachine/state.h"

namespace lockstep::derived {

[[nodiscard]] ResourceId intern(State& state, std::string_view resource);

// Host::capacity from its facts.
void measure(State& state, Host& host);

// The entry of `spec`, made new when it is not there, with its requests compiled.
SpecEntry& spec_entry(State& state, const SpecHash& hash, const std::shared_ptr<const GroupSpec>& spec);

// Adds to, or takes from, the use of hosts and of the cluster what `slices` of a member of `role` stand for.
void hold(State& state, const Group& group, RoleIndex role, std::span<const Slice> slices);
void release(State& state, const Group& group, RoleIndex role, std::span<const Slice> slices);

// A claim keeps the barrier down while it is not Ready, unless its member is not required.
[[nodiscard]] bool counts_for_barrier(const Group& group, const ClaimKey& key);
// Does a claim that each member has belong to members of `role`?
[[nodiscard]] bool has_claims_of(const ClaimSpec& claim, RoleIndex role);
// visit(claim key) for the per-member claims that `member` has.
template <class Visit>
void for_each_claim_of(const Group& group, const MemberKey& member, Visit visit) {
  for (std::uint32_t claim = 0; claim < group.spec->claims.size(); ++claim) {
    if (has_claims_of(group.spec->claims[claim], member.role)) visit(ClaimKey{claim, member});
  }
}

// Nothing of its own keeps the member from being started: required, Armed, its own claims Ready.
[[nodiscard]] bool is_startable(const Group& group, const MemberKey& member);
// Puts a member into Role::startable, or takes it out.
void index_startable(Group& group, const MemberKey& member);

[[nodiscard]] PhaseCounts count_phases(const Role& role);
[[nodiscard]] std::uint32_t count_claims_not_ready(const State& state, const Group& group);
[[nodiscard]] std::uint32_t count_claims_owed(const Group& group);

// The deadlines of the group itself, in the order of kGroupClockKinds; those that do not run are 0.
inline constexpr std::array kGroupClockKinds{TimerKind::Pend, TimerKind::Reserve, TimerKind::Start,
                                             TimerKind::Run,  TimerKind::Backoff, TimerKind::Ttl};
using GroupClocks = std::array<Time, kGroupClockKinds.size()>;
[[nodiscard]] GroupClocks clocks_of(const Group& group);
// In the index of deadlines; either may be 0.
void move_timer(State& state, const Group& group, TimerKind kind, const MemberKey& key, Time before, Time after);

// Clocks of the group itself, of its pending resizes, and (apart) of one member.
void for_each_timer(const Group& group, const std::function<void(const TimerKey&)>& visit);
void for_each_timer(const Group& group, const MemberKey& key, const Member& member,
                    const std::function<void(const TimerKey&)>& visit);

// Of a group that has come, and of one that is to be forgotten: its name, phase and clocks.
void index_group(State& state, const Group& group);
void forget_group(State& state, const Group& group);
// Moves the group in the indexes of groups by what they wait for to where it belongs now.
void reindex(State& state, Group& group);

}  // namespace lockstep::derived
