#pragma once
// What answering needs of a controller, whichever form it has: the one that runs (live_backend.h), a store that this
// process opened to write to, or one that it only reads (direct_backend.h). So every verb has one implementation.

#include <functional>

#include "events/log/store.h"
#include "replay/recovery.h"

namespace lockstep::cli {

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // `done` is called once the answer is durable, perhaps on another thread. The command's time is set here.
  using Done = std::function<void(const Result<Answer>&)>;
  virtual void submit(Command command, Done done) = 0;

  // A durable state, unchanged while `look` runs.
  using Look = std::function<void(const State&, const Head&)>;
  [[nodiscard]] virtual Result<void> read(const Look& look) = 0;
  // The log, to which somebody else may append meanwhile.
  using LookAtLog = std::function<Result<void>(const Log&)>;
  [[nodiscard]] virtual Result<void> read_log(const LookAtLog& look) = 0;

  [[nodiscard]] virtual Result<SnapshotInfo> snapshot() = 0;
  [[nodiscard]] virtual const Store& store() const = 0;
};

// submit() and wait.
[[nodiscard]] Result<Answer> execute(Backend& backend, Command command);

}  // namespace lockstep::cli
