#pragma once
// What readers of other systems' manifests share: the list of what could not be carried, Kubernetes quantities, and
// what Lockstep takes from a pod template. For this folder and tools/topology.
//
// Two kinds of "no" are kept apart. A field that Lockstep has no use for is named in a line ("..., not carried") and
// the group is made without it. A field that would change which members run, or what ends the group, is a Problem: the
// manifest is refused rather than run as something else.

#include <string>
#include <string_view>
#include <vector>

#include "tools/manifest/yaml.h"

namespace lockstep {

inline constexpr std::size_t kNotCarriedMax = 1'000;

// Of all documents of a text.
class NotCarried {
 public:
  // "path: why, not carried"
  void add(const Value& value, std::string_view why = {});
  // "path: line"
  void add_line(const Value& value, std::string_view line);
  // Every key that has a value and was not asked for.
  void add_rest(MapReader& map);
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

// "1.5", "500m", "2e3", "64Gi" in units of 1/`scale`, rounded up as Kubernetes does it.
[[nodiscard]] Result<std::int64_t> parse_kubernetes_quantity(std::string_view text, std::int64_t scale);

// "cloud.provider.com/topology-rack": topology-rack, as levels are named here.
[[nodiscard]] std::string_view level_of_label(std::string_view label);
// The name of a topology level, as annotations give it; a problem, and `level` left alone, when it cannot be one.
void read_level(const Value& value, std::string& level);

// The counter that stands for a resource: cpu, mem, gpu; all others keep their names.
[[nodiscard]] std::string_view counter_of_resource(std::string_view resource);

struct Pod {
  TaskTerm task{};                   // what all containers ask for together; select is the nodeSelector
  Topology topology{};               // of Kueue's annotations
  std::vector<std::string> command;  // of the first container, with its args
  std::vector<KeyValue> env;
  std::string container;         // name of the first container
  std::int64_t grace_seconds{};  // terminationGracePeriodSeconds; 0 = not said
};

// `value` is a PodTemplateSpec: metadata and spec.
void read_pod_template(const Value& value, NotCarried& not_carried, Pod& pod);

}  // namespace lockstep
