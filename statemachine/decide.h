#pragma once
// The controller's mind. execute() decides a command against the state and applies what it decided, event by event:
// a decision has consequences (the last member armed lifts the barrier, a failure stops a group) that can only be
// decided against the state which its earlier events reached, and copying the state for that would cost O(state) a
// command. Every event passes through the one apply(); a rejection has applied nothing.
//
// Pure: same state, same command, same events, on any machine.

#include <vector>

#include "events/commands.h"
#include "events/events.h"
#include "statemachine/state.h"

namespace lockstep {

struct Decision {
  Answer answer{};
  std::vector<Event>
      events;  // already applied to the state; empty for a rejection and for a report that says nothing new
};

[[nodiscard]] Decision execute(State& state, const Command& command);

// The same on a copy: what would happen. O(state).
[[nodiscard]] Decision decide(const State& state, const Command& command);

// The earliest deadline in the state that can come; Time{} = none.
[[nodiscard]] Time next_deadline(const State& state);

// The feature level that this release writes and the highest it can follow.
inline constexpr std::uint32_t kFeatureLevel = 2;

}  // namespace lockstep
