#pragma once
// What the simulated hosts of `lockstep run` are to do: how long members run, which of them fail, when claims are
// ready.
//
//     --runtime 3s   --runtime worker=3s          how long a member runs
//     --fail 'worker[2]@1s:code=1'                worker 2 ends with exit code 1 one second after it started, once
//     --fail 'train/worker[*]@1s:signal=9,every'  every member of the role, of the group `train`, in every run
//
// What: code=N | signal=N | oom | lost | launch-failed. Once means in the member's first run ever, so a restarted
// controller does not make it fail again.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/events.h"
#include "events/ids.h"
#include "tools/lockstep/outcome.h"

namespace lockstep::cli {

struct ScriptedFailure {
  std::string group;  // empty: any
  std::string role;
  std::optional<std::uint32_t> index;  // none: every member
  Duration after{};                      // from its start
  ReportKind how{ReportKind::Exit};      // Exit, Lost or LaunchFailed
  std::int32_t exit_code{};
  std::int32_t signal{};
  FailureReason reason{FailureReason::None};
  bool every{false};
};

struct SimulationOptions {
  Duration runtime{seconds(5)};
  std::map<std::string, Duration> runtime_of_role;
  Duration claims_after{Duration{200'000'000}};
  Duration step{Duration{100'000'000}};  // how long arming, starting and stopping a member take
  std::vector<ScriptedFailure> failures;
};

[[nodiscard]] Outcome<void> add_runtime(std::string_view text, SimulationOptions& options);
[[nodiscard]] Outcome<ScriptedFailure> parse_failure(std::string_view text);

}  // namespace lockstep::cli
