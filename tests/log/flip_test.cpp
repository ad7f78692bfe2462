// Shown: P8 and P16 (storage), on a cleanly stopped store and on one whose writer was killed, so that its newest
// records are in the ring alone: whatever single byte of it is wrong, and wherever a file of it ends, opening and
// reading everything ends in an error that says where, or in the same history; never in a crash, a hang, or a shorter
// history. How: bytes of data.mdb, redo and store.json in turn, in children that tell how far they are, so that one
// that dies names its byte: every byte in the long form (LOCKSTEP_FLIPS=all), else a sample that differs from run to
// run. Shows R10, R11.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <new>
#include <random>

#include "events/log/redo_ring.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::append_records;
using testing::Bytes;
using testing::file_bytes;
using testing::in_child;
using testing::make_record;
using testing::overwrite;
using testing::read_all;
using testing::TempDir;

constexpr unsigned kHangSeconds = 1500;  // for a whole batch of flips, which takes minutes in the long form

// Of so many cases one is tried.
std::uint64_t sample_step() {
  const char* given = std::getenv("LOCKSTEP_FLIPS");
  return given != nullptr && std::string(given) == "all" ? 1 : 43;
}

constexpr int kRecords = 24;
constexpr int kMoved = 12;  // to LMDB before the last writer came

// So many records, small ones and some on overflow pages; trimmed a little, so that there is a free list, too.
void append_up_to(Log& log, int last) {
  for (auto i = static_cast<int>(log.head()->seq.value); i < last; ++i) {
    EXPECT_TRUE(append_records(log, 1, i % 5 == 0 ? 5000 : 500));
    if (i == 5) {
      EXPECT_TRUE(log.trim(Seq{5}));
    }
  }
}

enum class End { Clean, Kill };

std::vector<Bytes> make_store(const fs::path& directory, End end) {
  const testing::ScopedEnv small("LOCKSTEP_RING_SLOTS", std::to_string(testing::kSmallRingSlots));
  do {  // (once, unless the writer was held up for so long that it moved its records)
    fs::remove_all(directory);
    EXPECT_TRUE(init_store(directory));
    append_up_to(*open_store(directory, OpenMode::Write)->log, kMoved);
    EXPECT_EQ(in_child([&]() -> std::string {
                const auto store = open_store(directory, OpenMode::Write);
                append_up_to(*store->log, kRecords);
                ::_exit(testing::kCrashStatus);
              }),
              "crashed");
  } while (testing::open_lmdb(directory, OpenMode::ReadOnly)->head()->seq.value > kMoved);
  if (end == End::Clean) {
    EXPECT_TRUE(open_store(directory, OpenMode::Write));
  }
  EXPECT_EQ(testing::open_lmdb(directory, OpenMode::ReadOnly)->head()->seq.value,
            end == End::Clean ? std::uint64_t{kRecords} : std::uint64_t{kMoved});
  const auto store = open_store(directory, OpenMode::ReadOnly);
  return *read_all(*store->log, *store->log->first());
}

// "": refused with a place, or identical. Else what is wrong.
std::string outcome(const fs::path& directory, OpenMode mode, const std::vector<Bytes>& expected,
                    std::map<ErrorCode, int>& refused) {
  Error error{};
  {
    const auto store = open_store(directory, mode);
    if (store) {
      const auto first = store->log->first();
      const auto records = first ? read_all(*store->log, *first) : tl::unexpected(first.error());
      if (records) return *records == expected ? "" : "another history of " + std::to_string(records->size());
      error = records.error();
    } else {
      error = store.error();
    }
  }
  ++refused[error.code];
  if (error.code != ErrorCode::Damaged && error.code != ErrorCode::NewerFormat && error.code != ErrorCode::NotAStore) {
    return "error of another kind: " + error.message;
  }
  const bool has_place = error.message.find(directory.string()) != std::string::npos;
  return has_place ? "" : "no file in: " + error.message;
}

class Flips : public ::testing::TestWithParam<End> {
 protected:
  void SetUp() override {
    expected_ = make_store(store(), GetParam());
    ASSERT_EQ(expected_.size(), 20U);
    void* memory = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    at_ = new (memory) std::uint64_t{0};
  }
  void TearDown() override { ::munmap(at_, sizeof(std::uint64_t)); }
  fs::path store() const { return dir_ / "store"; }
  const std::vector<Bytes>& expected() const { return expected_; }
  std::uint64_t seed() const { return seed_; }

  // Calls `damage(path, i, sound)` for the i in [0, count) of the sample and looks at the outcome. It says which byte
  // it has changed; nothing: more than one. That is put back.
  template <class Damage>
  void each(const char* file, std::uint64_t count, Damage damage) {
    const fs::path path = store() / file;
    const std::string sound = file_bytes(path);
    const std::string ended = in_child([&]() -> std::string {
      ::alarm(kHangSeconds);
      std::map<ErrorCode, int> refused;
      std::uint64_t tried = 0;
      for (std::uint64_t i = seed_ % step_; i < count; i += step_, ++tried) {
        *at_ = i;
        const std::optional<std::uint64_t> byte = damage(path, i, sound);
        const std::string wrong = outcome(store(), OpenMode::ReadOnly, expected_, refused);
        if (!wrong.empty()) return wrong;
        if (byte) {
          overwrite(path, *byte, sound.substr(*byte, 1));
        } else {
          std::ofstream(path, std::ios::binary | std::ios::trunc) << sound;
        }
      }
      std::string summary;
      for (const auto& [code, n] : refused) summary += std::string(name(code)) + " " + std::to_string(n) + " ";
      std::cout << file << ": " << tried << " of " << count << " tried, refused: " << summary << std::endl;
      return "";
    });
    EXPECT_EQ(ended, "") << file << ", case " << *at_;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << sound;
  }

  static std::uint64_t flip(const fs::path& path, std::uint64_t byte, unsigned mask, const std::string& sound) {
    const auto flipped = static_cast<unsigned char>(sound[byte]) ^ mask;
    overwrite(path, byte, std::string(1, static_cast<char>(flipped)));
    return byte;
  }

  void flip_each_byte(const char* file, unsigned mask) {
    const std::vector<std::uint64_t> bytes = bytes_to_flip(file);
    each(file, bytes.size(), [&](const fs::path& path, std::uint64_t i, const std::string& sound) {
      return flip(path, bytes[i], mask, sound);
    });
  }

  // All. Of the ring those of its first two blocks, of the sectors that hold something of a record, of the stamps of
  // the others, and of the slot behind the last frame; and a sample.
  std::vector<std::uint64_t> bytes_to_flip(const char* file) const {
    constexpr std::uint64_t kSampleStep = 61;
    constexpr std::uint64_t kStamp = 8;
    const std::string bytes = file_bytes(store() / file);
    const bool ring = std::string(file) == "log/redo";
    const std::uint64_t tail = (bytes.find_last_not_of('\0') / kSlotBytes + 1) * kSlotBytes;
    const auto counts = [&](std::uint64_t at) {
      if (!ring || at < kFramesAt || (at >= tail && at < tail + kSlotBytes)) return true;
      const std::uint64_t sector = at / kSectorBytes * kSectorBytes;
      if (at < tail && at >= sector + kSectorBytes - kStamp) return true;
      return bytes.find_first_not_of('\0', sector) < sector + kSectorBytes - kStamp;
    };
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t at = 0; at < bytes.size(); ++at) {
      if (counts(at) || at % kSampleStep == 0) offsets.push_back(at);
    }
    return offsets;
  }

  // Whether a writer is refused with that byte inverted. Then nothing has changed; else all is put back.
  bool refuses_a_writer(const char* file, std::uint64_t byte) {
    const std::string sound[] = {file_bytes(store() / "log/data.mdb"), file_bytes(store() / "log/redo")};
    const std::string was = file_bytes(store() / file).substr(byte, 1);
    overwrite(store() / file, byte, std::string(1, static_cast<char>(~was[0])));
    auto writer = open_store(store(), OpenMode::Write);
    if (!writer) {
      EXPECT_EQ(writer.error().code, ErrorCode::Damaged);
      EXPECT_TRUE(writer.error().seq || std::string(file) == "log/redo") << writer.error().message;
      EXPECT_NE(writer.error().message.find("offset"), std::string::npos) << writer.error().message;
      overwrite(store() / file, byte, was);
      EXPECT_TRUE(file_bytes(store() / "log/data.mdb") == sound[0]) << "byte " << byte;
      return true;
    }
    writer->log.reset();
    std::ofstream(store() / "log/data.mdb", std::ios::binary | std::ios::trunc) << sound[0];
    std::ofstream(store() / "log/redo", std::ios::binary | std::ios::trunc) << sound[1];
    return false;
  }

  void cut_everywhere(const char* file, std::uint64_t step) {
    const std::uint64_t size = fs::file_size(store() / file);
    each(file, size / step, [step](const fs::path& path, std::uint64_t i, const std::string& sound) {
      std::ofstream(path, std::ios::binary | std::ios::trunc) << sound.substr(0, i * step);
      return std::nullopt;
    });
  }

 private:
  TempDir dir_;
  testing::ScopedEnv small_map_{"LOCKSTEP_MAP_BYTES", "16777216"};  // quicker to map again and again
  std::vector<Bytes> expected_;
  std::uint64_t* at_ = nullptr;
  std::uint64_t seed_ = testing::test_seed();
  std::uint64_t step_ = sample_step();
};

constexpr const char* kFiles[] = {"log/data.mdb", "log/redo", "store.json"};

TEST_P(Flips, P16_BytesInverted) {
  for (const char* file : kFiles) flip_each_byte(file, 0xff);
}

TEST_P(Flips, P16_OneBitOfBytes) {
  for (const char* file : kFiles) flip_each_byte(file, 1U << seed() % 8);
}

// The bytes that LMDB itself swallows or dies of: all bits of the meta pages and of every page header.
TEST_P(Flips, P8_BitsOfTheMetaPagesAndPageHeaders) {
  const std::uint64_t pages = fs::file_size(store() / "log/data.mdb") / 4096;
  const auto offset_of = [](std::uint64_t i) {
    const std::uint64_t byte = i / 8;
    return byte < 2 * 160 ? byte / 160 * 4096 + byte % 160
                          : (byte - 2 * 160) / 32 * 4096 + 2 * 4096 + (byte - 2 * 160) % 32;
  };
  each("log/data.mdb", 8 * (2 * 160 + (pages - 2) * 32),
       [&](const fs::path& path, std::uint64_t i, const std::string& sound) {
         return flip(path, offset_of(i), 1U << (i % 8), sound);
       });
}

TEST_P(Flips, TruncationsOfTheDataFile) { cut_everywhere("log/data.mdb", 512); }
TEST_P(Flips, TruncationsOfTheRing) { cut_everywhere("log/redo", 512); }
TEST_P(Flips, TruncationsOfTheDescription) { cut_everywhere("store.json", 1); }

// P10: a writer does not append behind a record that cannot be read: it is refused the store, and changes nothing.
TEST_P(Flips, P10_NoWriterIsLetOnADamagedRecord) {
  const std::string sound = file_bytes(store() / "log/data.mdb");
  int records = 0;
  for (std::size_t at = sound.find("LKSTPREC"); at != std::string::npos; at = sound.find("LKSTPREC", at + 1)) {
    // (copies on free pages hold the magic, too)
    if (refuses_a_writer("log/data.mdb", at + 200)) ++records;
  }
  EXPECT_EQ(records, GetParam() == End::Clean ? kRecords - 4 : kMoved - 4);
}

// The same of the ring: nothing is moved to LMDB, and nothing appended, behind a frame that is damaged; it is never
// cut.
TEST_P(Flips, P10_P13_NoWriterIsLetOnADamagedFrame) {
  const std::uint64_t used = file_bytes(store() / "log/redo").find_last_not_of('\0');
  int sectors = 0;
  for (std::uint64_t at = kFramesAt; at < used; at += kSectorBytes) {
    if (refuses_a_writer("log/redo", at + at / kSectorBytes * 7 % kSectorBytes)) ++sectors;
  }
  // Those of frames that LMDB has are not looked at.
  constexpr int kTailSlots = kRecords - kMoved + (kRecords - 1) / 5 - (kMoved - 1) / 5;
  EXPECT_EQ(sectors, GetParam() == End::Kill ? kTailSlots * static_cast<int>(kSlotSectors) : 0);
}

// LMDB has no checksum on its meta pages: a wrong bit in the number of the newer commit makes it open the one before.
TEST_P(Flips, P16_TheNewerMetaPageOfLmdbLostIsMadeGoodFromTheRing) {
  testing::lose_newer_meta_page(store());
  for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::Write, OpenMode::ReadOnly}) {
    const auto opened = open_store(store(), mode);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->log->head()->seq.value, std::uint64_t{kRecords});
    EXPECT_EQ(*read_all(*opened->log, *opened->log->first()), expected());
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, Flips, ::testing::Values(End::Clean, End::Kill),
                         [](const auto& end) { return end.param == End::Clean ? "Clean" : "Killed"; });

}  // namespace
}  // namespace lockstep
