#pragma once
// The capacity of a pass as it would be if some things were not held, or others were: given and taken for a question,
// then put back, so that no question needs a copy. Private to scheduler/.

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
      steps_.push_back({each, nullptr, true});
    }
  }
  void give(const std::vector<Piece>& pieces) {
    view_.give(pieces);
    steps_.push_back({{}, &pieces, true});
  }
  // `fit` must stay where it is. More than is free may be taken: what is given later then counts for that first.
  void take(const GroupSpec& spec, const Fit& fit) {
    for (const MemberPlacement& each : fit.members) take({&spec, each.member.role, &each.slices});
    for (const SparePlacement& each : fit.spares) take({&spec, each.role, &each.slices});
  }
  void take(const std::vector<Holding>& holdings) {
    for (const Holding& each : holdings) take(each);
  }
  [[nodiscard]] std::size_t mark() const { return steps_.size(); }
  // Undoes what was done after `mark`.
  void rewind(std::size_t mark) {
    for (; steps_.size() > mark; steps_.pop_back()) {
      const auto& [what, pieces, given] = steps_.back();
      if (pieces != nullptr)
        view_.take(*pieces);
      else if (given)
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
    const std::vector<Piece>* pieces{};  // instead, when not null
    bool given{};
  };
  void take(const Holding& what) {
    view_.take(*what.spec, what.role, *what.slices);
    steps_.push_back({what, nullptr, false});
  }

  CapacityView& view_;
  std::vector<Step> steps_;
};

}  // namespace lockstep::scheduler_detail
