#pragma once
// Groups of 4 members that live a plain life of 17 events: defined, placed, armed (4), the barrier, started (4),
// running, ended (4), succeeded. Commands are made so that a window of groups goes through each step together, as it
// would on a busy cluster.

#include <cstdint>
#include <functional>
#include <vector>

#include "events/commands.h"
#include "events/error.h"

namespace lockstep::bench {

inline constexpr std::uint32_t kMembers = 4;
inline constexpr std::uint32_t kGroupsPerHost = 16;
inline constexpr std::uint64_t kWindow = 10'000;  // groups that go through their steps together
inline constexpr std::uint64_t kSpecs = 1'000;    // distinct ones

enum class Life { UntilPlaced, UntilRunning, UntilEnd };

// `specs`: how many distinct ones the numbers share.
[[nodiscard]] CommandBody define_group(std::uint64_t number, std::uint64_t specs = kSpecs,
                                       std::uint32_t members = kMembers);

// Hosts for `members` members that hold theirs at the same time.
[[nodiscard]] std::vector<Command> cluster(std::uint64_t members);

using Take = std::function<Result<void>(const std::vector<Command>&)>;

// Calls take(batch) with the commands of `groups` groups, in an order that a controller could meet. The groups get the
// ids from 1.
[[nodiscard]] Result<void> live(std::uint64_t groups, Life life, std::uint64_t specs, const Take& take);

// Group `group` of so many members, defined and placed.
[[nodiscard]] Result<void> place_big_group(std::uint64_t group, std::uint32_t members, const Take& take);

[[nodiscard]] Command report(std::uint64_t group, std::uint32_t index, ReportKind kind, std::uint64_t sequence);

// Reports of the first `groups` groups' members (Armed of all, then Started of all), at most `count`, spread at random
// in each of the two: a fixed order for each seed.
[[nodiscard]] Result<void> report_at_random(std::uint64_t groups, std::uint32_t members, std::uint64_t count,
                                            const Take& take);

}  // namespace lockstep::bench
