#pragma once
// Which hosts changed, one after the other: for whoever keeps something that is derived from them all and would rather
// read a few again than everything (scheduler/). Positions are those of one journal: a copy of a state begins a new
// one.

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "events/ids.h"

namespace lockstep {

class HostJournal {
 public:
  struct Position {
    std::uint64_t origin{};
    std::size_t count{};
  };

  HostJournal() = default;
  HostJournal(const HostJournal&) {}
  HostJournal& operator=(const HostJournal&) {
    restart();
    return *this;
  }

  // What is free on the host, or whether it is up, is not what it was.
  void touch(HostId host) {
    if (hosts_.size() == kKept) return restart();
    hosts_.push_back(host);
  }
  // More than that changed: hosts came or went, or their counters, places or attributes.
  void restart() {
    origin_ = next_origin();
    hosts_.clear();
  }

  [[nodiscard]] Position position() const { return {origin_, hosts_.size()}; }
  // The hosts touched since; nothing when everything has to be read again.
  [[nodiscard]] std::optional<std::span<const HostId>> since(const Position& position) const {
    if (position.origin != origin_) return std::nullopt;
    return std::span<const HostId>(hosts_).subspan(position.count);
  }

 private:
  static constexpr std::size_t kKept = std::size_t{1} << 18U;
  // Tells journals of one process apart; it decides nothing but what is read again.
  static std::uint64_t next_origin() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  std::uint64_t origin_ = next_origin();
  std::vector<HostId> hosts_;
};

}  // namespace lockstep
