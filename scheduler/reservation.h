#pragma once
// Reservations: where to open one, what it can hold now, and when it should be complete (SCHEDULING.md, Reserve mode).
// Private to scheduler/.

#include <string>
#include <vector>

#include "scheduler/ends.h"
#include "statemachine/fit.h"

namespace lockstep::scheduler_detail {

struct Site {
  std::string domain;
  std::size_t now{};  // members that can be held there now
};

// Domains that hold `demand` of hosts with nothing on them (`up`), in path order, so many as are worth comparing.
[[nodiscard]] std::vector<Site> sites(const CapacityView& up, const CapacityView& view, const Group& group,
                                      const std::vector<RoleDemand>& demand);

// The one that completes first in `later`, which has what is leaving; where ends do not tell, in which most of it fits
// now. Null: there are none.
[[nodiscard]] const Site* completes_first(const std::vector<Site>& sites, const std::vector<Ending>& ends, Time now,
                                          CapacityView& later, const Group& group,
                                          const std::vector<RoleDemand>& demand);

// When `demand` should fit into `domain` of `later`, as far as `ends` tell; 0 = unknown.
[[nodiscard]] Time projected_in(const std::vector<Ending>& ends, Time now, CapacityView& later, const Group& group,
                                const std::vector<RoleDemand>& demand, const std::string& domain);

// Members of `demand` that can be held in `domain` now, by role and index; spares are not held.
[[nodiscard]] std::vector<MemberPlacement> hold_now(const CapacityView& view, const Group& group,
                                                    std::vector<RoleDemand> demand, const std::string& domain);

}  // namespace lockstep::scheduler_detail
