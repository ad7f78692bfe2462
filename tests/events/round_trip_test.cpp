// What goes into the codec comes out of it. Shown for every kind of event and command with every field set to a value
// that is not its default, by a filler that goes by LOCKSTEP_FIELDS: a field that the codec forgets, or two that it
// mixes up, fail here without a line of this file being changed. Then for random values, empty lists and edges.

#include <algorithm>
#include <boost/pfr.hpp>
#include <set>

#include "events/codec.h"
#include "tests/events/filler.h"

namespace lockstep {
namespace {

// What filler::bytes_of compares, and counting_event fills, by hand.
static_assert(boost::pfr::tuple_size_v<Event> == 7, "a field of Event that the tests do not compare");
static_assert(boost::pfr::tuple_size_v<Command> == 5, "a field of Command that the tests do not compare");

constexpr Seq kFirst{1'000'000};

std::vector<std::byte> encoded(std::span<const Event> events) {
  std::vector<std::byte> bytes;
  encode_events(events, bytes);
  return bytes;
}

// Paths of the leaves of `value` that are as in `fresh`; lists must have elements, which are compared with fresh ones.
template <class T>
void find_defaults(const T& value, const T& fresh, const std::string& path, std::vector<std::string>& found) {
  if constexpr (filler::kIsVariant<T>) {
    std::visit([&](const auto& body) { find_defaults(body, std::remove_cvref_t<decltype(body)>{}, path, found); },
               value);
  } else if constexpr (WalkShared<T>) {
    find_defaults(*value, *fresh, path, found);
  } else if constexpr (WalkVector<T>) {
    if (value.empty()) found.push_back(path);
    for (const auto& element : value) find_defaults(element, typename T::value_type{}, path + "[]", found);
  } else if constexpr (Described<T>) {
    for_each_field(value, fresh, [&](std::string_view name, const auto& a, const auto& b) {
      find_defaults(a, b, path + "." + std::string(name), found);
    });
  } else if (value == fresh) {
    found.push_back(path);
  }
}

TEST(RoundTrip, TheFillerLeavesNoFieldOfAnEventOrCommandAtItsDefault) {
  std::vector<std::string> found;
  for (std::size_t kind = 0; kind < kEventKindCount; ++kind) {
    const Event event = filler::counting_event(kind, kFirst);
    find_defaults(event.body, EventBody{}, std::string(name(lockstep::kind(event))), found);
  }
  for (std::size_t kind = 0; kind < std::variant_size_v<CommandBody>; ++kind) {
    find_defaults(filler::counting_command(kind).body, CommandBody{}, "command " + std::to_string(kind), found);
  }
  EXPECT_EQ(found, std::vector<std::string>{});
}

TEST(RoundTrip, EveryKindOfEventKeepsEveryField) {
  for (std::size_t kind = 0; kind < kEventKindCount; ++kind) {
    const Event event = filler::counting_event(kind, kFirst);
    SCOPED_TRACE(name(lockstep::kind(event)));
    const auto bytes = encoded({&event, 1});
    EXPECT_EQ(bytes.size() % 8, 0U);
    const auto back = decode_events(bytes, kFirst, 1);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->size(), 1U);
    EXPECT_EQ(filler::bytes_of(back->front()), filler::bytes_of(event));
  }
}

TEST(RoundTrip, AnEventWithNothingInItIsStillThere) {
  for (std::size_t kind = 0; kind < kEventKindCount; ++kind) {
    Event event = filler::counting_event(kind, Seq{1});
    event.prev = event.cause = Seq{};
    std::visit([](auto& body) { body = {}; }, event.body);
    SCOPED_TRACE(name(lockstep::kind(event)));
    const auto bytes = encoded({&event, 1});
    const auto back = decode_events(bytes, Seq{1}, 1);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(filler::bytes_of(back->front()), filler::bytes_of(event));
  }
}

TEST(RoundTrip, EveryKindOfCommandAndOfActionKeepsEveryField) {
  std::vector<Command> commands;
  for (std::size_t kind = 0; kind < std::variant_size_v<CommandBody>; ++kind) {
    commands.push_back(filler::counting_command(kind));
  }
  filler::Counting counting;
  ApplyPlan all;
  filler::fill(counting, all);
  all.plan.actions.resize(std::variant_size_v<PlanAction>);
  for (std::size_t i = 0; i < all.plan.actions.size(); ++i) filler::fill_variant(counting, all.plan.actions[i], i);
  commands.push_back(Command{1, 2, Time{3}, Actor::Scheduler, all});
  for (const Command& command : commands) {
    SCOPED_TRACE("command " + std::to_string(command.body.index()));
    std::vector<std::byte> bytes;
    encode_command(command, bytes);
    EXPECT_EQ(bytes.size() % 8, 0U);
    const auto back = decode_command(bytes);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(filler::bytes_of(*back), filler::bytes_of(command));
  }
}

TEST(RoundTrip, RandomBatchesKeepEverything) {
  filler::Random random(filler::seed());
  for (int round = 0; round < 300; ++round) {
    std::vector<Event> events(1 + random.pick(20));
    for (std::size_t i = 0; i < events.size(); ++i) {
      Event& event = events[i];
      event.seq = Seq{kFirst.value + i};
      event.prev = Seq{random.pick(event.seq.value)};
      event.cause = Seq{random.pick(event.seq.value)};
      filler::fill(random, event.time);
      filler::fill(random, event.actor);
      filler::fill(random, event.group);
      filler::fill(random, event.body);
    }
    const auto back = decode_events(encoded(events), kFirst, static_cast<std::uint32_t>(events.size()));
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(filler::bytes_of((*back)[i]), filler::bytes_of(events[i])) << name(kind(events[i]));
    }
  }
}

TEST(RoundTrip, RandomCommandsKeepEverything) {
  filler::Random random(filler::seed());
  for (int round = 0; round < 1'000; ++round) {
    Command command;
    filler::fill(random, command.actor);
    filler::fill(random, command.body);
    std::vector<std::byte> bytes;
    encode_command(command, bytes);
    const auto back = decode_command(bytes);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(filler::bytes_of(*back), filler::bytes_of(command)) << command.body.index();
  }
}

TEST(RoundTrip, EncodingAppendsToWhateverIsThereAndDecodesAtAnyAlignment) {
  const Event event = filler::counting_event(8, kFirst);  // GroupDefined: the deepest
  for (std::size_t before = 0; before < 17; ++before) {
    std::vector<std::byte> bytes(before, std::byte{0xaa});
    encode_events({&event, 1}, bytes);
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(before),
                            [](std::byte byte) { return byte == std::byte{0xaa}; }));
    const auto back = decode_events(std::span(bytes).subspan(before), kFirst, 1);
    ASSERT_TRUE(back) << before << ": " << back.error().message;
    EXPECT_EQ(filler::bytes_of(back->front()), filler::bytes_of(event));
  }
}

TEST(RoundTrip, EqualEventsGiveEqualBytesWhereverTheyAreWritten) {
  const Event event = filler::counting_event(13, kFirst);
  std::vector<std::byte> used(1'000, std::byte{0xff});
  used.clear();
  encode_events({&event, 1}, used);  // into memory that held something else
  EXPECT_EQ(used, encoded({&event, 1}));
}

TEST(RoundTrip, AGroupOfAHundredThousandMembersIsOneEvent) {
  Event event;
  event.seq = kFirst;
  GroupPlaced placed{3, "b1/r1", {}, {}};
  for (std::uint32_t i = 0; i < 100'000; ++i) placed.members.push_back({{1, i}, {{HostId{i + 1}, 0, 8}}});
  event.body = placed;
  const auto back = decode_events(encoded({&event, 1}), kFirst, 1);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<GroupPlaced>(back->front().body).members, placed.members);
}

using RoundTripDeathTest = testing::Test;

TEST(RoundTripDeathTest, WhatCouldNotBeReadAgainIsNeverWritten) {
  Event event = filler::counting_event(0, kFirst);
  std::vector<std::byte> bytes;
  event.prev = event.seq;
  EXPECT_DEATH(encode_events({&event, 1}, bytes), "CheckFailed.*not before it");
  event.prev = Seq{};
  event.seq = Seq{};
  EXPECT_DEATH(encode_events({&event, 1}, bytes), "CheckFailed.*seq out of line");
  event = filler::counting_event(2, kFirst);
  event.actor = static_cast<Actor>(200);
  EXPECT_DEATH(encode_events({&event, 1}, bytes), "CheckFailed.*no such code: 200");
  EXPECT_DEATH(encode_events({}, bytes), "CheckFailed.*batch without events");
}

}  // namespace
}  // namespace lockstep
