// The engine: many callers, one writer. Every acknowledged command is in the log exactly once, an error that latches
// reaches everybody, a stop drains, reads see only what is durable. The log is in memory behind a gate that holds
// appends back, so that nothing here depends on timing.
// Shows R01, R03, R05.

#include "replay/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "tests/replay/support.h"

namespace lockstep::test {
namespace {

class TestClock {
 public:
  [[nodiscard]] Engine::Clock clock() {
    return [this] { return Time{now_.load()}; };
  }
  void advance(Duration by) { now_ += by.value; }
  [[nodiscard]] Time now() const { return Time{now_.load()}; }

 private:
  std::atomic<std::int64_t> now_{seconds(1'000).value};
};

std::unique_ptr<Engine> start(Log& log, TestClock& clock, const EngineOptions& options = {},
                              Engine::OnDurable on_durable = {}) {
  auto engine = Engine::start(log, nullptr, options, clock.clock(), std::move(on_durable));
  LOCKSTEP_CHECK(engine.has_value(), engine.error().message);
  return std::move(*engine);
}

std::map<std::string, int> groups_defined(const Log& log) {
  std::map<std::string, int> names;
  for (const Event& event : events_of(log)) {
    if (const auto* defined = std::get_if<GroupDefined>(&event.body)) ++names[defined->identity.name];
  }
  return names;
}

// Collects answers in the order in which they come.
struct Answers {
  Engine::Done collect() {
    return [this](const Result<Answer>& answer) {
      const std::lock_guard lock(mutex);
      all.push_back(answer);
    };
  }
  std::mutex mutex;
  std::vector<Result<Answer>> all;
};

TEST(Engine, EightThreadsOfCommandsAreAllInTheLogExactlyOnce) {
  constexpr int kThreads = 8;
  constexpr int kCommands = 200;
  MemoryLog log;
  TestClock clock;
  EngineOptions options;
  options.queue_max = 16;
  options.batch_commands_max = 11;
  const auto engine = start(log, clock, options);
  ASSERT_TRUE(engine->execute(command(host("n1"))).has_value());
  std::atomic<int> acknowledged{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCommands; ++i) {
        const auto answer = engine->execute(command(define("t" + std::to_string(t) + "-" + std::to_string(i))));
        if (answer.has_value() && answer->code == AnswerCode::Done) ++acknowledged;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  engine->stop();
  EXPECT_EQ(acknowledged, kThreads * kCommands);
  const auto names = groups_defined(log);
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kThreads * kCommands));
  for (const auto& [name, times] : names) EXPECT_EQ(times, 1) << name;
}

TEST(Engine, CommandsThatWaitAreOneRecordAndAreAnsweredInOrder) {
  GatedLog log;
  TestClock clock;
  const auto engine = start(log, clock);
  ASSERT_TRUE(engine->execute(command(host("n1"))).has_value());
  const std::size_t before = log.arrivals();
  log.close();
  Answers answers;
  engine->submit(command(define("first")), answers.collect());
  log.wait_for_arrivals(before + 1);
  for (int i = 0; i < 50; ++i) engine->submit(command(define("g" + std::to_string(i))), answers.collect());
  {
    const std::lock_guard lock(answers.mutex);
    EXPECT_TRUE(answers.all.empty()) << "nothing is durable yet";
  }
  log.open();
  engine->stop();
  ASSERT_EQ(answers.all.size(), 51U);
  EXPECT_EQ(log.arrivals(), before + 2);
  for (std::size_t i = 0; i < 51; ++i) EXPECT_EQ(answers.all[i]->group, GroupId{i + 1});
}

TEST(Engine, ARequestAskedAgainInTheSameBatchOrLaterOrAfterARestartGetsItsFirstAnswer) {
  GatedLog log;
  TestClock clock;
  auto engine = start(log, clock);
  ASSERT_TRUE(engine->execute(command(host("n1"))).has_value());
  const std::size_t before = log.arrivals();
  log.close();
  Answers answers;
  engine->submit(command(host("n2")), {});
  log.wait_for_arrivals(before + 1);
  for (int i = 0; i < 3; ++i) engine->submit(asked(5, 1, define("once")), answers.collect());
  log.open();
  const auto later = engine->execute(asked(5, 1, define("once")));
  engine = start(log, clock);
  const auto after = engine->execute(asked(5, 1, define("once")));
  ASSERT_EQ(answers.all.size(), 3U);
  ASSERT_TRUE(answers.all[0].has_value() && later.has_value() && after.has_value());
  EXPECT_FALSE(answers.all[0]->repeated);
  for (const auto& again : {answers.all[1], answers.all[2], later, after}) {
    EXPECT_EQ(again->code, AnswerCode::Done);
    EXPECT_EQ(again->group, answers.all[0]->group);
    EXPECT_TRUE(again->repeated);
  }
  EXPECT_EQ(groups_defined(log).at("once"), 1);
}

TEST(Engine, P23_AnErrorThatLatchesReachesWhatWaitsAndWhatComesLater) {
  GatedLog log;
  TestClock clock;
  const auto engine = start(log, clock);
  const std::size_t before = log.arrivals();
  log.close();
  Answers answers;
  engine->submit(command(host("n1")), answers.collect());
  log.wait_for_arrivals(before + 1);
  for (int i = 0; i < 20; ++i) engine->submit(command(define("g" + std::to_string(i))), answers.collect());
  log.inner.fail_next(ErrorCode::OutcomeUnknown);
  log.open();
  EXPECT_EQ(engine->execute(command(host("n2"))).error().code, ErrorCode::OutcomeUnknown);
  EXPECT_EQ(engine->latched()->code, ErrorCode::OutcomeUnknown);
  EXPECT_EQ(engine->read([](const State&, const Head&) { FAIL() << "shows what may not be durable"; }).error().code,
            ErrorCode::OutcomeUnknown);
  EXPECT_EQ(engine->snapshot().error().code, ErrorCode::OutcomeUnknown);
  engine->stop();
  ASSERT_EQ(answers.all.size(), 21U);
  for (const auto& answer : answers.all) EXPECT_EQ(answer.error().code, ErrorCode::OutcomeUnknown);
  EXPECT_EQ(log.arrivals(), before + 1) << "nothing is appended after it";
}

TEST(Engine, NoRoomIsAnsweredAndTheNextCommandGoesOn) {
  MemoryLog log;
  TestClock clock;
  const auto engine = start(log, clock);
  log.fail_next(ErrorCode::DiskFull);
  EXPECT_EQ(engine->execute(command(host("n1"))).error().code, ErrorCode::DiskFull);
  EXPECT_FALSE(engine->latched().has_value());
  EXPECT_TRUE(engine->execute(command(host("n1"))).has_value());
}

TEST(Engine, StopDrainsTheQueueAndRefusesWhatComesAfter) {
  GatedLog log;
  TestClock clock;
  const auto engine = start(log, clock);
  const std::size_t before = log.arrivals();
  log.close();
  Answers answers;
  engine->submit(command(host("n1")), answers.collect());
  log.wait_for_arrivals(before + 1);
  for (int i = 0; i < 100; ++i) engine->submit(command(define("g" + std::to_string(i))), answers.collect());
  std::thread stopper([&] { engine->stop(); });
  log.open();
  stopper.join();
  engine->stop();
  ASSERT_EQ(answers.all.size(), 101U);
  for (const auto& answer : answers.all) EXPECT_TRUE(answer.has_value());
  EXPECT_EQ(groups_defined(log).size(), 100U);
  EXPECT_EQ(engine->execute(command(host("n2"))).error().code, ErrorCode::Interrupted);
  EXPECT_EQ(engine->read([](const State&, const Head&) {}).error().code, ErrorCode::Interrupted);
}

TEST(Engine, DestructionAnswersWhatWaitsWithInterrupted) {
  GatedLog log;
  TestClock clock;
  auto engine = start(log, clock);
  Engine* const writers_view = engine.get();
  const std::size_t before = log.arrivals();
  log.close();
  // The command that is being appended finishes. Its `done` holds the writer until the engine no longer takes any.
  engine->submit(command(host("n1")), [&](const Result<Answer>& answer) {
    EXPECT_TRUE(answer.has_value());
    const auto refused = std::make_shared<bool>(false);
    while (!*refused) {
      writers_view->submit(command(host("late")), [refused](const Result<Answer>& late) { *refused = !late; });
      std::this_thread::yield();
    }
  });
  log.wait_for_arrivals(before + 1);
  Answers answers;
  for (int i = 0; i < 10; ++i) engine->submit(command(define("g" + std::to_string(i))), answers.collect());
  log.open();
  engine.reset();
  ASSERT_EQ(answers.all.size(), 10U);
  for (const auto& answer : answers.all) EXPECT_EQ(answer.error().code, ErrorCode::Interrupted);
  EXPECT_TRUE(groups_defined(log).empty()) << "what was not answered was not done";
}

TEST(Engine, ReadsSeeOnlyWhatIsDurable) {
  MemoryLog log;
  TestClock clock;
  const auto engine = start(log, clock);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 500; ++i) engine->submit(command(host("n" + std::to_string(i))), {});
    done = true;
  });
  Seq last;
  do {
    ASSERT_TRUE(engine
                    ->read([&](const State& state, const Head& head) {
                      EXPECT_EQ(state.head.seq, head.seq);
                      EXPECT_EQ(head, log.head().value());
                      EXPECT_GE(head.seq, last);
                      last = head.seq;
                    })
                    .has_value());
  } while (!done);
  writer.join();
}

// P110: nothing that replay applies is shown as new; only the new epoch's own events and what follows are.
TEST(Engine, P110_OnDurableSeesEveryNewEventOnceAndNoneOfTheReplayed) {
  MemoryLog log;
  TestClock clock;
  for (int run = 0; run < 2; ++run) {
    const Seq before = log.head()->seq;
    std::vector<Event> seen;
    const auto engine = start(log, clock, {}, [&](const State& state, const std::vector<Event>& events) {
      EXPECT_EQ(state.head.seq, log.head()->seq);
      seen.insert(seen.end(), events.begin(), events.end());
    });
    for (int i = 0; i < 50; ++i) {
      engine->submit(command(host("n" + std::to_string(run) + "-" + std::to_string(i))), {});
    }
    engine->stop();
    ASSERT_EQ(seen.size(), log.head()->seq.value - before.value);
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].seq, Seq{before.value + i + 1});
  }
}

TEST(Engine, FiresDeadlinesByItself) {
  MemoryLog log;
  TestClock clock;
  std::promise<void> failed;
  const auto engine = start(log, clock, {}, [&](const State&, const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (kind(event) == EventKind::GroupFailed) failed.set_value();
    }
  });
  ASSERT_TRUE(engine->execute(command(host("n1"))).has_value());
  DefineGroup waits = define("waits");
  waits.spec.timeouts.pend = seconds(30);
  ASSERT_EQ(engine->execute(command(waits))->code, AnswerCode::Done);
  clock.advance(seconds(31));
  failed.get_future().wait();
}

TEST(Engine, TheWriterMaySubmitButNotWaitForItself) {
  MemoryLog log;
  TestClock clock;
  EngineOptions options;
  options.queue_max = 1;
  const auto engine = start(log, clock, options);
  std::promise<Result<Answer>> second;
  std::promise<ErrorCode> waited;
  engine->submit(command(host("n1")), [&](const Result<Answer>&) {
    waited.set_value(engine->execute(command(host("n2"))).error().code);
    for (int i = 0; i < 5; ++i) engine->submit(command(host("m" + std::to_string(i))), {});
    engine->submit(command(host("n3")), [&](const Result<Answer>& answer) { second.set_value(answer); });
  });
  EXPECT_EQ(waited.get_future().get(), ErrorCode::Usage);
  EXPECT_TRUE(second.get_future().get().has_value());
}

TEST(Engine, StartsOnlyOnALogThatCanBeRecovered) {
  MemoryLog log;
  TestClock clock;
  log.fail_next(ErrorCode::DiskFull);
  const auto engine = Engine::start(log, nullptr, {}, clock.clock());
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ErrorCode::DiskFull);
}

}  // namespace
}  // namespace lockstep::test
