// The digest is kept event by event and must equal one computed from scratch; equal histories have equal digests, and
// one that differs in a single fact has another.
// Shows R22.

#include "statemachine/digest.h"

#include <gtest/gtest.h>

#include "statemachine/apply.h"
#include "tests/statemachine/world.h"

namespace lockstep {
namespace {

const char* const kPair = "{roles: [{name: w, replicas: 2, tasks: '1*{cpu=8}'}]}";

TEST(Digest, AnEmptyStateHasDigestZero) {
  EXPECT_EQ(compute_digest(State{}), Digest{});
  EXPECT_EQ(State{}.digest(), Digest{});
}

TEST(Digest, TheKeptOneEqualsAComputedOneAfterEveryEvent) {
  World world(2);
  const GroupId id = world.define("g", kPair);
  world.bring_to_running(id);
  State replayed;
  for (const Event& event : world.events) {
    apply(replayed, event);
    ASSERT_EQ(replayed.digest(), compute_digest(replayed)) << "at seq " << event.seq.value;
  }
  EXPECT_EQ(replayed.digest(), world.state.digest());
}

TEST(Digest, OneFactMakesADifference) {
  World world(2);
  const GroupId id = world.define("g", kPair);
  State other = world.state;
  other.groups.find(id)->head.late_reports += 1;
  EXPECT_NE(compute_digest(other), world.state.digest());
  other = world.state;
  other.groups.find(id)->roles[0].members[1].exit_code = 1;
  EXPECT_NE(compute_digest(other), world.state.digest());
}

TEST(Digest, ACopyOfAStateIsAnotherState) {
  World world(2);
  const GroupId id = world.define("g", kPair);
  State copy = world.state;
  world.bring_to_running(id);
  EXPECT_EQ(copy.group(id)->head.phase, GroupPhase::Pending);
  EXPECT_EQ(check_invariants(copy), "");
}

TEST(Digest, ItsTextIsThirtyTwoHexDigits) {
  EXPECT_EQ(hex(Digest{0x0123456789abcdefU, 1}), "0123456789abcdef0000000000000001");
}

}  // namespace
}  // namespace lockstep
