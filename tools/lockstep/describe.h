#pragma once
// Events in words: what history, `log dump` and the lines of `lockstep run` say.

#include <string>

#include "events/events.h"
#include "tools/lockstep/names.h"

namespace lockstep::cli {

// The facts of the event in one line, without its time, actor and group: "attempt 1 on n[1-3] in b1/r1".
[[nodiscard]] std::string describe(const Event& event, const Names& names);

// The same with what happened in front of it: "placed, attempt 1: 3 members on n[1-3]".
[[nodiscard]] std::string sentence(const Event& event, const Names& names);

// A turn that somebody watching wants to hear of; the rest (armed, claim asked for, digests ...) is for the history.
[[nodiscard]] bool is_a_turn(const Event& event);

}  // namespace lockstep::cli
