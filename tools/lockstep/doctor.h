#pragma once
// What an operator should know about a store and the place it is in: each finding says what is wrong and what to do.
// Reads only, also beside a controller.

#include <filesystem>
#include <string>
#include <vector>

#include "events/ids.h"
#include "events/log/store.h"

namespace lockstep::cli {

enum class Health : std::uint8_t { Good, Warning, Wrong };

struct Finding {
  std::string about;  // versions, filesystem, mount, space, lock, log, readers, snapshots, clock
  Health health{Health::Good};
  std::string text;    // what was found
  std::string advice;  // what to do; empty when it is good
};

// The disk and the machine, whether or not there is a store.
[[nodiscard]] std::vector<Finding> examine_place(const std::filesystem::path& directory);
// `now`: to compare the store's time with.
[[nodiscard]] std::vector<Finding> examine_store(const Store& store, Time now);

// The options of the mount that `path` is on, from the text of /proc/self/mountinfo: the finding about them.
[[nodiscard]] Finding examine_mount(const std::string& mountinfo, const std::filesystem::path& path);

}  // namespace lockstep::cli
