// Recovery: what is planned, what is passed over and why, and that what comes out is the state that the log means.
// Histories are random or a few commands; the log is in memory, snapshots are real files, damaged on purpose.
// Shows R13, R15, R20, R21, R22, R23.

#include "replay/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "events/codec.h"
#include "statemachine/apply.h"
#include "statemachine/decide.h"
#include "statemachine/digest.h"
#include "tests/replay/random_history.h"
#include "tests/replay/state_bytes.h"
#include "tests/replay/support.h"

namespace lockstep::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::size_t kRecordEvents = 7;

// A random history in a log of small records, and the states on its way.
class Recover : public ::testing::Test {
 protected:
  void build(std::size_t events = 120) {
    history_ = make_history(seed_of_run(77), events);
    append_events(log_, history_.events, kRecordEvents);
    last_ = history_.state.head.seq;
  }
  [[nodiscard]] State state_at(Seq seq) const {
    State state;
    for (const Event& event : history_.events) {
      if (event.seq > seq) break;
      apply(state, event);
    }
    return state;
  }
  [[nodiscard]] Head head_at(Seq seq) const {
    Head head;
    EXPECT_TRUE(log_.read(seq,
                          [&](const RecordHeader& header, auto record) -> Result<Continue> {
                            head = head_after(header, record);
                            return Continue::No;
                          })
                    .has_value());
    EXPECT_EQ(head.seq, seq) << "not the end of a record";
    return head;
  }
  static Seq boundary(std::uint64_t record) { return Seq{record * kRecordEvents}; }
  SnapshotInfo snapshot_at(Seq seq) {
    auto written = snapshots_.write(state_at(seq), head_at(seq));
    EXPECT_TRUE(written.has_value()) << written.error().message;
    return std::move(*written);
  }
  void expect_whole(const Result<Recovered>& recovered) const {
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
    EXPECT_EQ(facts_of(recovered->state), facts_of(history_.state));
    EXPECT_EQ(recovered->state.digest(), history_.state.digest());
    EXPECT_EQ(recovered->head, log_.head().value());
  }

  TempDir dir_;
  MemoryLog log_;
  SnapshotStore snapshots_{dir_.path(), kStoreId};
  History history_;
  Seq last_;
};

void cut_file(const std::filesystem::path& path) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
}

void flip_middle(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(middle);
  file.put(byte);
}

// A log whose end was torn before this start.
class TornLog final : public Log {
 public:
  explicit TornLog(Log& whole) : whole_(whole) {}
  [[nodiscard]] Result<Head> head() const override { return whole_.head(); }
  [[nodiscard]] Result<Seq> first() const override { return whole_.first(); }
  [[nodiscard]] Result<void> append(std::span<const std::byte> record) override { return whole_.append(record); }
  [[nodiscard]] Result<void> read(Seq from, const Visit& visit) const override { return whole_.read(from, visit); }
  [[nodiscard]] Result<void> trim(Seq before) override { return whole_.trim(before); }
  [[nodiscard]] std::string cut() const override { return "slot 7: a frame that was cut"; }

 private:
  Log& whole_;
};

TEST_F(Recover, SaysWhatTheLogLeftOut) {
  build();
  const TornLog torn(log_);
  const auto plan = plan_recovery(torn, &snapshots_);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_THAT(plan->why, Contains("left out, for it was never acknowledged: slot 7: a frame that was cut"));
}

TEST_F(Recover, FromAnEmptyLogIsTheEmptyState) {
  const auto recovered = recover(log_, &snapshots_);
  ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  EXPECT_EQ(recovered->state.head.seq, Seq{});
  EXPECT_EQ(recovered->head, Head{});
  EXPECT_EQ(recovered->report.events_replayed, 0U);
}

TEST_F(Recover, TakesTheNewestSnapshotAndReplaysOnlyTheTail) {
  build();
  snapshot_at(boundary(3));
  snapshot_at(boundary(9));
  const auto plan = plan_recovery(log_, &snapshots_);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_TRUE(plan->from_snapshot);
  EXPECT_EQ(plan->snapshot.head.seq, boundary(9));
  EXPECT_EQ(plan->replay_first, next(boundary(9)));
  EXPECT_EQ(plan->replay_last, last_);
  const auto recovered = recover(log_, &snapshots_);
  expect_whole(recovered);
  EXPECT_EQ(recovered->report.events_replayed, last_.value - boundary(9).value);
}

TEST_F(Recover, FromASnapshotAtTheHeadReplaysNothing) {
  build(1);
  append_events(log_, {}, 1);
  auto written = snapshots_.write(history_.state, log_.head().value());
  ASSERT_TRUE(written.has_value());
  const auto recovered = recover(log_, &snapshots_);
  expect_whole(recovered);
  EXPECT_EQ(recovered->report.events_replayed, 0U);
}

// P17, P71, P74: half a file under the right name, and one whose body alone is wrong.
TEST_F(Recover, P71_P74_IgnoresATornSnapshotAndUsesTheOneBefore) {
  build();
  snapshot_at(boundary(3));
  cut_file(snapshot_at(boundary(9)).path);
  const auto recovered = recover(log_, &snapshots_);
  expect_whole(recovered);
  EXPECT_EQ(recovered->report.plan.snapshot.head.seq, boundary(3));
  EXPECT_THAT(recovered->report.plan.why, Contains(HasSubstr("passed over")));
  EXPECT_EQ(dir_.files(), 2U) << "recovery deletes nothing";
}

TEST_F(Recover, P71_P74_FallsBackWhenTheChosenSnapshotTurnsOutDamagedAndSaysSo) {
  build();
  snapshot_at(boundary(3));
  flip_middle(snapshot_at(boundary(9)).path);
  const auto recovered = recover(log_, &snapshots_);
  expect_whole(recovered);
  EXPECT_EQ(recovered->report.plan.snapshot.head.seq, boundary(3));
  EXPECT_THAT(recovered->report.plan.why, Contains(HasSubstr("passed over")));
  EXPECT_EQ(dir_.files(), 2U);
}

TEST_F(Recover, P73_WithoutAnySnapshotReplaysFromEmpty) {
  build();
  std::filesystem::remove(snapshot_at(boundary(3)).path);
  expect_whole(recover(log_, &snapshots_));
  expect_whole(recover(log_, nullptr));
}

TEST_F(Recover, P73_P74_RefusesATrimmedLogThatNoSnapshotReachesDownTo) {
  build();
  const SnapshotInfo old = snapshot_at(boundary(3));
  ASSERT_TRUE(log_.trim(next(boundary(6))).has_value());
  const auto recovered = recover(log_, &snapshots_);
  ASSERT_FALSE(recovered.has_value());
  EXPECT_EQ(recovered.error().code, ErrorCode::Trimmed);
  EXPECT_EQ(recovered.error().seq, next(boundary(6)));

  flip_middle(old.path);
  cut_file(snapshot_at(boundary(7)).path);
  const auto damaged = recover(log_, &snapshots_);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code, ErrorCode::Damaged) << damaged.error().message;
}

TEST_F(Recover, FromASnapshotWhoseOwnRecordIsTrimmedFollowsItByHash) {
  build();
  snapshot_at(boundary(6));
  ASSERT_TRUE(log_.trim(next(boundary(6))).has_value());
  expect_whole(recover(log_, &snapshots_));
}

TEST_F(Recover, RefusesATrimmedLogThatDoesNotFollowTheSnapshotByHash) {
  build();
  Head other = head_at(boundary(6));
  other.hash[5] ^= std::byte{1};
  ASSERT_TRUE(snapshots_.write(state_at(boundary(6)), other).has_value());
  ASSERT_TRUE(log_.trim(next(boundary(6))).has_value());
  const auto recovered = recover(log_, &snapshots_);
  ASSERT_FALSE(recovered.has_value());
  EXPECT_EQ(recovered.error().code, ErrorCode::Damaged);
  EXPECT_EQ(recovered.error().seq, next(boundary(6)));
  EXPECT_THAT(recovered.error().message, HasSubstr("two histories"));
}

// P73, the reverse: the log is shorter than what a snapshot proves was acknowledged.
TEST_F(Recover, P73_RefusesALogThatDoesNotReachAWholeSnapshot) {
  build();
  snapshot_at(boundary(3));
  snapshot_at(boundary(9));
  MemoryLog shorter;
  copy_records(log_, shorter, boundary(8));
  const auto recovered = recover(shorter, &snapshots_);
  ASSERT_FALSE(recovered.has_value());
  EXPECT_EQ(recovered.error().code, ErrorCode::Damaged);
  EXPECT_EQ(recovered.error().seq, boundary(8));
  EXPECT_FALSE(recover(MemoryLog{}, &snapshots_).has_value()) << "never an empty success";
  // A look at the past does not need what is lost.
  const auto past = recover(shorter, &snapshots_, Seq{boundary(8).value - 2});
  ASSERT_TRUE(past.has_value()) << past.error().message;
  EXPECT_THAT(past->report.plan.why, Contains(HasSubstr("the log ends at seq")));
}

TEST_F(Recover, PassesOverASnapshotOfAnotherHistory) {
  build();
  Head other = head_at(boundary(9));
  other.hash[0] ^= std::byte{1};
  ASSERT_TRUE(snapshots_.write(state_at(boundary(9)), other).has_value());
  const auto recovered = recover(log_, &snapshots_);
  expect_whole(recovered);
  EXPECT_FALSE(recovered->report.plan.from_snapshot);
  EXPECT_THAT(recovered->report.plan.why, Contains(HasSubstr("another history")));
}

TEST_F(Recover, PassesOverASnapshotThatIsNotAtTheEndOfARecord) {
  build();
  const Seq inside{boundary(9).value - 1};
  ASSERT_TRUE(snapshots_.write(state_at(inside), Head{inside, Hash{}, Epoch{1}}).has_value());
  const auto recovered = recover(log_, &snapshots_);
  expect_whole(recovered);
  EXPECT_FALSE(recovered->report.plan.from_snapshot);
}

TEST_F(Recover, PassesOverASnapshotOfAnotherStore) {
  build();
  const SnapshotStore other(dir_.path(), "ffffffffffffffffffffffffffffffff");
  ASSERT_TRUE(other.write(state_at(boundary(9)), head_at(boundary(9))).has_value());
  const auto recovered = recover(log_, &snapshots_);
  expect_whole(recovered);
  EXPECT_FALSE(recovered->report.plan.from_snapshot);
  EXPECT_FALSE(recovered->report.plan.why.empty());
}

// P2 with real files, and time travel: whatever snapshots there are, `until` stops exactly there.
TEST_F(Recover, P2_P83_StopsExactlyAtEverySeqAlsoInsideARecord) {
  build();
  snapshot_at(boundary(3));
  snapshot_at(boundary(9));
  State state;
  for (const Event& event : history_.events) {
    apply(state, event);
    const auto recovered = recover(log_, &snapshots_, event.seq);
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
    ASSERT_EQ(facts_of(recovered->state), facts_of(state)) << "until " << event.seq.value;
    ASSERT_EQ(recovered->state.digest(), state.digest());
    ASSERT_EQ(recovered->report.plan.from_snapshot, event.seq >= boundary(3));
    const std::uint64_t whole = event.seq == last_ ? last_.value : event.seq.value / kRecordEvents * kRecordEvents;
    ASSERT_EQ(recovered->head.seq, Seq{whole}) << "of the last whole record";
  }
}

TEST_F(Recover, RefusesASeqThatIsNotThere) {
  build();
  EXPECT_EQ(recover(log_, &snapshots_, next(last_)).error().code, ErrorCode::NotFound);
  snapshot_at(boundary(9));
  ASSERT_TRUE(log_.trim(next(boundary(9))).has_value());
  EXPECT_EQ(recover(log_, &snapshots_, boundary(5)).error().code, ErrorCode::Trimmed);
}

TEST_F(Recover, P107_ReplayingTwiceGivesWhatReplayingOnceGives) {
  build();
  snapshot_at(boundary(3));
  expect_whole(recover(log_, &snapshots_));
  expect_whole(recover(log_, &snapshots_));
}

// ---- digests --------------------------------------------------------------------------------------------------------

// The history, with a digest recorded before every `every`th of its records, changed by `change`.
class Digests : public Recover {
 protected:
  void build_with_digests(const std::function<void(std::size_t number, DigestRecorded&)>& change) {
    const std::uint64_t seed = seed_of_run(78);
    WorldOptions options;
    options.requests = false;
    RandomWorld world(seed, options);
    std::size_t number = 0;
    while (history_.events.size() < 150) {
      Decision decision = execute(history_.state, world.next(history_.state));
      for (Event& event : decision.events) {
        if (auto* recorded = std::get_if<DigestRecorded>(&event.body)) change(number++, *recorded);
        history_.events.push_back(std::move(event));
      }
      if (history_.events.size() % 10 < decision.events.size()) digest(change, number);
    }
    append_events(log_, history_.events, kRecordEvents);
    last_ = history_.state.head.seq;
    digests_ = number;
  }
  void digest(const std::function<void(std::size_t, DigestRecorded&)>& change, std::size_t& number) {
    Command record = command(RecordDigest{}, history_.state.head.time);
    for (Event& event : execute(history_.state, record).events) {
      change(number++, std::get<DigestRecorded>(event.body));
      history_.events.push_back(std::move(event));
    }
  }
  [[nodiscard]] std::vector<Seq> seqs() const {
    std::vector<Seq> found;
    for (const Event& event : history_.events) {
      if (kind(event) == EventKind::DigestRecorded) found.push_back(event.seq);
    }
    return found;
  }
  std::size_t digests_ = 0;
};

TEST_F(Digests, P82_AreComparedAndCounted) {
  build_with_digests([](std::size_t, DigestRecorded&) {});
  const auto recovered = recover(log_, nullptr);
  expect_whole(recovered);
  EXPECT_GT(digests_, 5U);
  EXPECT_EQ(recovered->report.digests_compared, digests_);
  EXPECT_EQ(recovered->report.digests_skipped, 0U);
}

TEST_F(Digests, ThatDifferAreDamageNamedBySeqAndByTheLastThatAgreed) {
  build_with_digests([](std::size_t number, DigestRecorded& recorded) {
    if (number == 4) recorded.low ^= 1;
  });
  const auto recovered = recover(log_, nullptr);
  ASSERT_FALSE(recovered.has_value());
  EXPECT_EQ(recovered.error().code, ErrorCode::Damaged);
  EXPECT_EQ(recovered.error().seq, seqs()[4]);
  EXPECT_THAT(recovered.error().message, HasSubstr("between seq " + std::to_string(seqs()[3].value) + " and seq " +
                                                   std::to_string(seqs()[4].value)));
}

TEST_F(Digests, P80_OfAnotherVersionAreNotComparedAndAreCountedApart) {
  build_with_digests([](std::size_t number, DigestRecorded& recorded) {
    if (number % 2 == 0) {
      recorded.version = kDigestVersion + 1;
      recorded.low ^= 1;
    }
  });
  const auto recovered = recover(log_, nullptr);
  ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  EXPECT_EQ(recovered->report.digests_compared, digests_ / 2);
  EXPECT_EQ(recovered->report.digests_skipped, digests_ - digests_ / 2);
}

// ---- what the log says that we cannot follow ------------------------------------------------------------------------

// One record whose events are `body`, with the number of the event's kind in its bytes made one that nobody knows.
std::vector<std::byte> record_of_unknown_kind(const Head& head, Event event) {
  event.body = GroupRunning{};
  auto record = encode_record(head, Epoch{1}, std::span(&event, 1));
  event.body = GroupRecovering{};
  const auto other = encode_record(head, Epoch{1}, std::span(&event, 1));
  std::size_t differing = 0;
  std::size_t at = 0;
  for (std::size_t i = kRecordHeaderBytes; i < record.size(); ++i) {
    if (record[i] == other[i]) continue;
    ++differing;
    at = i;
  }
  LOCKSTEP_CHECK(differing == 1, "the kind is more than one byte");
  record[at + 1] = std::byte{0x03};  // 25 + 768
  seal_record(record, head, Epoch{1}, event.time, 1);
  return record;
}

TEST_F(Recover, P88_AnEventOfAnUnknownKindIsRefusedAndNeverSkipped) {
  build();
  Event event;
  event.seq = next(last_);
  event.time = history_.state.head.time;
  ASSERT_TRUE(log_.append(record_of_unknown_kind(log_.head().value(), event)).has_value());
  Seq seen;
  const auto recovered = recover_observed(log_, nullptr, {}, [&](const State& state, std::uint64_t, std::uint64_t) {
    seen = state.head.seq;
    return true;
  });
  ASSERT_FALSE(recovered.has_value());
  EXPECT_EQ(recovered.error().code, ErrorCode::NewerFormat) << recovered.error().message;
  EXPECT_EQ(recovered.error().seq, next(last_));
  EXPECT_LE(seen, last_);
  const auto before = recover(log_, nullptr, last_);
  ASSERT_TRUE(before.has_value()) << "what is before it can still be looked at: " << before.error().message;
  EXPECT_EQ(facts_of(before->state), facts_of(history_.state));
}

TEST_F(Recover, P112_AnEventThatContradictsTheStateStopsTheProcess) {
  build();
  Event event;
  event.seq = next(last_);
  event.time = history_.state.head.time;
  event.group = GroupId{1'000'000};
  event.body = GroupRunning{};
  append_events(log_, std::span(&event, 1), 1);
  EXPECT_DEATH({ [[maybe_unused]] const auto recovered = recover(log_, nullptr); }, "");
}

// ---- on the way -----------------------------------------------------------------------------------------------------

TEST_F(Recover, P116_ShowsTheStateOnItsWaySoThatReadsCanBeAnsweredAsOf) {
  build(20'000);
  std::vector<std::pair<Seq, Digest>> seen;
  const auto recovered =
      recover_observed(log_, nullptr, {}, [&](const State& state, std::uint64_t done, std::uint64_t total) {
        EXPECT_EQ(state.head.seq, Seq{done});
        EXPECT_EQ(total, last_.value);
        seen.emplace_back(state.head.seq, state.digest());
        return true;
      });
  expect_whole(recovered);
  ASSERT_GE(seen.size(), 4U);
  EXPECT_EQ(seen.front().first, Seq{});
  EXPECT_EQ(seen.back().first, last_);
  EXPECT_EQ(state_at(seen[1].first).digest(), seen[1].second);
}

TEST_F(Recover, CanBeInterrupted) {
  build();
  const auto recovered = recover(log_, nullptr, {}, [](std::uint64_t done, std::uint64_t) { return done == 0; });
  ASSERT_FALSE(recovered.has_value());
  EXPECT_EQ(recovered.error().code, ErrorCode::Interrupted);
}

}  // namespace
}  // namespace lockstep::test
