// What the command says when it cannot say it, or cannot get at its files: one line, the right status, nothing half
// done.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

class Output : public CommandTest {
 protected:
  // `lockstep WORDS... --store STORE` as "$@" of a shell script.
  [[nodiscard]] Ran shell(const std::string& script, const std::vector<std::string>& words) const {
    std::vector<std::string> all{"/bin/sh", "-c", script, "sh", lockstep_binary()};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--store", store()});
    return run(all);
  }

  // By somebody who may not look into directories of mode 0.
  [[nodiscard]] static Ran powerless(std::vector<std::string> words) {
    words.insert(words.begin(), lockstep_binary());
    if (::geteuid() == 0) {
      words.insert(words.begin(), {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    }
    return run(words);
  }

  [[nodiscard]] std::size_t entries() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) count += entry.exists() ? 1U : 0U;
    return count;
  }
};

TEST_F(Output, ThatCannotBeWrittenIsAnErrorOfEveryVerb) {
  init();
  ASSERT_EQ(command({"submit", manifest()}).status, 0);
  const std::string story = dir_.file("s.scenario", "host n1 cpu=4\n");
  for (const char* script : {"exec \"$@\" >/dev/full", "exec \"$@\" >&-"}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"list"},
                                                                                       {"list", "-o", "json"},
                                                                                       {"show", "train"},
                                                                                       {"history", "train"},
                                                                                       {"why", "train"},
                                                                                       {"hosts"},
                                                                                       {"claims"},
                                                                                       {"state"},
                                                                                       {"hosts", "drain", "a1"},
                                                                                       {"log", "dump"},
                                                                                       {"log", "stat"},
                                                                                       {"log", "verify"},
                                                                                       {"snapshot", "list"},
                                                                                       {"recover", "--plan"},
                                                                                       {"convert", manifest()},
                                                                                       {"list", "--help"}}) {
      expect_failure(shell(script, words), 4, "StorageFailed");
    }
    const Ran told = run({"/bin/sh", "-c", script, "sh", lockstep_binary(), "scenario", story});
    expect_failure(told, 4, "StorageFailed");
  }
  EXPECT_EQ(command({"log", "verify"}).status, 0) << "a closed standard output is no file of the store";
}

TEST_F(Output, OfARefusalStaysOneLineWhenNothingCanBeWritten) {
  init();
  expect_failure(shell("exec \"$@\" >&-", {"show", "ghost"}), 1, "UnknownGroup");
}

TEST_F(Output, FilesThatMayNotGrowAreAnErrorAndNoDeath) {
  const Ran ran = shell("ulimit -f 1; exec \"$@\"", {"init"});
  expect_failure(ran, 4, "StorageFailed");
  EXPECT_NE(ran.err.find(store()), std::string::npos) << "the store, by the name it was given: " << ran.err;
  EXPECT_EQ(ran.err.find(".init-"), std::string::npos) << ran.err;
  EXPECT_EQ(entries(), 0U) << "nothing half made is left";
}

TEST_F(Output, NamesTheRightCauseWhereOneMayNotLook) {
  const std::filesystem::path closed = dir_.path() / "closed";
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
  std::filesystem::create_directory(closed);
  const std::string inside = (closed / "store").string();
  ASSERT_EQ(lockstep({"init", "--store", inside}).status, 0);
  ASSERT_EQ(::chmod(closed.c_str(), 0), 0);
  if (const Ran can = powerless({"--version"}); can.status != 0) GTEST_SKIP() << "nobody may run the command here";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"list"}, {"submit", "held"}, {"cancel", "x"}, {"log", "stat"}, {"init"}, {"run"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--store", inside});
    const Ran ran = powerless(all);
    expect_failure(ran, 4, "StorageFailed");
    EXPECT_NE(ran.err.find("Permission denied"), std::string::npos) << ran.err;
  }
  ASSERT_EQ(::chmod(closed.c_str(), 0755), 0);
  ASSERT_EQ(::chmod((inside + "/store.json").c_str(), 0), 0);
  const Ran unreadable = powerless({"list", "--store", inside});
  expect_failure(unreadable, 4, "StorageFailed");
  EXPECT_NE(unreadable.err.find("store.json: Permission denied"), std::string::npos) << unreadable.err;
}

TEST_F(Output, OfInitSaysWhyAStoreCannotBeMadeThere) {
  const Ran orphan = lockstep({"init", "--store", (dir_.path() / "no" / "store").string()});
  expect_failure(orphan, 2, "Usage");
  EXPECT_NE(orphan.err.find("make that directory first"), std::string::npos) << orphan.err;
  expect_failure(lockstep({"init", "--store", dir_.file("file", "") + "/store"}), 2, "Usage");
  expect_failure(lockstep({"init", "--store", ""}), 2, "Usage");
  const Ran longest = lockstep({"init", "--store", (dir_.path() / std::string(300, 'x')).string()});
  expect_failure(longest, 2, "Usage");
  EXPECT_NE(longest.err.find("File name too long"), std::string::npos) << longest.err;
  EXPECT_EQ(lockstep({"init", "--store", (dir_.path() / std::string(255, 'x')).string()}).status, 0);
  const std::string hosts = dir_.file("hosts.yaml", kHosts);
  expect_failure(lockstep({"init", "--hosts", hosts, "--store", (dir_.path() / "no" / "store").string()}), 2, "Usage");
  const auto made = json({"init", "--hosts", hosts});
  EXPECT_EQ(made["store"], store());
  EXPECT_EQ(made["hosts"], 4);
}

TEST_F(Output, OfLogDumpAndHistoryAgreesInJson) {
  init();
  ASSERT_EQ(command({"submit", manifest()}).status, 0);
  const auto history = json({"history", "train"});
  const std::string seq = history[0]["seq"].dump();
  const Ran dump = command({"log", "dump", "--from", seq, "--to", seq, "-o", "json"});
  const auto event = nlohmann::json::parse(dump.out);
  EXPECT_EQ(event, history[0]);
  EXPECT_EQ(event["event"], "GroupDefined");
  EXPECT_EQ(event["actor"], "user");
  EXPECT_EQ(event["time"].get<std::string>().back(), 'Z');
  EXPECT_TRUE(event["facts"]["spec"]["failure"]["maxRestartsPerMember"].is_null());
  EXPECT_EQ(command({"log", "dump", "-o", "json"}).out.find("4294967295"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::testing
