#pragma once
// apply(): one event into the state. The same function serves the live controller, recovery, standby and forensics.
// Total: an event that was appended always applies; one that contradicts the state is a defect of ours or damage that
// the checksums did not see, and stops the process by LOCKSTEP_CHECK before anything wrong is written.
// (Damage is found before this: records are checksummed and chained, and digests are compared.)

#include "events/events.h"
#include "statemachine/state.h"

namespace lockstep {

// event.seq must be state.head.seq + 1.
void apply(State& state, const Event& event);

}  // namespace lockstep
