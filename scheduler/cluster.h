#pragma once
// The capacity that passes look at, kept from one to the next. Private to scheduler/.

#include <optional>

#include "statemachine/capacity.h"
#include "statemachine/state.h"

namespace lockstep::scheduler_detail {

class Cluster {
 public:
  // `state` must outlive it.
  explicit Cluster(const State& state) : state_(state), free_(CapacityView::following(state)) {}

  [[nodiscard]] bool is_of(const State& state) const { return &state_ == &state; }
  // As if made anew, whatever happened in the state and whatever the last pass tried.
  void follow() {
    free_.follow();
    up_is_new_ = false;
  }
  // What is free.
  [[nodiscard]] CapacityView& free() { return free_; }
  // As if nobody held anything on the hosts that are up: for the few questions that reservations ask.
  [[nodiscard]] CapacityView& up() {
    if (!up_)
      up_ = CapacityView::following(state_, Capacity::Up);
    else if (!up_is_new_)
      up_->follow();
    up_is_new_ = true;
    return *up_;
  }

 private:
  const State& state_;
  CapacityView free_;
  std::optional<CapacityView> up_;
  bool up_is_new_ = false;  // in this pass
};

}  // namespace lockstep::scheduler_detail
