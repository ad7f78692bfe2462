#pragma once
// Preemption: whom to evict so that a group fits (SCHEDULING.md, Preemption). Found by what-if; private to scheduler/.

#include <vector>

#include "events/commands.h"
#include "scheduler/what_if.h"
#include "statemachine/fit.h"

namespace lockstep::scheduler_detail {

// What can be evicted in one piece, and what is lost with it.
struct Unit {
  const Group* group{};
  std::vector<MemberKey> members;  // empty: the whole group
  std::vector<Holding> holdings;
  std::int64_t work{};  // sum of tasks x time since each member started, in nanoseconds
  std::int64_t tasks{};
};

struct Victims {
  std::vector<EvictAction> evictions;  // empty: nothing that may be evicted makes the group fit
  Fit fit;                             // the placement that they make possible
  std::vector<Holding> freed;          // what they hold
};

// Groups that may be evicted for one of this priority, as units, the cheapest first.
[[nodiscard]] std::vector<Unit> units_below(const State& state, Time now, std::int32_t priority);

// The cheapest of `units` that make `demand`, which does not fit, fit into `view`: exact for few units, else a set of
// which none can be spared. `view` is as it was afterwards.
[[nodiscard]] Victims find_victims(CapacityView& view, const Group& group, const std::vector<RoleDemand>& demand,
                                   const std::vector<Unit>& units);

}  // namespace lockstep::scheduler_detail
