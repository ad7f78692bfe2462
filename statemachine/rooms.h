#pragma once
// How many items of one size each host has room for, and their sums per domain: what a choice among thousands of
// domains looks at in place of hosts. Kept by a CapacityView for every size that is asked for, and brought up to date
// from the rows that changed since it was last asked. Private to statemachine/.

#include <cstdint>
#include <utility>
#include <vector>

#include "statemachine/capacity.h"

namespace lockstep {

class Rooms {
 public:
  Rooms(const CapacityView& view, RoomKey key);

  // Reads again the rows that changed since the last time.
  void refresh(const CapacityView& view);

  [[nodiscard]] std::int64_t on(std::uint32_t row) const { return room_[row]; }
  [[nodiscard]] std::int64_t in(const CapacityView& view, const Domain& domain) const;

 private:
  void read_all(const CapacityView& view);
  [[nodiscard]] std::int64_t read(const CapacityView& view, std::uint32_t row) const;
  void set(const CapacityView& view, std::uint32_t row, std::int64_t room);

  RoomKey key_;
  std::vector<bool> eligible_;                   // by row: its attributes are those of `select`
  std::vector<std::int64_t> room_;               // by row
  std::vector<std::vector<std::int64_t>> sums_;  // [level][domain]
  std::int64_t total_{};
  std::uint64_t seen_{};  // changes of the view that are in here
};

}  // namespace lockstep
