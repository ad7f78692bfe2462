#include "tools/lockstep/client.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "events/codec.h"
#include "tools/lockstep/address.h"
#include "tools/lockstep/direct_backend.h"
#include "tools/lockstep/output.h"

namespace lockstep::cli {
namespace {

// While a controller stops, starts or is killed, commands of its clients wait for whoever comes next this long.
constexpr auto kStartPatience = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(20);

// A controller that has said nothing for so long is asked whether it is there at all. A read then waits no longer; a
// command does for a while, for it may be done as soon as the controller goes on. One that is there may take its time.
constexpr auto kAnswerPatience = std::chrono::seconds(8);
constexpr auto kProbePatience = std::chrono::seconds(2);
constexpr int kReadSilences = 1;
constexpr int kCommandSilences = 2;
constexpr auto kWorkPatience = std::chrono::minutes(10);

// An empty command is refused by the thread that reads from the socket, whatever the others are at.
bool is_there(const std::string& socket) {
  return call_controller(socket, {"POST", "/v1/commands", {}}, {kProbePatience, {}}).has_value();
}

std::uint64_t random_client() {
  std::uint64_t id = 0;
  while (id == 0) LOCKSTEP_CHECK(::getrandom(&id, sizeof id, 0) == sizeof id, "no random numbers from the kernel");
  return id;
}

}  // namespace

Client::Client(std::filesystem::path store) : store_(std::move(store)), client_id_(random_client()) {}

Client::~Client() = default;

Outcome<Json> Client::get(const std::string& target) { return ask({"GET", target, {}}, Access::Read); }

Outcome<Json> Client::post(const std::string& target, std::string body) {
  return ask({"POST", target, std::move(body)}, Access::Write);
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

Outcome<void> Client::rehearse(const std::vector<CommandBody>& commands) {
  auto address = ControlAddress::of(store_);
  if (!address) return refuse(std::move(address.error()));
  if (!direct_) {
    const Request nothing{"POST", "/v1/commands", {}};
    const auto there = call_controller(address->path(), nothing, {kAnswerPatience + kProbePatience, {}});
    if (!there && there.error() == CallError::Silent) return refuse(silent({"GET", {}, {}}));
    if (there || there.error() != CallError::NoController) return {};
    if (auto opened = open(Access::Read); !opened) return refuse(opened.error());
  }
  if (direct_access_ != Access::Read) return {};
  for (const auto& body : commands) {
    Command command;
    command.body = body;
    const auto answer = execute(*direct_, std::move(command));
    if (!answer) return refuse(answer.error());
    if (is_rejection(answer->code)) return refuse(failure(*answer));
  }
  direct_.reset();  // what it holds is no longer what the store says
  return {};
}

// Only what may be done twice without harm is asked again: reads, and commands, which carry their request number.
Outcome<Json> Client::ask(const Request& request, Access access) {
  const bool repeatable = request.method == "GET" || Service::is_command(request);
  const auto until = std::chrono::steady_clock::now() + kStartPatience;
  while (!direct_ || (access == Access::Write && direct_access_ == Access::Read)) {
    auto address = ControlAddress::of(store_);
    if (!address) return refuse(std::move(address.error()));
    const auto reply = call(address->path(), request);
    if (reply) return read_reply(reply->body);
    if (reply.error() == CallError::Silent) return refuse(silent(request));
    if (reply.error() == CallError::Broken && !repeatable) {
      return refuse(
          Error{ErrorCode::OutcomeUnknown, fmt::format("{}: the controller went away before it answered; look "
                                                       "whether it was done",
                                                       store_.string())});
    }
    const auto opened = open(access);
    if (opened) break;
    if (opened.error().code != ErrorCode::Locked || std::chrono::steady_clock::now() > until) {
      return refuse(opened.error());
    }
    std::this_thread::sleep_for(kPause);
  }
  return Service(*direct_).answer(request);
}

Result<void> Client::open(Access access) {
  direct_.reset();  // a store can be open only once in a process
  auto opened = access == Access::Read ? open_to_read(store_) : open_to_write(store_);
  LOCKSTEP_TRY(opened);
  direct_ = std::move(*opened);
  direct_access_ = access;
  return {};
}

tl::expected<Reply, CallError> Client::call(const std::string& socket, const Request& request) const {
  const auto until = std::chrono::steady_clock::now() + kWorkPatience;
  int left = request.method == "GET" ? kReadSilences : kCommandSilences;
  const auto wait_on = [&] {
    if (std::chrono::steady_clock::now() > until) return false;
    const bool there = is_there(socket);
    if (!there && --left == 0) return false;
    note_on_terminal("Waiting", fmt::format("{}: {} {}", store_.string(), controller(),
                                            there ? "is at it" : "does not answer; waiting on"));
    return true;
  };
  return call_controller(socket, request, {kAnswerPatience, wait_on});
}

std::string Client::controller() const {
  const auto pid = store_owner(store_);
  return pid && *pid != 0 ? fmt::format("the controller (pid {})", *pid) : std::string("the controller");
}

Failure Client::silent(const Request& request) const {
  const auto pid = store_owner(store_);
  const std::string todo = pid && *pid != 0
                               ? fmt::format("see whether it is stopped (kill -CONT {} lets it go on), or end it", *pid)
                               : std::string("see whether it is stopped");
  if (request.method == "GET") {
    return failure(Error{ErrorCode::StorageFailed,
                         fmt::format("{}: {} is there and does not answer: {}", store_.string(), controller(), todo)});
  }
  return failure(Error{ErrorCode::OutcomeUnknown,
                       fmt::format("{}: {} is there and does not answer, and may do it later: {}; then look whether it "
                                   "was done",
                                   store_.string(), controller(), todo)});
}

namespace {

std::string path_part(const std::string& key) {
  std::string part;
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    part += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return part;
}

}  // namespace

std::string group_target(const std::string& key, const std::string& below) {
  const std::string target = "/v1/groups/" + path_part(key);
  return below.empty() ? target : target + "/" + below;
}

std::string host_target(const std::string& name) { return "/v1/hosts/" + path_part(name); }

}  // namespace lockstep::cli
