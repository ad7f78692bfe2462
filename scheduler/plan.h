#pragma once
// The gang step: what one scheduling pass would do, as a plan that decide takes whole or not at all (StalePlan).
// Pure and deterministic: same state, same plan, on any machine (SCHEDULING.md). No pass writes an event about a group
// that it leaves as it is.

#include <memory>

#include "events/commands.h"
#include "statemachine/state.h"

namespace lockstep {

namespace scheduler_detail {
class Cluster;
}

struct ScheduleOptions {
  Time now{};  // what run limits are counted from; never before the last event of the state, which 0 stands for
  std::uint32_t actions_max{100'000};           // a bound on one plan; the next pass goes on
  std::uint32_t reservations_max_per_queue{1};  // open at a time; those of preemptors are not counted
};

// Empty actions: nothing can be placed.
[[nodiscard]] Plan plan(const State& state, const ScheduleOptions& options = {});

// The same answers, sooner: keeps what it has found out about a cluster from one pass to the next, and reads again what
// changed. One for each state; not for several threads.
class Scheduler {
 public:
  Scheduler();
  explicit Scheduler(const ScheduleOptions& options);
  ~Scheduler();
  // `now`: as ScheduleOptions::now, in place of it.
  [[nodiscard]] Plan plan(const State& state, Time now = {});

 private:
  ScheduleOptions options_;
  std::unique_ptr<scheduler_detail::Cluster> cluster_;
};

}  // namespace lockstep
