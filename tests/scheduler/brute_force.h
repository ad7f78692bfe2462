#pragma once
// The slow and plain answer to "does it fit", and to "in how few domains": tasks are put on hosts in every way, one
// after the other, with a memory of what failed. It shares no code with fit() but the state.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "statemachine/fit.h"

namespace lockstep::testing {

// What a question is asked of: hosts that count, with what is free of each counter, and what is free of the pools.
struct FreeHosts {
  std::map<HostId, std::map<std::string, std::int64_t>> hosts;
  std::map<std::string, std::int64_t> pools;
};

// Of the hosts that are up and not drained: what nobody holds, or as if nobody held anything.
[[nodiscard]] FreeHosts free_now(const State& state);
[[nodiscard]] FreeHosts free_if_empty(const State& state);
// What slices of a member of `role` stand for becomes free (sign 1) or is taken (-1), on hosts that count.
void give_back(const State& state, FreeHosts& free, const GroupSpec& spec, RoleIndex role,
               const std::vector<Slice>& slices, std::int64_t sign = 1);
// The hosts that lie in the domain of this path ("/": all); its last piece may be a host's name.
[[nodiscard]] FreeHosts inside(const State& state, const FreeHosts& free, const std::string& domain);

// Only these hosts for members of a role, or, by kNoRole, of the group.
using OnlyHosts = std::map<RoleIndex, std::set<HostId>>;

[[nodiscard]] bool fits_by_brute_force(const State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                                       const FreeHosts& free, const OnlyHosts& only = {});
[[nodiscard]] bool fits_by_brute_force(const State& state, const GroupSpec& spec,
                                       const std::vector<RoleDemand>& demand);

// How many domains of each of these levels (`host` may be the last) the hosts are in. A host that is in no domain of a
// level counts as one of its own.
[[nodiscard]] std::vector<std::size_t> domains_used(const State& state, const std::vector<std::string>& levels,
                                                    const std::set<HostId>& hosts);
// The least such numbers below `bound`, the first level deciding first, that members of `role` (kNoRole: all of the
// group) can do with where all of it is placed; nothing when there are none.
[[nodiscard]] std::optional<std::vector<std::size_t>> fewer_domains(const State& state, const GroupSpec& spec,
                                                                    const std::vector<RoleDemand>& demand,
                                                                    const FreeHosts& free, RoleIndex role,
                                                                    const std::vector<std::string>& levels,
                                                                    const std::vector<std::size_t>& bound);

}  // namespace lockstep::testing
