// `lockstep hosts`: the tree of domains before the table, the same from a running controller and from a store, drawn
// on a terminal and plain in a pipe; and what a reservation holds, there and in `show` and `why`.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

// c1 has a shorter path, d1 none; r1 is in both blocks.
constexpr const char* kTwoLevels = R"(kind: Inventory
levels: [block, rack]
hosts:
  - {name: "a[1-2]", cpu: 16, mem: 64Gi, gpu: 4, at: A/r1}
  - {name: a3, cpu: 16, mem: 64Gi, gpu: 4, at: A/r2}
  - {name: b1, cpu: 16, mem: 64Gi, gpu: 4, at: B/r1}
  - {name: c1, cpu: 8, mem: 8Gi, at: B}
  - {name: d1, cpu: 500m, mem: 1Gi}
)";

// Two of the twelve gpus of block A.
constexpr const char* kSmall = R"(kind: GangGroup
metadata: {name: small}
spec:
  runLimit: 1h
  placement: {topology: {required: rack}}
  roles: [{name: w, replicas: 2, tasks: "1*{gpu=1}"}]
)";

// All gpus of a block with three hosts.
constexpr const char* kBig = R"(kind: GangGroup
metadata: {name: big}
spec:
  placement: {mode: reserve, topology: {required: block}}
  timeouts: {reserve: 2h}
  roles: [{name: w, replicas: 3, tasks: "1*{gpu=4}"}]
)";

class Hosts : public CommandTest {
 protected:
  void init_with(const char* inventory) {
    const Ran made = command({"init", "--hosts", dir_.file("hosts.yaml", inventory)});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  [[nodiscard]] Child controller() const {
    Child running({lockstep_binary(), "run", "--store", store(), "--step", "5ms", "--runtime", "10h"},
                  dir_.path() / "out", dir_.path() / "err");
    wait_for_socket();
    return running;
  }

  void submit_and_wait(const char* text, const char* group, const char* wanted) const {
    ASSERT_EQ(command({"submit", manifest(text)}).status, 0);
    wait_until([&] { return phase(group) == wanted; }, wanted);
  }

  [[nodiscard]] std::string text(const std::vector<std::string>& words) const {
    const Ran ran = command(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  }

  // What it writes to a terminal.
  [[nodiscard]] std::string on_terminal(std::vector<std::string> words) const {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_EQ(::grantpt(terminal), 0);
    EXPECT_EQ(::unlockpt(terminal), 0);
    const std::string name = ::ptsname(terminal);
    const int kept_open = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    words.insert(words.begin(), lockstep_binary());
    words.insert(words.end(), {"--store", store()});
    EXPECT_EQ(Child(words, name, dir_.path() / "err").wait(), 0) << read_text(dir_.path() / "err");
    char buffer[16'384];
    const ssize_t count = ::read(terminal, buffer, sizeof buffer);
    ::close(kept_open);
    ::close(terminal);
    return {buffer, count > 0 ? static_cast<std::size_t>(count) : 0};
  }
};

const nlohmann::json& domain(const nlohmann::json& parent, const std::string& path) {
  static const nlohmann::json kNone;
  for (const auto& below : parent.at("domains")) {
    if (below.at("path") == path) return below;
  }
  ADD_FAILURE() << "no domain " << path << " in " << parent.dump();
  return kNone;
}

TEST_F(Hosts, AreCountedByDomainBeforeTheirTable) {
  init_with(kTwoLevels);
  ASSERT_EQ(command({"hosts", "down", "d1"}).status, 0);
  ASSERT_EQ(command({"hosts", "drain", "b1"}).status, 0);
  const std::string tree =
      "DOMAIN    HOSTS  DOWN  DRAINED  FREE OF TOTAL\n"
      "/         6      1     1        cpu=56/72500m gpu=12/16 mem=200Gi/265Gi\n"
      "  (d1)    1      1     0        cpu=0/500m mem=0/1Gi\n"
      "  A       3      0     0        cpu=48/48 gpu=12/12 mem=192Gi/192Gi\n"
      "    r1    2      0     0        cpu=32/32 gpu=8/8 mem=128Gi/128Gi\n"
      "    r2    1      0     0        cpu=16/16 gpu=4/4 mem=64Gi/64Gi\n"
      "  B       2      0     1        cpu=8/24 gpu=0/4 mem=8Gi/72Gi\n"
      "    (c1)  1      0     0        cpu=8/8 mem=8Gi/8Gi\n"
      "    r1    1      0     1        cpu=0/16 gpu=0/4 mem=0/64Gi\n";
  EXPECT_EQ(text({"hosts", "--tree"}), tree);
  const std::string both = text({"hosts"});
  EXPECT_EQ(both.rfind(tree + "\nHOST  STATE    AT    CAPACITY", 0), 0U) << both;
  EXPECT_NE(both.find("\na3    up       A/r2"), std::string::npos) << both;
}

TEST_F(Hosts, WithoutPlacesAreATableAlone) {
  init_with("kind: Inventory\nhosts: [{name: 'n[1-2]', cpu: 4}]\n");
  EXPECT_EQ(text({"hosts"}).rfind("HOST ", 0), 0U);
  EXPECT_EQ(text({"hosts", "--tree"}),
            "DOMAIN  HOSTS  DOWN  DRAINED  FREE OF TOTAL\n/       2      0     0        cpu=8/8\n");
  EXPECT_EQ(json({"hosts", "--tree"})["hosts"], (nlohmann::json{"n1", "n2"}));
}

TEST_F(Hosts, AreAnArrayInJsonAndATreeWhenAskedFor) {
  init_with(kTwoLevels);
  ASSERT_EQ(command({"hosts", "drain", "b1"}).status, 0);
  EXPECT_TRUE(json({"hosts"}).is_array());
  EXPECT_EQ(json({"hosts"}).size(), 6U);
  const auto root = json({"hosts", "--tree"});
  EXPECT_EQ(root["path"], "/");
  EXPECT_EQ(root["hostCount"], 6);
  EXPECT_EQ(root["capacity"]["cpu"], 72.5) << "cores";
  EXPECT_EQ(root["hosts"], nlohmann::json{"d1"}) << "hosts without a place";
  ASSERT_EQ(root["domains"].size(), 2U);
  const auto& a = domain(root, "A");
  const auto& b = domain(root, "B");
  EXPECT_EQ(b["hosts"], nlohmann::json{"c1"}) << "hosts with a shorter path";
  EXPECT_EQ(b["drained"], 1);
  EXPECT_EQ(domain(a, "A/r1")["hosts"], (nlohmann::json{"a1", "a2"}));
  EXPECT_EQ(domain(a, "A/r1")["name"], "r1");
  EXPECT_EQ(domain(b, "B/r1")["hosts"], nlohmann::json{"b1"}) << "another r1";
  EXPECT_EQ(domain(b, "B/r1")["free"]["gpu"], 0);
  EXPECT_EQ(domain(b, "B/r1")["capacity"]["gpu"], 4);
}

TEST_F(Hosts, AreDrawnOnATerminalAndPlainInAPipe) {
  init_with(kTwoLevels);
  ASSERT_EQ(command({"hosts", "drain", "b1"}).status, 0);
  const std::string drawn = on_terminal({"hosts"});
  for (const char* line : {"├─ (d1)     1 ", "├─ A        3 ", "│  └─ r2    1 ", "└─ B        2 ", "   ├─ (c1)  1 "}) {
    EXPECT_NE(drawn.find(line), std::string::npos) << line << "\n" << drawn;
  }
  EXPECT_NE(drawn.find("▒▒▒▒▒▒▒▒▒▒   0% gpu"), std::string::npos) << "drained is not used:\n" << drawn;
  EXPECT_NE(drawn.find("░░░░░░░░░░   0% cpu"), std::string::npos) << drawn;
  for (const char c : text({"hosts"})) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
}

TEST_F(Hosts, AreTheSameFromAControllerAndFromItsStore) {
  init_with(kTwoLevels);
  Child running = controller();
  submit_and_wait(kSmall, "small", "Running");
  const std::string live = text({"hosts"});
  const auto tree = json({"hosts", "--tree"});
  EXPECT_EQ(domain(tree, "A")["free"]["gpu"], 10);
  EXPECT_NE(on_terminal({"hosts"}).find("██░░░░░░░░  16% gpu"), std::string::npos);
  running.signal(SIGKILL);
  running.wait();
  EXPECT_EQ(text({"hosts"}), live);
  EXPECT_EQ(json({"hosts", "--tree"}), tree);
}

TEST_F(Hosts, SayWhichGroupsHoldThemForAReservation) {
  init_with(kTwoLevels);
  Child running = controller();
  submit_and_wait(kSmall, "small", "Running");
  submit_and_wait(kBig, "big", "Reserving");
  running.signal(SIGKILL);
  running.wait();
  std::size_t reserved = 0;
  for (const auto& host : json({"hosts"})) {
    const auto& groups = host["groups"];
    const bool holds = std::find(groups.begin(), groups.end(), "big") != groups.end();
    EXPECT_EQ(host["reserved"], holds ? nlohmann::json{"big"} : nlohmann::json::array()) << host;
    reserved += holds ? 1U : 0U;
  }
  EXPECT_GE(reserved, 1U);
  EXPECT_NE(text({"hosts"}).find("big (reserved)\n"), std::string::npos) << text({"hosts"});
  EXPECT_EQ(text({"hosts"}).find("small (reserved)"), std::string::npos);
}

TEST_F(Hosts, OfAReservationAreToldByShowAndWhy) {
  init_with(kTwoLevels);
  Child running = controller();
  submit_and_wait(kSmall, "small", "Running");
  submit_and_wait(kBig, "big", "Reserving");
  for (const char* word : {"show", "why"}) {
    const auto facts = json({word, "big"});
    const auto gpus = facts["held"]["gpu"].get<int>();
    EXPECT_GE(gpus, 4);
    ASSERT_TRUE(facts["deadlines"]["reserve"].is_string()) << facts;
    EXPECT_EQ(facts["reason"]["code"], "ReservationAccumulating");
    EXPECT_EQ(facts["reason"]["domain"], "A");
    ASSERT_TRUE(facts["reason"]["projectedStart"].is_string()) << facts;
    const auto short_time = [](const nlohmann::json& time) {
      return time.get<std::string>().replace(10, 1, " ").substr(0, 23);
    };
    const std::string told = text({word, "big"});
    for (const std::string& fact : {std::string("ReservationAccumulating: in A, complete at about ") +
                                        short_time(facts["reason"]["projectedStart"]),
                                    "holds      gpu=" + std::to_string(gpus) + "\n",
                                    "deadline   reserve " + short_time(facts["deadlines"]["reserve"]) + "\n"}) {
      EXPECT_NE(told.find(fact), std::string::npos) << fact << " is not in:\n" << told;
    }
  }
  EXPECT_EQ(text({"why", "small"}), "small is Running; it waits for nothing\n");
}

}  // namespace
}  // namespace lockstep::testing
