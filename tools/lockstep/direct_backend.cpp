#include "tools/lockstep/direct_backend.h"

#include <algorithm>
#include <future>
#include <utility>

#include "replay/controller.h"
#include "statemachine/decide.h"
#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

class Reader final : public Backend {
 public:
  Reader(Store store, Recovered recovered) : store_(std::move(store)), recovered_(std::move(recovered)) {}

  // A rehearsal: decided and applied in memory, where nothing else hears of it.
  void submit(Command command, Done done) override {
    command.time = std::max(wall_clock(), recovered_.state.head.time);
    done(lockstep::execute(recovered_.state, command).answer);
  }
  Result<void> read(const Look& look) override {
    look(recovered_.state, recovered_.head);
    return {};
  }
  Result<void> read_log(const LookAtLog& look) override { return look(*store_.log); }
  Result<SnapshotInfo> snapshot() override { return read_only(); }
  const Store& store() const override { return store_; }

 private:
  [[nodiscard]] tl::unexpected<Error> read_only() const {
    return fail(ErrorCode::Usage, store_.directory.string() + ": is open to be read only");
  }
  Store store_;
  Recovered recovered_;
};

class Writer final : public Backend {
 public:
  Writer(Store store, std::unique_ptr<SnapshotStore> snapshots, std::unique_ptr<Controller> controller)
      : store_(std::move(store)), snapshots_(std::move(snapshots)), controller_(std::move(controller)) {}

  void submit(Command command, Done done) override {
    command.time = std::max(wall_clock(), controller_->state().head.time);
    done(controller_->execute(command));
  }
  Result<void> read(const Look& look) override {
    look(controller_->state(), controller_->head());
    return {};
  }
  Result<void> read_log(const LookAtLog& look) override { return look(*store_.log); }
  Result<SnapshotInfo> snapshot() override { return controller_->snapshot(); }
  const Store& store() const override { return store_; }

 private:
  Store store_;
  std::unique_ptr<SnapshotStore> snapshots_;
  std::unique_ptr<Controller> controller_;  // last: uses the two above
};

}  // namespace

Result<Answer> execute(Backend& backend, Command command) {
  std::promise<Result<Answer>> promise;
  auto answer = promise.get_future();
  backend.submit(std::move(command), [&](const Result<Answer>& result) { promise.set_value(result); });
  return answer.get();
}

Result<Seq> recover_until(const Store& store) {
  const auto owner = store_owner(store.directory);
  LOCKSTEP_TRY(owner);
  if (*owner == 0) return Seq{};
  const auto head = store.log->head();
  LOCKSTEP_TRY(head);
  return head->seq;
}

Result<std::unique_ptr<Backend>> open_to_read(const std::filesystem::path& directory) {
  auto store = open_store(directory, OpenMode::ReadOnly);
  LOCKSTEP_TRY(store);
  const SnapshotStore snapshots(store->snapshots(), store->id);
  const auto until = recover_until(*store);
  LOCKSTEP_TRY(until);
  auto recovered = recover(*store->log, &snapshots, *until);
  LOCKSTEP_TRY(recovered);
  return std::make_unique<Reader>(std::move(*store), std::move(*recovered));
}

Result<std::unique_ptr<Backend>> open_to_write(const std::filesystem::path& directory) {
  auto store = open_store(directory, OpenMode::Write);
  LOCKSTEP_TRY(store);
  auto snapshots = std::make_unique<SnapshotStore>(store->snapshots(), store->id);
  auto controller = Controller::start(*store->log, snapshots.get(), ControllerOptions{}, wall_clock());
  LOCKSTEP_TRY(controller);
  return std::make_unique<Writer>(std::move(*store), std::move(snapshots), std::move(*controller));
}

}  // namespace lockstep::cli
