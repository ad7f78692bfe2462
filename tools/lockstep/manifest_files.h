#pragma once
// Manifests and inventories from files, with all their problems in one failure.

#include <string>
#include <vector>

#include "tools/lockstep/outcome.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {

// Who calls this process: the default user of a manifest.
[[nodiscard]] std::string caller();
struct ManifestFiles {
  std::vector<DefineGroup> groups;
  std::vector<std::string> not_carried;  // "file: field: ..."
};
// All files, or the failure of the first that is wrong.
[[nodiscard]] Outcome<ManifestFiles> read_manifest_files(const std::vector<std::string>& files,
                                                         std::string_view default_user);
// One NotCarried line each on standard error.
void tell_not_carried(const std::vector<std::string>& not_carried);

// InvalidManifest: every problem as `file: path: what`.
[[nodiscard]] Outcome<ManifestResult> read_manifest_file(const std::string& file, std::string_view default_user);
[[nodiscard]] Outcome<InventoryResult> read_inventory_file(const std::string& file);
// Of a text from elsewhere.
[[nodiscard]] Outcome<ManifestResult> read_manifest_text(std::string_view text, std::string_view default_user,
                                                         std::string_view origin);

}  // namespace lockstep::cli
