#pragma once
// Whether all of a plan can still be taken: it was made for a state, and hosts, groups and levels may have changed
// since. Private to statemachine/.

#include <string>

#include "events/commands.h"
#include "statemachine/state.h"

namespace lockstep {

// Its actions one after another, against what the state has left after those before. Empty: all of it can be taken;
// else what is in the way.
[[nodiscard]] std::string check_plan(const State& state, const Plan& plan);

}  // namespace lockstep
