#pragma once
// The control socket of a running controller: HTTP/1.1 on a unix socket that only its owner may open (mode 0600).
// Commands are answered when they are durable, without a thread each; everything else is worked out on two threads.
// Sizes, times and the number of connections are bounded; what is malformed is answered and the connection closed.

#include <memory>
#include <string>

#include "tools/lockstep/outcome.h"
#include "tools/lockstep/service.h"

namespace lockstep::cli {

struct ServerLimits {
  std::size_t header_bytes{16U << 10U};
  std::size_t body_bytes{(16U << 20U) + (1U << 20U)};  // a manifest, and its frame
  std::size_t connections{1'024};
  int seconds_idle{60};   // between requests, and for reading one
  int seconds_write{60};  // for a client to take its answer
};

class Server {
 public:
  // Listens on `socket_path`, where the caller knows that nobody else does. `service` and `backend` outlive it.
  [[nodiscard]] static Outcome<std::unique_ptr<Server>> start(const std::string& socket_path, const Service& service,
                                                              Backend& backend, const ServerLimits& limits = {});
  // Takes no new connections; those that wait for an answer get it.
  void close();
  // Stops at once. No command may be on its way: stop the engine before.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  Server();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::cli
