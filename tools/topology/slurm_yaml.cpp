// Slurm's topology.yaml: a list of topologies, of which the cluster's default is read.

#include <fmt/format.h>

#include <optional>

#include "tools/manifest/text.h"
#include "tools/topology/readers.h"

namespace lockstep {
namespace {

constexpr std::size_t kTopologiesMax = 1'000;

void read_list(const Value& value, Hostlists& lists, std::vector<std::string>& names) {
  std::string text;
  if (!value.read_scalar(text) || lists.spent()) return;
  auto expanded = lists.expand(text);
  if (expanded) {
    names = std::move(*expanded);
  } else {
    value.problem(expanded.error().message);
  }
}

void read_switch_item(const Value& item, std::uint32_t file, Draft& draft) {
  SwitchEntry entry;
  LeafEntry leaf;
  entry.where = leaf.where = where_of(item, file);
  MapReader map(item);
  if (const auto name = map.need("switch")) name->read_scalar(entry.name);
  if (const auto children = map.find("children")) read_list(*children, draft.switch_lists, entry.switches);
  if (const auto nodes = map.find("nodes")) read_list(*nodes, draft.host_lists, leaf.hosts);
  map.finish();
  leaf.switch_name = entry.name;
  draft.switches.push_back(std::move(entry));
  if (!leaf.hosts.empty()) draft.leaves.push_back(std::move(leaf));
}

void read_tree(const Value& value, std::uint32_t file, Draft& draft) {
  if (!draft.claim("a tree of switches", where_of(value, file), true)) return;
  MapReader map(value);
  if (const auto switches = map.need("switches")) {
    switches->each(kSwitchesMax, [&](const Value& item) { read_switch_item(item, file, draft); });
  }
  map.finish();
}

void read_block_item(const Value& item, std::uint32_t file, Draft& draft) {
  BlockEntry block;
  block.where = where_of(item, file);
  MapReader map(item);
  if (const auto name = map.need("block")) name->read_scalar(block.name);
  if (const auto nodes = map.find("nodes")) read_list(*nodes, draft.host_lists, block.hosts);
  map.finish();
  draft.blocks.push_back(std::move(block));
}

void read_blocks(const Value& value, std::uint32_t file, Draft& draft) {
  if (!draft.claim("blocks", where_of(value, file), true)) return;
  MapReader map(value);
  if (const auto sizes = map.find("block_sizes")) {
    draft.block_sizes_where = where_of(*sizes, file);
    sizes->each(kLevelsMax, [&](const Value& item) {
      std::int64_t size = 0;
      if (item.read_integer(size, 1, kInventoryHostsMax)) draft.block_sizes.push_back(size);
    });
  }
  if (const auto blocks = map.need("blocks")) {
    blocks->each(kSwitchesMax, [&](const Value& item) { read_block_item(item, file, draft); });
  }
  map.finish();
}

}  // namespace

void read_slurm_yaml(const Value& document, std::uint32_t file, Draft& draft) {
  std::optional<std::size_t> chosen;
  bool is_default = false;
  std::size_t index = 0;
  std::vector<std::string> names;
  document.each(kTopologiesMax, [&](const Value& item) {
    MapReader map(item);
    std::string name;
    bool wants = false;
    if (const auto found = map.need("topology")) found->read_scalar(name);
    map.read("cluster_default", wants);
    if (!chosen || (wants && !is_default)) chosen = index;
    is_default = is_default || wants;
    names.push_back(std::move(name));
    ++index;
  });
  index = 0;
  document.each(kTopologiesMax, [&](const Value& item) {
    const std::size_t here = index++;
    if (here != chosen) {
      draft.findings.not_carried(where_of(item, file), fmt::format("the topology {} ({} is the one that is read)",
                                                                   printable(names[here]), printable(names[*chosen])));
      return;
    }
    MapReader map(item);
    map.ignore("topology");
    map.ignore("cluster_default");
    if (const auto tree = map.find("tree")) read_tree(*tree, file, draft);
    if (const auto blocks = map.find("block")) read_blocks(*blocks, file, draft);
    map.each_other([](std::string_view kind, const Value& value) { value.problem(unsupported_topology(kind)); });
  });
}

}  // namespace lockstep
