// The lifecycle table, whole: every phase with every trigger, against a recorded table, so that no pair changes its
// meaning unseen. And the numbers of phases on disk, which Boost.MSM must never decide (P92).

#include "statemachine/lifecycle.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lockstep {
namespace {

const std::filesystem::path kGolden =
    std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/golden/statemachine/lifecycle.txt";

std::string table() {
  std::ostringstream text;
  for (int phase = 1; phase < static_cast<int>(kGroupPhaseCount); ++phase) {
    for (int trigger = 0; trigger <= static_cast<int>(GroupTrigger::Cancel); ++trigger) {
      const auto to = next_phase(static_cast<GroupPhase>(phase), static_cast<GroupTrigger>(trigger));
      text << name(static_cast<GroupPhase>(phase)) << ' ' << name(static_cast<GroupTrigger>(trigger)) << " -> "
           << (to ? name(*to) : "refused") << '\n';
    }
  }
  return text.str();
}

TEST(Lifecycle, EveryPhaseWithEveryTriggerIsAsRecorded) {
  if (std::getenv("LOCKSTEP_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(kGolden)) {
    std::ofstream(kGolden) << table();
  }
  std::ifstream file(kGolden);
  ASSERT_TRUE(file) << kGolden << " is missing; LOCKSTEP_WRITE_GOLDEN=1 records it";
  std::ostringstream recorded;
  recorded << file.rdbuf();
  EXPECT_EQ(table(), recorded.str());
}

TEST(Lifecycle, TerminalPhasesRefuseEverything) {
  for (const GroupPhase phase : {GroupPhase::Succeeded, GroupPhase::Failed, GroupPhase::Cancelled}) {
    for (int trigger = 0; trigger <= static_cast<int>(GroupTrigger::Cancel); ++trigger) {
      EXPECT_EQ(next_phase(phase, static_cast<GroupTrigger>(trigger)), std::nullopt) << name(phase);
    }
  }
}

TEST(Lifecycle, APhaseThatIsNoneIsRefused) {
  EXPECT_EQ(next_phase(GroupPhase::None, GroupTrigger::Submit), std::nullopt);
  EXPECT_EQ(next_phase(static_cast<GroupPhase>(99), GroupTrigger::Submit), std::nullopt);
}

TEST(Lifecycle, P92PhaseNumbersOnDiskAreFixed) {
  const char* const kGroup[] = {"None",       "Defined",  "Pending", "Reserving", "Placed",    "Starting", "Running",
                                "Recovering", "Stopping", "Backoff", "Suspended", "Succeeded", "Failed",   "Cancelled"};
  for (std::size_t number = 0; number < kGroupPhaseCount; ++number) {
    EXPECT_EQ(name(static_cast<GroupPhase>(number)), kGroup[number]);
  }
  const char* const kMember[] = {"None",    "Waiting",  "Reserved",  "Placed", "Armed", "Starting",
                                 "Running", "Stopping", "Succeeded", "Failed", "Lost",  "Stopped"};
  for (std::size_t number = 0; number < kMemberPhaseCount; ++number) {
    EXPECT_EQ(name(static_cast<MemberPhase>(number)), kMember[number]);
  }
}

}  // namespace
}  // namespace lockstep
