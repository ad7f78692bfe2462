#pragma once
// Descriptions of a cluster that other systems use, as an inventory: Slurm's topology.conf and topology.yaml (trees of
// switches, blocks) and the NodeName lines of slurm.conf; Kueue's Topology, Volcano's HyperNodes, Kubernetes' Nodes and
// the configuration of a kind cluster; topograph's models; CSV of hosts and paths. What a text is, its content tells,
// never its file's name. A domain is its whole path: equal names in different places are different domains.
//
// One topology may be given at a time, in as many files as it takes, and with it those that say what the hosts have.
// Where hosts are described (NodeName lines, Nodes), those are the hosts, and what only the topology names is left out
// and named. A switch or HyperNode that skips a level stands for itself in it, so that leaf switches of an uneven tree
// are all of one level: root/grp23/grp23/leaf350 beside root/im0/grp10/leaf100.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/manifest/manifest.h"

namespace lockstep {

inline constexpr std::size_t kTopologyFilesMax = 1'024;
inline constexpr std::size_t kTopologyBytesMax = 64U << 20U;  // of one file; YAML and JSON at most kManifestBytesMax

// Hosts in the order in which the files name them. Problems are all there at once, each with its file and line
// ("topology.conf:12") or the path of its field ("nodes.yaml: items[3].metadata.name").
struct TopologyResult : InventoryResult {
  std::vector<std::string> not_carried;  // what the files say besides, one line each
};

// Each file is its name, which is for messages alone, and its text.
[[nodiscard]] TopologyResult read_topology(const std::vector<std::pair<std::string, std::string>>& files);

// True for a native Inventory, which read_topology refuses: read_inventory() reads it, and merge() puts it together.
[[nodiscard]] bool is_inventory(std::string_view text);

// The hosts of the inventory, with all that it says of them, in the places and levels of the topology. No place of the
// inventory stays: two topologies do not mix. Hosts that only one of the two has are named in not_carried; when they
// have none in common, that is a problem.
[[nodiscard]] TopologyResult merge(const InventoryResult& inventory, const TopologyResult& topology);

// The native Inventory, as YAML that read_inventory reads back to the same. Hosts that follow one another and differ in
// their name only are one entry.
[[nodiscard]] std::string write_inventory(const InventoryResult& inventory);

}  // namespace lockstep
