#pragma once
// Runs scenario files (the executable specification) against the real controller core: Controller, log, snapshots and
// recovery, with virtual time and scripted hosts.

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "events/error.h"

namespace lockstep {

enum class ScenarioStore { Memory, Lmdb };

struct ScenarioOptions {
  ScenarioStore store{ScenarioStore::Memory};
  std::filesystem::path directory{};  // of an LMDB store to keep; empty: a temporary one
  bool crash_everywhere{false};       // after every step drop the process state and recover; nothing may change
  bool check{true};                   // invariants after every event
  bool trace{false};                  // print the events of each step
  bool rewrite{false};                // replace the expected traces
  std::size_t instants_max{100'000};  // at which deadlines fire in one `advance`: one that never ends is stopped
};

struct ScenarioResult {
  int status{0};                        // 0 all expectations held, 1 some did not, 2 a line does not parse,
                                      // else that of the error that kept it from running
  std::optional<ErrorCode> code{};    // of that error, or of the line
  std::vector<std::string> failures;  // "FILE:LINE: expected ..., got ..."
  std::uint64_t steps{};
  std::uint64_t expectations{};
  std::uint64_t events{};
};

[[nodiscard]] ScenarioResult run_scenario(const std::filesystem::path& file, const ScenarioOptions& options,
                                          std::ostream& trace);

}  // namespace lockstep
