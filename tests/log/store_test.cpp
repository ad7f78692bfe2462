// Shown: a store is made whole or not at all, is never made by opening it, has one writer, and says what is wrong with
// it.
// Shows R08, R09, R25, R27, R28.

#include "events/log/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "events/log/writer_lock.h"
#include "tests/log/io_faults.h"
#include "tests/log/process.h"
#include "tests/log/support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::append_records;
using testing::file_bytes;
using ::testing::HasSubstr;
using testing::in_child;
using testing::Process;
using testing::read_all;
using testing::TempDir;

ErrorCode open_code(const fs::path& directory, OpenMode mode = OpenMode::Write) {
  const auto store = open_store(directory, mode);
  return store ? ErrorCode::Interrupted : store.error().code;  // Interrupted: it opened
}

TEST(Store, InitMakesWhatOpenNeeds) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  for (const char* name : {"log/data.mdb", "log/lock.mdb", "log/redo", "snapshots", "archive", "store.json"}) {
    EXPECT_TRUE(fs::exists(dir / "store" / name)) << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);  // nothing is left beside it
  const auto store = open_store(dir / "store", OpenMode::Write);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->id.size(), 32U);
  EXPECT_EQ(store->snapshots(), dir / "store" / "snapshots");
  EXPECT_EQ(store->log->head()->seq, Seq{0});
}

TEST(Store, InitTakesAnEmptyDirectoryAndNothingElse) {
  TempDir dir;
  fs::create_directory(dir / "empty");
  EXPECT_TRUE(init_store((dir / "empty").string() + "/"));
  EXPECT_EQ(init_store(dir / "empty").error().code, ErrorCode::Usage);
  std::ofstream(dir / "file") << "x";
  EXPECT_EQ(init_store(dir / "file").error().code, ErrorCode::Usage);
  fs::create_directory(dir / "full");
  std::ofstream(dir / "full" / "x") << "x";
  EXPECT_EQ(init_store(dir / "full").error().code, ErrorCode::Usage);
  EXPECT_EQ(init_store(dir / "no" / "parent").error().code, ErrorCode::Usage);
  EXPECT_EQ(init_store(dir / "file" / "store").error().code, ErrorCode::Usage);
  EXPECT_EQ(init_store(dir.path() / std::string(300, 'x')).error().code, ErrorCode::Usage);
  EXPECT_TRUE(init_store(dir.path() / std::string(255, 'x')));
  EXPECT_EQ(file_bytes(dir / "full" / "x"), "x");
}

TEST(Store, InitsHaveDifferentIds) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "a"));
  ASSERT_TRUE(init_store(dir / "b"));
  EXPECT_NE(open_store(dir / "a", OpenMode::ReadOnly)->id, open_store(dir / "b", OpenMode::ReadOnly)->id);
}

TEST(Store, P73_OpeningNeverMakesAStore) {
  TempDir dir;
  EXPECT_EQ(open_code(dir / "missing"), ErrorCode::NotAStore);
  EXPECT_FALSE(fs::exists(dir / "missing"));
  fs::create_directory(dir / "empty");
  EXPECT_EQ(open_code(dir / "empty"), ErrorCode::NotAStore);
  EXPECT_TRUE(fs::is_empty(dir / "empty"));
  std::ofstream(dir / "file") << "x";
  EXPECT_EQ(open_code(dir / "file"), ErrorCode::NotAStore);
}

TEST(Store, P73_AStoreWithAFileMissingIsNeverAnEmptySuccess) {
  for (const char* name : {"store.json", "log/data.mdb", "log/redo", "log"}) {
    for (const OpenMode mode : {OpenMode::Write, OpenMode::ReadOnly}) {
      TempDir dir;
      ASSERT_TRUE(init_store(dir / "store"));
      ASSERT_TRUE(append_records(*open_store(dir / "store", OpenMode::Write)->log, 3));
      fs::remove_all(dir / "store" / name);
      const auto store = open_store(dir / "store", mode);
      ASSERT_FALSE(store) << name;
      EXPECT_EQ(store.error().code, ErrorCode::NotAStore) << store.error().message;
      EXPECT_THAT(store.error().message, HasSubstr("missing"));
    }
  }
}

TEST(Store, P73_WhatCanBeMadeAgainMayBeMissing) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  ASSERT_TRUE(append_records(*open_store(dir / "store", OpenMode::Write)->log, 3));
  for (const char* name : {"log/lock.mdb", "snapshots", "archive"}) fs::remove_all(dir / "store" / name);
  EXPECT_EQ(open_store(dir / "store", OpenMode::ReadOnly)->log->head()->seq, Seq{3});
  EXPECT_EQ(open_store(dir / "store", OpenMode::Write)->log->head()->seq, Seq{3});
  EXPECT_TRUE(fs::is_directory(dir / "store" / "snapshots"));
}

TEST(Store, APipeInPlaceOfAFileIsRefusedAndNotWaitedFor) {
  for (const char* name : {"store.json", "log/data.mdb", "log/redo"}) {
    TempDir dir;
    ASSERT_TRUE(init_store(dir / "store"));
    fs::remove(dir / "store" / name);
    ASSERT_EQ(::mkfifo((dir / "store" / name).c_str(), 0600), 0);
    EXPECT_NE(open_code(dir / "store", OpenMode::Write), ErrorCode::Interrupted) << name;
    EXPECT_NE(open_code(dir / "store", OpenMode::ReadOnly), ErrorCode::Interrupted) << name;
  }
}

TEST(Store, AnEmptyDataFileIsDamageAndNotAnEmptyLog) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  fs::resize_file(dir / "store" / "log" / "data.mdb", 0);
  EXPECT_EQ(open_code(dir / "store"), ErrorCode::Damaged);
  EXPECT_EQ(fs::file_size(dir / "store" / "log" / "data.mdb"), 0U);
}

void rewrite(const fs::path& path, const std::string& from, const std::string& to) {
  std::string text = file_bytes(path);
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
  std::ofstream(path, std::ios::trunc) << text;
}

TEST(Store, ADescriptionThatWasEditedIsDamagedAndANewerOneIsNamed) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  const fs::path path = dir / "store" / "store.json";
  const std::string sound = file_bytes(path);
  rewrite(path, "\"format\": 2", "\"format\": 1");
  EXPECT_EQ(open_code(dir / "store"), ErrorCode::Damaged);
  // (its checksum, worked out once outside: XXH3-64 of the other members without white space)
  std::ofstream(path, std::ios::trunc) << R"({"checksum": "CHECKSUM", "format": 3, "anything": [1, 2]})";
  rewrite(path, "CHECKSUM", "ed13927d3ba2b3ff");
  const auto newer = open_store(dir / "store", OpenMode::ReadOnly);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::NewerFormat) << newer.error().message;
  EXPECT_THAT(newer.error().message, HasSubstr("store format 3"));
  for (const char* text : {"", "{", "[]", "null", "{\"checksum\": 7}", "\xff\xfe"}) {
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_EQ(open_code(dir / "store"), ErrorCode::Damaged) << text;
  }
  std::ofstream(path, std::ios::trunc) << std::string(1 << 20, '[');
  EXPECT_EQ(open_code(dir / "store"), ErrorCode::Damaged);
  std::ofstream(path, std::ios::trunc) << sound;
  EXPECT_EQ(open_code(dir / "store"), ErrorCode::Interrupted);
}

TEST(Store, TheLogOfAnotherStoreIsNoticed) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "a"));
  ASSERT_TRUE(init_store(dir / "b"));
  fs::copy_file(dir / "a" / "store.json", dir / "b" / "store.json", fs::copy_options::overwrite_existing);
  const auto mixed = open_store(dir / "b", OpenMode::Write);
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code, ErrorCode::Damaged);
  EXPECT_THAT(mixed.error().message, HasSubstr("another store"));
}

// ---- one writer ----------------------------------------------------------------------------------------------------

TEST(Store, ASecondWriterIsToldThePid) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  EXPECT_EQ(*store_owner(dir / "store"), 0);
  Process holder({LOG_TEST_HELPER, "hold", dir / "store"});
  ASSERT_EQ(holder.read_line(), "holding");
  EXPECT_EQ(*store_owner(dir / "store"), holder.pid());
  const auto second = open_store(dir / "store", OpenMode::Write);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Locked);
  EXPECT_THAT(second.error().message, HasSubstr("pid " + std::to_string(holder.pid())));
  EXPECT_EQ(open_code(dir / "store", OpenMode::ReadOnly), ErrorCode::Interrupted);
  holder.kill();
  EXPECT_EQ(*store_owner(dir / "store"), 0);
  EXPECT_EQ(open_code(dir / "store"), ErrorCode::Interrupted);
}

TEST(Store, P49_OpeningTwiceInOneProcessIsRefused) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  fs::create_directory_symlink(dir / "store", dir / "link");
  {
    const auto reader = open_store(dir / "store", OpenMode::ReadOnly);
    ASSERT_TRUE(reader);
    for (const char* name : {"store", "link"}) {
      const auto second = open_store(dir / name, OpenMode::ReadOnly);
      ASSERT_FALSE(second);
      EXPECT_EQ(second.error().code, ErrorCode::Locked);
      EXPECT_THAT(second.error().message, HasSubstr("already open in this process"));
    }
  }
  EXPECT_EQ(open_code(dir / "store"), ErrorCode::Interrupted);
}

TEST(Store, AReaderFollowsALiveWriter) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  const auto writer = open_store(dir / "store", OpenMode::Write);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(append_records(*writer->log, 3));
  Process reader({LOG_TEST_HELPER, "read", dir / "store"});
  ASSERT_EQ(reader.read_line(), "reading");
  ASSERT_TRUE(append_records(*writer->log, 300, 3000));
  ASSERT_TRUE(writer->log->trim(Seq{250}));
  EXPECT_EQ(reader.finish(), 0);
}

TEST(Store, AReaderOpensBesideABusyWriter) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  const auto writer = open_store(dir / "store", OpenMode::Write);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(append_records(*writer->log, 3));
  std::atomic<bool> enough{false};
  std::thread busy([&] {
    for (std::size_t i = 0; !enough; ++i) {
      ASSERT_TRUE(append_records(*writer->log, 1, i * 37 % 9000 + 8));
      if (i % 50 != 49) continue;
      ASSERT_TRUE(writer->log->trim(Seq{writer->log->head()->seq.value - 20}));
    }
  });
  for (int i = 0; i < 20; ++i) {
    Process reader({LOG_TEST_HELPER, "read", dir / "store"});
    EXPECT_EQ(reader.read_line(), "reading");
    EXPECT_EQ(reader.finish(), 0);
  }
  enough = true;
  busy.join();
}

TEST(Store, AReaderMayNotWrite) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  ASSERT_TRUE(append_records(*open_store(dir / "store", OpenMode::Write)->log, 3));
  const auto reader = open_store(dir / "store", OpenMode::ReadOnly);
  EXPECT_EQ(append_records(*reader->log, 1).error().code, ErrorCode::Usage);
  EXPECT_EQ(reader->log->trim(Seq{2}).error().code, ErrorCode::Usage);
}

TEST(Store, P44_AWriterInAnotherPidNamespaceIsNotReadBeside) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  Process holder({LOG_TEST_HELPER, "hold", dir / "store"});
  ASSERT_EQ(holder.read_line(), "holding");
  const std::string text = "pid 1\nstart 7\npidns 12345678\n" + std::string(98, ' ');
  testing::overwrite(dir / "store" / "log" / "redo", kWriterTextAt, text);
  const auto reader = open_store(dir / "store", OpenMode::ReadOnly);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::StorageFailed);
  EXPECT_THAT(reader.error().message, HasSubstr("pid namespace"));
  EXPECT_EQ(*store_owner(dir / "store"), 1);
}

// ---- copies that cannot be written
// -------------------------------------------------------------------------------------

TEST(Store, ReadsACopyWithoutPermissionToWriteAndLeavesItAlone) {
  TempDir dir;
  ASSERT_TRUE(init_store(dir / "store"));
  ASSERT_TRUE(append_records(*open_store(dir / "store", OpenMode::Write)->log, 20, 500));
  fs::remove(dir / "store" / "log" / "lock.mdb");
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  for (const auto& entry : fs::recursive_directory_iterator(dir / "store")) {
    ASSERT_EQ(::chmod(entry.path().c_str(), entry.is_directory() ? 0555 : 0444), 0);
  }
  EXPECT_EQ(in_child([&]() -> std::string {
              if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return "cannot become nobody";
              const auto store = open_store(dir / "store", OpenMode::ReadOnly);
              if (!store) return store.error().message;
              const auto records = read_all(*store->log, Seq{1});
              if (!records || records->size() != 20) return "not all records";
              if (open_code(dir / "store") != ErrorCode::StorageFailed) return "opened for writing";
              return "";
            }),
            "");
  EXPECT_FALSE(fs::exists(dir / "store" / "log" / "lock.mdb"));
  for (const auto& entry : fs::recursive_directory_iterator(dir / "store")) ::chmod(entry.path().c_str(), 0755);
}

// ---- init and crashes
// ----------------------------------------------------------------------------------------------------

TEST(Store, P8_InitKilledAtAnyCallLeavesAStoreOrNone) {
  TempDir dir;
  const fs::path target = dir / "store";
  bool finished = false;
  int stores = 0;
  for (std::uint64_t at = 1; !finished; ++at) {
    ASSERT_LT(at, 200U);
    const std::string ended = in_child([&]() -> std::string {
      testing::arm({.fault = testing::Fault::Kill, .at = at});
      const auto made = init_store(target);
      return made ? "" : made.error().message;
    });
    finished = ended == "";
    ASSERT_TRUE(finished || ended == "crashed") << ended;
    if (fs::exists(target)) {
      ASSERT_EQ(open_code(target), ErrorCode::Interrupted) << "killed at call " << at;
      ++stores;
      fs::remove_all(target);
    } else {
      ASSERT_EQ(open_code(target), ErrorCode::NotAStore);
    }
    ASSERT_TRUE(init_store(target));  // the next start succeeds, and clears what was left
    ASSERT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1) << "killed at call " << at;
    fs::remove_all(target);
  }
  EXPECT_GE(stores, 1);
}

TEST(Store, P19_InitSaysWhichCallFailedAndLeavesNothing) {
  TempDir dir;
  bool finished = false;
  for (std::uint64_t at = 1; !finished; ++at) {
    ASSERT_LT(at, 200U);
    testing::arm({.fault = testing::Fault::Error, .at = at, .error = ENOSPC});
    const auto made = init_store(dir / "store");
    const bool all_done = testing::armed_calls() < at;
    testing::disarm();
    finished = all_done;
    if (made) {
      ASSERT_TRUE(all_done || fs::exists(dir / "store")) << at;
      ASSERT_EQ(open_code(dir / "store"), ErrorCode::Interrupted);
    } else {
      EXPECT_THAT((std::vector{ErrorCode::DiskFull, ErrorCode::OutcomeUnknown}), ::testing::Contains(made.error().code))
          << made.error().message;
    }
    fs::remove_all(dir / "store");
    EXPECT_TRUE(fs::is_empty(dir.path())) << at;
  }
}

}  // namespace
}  // namespace lockstep
