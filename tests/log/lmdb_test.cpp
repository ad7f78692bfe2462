// Shown: what LMDB does to the unwary does not reach our callers (TRAPS: LMDB). How: the log in LMDB without the ring
// in front of it; small maps, dead and living readers in other processes, full reader tables, odd sizes; a few of the
// traps can only be looked for in the source.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <random>
#include <regex>

#include "tests/log/process.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::append_records;
using ::testing::HasSubstr;
using testing::in_child;
using testing::make_record;
using testing::open_lmdb;
using testing::Process;
using testing::read_all;
using testing::ScopedEnv;
using testing::TempDir;

class LmdbTraps : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(init_store(store())); }
  fs::path store() const { return dir_ / "store"; }
  std::unique_ptr<LmdbLog> open(OpenMode mode = OpenMode::Write) const { return open_lmdb(store(), mode); }

 private:
  TempDir dir_;
};

// Appends until an error; returns it.
Error fill(Log& log, std::size_t payload_bytes) {
  for (int i = 0; i < 100000; ++i) {
    const auto done = log.append(make_record(*log.head(), payload_bytes));
    if (!done) return done.error();
  }
  return {ErrorCode::Interrupted, "never full", {}};
}

TEST_F(LmdbTraps, P35_AFullMapIsSaidAndATrimMakesRoom) {
  const ScopedEnv small("LOCKSTEP_MAP_BYTES", "1048576");
  const auto opened = open();
  Log& log = *opened;
  const Error full = fill(log, 10000);
  EXPECT_EQ(full.code, ErrorCode::MapFull) << full.message;
  EXPECT_EQ(exit_status(full.code), exit_status(ErrorCode::DiskFull));
  EXPECT_THAT(full.message, HasSubstr("LOCKSTEP_MAP_BYTES"));
  const Head head = *log.head();
  EXPECT_GT(head.seq, Seq{50});
  EXPECT_EQ(fill(log, 10000).code, ErrorCode::MapFull);  // again the same, and nothing has changed
  EXPECT_EQ(*log.head(), head);
  ASSERT_TRUE(log.trim(Seq{head.seq.value - 10}));
  EXPECT_TRUE(append_records(log, 30, 10000));
  EXPECT_EQ(read_all(log, *log.first())->size(), 30U + 11U);
}

TEST_F(LmdbTraps, ARecordLargerThanTheMapChangesNothing) {
  const ScopedEnv small("LOCKSTEP_MAP_BYTES", "1048576");
  const auto opened = open();
  ASSERT_TRUE(append_records(*opened, 3));
  EXPECT_EQ(append_records(*opened, 1, 4 << 20).error().code, ErrorCode::MapFull);
  EXPECT_TRUE(append_records(*opened, 3));
  EXPECT_EQ(opened->head()->seq, Seq{6});
}

// Rounds of append and trim that only fit because old pages are used again.
void turn_over(Log& log, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto done = append_records(log, 1, 16000);
    ASSERT_TRUE(done) << "round " << i << ": " << done.error().message;
    ASSERT_TRUE(log.trim(log.head().value().seq));
  }
}

TEST_F(LmdbTraps, P37_AKilledReaderDoesNotPinPages) {
  const ScopedEnv small("LOCKSTEP_MAP_BYTES", "2097152");
  const auto opened = open();
  ASSERT_TRUE(append_records(*opened, 3));
  Process reader({LOG_TEST_HELPER, "read", store()});
  ASSERT_EQ(reader.read_line(), "reading");
  reader.kill();
  turn_over(*opened, 600);
}

TEST_F(LmdbTraps, P37_ALivingReaderThatPinsPagesIsNamed) {
  const ScopedEnv small("LOCKSTEP_MAP_BYTES", "2097152");
  const auto opened = open();
  Log& log = *opened;
  ASSERT_TRUE(append_records(log, 3));
  Process reader({LOG_TEST_HELPER, "read", store()});
  ASSERT_EQ(reader.read_line(), "reading");
  Error full{};
  for (int i = 0; i < 600 && full.message.empty(); ++i) {
    if (const auto done = append_records(log, 1, 16000); !done) full = done.error();
    if (const auto done = log.trim(log.head()->seq); !done && full.message.empty()) full = done.error();
  }
  EXPECT_EQ(full.code, ErrorCode::MapFull);
  EXPECT_THAT(full.message, HasSubstr("pid " + std::to_string(reader.pid())));
  reader.kill();
  turn_over(log, 300);
}

TEST_F(LmdbTraps, P38_DeadReadersDoNotFillTheTable) {
  const auto opened = open();
  ASSERT_TRUE(append_records(*opened, 3));
  for (int i = 0; i < 4; ++i) {  // 4 x 400 slots, of about 1,100
    Process reader({LOG_TEST_HELPER, "read", store(), "400"});
    ASSERT_EQ(reader.read_line(), "reading");
    reader.kill();
  }
  EXPECT_EQ(read_all(*opened, Seq{1})->size(), 3U);
}

TEST_F(LmdbTraps, P38_AFullReaderTableNamesItsPids) {
  const auto opened = open();
  ASSERT_TRUE(append_records(*opened, 3));
  Process first({LOG_TEST_HELPER, "read", store(), "1000"});
  ASSERT_EQ(first.read_line(), "reading");
  Process second({LOG_TEST_HELPER, "read", store(), "1000"});
  EXPECT_THAT(second.read_line(), HasSubstr("pid " + std::to_string(first.pid())));
  EXPECT_TRUE(append_records(*opened, 1));  // a writer needs no slot
  first.kill();
  EXPECT_EQ(read_all(*opened, Seq{1})->size(), 4U);
}

TEST_F(LmdbTraps, P41_AMapThatFindsNoAddressSpaceIsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "SKIPPED: an address space limit and a sanitizer's shadow memory do not go together";
#endif
  EXPECT_EQ(in_child([&]() -> std::string {
              const rlimit limit{std::uint64_t{1} << 30U, std::uint64_t{1} << 30U};
              if (::setrlimit(RLIMIT_AS, &limit) != 0) return "no limit";
              const auto opened = open_store(store(), OpenMode::Write);
              if (opened) return "opened";
              if (opened.error().code != ErrorCode::StorageFailed) return opened.error().message;
              return opened.error().message.find("address space") != std::string::npos ? "" : opened.error().message;
            }),
            "");
  EXPECT_EQ(open()->head()->seq, Seq{0});
}

TEST_F(LmdbTraps, AMapThatAWriterMadeLargerIsFollowed) {
  std::uint64_t seq = 0;
  {
    const ScopedEnv large("LOCKSTEP_MAP_BYTES", "16777216");
    seq = append_records(*open(), 200, 10000)->seq.value;
  }
  const ScopedEnv small("LOCKSTEP_MAP_BYTES", "1048576");
  const auto opened = open(OpenMode::ReadOnly);
  EXPECT_EQ(read_all(*opened, Seq{1})->size(), seq);
}

TEST_F(LmdbTraps, P40_AReaderWithASmallerMapTakesTheWritersSize) {
  const auto writer = open();  // 64 GiB
  ASSERT_TRUE(append_records(*writer, 3));
  const ScopedEnv small("LOCKSTEP_MAP_BYTES", "262144");
  Process reader({LOG_TEST_HELPER, "follow", store()});
  ASSERT_EQ(reader.read_line(), "head 3");
  ASSERT_TRUE(append_records(*writer, 300, 10000));
  EXPECT_EQ(reader.finish(), 0);  // reads all 303 after its input ends
}

TEST_F(LmdbTraps, P46_RecordsOfEverySizeAreSeenAligned) {
  const auto opened = open();
  Log& log = *opened;
  std::mt19937_64 random(testing::test_seed());
  std::vector<testing::Bytes> written;
  for (int i = 0; i < 1200; ++i) {
    const std::size_t size = i < 700 ? static_cast<std::size_t>(8 * (1 + i % 350)) : 8 + random() % 20000;
    written.push_back(make_record(*log.head(), size));
    ASSERT_TRUE(log.append(written.back()));
  }
  std::size_t i = 0;
  ASSERT_TRUE(log.read(Seq{1}, [&](const RecordHeader&, std::span<const std::byte> record) -> Result<Continue> {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record.data()) % 8, 0U);
    EXPECT_TRUE(std::ranges::equal(record, written[i])) << i;
    ++i;
    return Continue::Yes;
  }));
  EXPECT_EQ(i, written.size());
}

TEST_F(LmdbTraps, P47_ALongLogIsTrimmedInSlices) {
  const auto opened = open();
  Log& log = *opened;
  ASSERT_TRUE(append_records(log, 10000, 8));
  ASSERT_TRUE(log.trim(Seq{9990}));
  EXPECT_EQ(*log.first(), Seq{9990});
  EXPECT_EQ(read_all(log, Seq{9990})->size(), 11U);
}

TEST_F(LmdbTraps, P113_AFileThatIsTrimmedOftenStaysSmall) {
  {
    const auto opened = open();
    turn_over(*opened, 500);
  }
  EXPECT_LT(fs::file_size(store() / "log" / "data.mdb"), 1U << 20U);
  EXPECT_EQ(open()->head()->seq, Seq{500});
}

// Flags that trade safety for speed, and calls that are wrong here: none of our files mentions them but to forbid them.
TEST(LmdbSource, P32_NeverUsesTheDangerousFlags) {
  const std::regex forbidden("MDB_(WRITEMAP|NOSYNC|NOMETASYNC|MAPASYNC|FIXEDMAP|NORDAHEAD)");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "events" / "log")) {
    if (entry.path().extension() != ".cpp") continue;
    ++files;
    EXPECT_FALSE(std::regex_search(testing::file_bytes(entry.path()), forbidden)) << entry.path();
  }
  EXPECT_GE(files, 8);
}

}  // namespace
}  // namespace lockstep
