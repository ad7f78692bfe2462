// doctor: what it says of a sound store, of one that is not, and of where a store may stand.

#include <gmock/gmock.h>

#include <fstream>

#include "tests/tools/command_fixture.h"
#include "tools/lockstep/doctor.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;

class Doctor : public CommandTest {
 protected:
  static nlohmann::json about(const nlohmann::json& findings, const std::string& what) {
    for (const auto& finding : findings) {
      if (finding.at("about") == what) return finding;
    }
    ADD_FAILURE() << "nothing about " << what << " in " << findings;
    return {};
  }
};

TEST_F(Doctor, FindsASoundStoreSound) {
  init();
  const auto findings = json({"doctor"});
  for (const char* what : {"versions", "filesystem", "mount", "space", "lock", "log", "readers", "snapshots", "clock"})
    EXPECT_NE(about(findings, what).at("health"), "wrong") << what;
  EXPECT_THAT(about(findings, "lock").at("text"), HasSubstr("no controller"));
  EXPECT_THAT(about(findings, "versions").at("text"), HasSubstr("store format 2"));
  EXPECT_THAT(command({"doctor"}).out, HasSubstr("good     log         seq 1 to "));
}

TEST_F(Doctor, SaysWhatIsWrongWithADamagedOneAndWhatItCouldSeeBefore) {
  init();
  std::filesystem::resize_file(store() + "/log/redo", 5000);
  const Ran ran = command({"doctor"});
  expect_failure(ran, 3, "Damaged");
  EXPECT_THAT(ran.err, HasSubstr("log/redo"));
  EXPECT_THAT(ran.out, HasSubstr("space"));
  expect_failure(lockstep({"doctor", "--store", (dir_.path() / "nowhere").string()}), 3, "NotAStore");
}

TEST_F(Doctor, TellsOfASnapshotThatCannotBeRead) {
  init();
  const std::string path = json({"snapshot", "create"}).at("path");
  std::filesystem::resize_file(path, 100);
  const auto finding = about(json({"doctor"}), "snapshots");
  EXPECT_EQ(finding.at("health"), "warning");
  EXPECT_THAT(finding.at("text"), HasSubstr(std::filesystem::path(path).filename().string()));
}

TEST(DoctorMount, TakesTheInnermostMountAndKnowsTheOptionsThatLoseData) {
  const std::string text =
      "1 0 8:1 / / rw,relatime - ext4 /dev/a rw\n"
      "2 1 8:2 / /data rw,noatime - ext4 /dev/b rw,barrier=0\n"
      "3 1 8:3 / /mem rw - tmpfs tmpfs rw\n"
      "4 1 8:4 / /database ro,noatime - xfs /dev/c rw\n"
      "5 1 8:5 / /cow rw shared:1 - btrfs /dev/d rw\n";
  const auto of = [&](const char* path) { return cli::examine_mount(text, path); };
  EXPECT_EQ(of("/home/store").health, cli::Health::Good);
  EXPECT_EQ(of("/home/store").text, "ext4 on / (rw,relatime,rw)");
  EXPECT_EQ(of("/data/store").health, cli::Health::Wrong);
  EXPECT_THAT(of("/data/store").advice, HasSubstr("barriers"));
  EXPECT_EQ(of("/database/x").health, cli::Health::Wrong);
  EXPECT_EQ(of("/datastore").health, cli::Health::Good);
  EXPECT_EQ(of("/mem").health, cli::Health::Warning);
  EXPECT_EQ(of("/cow/s").health, cli::Health::Warning);
}

}  // namespace
}  // namespace lockstep::testing
