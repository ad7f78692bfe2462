#pragma once
// What `lockstep run` shows on its standard output: one line per turn of a group, and on a terminal a status line that
// is kept at the bottom. Collecting happens on the writer's thread and never waits; showing on the main one.

#include <cstddef>
#include <string>
#include <vector>

#include "events/events.h"
#include "statemachine/state.h"
#include "tools/lockstep/live_run.h"

namespace lockstep::cli {

class LiveLines {
 public:
  explicit LiveLines(Lines form);

  // What `events` have to say, for show(). Bounded: a reader who cannot keep up is told how many lines were left out.
  void collect(const State& state, const std::vector<Event>& events);
  // Takes what was collected, so that it can be shown without holding a lock.
  struct Batch {
    std::vector<std::string> lines;
    std::size_t left_out{};
    std::string status;
  };
  [[nodiscard]] Batch take();

  void show(const Batch& batch);
  // Ends the status line.
  void finish();

 private:
  Lines form_;
  bool terminal_;
  Batch collected_;
  bool status_shown_ = false;
};

}  // namespace lockstep::cli
