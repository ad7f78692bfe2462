#pragma once
// Volcano's HyperNodes in the words of Lockstep: a tier is a level, the HyperNodes that a node is below are its `at`.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/peers/peer.h"

namespace lockstep {

class HyperNodeTree {
 public:
  explicit HyperNodeTree(const Json& inputs);

  [[nodiscard]] bool empty() const { return tiers_.empty(); }
  [[nodiscard]] std::uint64_t lowest() const { return tiers_.begin()->first; }
  [[nodiscard]] std::uint64_t highest() const { return tiers_.rbegin()->first; }
  [[nodiscard]] std::string levels() const;  // widest first
  [[nodiscard]] std::string at(const std::string& node) const;
  // Below the HyperNode of that tier that `node` is below; without a node, below the first in the order of paths.
  [[nodiscard]] std::vector<std::string> nodes_of_domain(std::uint64_t tier, const std::string& node) const;

 private:
  using HyperNode = std::pair<std::string, std::vector<std::string>>;  // its name, the nodes below it
  [[nodiscard]] const HyperNode* above(std::uint64_t tier, const std::string& node) const;

  std::map<std::uint64_t, std::vector<HyperNode>> tiers_;
};

std::string level_of_tier(std::uint64_t tier);
// "cpu=2 mem=4Gi" of what a node has or a pod asks for.
std::string volcano_counters(const Json& amounts, const std::string& separator = " ");

}  // namespace lockstep
