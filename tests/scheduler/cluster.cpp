#include "tests/scheduler/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

namespace lockstep::testing {

TaskTerm term(std::uint32_t count, const Amounts& requests, const Attributes& select) {
  TaskTerm term;
  term.count = count;
  for (const auto& [name, amount] : requests) term.requests.push_back({name, amount});
  for (const auto& [key, value] : select) term.select.push_back({key, value});
  std::sort(term.requests.begin(), term.requests.end());
  std::sort(term.select.begin(), term.select.end());
  return term;
}

TaskTerm on_one_host(TaskTerm term) {
  term.span_hosts = 1;
  return term;
}

TaskTerm tiled(TaskTerm term, std::uint32_t ptile) {
  term.span_ptile = ptile;
  return term;
}

RoleSpec role(const std::string& name, std::uint32_t replicas, std::vector<TaskTerm> tasks) {
  RoleSpec role;
  role.name = name;
  role.replicas = role.min = role.max = replicas;
  role.tasks = std::move(tasks);
  return role;
}

RoleSpec role(const std::string& name, std::uint32_t replicas, const Amounts& requests) {
  return role(name, replicas, std::vector<TaskTerm>{term(1, requests)});
}

RoleSpec within(RoleSpec role, const std::string& level) {
  role.topology.required = level;
  return role;
}

GroupSpec spec(std::vector<RoleSpec> roles, const std::string& required) {
  GroupSpec spec;
  spec.roles = std::move(roles);
  spec.topology.required = required;
  return spec;
}

Cluster& Cluster::levels(std::vector<std::string> names) {
  state_.head.levels = std::move(names);
  return *this;
}

Cluster& Cluster::host(const std::string& name, const std::string& at, const Amounts& counters,
                       const Attributes& attributes) {
  const HostId id{++state_.head.host_last.value};
  Host& host = state_.hosts.insert(id);
  host.facts.id = id;
  HostInfo& info = host.facts.info;
  info.name = name;
  for (const auto& [counter, amount] : counters) info.counters.push_back({counter, amount});
  for (const auto& [key, value] : attributes) info.attributes.push_back({key, value});
  std::sort(info.counters.begin(), info.counters.end());
  std::sort(info.attributes.begin(), info.attributes.end());
  for (std::size_t first = 0; first < at.size();) {
    const std::size_t slash = std::min(at.find('/', first), at.size());
    info.at.push_back(at.substr(first, slash - first));
    first = slash + 1;
  }
  return *this;
}

Cluster& Cluster::hosts(std::uint32_t count, const std::string& prefix, const std::string& at,
                        const Amounts& counters) {
  for (std::uint32_t i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    host(prefix + std::string(3 - std::min<std::size_t>(3, number.size()), '0') + number, at, counters);
  }
  return *this;
}

Cluster& Cluster::pool(const std::string& name, std::int64_t total) {
  state_.pools[name].total = total;
  return *this;
}

HostInfo& Cluster::host_named(const std::string& name) {
  HostInfo* found = nullptr;
  state_.hosts.for_each([&](Host& host) {
    if (host.facts.info.name == name) found = &host.facts.info;
  });
  return *found;
}

Cluster& Cluster::down(const std::string& host) {
  host_named(host).down = true;
  return *this;
}

Cluster& Cluster::drained(const std::string& host) {
  host_named(host).drained = true;
  return *this;
}

Cluster& Cluster::at(Time time) {
  state_.head.time = time;
  return *this;
}

GroupId Cluster::add_group(const GroupSpec& spec, GroupPhase phase) {
  const GroupId id{++state_.head.group_last.value};
  Group& group = state_.groups.insert(id);
  group.head.id = id;
  group.head.identity.name = "g" + std::to_string(id.value);
  group.head.spec = content_hash(spec);
  group.head.phase = phase;
  group.head.order = Seq{++state_.head.seq.value};
  state_.specs[group.head.spec].spec = std::make_shared<const GroupSpec>(spec);
  group.roles.resize(spec.roles.size());
  for (RoleIndex role = 0; role < spec.roles.size(); ++role) {
    group.roles[role].head.wanted = spec.roles[role].replicas;
    group.roles[role].members.resize(spec.roles[role].replicas);
    for (Member& member : group.roles[role].members) member.phase = MemberPhase::Waiting;
  }
  return id;
}

namespace {

void give_hosts(Group& group, const std::vector<MemberPlacement>& members, MemberPhase phase) {
  for (const MemberPlacement& placement : members) {
    auto& all = group.roles.at(placement.member.role).members;
    if (all.size() <= placement.member.index) all.resize(placement.member.index + 1);
    Member& member = all[placement.member.index];
    member.phase = phase;
    member.required = true;
    member.hosts = placement.slices;
  }
}

void give_spares(Group& group, const std::vector<SparePlacement>& spares) {
  for (const SparePlacement& spare : spares) group.roles.at(spare.role).spares.push_back({spare.slices});
}

}  // namespace

GroupId Cluster::pending(const GroupSpec& spec) { return add_group(spec, GroupPhase::Pending); }

GroupId Cluster::running(const GroupSpec& spec) {
  const Fit found = fit(state(), spec, demand_of(spec), Capacity::Free);
  EXPECT_TRUE(found.fits);
  const GroupId id = add_group(spec, GroupPhase::Running);
  group(id).head.domain = found.domain;
  give_hosts(group(id), found.members, MemberPhase::Running);
  give_spares(group(id), found.spares);
  return id;
}

void Cluster::lose(GroupId id, RoleIndex role, std::uint32_t index) {
  Member& member = group(id).roles.at(role).members.at(index);
  member.phase = MemberPhase::Waiting;
  member.hosts.clear();
  group(id).head.phase = GroupPhase::Recovering;
}

void Cluster::ask_resize(GroupId id, RoleIndex role, std::uint32_t replicas) {
  RoleHead& head = group(id).roles.at(role).head;
  head.resize_pending = true;
  head.resize_to = replicas;
}

GroupId Cluster::reserving(const GroupSpec& spec, const std::string& domain, const std::vector<std::string>& hosts) {
  const GroupId id = add_group(spec, GroupPhase::Reserving);
  group(id).head.domain = domain;
  for (std::uint32_t index = 0; index < hosts.size(); ++index) {
    if (hosts[index].empty()) continue;
    Member& member = group(id).roles[0].members.at(index);
    member.phase = MemberPhase::Reserved;
    member.hosts = {{.host = HostId{}, .term = 0, .count = 1}};
    state_.hosts.for_each([&](const Host& host) {
      if (host.facts.info.name == hosts[index]) member.hosts[0].host = host.facts.id;
    });
  }
  return id;
}

void Cluster::started(GroupId id, Time at) {
  for (Role& role : group(id).roles) {
    for (Member& member : role.members) member.started_at = at;
  }
}

void Cluster::stop(GroupId id) {
  Group& stopping = group(id);
  const bool backoff = stopping.head.phase == GroupPhase::Backoff;
  stopping.head.phase = GroupPhase::Stopping;
  stopping.head.next = StopNext::Requeue;
  stopping.head.keep_hosts = false;
  for (Role& role : stopping.roles) {
    role.spares.clear();
    for (Member& member : role.members) {
      if (is_live(member.phase) || (backoff && !member.hosts.empty())) member.phase = MemberPhase::Stopping;
    }
  }
}

void Cluster::gone(GroupId id) {
  for (Role& role : group(id).roles) {
    for (Member& member : role.members) {
      if (member.phase != MemberPhase::Stopping) continue;
      member.phase = MemberPhase::Stopped;
      member.hosts.clear();
    }
  }
  if (group(id).head.phase == GroupPhase::Stopping) group(id).head.phase = GroupPhase::Cancelled;
}

State& Cluster::state() {
  rebuild_derived(state_);
  return state_;
}

namespace {

void give_up_reservation(Group& group) {
  for (Role& role : group.roles) {
    for (Member& member : role.members) {
      if (member.phase != MemberPhase::Reserved) continue;
      member.phase = MemberPhase::Waiting;
      member.hosts.clear();
    }
  }
  group.head.domain.clear();
  group.head.projected = {};
  group.head.victims.clear();
}

}  // namespace

void Cluster::reserve(const ReserveAction& action, const Plan& plan) {
  Group& here = group(action.group);
  if (here.head.phase == GroupPhase::Pending) {
    here.head.phase = GroupPhase::Reserving;
    here.head.domain = action.domain;
    for (const PlanAction& other : plan.actions) {
      const auto* evict = std::get_if<EvictAction>(&other);
      if (evict != nullptr && evict->by == action.group) here.head.victims.push_back(evict->group);
    }
  }
  here.head.projected = action.projected;
  for (const MemberKey& key : action.lost) {
    Member& member = here.roles.at(key.role).members.at(key.index);
    EXPECT_EQ(member.phase, MemberPhase::Reserved);
    member.phase = MemberPhase::Waiting;
    member.hosts.clear();
  }
  for (const MemberPlacement& each : action.members) {
    Member& member = here.roles.at(each.member.role).members.at(each.member.index);
    EXPECT_TRUE(member.hosts.empty()) << "an extension adds members";
    member.phase = MemberPhase::Reserved;
    member.hosts = each.slices;
  }
}

void Cluster::carry_out(const Plan& plan) {
  for (const PlanAction& action : plan.actions) {
    if (const auto* place = std::get_if<PlaceAction>(&action)) {
      Group& placed = group(place->group);
      give_up_reservation(placed);
      placed.head.phase = GroupPhase::Placed;
      placed.head.domain = place->domain;
      give_hosts(placed, place->members, MemberPhase::Placed);
      give_spares(placed, place->spares);
    } else if (const auto* replace = std::get_if<ReplaceAction>(&action)) {
      give_hosts(group(replace->group), replace->members, MemberPhase::Placed);
    } else if (const auto* grow = std::get_if<GrowAction>(&action)) {
      give_hosts(group(grow->group), grow->members, MemberPhase::Placed);
      group(grow->group).roles.at(grow->role).head.resize_pending = false;
    } else if (const auto* reserve_it = std::get_if<ReserveAction>(&action)) {
      reserve(*reserve_it, plan);
    } else if (const auto* release = std::get_if<ReleaseAction>(&action)) {
      give_up_reservation(group(release->group));
      group(release->group).head.phase = GroupPhase::Pending;
      group(release->group).head.order = Seq{++state_.head.seq.value};
    } else if (const auto* evict = std::get_if<EvictAction>(&action)) {
      if (evict->members.empty()) stop(evict->group);
      for (const MemberKey& key : evict->members) {
        Member& member = group(evict->group).roles.at(key.role).members.at(key.index);
        member.required = false;
        member.phase = MemberPhase::Stopping;
      }
    }
  }
  ++state_.head.seq.value;
}

std::vector<RoleDemand> demand_of(const GroupSpec& spec) {
  std::vector<RoleDemand> demand;
  for (RoleIndex role = 0; role < spec.roles.size(); ++role) {
    RoleDemand each{role, {}, spec.roles[role].spares, {}};
    for (std::uint32_t index = 0; index < spec.roles[role].replicas; ++index) each.indexes.push_back(index);
    demand.push_back(std::move(each));
  }
  return demand;
}

Fit fit_now(Cluster& cluster, const GroupSpec& spec) {
  return fit(cluster.state(), spec, demand_of(spec), Capacity::Free);
}

namespace {

std::string shown_hosts(const State& state, const std::vector<Slice>& slices, bool fully) {
  std::string text;
  std::string last;
  for (const Slice& slice : slices) {
    const std::string& host = state.host(slice.host)->facts.info.name;
    if (fully)
      text += " " + host + "(" + std::to_string(slice.term) + "x" + std::to_string(slice.count) + ")";
    else if (host != last)
      text += " " + host;
    last = host;
  }
  return text;
}

std::string shown_with(const State& state, const GroupSpec& spec, const Fit& fit, bool fully) {
  if (!fit.fits) return "no";
  std::string text;
  const auto add = [&](const std::string& who, const std::vector<Slice>& slices) {
    if (!text.empty()) text += "; ";
    text += who + ":" + shown_hosts(state, slices, fully);
  };
  for (const auto& [member, slices] : fit.members) {
    add(spec.roles[member.role].name + "[" + std::to_string(member.index) + "]", slices);
  }
  for (const auto& [role, slices] : fit.spares) add(spec.roles[role].name + "+", slices);
  return text;
}

}  // namespace

std::string shown(const State& state, const GroupSpec& spec, const Fit& fit) {
  return shown_with(state, spec, fit, false);
}
std::string shown_fully(const State& state, const GroupSpec& spec, const Fit& fit) {
  return shown_with(state, spec, fit, true);
}

namespace {

std::string check_spans(const State& state, const RoleSpec& role, const std::vector<Slice>& slices) {
  std::map<std::uint32_t, std::map<HostId, std::uint32_t>> tasks;
  for (const Slice& slice : slices) {
    if (slice.term >= role.tasks.size() || slice.count == 0) return "a slice of no term or no task";
    if (!tasks[slice.term].emplace(slice.host, slice.count).second) return "two slices of one term on one host";
    for (const KeyValue& wanted : role.tasks[slice.term].select) {
      const auto& attributes = state.host(slice.host)->facts.info.attributes;
      if (std::find(attributes.begin(), attributes.end(), wanted) == attributes.end()) return "select does not hold";
    }
  }
  for (std::uint32_t index = 0; index < role.tasks.size(); ++index) {
    const TaskTerm& term = role.tasks[index];
    std::uint32_t sum = 0;
    std::uint32_t smaller = 0;
    for (const auto& [host, count] : tasks[index]) {
      sum += count;
      if (term.span_ptile != 0 && count > term.span_ptile) return "more tasks than ptile on a host";
      if (term.span_ptile != 0 && count < term.span_ptile) ++smaller;
    }
    if (sum != term.count) return "not all tasks of a member";
    if (smaller > 1) return "two hosts with fewer tasks than ptile";
    if (term.span_hosts == 1 && tasks[index].size() > 1) return "more than one host";
  }
  return {};
}

// The domain of `level` that a host is in; empty: none.
std::string domain_at(const State& state, const HostInfo& host, const std::string& level) {
  if (level == "host") return host.name;
  const auto& levels = state.head.levels;
  const auto depth = static_cast<std::size_t>(std::find(levels.begin(), levels.end(), level) - levels.begin()) + 1;
  return depth > levels.size() || host.at.size() < depth ? std::string{} : domain_path(host.at, depth);
}

class PlacementCheck {
 public:
  PlacementCheck(const State& state, const GroupSpec& spec) : state_(state), spec_(spec) {}

  std::string add(RoleIndex role, const std::vector<Slice>& slices) {
    const RoleSpec& here = spec_.roles[role];
    if (std::string wrong = check_spans(state_, here, slices); !wrong.empty()) return here.name + ": " + wrong;
    for (const Slice& slice : slices) {
      const Host* host = state_.host(slice.host);
      if (!host->usable()) return "a host that is down or drained";
      if (!spec_.topology.required.empty())
        domains_[kNoRole].insert(domain_at(state_, host->facts.info, spec_.topology.required));
      if (!here.topology.required.empty())
        domains_[role].insert(domain_at(state_, host->facts.info, here.topology.required));
      for (const Counter& request : here.tasks[slice.term].requests) {
        const std::int64_t amount = request.amount * slice.count;
        if (is_pool(state_, request.name))
          pools_[request.name] += amount;
        else
          used_[{slice.host, request.name}] += amount;
      }
    }
    return {};
  }

  std::string finish() const {
    for (const auto& [role, domains] : domains_) {
      if (domains.size() > 1 || domains.contains("")) return "more than one domain of a required level";
    }
    for (const auto& [key, amount] : used_) {
      if (amount > host_free(state_, *state_.host(key.first), key.second)) return "more than free of " + key.second;
    }
    for (const auto& [name, amount] : pools_) {
      if (amount > pool_free(state_, name)) return "more than free of pool " + name;
    }
    return {};
  }

 private:
  const State& state_;
  const GroupSpec& spec_;
  std::map<RoleIndex, std::set<std::string>> domains_;  // kNoRole: of the group
  std::map<std::pair<HostId, std::string>, std::int64_t> used_;
  std::map<std::string, std::int64_t> pools_;
};

}  // namespace

std::string check_placement(const State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                            const Fit& fit) {
  std::vector<MemberKey> wanted;
  std::vector<RoleIndex> wanted_spares;
  for (const RoleDemand& each : demand) {
    for (const std::uint32_t index : each.indexes) wanted.push_back({each.role, index});
    wanted_spares.insert(wanted_spares.end(), each.spares, each.role);
  }
  PlacementCheck check(state, spec);
  std::vector<MemberKey> placed;
  std::vector<RoleIndex> placed_spares;
  for (const auto& [member, slices] : fit.members) {
    placed.push_back(member);
    if (std::string wrong = check.add(member.role, slices); !wrong.empty()) return wrong;
  }
  for (const auto& [role, slices] : fit.spares) {
    placed_spares.push_back(role);
    if (std::string wrong = check.add(role, slices); !wrong.empty()) return wrong;
  }
  if (placed != wanted || placed_spares != wanted_spares) return "not the members asked for, by role and index";
  return check.finish();
}

std::uint64_t seed_or(std::uint64_t seed) {
  if (const char* given = std::getenv("LOCKSTEP_SEED")) seed = std::strtoull(given, nullptr, 10);
  std::cout << "LOCKSTEP_SEED=" << seed << std::endl;
  return seed;
}

std::uint64_t count_or(const char* variable, std::uint64_t usual) {
  const char* given = std::getenv(variable);
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

}  // namespace lockstep::testing
