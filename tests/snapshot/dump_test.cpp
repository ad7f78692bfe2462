// The JSON of a state and of every event: valid, complete (as many values as the walk has), named in lowerCamelCase.

#include <gtest/gtest.h>

#include "leaves.h"
#include "snapshot/snapshot.h"
#include "snapshot/walk_json.h"

namespace lockstep::test {
namespace {

// Values that are no object or array.
std::size_t count_values(const Json& json) {
  if (!json.is_structured()) return 1;
  std::size_t count = 0;
  for (const auto& element : json) count += count_values(element);
  return count;
}

void check_names(const Json& json) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      EXPECT_EQ(key.find('_'), std::string::npos) << key;
      EXPECT_FALSE(key.empty());
    }
  }
  if (json.is_structured()) {
    for (const auto& element : json) check_names(element);
  }
}

TEST(Dump, HoldsEveryFactOfAState_P3) {
  State state = filled_state();
  std::size_t leaves = 0;
  const auto count = [&](const std::string&, const auto&) { ++leaves; };
  for_each_leaf("", state.head, count);
  state.hosts.for_each([&](Host& host) { for_each_leaf("", host, count); });
  for_each_leaf("", state.pools, count);
  for_each_leaf("", state.claims, count);
  for_each_leaf("", state.clients, count);
  for (const auto& [hash, entry] : state.specs) for_each_leaf("", *entry.spec, count);
  std::size_t keys = 0;  // of maps keyed by structs: their fields stand beside the value's
  state.groups.for_each([&](Group& group) {
    for_each_leaf("", group, count);
    keys += 3 * group.claims.size() + 2 * group.member_charges.size();
  });
  const Json json = Json::parse(dump_json(state));
  EXPECT_EQ(count_values(json), leaves + keys + 1);  // and the digest
  check_names(json);
  EXPECT_EQ(json["digest"], hex(state.digest()));
  EXPECT_EQ(json["groups"].size(), 3U);
  EXPECT_EQ(json["groups"][0]["roles"][1]["members"][1]["hosts"][0]["host"], 1);
  EXPECT_EQ(json["hosts"][1]["id"], 2);
  EXPECT_EQ(json["pools"]["license.sim"].size(), 1U);
}

TEST(Dump, ShowsAGroupWithItsHeadAsItsOwnFields) {
  const Json json = Json::parse(dump_json(small_state()));
  const Json& group = json["groups"][0];
  EXPECT_EQ(group["id"], 1);
  EXPECT_EQ(group["identity"]["name"], "train");
  EXPECT_EQ(group["phase"], "Running");
  EXPECT_EQ(group["roles"][0]["members"][0]["exitCode"], 0);
  EXPECT_EQ(json["seq"], 42);
  EXPECT_EQ(json["time"], 1'000'000'000);
  EXPECT_TRUE(json["specs"].contains(group["spec"].get<std::string>()));
}

TEST(Dump, ShowsAnEventOnOneLine) {
  Event event;
  event.seq = Seq{9};
  event.prev = Seq{7};
  event.cause = Seq{8};
  event.time = Time{5'000'000'000};
  event.actor = Actor::Scheduler;
  event.group = GroupId{3};
  event.body = GroupPlaced{2, "b1/r1", {{{0, 4}, {{HostId{1}, 0, 2}}}}, {}};
  EXPECT_EQ(dump_json(event),
            R"({"seq":9,"prev":7,"cause":8,"time":5000000000,"actor":"Scheduler","group":3,"kind":"GroupPlaced",)"
            R"("attempt":2,"domain":"b1/r1","members":[{"member":{"role":0,"index":4},)"
            R"("slices":[{"host":1,"term":0,"count":2}]}],"spares":[]})");
}

// No field of any body is hidden behind one of the seven that every event has, and none is left out.
TEST(Dump, HoldsEveryFieldOfEveryKindOfEvent) {
  std::size_t kinds = 0;
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, EventBody>>([&](auto type) {
    typename decltype(type)::type body;
    Filler filler;
    filler.fill(body);
    Event event;
    event.body = body;
    const std::string text = dump_json(event);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const Json json = Json::parse(text);
    std::size_t leaves = 0;
    const auto count = [&](const std::string&, const auto&) { ++leaves; };
    for_each_leaf("", body, count);
    EXPECT_EQ(count_values(json), 7 + leaves) << text;
    EXPECT_EQ(json["kind"], name(kind(event)));
    check_names(json);
    ++kinds;
  });
  EXPECT_EQ(kinds, kEventKindCount);
}

TEST(Dump, MakesJsonOfBytesThatAreNoText) {
  State state = small_state();
  state.groups.find(GroupId{1})->head.identity.user = "\xff\xfe\"\n";
  const Json json = Json::parse(dump_json(state));
  EXPECT_EQ(json["groups"][0]["identity"]["user"], "\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

TEST(Dump, NamesAreLowerCamelCase) {
  EXPECT_EQ(camel("exit_code"), "exitCode");
  EXPECT_EQ(camel("max_restarts_per_role"), "maxRestartsPerRole");
  EXPECT_EQ(camel("at"), "at");
}

}  // namespace
}  // namespace lockstep::test
