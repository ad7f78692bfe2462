// The verbs about a store as a whole, and the command line itself: usage, exit statuses, damage.
#include <filesystem>
#include <fstream>

#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

using Store = CommandTest;

TEST_F(Store, IsMadeOnceAndNeverOverSomethingElse) {
  EXPECT_EQ(command({"init"}).status, 0);
  EXPECT_EQ(json({"state"})["hosts"].size(), 0U);
  expect_failure(command({"init"}), 2, "Usage");
  expect_failure(command({"init", "--hosts", dir_.file("hosts.yaml", kHosts)}), 2, "Usage");
}

TEST_F(Store, IsNotMadeOfABadInventory) {
  expect_failure(command({"init", "--hosts", dir_.file("hosts.yaml", "kind: Inventory\nhosts: [{name: 'n[1-'}]\n")}), 2,
                 "InvalidInput");
  expect_failure(command({"init", "--hosts", "/no/such/file"}), 1, "NotFound");
  EXPECT_FALSE(std::filesystem::exists(store()));
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    left += entry.path().filename() != "hosts.yaml" ? 1U : 0U;
  }
  EXPECT_EQ(left, 0U) << "nothing half made is left";
}

TEST_F(Store, ThatIsMissingNeverStartsAsAnEmptyOne) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"list"},
                                                                                     {"state"},
                                                                                     {"run", "--until-idle"},
                                                                                     {"cancel", "x"},
                                                                                     {"hosts", "down", "a"},
                                                                                     {"log", "verify"},
                                                                                     {"log", "dump"},
                                                                                     {"log", "stat"},
                                                                                     {"snapshot", "list"},
                                                                                     {"snapshot", "create"},
                                                                                     {"recover", "--plan"}}) {
    expect_failure(command(words), 3, "NotAStore");
    EXPECT_FALSE(std::filesystem::exists(store()));
  }
}

TEST_F(Store, ShowsItsStateNowAndThen) {
  init();
  ASSERT_EQ(command({"submit", manifest()}).status, 0);
  ASSERT_EQ(command({"cancel", "train"}).status, 0);
  const auto now = json({"state"});
  EXPECT_EQ(now["groups"][0]["phase"], "Cancelled");
  EXPECT_EQ(now["hosts"].size(), 4U);
  EXPECT_EQ(now["pools"]["license.matlab"]["total"], 2);
  const auto history = json({"history", "train"});
  const auto defined = history[0]["seq"].get<std::uint64_t>();
  const auto then = json({"state", "--at", std::to_string(defined)});
  EXPECT_EQ(then["seq"], defined);
  EXPECT_EQ(then["groups"][0]["phase"], "Pending");
  EXPECT_NE(command({"state"}).out.find("digest"), std::string::npos);
  expect_failure(command({"state", "--at", "999999"}), 1, "NotFound");
  expect_failure(command({"state", "--at", "0"}), 2, "Usage");
}

// `why` is of the present; of the past `state --at` says the same, in the same words.
TEST_F(Store, SaysForAnySeqWhyAGroupWaited) {
  init();
  const std::string held =
      "kind: GangGroup\nmetadata: {name: g}\nspec: {hold: true, roles: [{name: w, replicas: 4, "
      "tasks: '1*{cpu=16}'}]}\n";
  std::vector<std::pair<nlohmann::json, nlohmann::json>> told;  // seq, reason
  const auto after = [&](const std::vector<std::string>& words, const std::string& code) {
    const Ran ran = command(words);
    ASSERT_EQ(ran.status, 0) << ran.err;
    told.emplace_back(json({"state"})["seq"], json({"why", "g"})["reason"]);
    EXPECT_EQ(told.back().second["code"], code);
  };
  after({"submit", manifest(held)}, "Held");
  after({"submit", "g"}, "WaitingBehind");
  after({"hosts", "down", "b2"}, "WaitingForHosts");
  after({"snapshot", "create"}, "WaitingForHosts");
  after({"hosts", "remove", "b2"}, "NeverFits");
  after({"suspend", "g"}, "Suspended");
  EXPECT_EQ(told[2].second["free"], 48);
  EXPECT_EQ(told[4].second["needed"], 64);
  ASSERT_EQ(command({"cancel", "g"}).status, 0);
  ASSERT_EQ(command({"purge", "g"}).status, 0);
  for (const auto& [seq, reason] : told) {
    const auto then = json({"state", "--at", seq.dump()});
    ASSERT_EQ(then["groups"].size(), 1U) << seq;
    EXPECT_EQ(then["groups"][0]["reason"], reason) << "at seq " << seq;
  }
  EXPECT_TRUE(json({"state"})["groups"].empty());
}

TEST_F(Store, TakesListsDescribesAndVerifiesSnapshots) {
  init();
  EXPECT_EQ(json({"snapshot", "list"})["snapshots"].size(), 0U);
  EXPECT_EQ(command({"snapshot", "verify"}).status, 0) << "a store without snapshots is whole";
  expect_failure(command({"snapshot", "describe"}), 1, "NotFound");
  const auto taken = json({"snapshot", "create"});
  EXPECT_GT(taken["fileBytes"], 0);
  EXPECT_EQ(json({"snapshot", "list"})["snapshots"][0]["seq"], taken["seq"]);
  EXPECT_EQ(json({"snapshot", "describe"})["digest"], taken["digest"]);
  EXPECT_EQ(json({"snapshot", "describe", taken["seq"].dump()})["hosts"], 4);
  EXPECT_EQ(json({"snapshot", "verify"}).size(), 1U);
  EXPECT_NE(command({"snapshot", "verify"}).out.find("whole"), std::string::npos);
  expect_failure(command({"snapshot", "describe", "999"}), 1, "NotFound");
  expect_failure(command({"snapshot", "verify", "999"}), 1, "NotFound");
  expect_failure(command({"snapshot"}), 2, "Usage");
}

TEST_F(Store, NamesADamagedSnapshotAndRecoversWithoutIt) {
  init();
  const std::string path = json({"snapshot", "create"})["path"];
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
    file.put('\x5a');
  }
  const Ran ran = command({"snapshot", "verify"});
  expect_failure(ran, 3, "Damaged");
  EXPECT_NE(ran.err.find(std::filesystem::path(path).filename().string()), std::string::npos) << ran.err;
  EXPECT_EQ(json({"list"}).size(), 0U);
}

TEST_F(Store, DumpsCountsAndVerifiesItsLog) {
  init();
  ASSERT_EQ(command({"submit", manifest()}).status, 0);
  const Ran dump = command({"log", "dump"});
  EXPECT_EQ(dump.status, 0) << dump.err;
  EXPECT_NE(dump.out.find("GroupDefined"), std::string::npos);
  const auto stat = json({"log", "stat"});
  EXPECT_EQ(stat["first"], 1);
  EXPECT_EQ(stat["events"], stat["seq"]);
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(dump.out.begin(), dump.out.end(), '\n')),
            stat["events"].get<std::uint64_t>());
  const Ran lines = command({"log", "dump", "--from", "2", "--to", "3", "-o", "json"});
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 2);
  EXPECT_EQ(nlohmann::json::parse(lines.out.substr(0, lines.out.find('\n')))["seq"], 2);
  expect_failure(command({"log", "dump", "--from", "999999"}), 1, "NotFound");
  const auto verified = json({"log", "verify"});
  EXPECT_EQ(verified["events"], stat["events"]);
  EXPECT_EQ(verified["mode"], "full");
  EXPECT_EQ(verified["digest"], json({"state"})["digest"]);
  const auto fast = json({"log", "verify", "--fast"});
  EXPECT_EQ(fast["mode"], "fast");
  EXPECT_EQ(fast["records"], verified["records"]);
  EXPECT_EQ(fast["events"], verified["events"]);
  EXPECT_EQ(fast["seq"], verified["seq"]);
}

TEST_F(Store, NamesTheFirstDamagedPlaceOfItsLog) {
  init();
  const std::string data = store() + "/log/data.mdb";
  ASSERT_TRUE(std::filesystem::exists(data));
  // The name of the last host, wherever a page holds the record that added it.
  const std::string bytes = read_text(data);
  std::size_t found = 0;
  {
    std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
    for (auto at = bytes.find("b2"); at != std::string::npos; at = bytes.find("b2", at + 1), ++found) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put('c');
    }
  }
  ASSERT_GT(found, 0U);
  for (const char* verb : {"verify", "stat", "dump"}) expect_failure(command({"log", verb}), 3, "Damaged");
  expect_failure(command({"log", "verify", "--fast"}), 3, "Damaged");
  expect_failure(command({"list"}), 3, "Damaged");
  expect_failure(command({"run", "--until-idle"}), 3, "Damaged");
}

TEST_F(Store, SaysHowItWouldRecover) {
  init();
  const auto plan = json({"recover", "--plan"});
  EXPECT_TRUE(plan["fromSnapshot"].is_null());
  EXPECT_EQ(plan["replayFirst"], 1);
  ASSERT_EQ(command({"snapshot", "create"}).status, 0);
  const auto shorter = json({"recover", "--plan"});
  EXPECT_FALSE(shorter["fromSnapshot"].is_null());
  EXPECT_FALSE(shorter["why"].empty());
  const auto report = json({"recover"});
  EXPECT_EQ(report["digest"], json({"state"})["digest"]);
  EXPECT_NE(command({"recover", "--plan"}).out.find("replay"), std::string::npos);
}

TEST(CommandLine, ThatMeansNothingIsUsage) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"nonsense"},
                                             {"list"},
                                             {"list", "--store"},
                                             {"list", "--store", "x", "--wrong"},
                                             {"list", "--store", "x", "-o", "xml"},
                                             {"scenario"},
                                             {"scenario", "--store", "disk", "x"},
                                             {"log"},
                                             {"run", "--store", "x", "--runtime", "soon"},
                                             {"run", "--store", "x", "--fail", "w"},
                                             {"convert"}}) {
    const Ran ran = lockstep(words);
    EXPECT_EQ(ran.status, 2) << ::testing::PrintToString(words);
    EXPECT_EQ(ran.err.rfind("lockstep: Usage: ", 0), 0U) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST(CommandLine, OfALaterReleaseSaysNotYet) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"sim"},
                                                                                     {"diff", "a", "b"},
                                                                                     {"bisect"},
                                                                                     {"whatif", "--store", "x"},
                                                                                     {"trace"},
                                                                                     {"report"},
                                                                                     {"agent"},
                                                                                     {"log", "export", "x"},
                                                                                     {"log", "import"},
                                                                                     {"log", "tail"},
                                                                                     {"scenario", "--standby", "x"}}) {
    const Ran ran = lockstep(words);
    EXPECT_EQ(ran.status, 2) << ::testing::PrintToString(words);
    EXPECT_EQ(ran.err.rfind("lockstep: NotYet: ", 0), 0U) << ran.err;
  }
}

TEST(CommandLine, HelpsEveryVerb) {
  EXPECT_EQ(lockstep({"--help"}).status, 0);
  EXPECT_EQ(lockstep({"--version"}).out.rfind("lockstep ", 0), 0U);
  for (const char* verb :
       {"init",   "run",   "submit", "convert", "list",   "show",  "why", "history",  "cancel",  "suspend", "resume",
        "resize", "evict", "purge",  "hosts",   "claims", "state", "log", "snapshot", "recover", "scenario"}) {
    const Ran ran = lockstep({verb, "--help"});
    EXPECT_EQ(ran.status, 0) << verb << ran.err;
    EXPECT_FALSE(ran.out.empty());
  }
}

TEST(ScenarioVerb, EndsWithTheStatusOfWhatItFound) {
  const TempDir dir;
  const std::string good = dir.file("good.scenario", "host n1 cpu=4\nexpect host n1 free cpu=4\n");
  const std::string wrong = dir.file("wrong.scenario", "host n1 cpu=4\nexpect host n1 free cpu=5\n");
  const std::string broken = dir.file("broken.scenario", "hots n1\n");
  EXPECT_EQ(lockstep({"scenario", good}).status, 0);
  EXPECT_EQ(lockstep({"scenario", "--store", "lmdb", "--crash-everywhere", good}).status, 0);
  EXPECT_EQ(lockstep({"scenario", "--store", "lmdb", "--dir", (dir.path() / "kept").string(), good}).status, 0);
  EXPECT_EQ(lockstep({"log", "verify", "--store", (dir.path() / "kept").string()}).status, 0);
  const Ran failed = lockstep({"scenario", good, wrong});
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(failed.out.find("wrong.scenario:2: expected"), std::string::npos) << failed.out;
  EXPECT_EQ(lockstep({"scenario", broken}).status, 2);
  EXPECT_EQ(lockstep({"scenario", "/no/such/file"}).status, 1);
}

}  // namespace
}  // namespace lockstep::testing
