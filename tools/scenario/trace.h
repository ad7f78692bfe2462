#pragma once
// One event as one line for people and for golden traces: names instead of ids, times as distances, nothing that a
// restart shifts (seqs, sequence numbers, epochs) and nothing that is 0, empty or false.
//
//     GroupPlaced g attempt=1 domain=/ w[0]=a1 w[1]=a2

#include <string>

#include "events/events.h"
#include "tools/scenario/book.h"

namespace lockstep::scenario {

// False for what the controller notes for itself: ControllerStarted, DigestRecorded, RequestAnswered.
[[nodiscard]] bool is_shown(const Event& event);

[[nodiscard]] std::string format_event(const Book& book, const Event& event);

}  // namespace lockstep::scenario
