// Shown: what was acknowledged survives kills, power cuts and failing calls at every point of an append and a trim;
// what was not is there once or not at all; a full disk is told from a broken one. How: io_faults.h in forked children,
// a small tmpfs for the full disk (skipped where it cannot be mounted).
// Shows R04.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <random>

#include "tests/log/io_faults.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::append_records;
using testing::Fault;
using testing::FaultPlan;
using testing::file_bytes;
using ::testing::HasSubstr;
using testing::in_child;
using testing::make_record;
using testing::open_lmdb;
using testing::read_all;
using testing::ScopedEnv;
using testing::TempDir;

// What the child has been acknowledged, in memory that outlives it.
struct Acknowledged {
  std::uint64_t seq;
  std::uint64_t first;
};

class SharedAck {
 public:
  SharedAck() {
    void* memory = ::mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ack_ = new (memory) Acknowledged{0, 1};
  }
  SharedAck(const SharedAck&) = delete;
  SharedAck& operator=(const SharedAck&) = delete;
  ~SharedAck() { ::munmap(ack_, sizeof(Acknowledged)); }
  Acknowledged* operator->() const { return ack_; }

 private:
  Acknowledged* ack_;
};

// A life of a writer: opens, appends records of many sizes and trims now and then, and notes what it was told is done.
constexpr std::size_t kSizesUpTo = 9000;
constexpr std::size_t kLargeSizesUpTo = 90'000;  // more than a quarter of a small ring, which they fill again and again
std::string live(const fs::path& directory, const FaultPlan& plan, int steps, const SharedAck& ack,
                 std::size_t sizes = kSizesUpTo) {
  testing::arm(plan);
  const auto store = open_store(directory, OpenMode::Write);
  if (!store) return store.error().message;
  Log& log = *store->log;
  for (int i = 0; i < steps; ++i) {
    const std::uint64_t seq = log.head()->seq.value;
    const auto done = log.append(make_record(*log.head(), (seq * 9973) % sizes + 8));
    if (!done) return done.error().message;
    ack->seq = seq + 1;
    if (seq % 5 == 4) {
      const auto trimmed = log.trim(Seq{seq - 1});
      if (!trimmed) return trimmed.error().message;
      ack->first = log.first()->value;
    }
  }
  return "";
}

// Everything acknowledged is there, at most one append more, and the whole chain reads.
void expect_nothing_lost(const fs::path& directory, const SharedAck& ack, const std::string& when) {
  const auto store = open_store(directory, OpenMode::Write);
  ASSERT_TRUE(store) << when << ": " << store.error().message;
  const Head head = *store->log->head();
  ASSERT_GE(head.seq.value, ack->seq) << when;
  ASSERT_LE(head.seq.value, ack->seq + 1) << when;
  const Seq first = *store->log->first();
  ASSERT_GE(first.value, ack->first) << when;
  const auto records = read_all(*store->log, first);
  ASSERT_TRUE(records) << when << ": " << records.error().message;
  ASSERT_EQ(records->size(), head.seq.value - first.value + 1) << when;
  const Head end = records->empty() ? Head{} : head_after(*read_header(records->back(), ""), records->back());
  ASSERT_EQ(end, head) << when;
  ack->seq = head.seq.value;
  ack->first = first.value;
}

// Lives one after another on the same store, each cut at the next call, until one comes to its end. Its ring is so
// small that it is gone round again and again.
void cut_at_every_call(Fault fault, std::uint64_t seed, std::size_t sizes) {
  TempDir dir;
  const ScopedEnv small("LOCKSTEP_RING_SLOTS", std::to_string(testing::kSmallRingSlots));
  ASSERT_TRUE(init_store(dir / "store"));
  const SharedAck ack;
  for (std::uint64_t at = 1;; ++at) {
    ASSERT_LT(at, 2000U);
    const std::string ended =
        in_child([&] { return live(dir / "store", {.fault = fault, .at = at, .seed = seed + at}, 12, ack, sizes); });
    if (ended.empty()) break;
    ASSERT_EQ(ended, "crashed");
    expect_nothing_lost(dir / "store", ack, "cut at call " + std::to_string(at));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(DiskFaults, P1_NothingAcknowledgedIsLostToAKillAtAnyCall) {
  cut_at_every_call(Fault::Kill, 0, kSizesUpTo);
  cut_at_every_call(Fault::Kill, 0, kLargeSizesUpTo);
}

TEST(DiskFaults, P1_NothingAcknowledgedIsLostToAPowerCutAtAnyCall) {
  const std::uint64_t seed = testing::test_seed();
  cut_at_every_call(Fault::PowerCut, seed, kSizesUpTo);
  cut_at_every_call(Fault::PowerCut, seed, kLargeSizesUpTo);
}

TEST(DiskFaults, P5_RandomPowerCutsOnOneStoreLeaveAPrefixEachTime) {
  std::mt19937_64 random(testing::test_seed());
  TempDir dir;
  const ScopedEnv small("LOCKSTEP_RING_SLOTS", std::to_string(testing::kSmallRingSlots));
  ASSERT_TRUE(init_store(dir / "store"));
  const SharedAck ack;
  for (int life = 0; life < 60; ++life) {
    const FaultPlan plan{.fault = Fault::PowerCut, .at = 1 + random() % 60, .seed = random()};
    const std::string ended = in_child([&] { return live(dir / "store", plan, 20, ack); });
    ASSERT_TRUE(ended.empty() || ended == "crashed") << ended;
    expect_nothing_lost(dir / "store", ack, "life " + std::to_string(life));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(ack->seq, 50U);
}

// The log of a store, and what of it is in LMDB without the ring.
enum class Kind { Store, Lmdb };
std::unique_ptr<Log> open_kind(const fs::path& directory, Kind kind) {
  if (kind == Kind::Lmdb) return open_lmdb(directory);
  auto store = open_store(directory, OpenMode::Write);
  EXPECT_TRUE(store) << store.error().message;
  return store ? std::move(store->log) : nullptr;
}

// One failing call inside an append; then the same request again after a restart.
void fail_one_call(Kind kind, std::size_t payload_bytes, int error, bool flushes_only) {
  for (std::uint64_t at = 1;; ++at) {
    ASSERT_LT(at, 100U);
    TempDir dir;
    ASSERT_TRUE(init_store(dir / "store"));
    auto log = open_kind(dir / "store", kind);
    ASSERT_TRUE(append_records(*log, 3));
    const auto record = make_record(*log->head(), payload_bytes);
    testing::arm({.fault = Fault::Error, .at = at, .error = error, .flushes_only = flushes_only});
    const auto done = log->append(record);
    const bool reached = testing::armed_calls() >= at;
    testing::disarm();
    if (!reached) {
      EXPECT_TRUE(done);
      EXPECT_GE(at, 2U);
      return;
    }
    if (!done) {
      ASSERT_EQ(done.error().code, ErrorCode::OutcomeUnknown) << "call " << at << ": " << done.error().message;
      // Latched: the disk works again, and still nothing is appended.
      ASSERT_EQ(log->append(record).error().code, ErrorCode::OutcomeUnknown);
      ASSERT_EQ(log->trim(Seq{2}).error().code, ErrorCode::OutcomeUnknown);
    }
    log.reset();
    log = open_kind(dir / "store", kind);
    ASSERT_TRUE(log);
    const std::uint64_t seq = log->head()->seq.value;
    ASSERT_TRUE(done ? seq == 4 : seq == 3 || seq == 4) << "call " << at;
    const auto again = log->append(record);  // once, whichever it was
    ASSERT_EQ(again.has_value(), seq == 3) << "call " << at;
    ASSERT_EQ(read_all(*log, Seq{1})->size(), 4U);
  }
}

TEST(DiskFaults, P28_P22_AFailedFlushOrWriteIsUnknownAndLatches) {
  fail_one_call(Kind::Store, 5000, EIO, false);
  fail_one_call(Kind::Store, 5000, EIO, true);
  fail_one_call(Kind::Store, 5000, ENOSPC, false);  // the ring's blocks are its own: nothing that more room would mend
}

TEST(DiskFaults, P28_AFailedFlushOrWriteOfLmdbIsUnknownAndLatches) {
  fail_one_call(Kind::Lmdb, 5000, EIO, false);
  fail_one_call(Kind::Lmdb, 5000, EIO, true);
}

TEST(DiskFaults, P28_SoIsOneOfARecordThatIsTooLargeForTheRing) {
  fail_one_call(Kind::Store, 600'000, EIO, false);
  fail_one_call(Kind::Store, 600'000, EIO, true);
}

// A failure of LMDB behind the ring: nothing that was acknowledged depends on it, and nothing more is acknowledged.
TEST(DiskFaults, P22_ACommitBehindTheRingThatFailsStopsTheWriterAndLosesNothing) {
  for (const std::uint64_t at : {1U, 2U}) {  // the data, the meta page
    TempDir dir;
    ASSERT_TRUE(init_store(dir / "store"));
    {
      const auto store = open_store(dir / "store", OpenMode::Write);
      ASSERT_TRUE(append_records(*store->log, 10));
      testing::arm({.fault = Fault::Error, .at = at, .error = EIO, .flushes_only = true});
      const auto trimmed = store->log->trim(Seq{9});  // has all before it moved
      testing::disarm();
      ASSERT_FALSE(trimmed) << at;
      EXPECT_EQ(trimmed.error().code, ErrorCode::OutcomeUnknown) << trimmed.error().message;
      EXPECT_EQ(append_records(*store->log, 1).error().code, ErrorCode::OutcomeUnknown);
    }
    const auto store = open_store(dir / "store", OpenMode::Write);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ(store->log->head()->seq, Seq{10});
    EXPECT_EQ(read_all(*store->log, *store->log->first())->size(), 11 - store->log->first()->value);
  }
}

TEST(DiskFaults, ADiskThatSaysItIsFullIsNotAnUnknownOutcomeUnlessTheMetaPageFailed) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  const auto log = open_lmdb(dir / "store");
  ASSERT_TRUE(append_records(*log, 3));
  testing::arm({.fault = Fault::Error, .at = 1, .error = ENOSPC});
  const auto full = append_records(*log, 1, 5000);
  testing::disarm();
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::DiskFull) << full.error().message;
  EXPECT_TRUE(append_records(*log, 1, 5000));  // there is room again: it goes on by itself
  // The last flush is the meta page's: whatever the error says, the outcome is unknown.
  testing::arm({.fault = Fault::Error, .at = 2, .error = ENOSPC, .flushes_only = true});
  const auto unknown = append_records(*log, 1, 5000);
  testing::disarm();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::OutcomeUnknown) << unknown.error().message;
}

// ---- a disk that is really full
// --------------------------------------------------------------------------------------

// In a child with a mount table of its own; "SKIP" when that is not allowed.
std::string on_small_disk(const fs::path& mount_point, const std::function<std::string()>& part) {
  return in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("lockstep-test", mount_point.c_str(), "tmpfs", 0, "size=8m") != 0) {
      return "SKIP";
    }
    return part();
  });
}

// Takes all that is left of the disk.
void take_all_room(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0666);
  const std::vector<char> block(4096);
  while (::write(fd, block.data(), block.size()) > 0) {
  }
  ::close(fd);
}

#define SKIP_IF_NO_MOUNT(text) \
  if ((text) == "SKIP") GTEST_SKIP() << "SKIPPED: a tmpfs cannot be mounted here (needs root)"

TEST(DiskFaults, P31_P14_AFullDiskIsSaidAndWorkGoesOnWhenThereIsRoom) {
  TempDir dir;
  const std::string ended = on_small_disk(dir.path(), [&]() -> std::string {
    const auto made = init_store(dir / "store");
    if (!made) return made.error().message;
    std::uint64_t seq = 0;
    {
      const auto store = open_store(dir / "store", OpenMode::Write);
      if (!store) return store.error().message;
      if (!append_records(*store->log, 10, 5000)) return "no room at the beginning";
      take_all_room(dir / "ballast");
      Error full{};
      for (int i = 0; i < 1000 && full.message.empty(); ++i) {
        if (const auto done = append_records(*store->log, 1, 5000); !done) full = done.error();
      }
      if (full.code != ErrorCode::DiskFull) return "not DiskFull: " + full.message;
      if (append_records(*store->log, 1, 5000)) return "not full the second time";
      seq = store->log->head()->seq.value;
      if (seq < 10 + 64) return "full before the ring was used: " + std::to_string(seq);
      const auto records = read_all(*store->log, Seq{1});
      if (!records || records->size() != seq) return "not readable while full";
      fs::remove(dir / "ballast");
      if (const auto done = append_records(*store->log, 5, 5000); !done)
        return "does not go on: " + done.error().message;
    }
    const auto store = open_store(dir / "store", OpenMode::Write);
    if (!store) return store.error().message;
    return store->log->head()->seq.value == seq + 5 && read_all(*store->log, Seq{1})->size() == seq + 5 ? "" : "lost";
  });
  SKIP_IF_NO_MOUNT(ended);
  EXPECT_EQ(ended, "");
}

// A writer that appends so many records and is killed, so that they are in the ring alone.
std::string append_and_die(const fs::path& directory, int n) {
  const std::string ended = in_child([&]() -> std::string {
    const auto store = open_store(directory, OpenMode::Write);
    if (!store) return store.error().message;
    if (!append_records(*store->log, n, 5000)) return "no append";
    ::_exit(testing::kCrashStatus);
  });
  return ended == "crashed" ? "" : "writer: " + ended;
}

// All that the files hold.
std::string bytes_of_log(const fs::path& store) {
  return file_bytes(store / "log" / "data.mdb") + file_bytes(store / "log" / "redo");
}

std::string reads_ten_and_writes_nothing(const fs::path& directory) {
  const std::string before = bytes_of_log(directory);
  const auto reader = open_store(directory, OpenMode::ReadOnly);
  if (!reader) return "reading: " + reader.error().message;
  const auto records = read_all(*reader->log, Seq{1});
  if (!records || records->size() != 10 || reader->log->head()->seq != Seq{10}) return "reading: not all ten";
  return bytes_of_log(directory) == before ? "" : "something was written";
}

TEST(DiskFaults, P29_AStoreOnAFullDiskOpensForReadingAndWriting) {
  for (const bool without_lock_file : {false, true}) {
    TempDir dir;
    const std::string ended = on_small_disk(dir.path(), [&]() -> std::string {
      if (!init_store(dir / "store")) return "no init";
      if (!append_records(*open_store(dir / "store", OpenMode::Write)->log, 10, 5000)) return "no append";
      if (without_lock_file) fs::remove(dir / "store" / "log" / "lock.mdb");
      take_all_room(dir / "ballast");
      if (const auto wrong = reads_ten_and_writes_nothing(dir / "store"); !wrong.empty()) return wrong;
      const auto writer = open_store(dir / "store", OpenMode::Write);
      if (without_lock_file) return !writer && writer.error().code == ErrorCode::DiskFull ? "" : "writing: not refused";
      if (!writer) return "writing: " + writer.error().message;
      return read_all(*writer->log, Seq{1})->size() == 10 ? "" : "writing: too few";
    });
    SKIP_IF_NO_MOUNT(ended);
    EXPECT_EQ(ended, "") << without_lock_file;
  }
}

TEST(DiskFaults, P29_WhatAKilledWriterLeftInTheRingIsReadOnAFullDisk) {
  TempDir dir;
  const std::string ended = on_small_disk(dir.path(), [&]() -> std::string {
    if (!init_store(dir / "store")) return "no init";
    if (const auto wrong = append_and_die(dir / "store", 10); !wrong.empty()) return wrong;
    take_all_room(dir / "ballast");
    if (const auto wrong = reads_ten_and_writes_nothing(dir / "store"); !wrong.empty()) return wrong;
    const auto writer = open_store(dir / "store", OpenMode::Write);
    if (writer || writer.error().code != ErrorCode::DiskFull) return "writing: not refused";
    fs::remove(dir / "ballast");
    return open_store(dir / "store", OpenMode::Write)->log->head()->seq == Seq{10} ? "" : "writing: too few";
  });
  SKIP_IF_NO_MOUNT(ended);
  EXPECT_EQ(ended, "");
}

TEST(DiskFaults, InitOnAFullDiskSaysSo) {
  TempDir dir;
  const std::string ended = on_small_disk(dir.path(), [&]() -> std::string {
    take_all_room(dir / "ballast");
    const auto made = init_store(dir / "store");
    if (made) return "made";
    if (made.error().code != ErrorCode::DiskFull) return made.error().message;
    return std::distance(fs::directory_iterator(dir.path()), {}) == 1 ? "" : "something is left";
  });
  SKIP_IF_NO_MOUNT(ended);
  EXPECT_EQ(ended, "");
}

TEST(DiskFaults, P29_AReadOnlyMountIsReadAsItIsAlsoWhatIsInTheRingAlone) {
  for (const bool killed : {false, true}) {
    TempDir dir;
    const std::string ended = on_small_disk(dir.path(), [&]() -> std::string {
      if (!init_store(dir / "store")) return "no init";
      if (const auto wrong = append_and_die(dir / "store", 10); !wrong.empty()) return wrong;
      if (!killed && !open_store(dir / "store", OpenMode::Write)) return "no second start";
      if (::mount(nullptr, dir.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return "SKIP";
      return reads_ten_and_writes_nothing(dir / "store");
    });
    SKIP_IF_NO_MOUNT(ended);
    EXPECT_EQ(ended, "") << killed;
  }
}

}  // namespace
}  // namespace lockstep
