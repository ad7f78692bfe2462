// The verbs about groups, hosts and claims on a store where nothing runs: each one's good path and its refusals, exit
// statuses, the error line, and the JSON that scripts read.
#include "tests/tools/command_fixture.h"

namespace lockstep::testing {
namespace {

class Groups : public CommandTest {
 protected:
  void SetUp() override { init(); }

  void submit_train() {
    const Ran submitted = command({"submit", manifest()});
    ASSERT_EQ(submitted.status, 0) << submitted.err;
    EXPECT_EQ(submitted.out.rfind("train (id 1): submitted at seq ", 0), 0U) << submitted.out;
  }
};

TEST_F(Groups, AreSubmittedListedAndShown) {
  submit_train();
  const auto list = json({"list"});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]["name"], "train");
  EXPECT_EQ(list[0]["phase"], "Pending");
  EXPECT_EQ(list[0]["queue"], "research");
  EXPECT_FALSE(list[0].contains("members"));
  EXPECT_EQ(json({"show", "train"})["members"].size(), 3U);
  EXPECT_EQ(json({"show", "#1"})["id"], 1);
  EXPECT_NE(command({"list"}).out.find("train"), std::string::npos);
  EXPECT_NE(command({"show", "train"}).out.find("worker[1]"), std::string::npos);
}

TEST_F(Groups, ComeFromStandardInputToo) {
  const Ran submitted = command({"submit", "-"}, kTrain);
  EXPECT_EQ(submitted.status, 0) << submitted.err;
  EXPECT_EQ(phase("train"), "Pending");
}

TEST_F(Groups, HaveTheCallerAsTheirUserWhenTheySayNone) {
  ASSERT_EQ(
      command({"submit",
               manifest("kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, tasks: '1*{cpu=1}'}]}\n")})
          .status,
      0);
  EXPECT_NE(json({"show", "g"})["user"], "");
}

TEST_F(Groups, ThatAreInvalidAreRefusedWithAllTheirProblemsAndNothingIsRecorded) {
  const std::string good = manifest();
  const std::string bad =
      dir_.file("bad.yaml", "kind: GangGroup\nmetadata: {name: bad}\nspec: {rolls: 1, priority: x}\n");
  const Ran ran = command({"submit", good, bad});
  expect_failure(ran, 1, "InvalidManifest");
  EXPECT_NE(ran.err.find("bad.yaml"), std::string::npos);
  EXPECT_NE(ran.err.find("rolls"), std::string::npos);
  EXPECT_NE(ran.err.find("priority"), std::string::npos);
  EXPECT_EQ(json({"list"}).size(), 0U);
}

TEST_F(Groups, ThatAreThereAlreadyOrNeverFitAreRefused) {
  submit_train();
  expect_failure(command({"submit", manifest()}), 1, "DuplicateName");
  const std::string big =
      manifest("kind: GangGroup\nmetadata: {name: big}\nspec: {roles: [{name: w, tasks: '1*{cpu=17}'}]}\n");
  const Ran ran = command({"submit", big});
  expect_failure(ran, 1, "NeverFits");
  EXPECT_NE(ran.err.find("cpu"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST_F(Groups, ThatAreHeldWaitForTheirSubmit) {
  ASSERT_EQ(
      command(
          {"submit",
           manifest(
               "kind: GangGroup\nmetadata: {name: h}\nspec: {hold: true, roles: [{name: w, tasks: '1*{cpu=1}'}]}\n")})
          .status,
      0);
  EXPECT_EQ(phase("h"), "Defined");
  EXPECT_EQ(json({"why", "h"})["reason"]["code"], "Held");
  EXPECT_EQ(command({"submit", "h"}).status, 0);
  EXPECT_EQ(phase("h"), "Pending");
  expect_failure(command({"submit", "h"}), 1, "WrongPhase");
  expect_failure(command({"submit", "no-such-file-or-group"}), 1, "UnknownGroup");
}

TEST_F(Groups, SayWhyTheyWait) {
  submit_train();
  const auto why = json({"why", "train"});
  EXPECT_EQ(why["name"], "train");
  EXPECT_EQ(why["reason"]["code"], "WaitingBehind");
  EXPECT_NE(command({"why", "train"}).out.find("train is Pending: WaitingBehind"), std::string::npos);
}

TEST_F(Groups, AreSuspendedResumedAndCancelled) {
  submit_train();
  EXPECT_EQ(command({"suspend", "train"}).status, 0);
  EXPECT_EQ(phase("train"), "Suspended");
  expect_failure(command({"suspend", "train"}), 1, "WrongPhase");
  EXPECT_EQ(command({"resume", "train"}).status, 0);
  EXPECT_EQ(phase("train"), "Pending");
  const auto answer = json({"cancel", "train"});
  EXPECT_EQ(answer[0]["code"], "Done");
  EXPECT_EQ(answer[0]["group"], 1);
  EXPECT_EQ(phase("train"), "Cancelled");
  EXPECT_EQ(json({"show", "train"})["end"]["code"], "Cancelled");
  expect_failure(command({"cancel", "train"}), 1, "WrongPhase");
}

TEST_F(Groups, AreResizedWithinTheirBounds) {
  submit_train();
  EXPECT_EQ(command({"resize", "train", "worker", "4"}).status, 0);
  EXPECT_EQ(json({"show", "train"})["roles"][1]["replicas"], 4);
  expect_failure(command({"resize", "train", "worker", "5"}), 1, "OutOfBounds");
  expect_failure(command({"resize", "train", "ps", "1"}), 1, "UnknownRole");
  expect_failure(command({"resize", "train", "worker", "-1"}), 2, "Usage");
  expect_failure(command({"resize", "train", "worker", "many"}), 2, "Usage");
}

TEST_F(Groups, ThatHoldNothingCannotBeEvicted) {
  submit_train();
  expect_failure(command({"evict", "train"}), 1, "WrongPhase");
}

TEST_F(Groups, ArePurgedWhenTheyHaveEndedAndKeepTheirHistory) {
  submit_train();
  expect_failure(command({"purge", "train"}), 1, "WrongPhase");
  ASSERT_EQ(command({"cancel", "train"}).status, 0);
  ASSERT_EQ(command({"purge", "train"}).status, 0);
  expect_failure(command({"show", "train"}), 1, "UnknownGroup");
  const auto history = json({"history", "train"});
  EXPECT_EQ(history.front()["event"], "GroupDefined");
  EXPECT_EQ(history.back()["event"], "GroupPurged");
  EXPECT_NE(command({"history", "#1"}).out.find("GroupCancelled"), std::string::npos);
}

TEST_F(Groups, ThatNobodyKnowsAreUnknownToEveryVerb) {
  for (const char* verb : {"show", "why", "history", "cancel", "suspend", "resume", "evict", "purge"}) {
    expect_failure(command({verb, "ghost"}), 1, "UnknownGroup");
  }
  expect_failure(command({"resize", "ghost", "w", "1"}), 1, "UnknownGroup");
}

TEST_F(Groups, OneUnknownNameAmongSeveralChangesNothing) {
  submit_train();
  expect_failure(command({"cancel", "train", "ghost"}), 1, "UnknownGroup");
  EXPECT_EQ(phase("train"), "Pending");
}

TEST_F(Groups, OfAHostileManifestAreRefusedNotCrashedOn) {
  for (const std::string& text :
       {std::string(), std::string("\0\0\0", 3), std::string(100'000, '['), std::string("a: &a [*a]"),
        std::string("kind: GangGroup\nmetadata: {name: \"\\xff\"}\n"), std::string("%YAML 9.9\n---\n")}) {
    const Ran ran = command({"submit", "-"}, text);
    EXPECT_TRUE(ran.status == 1 || ran.status == 2) << ran.status << ran.err;
    EXPECT_EQ(ran.err.rfind("lockstep: ", 0), 0U) << ran.err;
  }
}

TEST_F(Groups, AreConvertedToNativeManifestsThatMeanTheSame) {
  const Ran converted = lockstep({"convert", manifest()});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(lockstep({"convert", dir_.file("again.yaml", converted.out)}).out, converted.out);
}

TEST_F(Groups, FromAJobSetAreConvertedAndSayWhatWasNotCarried) {
  const std::string jobset = dir_.file("jobset.yaml", kJobSet);
  const Ran converted = lockstep({"convert", jobset});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_NE(converted.out.find("kind: GangGroup"), std::string::npos);
  EXPECT_NE(converted.err.find("not carried"), std::string::npos) << converted.err;
  EXPECT_EQ(command({"submit", jobset}).status, 0);
  const Ran foreign = lockstep({"convert", dir_.file("bad.yaml", "kind: Pod\n")});
  expect_failure(foreign, 1, "InvalidManifest");
  EXPECT_NE(foreign.err.find("hosts with their topology"), std::string::npos) << foreign.err;
  expect_failure(lockstep({"convert", "/no/such/file"}), 1, "NotFound");
}

TEST_F(Groups, HostsAreListedDrainedTakenDownUpAndRemoved) {
  EXPECT_EQ(json({"hosts"}).size(), 4U);
  EXPECT_EQ(json({"hosts"})[0]["at"], "A");
  EXPECT_EQ(command({"hosts", "drain", "a[1-2]"}).status, 0);
  EXPECT_EQ(command({"hosts", "down", "b1"}).status, 0);
  auto hosts = json({"hosts"});
  EXPECT_EQ(hosts[0]["drained"], true);
  EXPECT_EQ(hosts[1]["drained"], true);
  EXPECT_EQ(hosts[2]["down"], true);
  EXPECT_EQ(command({"hosts", "up", "a1", "b1"}).status, 0);
  EXPECT_EQ(command({"hosts", "remove", "b2"}).status, 0);
  hosts = json({"hosts"});
  EXPECT_EQ(hosts.size(), 3U);
  EXPECT_EQ(hosts[0]["drained"], false);
  EXPECT_NE(command({"hosts"}).out.find("drained"), std::string::npos);
  expect_failure(command({"hosts", "down", "z9"}), 1, "UnknownHost");
  expect_failure(command({"hosts", "down", "z["}), 2, "InvalidInput");
  expect_failure(command({"hosts", "down"}), 2, "Usage");
}

TEST_F(Groups, ClaimsAreListed) {
  EXPECT_EQ(json({"claims"}).size(), 0U);
  submit_train();
  EXPECT_EQ(json({"claims"})[0]["name"], "scratch");
  EXPECT_NE(command({"claims"}).out.find("scratch"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::testing
