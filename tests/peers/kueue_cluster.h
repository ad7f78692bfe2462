#pragma once
// Kueue's nodes in the words of Lockstep: a node is a host, the labels of the levels are its `at`, its other labels are
// attributes, what it can allocate are counters, and "pods" is one of them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/peers/peer.h"

namespace lockstep {

using KueuePath = std::vector<std::string>;  // names of domains, widest first
using KueueDomains = std::map<KueuePath, std::uint64_t>;

std::string kueue_name(
    std::string_view label);  // "cloud.com/topology-rack" -> "rack", "kubernetes.io/hostname" -> "host"

// Kueue's tests write objects as calls of builders, [name, argument, ...]: the arguments of all calls of that name.
std::vector<Json> arguments_of(const Json& object, std::string_view call);

// "cpu=1000m:gpu=1"; numbers, those of cpu in thousandths, are times `times`; a number 0 asks for nothing.
std::string counters_text(const Json& amounts, std::string_view separator, std::uint64_t times = 1);

struct KueueNode {
  std::string name;  // of the host
  KueuePath path;    // as deep as the levels of the case go
  std::string at;
  std::map<std::string, std::string> attributes;
  Json json;  // as the table has it
};

class KueueCluster {
 public:
  explicit KueueCluster(const Json& inputs);

  [[nodiscard]] const std::vector<KueueNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::string>& levels() const { return levels_; }
  [[nodiscard]] const KueueNode* find(const std::string& name) const;  // by either of its names
  [[nodiscard]] std::size_t depth_of(std::string_view level) const;    // levels().size(): there is no such level
  // Of an assignment, whose values name all levels, or the host alone.
  [[nodiscard]] KueueDomains domains_of(const Json& assignment) const;

  void tell_levels(Story& story) const;
  // With those counters instead of what it can allocate.
  static void tell_host(Story& story, const KueueNode& node, const std::string& counters);
  void tell_hosts(Story& story) const;
  // The pods that use nodes already, each a group that is there. True: some hold something.
  bool tell_usage(Story& story, const Json& inputs) const;
  // A host with these labels is down or drained.
  [[nodiscard]] bool any_out(const Json& labels) const;

 private:
  std::vector<std::string> levels_;
  std::vector<KueueNode> nodes_;
};

}  // namespace lockstep
