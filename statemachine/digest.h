#pragma once
// One number for the whole state, kept up to date at the grain of what an event touches: the digest is the sum of the
// hashes of all entities (state head, host, pool, claim, client, answer, spec, group head, role head, spare, member,
// group claim, charges), each over its kind, its key and its field walk. Changing one member of a group of 4096
// subtracts one hash and adds one. Seq, epoch and time are part of the state head, so equal digests mean equal
// histories in effect. Comparable only between equal versions.

#include "statemachine/state.h"

namespace lockstep {

inline constexpr std::uint32_t kDigestVersion = 1;

// From scratch, over all facts: what the kept digest must equal.
[[nodiscard]] Digest compute_digest(const State& state);

[[nodiscard]] std::string hex(const Digest& digest);

}  // namespace lockstep
