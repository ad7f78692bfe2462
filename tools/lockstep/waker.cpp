#include "tools/lockstep/waker.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

#include "events/error.h"
#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

volatile std::sig_atomic_t asked = 0;
sigset_t before;
struct sigaction before_interrupt;
struct sigaction before_terminate;
struct sigaction before_pipe;

}  // namespace

Waker::Waker() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  LOCKSTEP_CHECK(event_ >= 0, "no eventfd");
  asked = 0;
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  struct sigaction action = {};
  action.sa_handler = [](int) { asked = 1; };
  sigaction(SIGINT, &action, &before_interrupt);
  sigaction(SIGTERM, &action, &before_terminate);
  action.sa_handler = SIG_IGN;  // a reader of our lines that went away is no reason to end
  sigaction(SIGPIPE, &action, &before_pipe);
}

Waker::~Waker() {
  sigaction(SIGINT, &before_interrupt, nullptr);
  sigaction(SIGTERM, &before_terminate, nullptr);
  sigaction(SIGPIPE, &before_pipe, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(event_);
}

void Waker::wake() {
  const std::uint64_t one = 1;
  (void)!::write(event_, &one, sizeof one);
}

void Waker::wait(Time at) {
  timespec left{};
  if (at) {
    const std::int64_t nanoseconds = std::max<std::int64_t>((at - wall_clock()).value, 0);
    left = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  }
  sigset_t open = before;
  sigdelset(&open, SIGINT);
  sigdelset(&open, SIGTERM);
  pollfd poll{event_, POLLIN, 0};
  if (!asked_to_end()) (void)::ppoll(&poll, 1, at ? &left : nullptr, &open);
  std::uint64_t count = 0;
  (void)!::read(event_, &count, sizeof count);
}

bool Waker::asked_to_end() const { return asked != 0; }

}  // namespace lockstep::cli
