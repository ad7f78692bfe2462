// The single writer: one record per batch, answers only for what is in the log, what a failed append means, and that a
// client that asks again gets its first answer and nothing twice. The log is in memory and fails as asked.
// Shows R02, R03, R04, R07, R26.

#include "replay/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "statemachine/decide.h"
#include "tests/replay/random_history.h"
#include "tests/replay/state_bytes.h"
#include "tests/replay/support.h"

namespace lockstep::test {
namespace {

using ::testing::HasSubstr;

constexpr Time kNow{seconds(1'000).value};

ControllerOptions careful() {
  ControllerOptions options;
  options.check_invariants = true;
  return options;
}

std::unique_ptr<Controller> start(Log& log, const SnapshotStore* snapshots = nullptr,
                                  const ControllerOptions& options = careful(), Time now = kNow) {
  auto controller = Controller::start(log, snapshots, options, now);
  LOCKSTEP_CHECK(controller.has_value(), controller.error().message);
  return std::move(*controller);
}

std::size_t count(const std::vector<Event>& events, EventKind wanted) {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(), [&](const Event& event) { return kind(event) == wanted; }));
}

// ---- start ----------------------------------------------------------------------------------------------------------

TEST(Controller, EachStartOpensAHigherEpoch) {
  MemoryLog log;
  EXPECT_EQ(start(log)->state().head.epoch, Epoch{1});
  EXPECT_EQ(start(log)->state().head.epoch, Epoch{2});
  EXPECT_EQ(log.head()->epoch, Epoch{2});
  EXPECT_EQ(count(events_of(log), EventKind::ControllerStarted), 2U);
}

TEST(Controller, DeadlinesThatPassedWhileItWasDownFireFirstAndAtTheTimeOfTheRecovery) {
  MemoryLog log;
  {
    const auto controller = start(log);
    DefineGroup too_big = define("waits");
    too_big.spec.timeouts.pend = seconds(30);
    ASSERT_TRUE(controller->execute(command(host("n1", 1), kNow)).has_value());
    too_big.spec.roles[0].tasks[0].requests = {{"cpu", 1'000}};
    ASSERT_EQ(controller->execute(command(too_big, kNow))->code, AnswerCode::Done);
    ASSERT_EQ(next_deadline(controller->state()), kNow + seconds(30));
  }
  const Time later = kNow + seconds(500);
  const auto controller = start(log, nullptr, careful(), later);
  const auto& events = controller->last_events();
  ASSERT_EQ(count(events, EventKind::GroupFailed), 1U);
  EXPECT_EQ(kind(events.back()), EventKind::ControllerStarted) << "the epoch opens after what had passed";
  for (const Event& event : events) EXPECT_EQ(event.time, later);
  EXPECT_EQ(controller->state().group_named("waits")->head.end.code, EndCode::PendTimeout);
  EXPECT_EQ(records_of(log).back().count, events.size()) << "one record";
}

TEST(Controller, TimeNeverGoesBackWhateverTheClockSays) {
  MemoryLog log;
  { ASSERT_TRUE(start(log)->execute(command(host("n1"), kNow + seconds(10))).has_value()); }
  const auto controller = start(log, nullptr, careful(), Time{kNow.value / 2});
  ASSERT_TRUE(controller->execute(command(host("n2"), Time{1})).has_value());
  Time last{};
  for (const Event& event : events_of(log)) {
    EXPECT_GE(event.time, last);
    last = event.time;
  }
}

// ---- records --------------------------------------------------------------------------------------------------------

TEST(Controller, ABatchIsOneRecord) {
  MemoryLog log;
  const auto controller = start(log);
  const std::size_t before = records_of(log).size();
  const std::vector<Command> batch{command(host("n1")), command(define("a")), command(define("b"))};
  const auto answers = controller->execute(batch);
  ASSERT_TRUE(answers.has_value());
  EXPECT_EQ(answers->size(), 3U);
  EXPECT_EQ(records_of(log).size(), before + 1);
  EXPECT_EQ(controller->head(), log.head().value());
  EXPECT_EQ(controller->state().head.seq, log.head()->seq);
}

TEST(Controller, ABatchThatDecidesNothingWritesNothing) {
  MemoryLog log;
  const auto controller = start(log);
  const Head before = log.head().value();
  const auto answer = controller->execute(command(GroupCommand{GroupVerb::Cancel, GroupId{99}}));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->code, AnswerCode::UnknownGroup);
  EXPECT_EQ(log.head().value(), before);
}

TEST(Controller, ARecordIsClosedWhenItHasEnoughEventsAndNeverCutsACommand) {
  MemoryLog log;
  ControllerOptions options = careful();
  options.batch_events_max = 5;
  options.digest_every = 0;
  const auto controller = start(log, nullptr, options);
  std::vector<Command> batch{command(host("n1"))};
  for (int i = 0; i < 20; ++i) batch.push_back(command(define("g" + std::to_string(i))));
  const auto answers = controller->execute(batch);
  ASSERT_TRUE(answers.has_value());
  std::size_t records = 0;
  for (const RecordHeader& header : records_of(log)) {
    const bool ends_a_command =
        header.first == Seq{1} || std::any_of(answers->begin(), answers->end(),
                                              [&](const Answer& answer) { return answer.seq == header.last(); });
    EXPECT_TRUE(ends_a_command) << "a record ends at seq " << header.last().value << ", inside a command";
    ++records;
  }
  EXPECT_GT(records, 3U);
}

TEST(Controller, AManifestThatNoRecordCouldHoldIsRefusedAndNothingElseIs) {
  MemoryLog log;
  const auto controller = start(log);
  DefineGroup huge = define("huge");
  for (int i = 0; i < 300; ++i) huge.spec.roles[0].env.push_back({"K" + std::to_string(i), std::string(60'000, 'x')});
  const std::vector<Command> batch{command(huge), command(host("n1"))};
  const auto answers = controller->execute(batch);
  ASSERT_TRUE(answers.has_value());
  EXPECT_EQ(answers->at(0).code, AnswerCode::InvalidManifest);
  EXPECT_EQ(answers->at(1).code, AnswerCode::Done);
}

TEST(Controller, P79_ABatchOfDependentCommandsDecidesWhatTheyDecideOneByOne) {
  const std::uint64_t seed = seed_of_run(790);
  const History history = make_history(seed, 600);
  ControllerOptions options = careful();
  options.digest_every = 0;
  MemoryLog one_by_one;
  MemoryLog batched;
  const auto single = start(one_by_one, nullptr, options);
  const auto batch = start(batched, nullptr, options);
  std::vector<Command> commands;
  for (const History::Step& step : history.steps) commands.push_back(step.command);
  std::vector<Answer> expected;
  for (const Command& each : commands) expected.push_back(single->execute(each).value());
  std::vector<Answer> answers;
  for (std::size_t first = 0; first < commands.size(); first += 37) {
    const auto some = std::span(commands).subspan(first, std::min<std::size_t>(37, commands.size() - first));
    const auto some_answers = batch->execute(some).value();
    answers.insert(answers.end(), some_answers.begin(), some_answers.end());
  }
  EXPECT_EQ(bytes_of(events_of(one_by_one)), bytes_of(events_of(batched)));
  EXPECT_EQ(single->state().digest(), batch->state().digest());
  ASSERT_EQ(answers.size(), expected.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].code, expected[i].code);
    EXPECT_EQ(answers[i].seq, expected[i].seq);
    EXPECT_EQ(answers[i].repeated, expected[i].repeated);
  }
  EXPECT_LT(records_of(batched).size(), records_of(one_by_one).size() / 5);
}

TEST(Controller, P82_DigestsAreRecordedAtIntervalsAndComparedByTheNextStart) {
  MemoryLog log;
  ControllerOptions options = careful();
  options.digest_every = 10;
  {
    const auto controller = start(log, nullptr, options);
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(controller->execute(command(host("n" + std::to_string(i)))).has_value());
  }
  const std::size_t recorded = count(events_of(log), EventKind::DigestRecorded);
  EXPECT_GE(recorded, 5U);
  EXPECT_LE(recorded, 6U);
  EXPECT_EQ(start(log)->recovery().digests_compared, recorded);
}

// ---- a failed append ------------------------------------------------------------------------------------------------

// P25: the answer may be formed before, but is given only after.
TEST(Controller, P25_AnswersOnlyWhatTheLogHasTaken) {
  GatedLog log;
  const auto controller = start(log);
  bool answered = false;
  bool answered_early = false;
  log.before_append = [&] { answered_early = answered_early || answered; };
  const auto answer = controller->execute(command(host("n1")));
  answered = true;
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answered_early);
  EXPECT_GE(log.head()->seq, answer->seq);
}

class Unknown : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Landed, Unknown, ::testing::Bool());

TEST_P(Unknown, P23_P28_OutcomeLatchesAndTheClientWhoAsksAgainGetsItOnce) {
  const bool landed = GetParam();
  MemoryLog log;
  const Command define_once = asked(7, 1, define("once"));
  {
    const auto controller = start(log);
    ASSERT_TRUE(controller->execute(command(host("n1"))).has_value());
    log.fail_next(ErrorCode::OutcomeUnknown, landed);
    const auto answer = controller->execute(define_once);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::OutcomeUnknown);
    const Head after = log.head().value();
    log.reopen();
    for (int i = 0; i < 3; ++i) {  // the log would take it again; the controller does not ask
      const auto again = controller->execute(define_once);
      ASSERT_FALSE(again.has_value());
      EXPECT_EQ(again.error().code, ErrorCode::OutcomeUnknown);
    }
    EXPECT_EQ(log.head().value(), after);
    EXPECT_FALSE(controller->snapshot().has_value());
    EXPECT_TRUE(controller->latched().has_value());
  }
  const auto controller = start(log);
  const auto answer = controller->execute(define_once);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->code, AnswerCode::Done);
  EXPECT_EQ(answer->repeated, landed);
  EXPECT_EQ(answer->group, GroupId{1});
  EXPECT_EQ(count(events_of(log), EventKind::GroupDefined), 1U);
}

TEST(Controller, P23_AnyOtherStorageErrorLatchesToo) {
  for (const ErrorCode code : {ErrorCode::StorageFailed, ErrorCode::NotLeader, ErrorCode::StaleHead}) {
    MemoryLog log;
    const auto controller = start(log);
    log.fail_next(code);
    EXPECT_EQ(controller->execute(command(host("n1"))).error().code, code);
    EXPECT_EQ(controller->execute(command(host("n2"))).error().code, code);
    EXPECT_EQ(count(events_of(log), EventKind::HostAdded), 0U);
  }
}

TEST(Controller, ADeposedOneIsRefusedByTheLogAndLatches) {
  MemoryLog log;
  const auto old = start(log);
  const auto now = start(log);
  EXPECT_EQ(old->execute(command(host("n1"))).error().code, ErrorCode::NotLeader);
  EXPECT_EQ(old->execute(command(host("n1"))).error().code, ErrorCode::NotLeader);
  EXPECT_TRUE(now->execute(command(host("n1"))).has_value());
}

TEST(Controller, NoRoomUndoesTheBatchAndDoesNotLatch) {
  for (const ErrorCode code : {ErrorCode::DiskFull, ErrorCode::MapFull}) {
    TempDir dir;
    const SnapshotStore snapshots(dir.path(), kStoreId);
    MemoryLog log;
    const auto controller = start(log, &snapshots);
    ASSERT_TRUE(controller->execute(command(host("n1"))).has_value());
    ASSERT_TRUE(controller->snapshot().has_value());
    ASSERT_TRUE(controller->execute(command(define("a"))).has_value());
    const Bytes before = facts_of(controller->state());
    log.fail_next(code);
    const std::vector<Command> batch{command(define("b")), command(define("c"))};
    const auto refused = controller->execute(batch);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, code);
    EXPECT_EQ(facts_of(controller->state()), before);
    EXPECT_TRUE(controller->last_events().empty());
    EXPECT_TRUE(controller->execute(batch).has_value());
    EXPECT_EQ(count(events_of(log), EventKind::GroupDefined), 3U);
    EXPECT_EQ(facts_of(recover(log, nullptr)->state), facts_of(controller->state()));
  }
}

TEST(Controller, NoRoomInTheMiddleOfABatchTellsWhatIsDurable) {
  MemoryLog inner;
  GatedLog log;
  ControllerOptions options = careful();
  options.batch_events_max = 1;  // each command is a record
  const auto controller = start(log, nullptr, options);
  std::size_t appends = 0;
  log.before_append = [&] {
    if (++appends == 3) log.inner.fail_next(ErrorCode::DiskFull);
  };
  std::vector<Command> batch;
  for (int i = 0; i < 5; ++i) batch.push_back(command(host("n" + std::to_string(i))));
  std::vector<Answer> answered;
  const auto outcome = controller->execute(batch, answered);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::DiskFull);
  EXPECT_EQ(answered.size(), 2U);
  EXPECT_EQ(controller->last_events().size(), 2U);
  EXPECT_EQ(controller->state().hosts.size(), 2U);
  EXPECT_FALSE(controller->latched().has_value());
}

// Whatever fails, whenever: a client that asks until it is answered has each of its requests done exactly once.
TEST(Controller, P28_UnderRandomFailuresEveryRequestIsDoneExactlyOnce) {
  const std::uint64_t seed = seed_of_run(28);
  for (std::uint64_t run = 0; run < 30; ++run) {
    RandomWorld world(seed + run, WorldOptions{4, 8, false, false});
    std::mt19937_64 random(seed + run);
    MemoryLog log;
    ControllerOptions options = careful();
    options.digest_every = 16;
    auto controller = start(log, nullptr, options);
    std::uint64_t request = 0;
    while (request < 60) {
      std::vector<Command> batch;
      for (std::uint64_t i = 1 + random() % 4; i > 0; --i) {
        batch.push_back(world.next(controller->state()));
        batch.back().client = 1 + random() % 2;
        batch.back().request = ++request;
      }
      for (;;) {
        const std::uint64_t dice = random() % 8;
        if (dice == 0) log.fail_next(ErrorCode::OutcomeUnknown, true);
        if (dice == 1) log.fail_next(ErrorCode::OutcomeUnknown, false);
        if (dice == 2) log.fail_next(ErrorCode::DiskFull);
        if (controller->execute(batch).has_value()) break;
        ASSERT_EQ(controller->violation(), "") << "seed " << seed + run;
        if (!controller->latched()) continue;
        const Time now = controller->state().head.time;
        for (Result<std::unique_ptr<Controller>> again = fail(ErrorCode::Interrupted, "not started yet"); !again;) {
          log.reopen();  // a failure that was asked for may still be due, and meet the start
          again = Controller::start(log, nullptr, options, now);
          if (again) controller = std::move(*again);
        }
      }
    }
    std::map<std::pair<std::uint64_t, std::uint64_t>, int> done;
    for (const Event& event : events_of(log)) {
      if (const auto* answered = std::get_if<RequestAnswered>(&event.body))
        ++done[{answered->client, answered->request}];
    }
    EXPECT_EQ(done.size(), request) << "seed " << seed + run;
    for (const auto& [id, times] : done) EXPECT_EQ(times, 1) << "request " << id.second << ", seed " << seed + run;
    EXPECT_EQ(facts_of(recover(log, nullptr)->state), facts_of(controller->state()));
  }
}

// ---- snapshots ------------------------------------------------------------------------------------------------------

class Snapshots : public ::testing::Test {
 protected:
  void work(Controller& controller, int commands) {
    for (int i = 0; i < commands; ++i) {
      ASSERT_TRUE(controller.execute(command(host("n" + std::to_string(++hosts_)))).has_value());
    }
  }
  TempDir dir_;
  SnapshotStore snapshots_{dir_.path(), kStoreId};
  MemoryLog log_;
  int hosts_ = 0;
};

TEST_F(Snapshots, AreTakenAtIntervalsAndTwoAreKept) {
  ControllerOptions options = careful();
  options.snapshot_every = 10;
  const auto controller = start(log_, &snapshots_, options);
  work(*controller, 55);
  const auto listed = snapshots_.list();
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(listed->snapshots.size(), 2U);
  EXPECT_GE(listed->snapshots[0].head.seq.value, 50U);
  EXPECT_GE(listed->snapshots[0].head.seq.value, listed->snapshots[1].head.seq.value + 10);
  EXPECT_TRUE(listed->damaged.empty());
}

TEST_F(Snapshots, P71_TrimmingNeverGoesBelowTheOlderOfTwo) {
  const auto controller = start(log_, &snapshots_);
  work(*controller, 10);
  EXPECT_EQ(controller->trim().value(), Seq{1}) << "none";
  ASSERT_TRUE(controller->snapshot().has_value());
  const Seq older = controller->state().head.seq;
  work(*controller, 10);
  EXPECT_EQ(controller->trim().value(), Seq{1}) << "only one";
  ASSERT_TRUE(controller->snapshot().has_value());
  const auto newer = snapshots_.list()->snapshots.at(0).path;
  work(*controller, 10);
  EXPECT_EQ(controller->trim().value(), next(older));
  EXPECT_EQ(facts_of(recover(log_, &snapshots_)->state), facts_of(controller->state()));
  std::filesystem::resize_file(newer, 100);  // P74: the newest is no good, the older one still is
  const auto recovered = recover(log_, &snapshots_);
  ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  EXPECT_EQ(facts_of(recovered->state), facts_of(controller->state()));
}

TEST_F(Snapshots, P71_NothingIsTrimmedWhenOneOfTheTwoCannotBeRead) {
  const auto controller = start(log_, &snapshots_);
  for (int i = 0; i < 2; ++i) {
    work(*controller, 10);
    ASSERT_TRUE(controller->snapshot().has_value());
  }
  const auto path = snapshots_.list()->snapshots.at(1).path;
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const auto trimmed = controller->trim();
  EXPECT_TRUE(!trimmed.has_value() || *trimmed == Seq{1});
  EXPECT_EQ(log_.first().value(), Seq{1});
}

TEST_F(Snapshots, OneThatCannotBeWrittenIsAWarningAndCommandsGoOn) {
  std::vector<std::string> warnings;
  ControllerOptions options = careful();
  options.snapshot_every = 10;
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  const auto controller = start(log_, &snapshots_, options);
  std::filesystem::remove_all(dir_.path());
  work(*controller, 35);
  EXPECT_FALSE(warnings.empty());
  EXPECT_FALSE(controller->latched().has_value());
  std::filesystem::create_directory(dir_.path());
  work(*controller, 10);
  EXPECT_EQ(snapshots_.list()->snapshots.size(), 1U) << "it tries again";
}

}  // namespace
}  // namespace lockstep::test
