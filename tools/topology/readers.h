#pragma once
// One reader for each form of text; `file` is its index among the files. Private to tools/topology.

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/manifest/yaml.h"
#include "tools/topology/draft.h"

namespace lockstep {

// topology.conf, slurm.conf, or both in one.
void read_slurm_conf(std::string_view text, std::uint32_t file, Draft& draft);
// One line that names a kind of Slurm's that is not read.
[[nodiscard]] std::string unsupported_topology(std::string_view kind);
// topology.yaml: a list of topologies.
void read_slurm_yaml(const Value& document, std::uint32_t file, Draft& draft);
// A model: switches and blocks.
void read_topograph(const Value& document, std::uint32_t file, Draft& draft);
// An object with a kind: Node, Topology, HyperNode, lists of them, or the Cluster of kind. False: it is none of these.
bool read_kubernetes(const Value& document, std::uint32_t file, Draft& draft);
void read_hyper_node(const Value& object, std::uint32_t file, Draft& draft);

void read_csv(std::string_view text, std::uint32_t file, Draft& draft);

// The value of one of a map's first keys, without reading the map; null when it is none or has no such key.
[[nodiscard]] const YamlNode* find_key(const YamlNode& map, std::string_view key);
[[nodiscard]] inline Where where_of(const Value& value, std::uint32_t file) { return {file, value.node().line}; }

}  // namespace lockstep
