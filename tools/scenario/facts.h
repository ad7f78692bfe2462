#pragma once
// What a state says about one thing, as the text that expectations compare with and messages show. `none` where there
// is nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "statemachine/state.h"
#include "tools/scenario/book.h"

namespace lockstep::scenario {

inline constexpr std::string_view kNone = "none";

// "reserve" -> TimerKind::Reserve.
[[nodiscard]] std::optional<TimerKind> timer_kind(std::string_view text);

// A set of hosts as its one hostlist, whatever the order of `names`; `none` when empty.
[[nodiscard]] std::string hosts_text(std::vector<std::string> names);

// phase, attempt, charged, reason[.role .resource .domain .blockers .needed .free], end[.scope .role .member .exitCode
// .signal], domain, deadline.KIND.
[[nodiscard]] std::string group_fact(const State& state, const Book& book, const Group& group, std::string_view key,
                                     Time now);

// phase, host, run, exitCode, signal.
[[nodiscard]] std::string member_fact(const Book& book, const Member& member, std::string_view key);

// "gpu=16 cpu=128"; `none` when empty.
[[nodiscard]] std::string counters_text(const std::vector<Counter>& counters);

}  // namespace lockstep::scenario
