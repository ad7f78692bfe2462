#include "tools/lockstep/client.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "events/codec.h"
#include "tools/lockstep/address.h"
#include "tools/lockstep/direct_backend.h"

namespace lockstep::cli {
namespace {

// While a controller stops, starts or is killed, commands of its clients wait for whoever comes next this long.
constexpr auto kStartPatience = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(20);

std::uint64_t random_client() {
  std::uint64_t id = 0;
  while (id == 0) LOCKSTEP_CHECK(::getrandom(&id, sizeof id, 0) == sizeof id, "no random numbers from the kernel");
  return id;
}

}  // namespace

Client::Client(std::filesystem::path store, Access access)
    : store_(std::move(store)), access_(access), client_id_(random_client()) {}

Client::~Client() = default;

Outcome<Json> Client::get(const std::string& target) { return ask({"GET", target, {}}); }

Outcome<Json> Client::post(const std::string& target, std::string body) {
  return ask({"POST", target, std::move(body)});
}

Outcome<Json> Client::command(CommandBody body, Actor actor) {
  Command command;
  command.client = client_id_;
  command.request = ++requests_;
  command.actor = actor;
  command.body = std::move(body);
  std::vector<std::byte> message;
  encode_command(command, message);
  return post("/v1/commands", std::string(reinterpret_cast<const char*>(message.data()), message.size()));
}

// Only what may be done twice without harm is asked again: reads, and commands, which carry their request number.
Outcome<Json> Client::ask(const Request& request) {
  const bool repeatable = request.method == "GET" || Service::is_command(request);
  const auto until = std::chrono::steady_clock::now() + kStartPatience;
  while (!direct_) {
    auto address = ControlAddress::of(store_);
    if (!address) return refuse(std::move(address.error()));
    const auto reply = call_controller(address->path(), request);
    if (reply) return read_reply(reply->body);
    if (reply.error() == CallError::Broken && !repeatable) {
      return refuse(
          Error{ErrorCode::OutcomeUnknown, fmt::format("{}: the controller went away before it answered; look "
                                                       "whether it was done",
                                                       store_.string())});
    }
    auto opened = access_ == Access::Read ? open_to_read(store_) : open_to_write(store_);
    if (opened) {
      direct_ = std::move(*opened);
    } else if (opened.error().code != ErrorCode::Locked || std::chrono::steady_clock::now() > until) {
      return refuse(opened.error());
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
  return Service(*direct_).answer(request);
}

std::string group_target(const std::string& key, const std::string& below) {
  std::string target = "/v1/groups/";
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    target += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return below.empty() ? target : target + "/" + below;
}

}  // namespace lockstep::cli
