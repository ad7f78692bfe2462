#include "tools/lockstep/live_backend.h"

#include <utility>

namespace lockstep::cli {

LiveBackend::LiveBackend(Engine& engine, const Store& store, OnError on_error)
    : engine_(engine), store_(store), on_error_(std::move(on_error)) {}

void LiveBackend::submit(Command command, Done done) {
  engine_.submit(std::move(command), [this, done = std::move(done)](const Result<Answer>& answer) {
    if (!answer) on_error_(answer.error());
    done(answer);
  });
}

Result<void> LiveBackend::read(const Look& look) { return engine_.read(look); }

// Logs may be read on any thread while the writer appends: a long reading holds nobody up.
Result<void> LiveBackend::read_log(const LookAtLog& look) { return look(*store_.log); }

Result<SnapshotInfo> LiveBackend::snapshot() { return engine_.snapshot(); }

}  // namespace lockstep::cli
