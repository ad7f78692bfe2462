#pragma once
// Reservations: where to open one, what it can hold now, and when it should be complete (SCHEDULING.md, Reserve mode).
// Private to scheduler/.

#include <string>
#include <vector>

#include "scheduler/what_if.h"
#include "statemachine/fit.h"

namespace lockstep::scheduler_detail {

struct Site {
  std::string domain;  // empty: there is none that could hold it even if empty
  Time projected{};    // 0 = unknown
};

// The domain that completes first: by run limits; where these do not tell, in which most of it fits now.
[[nodiscard]] Site choose_site(const State& state, Time now, CapacityView& view, const Group& group,
                               const std::vector<RoleDemand>& demand);

// When `demand` should fit into `domain` of what `view` has free, as far as the run limits of those who hold something
// tell; 0 = unknown.
[[nodiscard]] Time projected_in(const State& state, Time now, CapacityView& view, const Group& group,
                                const std::vector<RoleDemand>& demand, const std::string& domain);

// Members of `demand` that can be held in `domain` now, by role and index; spares are not held.
[[nodiscard]] std::vector<MemberPlacement> hold_now(const CapacityView& view, const Group& group,
                                                    std::vector<RoleDemand> demand, const std::string& domain);

}  // namespace lockstep::scheduler_detail
