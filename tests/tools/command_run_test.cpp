// `lockstep run`: a controller in the foreground, the other verbs through its socket, kill -9 and SIGTERM.
// Waiting is by asking until it is so, within a generous limit.
#include <signal.h>

#include <filesystem>
#include <sstream>

#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

class Run : public CommandTest {
 protected:
  [[nodiscard]] Child start(std::vector<std::string> words = {}) const {
    std::vector<std::string> all{lockstep_binary(), "run", "--store",        store(),
                                 "--step",          "5ms", "--claims-after", "10ms"};
    all.insert(all.end(), words.begin(), words.end());
    return Child(all, dir_.path() / "out", dir_.path() / "err");
  }

  [[nodiscard]] bool is(const std::string& group, const std::string& phase) const {
    const Ran shown = command({"show", group, "-o", "json"});
    return shown.status == 0 && nlohmann::json::parse(shown.out)["phase"] == phase;
  }
};

TEST_F(Run, BringsAGroupToItsEndAndStopsWhenIdle) {
  init();
  const Ran ran =
      command({"run", manifest(), "--runtime", "200ms", "--step", "5ms", "--claims-after", "10ms", "--until-idle"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* turn :
       {"train: defined", "train: placed", "train: claim ready", "train: starts", "train: runs", "train: succeeded"}) {
    EXPECT_NE(ran.out.find(turn), std::string::npos) << turn << " is not in:\n" << ran.out;
  }
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << "no terminal, no status line";
  EXPECT_EQ(phase("train"), "Succeeded");
  EXPECT_FALSE(std::filesystem::exists(store() + "/control.sock"));
  EXPECT_EQ(command({"log", "verify"}).status, 0);
}

TEST_F(Run, OfAStoreWithoutHostsTakesThemFromFiles) {
  ASSERT_EQ(command({"init"}).status, 0);
  const std::string paths = dir_.file("paths.csv", "host,block\na1,X\na2,X\nb1,Y\nb2,Y\nc1,Y\n");
  const Ran ran = command({"run", manifest(), "--hosts", dir_.file("hosts.yaml", kHosts), paths, "--runtime", "50ms",
                           "--step", "5ms", "--until-idle"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find("NotCarried: 1 host of the topology that the inventory does not have"), std::string::npos)
      << ran.err;
  EXPECT_EQ(phase("train"), "Succeeded");
  EXPECT_EQ(json({"state"})["pools"]["license.matlab"]["total"], 2);
  ASSERT_EQ(json({"hosts"}).size(), 4U);
  EXPECT_EQ(json({"hosts"})[3]["at"], "Y");
}

TEST_F(Run, LeavesHostsAloneThatAreThereAndAddsTheOthers) {
  init();
  ASSERT_EQ(command({"hosts", "drain", "a1"}).status, 0);
  const std::string hosts = dir_.file("more.yaml", std::string(kHosts) + "  - {name: c1, cpu: 8, at: C}\n");
  const std::string larger = dir_.file("larger.yaml", "kind: Inventory\nhosts: [{name: c1, cpu: 16, at: C}]\n");
  for (const std::string& file : {hosts, hosts, larger}) {
    ASSERT_EQ(command({"run", "--until-idle", "--hosts", file}).status, 0);
  }
  std::vector<std::string> changes;
  std::istringstream log(command({"log", "dump", "-o", "json"}).out);
  for (std::string line; std::getline(log, line);) {
    const auto event = nlohmann::json::parse(line)["event"].get<std::string>();
    if (event != "ControllerStarted" && event != "RequestAnswered") changes.push_back(event);
  }
  EXPECT_EQ(changes, (std::vector<std::string>{"LevelsSet", "PoolSet", "HostAdded", "HostAdded", "HostAdded",
                                               "HostAdded", "HostChanged", "HostAdded", "HostChanged"}));
  EXPECT_TRUE(json({"hosts"})[0]["drained"].get<bool>()) << "it is still drained";
  EXPECT_EQ(json({"hosts"})[4]["capacity"]["cpu"], 16);
}

TEST_F(Run, OfHostsThatAreWrongOrTooFewWritesNothing) {
  ASSERT_EQ(command({"init"}).status, 0);
  const std::string small = dir_.file("small.yaml", "kind: Inventory\nhosts: [{name: n1, cpu: 1}]\n");
  expect_failure(command({"run", "--until-idle", "--hosts", small, "/no/such/file"}), 1, "NotFound");
  expect_failure(command({"run", manifest(), "--until-idle", "--hosts", small}), 1, "NeverFits");
  EXPECT_EQ(json({"hosts"}).size(), 0U);
  EXPECT_EQ(command({"run", "--until-idle", "--hosts", small}).status, 0);
  EXPECT_EQ(json({"hosts"}).size(), 1U);
}

TEST_F(Run, RestartsAGroupWhoseMemberFailsOnce) {
  init();
  const Ran ran = command({"run", manifest(), "--runtime", "300ms", "--step", "5ms", "--claims-after", "10ms", "--fail",
                           "worker[1]@50ms:code=3", "--until-idle"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("worker[1] failed: exit code 3"), std::string::npos) << ran.out;
  const auto train = json({"show", "train"});
  EXPECT_EQ(train["phase"], "Succeeded");
  EXPECT_EQ(train["attempt"], 2);
  EXPECT_EQ(train["charged"], 1);
}

TEST_F(Run, AnswersTheOtherVerbsWhileItRuns) {
  init();
  Child controller = start({"--runtime", "1h"});
  wait_for_socket();
  ASSERT_EQ(command({"submit", manifest()}).status, 0);
  wait_until([this] { return is("train", "Running"); }, "running");
  EXPECT_EQ(json({"list"}).size(), 1U);
  EXPECT_EQ(json({"hosts"}).size(), 4U);
  EXPECT_EQ(json({"claims"})[0]["phase"], "Ready");
  EXPECT_GT(json({"history", "train"}).size(), 5U);
  EXPECT_TRUE(json({"why", "train"})["reason"].is_null());
  EXPECT_EQ(json({"state"})["groups"].size(), 1U);
  EXPECT_EQ(json({"state", "--at", "3"})["seq"], 3);
  EXPECT_EQ(json({"snapshot", "create"})["groups"], 1);
  EXPECT_EQ(json({"snapshot", "verify"}).size(), 1U);
  EXPECT_EQ(command({"log", "verify"}).status, 0);
  EXPECT_EQ(command({"log", "dump"}).status, 0);
  EXPECT_EQ(command({"recover", "--plan"}).status, 0);
  expect_failure(command({"cancel", "ghost"}), 1, "UnknownGroup");
  expect_failure(command({"submit", manifest()}), 1, "DuplicateName");
  EXPECT_EQ(command({"resize", "train", "worker", "1"}).status, 0);
  EXPECT_EQ(command({"evict", "train"}).status, 0);
  wait_until([this] { return json({"show", "train"})["attempt"] == 2 && is("train", "Running"); }, "again");
  EXPECT_EQ(command({"cancel", "train"}).status, 0);
  wait_until([this] { return is("train", "Cancelled"); }, "cancelled");
  controller.signal(SIGTERM);
  EXPECT_EQ(controller.wait(), 0) << read_text(dir_.path() / "err");
  EXPECT_FALSE(std::filesystem::exists(store() + "/control.sock"));
}

TEST_F(Run, SaysWhatOfAJobSetIsNotCarriedAsAStoreWithoutAControllerDoes) {
  init();
  std::string other = kJobSet;
  other.replace(other.find("name: js"), 8, "name: jt");
  const Ran direct = command({"submit", manifest(kJobSet)});
  EXPECT_NE(direct.err.find("lockstep: NotCarried: "), std::string::npos) << direct.err;
  Child controller = start({"--runtime", "1h"});
  wait_for_socket();
  const Ran live = command({"submit", manifest(other)});
  EXPECT_EQ(live.status, 0);
  EXPECT_EQ(live.err, direct.err);
}

TEST_F(Run, OfASecondControllerOnTheSameStoreIsRefused) {
  init();
  Child first = start();
  wait_for_socket();
  const Ran second = command({"run"});
  EXPECT_EQ(second.status, 5) << second.err;
  EXPECT_NE(second.err.find("lockstep: Locked: "), std::string::npos) << second.err;
  EXPECT_NE(second.err.find(std::to_string(first.pid())), std::string::npos) << second.err;
}

TEST_F(Run, KilledInARestartGoesOnWhereItWas) {
  init();
  const std::vector<std::string> words{manifest(),    "--runtime", "500ms", "--fail", "worker[0]@100ms:code=1",
                                       "--until-idle"};
  Child controller = start(words);
  wait_until([this] { return is("train", "Backoff"); }, "the restart");
  controller.signal(SIGKILL);
  EXPECT_EQ(controller.wait(), 128 + SIGKILL);
  EXPECT_EQ(json({"show", "train"})["charged"], 1) << "the store answers when nobody runs";
  Child again = start(words);
  EXPECT_EQ(again.wait(), 0) << read_text(dir_.path() / "err");
  const auto train = json({"show", "train"});
  EXPECT_EQ(train["phase"], "Succeeded");
  EXPECT_EQ(train["attempt"], 2);
  EXPECT_EQ(json({"list"}).size(), 1U) << "the manifest given again is the same group";
  EXPECT_EQ(command({"log", "verify"}).status, 0);
}

TEST_F(Run, EndsWhenAskedTo) {
  init();
  for (const int number : {SIGINT, SIGTERM}) {
    Child controller = start();
    wait_for_socket();
    controller.signal(number);
    EXPECT_EQ(controller.wait(), 0);
  }
}

TEST_F(Run, HasLinesOfJsonForScripts) {
  init();
  const Ran ran = command({"run", manifest(), "--runtime", "50ms", "--step", "5ms", "--until-idle", "-o", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto first = nlohmann::json::parse(ran.out.substr(0, ran.out.find('\n')));
  EXPECT_EQ(first["event"], "GroupDefined");
}

TEST_F(Run, RefusesAManifestThatNeverFits) {
  init();
  const std::string big =
      manifest("kind: GangGroup\nmetadata: {name: big}\nspec: {roles: [{name: w, tasks: '1*{cpu=99}'}]}\n");
  expect_failure(command({"run", big, "--until-idle"}), 1, "NeverFits");
  expect_failure(command({"run", "/no/such/file", "--until-idle"}), 1, "NotFound");
}

TEST_F(Run, OfWhatIsRefusedHalfWaySaysWhatWasDone) {
  init();
  Child controller = start({"--runtime", "1h"});
  wait_for_socket();
  const auto group = [](const char* name, const char* cpu) {
    return std::string("kind: GangGroup\nmetadata: {name: ") + name +
           "}\nspec: {roles: [{name: w, tasks: '1*{cpu=" + cpu + "}'}]}\n";
  };
  const std::string two = dir_.file("two.yaml", group("one", "1") + "---\n" + group("big", "99"));
  const Ran ran = command({"submit", two, "-o", "json"});
  expect_failure(ran, 1, "NeverFits");
  EXPECT_NE(ran.err.find("done before it: one (#1)"), std::string::npos) << ran.err;
  const auto done = nlohmann::json::parse(ran.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0]["name"], "one");
  EXPECT_EQ(done[0]["group"], 1);
  const Ran again = command({"submit", two});
  expect_failure(again, 1, "DuplicateName");
  EXPECT_NE(again.err.find("take it out of the manifests"), std::string::npos) << again.err;
  expect_failure(command({"hosts", "down", "a2,zz"}), 1, "UnknownHost");
  for (const auto& host : json({"hosts"})) EXPECT_EQ(host["down"], false);
}

TEST_F(Run, OfAMemberThatIsLostInventsNoExitCodeAndKeepsTheNameOfItsHost) {
  init();
  Child controller = start({"--runtime", "1h"});
  wait_for_socket();
  ASSERT_EQ(command({"submit", manifest("kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, tasks: "
                                        "'1*{cpu=1}'}], failure: {default: failGroup}}\n")})
                .status,
            0);
  wait_until([this] { return is("g", "Running"); }, "running");
  const std::string host = json({"show", "g"})["members"][0]["hosts"][0];
  expect_failure(command({"hosts", "remove", "b2", host}), 1, "HostInUse");
  ASSERT_EQ(command({"hosts", "down", host}).status, 0);
  wait_until([this] { return is("g", "Failed"); }, "failed");
  const auto group = json({"show", "g"});
  EXPECT_EQ(group["end"]["code"], "HostLost");
  EXPECT_TRUE(group["end"]["exitCode"].is_null());
  EXPECT_TRUE(group["members"][0]["exitCode"].is_null());
  EXPECT_EQ(command({"show", "g"}).out.find("exit code"), std::string::npos);
  EXPECT_EQ(command({"history", "g"}).out.find("exit code"), std::string::npos);
  ASSERT_EQ(command({"hosts", "remove", host}).status, 0);
  EXPECT_NE(command({"history", "g"}).out.find("1 member on " + host), std::string::npos);
}

// The one test that waits: as long as the command does before it gives up.
TEST_F(Run, ThatIsStoppedByASignalIsNamed) {
  init();
  Child controller = start();
  wait_for_socket();
  controller.signal(SIGSTOP);
  const Ran ran = command({"list"});
  expect_failure(ran, 4, "StorageFailed");
  EXPECT_NE(ran.err.find("kill -CONT " + std::to_string(controller.pid())), std::string::npos) << ran.err;
  controller.signal(SIGCONT);
  EXPECT_EQ(command({"list"}).status, 0);
  controller.signal(SIGTERM);
  EXPECT_EQ(controller.wait(), 0);
}

TEST_F(Run, ListensUnderAPathThatIsTooLongForASocket) {
  init();
  const std::filesystem::path deep = dir_.path() / std::string(100, 'x') / std::string(100, 'y');
  std::filesystem::create_directories(deep);
  std::filesystem::rename(store(), deep / "store");
  const std::string store = (deep / "store").string();
  Child controller({lockstep_binary(), "run", "--store", store, "--runtime", "1h"}, dir_.path() / "out",
                   dir_.path() / "err");
  wait_until([&] { return std::filesystem::exists(store + "/control.sock"); }, "the socket");
  const Ran submitted = lockstep({"submit", manifest(), "--store", store});
  EXPECT_EQ(submitted.status, 0) << submitted.err;
  EXPECT_EQ(nlohmann::json::parse(lockstep({"list", "--store", store, "-o", "json"}).out).size(), 1U);
  controller.signal(SIGTERM);
  EXPECT_EQ(controller.wait(), 0);
}

}  // namespace
}  // namespace lockstep::testing
