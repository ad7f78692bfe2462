#pragma once
// Waits for a time, for another thread, or for a signal that asks this process to end, whichever comes first.

#include "events/ids.h"

namespace lockstep::cli {

// One at a time, made before any thread, so that every thread keeps SIGINT and SIGTERM blocked and only wait() sees
// them.
class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void wake();  // from any thread
  // Until `at`; Time{} = for ever.
  void wait(Time at);
  [[nodiscard]] bool asked_to_end() const;

 private:
  int event_ = -1;
};

}  // namespace lockstep::cli
