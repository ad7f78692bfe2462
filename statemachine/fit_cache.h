#pragma once
// What has been found out about a CapacityView and stays true until rows of it change: room for items of a size, and
// the best hosts of a domain for a number of items. Private to statemachine/.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "statemachine/capacity.h"

namespace lockstep {

// How many items of one size each host has room for, and their sums per domain: what a choice among thousands of
// domains looks at in place of hosts. Brought up to date from the rows that changed since it was last asked.
class Rooms {
 public:
  Rooms(const CapacityView& view, RoomKey key);

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

// How good a choice of hosts is, and the hosts: compared level by level, the widest first.
struct HostChoice {
  std::vector<std::size_t> domains;  // their number
  std::vector<std::int64_t> left;    // what is free in them, counter by counter
  std::vector<Domain> hosts;
  friend bool operator<(const HostChoice& a, const HostChoice& b) {
    return a.domains != b.domains ? a.domains < b.domains : a.left < b.left;
  }
};

// The best choice within each domain, for so many items of a size.
class ChoicesKept {
 public:
  [[nodiscard]] const HostChoice* find(const CapacityView& view, const Domain& domain) const;
  const HostChoice& keep(const CapacityView& view, const Domain& domain, HostChoice choice);

 private:
  struct Kept {
    std::uint64_t seen{};  // changes of the view by then
    HostChoice choice;
  };
  std::vector<std::vector<std::unique_ptr<Kept>>> kept_;  // [level][domain]
};

class FitCache {
 public:
  [[nodiscard]] std::shared_ptr<const Rooms> rooms(const CapacityView& view, const RoomKey& key);
  [[nodiscard]] std::shared_ptr<ChoicesKept> choices(const RoomKey& key, std::int64_t items);

 private:
  std::map<RoomKey, std::shared_ptr<Rooms>> rooms_;
  std::map<std::pair<RoomKey, std::int64_t>, std::shared_ptr<ChoicesKept>> choices_;
};

}  // namespace lockstep
