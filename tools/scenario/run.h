#pragma once
// Carrying out steps. One function for each kind of step, by subject: the cluster, groups, what the outside reports,
// time. Each answers with what the core (or the lookup of a name) refused, or with an Error when the scenario cannot go
// on.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/plan.h"
#include "tools/scenario/step.h"
#include "tools/scenario/world.h"

namespace lockstep::scenario {

inline constexpr std::size_t kRoundsMax = 10'000;  // of agents and passes until nothing changes

struct Refusal {
  AnswerCode code{AnswerCode::Done};  // Done: nothing was refused
  std::string text;
  // The core took it all the same (reports are never refused), but it named something that never was: an `expect
  // rejected` may ask for it, and nothing is wrong without one.
  bool tolerated{false};
  [[nodiscard]] bool refused() const { return code != AnswerCode::Done; }
};

struct Run {
  World& world;
  std::size_t instants_max{};  // at which deadlines fire in one advance
  Mode agents{Mode::Manual};
  Mode scheduler{Mode::Manual};
  std::uint64_t reports{0};  // sequence numbers given out
  Scheduler passes;          // kept over the whole scenario, as a controller keeps it

  [[nodiscard]] const State& state() const { return world.state(); }
};

using Outcome = Result<Refusal>;

[[nodiscard]] Outcome run_step(Run& run, const LevelsStep& step);
[[nodiscard]] Outcome run_step(Run& run, const HostStep& step);
[[nodiscard]] Outcome run_step(Run& run, const PoolStep& step);
[[nodiscard]] Outcome run_step(Run& run, const HostVerbStep& step);
[[nodiscard]] Outcome run_step(Run& run, const InventoryStep& step);
[[nodiscard]] Outcome run_step(Run& run, const DefineStep& step);
[[nodiscard]] Outcome run_step(Run& run, const GroupStep& step);
[[nodiscard]] Outcome run_step(Run& run, const ResizeStep& step);
[[nodiscard]] Outcome run_step(Run& run, const ReportStep& step);
[[nodiscard]] Outcome run_step(Run& run, const ClaimStep& step);
[[nodiscard]] Outcome run_step(Run& run, const ScheduleStep& step);
[[nodiscard]] Outcome run_step(Run& run, const AdvanceStep& step);
[[nodiscard]] Outcome run_step(Run& run, const CrashStep& step);

// With `agents auto` and `scheduler auto`: until neither changes anything.
[[nodiscard]] Result<void> settle(Run& run);

// Every agent and provider does what it is asked to, until nothing is asked any more; true when something happened.
[[nodiscard]] Result<bool> run_agents(Run& run);

// ---- shared by the above ------------------------------------------------------------------------------------------
[[nodiscard]] Refusal refuse(AnswerCode code, std::string text);
// Sends all and answers with the first refusal.
[[nodiscard]] Outcome send(Run& run, Actor actor, std::vector<CommandBody> bodies);
[[nodiscard]] Outcome send(Run& run, Actor actor, CommandBody body);

// The group that a reference means, also one that is forgotten; 0: there never was one.
[[nodiscard]] GroupId resolve(const World& world, const GroupRef& group);
// The members that it means now. Of a set: those that are there; `role` must be known.
[[nodiscard]] std::vector<MemberKey> resolve(const World& world, const MemberRef& members);
// True for a number in use: wanted, required, or with a past. The rest of Role::members are free numbers.
[[nodiscard]] bool is_there(const Role& role, std::uint32_t index);
[[nodiscard]] const Member* find_member(const Group& group, MemberKey key);

// The claims that a path means; empty: there is none of that name.
struct FoundClaim {
  ClaimRef ref{};
  ClaimPhase phase{ClaimPhase::Wanted};
};
// Of a set: the claims of members that are there, or also of those that were shrunk away.
enum class Whose : std::uint8_t { MembersThere, AnyMembers };
[[nodiscard]] std::vector<FoundClaim> resolve(const World& world, const ClaimPath& path,
                                              Whose whose = Whose::MembersThere);

}  // namespace lockstep::scenario
