// The clock, scheduling passes, and what happens by itself after a step.

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "tools/manifest/manifest.h"
#include "tools/scenario/run.h"

namespace lockstep::scenario {
namespace {

// One pass; `moved` tells whether it wrote anything.
Outcome pass(Run& run, bool& moved) {
  Plan planned = run.passes.plan(run.state(), run.world.now());
  const Seq before = run.state().head.seq;
  if (planned.actions.empty()) return Refusal{};
  auto outcome = send(run, Actor::Scheduler, ApplyPlan{std::move(planned)});
  moved = run.state().head.seq != before;
  return outcome;
}

// The pass of `scheduler auto`: its plan is made for the state of now, so a refusal is ours.
Result<bool> run_scheduler(Run& run) {
  bool moved = false;
  const auto outcome = pass(run, moved);
  LOCKSTEP_TRY(outcome);
  if (outcome->refused()) {
    run.world.add_unmet({"the plan to be taken", fmt::format("{}: {}", name(outcome->code), outcome->text)});
    return false;
  }
  return moved;
}

// Deadlines at `instant`, which is not before the clock.
Result<void> fire(Run& run, Time instant) {
  run.world.set_now(std::max(run.world.now(), instant));
  const Seq before = run.state().head.seq;
  LOCKSTEP_TRY(run.world.execute(Actor::Clock, AdvanceTime{}));
  if (run.state().head.seq == before) {
    return fail(ErrorCode::InvalidInput, fmt::format("the deadline at {} does not fire", instant.value));
  }
  return settle(run);
}

// The clock does not go past what it can show.
Refusal refuse_the_end_of_time(const Run& run, Duration by) {
  if (by < kEndOfTime - run.world.now()) return {};
  return refuse(AnswerCode::OutOfBounds,
                fmt::format("the clock ends in {}", format_duration(kEndOfTime - run.world.now())));
}

}  // namespace

Outcome run_step(Run& run, const ScheduleStep&) {
  bool moved = false;
  return pass(run, moved);
}

Outcome run_step(Run& run, const AdvanceStep& step) {
  if (auto refusal = refuse_the_end_of_time(run, step.by); refusal.refused()) return refusal;
  const Time until = run.world.now() + step.by;
  for (std::size_t instants = 0;; ++instants) {
    const Time due = next_deadline(run.state());
    if (!due || due > until) break;
    if (instants == run.instants_max) {
      run.world.add_unmet({fmt::format("at most {} instants with deadlines in one advance", run.instants_max), "more"});
      break;
    }
    LOCKSTEP_TRY(fire(run, due));
  }
  run.world.set_now(until);
  return Refusal{};
}

Outcome run_step(Run& run, const CrashStep& step) {
  if (auto refusal = refuse_the_end_of_time(run, step.downtime); refusal.refused()) return refusal;
  LOCKSTEP_TRY(run.world.restart(step.downtime, Count::Yes));
  return Refusal{};
}

Result<void> settle(Run& run) {
  for (std::size_t round = 0; round < kRoundsMax; ++round) {
    if (run.agents == Mode::Auto) LOCKSTEP_TRY(run_agents(run));
    if (run.scheduler == Mode::Manual) return {};
    const auto passed = run_scheduler(run);
    LOCKSTEP_TRY(passed);
    if (!*passed) return {};
  }
  run.world.add_unmet({"agents and scheduler to come to rest", fmt::format("{} rounds", kRoundsMax)});
  return {};
}

}  // namespace lockstep::scenario
