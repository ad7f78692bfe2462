#pragma once
// The capacity of a pass as it would be if some things were not held, or others were: given and taken for a question,
// then put back, so that no question needs a copy. Private to scheduler/.

#include <deque>
#include <vector>

#include "statemachine/capacity.h"
#include "statemachine/fit.h"
#include "statemachine/state.h"

namespace lockstep::scheduler_detail {

// Slices that a member or spare of a role holds. Borrowed from the state or from the plan that is being made.
struct Holding {
  const GroupSpec* spec{};
  RoleIndex role{};
  const std::vector<Slice>* slices{};
};

// Everything that the group holds.
[[nodiscard]] std::vector<Holding> holdings_of(const Group& group);
// What is on its way to be free without anybody's doing: of members that are being stopped and will not run again
// there.
[[nodiscard]] std::vector<Holding> leaving(const Group& group);
// The rest: what only an eviction, or the group's end, gives back.
[[nodiscard]] std::vector<Holding> staying(const Group& group);

class WhatIf {
 public:
  explicit WhatIf(CapacityView& view) : view_(view) {}
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;
  ~WhatIf() { rewind(0); }  // unless kept

  void give(const std::vector<Holding>& holdings) {
    for (const Holding& each : holdings) {
      view_.give(*each.spec, each.role, *each.slices);
      steps_.push_back({each, true});
    }
  }
  void take(const GroupSpec& spec, Fit fit) {
    const Fit& kept = taken_.emplace_back(std::move(fit));
    for (const MemberPlacement& each : kept.members) take({&spec, each.member.role, &each.slices});
    for (const SparePlacement& each : kept.spares) take({&spec, each.role, &each.slices});
  }
  [[nodiscard]] std::size_t mark() const { return steps_.size(); }
  // Undoes what was done after `mark`.
  void rewind(std::size_t mark) {
    for (; steps_.size() > mark; steps_.pop_back()) {
      const auto& [what, given] = steps_.back();
      if (given)
        view_.take(*what.spec, what.role, *what.slices);
      else
        view_.give(*what.spec, what.role, *what.slices);
    }
  }
  // From now on it is so.
  void keep() { steps_.clear(); }

 private:
  struct Step {
    Holding what;
    bool given{};
  };
  void take(const Holding& what) {
    view_.take(*what.spec, what.role, *what.slices);
    steps_.push_back({what, false});
  }

  CapacityView& view_;
  std::vector<Step> steps_;
  std::deque<Fit> taken_;  // what steps point into
};

}  // namespace lockstep::scheduler_detail
