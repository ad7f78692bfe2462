#pragma once
// A controller in the foreground: engine, scheduler, control socket, and simulated hosts in wall time. It may be killed
// at any moment; started again on the same store it goes on where it was.

#include <filesystem>
#include <vector>

#include "events/commands.h"
#include "tools/lockstep/outcome.h"
#include "tools/lockstep/simulation_options.h"

namespace lockstep::cli {

enum class Lines { Text, Objects };

struct LiveOptions {
  std::filesystem::path store{};
  std::vector<CommandBody> cluster;      // done first: what makes the hosts of an inventory known
  std::vector<DefineGroup> groups;       // defined after it, if no live group of that name is there
  std::vector<std::string> not_carried;  // of both, told once they are done
  SimulationOptions simulation{};
  bool until_idle{false};  // end when every group has ended
  std::uint64_t snapshot_every{1'000'000};
  bool check_invariants{false};
  Lines lines{Lines::Text};
};

// Until SIGINT or SIGTERM, or idle; then stops cleanly. The signals are the caller's own again when it returns.
[[nodiscard]] Outcome<void> run_live(const LiveOptions& options);

}  // namespace lockstep::cli
