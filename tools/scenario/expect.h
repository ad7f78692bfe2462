#pragma once
// Does an expectation hold now? Both sides are told, so that a message can say what was expected and what is.

#include <string>

#include "tools/scenario/run.h"

namespace lockstep::scenario {

struct Verdict {
  bool holds{false};
  std::string expected;
  std::string got;
};

// `last`: what became of the step above that was no expectation. Errors: the store cannot be read (same-digest).
[[nodiscard]] Result<Verdict> evaluate(const Run& run, const Expectation& expectation, const Refusal& last);

}  // namespace lockstep::scenario
