#pragma once
// The NodeName lines of slurm.conf: what the hosts have. CPUs, or sockets times cores times threads, are cpu;
// RealMemory is mem; Gres are counters (gpu, and its type as the attribute gpu.type); each feature is an attribute that
// is true, as a bare name in a select[] asks for it. What a line does not say its DEFAULT line may have said. Private
// to tools/topology.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/topology/conf_lines.h"
#include "tools/topology/draft.h"

namespace lockstep {

class SlurmNodes {
 public:
  explicit SlurmNodes(Draft& draft) : draft_(draft) {}
  // A line whose first key is NodeName.
  void read(const std::vector<ConfPair>& pairs, Where where);
  // Licenses=matlab:20,ansys of the whole cluster: pools.
  void read_licenses(std::string_view text, Where where);

 private:
  using Values = std::map<std::string, std::string, std::less<>>;  // keys in lower case

  // Of this line, or else of the DEFAULT lines before it; empty = not said.
  [[nodiscard]] std::string_view value(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const;
  void read_counts(HostInfo& host) const;
  void read_gres(HostInfo& host) const;
  void read_features(std::string_view key, HostInfo& host) const;
  void name_others(const std::vector<ConfPair>& pairs);
  void add_hosts(std::vector<std::string> names, const HostInfo& same);

  Draft& draft_;
  Values line_{};
  Values defaults_{};
  Where where_{};
  std::set<std::string> skipped_{};  // keys that have been named
};

}  // namespace lockstep
