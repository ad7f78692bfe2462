#pragma once
// Does this group fit, and where: the joint placement of all its roles at once. Pure and deterministic; exact where the
// group is small, and never a greedy choice that makes the group itself impossible when a placement exists in the
// domain considered. Used by decide (NeverFits), explain and the scheduler, which adds order, reservation and
// preemption on top.

#include <string>
#include <string_view>
#include <vector>

#include "events/events.h"
#include "statemachine/state.h"

namespace lockstep {

// Which capacity counts.
enum class Capacity : std::uint8_t {
  Free,      // of usable hosts, less what is held
  Up,        // of usable hosts, as if nobody held anything
  All,       // of every host, also down or drained, as if nobody held anything
  FreeIfUp,  // of every host as if it were up and not drained, less what is held
};

enum class Require : std::uint8_t { AsSaid, Nothing };  // Nothing: as if no domain were required

// Members of one role to find hosts for.
struct RoleDemand {
  RoleIndex role{};
  std::vector<std::uint32_t> indexes;  // ascending
  std::uint32_t spares{};
  std::string inside;  // the role's own domain, where members that stay have decided it; empty = not decided
};

// What is missing: the first role in manifest order that does not fit after those before it, the counter by which the
// fewest of its members fit, host by host, and that counter's numbers.
struct Shortage {
  RoleIndex role{kNoRole};
  std::string resource;  // empty: no host matches `select`, or the domains are too small
  std::int64_t needed{};
  std::int64_t free{};
};

struct Fit {
  bool fits{false};
  std::string domain;                    // of the required level; "/" where none is required
  std::vector<MemberPlacement> members;  // by role, then index
  std::vector<SparePlacement> spares;
  Shortage shortage{};   // when it does not fit
  std::uint64_t work{};  // that the answer took: for who asks many times
};

// `inside`: a promised domain to stay in ("/" or empty: the whole cluster); with it the group's own required level is
// already decided. The demand of a whole group is whole_demand().
[[nodiscard]] Fit fit(const State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                      Capacity capacity, Require require = Require::AsSaid, std::string_view inside = {});

// Every member that the next attempt of `group` wants, spares included: all wanted ones, except those that have
// succeeded and stay so (resume: unfinished). `at_min`: only `min` of each role (placement.partial).
[[nodiscard]] std::vector<RoleDemand> whole_demand(const Group& group, bool at_min = false);

// The sizes of that demand by role: of whole_demand(group), and of whole_demand(group, true).
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> demand_counts(const Group& group);

// The host's domain of a level, which may be "host". Empty when it is in none.
[[nodiscard]] std::string level_domain(const State& state, std::string_view level, const HostInfo& host);
// The role's own domain, by what it holds. Empty where it requires none, or holds nothing that could tell.
[[nodiscard]] std::string role_domain(const State& state, const Group& group, RoleIndex role);
// The same for a role of which a member is on `slices`.
[[nodiscard]] std::string role_domain(const State& state, const RoleSpec& role, const std::vector<Slice>& slices);

// Required members of a group that goes on which wait for hosts, bound to the domain that their role is in.
[[nodiscard]] std::vector<RoleDemand> waiting_demand(const State& state, const Group& group);

// What a pending resize of `role` adds to the members required now: the lowest free indexes. Empty when it adds
// nothing.
[[nodiscard]] std::vector<RoleDemand> growth_demand(const State& state, const Group& group, RoleIndex role);

// True when the group could run on this cluster at all: every host up and empty, its mins with `partial`. Its members
// say no more than that. Keeps what it learns of the cluster in the state's indexes.
[[nodiscard]] Fit could_ever_fit(State& state, const Group& group);
// The same for a spec that is not yet a group (define).
[[nodiscard]] Fit could_ever_fit(State& state, const GroupSpec& spec);

}  // namespace lockstep
