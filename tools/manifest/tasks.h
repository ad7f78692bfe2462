#pragma once
// The parts of a task term that the short and the structured form of `tasks` share. Not for use outside of this folder.

#include <string_view>

#include "events/error.h"
#include "events/spec.h"

namespace lockstep {

// Refuses a name that is no counter's, a counter given twice, a quantity that is none, and 0.
[[nodiscard]] Result<void> add_request(TaskTerm& term, std::string_view counter, std::string_view quantity);
// Refuses a key given twice.
[[nodiscard]] Result<void> add_select(TaskTerm& term, std::string_view key, std::string_view value);
// Puts the lists of a complete term into their order.
void finish_term(TaskTerm& term);

}  // namespace lockstep
