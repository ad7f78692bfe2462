#pragma once
// The controller with its thread: many callers, one writer. Commands wait in a bounded queue; the writer takes all that
// wait, runs them through Controller::execute as one batch (one record, one flush), then completes each. Reads run on
// the writer between batches, so they only ever see durable states. Works on several threads; every call here may come
// from any thread.
//
// Deadlines fire by themselves: the writer advances time before a batch, and wakes up for the next one when idle.

#include <functional>
#include <future>
#include <memory>
#include <optional>

#include "replay/controller.h"

namespace lockstep {

struct EngineOptions {
  ControllerOptions controller{};
  std::size_t queue_max{65'536};  // submit() blocks above this, except on the writer's thread
  std::size_t batch_commands_max{4'096};
  bool fire_deadlines{true};  // false: only AdvanceTime that is submitted does
};

class Engine {
 public:
  using Done = std::function<void(const Result<Answer>&)>;
  using Clock = std::function<Time()>;
  // After every durable batch, on the writer's thread: the state is the durable one. Where intents are derived and
  // schedulers woken; must not block and must not call back into execute() or read() (submit() may be called).
  using OnDurable = std::function<void(const State& state, const std::vector<Event>& events)>;

  // Recovers and begins a new epoch (Controller::start), then starts the writer. `log` and `snapshots` outlive it.
  // on_durable is called first for that epoch's own events.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> start(Log& log, const SnapshotStore* snapshots,
                                                             const EngineOptions& options, Clock clock,
                                                             OnDurable on_durable = {});
  ~Engine();  // stops: what waits in the queue is answered with Interrupted

  // `done` is called on the writer's thread once the answer is durable. The command's time is set by the writer.
  // The answers of one caller come in the order of its submits. After stop(): called at once, with Interrupted.
  void submit(Command command, Done done);
  [[nodiscard]] Result<Answer> execute(Command command);

  // Runs `look` on the writer between batches and waits for it.
  [[nodiscard]] Result<void> read(const std::function<void(const State&, const Head&)>& look);

  [[nodiscard]] Result<SnapshotInfo> snapshot();
  [[nodiscard]] const RecoveryReport& recovery() const;
  // The error that latched the writer, if one did: nothing more will be acknowledged, exit with its status.
  [[nodiscard]] std::optional<Error> latched() const;

  // Drains the queue, then stops the writer. Idempotent.
  void stop();

 private:
  Engine();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
