#pragma once
// Asks the CPU for what apply() of coming events will touch. Replay knows them long before their turn, and a state of a
// million groups is in no cache: without it, each event waits for memory half a dozen times, one after another.

#include <cstddef>
#include <span>

#include "events/events.h"
#include "statemachine/state.h"

namespace lockstep {

// To be called before apply(state, events[at]) for each `at` in order.
void prefetch(const State& state, std::span<const Event> events, std::size_t at);

}  // namespace lockstep
