#pragma once
// The slow and plain answer to "does it fit": tasks are put on hosts in every way, one after the other, with a memory
// of what failed. It shares no code with fit() but the state.

#include "statemachine/fit.h"

namespace lockstep::testing {

[[nodiscard]] bool fits_by_brute_force(const State& state, const GroupSpec& spec,
                                       const std::vector<RoleDemand>& demand);

}  // namespace lockstep::testing
