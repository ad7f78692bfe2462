#pragma once
// Random commands for the gang step: a small cluster of three levels and pools, groups of random shape that are more
// than it can hold, agents that mostly do what is asked, and operators that do not leave it alone. All of it follows
// from one seed. Unlike tests/model this one has no second opinion; it is bent towards the scheduler.

#include <cstdint>
#include <string>
#include <vector>

#include "events/commands.h"
#include "statemachine/intents.h"
#include "statemachine/state.h"
#include "tests/scheduler/dice.h"

namespace lockstep::testing {

class GangStream {
 public:
  explicit GangStream(std::uint64_t seed) : dice_(seed), now_{seconds(1'000'000).value} {}

  [[nodiscard]] std::vector<Command> levels_and_pools();
  [[nodiscard]] std::vector<Command> hosts();
  // What happens next to a controller in `state`: never a plan. Names hosts by name only.
  [[nodiscard]] Command next(const State& state);
  [[nodiscard]] Time now() const { return now_; }

 private:
  [[nodiscard]] Command by(Actor actor, CommandBody body) const { return Command{0, 0, now_, actor, std::move(body)}; }
  [[nodiscard]] CommandBody define();
  [[nodiscard]] CommandBody agent(const State& state);
  [[nodiscard]] CommandBody member_ends(const State& state);
  [[nodiscard]] CommandBody verb(const State& state);
  [[nodiscard]] CommandBody resize(const State& state);
  [[nodiscard]] CommandBody host_verb(const State& state);
  [[nodiscard]] CommandBody change_cluster();
  [[nodiscard]] Command advance(const State& state);
  [[nodiscard]] HostInfo host(std::int64_t number);
  [[nodiscard]] GroupSpec group_spec();
  [[nodiscard]] RoleSpec role_spec(std::size_t number, std::int64_t members_max);

  Dice dice_;
  Time now_;
  std::uint64_t names_ = 0;
};

// The report that is due for an intent about a member, or the good word about a claim.
[[nodiscard]] CommandBody done_as_asked(const State& state, const Intent& intent);
// A report about this member with the next sequence of its run.
[[nodiscard]] ReportMember report_about(const Group& group, MemberKey key, ReportKind kind);
[[nodiscard]] std::vector<Intent> all_intents(const State& state);
[[nodiscard]] std::vector<std::pair<GroupId, MemberKey>> members_running(const State& state);

}  // namespace lockstep::testing
