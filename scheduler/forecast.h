#pragma once
// What will be free, and when, as a pass sees it by now: where a reservation is to open, where it is to take hosts, and
// when it should be complete (SCHEDULING.md, Reserve mode). Private to scheduler/.

#include <string>
#include <vector>

#include "scheduler/cluster.h"
#include "scheduler/ends.h"
#include "scheduler/open.h"
#include "scheduler/what_if.h"
#include "statemachine/fit.h"

namespace lockstep::scheduler_detail {

// Where a reservation is to go on.
struct Aim {
  enum class Held : std::uint8_t {
    PartOfIt,  // `fit` is of the members that it does not hold yet, and its spares
    InTheWay,  // it is complete sooner without what it holds: `fit` is of all its members
    InVain,    // likewise, and never with it
  };
  Held held{Held::PartOfIt};
  Fit fit;
  Time projected{};  // when it should be complete; 0 = unknown
};

// What a reservation of the group is for: the mins with `partial`.
[[nodiscard]] std::vector<RoleDemand> reserved_demand(const Group& group);

class Forecast {
 public:
  // Of what `cluster` has free while the pass goes on. All must outlive it.
  Forecast(const State& state, Time now, Cluster& cluster, OpenReservations& open)
      : state_(state), now_(now), cluster_(cluster), open_(open), ends_(state, now) {}

  // What the pass has done: `action` must stay where its vectors are, and what `freed` refers to, too.
  void placed(const Group& group, const PlaceAction& action) { ends_.placed(group, action); }
  void evicted(GroupId group) { ends_.evicted(group); }
  void will_leave(const std::vector<Holding>& freed) { leaving_.insert(leaving_.end(), freed.begin(), freed.end()); }

  // What is leaving already is given, less what the reservations before `group` will take of it.
  void let_leave(WhatIf& later, const Group& group);
  // When the reservation should be complete; of one that others were evicted for nobody knows.
  [[nodiscard]] Time projected(const Open& open);
  // It takes what is free now, as much as leaves a way to be complete; the rest where it completes first.
  [[nodiscard]] Aim aim(const Open& open);
  // The domain in which a reservation would complete first by run limits; where these do not tell, in which most of it
  // fits now. Empty: even hosts with nothing on them would not do.
  [[nodiscard]] std::string site(const Group& group, const std::vector<RoleDemand>& demand);

 private:
  // The first ends after which `demand` fits into `inside` of what is free, with which it begins; none: unknown.
  [[nodiscard]] std::optional<std::size_t> ends_needed(const Group& group, const std::vector<RoleDemand>& demand,
                                                       const std::string& inside);
  void give_ends(WhatIf& later, std::size_t count);
  [[nodiscard]] Time time_of(std::size_t needed);
  [[nodiscard]] std::vector<RoleDemand> missing(const Open& open) const;
  void pin(const Group& group, std::vector<RoleDemand>& demand, const std::vector<MemberPlacement>& members) const;
  [[nodiscard]] std::vector<MemberPlacement> hold_now(const Group& group, std::vector<RoleDemand> demand,
                                                      const std::string& domain) const;
  [[nodiscard]] Aim aim_in(CapacityView& later, const Open& open, const std::vector<MemberPlacement>& now) const;
  [[nodiscard]] bool holds_in_vain(const Open& open) const;
  using Pieces = std::vector<Piece>;
  [[nodiscard]] std::vector<Pieces> used_by_host(const Open& open);
  [[nodiscard]] bool empty_hosts(WhatIf& later, const Open& open, const std::vector<Pieces>& hosts);
  [[nodiscard]] std::vector<std::string> worth_comparing(const Group& group, const std::vector<RoleDemand>& demand);

  const State& state_;
  Time now_;
  Cluster& cluster_;
  OpenReservations& open_;
  Ends ends_;
  std::vector<Holding> leaving_;  // by evictions of this pass
};

}  // namespace lockstep::scheduler_detail
