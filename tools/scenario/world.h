#pragma once
// The controller of one scenario with everything it stands on: a store, snapshots, the virtual clock. Beside it runs a
// shadow, a state made of nothing but the events read back from the log: after every event the invariants are checked
// on it, after every call it must equal the controller's state. What does not hold is told at the step.
//
// A crash destroys the controller and everything it kept in memory, reopens the store, and checks that what recovery
// finds is what was there.

#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "events/log/log.h"
#include "events/log/memory_log.h"
#include "events/log/store.h"
#include "replay/controller.h"
#include "tools/scenario/book.h"
#include "tools/scenario/scenario.h"

namespace lockstep::scenario {

inline constexpr Time kScenarioStart{1'000'000'000};  // 1 s: 0 means "no time"

struct Unmet {
  std::string expected;
  std::string got;
};

class World {
 public:
  // Errors: those of the store.
  [[nodiscard]] static Result<std::unique_ptr<World>> open(const ScenarioOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // At the clock's time. Errors are those of Controller::execute: the scenario cannot go on.
  [[nodiscard]] Result<std::vector<Answer>> execute(std::vector<Command> commands);
  [[nodiscard]] Result<Answer> execute(Actor actor, CommandBody body);

  // The process is gone, the clock moves by `downtime`, a new one recovers. `count`: whether the scenario asked for it.
  [[nodiscard]] Result<void> restart(Duration downtime, Count count);

  [[nodiscard]] Result<void> snapshot();
  [[nodiscard]] Result<void> trim();
  // Replay from empty (unless it was trimmed) and from every snapshot: what differs from the state now.
  [[nodiscard]] Result<std::vector<std::string>> replay_differences() const;

  [[nodiscard]] const State& state() const { return controller_->state(); }
  [[nodiscard]] const Book& book() const { return book_; }
  [[nodiscard]] Time now() const { return now_; }
  void set_now(Time now) { now_ = now; }

  // What was too much to check after every event of a large cluster.
  void end_step();

  void set_tracing(bool on) { tracing_ = on; }
  // Since the last call: formatted events (with tracing), and what did not hold.
  [[nodiscard]] std::vector<std::string> take_trace();
  [[nodiscard]] std::vector<Unmet> take_unmet();
  void add_unmet(Unmet unmet);

 private:
  explicit World(const ScenarioOptions& options);
  [[nodiscard]] Result<void> open_store();
  [[nodiscard]] Result<void> start(Count count);
  void close();
  [[nodiscard]] Result<void> read_events(Count count);
  void learn(const Event& event, Count count);
  void check_shadow(const Event& event);
  void compare(const State& other, const std::string& what);
  [[nodiscard]] Result<State> replay_from(const SnapshotInfo& snapshot) const;
  [[nodiscard]] std::filesystem::path directory() const;

  ScenarioOptions options_;
  std::filesystem::path temporary_;  // removed at the end
  MemoryLog memory_;
  Store store_;         // of an LMDB store
  Log* log_ = nullptr;  // the one in use
  std::unique_ptr<SnapshotStore> snapshots_;
  std::unique_ptr<Controller> controller_;
  State shadow_;
  Book book_;
  Time now_{kScenarioStart};
  bool tracing_ = false;
  std::vector<std::string> trace_;
  std::vector<Unmet> unmet_;
  std::set<std::string> told_;  // what is wrong stays wrong: it is told once
};

}  // namespace lockstep::scenario
