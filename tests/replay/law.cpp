#include "tests/replay/law.h"

#include <fmt/format.h>

#include <numeric>

#include "scheduler/plan.h"
#include "snapshot/snapshot.h"
#include "statemachine/apply.h"
#include "statemachine/decide.h"
#include "statemachine/digest.h"
#include "statemachine/invariants.h"
#include "tests/replay/state_bytes.h"

namespace lockstep::test {
namespace {

std::string difference(const State& a, const State& b) {
  std::string text;
  for (const std::string& line : diff_states(a, b, 5)) text += "\n    " + line;
  return text.empty() ? "\n    (diff_states sees no difference)" : text;
}

// What a state decides: answers and events of each probe, each on a copy.
Bytes decisions(const State& state, const std::vector<Command>& probes) {
  Bytes bytes;
  ByteSink sink{bytes};
  for (const Command& probe : probes) {
    const Decision decision = decide(state, probe);
    walk_write(sink, static_cast<std::uint8_t>(decision.answer.code));
    walk_write(sink, decision.answer.group);
    walk_write(sink, decision.answer.seq);
    walk_write(sink, decision.answer.text);
    const Bytes events = bytes_of(decision.events);
    bytes.insert(bytes.end(), events.begin(), events.end());
  }
  return bytes;
}

class Law {
 public:
  Law(const History& history, const LawOptions& options, LawCounts& counts)
      : history_(history),
        options_(options),
        counts_(counts),
        world_(history.seed + 1),
        final_(facts_of(history.state)) {}

  std::string check() {
    State state;
    ++counts_.histories;
    counts_.events += history_.events.size();
    std::size_t step = 0;
    for (std::size_t k = 0;; ++k) {
      std::string wrong = cut(state, k);
      if (wrong.empty()) wrong = live(state, step);
      if (!wrong.empty()) return fmt::format("seed {}, cut {}: {}", history_.seed, k, wrong);
      if (k == history_.events.size()) return {};
      apply(state, history_.events[k]);
    }
  }

 private:
  std::string cut(const State& state, std::size_t k) {
    ++counts_.cuts;
    const Bytes facts = facts_of(state);
    std::optional<State> restored = state_from(facts);
    if (!restored) return "the facts cannot be read back";
    if (facts_of(*restored) != facts) return "restored facts differ" + difference(state, *restored);
    const Digest digest = compute_digest(state);
    if (state.digest() != digest) return fmt::format("kept digest {} is not {}", hex(state.digest()), hex(digest));
    if (restored->digest() != digest)
      return fmt::format("restored digest {} is not {}", hex(restored->digest()), hex(digest));
    if (k % options_.invariants_every == 0) {
      if (std::string violation = check_invariants(state); !violation.empty()) return violation;
      if (std::string violation = check_invariants(*restored); !violation.empty()) return "restored: " + violation;
    }
    if (k % options_.probe_every == 0) {
      if (std::string wrong = probe(state, *restored); !wrong.empty()) return wrong;
    }
    if (k % options_.tail_every == 0) return tail(*restored, k);
    return {};
  }

  std::string probe(const State& state, const State& restored) {
    const std::vector<Command> probes = world_.probes(state);
    counts_.probes += probes.size();
    if (decisions(state, probes) != decisions(restored, probes)) return "the same command is decided differently";
    return {};
  }

  std::string tail(State& restored, std::size_t k) {
    ++counts_.tails;
    counts_.tail_events += history_.events.size() - k;
    for (std::size_t i = k; i < history_.events.size(); ++i) apply(restored, history_.events[i]);
    if (restored.digest() != history_.state.digest())
      return "the tail ends in another digest" + difference(history_.state, restored);
    if (facts_of(restored) != final_) return "the tail ends in other facts" + difference(history_.state, restored);
    return {};
  }

  // Where the live run stood still after a command, the replayed state has its digest.
  std::string live(const State& state, std::size_t& step) {
    const auto& steps = history_.steps;
    for (; step < steps.size() && steps[step].seq <= state.head.seq; ++step) {
      if (steps[step].seq != state.head.seq) continue;
      ++counts_.live_points;
      if (steps[step].digest != state.digest()) return "the live state had another digest";
    }
    return {};
  }

  const History& history_;
  const LawOptions& options_;
  LawCounts& counts_;
  RandomWorld world_;
  Bytes final_;
};

}  // namespace

std::string check_law(const History& history, const LawOptions& options, LawCounts& counts) {
  return Law(history, options, counts).check();
}

}  // namespace lockstep::test
