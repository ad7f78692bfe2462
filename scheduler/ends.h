#pragma once
// When groups give back what they hold, as far as run limits tell (SCHEDULING.md, Reserve mode). Private to scheduler/.

#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "events/commands.h"
#include "scheduler/what_if.h"
#include "statemachine/state.h"

namespace lockstep::scheduler_detail {

// Without a run limit, or beyond it, nobody knows; what is leaving already is not among the holdings.
struct Ending {
  Time end{};
  GroupId group{};
  std::vector<Holding> holdings;
  friend bool operator<(const Ending& a, const Ending& b) {
    return std::tie(a.end, a.group) < std::tie(b.end, b.group);
  }
};

// Those of one pass, found out when first asked for.
class Ends {
 public:
  Ends(const State& state, Time now) : state_(state), now_(now) {}

  // What the pass does: `action` must stay where its vectors are.
  void placed(const Group& group, const PlaceAction& action);
  void evicted(GroupId group) { evicted_.insert(group); }
  // In order. Of a group that is evicted, even in part, nobody knows.
  [[nodiscard]] const std::vector<Ending>& in_order();

 private:
  const State& state_;
  Time now_;
  std::optional<std::vector<Ending>> ends_;
  std::vector<Ending> placed_;  // not yet among them
  std::set<GroupId> evicted_;
};

}  // namespace lockstep::scheduler_detail
