#pragma once
// How a verb reaches a store: through the controller that runs on it, if one does, else by opening the store itself.
// A command carries a client id drawn at random and a request number, and is sent again with the same pair when the
// controller goes away before it answers, to whoever has the store next: so it is done once, and its first answer is
// what comes back.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "events/commands.h"
#include "tools/lockstep/backend.h"
#include "tools/lockstep/json.h"
#include "tools/lockstep/outcome.h"
#include "tools/lockstep/service.h"

namespace lockstep::cli {

enum class Access { Read, Write };

class Client {
 public:
  // `access`: how the store is opened when no controller runs on it.
  Client(std::filesystem::path store, Access access);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] Outcome<Json> get(const std::string& target);
  [[nodiscard]] Outcome<Json> post(const std::string& target, std::string body);
  // -> {code group seq text repeated}; a rejection is a Failure.
  [[nodiscard]] Outcome<Json> command(CommandBody body, Actor actor = Actor::User);

 private:
  [[nodiscard]] Outcome<Json> ask(const Request& request);

  std::filesystem::path store_;
  Access access_;
  std::uint64_t client_id_;
  std::uint64_t requests_ = 0;
  std::unique_ptr<Backend> direct_;
};

// One request to a controller on its socket. NoController: nobody listens there; Broken: it went away, and whether it
// did what was asked is not known.
enum class CallError { NoController, Broken };
[[nodiscard]] tl::expected<Reply, CallError> call_controller(const std::string& socket_path, const Request& request);

// "/v1/groups/" + KEY with what a path may not hold written as %XX.
[[nodiscard]] std::string group_target(const std::string& key, const std::string& below = {});

}  // namespace lockstep::cli
