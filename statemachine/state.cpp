#include "statemachine/state.h"

#include <limits>

namespace lockstep {

const Group* State::group_named(std::string_view name) const {
  const auto after = indexes.names.upper_bound({std::string(name), GroupId{std::numeric_limits<std::uint64_t>::max()}});
  if (after == indexes.names.begin()) return nullptr;
  const auto& [found, id] = *std::prev(after);
  return found == name ? groups.find(id) : nullptr;
}

const Host* State::host_named(std::string_view name) const {
  const auto found = indexes.hosts_by_name.find(std::string(name));
  return found == indexes.hosts_by_name.end() ? nullptr : hosts.find(found->second);
}

bool is_pool(const State& state, std::string_view resource) {
  return resource.starts_with("license.") || state.pools.contains(std::string(resource));
}

std::int64_t pool_free(const State& state, std::string_view name) {
  const auto pool = state.pools.find(std::string(name));
  const std::int64_t total = pool == state.pools.end() ? 0 : pool->second.total;
  const auto id = state.resource_ids.find(name);
  const bool unused = id == state.resource_ids.end() || id->second.value >= state.used.size();
  return unused ? total : total - state.used[id->second.value];
}

std::string domain_path(const std::vector<std::string>& at, std::size_t depth) {
  if (depth == 0) return "/";
  std::string path;
  for (std::size_t i = 0; i < depth && i < at.size(); ++i) {
    if (i > 0) path += '/';
    path += at[i];
  }
  return path;
}

namespace {

void add_held(std::map<std::string, std::int64_t>& totals, const State& state, const Group& group, RoleIndex role,
              const std::vector<Slice>& slices) {
  for (const Slice& slice : slices) {
    for (const auto& [resource, amount] : group.requests->at(role).at(slice.term)) {
      totals[state.resources[resource.value]] += amount * static_cast<std::int64_t>(slice.count);
    }
  }
}

}  // namespace

std::vector<Counter> held(const State& state, const Group& group) {
  std::map<std::string, std::int64_t> totals;
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (const Member& member : group.roles[role].members) add_held(totals, state, group, role, member.hosts);
    for (const Spare& spare : group.roles[role].spares) add_held(totals, state, group, role, spare.hosts);
  }
  std::vector<Counter> counters;
  for (const auto& [name, amount] : totals) {
    if (amount != 0) counters.push_back({name, amount});
  }
  return counters;
}

std::int64_t host_free(const State& state, const Host& host, std::string_view resource) {
  const auto id = state.resource_ids.find(resource);
  if (id == state.resource_ids.end()) return 0;
  const std::size_t at = id->second.value;
  const std::int64_t capacity = at < host.capacity.size() ? host.capacity[at] : 0;
  return at < host.used.size() ? capacity - host.used[at] : capacity;
}

}  // namespace lockstep
