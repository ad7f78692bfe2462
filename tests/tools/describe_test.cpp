// Events in words, and a group's history found by walking back through the log.
#include "tools/lockstep/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/small_world.h"
#include "tools/lockstep/log_view.h"

namespace lockstep::cli {
namespace {

using ::lockstep::testing::small_manifest;
using ::lockstep::testing::SmallWorld;

TEST(Describe, KnowsEveryKindOfEvent) {
  // An event of each kind with nothing in it: words, whatever is missing.
  const Names names;
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, EventBody>>([&](auto kind_of) {
    Event event;
    event.body = typename decltype(kind_of)::type{};
    EXPECT_FALSE(sentence(event, names).empty()) << name(kind(event));
  });
}

TEST(Describe, SaysWhereAGroupIsPlaced) {
  SmallWorld world;
  world.define(small_manifest("train"));
  world.schedule();
  const Names names(world.state());
  std::string said;
  for (const auto& event : world.controller().last_events()) {
    if (kind(event) == EventKind::GroupPlaced) said = sentence(event, names);
  }
  EXPECT_EQ(said, "placed: attempt 1: 3 members on n1 in A");
}

TEST(Names, OfMembersAreShort) {
  SmallWorld world;
  const GroupId id = world.define(small_manifest("train"));
  const Names names(world.state());
  EXPECT_EQ(names.members(id, {{1, 3}, {0, 0}, {1, 0}, {1, 1}}), "launcher[0] worker[0-1,3]");
  EXPECT_EQ(names.member(id, {7, 1}), "#7[1]");
  EXPECT_EQ(names.host(HostId{99}), "#99");
  EXPECT_EQ(names.group(GroupId{99}), "#99");
}

TEST(History, OfAGroupIsItsEventsAloneInOrder) {
  SmallWorld world;
  const GroupId other = world.define(small_manifest("other"));
  const GroupId id = world.define(small_manifest("train"));
  world.schedule();
  world.execute(GroupCommand{GroupVerb::Cancel, other});
  const auto history = group_history(world.log(), world.state(), "train");
  ASSERT_TRUE(history) << history.error().message;
  ASSERT_GE(history->size(), 3U);
  EXPECT_EQ(kind(history->front()), EventKind::GroupDefined);
  Seq before{};
  for (const auto& event : *history) {
    EXPECT_EQ(event.group, id);
    EXPECT_EQ(event.prev, before);
    before = event.seq;
  }
  EXPECT_EQ(before, world.group(id).head.last_event);
}

TEST(History, OfAPurgedGroupIsStillThere) {
  SmallWorld world;
  const GroupId id = world.define(small_manifest("train"));
  world.execute(GroupCommand{GroupVerb::Cancel, id});
  world.execute(GroupCommand{GroupVerb::Purge, id});
  ASSERT_EQ(world.state().group(id), nullptr);
  for (const char* key : {"train", "#1"}) {
    const auto history = group_history(world.log(), world.state(), key);
    ASSERT_TRUE(history) << history.error().message;
    EXPECT_EQ(kind(history->front()), EventKind::GroupDefined);
    EXPECT_EQ(kind(history->back()), EventKind::GroupPurged);
  }
  EXPECT_FALSE(group_history(world.log(), world.state(), "other"));
}

TEST(EventJson, HasItsFactsAndItsWords) {
  SmallWorld world;
  world.define(small_manifest("train"));
  const Names names(world.state());
  const Json json = event_json(world.controller().last_events().front(), names);
  EXPECT_EQ(json["event"], "GroupDefined");
  EXPECT_EQ(json["actor"], "user");
  EXPECT_EQ(json["group"], 1);
  EXPECT_TRUE(json["facts"].is_object());
  EXPECT_EQ(json["text"], "train for ana in queue train: launcher x1, worker x2");
}

TEST(LogStat, CountsRecordsEventsAndKinds) {
  SmallWorld world;
  world.define(small_manifest("train"));
  const auto stat = log_stat(world.log());
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ((*stat)["first"], 1);
  EXPECT_EQ((*stat)["seq"], world.state().head.seq.value);
  EXPECT_EQ((*stat)["events"], world.state().head.seq.value);
  EXPECT_EQ((*stat)["kinds"]["HostAdded"], 2);
}

}  // namespace
}  // namespace lockstep::cli
