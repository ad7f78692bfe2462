#include "tools/lockstep/view.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "statemachine/capacity.h"
#include "statemachine/digest.h"
#include "statemachine/explain.h"
#include "statemachine/fit.h"
#include "tools/lockstep/names.h"
#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

Json time_json(Time time) { return time ? Json(rfc3339(time)) : Json(nullptr); }

template <class E>
Json enum_json(E value) {
  return std::string(name(value));
}

Json counters_json(const std::vector<Counter>& counters) {
  Json result = Json::object();
  for (const auto& counter : counters) result[counter.name] = amount_json(counter.amount, counter.name);
  return result;
}

Json pairs_json(const std::vector<KeyValue>& pairs) {
  Json result = Json::object();
  for (const auto& pair : pairs) result[pair.key] = pair.value;
  return result;
}

Json role_name_json(const Group& group, RoleIndex role) {
  return role < group.spec->roles.size() ? Json(group.spec->roles[role].name) : Json(nullptr);
}

Json end_json(const Group& group) {
  const End& end = group.head.end;
  if (!is_terminal(group.head.phase)) return nullptr;
  Json result;
  result["code"] = enum_json(end.code);
  result["scope"] = end.scope == Scope::None ? Json(nullptr) : Json(lower_camel(name(end.scope)));
  result["role"] = role_name_json(group, end.role);
  result["member"] = end.member == kNoMember ? Json(nullptr) : Json(end.member);
  const bool by_itself = end.member != kNoMember && (end.exit_code != 0 || end.code == EndCode::Completed);
  result["exitCode"] = by_itself ? Json(end.exit_code) : Json(nullptr);
  return result;
}

Json hosts_of(const State& state, const std::vector<Slice>& slices) {
  Json hosts = Json::array();
  std::set<HostId> seen;
  for (const auto& slice : slices) {
    if (!seen.insert(slice.host).second) continue;
    const Host* host = state.host(slice.host);
    hosts.push_back(host != nullptr ? host->facts.info.name : "#" + std::to_string(slice.host.value));
  }
  return hosts;
}

// Whether it exited by itself, with a code: 0 is a success; what is lost, killed or stopped has none.
bool has_exited(const Member& member) {
  const bool ended = member.phase == MemberPhase::Failed || member.phase == MemberPhase::Stopped;
  return member.phase == MemberPhase::Succeeded || (ended && member.exit_code != 0);
}

Json members_json(const State& state, const Group& group) {
  Json result = Json::array();
  for (RoleIndex r = 0; r < group.roles.size(); ++r) {
    const auto& members = group.roles[r].members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Member& member = members[i];
      Json row;
      row["role"] = role_name_json(group, r);
      row["index"] = i;
      row["phase"] = enum_json(member.phase);
      row["attempt"] = group.head.attempt;
      row["hosts"] = hosts_of(state, member.hosts);
      row["exitCode"] = has_exited(member) ? Json(member.exit_code) : Json(nullptr);
      row["signal"] = member.signal != 0 ? Json(member.signal) : Json(nullptr);
      result.push_back(std::move(row));
    }
  }
  return result;
}

Json spares_json(const State& state, const Group& group) {
  Json result = Json::array();
  for (RoleIndex r = 0; r < group.roles.size(); ++r) {
    for (const Spare& spare : group.roles[r].spares)
      result.push_back({{"role", role_name_json(group, r)}, {"hosts", hosts_of(state, spare.hosts)}});
  }
  return result;
}

Json roles_json(const Group& group) {
  Json result = Json::array();
  for (RoleIndex r = 0; r < group.roles.size(); ++r) {
    const RoleSpec& spec = group.spec->roles[r];
    result.push_back(
        {{"name", spec.name}, {"replicas", group.roles[r].head.wanted}, {"min", spec.min}, {"max", spec.max}});
  }
  return result;
}

void keep_earliest(std::map<TimerKind, Time>& deadlines, TimerKind kind, Time time) {
  if (!time || time == kEndOfTime) return;
  auto [at, added] = deadlines.emplace(kind, time);
  if (!added) at->second = std::min(at->second, time);
}

Json deadlines_json(const Group& group) {
  std::map<TimerKind, Time> deadlines;
  const GroupHead& head = group.head;
  keep_earliest(deadlines, TimerKind::Pend, head.pend_deadline);
  keep_earliest(deadlines, TimerKind::Reserve, head.reserve_deadline);
  keep_earliest(deadlines, TimerKind::Start, head.start_deadline);
  keep_earliest(deadlines, TimerKind::Run, head.run_deadline);
  keep_earliest(deadlines, TimerKind::Backoff, head.backoff_deadline);
  keep_earliest(deadlines, TimerKind::Ttl, head.ttl_deadline);
  for (const auto& role : group.roles) {
    if (role.head.resize_pending) keep_earliest(deadlines, TimerKind::Resize, role.head.resize_deadline);
    for (const auto& member : role.members) {
      keep_earliest(deadlines, TimerKind::Recover, member.recover_deadline);
      keep_earliest(deadlines, TimerKind::Stop, member.stop_deadline);
    }
  }
  Json result = Json::object();
  for (const auto& [kind, time] : deadlines) result[lower_camel(name(kind))] = time_json(time);
  return result;
}

Json claim_json(std::string_view claim, Json role, Json index, ClaimPhase phase) {
  return {{"name", claim}, {"role", std::move(role)}, {"index", std::move(index)}, {"phase", enum_json(phase)}};
}

Json own_claims_json(const Group& group) {
  Json result = Json::array();
  for (const auto& [key, claim] : group.claims) {
    const bool per_member = key.member.index != kNoMember;
    result.push_back(claim_json(group.spec->claims.at(key.claim).name,
                                per_member ? role_name_json(group, key.member.role) : Json(nullptr),
                                per_member ? Json(key.member.index) : Json(nullptr), claim.phase));
  }
  return result;
}

// Standalone ones that the manifest names, then its own.
Json group_claims_json(const State& state, const Group& group) {
  Json result = Json::array();
  for (const auto& spec : group.spec->claims) {
    if (spec.kind != ClaimKind::Standalone) continue;
    const auto found = state.claims.find(spec.name);
    result.push_back(claim_json(spec.name, nullptr, nullptr,
                                found != state.claims.end() ? found->second.phase : ClaimPhase::Wanted));
  }
  for (auto& row : own_claims_json(group)) result.push_back(std::move(row));
  return result;
}

Json standalone_claims_json(const State& state) {
  Json result = Json::array();
  for (const auto& [claim, facts] : state.claims) {
    Json users = Json::array();
    if (const auto found = state.indexes.standalone_users.find(claim); found != state.indexes.standalone_users.end()) {
      for (const GroupId id : found->second) {
        if (const Group* group = state.group(id)) users.push_back(group->head.identity.name);
      }
    }
    result.push_back({{"name", claim}, {"phase", enum_json(facts.phase)}, {"users", std::move(users)}});
  }
  return result;
}

Json pools_json(const State& state) {
  Json result = Json::object();
  for (const auto& [pool, facts] : state.pools) {
    result[pool] = {{"total", amount_json(facts.total, pool)}, {"free", amount_json(pool_free(state, pool), pool)}};
  }
  return result;
}

}  // namespace

// cpu is kept in thousandths of a core; everybody writes cores.
Json amount_json(std::int64_t amount, std::string_view counter) {
  if (counter != "cpu") return amount;
  if (amount % 1000 == 0) return amount / 1000;
  return static_cast<double>(amount) / 1000.0;
}

// All that it wants at once: what a reservation is to come to.
Json wanted_json(const Group& group) {
  std::map<std::string, std::int64_t> total;
  for (const RoleDemand& each : whole_demand(group, group.spec->partial)) {
    const auto members = static_cast<std::int64_t>(each.indexes.size() + each.spares);
    for (const TaskTerm& term : group.spec->roles[each.role].tasks) {
      for (const Counter& request : term.requests) {
        std::int64_t& sum = total[request.name];
        sum = saturating_plus(sum, saturating_times(saturating_times(request.amount, term.count), members));
      }
    }
  }
  Json result = Json::object();
  for (const auto& [counter, amount] : total) result[counter] = amount_json(amount, counter);
  return result;
}

Json reason_json(const State& state, const Group& group) {
  const Reason reason = explain(state, group);
  if (reason.code == ReasonCode::None) return nullptr;
  Json blockers = Json::array();
  for (const GroupId id : reason.blockers) {
    const Group* blocker = state.group(id);
    blockers.push_back(blocker != nullptr ? blocker->head.identity.name : "#" + std::to_string(id.value));
  }
  const bool counted = reason.needed != 0 || reason.free != 0;
  Json result;
  result["code"] = enum_json(reason.code);
  result["role"] = role_name_json(group, reason.role);
  result["resource"] = reason.resource.empty() ? Json(nullptr) : Json(reason.resource);
  result["needed"] = counted ? amount_json(reason.needed, reason.resource) : Json(nullptr);
  result["free"] = counted ? amount_json(reason.free, reason.resource) : Json(nullptr);
  result["domain"] = reason.domain.empty() ? Json(nullptr) : Json(reason.domain);
  result["blockers"] = std::move(blockers);
  result["since"] = time_json(reason.since);
  result["projectedStart"] = time_json(reason.projected_start);
  return result;
}

Json why_json(const State& state, const Group& group) {
  Json why = {{"id", group.head.id.value},
              {"name", group.head.identity.name},
              {"phase", enum_json(group.head.phase)},
              {"reason", reason_json(state, group)},
              {"held", counters_json(held(state, group))},
              {"deadlines", deadlines_json(group)}};
  if (group.head.phase == GroupPhase::Reserving) why["wanted"] = wanted_json(group);
  return why;
}

Json group_json(const State& state, const Group& group, Members members) {
  const GroupHead& head = group.head;
  Json result;
  result["id"] = head.id.value;
  result["name"] = head.identity.name;
  result["user"] = head.identity.user;
  result["queue"] = head.identity.queue;
  result["priority"] = group.spec->priority;
  result["phase"] = enum_json(head.phase);
  result["attempt"] = head.attempt;
  result["charged"] = head.charged;
  result["submitted"] = time_json(head.submitted_at);
  result["reason"] = reason_json(state, group);
  result["end"] = end_json(group);
  result["domain"] = head.domain.empty() ? Json(nullptr) : Json(head.domain);
  result["held"] = counters_json(held(state, group));
  result["deadlines"] = deadlines_json(group);
  result["roles"] = roles_json(group);
  if (members == Members::Show) {
    result["members"] = members_json(state, group);
    if (Json spares = spares_json(state, group); !spares.empty()) result["spares"] = std::move(spares);
  }
  result["claims"] = group_claims_json(state, group);
  return result;
}

Json groups_json(const State& state, Members members) {
  Json result = Json::array();
  state.groups.for_each([&](const Group& group) { result.push_back(group_json(state, group, members)); });
  return result;
}

Json host_json(const State& state, const Host& host) {
  const HostInfo& info = host.facts.info;
  Json free = Json::object();
  for (const auto& counter : info.counters) {
    free[counter.name] = amount_json(host_free(state, host, counter.name), counter.name);
  }
  Json groups = Json::array();
  Json reserved = Json::array();
  for (const auto& [id, slices] : host.groups) {
    const Group* group = state.group(id);
    if (group == nullptr) continue;
    groups.push_back(group->head.identity.name);
    if (group->head.phase == GroupPhase::Reserving) reserved.push_back(group->head.identity.name);
  }
  return {{"name", info.name},
          {"at", domain_path(info.at, info.at.size())},
          {"down", info.down},
          {"drained", info.drained},
          {"attributes", pairs_json(info.attributes)},
          {"capacity", counters_json(info.counters)},
          {"free", std::move(free)},
          {"groups", std::move(groups)},
          {"reserved", std::move(reserved)}};
}

Json hosts_json(const State& state) {
  Json result = Json::array();
  state.hosts.for_each([&](const Host& host) { result.push_back(host_json(state, host)); });
  return result;
}

Json claims_json(const State& state) {
  Json result = Json::array();
  for (auto& row : standalone_claims_json(state)) {
    result.push_back({{"group", nullptr},
                      {"name", row.at("name")},
                      {"role", nullptr},
                      {"index", nullptr},
                      {"phase", row.at("phase")},
                      {"users", row.at("users")}});
  }
  state.groups.for_each([&](const Group& group) {
    for (auto& row : own_claims_json(group)) {
      Json claim = {{"group", group.head.identity.name}};
      claim.update(row);
      claim["users"] = Json::array({group.head.identity.name});
      result.push_back(std::move(claim));
    }
  });
  return result;
}

Json state_json(const State& state) {
  return {{"seq", state.head.seq.value},
          {"epoch", state.head.epoch.value},
          {"time", time_json(state.head.time)},
          {"digest", hex(state.digest())},
          {"groups", groups_json(state, Members::Show)},
          {"hosts", hosts_json(state)},
          {"claims", standalone_claims_json(state)},
          {"pools", pools_json(state)}};
}

Json snapshot_json(const SnapshotInfo& info) {
  return {{"path", info.path.string()},   {"seq", info.head.seq.value}, {"epoch", info.head.epoch.value},
          {"time", time_json(info.time)}, {"digest", hex(info.digest)}, {"digestVersion", info.digest_version},
          {"storeId", info.store_id},     {"groups", info.groups},      {"members", info.members},
          {"hosts", info.hosts},          {"rawBytes", info.raw_bytes}, {"fileBytes", info.file_bytes}};
}

std::optional<GroupId> group_id_in(std::string_view key) {
  const auto mark = key.rfind('#');
  const std::string_view digits = mark == std::string_view::npos ? key : key.substr(mark + 1);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return GroupId{id};
}

const Group* find_group(const State& state, std::string_view key) {
  if (const Group* named = state.group_named(key)) return named;
  const auto id = group_id_in(key);
  if (!id) return nullptr;
  const Group* group = state.group(*id);
  const auto mark = key.rfind('#');
  const bool also_named = mark != std::string_view::npos && mark > 0 && key.substr(0, mark) != "g";
  if (group == nullptr || (also_named && group->head.identity.name != key.substr(0, mark))) return nullptr;
  return group;
}

}  // namespace lockstep::cli
