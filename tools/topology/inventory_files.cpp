#include "tools/topology/inventory_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/manifest/text.h"
#include "tools/manifest/yaml.h"
#include "tools/topology/form.h"
#include "tools/topology/readers.h"

namespace lockstep {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

constexpr std::array<std::string_view, 8> kKindsOfHosts{"Inventory", "Node",          "NodeList", "Topology",
                                                        "HyperNode", "HyperNodeList", "Cluster",  "TopologyList"};

// Of what has no kind: models of topograph, what it is asked and what a discovery is told, which are refused by name.
constexpr std::array<std::string_view, 4> kKeysOfHosts{"switches", "blocks", "networkTopologyDiscovery", "engine"};

// A batch script may begin with NAME=value too.
bool is_script(std::string_view text) {
  if (text.starts_with("#!")) return true;
  const auto has_line = [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      if (at == 0 || text[at - 1] == '\n') return true;
    }
    return false;
  };
  return has_line("#SBATCH") || has_line("#BSUB");
}

bool is_object_of_hosts(const YamlNode& node) {
  const auto has = [&](std::string_view key) { return find_key(node, key) != nullptr; };
  const YamlNode* kind = find_key(node, "kind");
  if (kind == nullptr) return std::any_of(kKeysOfHosts.begin(), kKeysOfHosts.end(), has);
  return std::find(kKindsOfHosts.begin(), kKindsOfHosts.end(), kind->text) != kKindsOfHosts.end();
}

// A document, or what is in its list: not lists in lists, which aliases make endless.
bool is_of_hosts(const YamlNode& node) {
  const YamlNode* items = node.kind == YamlNode::Kind::List ? &node : find_key(node, "items");
  if (is_object_of_hosts(node)) return true;
  return items != nullptr && std::any_of(items->items.begin(), items->items.end(), [](const YamlNode* item) {
           return is_object_of_hosts(*item) || find_key(*item, "topology") != nullptr;
         });
}

// Also one without its kind, or with a wrong one, as its reader will say.
bool is_meant_as_inventory(std::string_view text) {
  if (is_inventory(text)) return true;
  if (is_script(text) || form_of(text) != Form::Yaml) return false;
  const YamlText yaml = parse_yaml(text);
  const auto is_one = [](const YamlNode* node) {
    const YamlNode* kind = find_key(*node, "kind");
    return find_key(*node, "hosts") != nullptr || (kind != nullptr && kind->text == "Inventory");
  };
  return yaml.problems.empty() && std::any_of(yaml.documents.begin(), yaml.documents.end(), is_one);
}

TopologyResult with_file(InventoryResult inventory, const std::string& file) {
  for (Problem& problem : inventory.problems) {
    problem.path = one_line(problem.path.empty() ? file : fmt::format("{}: {}", file, problem.path));
  }
  TopologyResult result;
  static_cast<InventoryResult&>(result) = std::move(inventory);
  return result;
}

}  // namespace

bool describes_hosts(std::string_view text) {
  const Form form = form_of(text);
  if (form == Form::Empty || is_script(without_byte_order_mark(text))) return false;
  if (form != Form::Yaml) return true;
  const YamlText yaml = parse_yaml(text);
  return std::any_of(yaml.documents.begin(), yaml.documents.end(),
                     [](const YamlNode* node) { return is_of_hosts(*node); });
}

TopologyResult read_inventory_files(const Files& files) {
  const std::pair<std::string, std::string>* inventory = nullptr;
  Files topology;
  for (const auto& file : files) {
    if (!is_meant_as_inventory(file.second)) {
      topology.push_back(file);
    } else if (inventory == nullptr) {
      inventory = &file;
    } else {
      TopologyResult result;
      result.problems.push_back(
          {one_line(file.first), fmt::format("is an Inventory, as {} is; give one", one_line(inventory->first))});
      return result;
    }
  }
  if (inventory == nullptr) return read_topology(topology);
  TopologyResult result = with_file(read_inventory(inventory->second), inventory->first);
  return topology.empty() ? result : merge(result, read_topology(topology));
}

std::vector<CommandBody> commands_of(const InventoryResult& inventory) {
  std::vector<CommandBody> commands;
  if (!inventory.levels.empty()) commands.emplace_back(SetLevels{inventory.levels});
  for (const Counter& pool : inventory.pools) commands.emplace_back(SetPool{pool.name, pool.amount});
  for (const HostInfo& host : inventory.hosts) commands.emplace_back(SetHost{host, true});
  return commands;
}

}  // namespace lockstep
