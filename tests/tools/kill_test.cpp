// P1 and P2 of a real process: `lockstep run` is killed with SIGKILL at random moments (while it starts, works, takes a
// snapshot) under load from several clients, who send a command again with the same request number until it is
// answered. After each kill the store is read as it lies: every acknowledged command is in it once and has had its
// effect once, and the state that it recovers to keeps the invariants. `log verify` reads all of it now and then.
//
// LOCKSTEP_KILLS (20) and LOCKSTEP_SEED are taken from the environment; the seed is printed.
// Shows R01, R05.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

#include "events/codec.h"
#include "events/log/store.h"
#include "replay/recovery.h"
#include "statemachine/invariants.h"
#include "tests/tools/kill_ledger.h"
#include "tests/tools/process.h"
#include "tools/lockstep/address.h"
#include "tools/lockstep/client.h"
#include "tools/manifest/manifest.h"

namespace lockstep::testing {
namespace {

using std::chrono::milliseconds;

constexpr int kClients = 4;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

DefineGroup small_group(const std::string& name) {
  const auto read = read_manifest(fmt::format(R"(
kind: GangGroup
metadata: {{name: {}}}
spec:
  roles:
    - {{name: lead, tasks: "1*{{cpu=1}}"}}
    - {{name: w, replicas: 2, tasks: "1*{{cpu=1}}"}}
  claims: [{{name: scratch, kind: template, per: member, roles: [w]}}]
  failure: {{default: restartGroup, maxRestarts: 2, backoff: {{base: 10ms}}}}
  ttlAfterFinished: 2s
)",
                                              name),
                                  "ana");
  EXPECT_TRUE(read.problems.empty()) << read.problems.front().text;
  return read.groups.at(0);
}

// One that never stops asking; its commands outlive the controllers.
class LoadClient {
 public:
  LoadClient(std::uint64_t id, std::uint64_t seed, std::string socket, Ledger& ledger)
      : id_(id), random_(seed), socket_(std::move(socket)), ledger_(ledger) {}

  void work(const std::atomic<bool>& end) {
    while (!end) {
      if (groups_.empty() || pick(10) < 7) {
        define(end);
      } else {
        cancel(end);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(pick(4'000)));
    }
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  void define(const std::atomic<bool>& end) {
    const std::string name = fmt::format("c{}-{}", id_, requests_ + 1);
    Told told;
    told.defined = name;
    if (ask(small_group(name), end, told) && told.code == AnswerCode::Done) groups_.push_back(told.group);
  }

  void cancel(const std::atomic<bool>& end) {
    const std::size_t which = pick(groups_.size());
    Told told;
    told.cancelled = groups_[which];
    (void)ask(GroupCommand{GroupVerb::Cancel, groups_[which]}, end, told);
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  // Until it is answered, by whichever controller.
  bool ask(CommandBody body, const std::atomic<bool>& end, Told& told) {
    Command command;
    command.client = id_;
    command.request = ++requests_;
    command.actor = Actor::User;
    command.body = std::move(body);
    std::vector<std::byte> message;
    encode_command(command, message);
    const cli::Request request{"POST", "/v1/commands",
                               std::string(reinterpret_cast<const char*>(message.data()), message.size())};
    while (!end) {
      const auto reply = cli::call_controller(socket_, request);
      if (reply && take(*reply, command, told)) return true;
      std::this_thread::sleep_for(milliseconds(2));
    }
    return false;
  }

  bool take(const cli::Reply& reply, const Command& command, Told& told) {
    const auto json = nlohmann::json::parse(reply.body);
    if (json.contains("error")) {
      const std::string code = json["error"]["code"];
      if (!from_name(code, told.code)) return false;  // the controller is going away
    } else {
      EXPECT_TRUE(from_name(json["code"].get<std::string>(), told.code));
      told.group = json["group"].is_null() ? GroupId{} : GroupId{json["group"].get<std::uint64_t>()};
      told.seq = Seq{json["seq"].get<std::uint64_t>()};
      if (json["repeated"].get<bool>()) ledger_.note_repeated();
    }
    told.client = command.client;
    told.request = command.request;
    // A rejection names no group in the reply, and changes nothing: nothing to hold against the log.
    if (!is_rejection(told.code)) ledger_.note(told);
    return true;
  }

  std::uint64_t id_;
  std::uint64_t requests_ = 0;
  std::mt19937_64 random_;
  std::string socket_;
  Ledger& ledger_;
  std::vector<GroupId> groups_;
};

class Kills : public ::testing::Test {
 protected:
  void SetUp() override {
    seed_ = number_from("LOCKSTEP_SEED", std::random_device{}());
    random_.seed(seed_);
    std::printf("LOCKSTEP_SEED=%llu\n", static_cast<unsigned long long>(seed_));
    std::fflush(stdout);
    const std::string hosts = dir_.file("hosts.yaml", "kind: Inventory\nhosts: [{name: \"n[1-8]\", cpu: 8}]\n");
    const Ran made = lockstep({"init", "--store", store_.string(), "--hosts", hosts});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  Child start() {
    return Child({lockstep_binary(), "run", "--store", store_.string(), "--runtime", "40ms", "--step", "2ms",
                  "--claims-after", "3ms", "--fail", "w[1]@10ms:code=1", "--snapshot-every", "700"},
                 dir_.path() / "out", dir_.path() / "err");
  }

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  // A quarter die while they start, a quarter while a snapshot is written, the others while they work.
  void let_live() {
    const auto kind = pick(4);
    if (kind != 0) wait_for_answers(1 + pick(60));
    if (kind == 1) {
      snapshot_ = std::thread([this] { (void)cli::call_controller(socket_, {"POST", "/v1/snapshots", ""}); });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(pick(kind == 0 ? 80'000 : 8'000)));
  }

  // Work is counted, not timed, so that a slow machine does as much of it.
  void wait_for_answers(std::size_t more) {
    const std::size_t wanted = ledger_.acknowledged() + more;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (ledger_.acknowledged() < wanted && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  void check_store(bool thoroughly) {
    const auto store = open_store(store_, OpenMode::ReadOnly);
    ASSERT_TRUE(store) << store.error().message;
    const SnapshotStore snapshots(store->snapshots(), store->id);
    ASSERT_EQ(ledger_.compare(*store->log), "");
    const auto recovered = recover(*store->log, &snapshots);
    ASSERT_TRUE(recovered) << recovered.error().message;
    ASSERT_EQ(check_invariants(recovered->state), "");
    if (!thoroughly) return;
    const Ran verified = lockstep({"log", "verify", "--store", store_.string()});
    ASSERT_EQ(verified.status, 0) << verified.err;
    const Ran whole = lockstep({"snapshot", "verify", "--store", store_.string()});
    ASSERT_EQ(whole.status, 0) << whole.err;
  }

  TempDir dir_;
  std::filesystem::path store_ = dir_.path() / "store";
  std::string socket_ = (store_ / "control.sock").string();
  std::uint64_t seed_ = 0;
  std::mt19937_64 random_;
  Ledger ledger_;
  std::thread snapshot_;
};

TEST_F(Kills, LoseNoAcknowledgedCommandAndDoNoneTwice) {
  const std::uint64_t kills = number_from("LOCKSTEP_KILLS", 20);
  std::atomic<bool> end{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      LoadClient(static_cast<std::uint64_t>(i) + 1, seed_ + static_cast<std::uint64_t>(i), socket_, ledger_).work(end);
    });
  }
  for (std::uint64_t kill = 0; kill < kills && !HasFatalFailure(); ++kill) {
    Child controller = start();
    let_live();
    EXPECT_TRUE(controller.running()) << "it ended by itself: " << read_text(dir_.path() / "err");
    controller.signal(SIGKILL);
    EXPECT_EQ(controller.wait(), 128 + SIGKILL);
    if (snapshot_.joinable()) snapshot_.join();
    check_store(kill % 20 == 19);
  }
  end = true;
  for (auto& client : clients) client.join();
  if (!HasFatalFailure()) check_store(true);
  std::printf("%llu kills, %zu commands acknowledged, %zu of them by a later controller than the one first asked\n",
              static_cast<unsigned long long>(kills), ledger_.acknowledged(), ledger_.repeated());
  EXPECT_GT(ledger_.acknowledged(), kills);
}

}  // namespace
}  // namespace lockstep::testing
