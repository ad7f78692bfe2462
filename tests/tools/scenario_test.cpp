// The runner of scenario files, on files written here: what does not parse is told with its line and status 2; every
// form of expectation can hold and can fail, so that a green file means something; traces are rewritten and compared;
// no text brings it down. The real files are in scenario_files_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/manifest/support.h"
#include "tests/tools/scenario_fixture.h"
#include "tools/scenario/parse.h"

namespace lockstep {
namespace {

// Two members, one armed; one late report. The reports have numbers 1 and 2.
const std::string kTwo =
    "host n[1-2] cpu=8 gpu=1\n"
    "pool license.lic 3\n"
    "run <<EOF\n"
    "kind: GangGroup\n"
    "metadata: {name: g}\n"
    "spec:\n"
    "  roles: [{name: w, replicas: 2, tasks: \"1*{cpu=8 license.lic=1}\"}]\n"
    "  claims: [{name: data}, {name: scratch, per: member}, {name: shared, kind: standalone}]\n"
    "  failure: {default: restartGroup}\n"
    "EOF\n"
    "schedule\n"
    "armed g/w[0]\n"
    "exit g/w[1] code=0 attempt=7\n";
constexpr std::size_t kTwoLines = 13;

// ---- what does not parse ------------------------------------------------------------------------------------------

TEST_F(Scenario, TellsEveryLineThatDoesNotParseAndRunsNothing) {
  const auto result = run("host n1 cpu=8\nfly away\n\n# fine\nadvance soon\nexpect group g phase Flying\n");
  EXPECT_EQ(result.status, 2);
  ASSERT_EQ(result.failures.size(), 3U) << lines(result.failures);
  EXPECT_EQ(result.failures[0], at(2, "\"fly\" is not a verb"));
  EXPECT_TRUE(result.failures[1].starts_with(at(5, ""))) << result.failures[1];
  EXPECT_EQ(result.failures[2], at(6, "\"Flying\" is not a phase of groups"));
  EXPECT_EQ(result.steps, 0U);
  EXPECT_EQ(result.events, 0U);
}

const std::vector<std::string> kBadLines{
    // the cluster
    "host", "host n[1- cpu=8", "host n1 cpu", "host n1 cpu=-1", "pool license.x", "pool license.x many", "host-down",
    "host-down n1 n2", "drain n[", "remove-host", "levels <<EOF\nEOF",
    // groups
    "define", "define a b", "run <<", "<<EOF\nEOF", "submit", "submit g h", "submit g/w[0]", "submit g <<EOF\nEOF",
    "resize g w", "resize g w many", "resize g w -1", "purge", "evict g now",
    // scheduler, agents
    "schedule now", "scheduler", "scheduler sometimes", "agents", "agents off", "claim g/data", "claim g/data lost",
    "claim g/ ready", "claim g/data ready soon", "armed", "armed g", "armed g/w", "armed g/w[", "armed g/w[x]",
    "armed g/w[3-1]", "armed g/w[0] attempt=x", "armed g/w[0] code=1", "armed g/w[0] quickly", "exit g/w[0]",
    "exit g/w[0] code=", "exit g/w[0] code=99999999999", "exit g/w[0] reason=exited", "exit g/w[0] code=1 reason=tired",
    "armed g/w[0-4294967295]",
    // time
    "advance", "advance 1h30m", "advance -1s", "advance 5", "advance 99999999999999d", "downtime", "snapshot 3",
    "crash now", "trim all", "crash <<EOF\nEOF",
    // expectations
    "not", "not run", "expect", "expect rain", "expect group", "expect group g", "expect group g phase",
    "expect group g phase Running now", "expect group g attempt many", "expect group g reason Boredom",
    "expect group g end Well", "expect group g deadline.tea 5m", "expect group g deadline.start soon",
    "expect group g held", "expect group g held cpu", "expect group g held cpu=many", "expect group g colour red",
    "expect group g#0 phase Running", "expect group g#x phase Running", "expect member g/w[0] phase Flying",
    "expect member g phase Running", "expect member g/w[0] host n[", "expect member g/w[0] shoe 43",
    "expect members g/* Running", "expect members g/* Running many", "expect members g/* on n1",
    "expect members g/* on n1 2 3", "expect host n1 free", "expect host n1 cpu=8", "expect pool license.x 3",
    "expect pool license.x free", "expect claim g/data", "expect claim g/data Gone", "expect intents g fly 1",
    "expect intents g start", "expect events", "expect events GroupFlew 1", "expect events GroupPlaced",
    "expect events GroupPlaced 1 2", "expect groups Running", "expect groups Flying 1", "expect rejected",
    "expect rejected Late", "expect rejected Whatever", "expect late", "expect late many", "expect same-digest please"};

TEST_F(Scenario, RefusesLinesOfTheWrongForm) {
  for (const auto& line : kBadLines) {
    const auto result = run("host n1 cpu=8\n" + line + "\n");
    EXPECT_EQ(result.status, 2) << line << lines(result.failures);
    ASSERT_FALSE(result.failures.empty()) << line;
    EXPECT_TRUE(result.failures[0].starts_with(at(2, ""))) << line << lines(result.failures);
  }
}

TEST_F(Scenario, TellsWhereABlockBeganThatNeverEnds) {
  const auto result = run("host n1 cpu=8\nrun <<EOF\nkind: GangGroup\n");
  EXPECT_EQ(result.status, 2);
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures[0], at(2, "the block <<EOF has no line EOF at its end"));
}

TEST_F(Scenario, SaysNotYetToAPromotion) {
  const auto result = run("host n1 cpu=8\npromote\n");
  EXPECT_EQ(result.status, 2);
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_TRUE(result.failures[0].starts_with(at(2, "promote: not yet"))) << result.failures[0];
  EXPECT_EQ(result.steps, 0U);
}

TEST_F(Scenario, RefusesFilesThatAreNone) {
  std::ostringstream trace;
  EXPECT_EQ(run_scenario(folder_ / "nothing.scn", {}, trace).status, 1);
  EXPECT_EQ(run_scenario(folder_, {}, trace).status, 2);
  EXPECT_EQ(run_scenario("/dev/zero", {}, trace).status, 2);
  const auto result = run("define nothing.yaml\n");
  EXPECT_EQ(result.status, 2);
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_TRUE(result.failures[0].starts_with(at(1, ""))) << result.failures[0];
}

TEST_F(Scenario, SaysWhatIsWrongInOnePrintableLineWhateverItHolds) {
  for (const std::string& bytes : hostile_bytes()) {
    for (const std::string_view line : {"@ x",
                                        "host n@ cpu=8",
                                        "host n1 c@=8",
                                        "host n1 cpu=@",
                                        "define x@y",
                                        "define <<E@F\nx",
                                        "submit g@",
                                        "run <<EOF\nkind: @\nEOF",
                                        "run <<EOF\nkind: \"\\@\"\nEOF",
                                        "inventory x@y",
                                        "levels a@b",
                                        "pool @ 1",
                                        "exit g@/w@[0] code=@",
                                        "claim g/@ @",
                                        "advance @",
                                        "expect group g phase @",
                                        "expect group g@ phase Running",
                                        "expect @ x",
                                        "expect events @ 1",
                                        "expect rejected @",
                                        "host n1 cpu=8\n----\n@\n"}) {
      for (const auto& failure : run(with_bytes(line, bytes) + "\n").failures) {
        EXPECT_TRUE(is_printable_line(failure)) << failure << "\nof " << line;
      }
    }
  }
}

// ---- lines --------------------------------------------------------------------------------------------------------

TEST_F(Scenario, ReadsFilesBesideItself) {
  write("kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, tasks: \"1*{cpu=8}\"}]}\n", "g.yaml");
  write("kind: Inventory\nhosts: [{name: \"n[1-2]\", cpu: 8}]\n", "cluster.yaml");
  const auto result = run("inventory cluster.yaml\nrun g.yaml\nexpect group g phase Pending\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
}

TEST_F(Scenario, TakesCommentsOutsideOfBlocksAlone) {
  const std::string text =
      "# a comment\n"
      "  # another\n"
      "host n1 cpu=8 # a third\n"
      "\thost n2 cpu=8\t# tabs too\n"
      "run <<END      # the block has a mark of its own\n"
      "kind: GangGroup\n"
      "metadata: {name: g, labels: {note: \"a #b\"}}\n"
      "spec:\n"
      "  roles:\n"
      "# of YAML, not of the scenario\n"
      "    - {name: w, tasks: \"1*{cpu=8}\"}\n"
      "END\n"
      "expect group g#1 phase Pending\n";
  auto result = run(text);
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  EXPECT_EQ(result.expectations, 1U);

  result = run(text + "expect group #1 phase Pending   # a comment from its third word on\n");
  ASSERT_EQ(result.failures.size(), 1U) << lines(result.failures);
  EXPECT_TRUE(result.failures[0].starts_with(at(14, "the form is: "))) << result.failures[0];
}

TEST_F(Scenario, TakesLinesThatEndInCarriageReturns) {
  std::string text = kTwo + "expect group g phase Placed\n";
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) text.insert(i, "\r");
  const auto result = run(text);
  EXPECT_EQ(result.status, 0) << lines(result.failures);
}

TEST_F(Scenario, CountsStepsExpectationsAndEvents) {
  const auto result = run("host n[1-2] cpu=8\nexpect host n1 free cpu=8\nexpect groups Running 0\npool p 3\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  EXPECT_EQ(result.steps, 2U);
  EXPECT_EQ(result.expectations, 2U);
  EXPECT_EQ(result.events, 4U);  // ControllerStarted, HostAdded twice, PoolSet
}

// ---- expectations -------------------------------------------------------------------------------------------------

TEST_F(Scenario, SaysWhatWasExpectedAndWhatIsAndGoesOn) {
  const auto result =
      run(kTwo + "expect group g phase Running\nexpect group g held cpu=16\nexpect members g/* Armed 2\n");
  EXPECT_EQ(result.status, 1);
  ASSERT_EQ(result.failures.size(), 2U) << lines(result.failures);
  EXPECT_EQ(result.failures[0], at(kTwoLines + 1, "expected group g phase Running, got Placed"));
  EXPECT_EQ(result.failures[1], at(kTwoLines + 3, "expected members g/* Armed 2, got 1"));
}

// Each form with what holds and with what does not.
struct Form {
  std::string holds;
  std::string fails;
};

const std::vector<Form> kForms{
    {"group g phase Placed", "group g phase Running"},
    {"group g#1 phase Placed", "group g#2 phase Placed"},
    {"group nobody phase none", "group nobody phase Placed"},
    {"group g attempt 1", "group g attempt 2"},
    {"group g charged 0", "group g charged 1"},
    {"group g held cpu=16", "group g held cpu=8"},
    {"group g held license.lic=2 gpu=0 cpu=16000m", "group g held license.lic=2 gpu=1"},
    {"group g held cpu=16", "group g held none"},
    {"group g reason WaitingForClaim", "group g reason WaitingForArm"},
    {"group g reason WaitingForClaim", "group g reason none"},
    {"group g reason.resource data", "group g reason.resource scratch"},
    {"group g reason.role none", "group g reason.role w"},
    {"group g reason.blockers none", "group g reason.blockers g"},
    {"group g reason.blockers none", "group g reason.blockers g,g"},
    {"group g end none", "group g end Completed"},
    {"group g end.role none", "group g end.role w"},
    {"group g end.member none", "group g end.member 0"},
    {"group g end.exitCode none", "group g end.exitCode 1"},
    {"group g domain /", "group g domain none"},
    {"group g deadline.start 30m", "group g deadline.start 31m"},
    {"group g deadline.start 1800s", "group g deadline.start none"},
    {"group g deadline.reserve none", "group g deadline.reserve 30m"},
    {"group g deadline.stop none", "group g deadline.stop 60s"},
    {"member g/w[0] phase Armed", "member g/w[0] phase Placed"},
    {"member g/w[1] phase Placed", "member g/w[7] phase Placed"},
    {"member g/w[1] host n2", "member g/w[1] host n1"},
    {"member g/w[1] host n[2]", "member g/w[1] host n[1-2]"},
    {"member g/w[0] run 1", "member g/w[0] run 2"},
    {"members g/w[*] Placed 1", "members g/w[*] Placed 2"},
    {"members g/* Running 0", "members h/* Running 0"},
    {"members g/w[*] Running 0", "members g/v[*] Running 0"},
    {"members g/* on n[1-2] 2", "members g/* on n1 2"},
    {"host n1 free cpu=0", "host n1 free cpu=8"},
    {"host n[1-2] free cpu=0 gpu=1", "host n[1-3] free cpu=0"},
    {"host n1 free mem=0", "host n[1-2] free cpu=0 gpu=2"},
    {"pool license.lic free 1", "pool license.lic free 2"},
    {"pool license.none free 0", "pool license.none free 1"},
    {"claim g/data Provisioning", "claim g/data Ready"},
    {"claim g/w[1]/scratch Provisioning", "claim g/w[9]/scratch Ready"},
    {"claim g/w[*]/scratch Provisioning", "claim g/w[*]/scratch Wanted"},
    {"claim shared Provisioning", "claim unknown Wanted"},
    {"intents g arm 1", "intents g arm 2"},
    {"intents g provision 3", "intents g release 1"},
    {"intents shared provision 1", "intents nobody provision 0"},
    {"events GroupPlaced 1", "events GroupPlaced 0"},
    {"events GroupPlaced group=g 1", "events GroupPlaced group=g 2"},
    {"events GroupPlaced 1 group=g", "events GroupPlaced group=nobody 0"},
    {"events ControllerStarted 1", "events ControllerStarted 2"},
    {"groups Placed 1", "groups Placed 2"},
    {"late 1 group=g", "late 0 group=g"},
    {"late 1", "late 2"},
    {"same-digest", "rejected WrongPhase"},
};

TEST_F(Scenario, EveryFormOfExpectationCanHold) {
  std::string text = kTwo;
  for (const auto& form : kForms) text += "expect " + form.holds + "\nnot expect " + form.fails + "\n";
  for (const bool crash_everywhere : {false, true}) {
    ScenarioOptions options;
    options.crash_everywhere = crash_everywhere;
    const auto result = run(text, options);
    EXPECT_EQ(result.status, 0) << lines(result.failures);
    EXPECT_EQ(result.expectations, 2 * kForms.size());
  }
}

TEST_F(Scenario, EveryFormOfExpectationCanFail) {
  std::string text = kTwo;
  for (const auto& form : kForms) text += "not expect " + form.holds + "\nexpect " + form.fails + "\n";
  const auto result = run(text);
  EXPECT_EQ(result.status, 1);
  ASSERT_EQ(result.failures.size(), 2 * kForms.size()) << lines(result.failures);
  for (std::size_t i = 0; i < result.failures.size(); ++i) {
    EXPECT_TRUE(result.failures[i].starts_with(at(kTwoLines + 1 + i, "expected "))) << result.failures[i];
    EXPECT_NE(result.failures[i].find(", got "), std::string::npos) << result.failures[i];
  }
}

// ---- refusals -----------------------------------------------------------------------------------------------------

TEST_F(Scenario, ARefusedStepFailsUnlessTheNextLineExpectsIt) {
  auto result = run("host n1 cpu=8\nsubmit g\nexpect rejected UnknownGroup\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  result = run("submit g\n\n# between them\n\nexpect rejected UnknownGroup\nsubmit g # again\n");
  ASSERT_EQ(result.failures.size(), 1U) << lines(result.failures);
  EXPECT_TRUE(result.failures[0].starts_with(at(6, "expected the step to be accepted, got UnknownGroup: ")))
      << result.failures[0];
  EXPECT_EQ(run("submit g\nexpect groups Running 0\nexpect rejected UnknownGroup\n").status, 1);  // not the next line
  EXPECT_EQ(run("submit g\nnot expect rejected WrongPhase\n").status, 1);                         // asks for nothing
}

TEST_F(Scenario, ARefusalWithAnotherCodeFails) {
  auto result = run("submit g\nexpect rejected WrongPhase\n");
  ASSERT_EQ(result.failures.size(), 1U) << lines(result.failures);
  EXPECT_TRUE(result.failures[0].starts_with(at(2, "expected the step to be refused with WrongPhase, got UnknownG")))
      << result.failures[0];
  result = run("host n1 cpu=8\nexpect rejected WrongPhase\n");
  ASSERT_EQ(result.failures.size(), 1U) << lines(result.failures);
  EXPECT_EQ(result.failures[0], at(2, "expected the step to be refused with WrongPhase, got it was done"));
}

TEST_F(Scenario, AReportAboutAMemberThatNeverWasIsLateAndMayBeExpectedAsUnknown) {
  auto result = run(kTwo + "exit g/w[5] code=1\nexpect late 2 group=g\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  result = run(kTwo + "exit g/w[5] code=1\nexpect rejected UnknownMember\nexpect late 2 group=g\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  result = run(kTwo + "exit g/v[0] code=1\n");  // a role that is not there cannot even be named in a report
  EXPECT_EQ(result.status, 1);
}

// ---- agents, time -------------------------------------------------------------------------------------------------

TEST_F(Scenario, CountsSequenceNumbersOverAllReports) {
  // w[0] was heard with 1: the same again is not recorded, another one is, as late.
  auto result = run(kTwo + "armed g/w[0] seq=1\nexpect late 1 group=g\narmed g/w[0] seq=2\nexpect late 2 group=g\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  // Numbers given by hand are not counted: the next by itself is 3, lower than 50, so it is late though it was due.
  result = run(kTwo + "agents manual\narmed g/w[1] seq=50\nstarted g/w[1]\nexpect late 2 group=g\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
}

TEST_F(Scenario, AgentsDoWhatTheyAreAskedToAndNothingElse) {
  const auto result = run(kTwo +
                          "agents auto\n"
                          "expect group g phase Running\n"
                          "expect late 1\n"
                          "expect claim g/w[*]/scratch Ready\n"
                          "expect claim shared Ready\n"
                          "advance 1000h\n"
                          "expect group g phase Running\n"
                          "cancel g\n"
                          "expect group g phase Cancelled\n"
                          "expect intents g release 0\n"
                          "expect late 1\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
}

TEST_F(Scenario, ASetMeansThoseOfWhichTheReportIsDue) {
  const auto result = run(kTwo +
                          "started g/*\nstopped g/*\nexpect late 1\n"
                          "armed g/*\nexpect members g/* Armed 2\nexpect late 1\n"
                          "claim g/w[*]/scratch ready\nclaim g/w[*]/scratch ready\nclaim g/w[*]/scratch released\n"
                          "claim g/data ready\nclaim shared ready\n"
                          "expect late 1\nexpect group g phase Starting\n"
                          "started g/w[0,1]\nexpect group g phase Running\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
}

TEST_F(Scenario, AnAdvanceFiresDeadlinesAtTheirInstants) {
  // The start clock ends at 30m, the stop clocks at 31m and 32m, wherever the steps of the advance end.
  const auto result = run(kTwo +
                          "advance 29m\nexpect group g phase Placed\n"
                          "advance 91s\nexpect group g phase Stopping\nexpect group g deadline.stop 29s\n"
                          "advance 58m\nexpect events StopExpired group=g 4\n"
                          "expect events HostChanged 2\nexpect group g charged 1\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
}

TEST_F(Scenario, ADowntimeFiresWhatPassedAtItsEnd) {
  const auto result = run(kTwo +
                          "downtime 1h\nexpect group g phase Stopping\nexpect group g deadline.stop 60s\n"
                          "expect events StopExpired group=g 0\nexpect events ControllerStarted 2\n");
  EXPECT_EQ(result.status, 0) << lines(result.failures);
}

TEST_F(Scenario, AnAdvanceThatWouldNeverEndIsStopped) {
  ScenarioOptions options;
  options.instants_max = 50;
  const auto result =
      run("agents auto\nhost n1 cpu=8\nrun <<EOF\nkind: GangGroup\nmetadata: {name: g}\n"
          "spec:\n  roles: [{name: w, tasks: \"1*{cpu=8}\"}]\n  timeouts: {run: 1ms}\n"
          "  failure: {rules: [{reasons: [runTimeout], action: restartGroup, charge: false}]}\nEOF\n"
          "scheduler auto\nadvance 1000h\n",
          options);
  EXPECT_EQ(result.status, 1);
  ASSERT_EQ(result.failures.size(), 1U) << lines(result.failures);
  EXPECT_TRUE(result.failures[0].starts_with(at(12, "expected at most "))) << result.failures[0];
}

// ---- traces -------------------------------------------------------------------------------------------------------

TEST_F(Scenario, PrintsTheEventsOfEachStep) {
  ScenarioOptions options;
  options.trace = true;
  const auto result = run(kTwo, options);
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  const auto text = trace_.str();
  EXPECT_NE(text.find("11 schedule\n  GroupPlaced g attempt=1 domain=/ w[0]=n1 w[1]=n2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("12 armed g/w[0]\n  MemberArmed g w[0]\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("ControllerStarted"), std::string::npos);
  EXPECT_EQ(text.find("DigestRecorded"), std::string::npos);
}

TEST_F(Scenario, RewritesTracesAndComparesThem) {
  const std::string before = "host n1 cpu=8\n----\nwrong\nwrong too\n\n# the end\nhost-down n1   # down\n----\n";
  const std::string after =
      "host n1 cpu=8\n----\nHostAdded n1 cpu=8\n\n# the end\nhost-down n1   # down\n----\nHostChanged n1 cpu=8 "
      "down\n\n";
  auto result = run(before);
  EXPECT_EQ(result.status, 1);
  ASSERT_EQ(result.failures.size(), 2U) << lines(result.failures);
  EXPECT_EQ(result.failures[0], at(3, "expected \"wrong\", got \"HostAdded n1 cpu=8\""));
  EXPECT_EQ(result.failures[1], at(9, "expected no more events, got \"HostChanged n1 cpu=8 down\""));

  ScenarioOptions rewrite;
  rewrite.rewrite = true;
  result = run(before, rewrite);
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  EXPECT_EQ(read_all(folder_ / "test.scn"), after);
  result = run(after);
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  result = run(after, rewrite);
  EXPECT_EQ(read_all(folder_ / "test.scn"), after);
}

TEST_F(Scenario, ComparesTracesToTheEndOfTheirLines) {
  const std::string host = "n" + std::string(200, 'x');
  const std::string text = "host " + host + " cpu=8\n----\nHostAdded " + host + " cpu=";
  EXPECT_EQ(run(text + "8\n\n").status, 0);
  const auto result = run(text + "9\n\n");
  EXPECT_EQ(result.status, 1);
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_TRUE(result.failures[0].ends_with(" cpu=8\"")) << result.failures[0];
}

TEST_F(Scenario, ATraceWithoutAStepAboveItDoesNotParse) {
  EXPECT_EQ(run("# nothing\n----\nHostAdded n1\n\n").status, 2);
  EXPECT_EQ(run("expect groups Running 0\n----\nHostAdded n1\n\n").status, 2);
  EXPECT_EQ(run("host n1 cpu=8\n----\n\n----\n\n").status, 2);  // twice
}

// ---- stores -------------------------------------------------------------------------------------------------------

TEST_F(Scenario, KeepsAnLmdbStoreInADirectoryThatIsNamed) {
  ScenarioOptions options;
  options.store = ScenarioStore::Lmdb;
  options.directory = folder_ / "kept";
  auto result = run(kTwo + "crash\nsnapshot\nexpect same-digest\n", options);
  EXPECT_EQ(result.status, 0) << lines(result.failures);
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "store.json"));
  result = run(kTwo, options);  // never on top of what is there
  EXPECT_EQ(result.status, 2);
}

TEST_F(Scenario, LeavesNothingInTheTemporaryDirectory) {
  const auto temporary = folder_ / "tmp";
  fs::create_directory(temporary);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(::setenv("TMPDIR", temporary.c_str(), 1), 0);
  for (const auto store : {ScenarioStore::Memory, ScenarioStore::Lmdb}) {
    ScenarioOptions options;
    options.store = store;
    const auto result = run(kTwo + "snapshot\ncrash\nexpect group g phase Running\n", options);
    EXPECT_EQ(result.status, 1) << lines(result.failures);
  }
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
  EXPECT_TRUE(fs::is_empty(temporary));
}

// ---- chance -------------------------------------------------------------------------------------------------------

TEST(ScenarioText, NoBytesBringTheParserDown) {
  std::mt19937_64 random(seed());
  const std::string letters = "ghw[]*/#=<>EOF0123456789-,. \t\n\r\x01\xff";
  const std::vector<std::string> words{"host",        "expect",  "group",  "g",     "armed", "g/w[*]",
                                       "run <<EOF\n", "\nEOF\n", "----\n", "phase", "exit",  "code=1",
                                       "n[1-3]",      "cpu=8",   "claim",  "\n"};
  const scenario::LoadFile load = [](const std::string&) -> Result<std::string> { return std::string("kind: x"); };
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      if (random() % 2 == 0) {
        text += words[random() % words.size()] + (random() % 3 == 0 ? "" : " ");
      } else {
        text += letters[random() % letters.size()];
      }
    }
    const auto script = scenario::parse_script(text, load);
    const auto lines_of_text = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    for (const auto& error : script.errors) {
      EXPECT_GE(error.line, 1U);
      EXPECT_LE(error.line, lines_of_text);
    }
  }
}

}  // namespace
}  // namespace lockstep
