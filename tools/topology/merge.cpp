// merge(): what one file says of the hosts, and another of where they are.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "tools/topology/findings.h"
#include "tools/topology/topology.h"

namespace lockstep {
namespace {

void add_pools(const std::vector<Counter>& others, std::vector<Counter>& pools) {
  for (const Counter& other : others) {
    const auto is_same = [&](const Counter& pool) { return pool.name == other.name; };
    if (std::none_of(pools.begin(), pools.end(), is_same)) pools.push_back(other);
  }
  std::sort(pools.begin(), pools.end());
}

void add_note(TopologyResult& result, const Sample& hosts, std::string_view what) {
  if (hosts.empty()) return;
  result.not_carried.push_back(fmt::format("{} {}: {}", count_of(hosts.size(), "host"), what, hosts.text()));
}

}  // namespace

TopologyResult merge(const InventoryResult& inventory, const TopologyResult& topology) {
  TopologyResult result;
  result.problems = inventory.problems;
  result.problems.insert(result.problems.end(), topology.problems.begin(), topology.problems.end());
  if (!result.problems.empty()) return result;
  result.levels = topology.levels;
  result.pools = inventory.pools;
  result.hosts = inventory.hosts;
  result.not_carried = topology.not_carried;
  add_pools(topology.pools, result.pools);

  std::unordered_map<std::string_view, const HostInfo*> places;
  for (const HostInfo& host : topology.hosts) places.emplace(host.name, &host);
  Sample all_of_inventory;
  Sample unplaced;
  Sample moved_out;
  for (HostInfo& host : result.hosts) {
    all_of_inventory.add(host.name);
    const auto place = places.find(host.name);
    if (place == places.end()) {
      (host.at.empty() ? unplaced : moved_out).add(host.name);
      host.at.clear();
    } else {
      host.at = place->second->at;
      places.erase(place);
    }
  }
  Sample unknown;
  for (const HostInfo& host : topology.hosts) {
    if (places.contains(host.name)) unknown.add(host.name);
  }
  if (unknown.size() == topology.hosts.size()) {
    result.problems.push_back({"hosts", fmt::format("none of the inventory ({}) is in the topology ({})",
                                                    all_of_inventory.text(), unknown.text())});
  }
  add_note(result, unplaced, "of the inventory without a place in the topology");
  add_note(result, moved_out, "of the inventory that the topology does not have, their place not carried");
  add_note(result, unknown, "of the topology that the inventory does not have, not carried");
  return result;
}

}  // namespace lockstep
