#pragma once
// Manifests and inventories from files, with all their problems in one failure.

#include <string>
#include <utility>
#include <vector>

#include "tools/lockstep/outcome.h"
#include "tools/manifest/manifest.h"
#include "tools/topology/topology.h"

namespace lockstep::cli {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;  // file and text

// Who calls this process: the default user of a manifest.
[[nodiscard]] std::string caller();
struct ManifestFiles {
  std::vector<DefineGroup> groups;
  std::vector<std::string> not_carried;  // "file: field: ..."
};
// All files, or the failure of the first that is wrong.
[[nodiscard]] Outcome<ManifestFiles> read_manifest_files(const std::vector<std::string>& files,
                                                         std::string_view default_user);
[[nodiscard]] Outcome<ManifestFiles> read_manifest_texts(const NamedTexts& files, std::string_view default_user);
// One NotCarried line each on standard error.
void tell_not_carried(const std::vector<std::string>& not_carried);

// Inventories and topologies together. Every problem but the last, which is the failure, is told here, one line each.
[[nodiscard]] Outcome<TopologyResult> read_hosts(const std::vector<std::string>& files);
[[nodiscard]] Outcome<TopologyResult> read_hosts(const NamedTexts& files);
// All of them at once; standard input only once.
[[nodiscard]] Outcome<NamedTexts> read_texts(const std::vector<std::string>& files);
// InvalidManifest: every problem as `origin: path: what`.
[[nodiscard]] Outcome<ManifestResult> read_manifest_text(std::string_view text, std::string_view default_user,
                                                         std::string_view origin);

}  // namespace lockstep::cli
