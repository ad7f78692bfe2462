// Shown: the ring and LMDB behind it are one log: nothing acknowledged is lost and nothing invented, whoever is killed,
// whichever of LMDB's meta pages is lost, whatever copies are mixed up; it waits when it is full, and goes on; it is
// read beside its writer without a gap; a store of format 1 becomes one. How: rings of 64 slots, writers in children
// that leave without closing, files put back from earlier. Shows R10, R11.

#include "events/log/redo_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <random>
#include <thread>

#include "events/log/redo_ring.h"
#include "tests/log/io_faults.h"
#include "tests/log/process.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::append_records;
using testing::Bytes;
using testing::file_bytes;
using ::testing::HasSubstr;
using testing::in_child;
using testing::kSmallRingSlots;
using testing::make_record;
using testing::open_lmdb;
using testing::overwrite;
using testing::Process;
using testing::read_all;
using testing::ScopedEnv;
using testing::TempDir;

constexpr std::size_t kTooLarge = 16 * 4032;  // for a quarter of the ring

void put_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class RedoLogs : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(init_store(store())); }
  fs::path store() const { return dir_ / "store"; }
  fs::path data() const { return store() / "log" / "data.mdb"; }
  fs::path redo() const { return store() / "log" / "redo"; }

  Store open(OpenMode mode = OpenMode::Write) const {
    auto opened = open_store(store(), mode);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : Store{};
  }
  static const RedoLog& redo_log(const Store& store) { return dynamic_cast<const RedoLog&>(*store.log); }

  // A writer that does `part` and leaves without closing anything.
  template <class Part>
  void kill_after(Part part) const {
    ASSERT_EQ(in_child([&]() -> std::string {
                auto opened = open_store(store(), OpenMode::Write);
                if (!opened) return opened.error().message;
                const std::string wrong = part(*opened->log);
                if (!wrong.empty()) return wrong;
                ::_exit(testing::kCrashStatus);
              }),
              "crashed");
  }
  void append_and_kill(int n, std::size_t payload_bytes = 500) const {
    kill_after([&](Log& log) -> std::string {
      const auto done = append_records(log, n, payload_bytes);
      return done ? "" : done.error().message;
    });
  }
  std::uint64_t lmdb_seq() const { return open_lmdb(store(), OpenMode::ReadOnly)->head()->seq.value; }

  // Reads the same for everybody who opens it now.
  void expect_history(std::uint64_t last, const std::string& when = "") const {
    for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::Write, OpenMode::ReadOnly}) {
      const auto opened = open_store(store(), mode);
      ASSERT_TRUE(opened) << when << ": " << opened.error().message;
      ASSERT_EQ(opened->log->head()->seq.value, last) << when;
      const auto records = read_all(*opened->log, *opened->log->first());
      ASSERT_TRUE(records) << when << ": " << records.error().message;
      ASSERT_EQ(records->size(), last + 1 - opened->log->first()->value) << when;
      if (records->empty()) continue;
      ASSERT_EQ(head_after(*read_header(records->back(), ""), records->back()), *opened->log->head()) << when;
    }
  }
  // Refused to everybody, and nothing is changed by that.
  void expect_refused(const std::string& part) const {
    const std::string files[] = {file_bytes(data()), file_bytes(redo()).substr(kFramesAt)};
    for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::Write}) {
      const auto opened = open_store(store(), mode);
      ASSERT_FALSE(opened) << opened->log->head()->seq.value;
      EXPECT_EQ(opened.error().code, ErrorCode::Damaged) << opened.error().message;
      EXPECT_THAT(opened.error().message, HasSubstr(part));
      EXPECT_THAT(opened.error().message, HasSubstr(store().string()));
    }
    EXPECT_TRUE(file_bytes(data()) == files[0]);
    EXPECT_TRUE(file_bytes(redo()).substr(kFramesAt) == files[1]);
  }

 private:
  TempDir dir_;
  ScopedEnv small_ring_{"LOCKSTEP_RING_SLOTS", std::to_string(kSmallRingSlots)};
};

// ---- what is where -------------------------------------------------------------------------------------------------

TEST_F(RedoLogs, WhatAKilledWriterLeftIsReadAndTakenOver) {
  append_and_kill(10);
  const std::uint64_t moved = lmdb_seq();  // mostly none
  {
    const Store reader = open(OpenMode::ReadOnly);
    EXPECT_EQ(reader.log->head()->seq, Seq{10});
    EXPECT_EQ(read_all(*reader.log, Seq{1})->size(), 10U);
    EXPECT_EQ(read_all(*reader.log, Seq{7})->size(), 4U);
  }
  EXPECT_EQ(lmdb_seq(), moved);
  expect_history(10);
}

// It may stand in the page cache alone, after a flush that failed: it is written again, and synced, before the first
// acknowledgement; and that the ring lacks it later is no sign of an older ring.
TEST_F(RedoLogs, P28_WhatWasFoundIsInLmdbBeforeAnythingIsAppended) {
  std::uint64_t last = 0;
  LogHead stored{};
  do {  // (once, unless the writer was held up for so long that it moved its records)
    append_and_kill(5);
    kill_after([](Log&) { return ""; });
    last += 5;
    EXPECT_EQ(lmdb_seq(), last);
    stored = *open_lmdb(store(), OpenMode::ReadOnly)->stored_head();
  } while (stored.ring_flushed == stored.ring.position && last < kSmallRingSlots);
  overwrite(redo(), kFramesAt + (stored.ring.position - 1) * kSlotBytes, std::string(kSlotBytes, '\0'));
  expect_history(last);
}

TEST_F(RedoLogs, ACommitOfLmdbTakesManyRecords) {
  const Store opened = open();
  ASSERT_TRUE(append_records(*opened.log, 50));
  ASSERT_TRUE(opened.log->trim(Seq{51}));
  EXPECT_GE(redo_log(opened).counts().commits, 1U);
  EXPECT_LE(redo_log(opened).counts().commits, 25U);
}

TEST_F(RedoLogs, AfterSomebodyHasWaitedCommitsAreFewAgain) {
  const ScopedEnv large("LOCKSTEP_RING_SLOTS", "4096");
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  auto opened = open_store(dir / "store", OpenMode::Write);
  ASSERT_TRUE(append_records(*opened->log, 3));
  ASSERT_TRUE(opened->log->trim(Seq{4}));
  ASSERT_TRUE(append_records(*opened->log, 3000));
  EXPECT_LT(redo_log(*opened).counts().commits, 300U);
}

TEST_F(RedoLogs, P1_ACutIsReportedOnceAndTheLogGoesOn) {
  append_and_kill(3);
  const auto stored = open_lmdb(store(), OpenMode::ReadOnly)->stored_head();
  const auto ring = RedoRing::open(redo(), testing::store_id(store()), std::nullopt);
  const RingMark torn = ring->tail(stored->ring, stored->head, RedoRing::Writer::Gone)->mark;
  Bytes frame(kSlotBytes);
  lay_frame(make_record(*open(OpenMode::ReadOnly).log->head()), torn, frame);
  overwrite(redo(), kFramesAt + torn.position * kSlotBytes, {reinterpret_cast<const char*>(frame.data()), 3000});
  EXPECT_THAT(open(OpenMode::ReadOnly).log->cut(), HasSubstr("slot 3 (offset "));
  {
    const Store opened = open();
    EXPECT_THAT(opened.log->cut(), HasSubstr("slot 3 (offset "));
    EXPECT_EQ(opened.log->head()->seq, Seq{3});
    ASSERT_TRUE(append_records(*opened.log, 2));
  }
  EXPECT_EQ(open().log->cut(), "");
  expect_history(5);
}

// ---- a full ring, a full LMDB --------------------------------------------------------------------------------------

TEST_F(RedoLogs, AFullRingMakesTheWriterWaitAndThenGoOn) {
  {
    const Store opened = open();
    ASSERT_TRUE(append_records(*opened.log, 300, 10'000));
    EXPECT_GT(redo_log(opened).counts().waits, 0U);
    EXPECT_EQ(read_all(*opened.log, Seq{1})->size(), 300U);
  }
  EXPECT_EQ(lmdb_seq(), 300U);
  expect_history(300);
}

TEST_F(RedoLogs, P31_P35_AFullMapIsSaidWhenTheRingIsNearlyFullAndATrimMakesRoom) {
  const ScopedEnv small("LOCKSTEP_MAP_BYTES", "2097152");
  std::uint64_t last = 0;
  {
    const Store opened = open();
    Log& log = *opened.log;
    Error full{};
    while (full.message.empty()) {
      if (const auto done = append_records(log, 1, 3000); !done) full = done.error();
    }
    EXPECT_EQ(full.code, ErrorCode::MapFull) << full.message;
    EXPECT_THAT(full.message, HasSubstr("LOCKSTEP_MAP_BYTES"));
    last = log.head()->seq.value;
    EXPECT_EQ(append_records(log, 1, 3000).error().code, ErrorCode::MapFull);
    EXPECT_EQ(append_records(log, 1, kTooLarge).error().code, ErrorCode::MapFull);
    EXPECT_EQ(log.head()->seq.value, last);
    EXPECT_EQ(read_all(log, Seq{1})->size(), last);
    const auto trimmed = log.trim(Seq{last - 5});
    ASSERT_TRUE(trimmed) << trimmed.error().message;
    EXPECT_EQ(*log.first(), Seq{last - 5});
    ASSERT_TRUE(append_records(log, 100, 3000));
  }
  expect_history(last + 100);
}

TEST_F(RedoLogs, ATrimForgetsAllThatEndsBeforeAlsoWhenTheNextRecordIsInTheRingAlone) {
  ASSERT_TRUE(append_records(*open().log, 5));
  const Store opened = open();
  ASSERT_TRUE(append_records(*opened.log, 5));
  ASSERT_TRUE(opened.log->trim(Seq{6}));
  EXPECT_EQ(*opened.log->first(), Seq{6});
  ASSERT_TRUE(append_records(*opened.log, 5));
  ASSERT_TRUE(opened.log->trim(Seq{1000}));
  EXPECT_EQ(*opened.log->first(), Seq{15});
}

// ---- slots given back ----------------------------------------------------------------------------------------------

// Lives that end wherever it is worst: shortly after slots were used again. LMDB then loses the newer meta page.
TEST_F(RedoLogs, P8_SlotsAreUsedAgainOnlyWhenBothMetaPagesOfLmdbKnowTheirRecords) {
  std::mt19937_64 random(testing::test_seed());
  std::uint64_t last = 0;
  for (int life = 0; life < 80; ++life) {
    const std::size_t bytes = 500 + random() % 9000;
    const std::uint64_t more = random() % 4;
    int appended = 0;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    kill_after([&](Log& log) -> std::string {
      const auto& redo = dynamic_cast<const RedoLog&>(log);
      const std::uint64_t waits = random() % 3;
      int count = 0;
      const std::uint64_t seq = log.head()->seq.value;
      if (const auto done = log.trim(Seq{seq - std::min<std::uint64_t>(seq, 20)}); !done) return done.error().message;
      for (std::uint64_t left = more; redo.counts().waits <= waits || left-- > 0; ++count) {
        if (const auto done = append_records(log, 1, bytes); !done) return done.error().message;
      }
      return ::write(ends[1], &count, sizeof count) == sizeof count ? "" : "no pipe";
    });
    ASSERT_EQ(::read(ends[0], &appended, sizeof appended), ssize_t{sizeof appended});
    ::close(ends[0]);
    ::close(ends[1]);
    last += static_cast<std::uint64_t>(appended);
    testing::lose_newer_meta_page(store());
    expect_history(last, "life " + std::to_string(life));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(open_lmdb(store(), OpenMode::ReadOnly)->stored_head()->ring.position, 20 * kSmallRingSlots);
}

// ---- records that are too large ------------------------------------------------------------------------------------

TEST_F(RedoLogs, ARecordLargerThanAQuarterOfTheRingGoesToLmdbItself) {
  std::vector<Bytes> written;
  const auto append = [&](Log& log, std::size_t bytes) {
    written.push_back(make_record(*log.head(), bytes, 2));
    ASSERT_TRUE(log.append(written.back()));
    EXPECT_EQ(*log.head(), head_after(*read_header(written.back(), ""), written.back()));
  };
  for (int round = 0; round < 3; ++round) {
    const Store opened = open();
    for (const std::size_t bytes : {std::size_t{100}, kTooLarge - 200, kTooLarge, std::size_t{5000}, 10 * kTooLarge,
                                    4 * kTooLarge, std::size_t{100}}) {
      append(*opened.log, bytes);
      EXPECT_TRUE(*read_all(*opened.log, Seq{1}) == written);
    }
  }
  EXPECT_TRUE(*read_all(*open(OpenMode::ReadOnly).log, Seq{1}) == written);
}

TEST_F(RedoLogs, P8_ALargeRecordIsInBothMetaPagesBeforeItIsAcknowledged) {
  for (std::uint64_t round = 1; round <= 3; ++round) {
    kill_after([](Log& log) -> std::string {
      if (!append_records(log, 3)) return "no small ones";
      const auto done = append_records(log, 1, kTooLarge);
      return done ? "" : done.error().message;
    });
    testing::lose_newer_meta_page(store());
    expect_history(4 * round);
  }
}

// ---- files of different times --------------------------------------------------------------------------------------

TEST_F(RedoLogs, P16_AnOlderDataFileIsMadeGoodFromTheRingWhileThatHasWhatFollows) {
  ASSERT_TRUE(append_records(*open().log, 5));
  const std::string older = file_bytes(data());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(append_records(*open().log, 5, 3000));
    append_and_kill(5, 6000);
    const std::string newer = file_bytes(data());
    put_file(data(), older);
    const Store opened = open(OpenMode::ReadOnly);
    EXPECT_EQ(opened.log->head()->seq.value, static_cast<std::uint64_t>(15 + 10 * i));
    EXPECT_EQ(read_all(*opened.log, Seq{1})->size(), opened.log->head()->seq.value);
    put_file(data(), newer);
  }
  put_file(data(), older);
  expect_history(35);
}

TEST_F(RedoLogs, P16_AnOlderDataFileIsRefusedWhenTheRingHasGoneOn) {
  ASSERT_TRUE(append_records(*open().log, 5));
  const std::string older = file_bytes(data());
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(append_records(*open().log, 40, 3000));
    if (i < 1) continue;
    const std::string newer = file_bytes(data());
    put_file(data(), older);
    expect_refused("redo: slot ");
    put_file(data(), newer);
  }
  expect_history(5 + 8 * 40);
}

TEST_F(RedoLogs, P16_AnOlderRingIsRefused) {
  ASSERT_TRUE(append_records(*open().log, 5));
  const std::string older = file_bytes(redo());
  for (int i = 0; i < 6; ++i) {
    if (i % 2 == 0) {
      ASSERT_TRUE(append_records(*open().log, 1 + 10 * i, 3000));
    } else {
      append_and_kill(3, 3000);  // in the ring alone
      ASSERT_TRUE(append_records(*open().log, 2));
    }
    const std::string newer = file_bytes(redo());
    put_file(redo(), older);
    expect_refused("this ring is older than data.mdb");
    put_file(redo(), newer);
  }
  expect_history(5 + 1 + 21 + 41 + 15);
}

TEST_F(RedoLogs, P73_ANewRingInPlaceOfALostOneIsRefused) {
  const auto id = testing::store_id(store());
  append_and_kill(5);
  ASSERT_TRUE(append_records(*open().log, 5));
  fs::remove(redo());
  EXPECT_EQ(open_store(store(), OpenMode::Write).error().code, ErrorCode::NotAStore);
  ASSERT_TRUE(RedoRing::create(redo(), id, kSmallRingSlots));
  expect_refused("this ring is older than data.mdb");
}

// ---- other processes -----------------------------------------------------------------------------------------------

TEST_F(RedoLogs, AReaderBesideALiveWriterSeesAPrefixWithoutAGap) {
  const Store opened = open();
  ASSERT_TRUE(append_records(*opened.log, 3));
  Process reader({LOG_TEST_HELPER, "watch", store(), "200"});
  std::atomic<bool> done{false};
  std::string said;
  std::thread waits([&] {
    said = reader.read_line();
    done = true;
  });
  for (std::size_t i = 0; !done; ++i) {
    EXPECT_TRUE(append_records(*opened.log, 1, i * 997 % 9000 + 8));
    if (i % 97 == 96) {
      EXPECT_TRUE(append_records(*opened.log, 1, kTooLarge));
    }
    const std::uint64_t seq = opened.log->head()->seq.value;
    if (i % 50 == 49) {
      EXPECT_TRUE(opened.log->trim(Seq{seq - std::min<std::uint64_t>(seq, 200)}));
    }
  }
  waits.join();
  EXPECT_EQ(said, "watched");
  EXPECT_EQ(reader.finish(), 0);
}

TEST_F(RedoLogs, P101_TheLateFrameOfAWriterBeforeIsIgnored) {
  append_and_kill(3);
  open();
  const auto stored = open_lmdb(store(), OpenMode::ReadOnly)->stored_head();
  EXPECT_EQ(stored->ring, (RingMark{2, 3}));
  Bytes frame(kSlotBytes);
  lay_frame(make_record(stored->head), {1, 3}, frame);
  overwrite(redo(), kFramesAt + 3 * kSlotBytes, {reinterpret_cast<const char*>(frame.data()), frame.size()});
  expect_history(3);
  append_and_kill(2);
  expect_history(5);
}

TEST_F(RedoLogs, P6_AWriterWhoseRingWasReplacedStops) {
  const Store opened = open();
  ASSERT_TRUE(append_records(*opened.log, 3));
  fs::copy_file(redo(), redo().string() + ".copy");
  fs::rename(redo().string() + ".copy", redo());
  (void)append_records(*opened.log, 1);  // is acknowledged, unless it has been noticed by then
  const auto trimmed = opened.log->trim(Seq{4});
  ASSERT_FALSE(trimmed);
  EXPECT_EQ(trimmed.error().code, ErrorCode::NotLeader) << trimmed.error().message;
  EXPECT_EQ(append_records(*opened.log, 1).error().code, ErrorCode::NotLeader);
}

// ---- stores of format 1 --------------------------------------------------------------------------------------------

// Made by lockstep 0.1.0 of before the ring: six records, ten events.
class FormatOne : public ::testing::Test {
 protected:
  void SetUp() override { put_back(); }
  // As that release left it.
  void put_back() {
    fs::remove_all(store());
    const fs::path golden = fs::path(LOCKSTEP_SOURCE_DIR) / "tests" / "golden" / "log" / "valid";
    fs::copy(golden / "format-1", store(), fs::copy_options::recursive);
    const std::string stat = file_bytes(golden / "format-1.txt");
    hash_ = stat.substr(stat.find("hash       ") + 11, 64);
  }
  fs::path store() const { return dir_ / "store"; }
  void expect_brought_up_to_date(const std::string& when = "") const {
    for (const OpenMode mode : {OpenMode::Write, OpenMode::ReadOnly}) {
      const auto opened = open_store(store(), mode);
      ASSERT_TRUE(opened) << when << ": " << opened.error().message;
      ASSERT_EQ(opened->log->head()->seq, Seq{10}) << when;
      ASSERT_EQ(hex(opened->log->head()->hash), hash_) << when;
      ASSERT_EQ(read_all(*opened->log, Seq{1})->size(), 6U) << when;
    }
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(store())) {
      if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(store()).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  TempDir dir_;
  ScopedEnv small_ring_{"LOCKSTEP_RING_SLOTS", std::to_string(kSmallRingSlots)};
  std::string hash_;
};

TEST_F(FormatOne, IsBroughtUpToDateByTheFirstWriter) {
  const auto before = files();
  const auto reader = open_store(store(), OpenMode::ReadOnly);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::Usage);
  EXPECT_THAT(reader.error().message, HasSubstr("format 1"));
  EXPECT_EQ(files(), before);
  expect_brought_up_to_date();
  EXPECT_EQ(files(), (std::vector<std::string>{"log/data.mdb", "log/lock.mdb", "log/redo", "store.json"}));
  EXPECT_THAT(file_bytes(store() / "store.json"), HasSubstr("\"format\": 2"));
  const auto writer = open_store(store(), OpenMode::Write);
  ASSERT_TRUE(writer);
  EXPECT_TRUE(append_records(*writer->log, 5, 64, 1).error().code == ErrorCode::NotLeader);  // of epoch 1; it has 3
  EXPECT_TRUE(writer->log->append(make_record(*writer->log->head(), 64, 1, Epoch{4})));
}

TEST_F(FormatOne, P76_AStepThatIsCutAnywhereIsBegunAgain) {
  bool finished = false;
  for (std::uint64_t at = 1; !finished; ++at) {
    ASSERT_LT(at, 200U);
    put_back();
    const std::string ended = in_child([&]() -> std::string {
      testing::arm({.fault = testing::Fault::Kill, .at = at});
      const auto opened = open_store(store(), OpenMode::Write);
      testing::disarm();
      return opened ? "" : opened.error().message;
    });
    finished = ended.empty();
    ASSERT_TRUE(finished || ended == "crashed") << ended;
    expect_brought_up_to_date("killed at call " + std::to_string(at));
    if (HasFatalFailure()) return;
    for (const std::string& name : files()) ASSERT_EQ(name.find(".new"), std::string::npos) << name;
  }
}

TEST_F(FormatOne, IsLeftAloneWhileAControllerOfItsReleaseHoldsIt) {
  const auto before = files();
  const auto held = WriterLock::acquire(store() / "log" / "writer.lock");
  ASSERT_TRUE(held);
  EXPECT_EQ(open_store(store(), OpenMode::Write).error().code, ErrorCode::Locked);
  EXPECT_EQ(files(), before);
}

TEST_F(FormatOne, P19_AFailingCallIsSaidAndLeavesAStoreOfEitherFormat) {
  bool finished = false;
  for (std::uint64_t at = 1; !finished; ++at) {
    ASSERT_LT(at, 200U);
    put_back();
    testing::arm({.fault = testing::Fault::Error, .at = at, .error = EIO});
    const bool opened = open_store(store(), OpenMode::Write).has_value();
    finished = testing::armed_calls() < at;
    testing::disarm();
    ASSERT_TRUE(opened || !finished);
    expect_brought_up_to_date("failed at call " + std::to_string(at));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace lockstep
