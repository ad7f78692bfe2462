#pragma once
// The controller that runs in this process, as the socket sees it.

#include <functional>

#include "replay/engine.h"
#include "tools/lockstep/backend.h"

namespace lockstep::cli {

class LiveBackend final : public Backend {
 public:
  using OnError = std::function<void(const Error&)>;
  // Both outlive this. `on_error` hears of every command that the storage failed, on the writer's thread.
  LiveBackend(Engine& engine, const Store& store, OnError on_error);

  void submit(Command command, Done done) override;
  [[nodiscard]] Result<void> read(const Look& look) override;
  [[nodiscard]] Result<void> read_log(const LookAtLog& look) override;
  [[nodiscard]] Result<SnapshotInfo> snapshot() override;
  [[nodiscard]] const Store& store() const override { return store_; }

 private:
  Engine& engine_;
  const Store& store_;
  OnError on_error_;
};

}  // namespace lockstep::cli
