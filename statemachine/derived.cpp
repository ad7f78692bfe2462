#include "statemachine/derived.h"

#include <algorithm>

#include "events/error.h"
#include "statemachine/digest.h"
#include "statemachine/digest_detail.h"
#include "statemachine/fit.h"

namespace lockstep::derived {

namespace {

// Sums over the whole cluster may pass 64 bits for counters that are no pools; wrapping keeps them reversible, and
// those of pools, which are bounded by their totals, exact.
void add(std::vector<std::int64_t>& amounts, ResourceId id, std::int64_t amount) {
  if (amounts.size() <= id.value) amounts.resize(id.value + 1, 0);
  auto& total = amounts[id.value];
  total = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) + static_cast<std::uint64_t>(amount));
}

void count_slice(Host& host, GroupId group, int sign) {
  const auto at = std::lower_bound(host.groups.begin(), host.groups.end(), group,
                                   [](const auto& entry, GroupId id) { return entry.first < id; });
  if (at == host.groups.end() || at->first != group) {
    host.groups.insert(at, {group, 1});
  } else {
    at->second += static_cast<std::uint32_t>(sign);  // wraps for -1
    if (at->second == 0) host.groups.erase(at);
  }
}

void charge(State& state, const Group& group, RoleIndex role, std::span<const Slice> slices, int sign) {
  for (const Slice& slice : slices) {
    state.indexes.host_journal.touch(slice.host);
    Host* host = state.hosts.find(slice.host);
    LOCKSTEP_CHECK(host != nullptr, "a slice names a host that is not there");
    for (const auto& [resource, amount] : group.requests->at(role).at(slice.term)) {
      const std::int64_t total = amount * static_cast<std::int64_t>(slice.count) * sign;
      add(host->used, resource, total);
      add(state.used, resource, total);
    }
    count_slice(*host, group.head.id, sign);
  }
}

void visit_deadline(const std::function<void(const TimerKey&)>& visit, const Group& group, TimerKind kind,
                    Time deadline, MemberKey member = {kNoRole, kNoMember}) {
  if (deadline) visit(TimerKey{deadline, group.head.id, kind, member});
}

// It runs, and a member of it waits for hosts.
bool has_lost_a_member(const Group& group) {
  if (!is_active(group.head.phase) || group.head.satisfied) return false;
  return std::any_of(group.roles.begin(), group.roles.end(),
                     [](const Role& role) { return role.counts.required_in(MemberPhase::Waiting) > 0; });
}

bool is_to_grow(const Group& group) {
  if (group.head.phase != GroupPhase::Running || group.head.satisfied) return false;
  return std::any_of(group.roles.begin(), group.roles.end(), [](const Role& role) {
    return role.head.resize_pending && role.head.resize_to > role.counts.required;
  });
}

bool may_be_evicted(const Group& group) {
  return group.spec->preemptible && (is_active(group.head.phase) || group.head.keep_hosts);
}

// What a scheduling pass reads of a spec. Whatever else it is to read must be added here.
Digest placement_digest(const GroupSpec& spec) {
  digest_detail::HashSink sink;
  walk_write(sink, spec.priority);
  walk_write(sink, spec.mode);
  walk_write(sink, spec.partial);
  walk_write(sink, spec.topology);
  walk_write(sink, spec.run_limit);
  walk_write(sink, spec.resume);
  for (const RoleSpec& role : spec.roles) {
    walk_write(sink, role.tasks);
    walk_write(sink, role.topology);
    walk_write(sink, role.spares);
  }
  return sink.hash();
}

WaitShape shape_of(const State& state, const Group& group) {
  const GroupSpec& spec = *group.spec;
  WaitShape shape{state.specs.at(group.head.spec).placement, demand_counts(group), {}};
  if (spec.mode == PlacementMode::Reserve) shape.queue = group.head.identity.queue;
  return shape;
}

bool owes(const Group& group) {
  return group.claims_owed > 0 || std::any_of(group.roles.begin(), group.roles.end(), [](const Role& role) {
           return role.counts.in(MemberPhase::Placed) + role.counts.in(MemberPhase::Starting) +
                      role.counts.in(MemberPhase::Stopping) >
                  0;
         });
}

}  // namespace

ResourceId intern(State& state, std::string_view resource) {
  const auto found = state.resource_ids.find(resource);
  if (found != state.resource_ids.end()) return found->second;
  const ResourceId id{static_cast<std::uint32_t>(state.resources.size())};
  state.resources.emplace_back(resource);
  state.resource_ids.emplace(std::string(resource), id);
  return id;
}

void measure(State& state, Host& host) {
  host.capacity.clear();
  for (const Counter& counter : host.facts.info.counters)
    add(host.capacity, intern(state, counter.name), counter.amount);
}

SpecEntry& spec_entry(State& state, const SpecHash& hash, const std::shared_ptr<const GroupSpec>& spec) {
  SpecEntry& entry = state.specs[hash];
  if (!entry.spec) entry.spec = spec;
  if (!entry.requests) {
    entry.placement = placement_digest(*spec);
    SpecRequests requests;
    for (const RoleSpec& role : spec->roles) {
      auto& terms = requests.emplace_back();
      for (const TaskTerm& term : role.tasks) {
        auto& amounts = terms.emplace_back();
        for (const Counter& request : term.requests) amounts.emplace_back(intern(state, request.name), request.amount);
      }
    }
    entry.requests = std::make_shared<const SpecRequests>(std::move(requests));
  }
  return entry;
}

void hold(State& state, const Group& group, RoleIndex role, std::span<const Slice> slices) {
  charge(state, group, role, slices, 1);
}
void release(State& state, const Group& group, RoleIndex role, std::span<const Slice> slices) {
  charge(state, group, role, slices, -1);
}

bool counts_for_barrier(const Group& group, const ClaimKey& key) {
  if (key.member.role == kNoRole) return true;
  const Role& role = group.roles.at(key.member.role);
  return key.member.index < role.members.size() && role.members[key.member.index].required;
}

bool has_claims_of(const ClaimSpec& claim, RoleIndex role) {
  if (claim.kind != ClaimKind::Template || claim.per != ClaimPer::Member) return false;
  return claim.roles.empty() || std::binary_search(claim.roles.begin(), claim.roles.end(), role);
}

bool is_startable(const Group& group, const MemberKey& member) {
  const Member& each = group.roles.at(member.role).members.at(member.index);
  if (!each.required || each.phase != MemberPhase::Armed) return false;
  bool ready = true;
  for_each_claim_of(group, member,
                    [&](const ClaimKey& key) { ready = ready && group.claims.at(key).phase == ClaimPhase::Ready; });
  return ready;
}

void index_startable(Group& group, const MemberKey& member) {
  IndexSet& startable = group.roles.at(member.role).startable;
  if (is_startable(group, member))
    startable.insert(member.index);
  else
    startable.erase(member.index);
}

PhaseCounts count_phases(const Role& role) {
  PhaseCounts counts;
  for (const Member& member : role.members) {
    ++counts.all[static_cast<std::size_t>(member.phase)];
    if (member.required) {
      ++counts.required;
      ++counts.of_required[static_cast<std::size_t>(member.phase)];
    }
  }
  return counts;
}

std::uint32_t count_claims_not_ready(const State& state, const Group& group) {
  std::uint32_t count = 0;
  for (const auto& [key, claim] : group.claims) {
    if (claim.phase != ClaimPhase::Ready && counts_for_barrier(group, key)) ++count;
  }
  if (is_terminal(group.head.phase)) return count;  // no longer a user of standalone ones
  for (const ClaimSpec& spec : group.spec->claims) {
    if (spec.kind != ClaimKind::Standalone) continue;
    const auto found = state.claims.find(spec.name);
    if (found == state.claims.end() || found->second.phase != ClaimPhase::Ready) ++count;
  }
  return count;
}

std::uint32_t count_claims_owed(const Group& group) {
  return static_cast<std::uint32_t>(std::count_if(group.claims.begin(), group.claims.end(), [](const auto& entry) {
    return entry.second.phase == ClaimPhase::Provisioning || entry.second.phase == ClaimPhase::Releasing;
  }));
}

GroupClocks clocks_of(const Group& group) {
  const GroupHead& head = group.head;
  // A group that still owes the release of a claim is not forgotten: its ttl waits.
  const Time ttl = group.claims_owed == 0 ? head.ttl_deadline : Time{};
  return {head.pend_deadline, head.reserve_deadline, head.start_deadline,
          head.run_deadline,  head.backoff_deadline, ttl};
}

void move_timer(State& state, const Group& group, TimerKind kind, const MemberKey& key, Time before, Time after) {
  if (before == after || !state.indexes.kept) return;
  if (before) state.indexes.timers.erase(TimerKey{before, group.head.id, kind, key});
  if (after) state.indexes.timers.insert(TimerKey{after, group.head.id, kind, key});
}

void for_each_timer(const Group& group, const std::function<void(const TimerKey&)>& visit) {
  const GroupClocks clocks = clocks_of(group);
  for (std::size_t i = 0; i < clocks.size(); ++i) visit_deadline(visit, group, kGroupClockKinds[i], clocks[i]);
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    visit_deadline(visit, group, TimerKind::Resize, group.roles[role].head.resize_deadline, {role, kNoMember});
  }
}

void for_each_timer(const Group& group, const MemberKey& key, const Member& member,
                    const std::function<void(const TimerKey&)>& visit) {
  visit_deadline(visit, group, TimerKind::Recover, member.recover_deadline, key);
  visit_deadline(visit, group, TimerKind::Stop, member.stop_deadline, key);
}

void index_group(State& state, const Group& group) {
  ++state.indexes.groups_in[static_cast<std::size_t>(group.head.phase)];
  if (!state.indexes.kept) return;
  state.indexes.names.emplace(group.head.identity.name, group.head.id);
  for_each_timer(group, [&](const TimerKey& timer) { state.indexes.timers.insert(timer); });
}

void forget_group(State& state, const Group& group) {
  --state.indexes.groups_in[static_cast<std::size_t>(group.head.phase)];
  if (!state.indexes.kept) return;
  state.indexes.names.erase({group.head.identity.name, group.head.id});
  for_each_timer(group, [&](const TimerKey& timer) { state.indexes.timers.erase(timer); });
}

void reindex(State& state, Group& group) {
  if (!state.indexes.kept) return;
  Indexed& at = group.indexed;
  const bool owing = owes(group);
  if (owing != at.owing) {
    if (owing)
      state.indexes.owing.insert(group.head.id);
    else
      state.indexes.owing.erase(group.head.id);
    at.owing = owing;
  }
  const bool recovers = has_lost_a_member(group);
  const OrderKey order{!recovers, -std::int64_t{group.spec->priority}, group.head.order, group.head.id};
  std::shared_ptr<const WaitShape> waits_as;
  if (group.head.phase == GroupPhase::Pending) {
    const auto place = state.indexes.pending.try_emplace(shape_of(state, group)).first;
    const bool same = at.waits_as != nullptr && *at.waits_as == place->first;
    waits_as = same ? at.waits_as : std::make_shared<const WaitShape>(place->first);
  }
  if (at.waits_as != nullptr && (at.waits_as != waits_as || order != at.order)) {
    const auto place = state.indexes.pending.find(*at.waits_as);
    place->second.erase(at.order);
    if (place->second.empty() && at.waits_as != waits_as) state.indexes.pending.erase(place);
  }
  if (waits_as != nullptr) state.indexes.pending.at(*waits_as).insert(order);
  at.waits_as = std::move(waits_as);

  const bool on = recovers || is_to_grow(group) || group.head.phase == GroupPhase::Reserving;
  if (at.goes_on && (!on || order != at.order)) state.indexes.goes_on.erase(at.order);
  if (on) state.indexes.goes_on.insert(order);
  at.goes_on = on;
  at.order = order;

  const bool evictable = may_be_evicted(group);
  if (evictable == at.preemptible) return;
  at.preemptible = evictable;
  auto& groups = state.indexes.preemptible[group.spec->priority];
  if (evictable)
    groups.insert(group.head.id);
  else
    groups.erase(group.head.id);
  if (groups.empty()) state.indexes.preemptible.erase(group.spec->priority);
}

}  // namespace lockstep::derived

namespace lockstep {

namespace {

void rebuild_group(State& state, Group& group) {
  SpecEntry& entry = state.specs.at(group.head.spec);
  ++entry.users;
  group.spec = entry.spec;
  group.requests = entry.requests;
  group.claims_not_ready = derived::count_claims_not_ready(state, group);
  group.claims_owed = derived::count_claims_owed(group);
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    Role& each = group.roles[role];
    each.counts = derived::count_phases(each);
    each.startable.clear();
    for (std::uint32_t index = 0; index < each.members.size(); ++index) {
      derived::index_startable(group, {role, index});
      derived::hold(state, group, role, each.members[index].hosts);
    }
    for (const Spare& spare : each.spares) derived::hold(state, group, role, spare.hosts);
  }
  derived::index_group(state, group);
  if (is_terminal(group.head.phase)) return;
  for (const ClaimSpec& claim : group.spec->claims) {
    if (claim.kind == ClaimKind::Standalone) state.indexes.standalone_users[claim.name].insert(group.head.id);
  }
}

}  // namespace

// Of one group, what index_group() leaves out: the clocks of its members, and where it waits.
void index_members(State& state, Group& group) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const auto& members = group.roles[role].members;
    for (std::uint32_t index = 0; index < members.size(); ++index) {
      derived::for_each_timer(group, {role, index}, members[index],
                              [&](const TimerKey& timer) { state.indexes.timers.insert(timer); });
    }
  }
  group.indexed = {};
  derived::reindex(state, group);
}

IndexesOff::IndexesOff(State& state) : state_(state) { state_.indexes.kept = false; }

IndexesOff::~IndexesOff() {
  Indexes& indexes = state_.indexes;
  indexes.kept = true;
  indexes.timers.clear();
  indexes.pending.clear();
  indexes.goes_on.clear();
  indexes.preemptible.clear();
  indexes.names.clear();
  indexes.owing.clear();
  indexes.groups_in = {};
  state_.groups.for_each([&](Group& group) {
    derived::index_group(state_, group);
    index_members(state_, group);
  });
}

void rebuild_derived(State& state) {
  state.indexes = {};
  state.resources.clear();
  state.resource_ids.clear();
  state.used.clear();
  state.hosts.for_each([&](Host& host) {
    host.used.clear();
    host.groups.clear();
    derived::measure(state, host);
    state.indexes.hosts_by_name.emplace(host.facts.info.name, host.facts.id);
  });
  for (const auto& [name, pool] : state.pools) (void)derived::intern(state, name);
  for (auto& [hash, entry] : state.specs) {
    entry.users = 0;
    entry.requests.reset();
    derived::spec_entry(state, hash, entry.spec);
  }
  state.groups.for_each([&](Group& group) {
    rebuild_group(state, group);
    index_members(state, group);
  });
  state.sum = compute_sum(state);
}

}  // namespace lockstep
