#pragma once
// Random but sensible histories: a small cluster, clients that define and steer groups, agents and providers that
// answer intents (well, badly, late and twice), hosts that fail, clocks that advance, a scheduler that plans. All of it
// follows from one seed, so a failing history is a number.
//
//     RandomWorld world(seed);
//     while (...) { Command command = world.next(state); execute(state, command); }
//
// or make_history(seed, events_min), which does that and keeps what happened.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "events/commands.h"
#include "events/events.h"
#include "statemachine/state.h"

namespace lockstep::test {

// LOCKSTEP_SEED, or `usual`; printed, so that a failure can be repeated.
[[nodiscard]] std::uint64_t seed_of_run(std::uint64_t usual);

struct WorldOptions {
  std::uint32_t hosts{6};
  std::uint32_t groups_alive_max{12};  // defines rest while so many have not ended
  bool requests{true};                 // some commands carry request ids, some of these are asked again
  bool restarts{true};                 // StartController now and then
};

class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed, const WorldOptions& options = {});

  // What happens next to a controller in `state`. Time never goes back.
  [[nodiscard]] Command next(const State& state);

  // Commands that ask much of a state and change nothing, for comparing two of them.
  [[nodiscard]] std::vector<Command> probes(const State& state);

 private:
  using Body = CommandBody;
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  [[nodiscard]] std::int64_t between(std::int64_t first, std::int64_t last);
  [[nodiscard]] bool chance(std::uint32_t percent);
  template <class T>
  [[nodiscard]] const T& pick(const std::vector<T>& from);

  [[nodiscard]] Command choose(const State& state);
  [[nodiscard]] Body define(const State& state);
  [[nodiscard]] Body answer_intent(const State& state);
  [[nodiscard]] Body end_member(const State& state);
  [[nodiscard]] Body stray_report(const State& state);
  [[nodiscard]] Body host_verb(const State& state);
  [[nodiscard]] Body group_verb(const State& state);
  [[nodiscard]] Body resize(const State& state);
  [[nodiscard]] Body change_cluster();
  [[nodiscard]] Body advance(const State& state);
  [[nodiscard]] HostInfo host_info(std::uint64_t number);
  [[nodiscard]] GroupId any_group(const State& state);
  [[nodiscard]] GroupSpec spec();
  [[nodiscard]] RoleSpec role(std::uint32_t number);
  void add_claims(GroupSpec& spec);
  [[nodiscard]] FailurePolicy failure(std::size_t roles);
  [[nodiscard]] Timeouts timeouts();
  void identify(Command& command);

  WorldOptions options_;
  std::mt19937_64 random_;
  std::vector<Command> opening_;  // levels, pools and hosts, in reverse
  Time now_{};
  std::uint64_t names_ = 0;
  std::uint64_t requests_ = 0;
  std::vector<Command> asked_;  // the latest commands with a request id
  std::vector<ReportMember> reported_;
};

struct History {
  struct Step {
    Command command{};
    Answer answer{};
    Seq seq{};        // the state's after it
    Digest digest{};  // the same
  };
  std::uint64_t seed{};
  std::vector<Event> events;
  std::vector<Step> steps;
  State state{};
};

[[nodiscard]] History make_history(std::uint64_t seed, std::size_t events_min, const WorldOptions& options = {});

}  // namespace lockstep::test
