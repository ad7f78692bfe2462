#pragma once
// What the tests of this folder share: texts as files, places as text, and results whose problems are none.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/manifest/support.h"
#include "tools/topology/topology.h"

namespace lockstep {

using Files = std::vector<std::pair<std::string, std::string>>;

inline TopologyResult read_one(const std::string& name, std::string text) {
  return read_topology(Files{{name, std::move(text)}});
}

// "n1 a/b", one a host.
inline std::vector<std::string> places_of(const InventoryResult& result) {
  std::vector<std::string> places;
  for (const HostInfo& host : result.hosts) {
    std::string text = host.name + " ";
    for (const std::string& name : host.at) text += (text.ends_with(' ') ? "" : "/") + name;
    places.push_back(std::move(text));
  }
  return places;
}

inline std::vector<std::string> names_of(const InventoryResult& result) {
  std::vector<std::string> names;
  for (const HostInfo& host : result.hosts) names.push_back(host.name);
  return names;
}

}  // namespace lockstep
