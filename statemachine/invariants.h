#pragma once
// What must hold after every event, by the numbers of LIFECYCLE.md. A message names the number, the group and the
// numbers that disagree; empty = all hold.

#include <string>

#include "statemachine/state.h"

namespace lockstep {

// Everything, derived data against a rebuild and the kept digest against compute_digest() included. O(state).
[[nodiscard]] std::string check_invariants(const State& state);
// Those of one group. O(group).
[[nodiscard]] std::string check_group_invariants(const State& state, const Group& group);

}  // namespace lockstep
