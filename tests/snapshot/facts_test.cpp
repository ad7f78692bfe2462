// Files that pass every checksum and whose digest is right, and whose facts would crash whoever takes them for a state:
// each is refused with the file and what is wrong. Then the same at random: raw bytes changed, all checksums made right
// again.
// Shows R18.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "support.h"

namespace lockstep::test {
namespace {

Group& group_of(State& state) { return *state.groups.find(GroupId{1}); }
Member& member_of(State& state) { return group_of(state).roles[0].members[0]; }

struct Lie {
  const char* what;
  std::function<void(State&)> tell;
};

// The spec with one thing changed, under its right hash.
void respec(State& state, const std::function<void(GroupSpec&)>& edit) {
  GroupSpec spec = *state.specs.begin()->second.spec;
  edit(spec);
  state.specs.clear();
  group_of(state).head.spec = content_hash(spec);
  state.specs[content_hash(spec)].spec = std::make_shared<const GroupSpec>(spec);
}

const std::vector<Lie>& lies() {
  static const std::vector<Lie> all{
      {"host 9, which is not there", [](State& s) { member_of(s).hosts[0].host = HostId{9}; }},
      {"term 3", [](State& s) { member_of(s).hosts[0].term = 3; }},
      {"0 tasks", [](State& s) { member_of(s).hosts[0].count = 0; }},
      {"4294967295 tasks", [](State& s) { member_of(s).hosts[0].count = ~0U; }},
      {"a spare holds",
       [](State& s) {
         group_of(s).roles[0].spares = {{{{HostId{2}, 0, 1}}}};
       }},
      {"[0] has no phase", [](State& s) { member_of(s).phase = MemberPhase::None; }},
      {"no phase", [](State& s) { group_of(s).head.phase = GroupPhase::None; }},
      {"other roles", [](State& s) { group_of(s).roles.emplace_back(); }},
      {"other roles", [](State& s) { group_of(s).roles.clear(); }},
      {"wants members that are not there", [](State& s) { group_of(s).roles[0].head.wanted = 2; }},
      {"too large", [](State& s) { group_of(s).roles[0].head.resize_to = ~0U; }},
      {"uses claim c",
       [](State& s) {
         respec(s, [](GroupSpec& spec) {
           spec.claims.push_back({"c", ClaimKind::Standalone, ClaimPer::Group, {}, 0});
         });
       }},
      {"lacks its claim c",
       [](State& s) {
         respec(s, [](GroupSpec& spec) { spec.claims.push_back({"c", ClaimKind::Template, ClaimPer::Group, {}, 0}); });
       }},
      {"lacks a member's claim c",
       [](State& s) {
         respec(s, [](GroupSpec& spec) { spec.claims.push_back({"c", ClaimKind::Template, ClaimPer::Member, {}, 0}); });
       }},
      {"its spec is not there", [](State& s) { ++group_of(s).head.spec.low; }},
      {"never given out", [](State& s) { s.head.group_last = GroupId{0}; }},
      {"never given out", [](State& s) { s.head.host_last = HostId{0}; }},
      {"never given out", [](State& s) { group_of(s).head.id = GroupId{~0ULL}; }},
      {"more groups", [](State& s) { s.head.group_last = group_of(s).head.id = GroupId{~0ULL}; }},
      {"too many levels", [](State& s) { s.head.levels.resize(17); }},
      {"a claim that it does not have",
       [](State& s) {
         group_of(s).claims[{0, {0, 0}}];
       }},
      {"a claim that it does not have",
       [](State& s) {
         respec(s, [](GroupSpec& spec) { spec.claims.push_back({"c", ClaimKind::Template, ClaimPer::Group, {}, 0}); });
         group_of(s).claims[{0, {4, 0}}];
       }},
      {"charges of a member",
       [](State& s) {
         group_of(s).member_charges[{1, 0}];
       }},
      {"ended by a role", [](State& s) { group_of(s).head.end.role = 1; }},
      {"negative counter", [](State& s) { s.hosts.find(HostId{1})->facts.info.counters[0].amount = -1; }},
      {"no quantity", [](State& s) { s.pools["licenses"].total = std::numeric_limits<std::int64_t>::min(); }},
      {"no phase", [](State& s) { s.claims["data"].phase = ClaimPhase::None; }},
      {"not what its hash says",
       [](State& s) {
         GroupSpec spec = *s.specs.begin()->second.spec;
         ++spec.priority;
         s.specs.begin()->second.spec = std::make_shared<const GroupSpec>(spec);
       }},
      {"no roles", [](State& s) { respec(s, [](GroupSpec& spec) { spec.roles.clear(); }); }},
      {"without tasks", [](State& s) { respec(s, [](GroupSpec& spec) { spec.roles[0].tasks.clear(); }); }},
      {"negative request",
       [](State& s) { respec(s, [](GroupSpec& spec) { spec.roles[0].tasks[0].requests[0].amount = -1; }); }},
      {"waits for one",
       [](State& s) { respec(s, [](GroupSpec& spec) {
                        spec.roles[0].after = {{1, AfterWhat::Started}};
                      }); }},
      {"too many members", [](State& s) { respec(s, [](GroupSpec& spec) { spec.roles[0].max = ~0U; }); }},
      {"a claim of a role",
       [](State& s) {
         respec(s, [](GroupSpec& spec) { spec.claims.push_back({"c", ClaimKind::Template, ClaimPer::Group, {1}, 0}); });
       }},
      {"a rule for a role",
       [](State& s) { respec(s, [](GroupSpec& spec) { spec.failure.rules.emplace_back().roles = {1}; }); }},
      {"a budget for a role",
       [](State& s) { respec(s, [](GroupSpec& spec) {
                        spec.failure.max_restarts_per_role = {{1, 1}};
                      }); }},
      {"success by a role", [](State& s) { respec(s, [](GroupSpec& spec) { spec.success.roles = {1}; }); }},
      {"has no number",
       [](State& s) {
         respec(s, [](GroupSpec& spec) { spec.roles[0].tasks[0].requests[0].amount = kQuantityMax; });
         member_of(s).hosts[0].count = kTasksPerMemberMax;
       }},
  };
  return all;
}

TEST(HostileFacts, AreRefusedWithTheFileAndWhatIsWrong) {
  for (const Lie& lie : lies()) {
    SCOPED_TRACE(lie.what);
    const TempDir dir;
    State state = small_state();
    lie.tell(state);
    state = sealed(std::move(state));
    const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
    ASSERT_TRUE(written) << written.error().message;
    const auto loaded = load_snapshot(written->path);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::Damaged);
    EXPECT_EQ(loaded.error().seq, state.head.seq);
    EXPECT_NE(loaded.error().message.find(lie.what), std::string::npos) << loaded.error().message;
    EXPECT_NE(loaded.error().message.find(written->path.string()), std::string::npos) << loaded.error().message;
  }
}

TEST(HostileFacts, WhatIsHeldMayPassSixtyFourBitsOnlyInSumsThatNobodyMakes) {
  const TempDir dir;
  State state = small_state();
  state.head.group_last = GroupId{40};
  state.head.host_last = HostId{40};
  respec(state, [](GroupSpec& spec) { spec.roles[0].tasks[0].requests[0].amount = kQuantityMax; });
  const Group like = group_of(state);
  for (std::uint32_t id = 2; id <= 40; ++id) {
    state.hosts.insert(HostId{id}).facts = {HostId{id},
                                            {"n" + std::to_string(id), {{"cpu", kQuantityMax}}, {}, {}, false, false}};
    Group& group = state.groups.insert(GroupId{id}) = like;
    group.head.id = GroupId{id};
    group.roles[0].members[0].hosts[0].host = HostId{id};
  }
  rebuild_derived(state);
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const auto loaded = load_snapshot(written->path);
  EXPECT_TRUE(loaded) << loaded.error().message;
}

// ---- at random ----------------------------------------------------------------------------------------------------

void spoil(Bytes& raw, std::mt19937_64& random) {
  const auto at = [&](std::size_t size) { return static_cast<std::ptrdiff_t>(random() % size); };
  switch (random() % 4) {
    case 0:
      raw[static_cast<std::size_t>(at(raw.size()))] = static_cast<std::byte>(random());
      break;
    case 1:
      raw[static_cast<std::size_t>(at(raw.size()))] ^= static_cast<std::byte>(1U << (random() % 8));
      break;
    case 2:
      raw.erase(raw.begin() + at(raw.size()));
      break;
    default:
      raw.insert(raw.begin() + at(raw.size()), static_cast<std::byte>(random() % 3 == 0 ? random() : 0));
      break;
  }
  if (raw.empty()) raw.emplace_back();
}

TEST(HostileFacts, AtRandomNeverCrashHangOrPassForTheState_P127) {
  const TempDir dir;
  const std::uint64_t seed = seed_of_run(20'240'817);
  std::mt19937_64 random(seed);
  const State state = filled_state();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const Parts good = take_apart(written->path);
  const auto path = dir.path() / "spoiled.lks";
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    Parts parts = good;
    auto& piece = parts.pieces[1 + random() % (parts.pieces.size() - 1)];
    for (auto left = 1 + random() % 3; left > 0; --left) spoil(piece.raw, random);
    piece.header.raw_bytes = piece.raw.size();
    if (random() % 2 == 0) parts.header.digest_version = 0;  // nothing but the facts themselves speaks against them
    write_bytes(path, assemble(parts));
    const auto loaded = load_snapshot(path);
    if (!loaded) {
      ++refused;
      EXPECT_EQ(loaded.error().code, ErrorCode::Damaged) << loaded.error().message;
    } else if (parts.header.digest_version == kDigestVersion) {
      EXPECT_EQ(fact_bytes(*loaded), fact_bytes(state)) << "round " << round << " seed " << seed;
    }
    (void)load_group(path, GroupId{3});
  }
  EXPECT_GT(refused, 700);
}

}  // namespace
}  // namespace lockstep::test
