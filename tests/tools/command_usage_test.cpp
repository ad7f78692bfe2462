// The command line as people mistype it, and several things asked for at once of which one is wrong.
#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

std::string small_group(const std::string& name, int cpu) {
  return "kind: GangGroup\nmetadata: {name: " + name +
         "}\nspec: {roles: [{name: w, tasks: '1*{cpu=" + std::to_string(cpu) + "}'}]}\n";
}

class Usage : public CommandTest {
 protected:
  [[nodiscard]] std::string seq() const { return json({"log", "stat"})["seq"].dump(); }
  static void expect_says(const Ran& ran, const std::string& text) {
    EXPECT_NE(ran.err.find(text), std::string::npos) << text << " is not in: " << ran.err;
  }
};

TEST_F(Usage, NamesWhatItDoesNotKnow) {
  for (const auto& [words, culprit] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{{{"frob"}, "frob"},
                                                                     {{"--frob"}, "--frob"},
                                                                     {{"frob", "--help"}, "frob"},
                                                                     {{"log", "frob"}, "frob"},
                                                                     {{"log", "frob", "--help"}, "frob"},
                                                                     {{"hosts", "frob"}, "frob"},
                                                                     {{"snapshot", "frob"}, "frob"},
                                                                     {{"list", "--sto", "s"}, "--sto"},
                                                                     {{"log"}, "dump, stat or verify"},
                                                                     {{"snapshot"}, "create, list, describe or verify"},
                                                                     {{"list"}, "list: --store"},
                                                                     {{"hosts"}, "hosts: --store"}}) {
    const Ran ran = lockstep(words);
    expect_failure(ran, 2, "Usage");
    expect_says(ran, culprit);
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(Usage, TakesTheStoreAtAnyPlace) {
  init();
  EXPECT_EQ(lockstep({"--store", store(), "list"}).status, 0);
  EXPECT_EQ(lockstep({"--store", store(), "-o", "json", "hosts", "down", "a1"}).status, 0);
  EXPECT_EQ(lockstep({"hosts", "--store", store(), "up", "a1"}).status, 0);
  EXPECT_EQ(lockstep({"log", "--store", store(), "stat"}).status, 0);
  EXPECT_EQ(lockstep({"snapshot", "--store", store(), "list"}).status, 0);
  EXPECT_EQ(lockstep({"--store", store(), "list", "--store", store()}).status, 0);
  expect_failure(lockstep({"--store", store(), "list", "--store", "other"}), 2, "Usage");
  expect_failure(lockstep({"list", "--store", ""}), 2, "Usage");
  const std::string by_environment = "LOCKSTEP_STORE='" + store() + "' exec \"$@\"";
  EXPECT_EQ(run({"/bin/sh", "-c", by_environment, "sh", lockstep_binary(), "list"}).status, 0);
  const Ran given = run(
      {"/bin/sh", "-c", "LOCKSTEP_STORE=/no/where exec \"$@\"", "sh", lockstep_binary(), "--store", store(), "list"});
  EXPECT_EQ(given.status, 0) << "what the line says counts more: " << given.err;
}

TEST_F(Usage, OfNumbersSaysWhatWasGivenAndWhatIsWanted) {
  init();
  for (const std::string wrong : {"0", "-1", "x", "99999999999999999999999", "1.5", ""}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"state", "--at", wrong}, {"recover", "--at", wrong}, {"log", "dump", "--from", wrong}}) {
      const Ran ran = command(words);
      expect_failure(ran, 2, "Usage");
      if (!wrong.empty()) expect_says(ran, "'" + wrong + "': is not a seq; say a whole number");
    }
  }
  expect_says(command({"run", "--snapshot-every", "-1"}), "--snapshot-every '-1'");
  expect_says(command({"resize", "g", "w", "4294967296"}), "REPLICAS '4294967296'");
  for (const char* verb : {"describe", "verify"}) {
    const Ran ran = command({"snapshot", verb, "nosuch"});
    expect_failure(ran, 2, "Usage");
    expect_says(ran, "'nosuch'");
  }
}

TEST_F(Usage, OfGroupsTakesThemAsMessagesWriteThem) {
  init();
  ASSERT_EQ(command({"submit", manifest()}).status, 0);
  for (const char* key : {"train", "#1", "1", "g#1", "train#1"}) EXPECT_EQ(json({"show", key})["id"], 1) << key;
  EXPECT_NE(lockstep({"--help"}).out.find("'#4'"), std::string::npos);
}

TEST_F(Usage, OfAJobSetSaysWhatIsNotCarried) {
  init();
  const std::string jobset = dir_.file("jobset.yaml", kJobSet);
  const std::string wanted = lockstep({"convert", jobset}).err;
  ASSERT_NE(wanted.find("NotCarried: " + jobset + ": spec.network"), std::string::npos) << wanted;
  const Ran submitted = command({"submit", jobset});
  EXPECT_EQ(submitted.status, 0);
  EXPECT_EQ(submitted.err, wanted);
  const Ran again = command({"submit", jobset});
  expect_failure(again, 1, "DuplicateName");
  const Ran ran = command({"run", jobset, "--runtime", "10ms", "--step", "5ms", "--until-idle"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err.rfind(wanted, 0), 0U) << ran.err;
}

TEST_F(Usage, OfSeveralThingsChangesNothingWhenOneIsWrong) {
  init();
  const std::string good = manifest();
  ASSERT_EQ(command({"submit", dir_.file("held.yaml",
                                         "kind: GangGroup\nmetadata: {name: h}\nspec: {hold: true, roles: "
                                         "[{name: w, tasks: '1*{cpu=1}'}]}\n")})
                .status,
            0);
  const std::string before = seq();
  const std::string two = dir_.file("two.yaml", small_group("ok", 1) + "---\n" + small_group("big", 99));
  const std::string twice = dir_.file("twice.yaml", small_group("ok", 1) + "---\n" + small_group("ok", 1));
  expect_failure(command({"submit", good, "nosuch.yaml"}), 1, "UnknownGroup");
  expect_failure(command({"submit", good, "/no/such.yaml"}), 1, "NotFound");
  expect_failure(command({"submit", "h", good, "ghost"}), 1, "UnknownGroup");
  expect_failure(command({"submit", two}), 1, "NeverFits");
  expect_failure(command({"submit", twice}), 1, "DuplicateName");
  expect_failure(command({"run", two, "--until-idle"}), 1, "NeverFits");
  expect_failure(command({"hosts", "down", "a2,zz"}), 1, "UnknownHost");
  expect_failure(command({"hosts", "remove", "b2", "zz"}), 1, "UnknownHost");
  expect_failure(command({"cancel", "h", "ghost"}), 1, "UnknownGroup");
  expect_failure(command({"suspend", "h", "#1", "#2"}), 1, "UnknownGroup");
  expect_failure(command({"evict", "h"}), 1, "WrongPhase");
  expect_failure(command({"resize", "h", "w", "7"}), 1, "OutOfBounds");
  expect_failure(command({"resize", "h", "ps", "1"}), 1, "UnknownRole");
  EXPECT_EQ(seq(), before) << "a refusal writes nothing, not even that a controller was there";
  EXPECT_EQ(command({"hosts", "remove", "b2", "b2"}).status, 0) << "named twice is done once";
}

// Whatever is to be in it, a file that cannot be read is told in the same words with the same exit status.
TEST_F(Usage, OfAFileThatCannotBeReadIsTheSameForAllVerbs) {
  const std::string empty = dir_.file("empty", "");
  const std::string bytes = dir_.file("bytes", "kind: GangGroup\nmetadata: \xff\xfe\n");
  const std::string folder = std::filesystem::path(empty).parent_path().string();
  init();
  const auto all = [&](const std::string& file, int status, const std::string& code, const std::string& why) {
    const std::string told = file + ": " + why;
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"convert", file}, {"submit", "--store", store(), file}}) {
      const Ran ran = lockstep(words);
      expect_failure(ran, status, code);
      EXPECT_NE(ran.err.find(told), std::string::npos) << ran.err;
    }
    const Ran hosts = lockstep({"init", "--store", store() + "2", "--hosts", file});
    expect_failure(hosts, status, code);
    if (file == empty) return;  // a story without a step holds
    const Ran story = lockstep({"scenario", file});
    expect_failure(story, status, code);
    EXPECT_EQ(story.out.find(told), 0U) << story.out;
  };
  all("/no/such/file", 1, "NotFound", "cannot be read: No such file or directory");
  all(folder, 2, "InvalidInput", "cannot be read: Is a directory");
  all(empty, 2, "InvalidInput", "is empty");
  all(bytes, 2, "InvalidInput", "line 2: a byte that is not UTF-8");
}

TEST_F(Usage, OfSubmitSaysHeldOfWhatIsHeld) {
  init();
  const std::string held = dir_.file("held.yaml",
                                     "kind: GangGroup\nmetadata: {name: h}\nspec: {hold: true, roles: [{name: w, "
                                     "tasks: '1*{cpu=1}'}]}\n");
  EXPECT_EQ(command({"submit", held}).out.rfind("h (id 1): defined, held at seq ", 0), 0U);
  EXPECT_EQ(command({"submit", "h"}).out.rfind("h (id 1): submitted at seq ", 0), 0U);
}

TEST_F(Usage, SpellsOneThingInTheSingular) {
  EXPECT_EQ(command({"init", "--hosts", dir_.file("hosts.yaml", "kind: Inventory\nhosts: [{name: n, cpu: 1}]\n")}).out,
            store() + ": a new store with 1 host\n");
  const Ran ran = lockstep({"scenario", dir_.file("s.scenario", "host n1 cpu=4\nexpect host n1 free cpu=4\n")});
  EXPECT_NE(ran.out.find("1 scenario, 1 expectation, "), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace lockstep::testing
