#pragma once
// A controller in memory with two hosts, for tests that need states as they really come about.

#include <memory>
#include <string>

#include "events/log/memory_log.h"
#include "replay/controller.h"
#include "scheduler/plan.h"
#include "tools/manifest/manifest.h"

namespace lockstep::testing {

class SmallWorld {
 public:
  SmallWorld();

  // Rejections fail the test.
  Answer execute(CommandBody body, Actor actor = Actor::User);
  GroupId define(const std::string& manifest);
  void schedule();
  void advance(Duration duration);

  [[nodiscard]] const State& state() const { return controller_->state(); }
  [[nodiscard]] const Group& group(GroupId id) const { return *state().group(id); }
  [[nodiscard]] const Controller& controller() const { return *controller_; }
  [[nodiscard]] const MemoryLog& log() const { return log_; }
  [[nodiscard]] Time now() const { return now_; }
  // As after a crash.
  void restart();

 private:
  MemoryLog log_;
  Time now_{seconds(1'000).value};
  std::unique_ptr<Controller> controller_;
};

// Roles launcher x1 and worker x2, a claim per group, restartGroup.
[[nodiscard]] std::string small_manifest(const std::string& name);

}  // namespace lockstep::testing
