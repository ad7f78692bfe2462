#pragma once
// A parsed scenario against a world: step by step, to the end, collecting what did not hold.

#include <ostream>
#include <string>
#include <vector>

#include "tools/scenario/scenario.h"
#include "tools/scenario/step.h"

namespace lockstep::scenario {

// The first step that this release cannot do; empty: there is none.
[[nodiscard]] std::vector<ParseError> not_yet(const Script& script);

// `file` begins every message. With options.rewrite the script's traces are replaced by what happened, else compared.
// `trace` gets the events of each step when options.trace is set.
[[nodiscard]] ScenarioResult run_script(const std::string& file, Script& script, const ScenarioOptions& options,
                                        std::ostream& trace);

// The text of a scenario with the traces of `script` in place of those it has.
[[nodiscard]] std::string rewrite_traces(const std::string& text, const Script& original, const Script& script);

}  // namespace lockstep::scenario
