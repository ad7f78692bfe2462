#pragma once
// Hostlists with a bound of the caller's. For this folder and tools/topology.

#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"

namespace lockstep {

// As expand_hostlist(); an expression of more than `count_max` names is refused before any is made.
[[nodiscard]] Result<std::vector<std::string>> expand_names(std::string_view text, std::size_t count_max);

}  // namespace lockstep
