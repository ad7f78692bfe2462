#pragma once
// What the rest of the program takes for granted about a state's facts, asked of bytes that passed every checksum: a
// file made by hand, or by a defect, must be refused rather than crash whoever uses it. Whether the facts make sense
// together is the invariants' question, not this one's.

#include <string>

#include "statemachine/state.h"

namespace lockstep {

// Each is empty, or what is wrong. The entities named before in for_each_table are already in `state`.
[[nodiscard]] std::string check_fact(const State& state, const StateHead& head);
[[nodiscard]] std::string check_fact(const State& state, const Host& host);
[[nodiscard]] std::string check_fact(const State& state, const Pool& pool);
[[nodiscard]] std::string check_fact(const State& state, const StandaloneClaim& claim);
[[nodiscard]] std::string check_fact(const State& state, const Client& client);
[[nodiscard]] std::string check_fact(const State& state, const GroupSpec& spec);
[[nodiscard]] std::string check_fact(const State& state, const Group& group);

// After all groups are in: no sum of what is held on one host, by one group or of one pool leaves 64 bits.
[[nodiscard]] std::string check_sums(const State& state);

}  // namespace lockstep
