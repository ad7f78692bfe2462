// P3, shown by machine: a state in which every field of every entity is set goes through a file and comes back the
// same, byte by byte of its facts. What is derived (caches, indexes) is compared with the live one too. The file
// itself: its chunks, its index, and that anybody's zstd reads it.
// Shows R18.

#include <gtest/gtest.h>

#include <cstdlib>

#include "snapshot/layout.h"
#include "support.h"

namespace lockstep::test {
namespace {

// Counts values that still are what a new object has: there must be none.
template <class T>
void count_defaults(const std::string& path, const T& value, const T& fresh, std::vector<std::string>& same) {
  if constexpr (WalkNumber<T> || WalkStrong<T> || std::is_same_v<T, std::string> || std::is_same_v<T, SpecHash>) {
    if (value == fresh) same.push_back(path);
  } else if constexpr (WalkVector<T>) {
    if (value.empty()) same.push_back(path);
    using Element = typename T::value_type;
    for (const auto& element : value) count_defaults(path + "[]", element, Element{}, same);
  } else if constexpr (WalkMap<T>) {
    if (value.size() < 2) same.push_back(path);
    using Element = typename T::mapped_type;
    for (const auto& [key, element] : value) count_defaults(path + "{}", element, Element{}, same);
  } else {
    for_each_field(value, fresh, [&](std::string_view name, const auto& a, const auto& b) {
      count_defaults(path + "/" + std::string(name), a, b, same);
    });
  }
}

TEST(P3, TheFilledStateSetsEveryFieldOfEveryEntityToSomethingElse) {
  const State state = filled_state();
  std::vector<std::string> same;
  std::size_t entities = 0;
  for_each_table([&](FactKind kind, auto table) {
    std::size_t here = 0;
    for_each_entity(state.*table, [&](std::uint64_t, const auto&, const auto& entity) {
      using Entity = std::remove_cvref_t<decltype(entity)>;
      count_defaults(std::string(name(kind)), entity, Entity{}, same);
      ++here;
    });
    EXPECT_GE(here, kind == FactKind::Head ? 1U : 2U) << name(kind);
    entities += here;
  });
  EXPECT_EQ(same, std::vector<std::string>{});
  EXPECT_EQ(entities, 1U + 3 + 2 + 6 + 2 + 2 + 3);
}

TEST(P3, EveryFieldOfEveryEntityComesBackFromASnapshot_P50_P52_P56) {
  const TempDir dir;
  const State state = filled_state();
  const SnapshotStore store(dir.path(), "store-1");
  const auto written = store.write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const auto loaded = load_snapshot(written->path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(fact_bytes(*loaded), fact_bytes(state));
  EXPECT_EQ(diff_states(state, *loaded), std::vector<std::string>{});
  EXPECT_EQ(loaded->digest(), state.digest());
  EXPECT_EQ(compute_digest(*loaded), state.digest());
}

TEST(P3, AnEmptyStateComesBackToo) {
  const TempDir dir;
  State state;
  rebuild_derived(state);
  const auto written = SnapshotStore(dir.path(), "s").write(state, Head{});
  ASSERT_TRUE(written) << written.error().message;
  const auto loaded = load_snapshot(written->path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(fact_bytes(*loaded), fact_bytes(state));
}

TEST(Snapshot, RebuildsCachesAndIndexesAsTheyWereLive_P58) {
  const TempDir dir;
  const State state = filled_state();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const auto loaded = load_snapshot(written->path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->indexes.timers, state.indexes.timers);
  EXPECT_EQ(loaded->indexes.pending, state.indexes.pending);
  EXPECT_EQ(loaded->indexes.goes_on, state.indexes.goes_on);
  EXPECT_EQ(loaded->indexes.preemptible, state.indexes.preemptible);
  EXPECT_EQ(loaded->indexes.names, state.indexes.names);
  EXPECT_EQ(loaded->indexes.owing, state.indexes.owing);
  EXPECT_EQ(loaded->indexes.standalone_users, state.indexes.standalone_users);
  EXPECT_EQ(loaded->indexes.hosts_by_name, state.indexes.hosts_by_name);
  EXPECT_EQ(loaded->indexes.groups_in, state.indexes.groups_in);
  EXPECT_EQ(loaded->resources, state.resources);
  EXPECT_EQ(loaded->used, state.used);
  state.hosts.for_each([&](const Host& host) {
    const Host* other = loaded->host(host.facts.id);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->used, host.used);
    EXPECT_EQ(other->capacity, host.capacity);
    EXPECT_EQ(other->groups, host.groups);
  });
  state.groups.for_each([&](const Group& group) {
    const Group* other = loaded->group(group.head.id);
    ASSERT_NE(other, nullptr);
    ASSERT_NE(other->spec, nullptr);
    EXPECT_EQ(*other->spec, *group.spec);
    EXPECT_EQ(other->claims_owed, group.claims_owed);
    EXPECT_EQ(other->claims_not_ready, group.claims_not_ready);
    for (std::size_t i = 0; i < group.roles.size(); ++i) EXPECT_EQ(other->roles[i].counts, group.roles[i].counts);
  });
}

TEST(Snapshot, LoadingTwiceIsLoadingOnceAndTouchesNothing_P61) {
  const TempDir dir;
  const State state = filled_state();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const auto names = names_in(dir.path());
  const Bytes bytes = read_bytes(written->path);
  const auto once = load_snapshot(written->path);
  const auto twice = load_snapshot(written->path);
  ASSERT_TRUE(once && twice);
  EXPECT_EQ(fact_bytes(*once), fact_bytes(*twice));
  EXPECT_EQ(once->indexes.owing, twice->indexes.owing) << "what is owed follows from the facts, nothing is sent twice";
  EXPECT_EQ(names_in(dir.path()), names);
  EXPECT_EQ(read_bytes(written->path), bytes);
}

TEST(Snapshot, KeepsTheIdCountersOfWhatIsAlreadyForgotten_P55) {
  const TempDir dir;
  State state = filled_state();
  state.head.group_last = GroupId{1'000'000};  // the newest ones were defined and purged
  rebuild_derived(state);
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const auto loaded = load_snapshot(written->path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->head.group_last, GroupId{1'000'000});
  EXPECT_EQ(loaded->head.host_last, HostId{7});
}

TEST(Snapshot, IsTaggedWithSeqEpochRecordHashAndDigestOfExactlyThatState_P64_P67) {
  const TempDir dir;
  State state = filled_state();
  const Head head = head_of(state);
  const SnapshotStore store(dir.path(), "store-1");
  const auto written = store.write(state, head);
  ASSERT_TRUE(written) << written.error().message;
  const auto told = describe_snapshot(written->path);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->head, head);
  EXPECT_EQ(told->digest, state.digest());
  EXPECT_EQ(told->digest_version, kDigestVersion);
  EXPECT_EQ(told->time, state.head.time);
  EXPECT_EQ(told->store_id, "store-1");
  EXPECT_EQ(told->groups, 3U);
  EXPECT_EQ(told->members, 12U);
  EXPECT_EQ(told->hosts, 3U);
  EXPECT_EQ(told->file_bytes, std::filesystem::file_size(written->path));
  EXPECT_GT(told->raw_bytes, told->file_bytes);
  state.head.time = Time{1};  // the writer goes on; the snapshot does not change with it
  const auto verified = verify_snapshot(written->path);
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->head, head);
}

TEST(SnapshotDeathTest, AStateThatIsNotAtTheLogsHeadIsOurMistake_P67) {
  const TempDir dir;
  const State state = small_state();
  Head head = head_of(state);
  head.seq = next(head.seq);
  EXPECT_DEATH((void)SnapshotStore(dir.path(), "s").write(state, head), "head");
}

TEST(SnapshotDeathTest, AStateWhoseKeptDigestIsWrongNeverGetsAName) {
  const TempDir dir;
  State state = small_state();
  state.pools["licenses"].total = 4;  // behind the digest's back
  EXPECT_DEATH((void)SnapshotStore(dir.path(), "s").write(state, head_of(state)), "digest");
  for (const std::string& name : names_in(dir.path())) EXPECT_TRUE(name.starts_with(".tmp-")) << name;
}

// ---- chunks and the index ---------------------------------------------------------------------------------------

State many_groups() {
  State state = filled_state(700);
  Group& giant = *state.groups.find(GroupId{50});
  const Member like = giant.roles[1].members[0];
  giant.roles[1].members.assign(4096, like);
  rebuild_derived(state);
  return state;
}

TEST(Snapshot, PacksGroupsInChunksAndGivesAGiantOneItsOwn) {
  const TempDir dir;
  const State state = many_groups();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const Parts parts = take_apart(written->path);
  std::size_t chunks = 0;
  for (const auto& piece : parts.pieces) {
    if (piece.header.kind != static_cast<std::uint32_t>(FactKind::Group)) continue;
    ++chunks;
    const bool giant = piece.header.first <= 50 && 50 <= piece.header.last;
    EXPECT_EQ(piece.header.count == 1, giant);
    if (!giant) {
      EXPECT_LT(piece.raw.size(), 2 * kChunkRawBytes);
    }
  }
  EXPECT_GE(chunks, 4U);
  const auto loaded = load_snapshot(written->path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(fact_bytes(*loaded), fact_bytes(state));
}

TEST(Snapshot, ReadsOneGroupAloneWhateverIsBrokenElsewhere) {
  const TempDir dir;
  const State state = many_groups();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  auto file = SnapshotFile::open(written->path);
  ASSERT_TRUE(file);
  const auto own = file->find_chunk(FactKind::Group, 600);
  ASSERT_TRUE(own) << own.error().message;
  Bytes bytes = read_bytes(written->path);
  Checksum unused;
  const auto index = read_index(file->file(), file->footer());
  ASSERT_TRUE(index);
  for (const IndexEntry& entry : index->chunks) {  // every other chunk is made rubbish
    if (entry.offset != own->offset) bytes[entry.offset + kChunkHeaderBytes + 9] ^= std::byte{0xff};
  }
  write_bytes(written->path, bytes);
  EXPECT_FALSE(load_snapshot(written->path));
  const auto group = load_group(written->path, GroupId{600});
  ASSERT_TRUE(group) << group.error().message;
  Bytes expected;
  Bytes got;
  ByteSink expected_sink{expected};
  ByteSink got_sink{got};
  walk_write(expected_sink, *state.group(GroupId{600}));
  walk_write(got_sink, *group);
  EXPECT_EQ(got, expected);
  const auto broken = load_group(written->path, GroupId{50});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::Damaged);
}

TEST(Snapshot, SaysNotFoundOfAGroupItDoesNotHold) {
  const TempDir dir;
  const State state = filled_state();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  for (const std::uint64_t id : {0ULL, 1ULL, 99ULL, ~0ULL}) {
    const auto group = load_group(written->path, GroupId{id});
    ASSERT_FALSE(group);
    EXPECT_EQ(group.error().code, ErrorCode::NotFound) << group.error().message;
  }
  const auto nowhere = load_snapshot(dir.path() / "snapshot-x.lks");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::NotFound);
}

// ---- anybody's zstd ---------------------------------------------------------------------------------------------

TEST(Snapshot, IsReadByTheZstdCommandAsItsRawChunks) {
  if (std::system("command -v zstd >/dev/null 2>&1") != 0) GTEST_SKIP() << "NOT SHOWN: no zstd command on this machine";
  const TempDir dir;
  const State state = many_groups();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const auto raw = dir.path() / "raw";
  const std::string command = "zstd -q -d -c < '" + written->path.string() + "' > '" + raw.string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  Bytes expected;
  for (const auto& piece : take_apart(written->path).pieces) {
    expected.insert(expected.end(), piece.raw.begin(), piece.raw.end());
  }
  EXPECT_EQ(expected.size(), written->raw_bytes);
  EXPECT_TRUE(read_bytes(raw) == expected);
}

TEST(Snapshot, BeginsWithItsFieldListsInWords) {
  const std::string& layout = snapshot_layout();
  EXPECT_NE(layout.find("Pool str (total:i64)\n"), std::string::npos) << layout;
  EXPECT_NE(layout.find("exit_code:i32"), std::string::npos);
  const TempDir dir;
  const State state = small_state();
  const auto written = SnapshotStore(dir.path(), "s").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const auto parts = take_apart(written->path);
  const auto bytes = std::as_bytes(std::span(layout));
  EXPECT_EQ(parts.pieces.front().raw, Bytes(bytes.begin(), bytes.end()));
}

}  // namespace
}  // namespace lockstep::test
