// A store that release 0.1.0 with the ring left behind when it was killed: a snapshot, records in LMDB, and the newest
// ones in the ring alone. Every later release reaches the same state from it. Never changed. Shows R16 (P10).

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "events/log/store.h"
#include "replay/recovery.h"
#include "statemachine/digest.h"
#include "tests/replay/support.h"

namespace lockstep::test {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/golden/log/valid";

class GoldenStore : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(kGolden / "format-2", store(), fs::copy_options::recursive);
    fs::create_directories(store() / "archive");
    std::ifstream file(kGolden / "format-2.txt");
    std::string key;
    std::string value;
    while (file >> key && std::getline(file >> std::ws, value)) told_[key] = value;
    ASSERT_EQ(told_.size(), 6U);
  }
  [[nodiscard]] fs::path store() const { return dir_.path() / "store"; }

  void expect_as_told(const Store& opened, const SnapshotStore* snapshots) const {
    const auto recovered = recover(*opened.log, snapshots);
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
    EXPECT_EQ(std::to_string(recovered->head.seq.value), told_.at("seq"));
    EXPECT_EQ(hex(recovered->head.hash), told_.at("hash"));
    if (std::to_string(kDigestVersion) == told_.at("digestVersion")) {
      EXPECT_EQ(hex(recovered->state.digest()), told_.at("digest"));
    }
    std::string groups;
    recovered->state.groups.for_each([&](const Group& group) {
      groups += (groups.empty() ? "" : " ") + group.head.identity.name + " " + std::string(name(group.head.phase));
    });
    EXPECT_EQ(groups, told_.at("groups"));
  }

 private:
  TempDir dir_;
  std::map<std::string, std::string> told_;
};

TEST_F(GoldenStore, OfFormatTwoIsReadWithAndWithoutItsSnapshotBeforeAndAfterAWriterCame) {
  for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::Write, OpenMode::ReadOnly}) {
    const auto opened = open_store(store(), mode);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const SnapshotStore snapshots(opened->snapshots(), opened->id);
    ASSERT_EQ(snapshots.list()->snapshots.size(), 1U);
    expect_as_told(*opened, nullptr);
    expect_as_told(*opened, &snapshots);
  }
}

}  // namespace
}  // namespace lockstep::test
