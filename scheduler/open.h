#pragma once
// The reservations that are open while a pass goes on. Private to scheduler/.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/what_if.h"
#include "statemachine/state.h"

namespace lockstep::scheduler_detail {

struct Open {
  const Group* group{};
  bool preempts{false};
  std::string domain;
  // What it holds by now: of the state, less what was lent, and of the plan that is being made.
  std::map<MemberKey, const std::vector<Slice>*> held{};
  // From its turn in the pass on:
  Fit target{};                     // where the rest of it, spares too, is to go
  std::vector<Piece> withheld{};    // of that, what is free now: kept from those behind it, held by nobody
  std::optional<Time> projected{};  // when it should be complete; 0 = unknown
  [[nodiscard]] std::vector<Holding> holdings() const;
};

class OpenReservations {
 public:
  explicit OpenReservations(const State& state);

  // In the total order.
  [[nodiscard]] std::vector<Open>& all() { return open_; }
  // Null: it has none, or it was ended in this pass. Moves when others come or go.
  [[nodiscard]] Open* of(const Group& group);
  // The last in the order first: of strictly lower priority, and of those behind it in the order.
  [[nodiscard]] std::vector<const Group*> weaker_than(const Group& group) const;
  [[nodiscard]] std::vector<const Group*> later_than(const Group& group) const;
  // Those that end when `group` opens one, so that no more than `limit` are open in its queue: the last of strictly
  // lower priority. Nothing: it may not. Those of preemptors are not counted.
  [[nodiscard]] std::optional<std::vector<const Group*>> making_way_for(const Group& group, std::uint32_t limit) const;
  Open& add(Open open);
  void remove(const Group& group);

 private:
  std::vector<Open> open_;
};

}  // namespace lockstep::scheduler_detail
