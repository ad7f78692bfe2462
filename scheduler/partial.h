#pragma once
// As many members as fit, where all of them do not. Private to scheduler/.

#include <string_view>
#include <vector>

#include "statemachine/capacity.h"

namespace lockstep::scheduler_detail {

// Role by role the most members, between those of `least` (which fit: `best`) and `wanted`, such that all of it still
// fits together. Both name the same roles; lower indexes come first. Ends with what it has after so much work that the
// others of this pass would wait.
[[nodiscard]] Fit as_many_as_fit(const CapacityView& view, const GroupSpec& spec, std::vector<RoleDemand> least,
                                 const std::vector<RoleDemand>& wanted, std::string_view inside, Joining joining,
                                 Fit best);

// The same, from nobody on.
[[nodiscard]] Fit as_many_as_fit(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& wanted,
                                 std::string_view inside);

}  // namespace lockstep::scheduler_detail
