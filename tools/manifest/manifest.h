#pragma once
// Text to plain data: group manifests and inventories (YAML or JSON), hostlists, quantities, durations, compound
// resource requests, and foreign manifests. All problems of a document are reported at once, each with the path of the
// field as its author wrote it (`spec.roles[1].min: 6 is more than replicas 4`).

#include <string>
#include <string_view>
#include <vector>

#include "events/commands.h"
#include "events/error.h"
#include "events/spec.h"

namespace lockstep {

inline constexpr std::size_t kManifestBytesMax = 16U << 20U;
inline constexpr std::size_t kInventoryHostsMax = 1'000'000;

struct ManifestResult {
  std::vector<DefineGroup> groups;       // one per document
  std::vector<Problem> problems;         // not empty: `groups` must not be used
  std::vector<std::string> not_carried;  // of foreign manifests and -R strings: "spec.network: ..., not carried"
};

// Every document of the text: GangGroup, or JobSet, told by `kind`. `default_user` fills metadata.user.
[[nodiscard]] ManifestResult read_manifest(std::string_view text, std::string_view default_user);

struct InventoryResult {
  std::vector<std::string> levels;
  std::vector<Counter> pools;
  std::vector<HostInfo> hosts;  // expanded, in the order written
  std::vector<Problem> problems;
};
[[nodiscard]] InventoryResult read_inventory(std::string_view text);

// The native manifest of a group, as YAML that read_manifest reads back to the same DefineGroup.
[[nodiscard]] std::string write_manifest(const DefineGroup& group);

// "n[001-128,200]" -> names, in order, duplicates refused; at most kInventoryHostsMax.
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view text);
// The shortest hostlist of `names`, in their order: n1 n2 n3 -> "n[1-3]".
[[nodiscard]] std::string compress_hostlist(const std::vector<std::string>& names);

// "500m", "64Gi", "8". Base units of `counter`: cpu in thousandths, everything else in ones.
[[nodiscard]] Result<std::int64_t> parse_quantity(std::string_view text, std::string_view counter);
[[nodiscard]] std::string format_quantity(std::int64_t amount, std::string_view counter);
// True when the text has the form of a quantity (`h100` does not).
[[nodiscard]] bool is_quantity(std::string_view text);

// "30s", "1h30m" is refused: one integer and one unit of ns us ms s m h d; "0" alone is allowed.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);
[[nodiscard]] std::string format_duration(Duration duration);

// The short form of `tasks`: "1*{cpu=4 mem=8Gi} + 4*{select[model==h100] rusage[gpu=1:mem=4Gi] span[ptile=2]}". LSF's
// -R strings are of this form, also without braces; what of them has no field here is named and left out.
struct TasksResult {
  std::vector<TaskTerm> terms;
  std::vector<std::string> not_carried;  // "term 2: cu[maxcus=1] is not carried: use topology"
};
[[nodiscard]] Result<TasksResult> parse_tasks(std::string_view text);

}  // namespace lockstep
