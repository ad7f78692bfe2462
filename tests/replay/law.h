#pragma once
// P2 for one history: replay from empty up to k == snapshot at k + tail, for every k: equal facts, equal digest, equal
// next decisions.
//
// At every cut k: the state S replayed from empty is written as facts and restored to R (derived data rebuilt).
//   - R has the facts of S; both have the digest that a computation from scratch has; the digest and the facts equal
//     those of the live state, where the live run was seen at k
//   - S keeps all invariants, among them that what it keeps derived equals a rebuild, which is what R has
//   - probe commands, and a scheduling pass, decide the same on S and on R
//   - R goes on through the tail, event by event, to the facts and digest of the whole history: from every
//     `tail_every`th cut
// And at the last cut, that the history replayed is the history lived.

#include <cstdint>
#include <string>

#include "tests/replay/random_history.h"

namespace lockstep::test {

struct LawOptions {
  std::size_t tail_every{1};
  std::size_t probe_every{1};
  std::size_t invariants_every{1};
};

struct LawCounts {  // what was compared: a law that compared nothing has not been shown
  std::uint64_t histories{};
  std::uint64_t events{};
  std::uint64_t cuts{};
  std::uint64_t live_points{};
  std::uint64_t probes{};
  std::uint64_t tails{};
  std::uint64_t tail_events{};
};

// Empty: the law holds. Else the seed, the cut and what differs.
[[nodiscard]] std::string check_law(const History& history, const LawOptions& options, LawCounts& counts);

}  // namespace lockstep::test
