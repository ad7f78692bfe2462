#pragma once
// A new store with the hosts of an inventory in it: made under another name and renamed, so that there is either the
// whole of it or nothing.

#include <filesystem>

#include "tools/lockstep/outcome.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {

[[nodiscard]] Outcome<void> init_with_hosts(const std::filesystem::path& directory, const InventoryResult& inventory);

}  // namespace lockstep::cli
