// Shown: every kind of log keeps one contract (log.h). How: the same tests over a log in memory, one in LMDB, and a
// store's, which has a ring in front of LMDB (one so small that it is full again and again); reopen() is a restart of
// the process that holds it. Shows R12, R26.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

#include "events/log/memory_log.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

using testing::append_records;
using testing::Bytes;
using testing::make_record;
using testing::read_all;
using testing::TempDir;

class Keeper {
 public:
  Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  virtual ~Keeper() = default;
  virtual Log& log() = 0;
  virtual void reopen() = 0;
};

class MemoryKeeper final : public Keeper {
 public:
  Log& log() override { return log_; }
  void reopen() override { log_.reopen(); }

 private:
  MemoryLog log_;
};

class LmdbKeeper final : public Keeper {
 public:
  LmdbKeeper() {
    EXPECT_TRUE(init_store(dir_ / "store"));
    reopen();
  }
  Log& log() override { return *log_; }
  void reopen() override {
    log_.reset();
    log_ = testing::open_lmdb(dir_ / "store");
    ASSERT_TRUE(log_);
  }

 private:
  TempDir dir_;
  std::unique_ptr<Log> log_;
};

class StoreKeeper final : public Keeper {
 public:
  StoreKeeper() {
    const testing::ScopedEnv small("LOCKSTEP_RING_SLOTS", std::to_string(testing::kSmallRingSlots));
    EXPECT_TRUE(init_store(dir_ / "store"));
    reopen();
  }
  Log& log() override { return *store_->log; }
  void reopen() override {
    store_.reset();
    auto store = open_store(dir_ / "store", OpenMode::Write);
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::make_unique<Store>(std::move(*store));
  }

 private:
  TempDir dir_;
  std::unique_ptr<Store> store_;
};

class LogContract : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam();
    if (kind == "memory") keeper_ = std::make_unique<MemoryKeeper>();
    if (kind == "lmdb") keeper_ = std::make_unique<LmdbKeeper>();
    if (kind == "store") keeper_ = std::make_unique<StoreKeeper>();
  }
  Log& log() { return keeper_->log(); }
  void reopen() { keeper_->reopen(); }
  std::vector<std::uint64_t> firsts(Seq from) {
    std::vector<std::uint64_t> seqs;
    const auto done = log().read(from, [&](const RecordHeader& header, std::span<const std::byte>) -> Result<Continue> {
      seqs.push_back(header.first.value);
      return Continue::Yes;
    });
    EXPECT_TRUE(done) << done.error().message;
    return seqs;
  }

 private:
  std::unique_ptr<Keeper> keeper_;
};

using Seqs = std::vector<std::uint64_t>;

TEST_P(LogContract, BeginsEmpty) {
  EXPECT_EQ(*log().head(), Head{});
  EXPECT_EQ(*log().first(), Seq{1});
  EXPECT_EQ(firsts(Seq{1}), Seqs{});
  EXPECT_TRUE(log().trim(Seq{100}));
}

TEST_P(LogContract, GivesBackWhatWasAppendedAlsoAfterAReopen) {
  std::vector<Bytes> written;
  Head head{};
  for (const std::size_t size : {8U, 64U, 1800U, 2000U, 4096U, 100000U}) {
    written.push_back(make_record(head, size, 3));
    ASSERT_TRUE(log().append(written.back()));
    head = head_after(*read_header(written.back(), ""), written.back());
    EXPECT_EQ(*log().head(), head);
  }
  EXPECT_EQ(*read_all(log(), Seq{1}), written);
  reopen();
  EXPECT_EQ(*log().head(), head);
  EXPECT_EQ(*log().first(), Seq{1});
  EXPECT_EQ(*read_all(log(), Seq{1}), written);
}

TEST_P(LogContract, ReadsFromTheRecordThatHoldsTheSeq) {
  ASSERT_TRUE(append_records(log(), 4, 64, 10));
  EXPECT_EQ(firsts(Seq{1}), (Seqs{1, 11, 21, 31}));
  EXPECT_EQ(firsts(Seq{10}), (Seqs{1, 11, 21, 31}));
  EXPECT_EQ(firsts(Seq{11}), (Seqs{11, 21, 31}));
  EXPECT_EQ(firsts(Seq{15}), (Seqs{11, 21, 31}));
  EXPECT_EQ(firsts(Seq{40}), Seqs{31});
  EXPECT_EQ(firsts(Seq{41}), Seqs{});
  EXPECT_EQ(firsts(Seq{1000}), Seqs{});
}

TEST_P(LogContract, StopsWhenTheVisitorSaysSoAndPassesItsErrorOn) {
  ASSERT_TRUE(append_records(log(), 5));
  int visits = 0;
  EXPECT_TRUE(log().read(Seq{1}, [&](const RecordHeader&, std::span<const std::byte>) -> Result<Continue> {
    return ++visits == 2 ? Continue::No : Continue::Yes;
  }));
  EXPECT_EQ(visits, 2);
  const auto failed =
      log().read(Seq{1}, [&](const RecordHeader& header, std::span<const std::byte>) -> Result<Continue> {
        if (header.first == Seq{3}) return fail(ErrorCode::InvalidInput, "enough", header.first);
        return Continue::Yes;
      });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "enough");
}

TEST_P(LogContract, ReadsUpToTheHeadOfItsBeginning) {
  ASSERT_TRUE(append_records(log(), 3));
  int visits = 0;
  ASSERT_TRUE(log().read(Seq{1}, [&](const RecordHeader&, std::span<const std::byte>) -> Result<Continue> {
    ++visits;
    LOCKSTEP_TRY(append_records(log(), 1));  // appending inside a visit is allowed, and is not visited
    return Continue::Yes;
  }));
  EXPECT_EQ(visits, 3);
  EXPECT_EQ(log().head()->seq, Seq{6});
}

TEST_P(LogContract, P43_ReadsNestOnOneThread) {
  ASSERT_TRUE(append_records(log(), 3));
  int inner = 0;
  ASSERT_TRUE(log().read(Seq{1}, [&](const RecordHeader& outer, std::span<const std::byte>) -> Result<Continue> {
    LOCKSTEP_TRY(log().read(outer.first, [&](const RecordHeader&, std::span<const std::byte>) -> Result<Continue> {
      ++inner;
      return Continue::Yes;
    }));
    return Continue::Yes;
  }));
  EXPECT_EQ(inner, 3 + 2 + 1);
}

TEST_P(LogContract, RefusesARecordThatDoesNotFollowTheHead) {
  const Head empty{};
  ASSERT_TRUE(append_records(log(), 2));
  const Head head = *log().head();
  EXPECT_EQ(log().append(make_record(empty)).error().code, ErrorCode::StaleHead);
  Head ahead = head;
  ahead.seq = Seq{9};
  EXPECT_EQ(log().append(make_record(ahead)).error().code, ErrorCode::StaleHead);
  Head other = head;
  other.hash[3] ^= std::byte{1};
  EXPECT_EQ(log().append(make_record(other)).error().code, ErrorCode::StaleHead);
  EXPECT_EQ(*log().head(), head);
  EXPECT_TRUE(log().append(make_record(head)));
}

TEST_P(LogContract, AppendingTheSameRecordTwiceIsRefused) {
  const Bytes record = make_record({});
  ASSERT_TRUE(log().append(record));
  EXPECT_EQ(log().append(record).error().code, ErrorCode::StaleHead);
  EXPECT_EQ(firsts(Seq{1}), Seqs{1});
}

TEST_P(LogContract, P101_ADeposedLeaderCannotAppend) {
  ASSERT_TRUE(log().append(make_record({}, 64, 1, Epoch{7})));
  const Head head = *log().head();
  EXPECT_EQ(head.epoch, Epoch{7});
  EXPECT_EQ(log().append(make_record(head, 64, 1, Epoch{6})).error().code, ErrorCode::NotLeader);
  EXPECT_EQ(log().append(make_record({}, 64, 1, Epoch{6})).error().code, ErrorCode::NotLeader);
  EXPECT_TRUE(log().append(make_record(head, 64, 1, Epoch{8})));
}

TEST_P(LogContract, RefusesADamagedOrNewerRecord) {
  Bytes record = make_record({});
  record.back() ^= std::byte{1};
  EXPECT_EQ(log().append(record).error().code, ErrorCode::Damaged);
  EXPECT_EQ(log().append({}).error().code, ErrorCode::Damaged);
  EXPECT_EQ(*log().head(), Head{});
}

TEST_P(LogContract, TrimsWholeRecordsButNeverTheLast) {
  ASSERT_TRUE(append_records(log(), 5, 64, 10));
  ASSERT_TRUE(log().trim(Seq{1}));
  EXPECT_EQ(*log().first(), Seq{1});
  ASSERT_TRUE(log().trim(Seq{20}));  // the record of 11..20 does not end before 20
  EXPECT_EQ(*log().first(), Seq{11});
  ASSERT_TRUE(log().trim(Seq{21}));
  EXPECT_EQ(*log().first(), Seq{21});
  EXPECT_EQ(firsts(Seq{21}), (Seqs{21, 31, 41}));
  const auto gone = log().read(Seq{20}, [](const RecordHeader&, std::span<const std::byte>) -> Result<Continue> {
    ADD_FAILURE();
    return Continue::Yes;
  });
  EXPECT_EQ(gone.error().code, ErrorCode::Trimmed);
  ASSERT_TRUE(log().trim(Seq{1000000}));
  EXPECT_EQ(*log().first(), Seq{41});
  EXPECT_EQ(log().head()->seq, Seq{50});
  reopen();
  EXPECT_EQ(*log().first(), Seq{41});
  ASSERT_TRUE(append_records(log(), 1));
  EXPECT_EQ(firsts(Seq{41}), (Seqs{41, 51}));
}

TEST_P(LogContract, P47_TrimsThousandsInSlicesBesideAppendsAndReads) {
  ASSERT_TRUE(append_records(log(), 5000, 8));
  std::thread trimmer([&] { EXPECT_TRUE(log().trim(Seq{4500})); });
  std::thread reader([&] {
    const auto first = log().first();
    ASSERT_TRUE(first);
    const auto read = read_all(log(), *first);
    if (!read) {
      EXPECT_EQ(read.error().code, ErrorCode::Trimmed) << read.error().message;
    }
  });
  ASSERT_TRUE(append_records(log(), 50, 8));
  trimmer.join();
  reader.join();
  EXPECT_EQ(*log().first(), Seq{4500});
  EXPECT_EQ(log().head()->seq, Seq{5050});
  EXPECT_EQ(read_all(log(), Seq{4500})->size(), 551U);
}

TEST_P(LogContract, ARandomRunOfCallsAgreesWithAList) {
  std::mt19937_64 random(testing::test_seed());
  std::vector<Bytes> model;
  Seq first{1};
  Head head{};
  for (int i = 0; i < 400; ++i) {
    switch (random() % 8) {
      case 0: {
        const Seq before{random() % (head.seq.value + 3)};
        ASSERT_TRUE(log().trim(before));
        while (model.size() > 1 && read_header(model.front(), "")->last() < before) model.erase(model.begin());
        if (!model.empty()) first = read_header(model.front(), "")->first;
        break;
      }
      case 1:
        reopen();
        break;
      case 2: {
        const Seq from{first.value + random() % (head.seq.value + 2 - first.value)};
        std::vector<Bytes> expected;
        for (const Bytes& record : model) {
          if (read_header(record, "")->last() >= from) expected.push_back(record);
        }
        ASSERT_EQ(*read_all(log(), from), expected) << "from " << from.value;
        break;
      }
      default: {
        const auto count = static_cast<std::uint32_t>(1 + random() % 5);
        model.push_back(make_record(head, random() % 6000 + 1, count, Epoch{head.epoch.value + random() % 2}));
        ASSERT_TRUE(log().append(model.back()));
        head = head_after(*read_header(model.back(), ""), model.back());
        break;
      }
    }
    ASSERT_EQ(*log().head(), head);
    ASSERT_EQ(*log().first(), first);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LogContract, ::testing::Values("memory", "lmdb", "store"),
                         [](const auto& kind) { return kind.param; });

// What only the one in memory does: failing like a disk.

TEST(MemoryLog, FailsAsAskedAndGoesOn) {
  MemoryLog log;
  log.fail_next(ErrorCode::DiskFull);
  EXPECT_EQ(log.append(make_record({})).error().code, ErrorCode::DiskFull);
  EXPECT_EQ(*log.head(), Head{});
  EXPECT_TRUE(log.append(make_record({})));
}

TEST(MemoryLog, P22_LatchesAfterAnUnknownOutcomeUntilReopened) {
  for (const bool landed : {false, true}) {
    MemoryLog log;
    log.fail_next(ErrorCode::OutcomeUnknown, landed);
    EXPECT_EQ(log.append(make_record({})).error().code, ErrorCode::OutcomeUnknown);
    EXPECT_EQ(log.append(make_record({})).error().code, ErrorCode::OutcomeUnknown);
    log.reopen();
    EXPECT_EQ(log.head()->seq, Seq{landed ? 1U : 0U});
    EXPECT_TRUE(append_records(log, 1));
  }
}

}  // namespace
}  // namespace lockstep
