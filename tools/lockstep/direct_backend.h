#pragma once
// A store without a controller: opened read-only and recovered in memory, or opened to write with a controller that
// lives as long as the command.

#include <filesystem>
#include <memory>

#include "tools/lockstep/backend.h"

namespace lockstep::cli {

// Takes no lock and writes nothing. submit() is a rehearsal: it decides, and changes only what read() sees from then
// on. snapshot() is refused.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_to_read(const std::filesystem::path& store);

// Errors of open_store (Locked: somebody else has it) and Controller::start.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_to_write(const std::filesystem::path& store);

// How far to recover. All of it (Seq{}); beside a controller that appends, what is there now, so that a snapshot which
// it takes a moment later is not mistaken for one that the log has lost the events of.
[[nodiscard]] Result<Seq> recover_until(const Store& store);

}  // namespace lockstep::cli
