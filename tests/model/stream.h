#pragma once
// Random commands for the model check: those of RandomWorld, bent towards groups that live. Half of the groups are
// elastic and patient, bad news is rarer, verbs go where they matter, and the clock is this stream's own. On top of
// them come reports that were held back and arrive later in any order, and plans that were made some steps ago.

#include "tests/replay/random_history.h"

namespace lockstep::model {

class Stream {
 public:
  explicit Stream(std::uint64_t seed)
      : world_(seed, test::WorldOptions{.hosts = 8, .groups_alive_max = 8, .requests = false, .restarts = true}),
        random_(seed + 1),
        now_{seconds(1'000'000).value} {}

  [[nodiscard]] Command next(const State& state);

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  [[nodiscard]] bool chance(std::uint32_t percent) { return below(100) < percent; }
  [[nodiscard]] Command take(std::vector<Command>& from);
  [[nodiscard]] GroupId living_group(const State& state, GroupId otherwise);
  void bend(Command& command, const State& state);
  void make_patient(GroupSpec& spec);
  void make_good_news(ReportMember& about, const State& state);
  void step_clock(const Command& command, const State& state);

  test::RandomWorld world_;
  std::mt19937_64 random_;
  std::vector<Command> held_back_;
  std::vector<Command> old_plans_;
  Time now_;
};

}  // namespace lockstep::model
