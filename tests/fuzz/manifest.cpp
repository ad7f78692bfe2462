// Manifests and inventories: groups or problems; and a group that was taken comes back from its own manifest.

#include "tools/manifest/manifest.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = read_manifest(text, "ana");
  if (read.problems.empty()) {
    for (const DefineGroup& group : read.groups) {
      const std::string written = write_manifest(group);
      const auto again = read_manifest(written, "ana");
      LOCKSTEP_CHECK(again.problems.empty() && again.groups.size() == 1, "a group that was read cannot be read again");
      LOCKSTEP_CHECK(write_manifest(again.groups.front()) == written, "a group that was read does not come back");
    }
  }
  (void)read_inventory(text);
  (void)parse_tasks(text);
  (void)expand_hostlist(text);
  return 0;
}
