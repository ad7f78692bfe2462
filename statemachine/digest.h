#pragma once
// One number for the whole state, kept up to date at the grain of what an event touches: the digest is the sum of the
// hashes of all entities (state head, host, pool, claim, client, answer, spec, group head, its last event, role head,
// spare, member, group claim, charges), each over its kind, its key and its field walk. Changing one member of a group
// of 4096 subtracts one hash and adds one. The state head, which every event changes, is added when the digest is asked
// for (State::digest); the rest is kept (State::sum). Seq, epoch and time are part of it, so equal digests mean equal
// histories in effect. Comparable only between equal versions.

#include "statemachine/state.h"

namespace lockstep {

// 2: a group's last event is an entity of its own.
inline constexpr std::uint32_t kDigestVersion = 2;

// From scratch, over all facts: what the kept ones must equal.
[[nodiscard]] Digest compute_digest(const State& state);
[[nodiscard]] Digest compute_sum(const State& state);

[[nodiscard]] std::string hex(const Digest& digest);

}  // namespace lockstep
