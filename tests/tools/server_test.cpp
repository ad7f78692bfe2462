// The control socket of a controller: a real engine in memory behind it, HTTP as a careless or hostile client would
// write it in front. Nothing may crash or hang it; what is malformed is told so.
#include "tools/lockstep/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "events/codec.h"
#include "events/log/memory_log.h"
#include "tests/tools/command_fixture.h"
#include "tests/tools/process.h"
#include "tests/tools/small_world.h"
#include "tools/lockstep/client.h"
#include "tools/lockstep/live_backend.h"
#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

using ::lockstep::testing::small_manifest;

class ControlSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    store_.directory = directory_.path();
    store_.id = std::string(32, '0');
    std::filesystem::create_directory(store_.snapshots());
    store_.log = std::make_unique<MemoryLog>();
    snapshots_ = std::make_unique<SnapshotStore>(store_.snapshots(), store_.id);
    auto engine = Engine::start(*store_.log, snapshots_.get(), EngineOptions{}, wall_clock);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
    backend_ = std::make_unique<LiveBackend>(*engine_, store_, [](const Error&) {});
    service_ = std::make_unique<Service>(*backend_);
    ServerLimits limits;
    limits.seconds_idle = 5;
    limits.connections = 16;
    auto server = Server::start(path(), *service_, *backend_, limits);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }

  void TearDown() override {
    if (server_) server_->close();
    if (engine_) engine_->stop();
    server_.reset();
    engine_.reset();
  }

  [[nodiscard]] std::string path() const { return (directory_.path() / "control.sock").string(); }

  [[nodiscard]] int connect() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
    const auto* any = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::connect(fd, any, sizeof address), 0);
    return fd;
  }

  // Everything that comes back until the connection ends, after `text` was sent as it is.
  [[nodiscard]] std::string raw(const std::string& text) const {
    const int fd = connect();
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t count = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    ::shutdown(fd, SHUT_WR);
    std::string answer;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(fd, buffer, sizeof buffer)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(count));
    }
    ::close(fd);
    return answer;
  }

  [[nodiscard]] Reply call(const std::string& method, const std::string& target, const std::string& body = {}) const {
    const auto reply = call_controller(path(), {method, target, body});
    EXPECT_TRUE(reply) << method << " " << target;
    return reply.value_or(Reply{});
  }

  [[nodiscard]] static std::string error_code(const Reply& reply) { return Json::parse(reply.body)["error"]["code"]; }

  [[nodiscard]] static std::string message(CommandBody body, std::uint64_t client, std::uint64_t request) {
    Command command;
    command.client = client;
    command.request = request;
    command.actor = Actor::User;
    command.body = std::move(body);
    std::vector<std::byte> bytes;
    encode_command(command, bytes);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void add_hosts() {
    HostInfo host;
    host.name = "n1";
    host.counters = {{"cpu", 8'000}, {"gpu", 8}};
    host.at = {"A"};
    Command command;
    command.body = SetLevels{{"block"}};
    ASSERT_TRUE(engine_->execute(command));
    command.body = SetHost{host, true};
    ASSERT_TRUE(engine_->execute(command));
  }

  testing::TempDir directory_;
  Store store_;
  std::unique_ptr<SnapshotStore> snapshots_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<LiveBackend> backend_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Server> server_;
};

TEST_F(ControlSocket, IsItsOwnersAlone) {
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(ControlSocket, AnswersEveryPath) {
  add_hosts();
  EXPECT_EQ(call("POST", "/v1/groups", small_manifest("train")).status, 200U);
  for (const char* target :
       {"/v1/groups", "/v1/groups/train", "/v1/groups/%231", "/v1/groups/train/why", "/v1/groups/train/history",
        "/v1/hosts", "/v1/claims", "/v1/state", "/v1/state?at=2", "/v1/log/stat", "/v1/snapshots"}) {
    const Reply reply = call("GET", target);
    EXPECT_EQ(reply.status, 200U) << target << ": " << reply.body;
    EXPECT_FALSE(Json::parse(reply.body, nullptr, false).is_discarded()) << target;
  }
  EXPECT_EQ(call("POST", "/v1/snapshots").status, 200U);
  EXPECT_EQ(Json::parse(call("GET", "/v1/snapshots").body)["snapshots"].size(), 1U);
}

TEST_F(ControlSocket, GivesTheFirstAnswerAgainToARequestAskedAgain) {
  add_hosts();
  const auto read = read_manifest(small_manifest("train"), "ana");
  const std::string define = message(read.groups.at(0), 77, 1);
  const Json first = Json::parse(call("POST", "/v1/commands", define).body);
  const Json again = Json::parse(call("POST", "/v1/commands", define).body);
  EXPECT_EQ(first["code"], "Done");
  EXPECT_EQ(first["group"], 1);
  EXPECT_FALSE(first["repeated"].get<bool>());
  EXPECT_EQ(again["group"], 1);
  EXPECT_TRUE(again["repeated"].get<bool>());
  EXPECT_EQ(Json::parse(call("GET", "/v1/groups").body).size(), 1U);
}

TEST_F(ControlSocket, TellsARejectionWithItsCode) {
  add_hosts();
  const Reply reply = call("POST", "/v1/commands", message(GroupCommand{GroupVerb::Cancel, GroupId{9}}, 5, 1));
  EXPECT_EQ(reply.status, 404U);
  EXPECT_EQ(error_code(reply), "UnknownGroup");
  EXPECT_EQ(Json::parse(reply.body)["error"]["exit"], 1);
}

TEST_F(ControlSocket, RefusesCommandsThatAreTheControllersOwn) {
  const Reply reply = call("POST", "/v1/commands", message(StartController{1}, 5, 1));
  EXPECT_EQ(reply.status, 400U);
  EXPECT_EQ(error_code(reply), "Usage");
}

TEST_F(ControlSocket, RefusesABodyThatIsNoCommand) {
  for (const std::string& body : {std::string(), std::string("hello"), std::string(4096, '\xff')}) {
    const Reply reply = call("POST", "/v1/commands", body);
    EXPECT_EQ(reply.status, 400U);
  }
}

TEST_F(ControlSocket, RefusesAManifestWithAllItsProblems) {
  const Reply reply = call("POST", "/v1/groups", "kind: GangGroup\nmetadata: {name: A}\nspec: {rolls: 1}\n");
  EXPECT_EQ(reply.status, 400U);
  EXPECT_EQ(error_code(reply), "InvalidManifest");
  EXPECT_EQ(Json::parse(call("GET", "/v1/groups").body).size(), 0U);
}

TEST_F(ControlSocket, SaysWhatOfAForeignManifestIsNotCarried) {
  add_hosts();
  const Json answer = Json::parse(call("POST", "/v1/groups", testing::kJobSet).body);
  ASSERT_EQ(answer["groups"].size(), 1U) << answer;
  EXPECT_EQ(answer["groups"][0]["name"], "js");
  EXPECT_EQ(answer["groups"][0]["code"], "Done");
  EXPECT_EQ(answer["notCarried"], Json(read_manifest(testing::kJobSet, "").not_carried));
  EXPECT_EQ(answer["notCarried"].back(), "spec.network: not carried");
  EXPECT_EQ(Json::parse(call("POST", "/v1/groups", small_manifest("train")).body)["notCarried"], Json::array());
}

TEST_F(ControlSocket, RefusesPathsThatAreNotThere) {
  for (const char* target : {"/", "/v1", "/v1/", "/v2/groups", "/v1/groups/none", "/v1/groups/none/why",
                             "/v1/groups/none/history", "/v1/hosts/x", "/v1/nothing", "/v1/groups/a/b/c"}) {
    EXPECT_EQ(call("GET", target).status, 404U) << target;
  }
  for (const char* target :
       {"/v1/groups/%zz", "/v1/groups/%4", "/v1/state?at=0", "/v1/state?at=-1", "/v1/state?at=x"}) {
    EXPECT_EQ(call("GET", target).status, 400U) << target;
  }
  EXPECT_EQ(call("GET", "/v1/state?at=999999").status, 404U);
  EXPECT_EQ(call("DELETE", "/v1/groups").status, 400U);
}

TEST_F(ControlSocket, AnswersWhatIsNoHttpAndGoesOn) {
  EXPECT_NE(raw("hello\r\n\r\n").find("400 Bad Request"), std::string::npos);
  EXPECT_NE(raw(std::string(100'000, 'x')).find("lockstep"), std::string::npos);
  EXPECT_NE(raw("GET /v1/groups HTTP/1.1\r\nx: " + std::string(100'000, 'x') + "\r\n\r\n").find("431"),
            std::string::npos);
  EXPECT_NE(raw("POST /v1/groups HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n").find("413"), std::string::npos);
  EXPECT_EQ(raw(""), "");
  EXPECT_EQ(raw("POST /v1/groups HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc"), "") << "it went away half way";
  EXPECT_EQ(call("GET", "/v1/groups").status, 200U);
}

TEST_F(ControlSocket, TakesSeveralRequestsOnOneConnection) {
  const std::string get = "GET /v1/groups HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string answers = raw(get + get + get);
  std::size_t count = 0;
  for (auto at = answers.find("200 OK"); at != std::string::npos; at = answers.find("200 OK", at + 1)) ++count;
  EXPECT_EQ(count, 3U);
}

TEST_F(ControlSocket, ClosesConnectionsBeyondItsLimit) {
  std::vector<int> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(connect());
  char byte = 0;
  EXPECT_EQ(::read(idle.back(), &byte, 1), 0) << "the last one is closed at once";
  for (const int fd : idle) ::close(fd);
}

TEST_F(ControlSocket, ServesManyClientsAtOnce) {
  add_hosts();
  std::vector<std::thread> clients;
  for (std::uint64_t client = 1; client <= 8; ++client) {
    clients.emplace_back([this, client] {
      for (std::uint64_t request = 1; request <= 20; ++request) {
        auto group = read_manifest(small_manifest(fmt::format("g{}-{}", client, request)), "ana").groups.at(0);
        EXPECT_EQ(call("POST", "/v1/commands", message(std::move(group), client, request)).status, 200U);
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(Json::parse(call("GET", "/v1/groups").body).size(), 160U);
}

TEST_F(ControlSocket, StopsAtOnceWithIdleClients) {
  const int idle = connect();
  EXPECT_EQ(call("GET", "/v1/groups").status, 200U);
  server_->close();
  engine_->stop();
  server_.reset();
  char byte = 0;
  EXPECT_EQ(::read(idle, &byte, 1), 0);
  ::close(idle);
  EXPECT_FALSE(call_controller(path(), {"GET", "/v1/groups", ""}));
}

}  // namespace
}  // namespace lockstep::cli
