// One changed value is one line with its path, for every value there is; and each of them changes the digest. The paths
// expected here come from a second walk (leaves.h), not from the code under test.

#include <gtest/gtest.h>

#include <cstdlib>

#include "leaves.h"
#include "snapshot/snapshot.h"

namespace lockstep::test {
namespace {

using Lines = std::vector<std::string>;

// Changes each leaf alone, asks, and puts it back.
class EachLeafAlone {
 public:
  EachLeafAlone() : before_(filled_state()), now_(before_) {}
  ~EachLeafAlone() { EXPECT_GT(seen_, 0U); }
  State& state() { return now_; }
  [[nodiscard]] std::size_t seen() const { return seen_; }

  template <class T>
  void operator()(const std::string& path, T& leaf) {
    const T was = leaf;
    change(leaf);
    ++seen_;
    if (digested_) {
      EXPECT_NE(compute_digest(now_), before_.digest()) << path;
    }
    const Lines lines = diff_states(before_, now_);
    ASSERT_FALSE(lines.empty()) << path;
    EXPECT_TRUE(matches(lines.front(), path)) << lines.front() << "\nexpected " << path;
    // With a changed id of its own it is another entity as well.
    if (!path.ends_with(") / id")) {
      EXPECT_EQ(lines.size(), 1U) << path << ": " << lines.back();
    }
    leaf = was;
    if (digested_) {
      EXPECT_EQ(compute_digest(now_), before_.digest()) << path;
    }
  }
  void digested(bool yes) { digested_ = yes; }

 private:
  // Elements of maps go by key there and by place here: "{...}" against "{0}".
  static bool matches(std::string line, const std::string& path) {
    std::string expected = path.substr(0, path.find('{'));
    const bool same_head = line.starts_with(expected);
    const bool same_tail = path.find('}') == std::string::npos
                               ? line.starts_with(path + ": ")
                               : line.find(path.substr(path.rfind('}')) + ": ") != std::string::npos;
    return same_head && same_tail && line.find(" -> ") != std::string::npos;
  }

  const State before_;
  State now_;
  std::size_t seen_ = 0;
  bool digested_ = true;
};

std::string named(const char* kind, std::uint64_t id, const std::string& name) {
  return std::string(kind) + " " + std::to_string(id) + " (" + name + ")";
}

TEST(Diff, NamesTheOneChangedFieldOfTheStateHead) {
  EachLeafAlone each;
  for_each_leaf("state", each.state().head, each);
  EXPECT_EQ(each.seen(), 10U);
}

TEST(Diff, NamesTheOneChangedFieldOfAHost) {
  EachLeafAlone each;
  each.state().hosts.for_each([&](Host& host) {
    const std::string path = named("host", host.facts.id.value, host.facts.info.name);
    if (!host.facts.info.name.empty()) for_each_leaf(path, host.facts, each);
  });
}

TEST(Diff, NamesTheOneChangedFieldOfAPoolAClaimOrAClient) {
  EachLeafAlone each;
  for (auto& [key, pool] : each.state().pools) for_each_leaf("pool " + key, pool, each);
  for (auto& [key, claim] : each.state().claims) for_each_leaf("claim " + key, claim, each);
  for (auto& [key, client] : each.state().clients) for_each_leaf("client " + std::to_string(key), client, each);
}

TEST(Diff, NamesTheOneChangedFieldOfAGroup) {
  EachLeafAlone each;
  each.state().groups.for_each([&](Group& group) {
    for_each_leaf_of_group(named("group", group.head.id.value, group.head.identity.name), group, *group.spec, each);
  });
  EXPECT_GT(each.seen(), 400U);
}

// A spec's hash stands for it in the digest: what must change is the hash.
TEST(Diff, NamesTheOneChangedFieldOfASpec) {
  EachLeafAlone each;
  each.digested(false);
  for (auto& [hash, entry] : each.state().specs) {
    auto copy = std::make_shared<GroupSpec>(*entry.spec);
    entry.spec = copy;
    const SpecHash was = hash;
    const auto visit = [&](const std::string& path, auto& leaf) {
      each(path, leaf);
      const auto value = leaf;
      change(leaf);
      EXPECT_NE(content_hash(*copy), was) << path;
      leaf = value;
    };
    for_each_leaf("spec " + hex(Digest{hash.high, hash.low}), *copy, visit);
  }
  EXPECT_GT(each.seen(), 200U);
}

TEST(Diff, ShowsARenamedMembersPhaseTheWayAPersonSaysIt) {
  const State a = small_state();
  State b = a;
  b.groups.find(GroupId{1})->roles[0].members[0].phase = MemberPhase::Stopping;
  EXPECT_EQ(diff_states(a, b), Lines{"group 1 (train) / worker[0] / phase: Running -> Stopping"});
  EXPECT_EQ(diff_states(a, a), Lines{});
}

TEST(Diff, ShowsWhatIsOnlyInOneOfThem) {
  const State a = small_state();
  State b = a;
  b.pools["tapes"].total = 7;
  b.pools.erase("licenses");
  b.groups.find(GroupId{1})->roles[0].members[0].hosts.push_back({HostId{1}, 0, 9});
  EXPECT_EQ(diff_states(a, b),
            (Lines{R"(pool licenses: {"total":3} -> nothing)", R"(pool tapes: nothing -> {"total":7})",
                   R"(group 1 (train) / worker[0] / hosts[1]: nothing -> {"host":1,"term":0,"count":9})"}));
}

TEST(Diff, StopsAtItsLimit) {
  const State a = filled_state(200);
  const State b;
  EXPECT_EQ(diff_states(a, b, 5).size(), 5U);
  EXPECT_EQ(diff_states(a, b, 0).size(), 0U);
  EXPECT_EQ(diff_states(b, a).size(), 100U);
}

TEST(Diff, ShortensAHugeValueAndKeepsTheLine) {
  const State a = small_state();
  State b = a;
  b.groups.find(GroupId{1})->head.identity.labels.push_back({"note", std::string(100'000, 'x')});
  const Lines lines = diff_states(a, b);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_LT(lines[0].size(), 1000U);
}

}  // namespace
}  // namespace lockstep::test
