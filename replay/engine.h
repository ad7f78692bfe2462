#pragma once
// The controller for many callers. Commands wait in a bounded queue; the writer takes all that wait, decides them as
// one batch (one record, one flush), then completes each. A caller who is alone writes by itself, and hands over to
// nobody; under load one batch is decided while the one before it is flushed by a thread of its own. Reads run between
// batches, so they only ever see durable states. Works on several threads; every call here may come from any thread.
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
  std::size_t batch_commands_max{256};
  bool fire_deadlines{true};  // false: only AdvanceTime that is submitted does
};

class Engine {
 public:
  using Done = std::function<void(const Result<Answer>&)>;
  using Clock = std::function<Time()>;
  // Every durable event once, in order, on whichever thread writes: the state is the durable one. After each batch, and
  // under load after several. Where intents are derived and schedulers woken; must not block and must not call back
  // into execute() or read() (submit() may be called).
  using OnDurable = std::function<void(const State& state, const std::vector<Event>& events)>;

  // Recovers and begins a new epoch (Controller::start), then starts the writer. `log` and `snapshots` outlive it.
  // on_durable is called first for that epoch's own events.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> start(Log& log, const SnapshotStore* snapshots,
                                                             const EngineOptions& options, Clock clock,
                                                             OnDurable on_durable = {});
  ~Engine();  // stops: what waits in the queue is answered with Interrupted

  // `done` is called on the thread that writes once the answer is durable. The command's time is set by the writer.
  // The answers of one caller come in the order of its submits. After stop(): called at once, with Interrupted.
  void submit(Command command, Done done);
  [[nodiscard]] Result<Answer> execute(Command command);

  // Runs `look` between batches, on whichever thread writes, and waits for it.
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
