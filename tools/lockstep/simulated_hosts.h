#pragma once
// The outside world of `lockstep run`: hosts, agents and claim providers that do what they are asked to after a while.
// It keeps nothing that the state does not say: what is owed is derived from intents and phases, so after a crash a new
// one picks up where the old one was (a member that ran goes on from its start). No thread and no clock in here.

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "events/commands.h"
#include "statemachine/state.h"
#include "tools/lockstep/simulation_options.h"

namespace lockstep::cli {

class SimulatedHosts {
 public:
  explicit SimulatedHosts(SimulationOptions options) : options_(std::move(options)) {}

  // Looks at the groups and claims that `events` were about.
  void observe(const State& state, const std::vector<Event>& events, Time now);
  // Looks at everything: after a start.
  void observe_all(const State& state, Time now);

  // The reports that are due by `now`, in the order of their times. One that changes nothing, because its answer got
  // lost, is due again after a while.
  [[nodiscard]] std::vector<CommandBody> due(Time now);
  // When the next one is due; Time{} = none.
  [[nodiscard]] Time next() const;

 private:
  enum class Kind { Arm, Start, End, Stop, Provision, Release };
  struct Duty {  // what a group or a claim is owed, or will do by itself
    Kind kind{};
    MemberKey member{};
    std::uint32_t run{};
    ClaimRef claim{};
    friend auto operator<=>(const Duty&, const Duty&) = default;
  };
  struct Planned {
    Time at{};
    CommandBody report{};
  };
  using Duties = std::map<Duty, Planned>;
  struct Find;

  void observe_group(const State& state, GroupId id, Time now);
  void replace(GroupId id, Duties wanted);
  [[nodiscard]] const ScriptedFailure* scripted(const Group& group, MemberKey member, std::uint32_t run) const;
  [[nodiscard]] Duration runtime(const Group& group, RoleIndex role) const;

  SimulationOptions options_;
  std::map<GroupId, Duties> duties_;  // group 0: standalone claims
  std::set<std::tuple<Time, GroupId, Duty>> queue_;
};

}  // namespace lockstep::cli
