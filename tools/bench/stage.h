#pragma once
// Where a bench does its work: a folder of its own, and a controller that refuses nothing of the workload.

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "events/log/store.h"
#include "replay/controller.h"
#include "tools/bench/bench.h"
#include "tools/bench/workload.h"

namespace lockstep::bench {

// A new folder in the directory of the options, removed with what is in it.
class Stage {
 public:
  explicit Stage(const BenchOptions& options)
      : options_(options), path_(options.directory / fmt::format("lockstep-bench-{}", ::getpid())) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] Result<Store> fresh_store(const std::string& name) const {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) return fail(ErrorCode::StorageFailed, fmt::format("{}: {}", path_.string(), error.message()));
    LOCKSTEP_TRY(init_store(path_ / name));
    return open_store(path_ / name, OpenMode::Write);
  }
  [[nodiscard]] Result<void> say(const std::string& what) const {
    if (!options_.progress || options_.progress(what)) return {};
    return fail(ErrorCode::Interrupted, "bench: interrupted");
  }

 private:
  const BenchOptions& options_;
  std::filesystem::path path_;
};

[[nodiscard]] inline Result<std::unique_ptr<Controller>> start_plain(Log& log, const SnapshotStore* snapshots) {
  ControllerOptions options;
  options.snapshot_every = 0;
  return Controller::start(log, snapshots, options, Time{seconds(1'000).value});
}

// Executes batches; a workload that is refused measures nothing.
[[nodiscard]] inline Take into(Controller& controller) {
  return [&controller](const std::vector<Command>& batch) -> Result<void> {
    auto answers = controller.execute(batch);
    LOCKSTEP_TRY(answers);
    for (const Answer& answer : *answers)
      LOCKSTEP_CHECK(answer.code == AnswerCode::Done, "the workload was refused: " + answer.text);
    return {};
  };
}

}  // namespace lockstep::bench
