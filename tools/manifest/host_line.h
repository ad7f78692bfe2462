#pragma once
// Hosts from one entry: a hostlist, the keys that all of its hosts have, and a place in the topology whose ranges
// divide the hosts among them. The inventory's `hosts` and the scenario's `host` line are both read by it.
//
//     n[1-4] cpu=64 mem=512Gi at=b1/r[1-2]/d[1-4] model=h100
//
// In `at` a range with fewer elements than hosts divides the hosts evenly, in order: above n1 and n2 are in b1/r1.

#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "events/spec.h"

namespace lockstep {

// What an inventory may expand to in memory, roughly counted before anything is made.
inline constexpr std::size_t kInventoryBytesMax = std::size_t{1} << 30U;

struct HostEntry {
  std::string names;  // a hostlist
  std::vector<Counter> counters;
  std::vector<KeyValue> attributes;
  std::string at;  // "" = nowhere
};

[[nodiscard]] std::size_t bytes_of(const HostInfo& host);

// In the order of the hostlist. Refuses a hostlist that is none, a range in `at` that does not divide the hosts evenly,
// more than `hosts_max` hosts, and what is wrong with any host by itself.
[[nodiscard]] Result<std::vector<HostInfo>> expand_hosts(const HostEntry& entry, std::size_t hosts_max);

// The keys of a scenario's host line: `at` is the place, a value that is a quantity is a counter, any other an
// attribute. `cpu` and `mem` are always counters, and a negative number is refused rather than taken for an attribute.
[[nodiscard]] Result<std::vector<HostInfo>> read_host_line(std::string_view hostlist,
                                                           const std::vector<KeyValue>& keys);

}  // namespace lockstep
