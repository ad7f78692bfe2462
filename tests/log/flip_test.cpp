// Shown: P8 and P16 (storage), on a cleanly stopped store: whatever single byte of it is wrong, and wherever a file of
// it ends, opening and reading everything ends in an error that says where, or in the same history; never in a crash, a
// hang, or a shorter history. How: every byte of data.mdb, log/head and store.json in turn, in children that tell how
// far they are, so that one that dies names its byte.
// Shows R10, R11.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <new>
#include <random>

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

constexpr unsigned kHangSeconds = 120;  // for a whole batch of flips, which takes a few

// Twenty records, small ones and some on overflow pages; trimmed a little, so that there is a free list, too.
std::vector<Bytes> make_store(const fs::path& directory) {
  EXPECT_TRUE(init_store(directory));
  const auto store = open_store(directory, OpenMode::Write);
  EXPECT_TRUE(append_records(*store->log, 6, 700));
  EXPECT_TRUE(store->log->trim(Seq{5}));
  for (int i = 6; i < 24; ++i) EXPECT_TRUE(append_records(*store->log, 1, i % 5 == 0 ? 5000 : 500));
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

class Flips : public ::testing::Test {
 protected:
  void SetUp() override {
    expected_ = make_store(store());
    ASSERT_EQ(expected_.size(), 20U);
    void* memory = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    at_ = new (memory) std::uint64_t{0};
  }
  void TearDown() override { ::munmap(at_, sizeof(std::uint64_t)); }
  fs::path store() const { return dir_ / "store"; }

  // Calls `damage(file, i)` for each i in [0, count), looks at the outcome, and puts the file back.
  template <class Damage>
  void each(const char* file, std::uint64_t count, OpenMode mode, Damage damage) {
    const fs::path path = store() / file;
    const std::string sound = file_bytes(path);
    const std::string ended = in_child([&]() -> std::string {
      ::alarm(kHangSeconds);
      std::map<ErrorCode, int> refused;
      for (std::uint64_t i = 0; i < count; ++i) {
        *at_ = i;
        damage(path, i, sound);
        const std::string wrong = outcome(store(), mode, expected_, refused);
        if (!wrong.empty()) return wrong;
      }
      std::string summary;
      for (const auto& [code, n] : refused) summary += std::string(name(code)) + " " + std::to_string(n) + " ";
      std::cout << file << ": " << count << " tried, refused: " << summary << std::endl;
      return "";
    });
    EXPECT_EQ(ended, "") << file << ", case " << *at_;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << sound;
  }

  void flip_each_byte(const char* file, OpenMode mode, unsigned mask) {
    each(file, fs::file_size(store() / file), mode,
         [mask](const fs::path& path, std::uint64_t i, const std::string& sound) {
           if (i > 0) overwrite(path, i - 1, sound.substr(i - 1, 1));
           overwrite(path, i, std::string(1, static_cast<char>(static_cast<unsigned char>(sound[i]) ^ mask)));
         });
  }

  void cut_everywhere(const char* file, std::uint64_t step) {
    const std::uint64_t size = fs::file_size(store() / file);
    each(file, size / step, OpenMode::ReadOnly,
         [step](const fs::path& path, std::uint64_t i, const std::string& sound) {
           std::ofstream(path, std::ios::binary | std::ios::trunc) << sound.substr(0, i * step);
         });
  }

 private:
  TempDir dir_;
  std::vector<Bytes> expected_;
  std::uint64_t* at_ = nullptr;
};

constexpr const char* kFiles[] = {"log/data.mdb", "log/head", "store.json"};

TEST_F(Flips, P16_EveryByteInverted) {
  for (const char* file : kFiles) flip_each_byte(file, OpenMode::ReadOnly, 0xff);
}

TEST_F(Flips, P16_OneBitOfEveryByteTheSameForAll) {
  const unsigned bit = testing::test_seed() % 8;
  for (const char* file : kFiles) flip_each_byte(file, OpenMode::ReadOnly, 1U << bit);
}

// The bytes that LMDB itself swallows or dies of: all bits of the meta pages and of every page header.
TEST_F(Flips, P8_EveryBitOfTheMetaPagesAndPageHeaders) {
  const std::uint64_t pages = fs::file_size(store() / "log/data.mdb") / 4096;
  const auto offset_of = [](std::uint64_t i) {
    const std::uint64_t byte = i / 8;
    return byte < 2 * 160 ? byte / 160 * 4096 + byte % 160
                          : (byte - 2 * 160) / 32 * 4096 + 2 * 4096 + (byte - 2 * 160) % 32;
  };
  each("log/data.mdb", 8 * (2 * 160 + (pages - 2) * 32), OpenMode::ReadOnly,
       [&](const fs::path& path, std::uint64_t i, const std::string& sound) {
         if (i > 0) overwrite(path, offset_of(i - 1), sound.substr(offset_of(i - 1), 1));
         const auto flipped = static_cast<unsigned char>(sound[offset_of(i)]) ^ (1U << (i % 8));
         overwrite(path, offset_of(i), std::string(1, static_cast<char>(flipped)));
       });
}

TEST_F(Flips, EveryTruncationOfTheDataFile) { cut_everywhere("log/data.mdb", 512); }
TEST_F(Flips, EveryTruncationOfTheHeadFile) { cut_everywhere("log/head", 1); }
TEST_F(Flips, EveryTruncationOfTheDescription) { cut_everywhere("store.json", 1); }

// P10: a writer does not append behind a record that cannot be read: it is refused the store.
TEST_F(Flips, P10_NoWriterIsLetOnADamagedRecord) {
  const std::string sound = file_bytes(store() / "log/data.mdb");
  int records = 0;
  for (std::size_t at = sound.find("LKSTPREC"); at != std::string::npos; at = sound.find("LKSTPREC", at + 1)) {
    // (copies on free pages hold the magic, too)
    overwrite(store() / "log/data.mdb", at + 200, std::string(1, static_cast<char>(~sound[at + 200])));
    const auto writer = open_store(store(), OpenMode::Write);
    if (!writer) {
      EXPECT_EQ(writer.error().code, ErrorCode::Damaged);
      EXPECT_TRUE(writer.error().seq) << writer.error().message;
      EXPECT_NE(writer.error().message.find("offset"), std::string::npos) << writer.error().message;
      ++records;
    }
    overwrite(store() / "log/data.mdb", at + 200, sound.substr(at + 200, 1));
  }
  EXPECT_EQ(records, 20);
  EXPECT_EQ(file_bytes(store() / "log/data.mdb"), sound);
}

}  // namespace
}  // namespace lockstep
