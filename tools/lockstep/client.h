#pragma once
// How a verb reaches a store: through the controller that runs on it, if one does, else by opening the store itself, to
// read until the first command. A controller that says nothing is named after some seconds, rather than waited for.
//
// A command carries a client id drawn at random and a request number, and is sent again with the same pair when the
// controller goes away before it answers, to whoever has the store next: so it is done once, and its first answer is
// what comes back.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/commands.h"
#include "tools/lockstep/backend.h"
#include "tools/lockstep/json.h"
#include "tools/lockstep/outcome.h"
#include "tools/lockstep/service.h"

namespace lockstep::cli {

// One request to a controller on its socket. NoController: nobody listens there; Broken: it went away, and whether it
// did what was asked is not known; Silent: it is there and has said nothing, nor is that known.
enum class CallError { NoController, Broken, Silent };
struct Patience {
  std::chrono::seconds each{600};
  std::function<bool()> wait_on{};  // asked whenever `each` has passed; else, and when it is not given, Silent
};
[[nodiscard]] tl::expected<Reply, CallError> call_controller(const std::string& socket_path, const Request& request,
                                                             const Patience& patience = {});

class Client {
 public:
  explicit Client(std::filesystem::path store);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] Outcome<Json> get(const std::string& target);
  [[nodiscard]] Outcome<Json> post(const std::string& target, std::string body);
  // -> {code group seq text repeated}; a rejection is a Failure.
  [[nodiscard]] Outcome<Json> command(CommandBody body, Actor actor = Actor::User);
  // Where no controller runs: the commands in their order on a copy of the state, so that a refusal of one of them
  // comes before any is done and leaves the store as it is. A running controller is not asked.
  [[nodiscard]] Outcome<void> rehearse(const std::vector<CommandBody>& commands);

 private:
  enum class Access { Read, Write };
  [[nodiscard]] Outcome<Json> ask(const Request& request, Access access);
  [[nodiscard]] tl::expected<Reply, CallError> call(const std::string& socket, const Request& request) const;
  [[nodiscard]] Result<void> open(Access access);
  [[nodiscard]] Failure silent(const Request& request) const;
  [[nodiscard]] std::string controller() const;

  std::filesystem::path store_;
  std::uint64_t client_id_;
  std::uint64_t requests_ = 0;
  std::unique_ptr<Backend> direct_;  // no controller runs
  Access direct_access_{Access::Read};
};

// "/v1/groups/" + KEY with what a path may not hold written as %XX.
[[nodiscard]] std::string group_target(const std::string& key, const std::string& below = {});
[[nodiscard]] std::string host_target(const std::string& name);

}  // namespace lockstep::cli
