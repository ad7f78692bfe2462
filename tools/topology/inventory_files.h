#pragma once
// The hosts of a cluster from all files that somebody gives for it: native Inventories, topologies of other systems, or
// an Inventory that says what hosts have with a topology that says where they are. The one way in for everybody who
// takes such files.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/topology/topology.h"

namespace lockstep {

// Whether the text is about hosts, whatever else may be wrong with it. Manifests of groups are not, nor are scripts.
[[nodiscard]] bool describes_hosts(std::string_view text);

// As read_topology(), of texts of all kinds. One Inventory at most.
[[nodiscard]] TopologyResult read_inventory_files(const std::vector<std::pair<std::string, std::string>>& files);

// What makes a controller know these hosts, in this order: levels, pools, hosts. What it knows already stays as it is.
[[nodiscard]] std::vector<CommandBody> commands_of(const InventoryResult& inventory);

}  // namespace lockstep
