#pragma once
// Groups of 4 members that live a plain life of 17 events: defined, placed, armed (4), the barrier, started (4),
// running, ended (4), succeeded. Commands are made so that a window of groups goes through each step together, as it
// would on a busy cluster.

#include <cstdint>
#include <functional>
#include <vector>

#include "events/commands.h"

namespace lockstep::bench {

inline constexpr std::uint32_t kMembers = 4;
inline constexpr std::uint32_t kGroupsPerHost = 16;
inline constexpr std::uint64_t kWindow = 4'096;  // groups that go through their steps together

enum class Life { UntilRunning, UntilEnd };

[[nodiscard]] CommandBody define_group(std::uint64_t number);

// Hosts for `groups` groups that hold theirs at the same time.
[[nodiscard]] std::vector<Command> cluster(std::uint64_t groups);

// Calls take(batch) with the commands of `groups` groups, in an order that a controller could meet. The groups get the
// ids from 1.
void live(std::uint64_t groups, Life life, const std::function<void(const std::vector<Command>&)>& take);

}  // namespace lockstep::bench
