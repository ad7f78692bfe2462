#pragma once
// The capacity of a pass as it would be if some things were not held: given back for a question, then taken again, so
// that no question needs a copy. Private to scheduler/.

#include <vector>

#include "statemachine/capacity.h"
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
      given_.push_back(each);
    }
  }
  [[nodiscard]] std::size_t mark() const { return given_.size(); }
  // Takes again what was given after `mark`.
  void rewind(std::size_t mark) {
    while (given_.size() > mark) {
      view_.take(*given_.back().spec, given_.back().role, *given_.back().slices);
      given_.pop_back();
    }
  }
  // From now on it is so.
  void keep() { given_.clear(); }

 private:
  CapacityView& view_;
  std::vector<Holding> given_;
};

}  // namespace lockstep::scheduler_detail
