#pragma once
// What the product's state and the naive model say of the same history: the first thing in which they differ, as one
// line. Compared are facts that the lifecycle promises; not orders, nor places in the log.

#include <string>

#include "statemachine/state.h"
#include "tests/model/naive_model.h"

namespace lockstep::model {

// Empty: they agree.
[[nodiscard]] std::string first_difference(const State& state, const NaiveModel& model);

}  // namespace lockstep::model
