#pragma once
// A thread that appends one batch at a time, beside the one that decides the next. Private to replay/.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "replay/controller.h"

namespace lockstep {

class Flusher {
 public:
  explicit Flusher(Log& log) : log_(log), thread_([this] { run(); }) {}
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;
  ~Flusher() {
    {
      const std::lock_guard guard(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // After the one before has been waited for. `batch` must stay until then.
  void start(const Controller::Batch& batch) {
    {
      const std::lock_guard guard(mutex_);
      batch_ = &batch;
    }
    changed_.notify_all();
  }
  [[nodiscard]] Result<void> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.has_value(); });
    Result<void> done = std::move(*done_);
    done_.reset();
    return done;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || batch_ != nullptr; });
      if (batch_ == nullptr) return;
      const Controller::Batch& batch = *std::exchange(batch_, nullptr);
      lock.unlock();
      Result<void> done = Controller::append(log_, batch);
      lock.lock();
      done_ = std::move(done);
      changed_.notify_all();
    }
  }

  Log& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const Controller::Batch* batch_ = nullptr;
  std::optional<Result<void>> done_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace lockstep
