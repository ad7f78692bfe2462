#include "tests/peers/volcano_network_cluster.h"

#include <algorithm>

namespace lockstep {
namespace {

// The last HyperNode comes first in the order of paths, so that this order alone never gives what Volcano expects.
std::string path_piece(const std::string& hyper_node) {
  return std::string(1, static_cast<char>('z' - (hyper_node.back() - '0'))) + "." + hyper_node;
}

}  // namespace

HyperNodeTree::HyperNodeTree(const Json& inputs) {
  for (const auto& [tier, names] : lockstep::at(inputs, "HyperNodesSetByTier").items()) {
    for (const Json& name : names) {
      const Json& nodes = lockstep::at(inputs, "HyperNodes", name.get<std::string>());
      tiers_[std::stoull(tier)].emplace_back(name, nodes.get<std::vector<std::string>>());
    }
  }
}

const HyperNodeTree::HyperNode* HyperNodeTree::above(std::uint64_t tier, const std::string& node) const {
  const auto& hyper_nodes = tiers_.at(tier);
  const auto found = std::ranges::find_if(
      hyper_nodes, [&](const HyperNode& each) { return std::ranges::find(each.second, node) != each.second.end(); });
  return found == hyper_nodes.end() ? nullptr : &*found;
}

std::string HyperNodeTree::levels() const {
  std::string names;
  for (const auto& [tier, hyper_nodes] : tiers_) names.insert(0, level_of_tier(tier) + " ");
  return names;
}

// A HyperNode that lies in none of the tier above it stands for itself there.
std::string HyperNodeTree::at(const std::string& node) const {
  std::string path;
  std::string piece;
  for (const auto& [tier, hyper_nodes] : tiers_) {
    if (const HyperNode* hyper_node = above(tier, node)) piece = path_piece(hyper_node->first);
    path.insert(0, path.empty() ? piece : piece + "/");
  }
  return path;
}

std::vector<std::string> HyperNodeTree::nodes_of_domain(std::uint64_t tier, const std::string& node) const {
  if (!node.empty()) return above(tier, node)->second;
  return std::ranges::min(tiers_.at(tier), {}, [&](const HyperNode& each) { return at(each.second.front()); }).second;
}

std::string level_of_tier(std::uint64_t tier) { return "tier" + std::to_string(tier); }

std::string volcano_counters(const Json& amounts, const std::string& separator) {
  std::string text;
  for (const auto& [name, amount] : amounts.items()) {
    if (name == "pods") continue;  // never what is short
    text += (text.empty() ? "" : separator) + (name == "memory" ? "mem" : name.substr(name.rfind('/') + 1)) + "=" +
            amount.get<std::string>();
  }
  return text;
}

}  // namespace lockstep
