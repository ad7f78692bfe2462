// The JSON of DESIGN.md section 7: its names, what is null, and that every key is always there.
#include "tools/lockstep/view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "tests/tools/small_world.h"

namespace lockstep::cli {
namespace {

using ::lockstep::testing::small_manifest;
using ::lockstep::testing::SmallWorld;

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> names;
  for (const auto& [key, value] : json.items()) names.push_back(key);
  return names;
}

TEST(GroupJson, HasTheKeysOfTheDesignInEveryPhase) {
  SmallWorld world;
  const GroupId id = world.define(small_manifest("train"));
  const std::vector<std::string> wanted{"id",      "name",      "user",      "queue",   "priority", "phase",
                                        "attempt", "charged",   "submitted", "reason",  "end",      "domain",
                                        "held",    "deadlines", "roles",     "members", "claims"};
  EXPECT_EQ(keys(group_json(world.state(), world.group(id), Members::Show)), wanted);
  world.schedule();
  EXPECT_EQ(keys(group_json(world.state(), world.group(id), Members::Show)), wanted);
  world.execute(GroupCommand{GroupVerb::Cancel, id});
  EXPECT_EQ(keys(group_json(world.state(), world.group(id), Members::Show)), wanted);
}

TEST(GroupJson, HasSparesWhereThereAreSome) {
  SmallWorld world;
  const GroupId id =
      world.define("kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, spares: 1, tasks: '1*{cpu=1}'}]}\n");
  world.schedule();
  const Json spares = group_json(world.state(), world.group(id), Members::Show)["spares"];
  ASSERT_EQ(spares.size(), 1U);
  EXPECT_EQ(spares[0]["role"], "w");
  EXPECT_EQ(spares[0]["hosts"].size(), 1U);
}

TEST(GroupJson, OfAListHasNoMembers) {
  SmallWorld world;
  world.define(small_manifest("train"));
  const Json list = groups_json(world.state(), Members::Hide);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_FALSE(list[0].contains("members"));
}

TEST(GroupJson, OfAPlacedGroupSaysWhereItIsAndWhatItHolds) {
  SmallWorld world;
  const GroupId id = world.define(small_manifest("train"));
  world.schedule();
  const Json group = group_json(world.state(), world.group(id), Members::Show);
  EXPECT_EQ(group["phase"], "Placed");
  EXPECT_EQ(group["attempt"], 1);
  EXPECT_EQ(group["domain"], "A");
  EXPECT_EQ(group["held"]["cpu"], 4.5) << "cores, not thousandths";
  EXPECT_EQ(group["held"]["gpu"], 2);
  EXPECT_TRUE(group["end"].is_null());
  EXPECT_EQ(group["reason"]["code"], "WaitingForClaim");
  EXPECT_EQ(keys(group["reason"]), (std::vector<std::string>{"code", "role", "resource", "needed", "free", "domain",
                                                             "blockers", "since", "projectedStart"}));
  EXPECT_TRUE(group["deadlines"].contains("start"));
  EXPECT_EQ(group["roles"][1], (Json{{"name", "worker"}, {"replicas", 2}, {"min", 1}, {"max", 4}}));
  ASSERT_EQ(group["members"].size(), 3U);
  EXPECT_EQ(keys(group["members"][0]),
            (std::vector<std::string>{"role", "index", "phase", "attempt", "hosts", "exitCode", "signal"}));
  EXPECT_EQ(group["members"][0]["hosts"].size(), 1U);
  EXPECT_TRUE(group["members"][0]["exitCode"].is_null());
  ASSERT_EQ(group["claims"].size(), 2U);
  EXPECT_EQ(keys(group["claims"][0]), (std::vector<std::string>{"name", "role", "index", "phase"}));
}

TEST(GroupJson, OfAnEndedGroupSaysHow) {
  SmallWorld world;
  const GroupId id = world.define(small_manifest("train"));
  world.execute(GroupCommand{GroupVerb::Cancel, id});
  const Json group = group_json(world.state(), world.group(id), Members::Show);
  EXPECT_EQ(group["phase"], "Cancelled");
  EXPECT_TRUE(group["reason"].is_null());
  EXPECT_EQ(group["end"]["code"], "Cancelled");
  EXPECT_EQ(keys(group["end"]), (std::vector<std::string>{"code", "scope", "role", "member", "exitCode"}));
  EXPECT_EQ(group["held"], Json::object());
  EXPECT_TRUE(group["domain"].is_null());
}

TEST(StateJson, HasSeqEpochTimeDigestAndAllEntities) {
  SmallWorld world;
  world.define(small_manifest("train"));
  world.schedule();
  const Json state = state_json(world.state());
  EXPECT_EQ(keys(state),
            (std::vector<std::string>{"seq", "epoch", "time", "digest", "groups", "hosts", "claims", "pools"}));
  EXPECT_EQ(state["seq"], world.state().head.seq.value);
  EXPECT_EQ(state["time"], "1970-01-01T00:16:40.000000000Z");
  EXPECT_EQ(state["digest"].get<std::string>().size(), 32U);
  EXPECT_EQ(state["hosts"].size(), 2U);
  EXPECT_EQ(state["hosts"][0]["capacity"]["cpu"], 8);
  EXPECT_EQ(state["pools"]["license.matlab"], (Json{{"total", 2}, {"free", 2}}));
  EXPECT_EQ(state["claims"][0]["name"], "dataset");
  EXPECT_EQ(state["claims"][0]["users"], Json::array({"train"}));
}

TEST(FindGroup, TakesANameAnIdOrBoth) {
  SmallWorld world;
  const GroupId first = world.define(small_manifest("train"));
  world.execute(GroupCommand{GroupVerb::Cancel, first});
  const GroupId second = world.define(small_manifest("train"));
  const auto found = [&](std::string_view key) {
    const Group* group = find_group(world.state(), key);
    return group == nullptr ? GroupId{} : group->head.id;
  };
  EXPECT_EQ(found("train"), second);
  EXPECT_EQ(found("#1"), first);
  EXPECT_EQ(found("1"), first);
  EXPECT_EQ(found("train#1"), first);
  for (const char* key : {"", "#", "#3", "other", "other#1", "train#", "train#x", "99999999999999999999"}) {
    EXPECT_EQ(found(key), GroupId{}) << key;
  }
}

TEST(ClaimsJson, NamesTheirGroupAndUsers) {
  SmallWorld world;
  world.define(small_manifest("train"));
  world.schedule();
  const Json claims = claims_json(world.state());
  ASSERT_EQ(claims.size(), 2U);
  EXPECT_TRUE(claims[0]["group"].is_null());
  EXPECT_EQ(claims[0]["name"], "dataset");
  EXPECT_EQ(claims[1]["group"], "train");
  EXPECT_EQ(claims[1]["phase"], "Provisioning");
}

}  // namespace
}  // namespace lockstep::cli
