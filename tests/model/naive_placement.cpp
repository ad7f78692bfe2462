// Plans: the hosts are the product's choice; that they may be used is checked here, and the books are kept.
#include <fmt/format.h>

#include <algorithm>

#include "tests/model/naive_model.h"

namespace lockstep::model {
namespace {

std::string domain_at(const HostInfo& info, std::size_t depth) {
  std::string path;
  for (std::size_t i = 0; i < depth; ++i) path += (i == 0 ? "" : "/") + info.at[i];
  return path;
}

bool has_attribute(const HostInfo& info, const KeyValue& wanted) {
  return std::find(info.attributes.begin(), info.attributes.end(), wanted) != info.attributes.end();
}

std::int64_t amount_of(const HostInfo& info, const std::string& counter) {
  for (const Counter& has : info.counters) {
    if (has.name == counter) return has.amount;
  }
  return 0;
}

}  // namespace

bool NaiveModel::complain(bool wrong, const std::string& what) {
  if (wrong && complaint_.empty()) complaint_ = "not legal: " + what;
  return wrong;
}

bool NaiveModel::usable(const Slices& slices) const {
  return std::all_of(slices.begin(), slices.end(), [&](const Slice& slice) {
    const auto host = hosts.find(slice.host);
    return host != hosts.end() && !host->second.info.down && !host->second.info.drained;
  });
}

bool NaiveModel::inside(HostId host, const std::string& domain) const {
  if (domain == "/") return true;
  const HostInfo& info = hosts.at(host).info;
  for (std::size_t depth = 1; depth <= std::min(info.at.size(), levels.size()); ++depth) {
    if (domain_at(info, depth) == domain) return true;
  }
  return false;
}

// Every task of every term has a host that is up and may take it.
void NaiveModel::check_slices(const Group& group, RoleIndex role, const Slices& slices, const std::string& domain) {
  if (complain(slices.empty(), "no hosts") || complain(!usable(slices), "a host is not usable")) return;
  const std::vector<TaskTerm>& terms = group.spec.roles[role].tasks;
  for (std::uint32_t i = 0; i < terms.size(); ++i) {
    std::map<HostId, std::uint32_t> tasks;
    for (const Slice& slice : slices) {
      if (complain(slice.term >= terms.size(), "no such term")) return;
      if (slice.term == i) tasks[slice.host] += slice.count;
    }
    std::uint32_t count = 0;
    std::uint32_t short_hosts = 0;
    for (const auto& [host, here] : tasks) {
      count += here;
      for (const Counter& counter : terms[i].requests) touched_.emplace(host, counter.name);
      if (here < terms[i].span_ptile) ++short_hosts;
      complain(terms[i].span_ptile != 0 && here > terms[i].span_ptile, "more tasks on a host than ptile");
      complain(!inside(host, domain), "a host outside the domain " + domain);
      for (const KeyValue& wanted : terms[i].select)
        complain(!has_attribute(hosts.at(host).info, wanted), "a host that was not selected");
    }
    complain(count != terms[i].count, "not every task has a host");
    complain(short_hosts > 1, "more than one host with fewer tasks than ptile");
    complain(terms[i].span_hosts == 1 && tasks.size() != 1, "tasks that belong on one host are not");
  }
}

// After the whole plan: no host that it used holds more than it has, nor does a pool.
void NaiveModel::check_room() {
  const auto sums = used();
  std::map<std::string, std::int64_t> over_all;
  const auto is_pool = [&](const std::string& name) { return pools.contains(name) || name.starts_with("license."); };
  for (const auto& [host, counters] : sums) {
    for (const auto& [name, amount] : counters) {
      over_all[name] += amount;
      if (is_pool(name) || !touched_.contains({host, name})) continue;
      const HostInfo& info = hosts.at(host).info;
      complain(amount > amount_of(info, name), fmt::format("{} holds {} of {}", info.name, amount, name));
    }
  }
  for (const auto& [name, total] : pools)
    complain(over_all[name] > total && !pool_was_over_.contains(name), "pool " + name + " is overdrawn");
}

void NaiveModel::give_run(Member& member, const Slices& on) {
  member.phase = MemberPhase::Placed;
  member.required = true;
  member.kill = member.fenced = false;
  ++member.run;
  member.sequence = 0;
  member.exit_code = 0;
  member.stop_deadline = {};
  member.hosts = on;
}

// ---- plans
// --------------------------------------------------------------------------------------------------------------

AnswerCode NaiveModel::on(const ApplyPlan& command) {
  // A plan is made for a state; only one that something happened since may be refused, and then it does nothing.
  if (choices_.code == AnswerCode::StalePlan) {
    complain(!clock_fired_ && !choices_.plan_is_old, "a fresh plan was refused");
    return AnswerCode::StalePlan;
  }
  touched_.clear();
  pool_was_over_.clear();
  std::map<std::string, std::int64_t> before;
  for (const auto& [host, counters] : used()) {
    for (const auto& [name, amount] : counters) before[name] += amount;
  }
  for (const auto& [name, total] : pools) {
    if (before[name] > total) pool_was_over_.insert(name);
  }
  for (const PlanAction& action : command.plan.actions) {
    std::visit([this](const auto& one) { act(one); }, action);
    if (!complaint_.empty()) break;
  }
  if (complaint_.empty()) check_room();
  return AnswerCode::Done;
}

void NaiveModel::act(const PlaceAction& action) {
  Group* found = find(action.group);
  if (complain(found == nullptr, "place: no such group")) return;
  Group& group = *found;
  if (complain(group.phase != GroupPhase::Pending && group.phase != GroupPhase::Reserving, "place: wrong phase"))
    return;
  for (auto& [key, member] : group.members) {
    member.hosts.clear();
    if (member.phase == MemberPhase::Reserved) member.phase = MemberPhase::Waiting;
    member.required = member.phase == MemberPhase::Succeeded;
  }
  for (NaiveRole& role : group.roles) role.spares.clear();
  group.domain = action.domain;
  if (complain(group.domain.empty(), "place: no domain promised")) return;
  for (const MemberPlacement& placement : action.members) {
    if (complain(placement.member.role >= group.roles.size(), "place: no such role")) return;
    Member& member = group.members[placement.member];
    if (complain(member.phase != MemberPhase::Waiting, "place: a member that does not wait")) return;
    check_slices(group, placement.member.role, placement.slices, group.domain);
    give_run(member, placement.slices);
  }
  for (const SparePlacement& spare : action.spares) {
    check_slices(group, spare.role, spare.slices, group.domain);
    group.roles[spare.role].spares.push_back(spare.slices);
  }
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const std::uint32_t count = required(group, role);
    const RoleSpec& spec = group.spec.roles[role];
    // Whether successes beyond `wanted` count to it is left open.
    const bool successes = std::any_of(group.members.begin(), group.members.end(), [&](const auto& entry) {
      return entry.first.role == role && entry.second.phase == MemberPhase::Succeeded;
    });
    complain(!successes && count > group.roles[role].wanted, "place: more members than wanted");
    complain(count < (group.spec.partial ? spec.min : group.roles[role].wanted), "place: too few members");
    complain(group.roles[role].spares.size() != spec.spares, "place: not every spare");
    check_role_domain(group, role);
  }
  const auto level = std::find(levels.begin(), levels.end(), group.spec.topology.required);
  const auto depth = level == levels.end() ? 0 : level - levels.begin() + 1;
  const auto pieces = group.domain == "/" ? 0 : std::count(group.domain.begin(), group.domain.end(), '/') + 1;
  complain(depth != 0 && depth != pieces, "place: not a domain of the required level");
  enter_placed(group);
}

// All members of a role that has a required level are in one domain of it.
void NaiveModel::check_role_domain(const Group& group, RoleIndex role) {
  const auto level = std::find(levels.begin(), levels.end(), group.spec.roles[role].topology.required);
  if (level == levels.end()) return;
  const auto depth = static_cast<std::size_t>(level - levels.begin()) + 1;
  std::set<std::string> domains;
  for (const auto& [key, member] : group.members) {
    if (key.role != role || !member.required) continue;
    for (const Slice& slice : member.hosts) {
      const HostInfo& info = hosts.at(slice.host).info;
      domains.insert(info.at.size() < depth ? "none" : domain_at(info, depth));
    }
  }
  complain(domains.size() > 1 || domains.contains("none"),
           "role " + std::to_string(role) + " outside one domain of " + group.spec.roles[role].topology.required);
}

void NaiveModel::act(const ReplaceAction& action) {
  Group* found = find(action.group);
  if (complain(found == nullptr, "replace: no such group")) return;
  Group& group = *found;
  if (complain(!is_active(group.phase) || group.satisfied, "replace: wrong phase")) return;
  for (const MemberPlacement& placement : action.members) {
    Member& member = group.members[placement.member];
    if (complain(!member.required || member.phase != MemberPhase::Waiting, "replace: a member that does not wait"))
      return;
    check_slices(group, placement.member.role, placement.slices, group.domain);
    give_run(member, placement.slices);
  }
  settle(group);
}

void NaiveModel::act(const GrowAction& action) {
  Group* found = find(action.group);
  if (complain(found == nullptr || action.role >= found->roles.size(), "grow: no such role")) return;
  Group& group = *found;
  NaiveRole& role = group.roles[action.role];
  if (complain(group.phase != GroupPhase::Running || group.satisfied || !role.resize_to, "grow: not asked for")) return;
  const std::uint32_t target = *role.resize_to;
  if (complain(required(group, action.role) + action.members.size() != target, "grow: not the number asked for"))
    return;
  std::uint32_t index = 0;
  for (const MemberPlacement& placement : action.members) {
    const auto taken = [&](std::uint32_t at) {
      const auto other = group.members.find({action.role, at});
      return other != group.members.end() && (other->second.required || is_live(other->second.phase));
    };
    while (taken(index)) ++index;
    if (complain(placement.member != MemberKey{action.role, index}, "grow: not the lowest free index")) return;
    check_slices(group, action.role, placement.slices, group.domain);
    give_run(group.members[placement.member], placement.slices);
  }
  role.wanted = target;
  role.resize_to.reset();
  role.resize_deadline = {};
  request_claims(group);
  settle(group);
}

// ---- reservations
// ---------------------------------------------------------------------------------------------------------

void NaiveModel::act(const ReserveAction& action) {
  Group* found = find(action.group);
  if (complain(found == nullptr, "reserve: no such group")) return;
  Group& group = *found;
  if (complain(group.phase != GroupPhase::Pending && group.phase != GroupPhase::Reserving, "reserve: wrong phase"))
    return;
  if (group.phase == GroupPhase::Pending) {
    group.phase = GroupPhase::Reserving;
    group.domain = action.domain;
    group.reserve_deadline = deadline(group.spec.timeouts.reserve);
  }
  for (const MemberKey& key : action.lost) {
    group.members[key].hosts.clear();
    group.members[key].phase = MemberPhase::Waiting;
  }
  for (const MemberPlacement& placement : action.members) {
    Member& member = group.members[placement.member];
    if (complain(member.phase != MemberPhase::Waiting, "reserve: a member that does not wait")) return;
    check_slices(group, placement.member.role, placement.slices, group.domain);
    member.phase = MemberPhase::Reserved;
    member.hosts = placement.slices;
  }
  for (const SparePlacement& spare : action.spares) {
    check_slices(group, spare.role, spare.slices, group.domain);
    group.roles[spare.role].spares.push_back(spare.slices);
  }
}

void NaiveModel::act(const ReleaseAction& action) {
  Group* found = find(action.group);
  if (complain(found == nullptr || found->phase != GroupPhase::Reserving, "release: no reservation")) return;
  release_reservation(*found);
}

void NaiveModel::release_reservation(Group& group) {
  group.phase = GroupPhase::Pending;
  group.reserve_deadline = {};
  group.domain.clear();
  for (auto& [key, member] : group.members) {
    if (member.phase == MemberPhase::Reserved) member.phase = MemberPhase::Waiting;
    member.hosts.clear();
  }
  for (NaiveRole& role : group.roles) role.spares.clear();
}

// Reserving with the rest; nothing left, or it could not complete even if empty: Pending.
void NaiveModel::reserved_host_lost(Group& group, HostId host) {
  const auto on_it = [&](const Slices& slices) {
    return std::any_of(slices.begin(), slices.end(), [&](const Slice& slice) { return slice.host == host; });
  };
  bool lost = false;
  bool left = false;
  for (auto& [key, member] : group.members) {
    if (on_it(member.hosts)) {
      lost = true;
      member.hosts.clear();
      member.phase = MemberPhase::Waiting;
    }
    left = left || !member.hosts.empty();
  }
  for (NaiveRole& role : group.roles) {
    const auto gone = std::erase_if(role.spares, on_it);
    lost = lost || gone > 0;
    left = left || !role.spares.empty();
  }
  if ((lost && !left) || choices_.reservations_given_up.contains(group.id)) release_reservation(group);
}

// ---- eviction
// ---------------------------------------------------------------------------------------------------------------

void NaiveModel::act(const EvictAction& action) {
  Group* found = find(action.group);
  Group* by = find(action.by);
  if (complain(found == nullptr || by == nullptr, "evict: no such group")) return;
  Group& group = *found;
  complain(!group.spec.preemptible || group.spec.priority >= by->spec.priority, "evict: not a lower priority");
  if (action.members.empty()) {
    complain(evict(group) != AnswerCode::Done, "evict: the group holds nothing");
    return;
  }
  if (complain(!is_active(group.phase), "evict: wrong phase for single members")) return;
  for (const MemberKey& key : action.members) {
    Member& member = group.members[key];
    complain(!member.required || !is_live(member.phase), "evict: a member that holds nothing");
    member.required = false;
    member.recover_deadline = {};
    ask_to_stop(group, member);
    complain(required(group, key.role) < group.spec.roles[key.role].min, "evict: below min");
  }
  for (NaiveRole& role : group.roles) {
    role.resize_to.reset();
    role.resize_deadline = {};
  }
  settle(group);
}

}  // namespace lockstep::model
