// write_manifest(): only what differs from the defaults is written, and any group that a manifest can describe reads
// back to the same DefineGroup (random groups with every field set now and then, and texts that YAML could misread).

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"

namespace lockstep {
namespace {

TEST(WriteManifest, LeavesOutWhatHasItsDefault) {
  const ManifestResult result = read_manifest(
      "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, tasks: '4*{cpu=500m mem=8Gi}'}]}", "ana");
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_EQ(write_manifest(result.groups[0]), R"(apiVersion: lockstep/v1
kind: GangGroup
metadata:
  name: g
  user: ana
spec:
  roles:
    - name: w
      tasks:
        - {count: 4, cpu: 500m, mem: 8Gi}
)");
}

TEST(WriteManifest, OfEveryKeyReadsBack) {
  const std::string text = read_file(LOCKSTEP_SOURCE_DIR "/tests/manifest/data/full.yaml");
  const DefineGroup group = read_manifest(text, "x").groups.at(0);
  const ManifestResult again = read_manifest(write_manifest(group), "y");
  ASSERT_TRUE(again.problems.empty()) << lines_of(again.problems).front();
  EXPECT_TRUE(again.groups.at(0).identity == group.identity);
  EXPECT_TRUE(again.groups.at(0).spec == group.spec);
  EXPECT_EQ(again.groups.at(0).hold, group.hold);
}

// ---- random groups
// -------------------------------------------------------------------------------------------------------

class RandomGroup {
 public:
  DefineGroup make() {
    DefineGroup group;
    group.identity = {name(), text(20), sometimes() ? name() : "default", pairs()};
    group.hold = sometimes();
    GroupSpec& spec = group.spec;
    spec.roles.resize(random_.upto(4) + 1);
    for (std::size_t i = 0; i < spec.roles.size(); ++i) make_role(spec.roles, i);
    make_placement(spec);
    for (std::uint64_t i = random_.upto(3); i > 0; --i) make_claim(spec);
    make_failure(spec);
    if (sometimes()) spec.success = {SuccessOperator::Any, role_list(spec), SuccessRest::Kill};
    if (sometimes()) spec.resume = ResumeWhat::Unfinished;
    if (sometimes()) spec.timeouts = {time(), time(), time(), time(), time(), time()};
    spec.run_limit = time();
    if (sometimes()) spec.ttl_after_finished = time();
    return group;
  }

 private:
  bool sometimes() { return random_.upto(2) == 0; }
  Duration time() { return Duration{static_cast<std::int64_t>(random_.upto(std::uint64_t{1} << random_.upto(62)))}; }
  std::uint32_t small() { return static_cast<std::uint32_t>(random_.upto(20)); }

  std::string name() {
    static const std::vector<std::string> words{"null", "true", "no", "5", "1.5", "1e3", "0x1f", "-", "--", ".", "..."};
    if (random_.upto(4) == 0) return words[random_.upto(words.size() - 1)];
    std::string out;
    for (std::uint64_t i = random_.upto(10) + 1; i > 0; --i) out += "abcz09-."[random_.upto(7)];
    return out + std::to_string(++count_);
  }
  std::string key() {
    std::string out;
    for (std::uint64_t i = random_.upto(6) + 1; i > 0; --i) out += static_cast<char>('!' + random_.upto(93));
    out += std::to_string(++count_);
    std::replace(out.begin(), out.end(), '=', '+');  // no variable's name holds one
    return out;
  }
  // Pieces that YAML, or a careless writer of it, takes for something else.
  std::string text(std::uint64_t pieces) {
    static const std::vector<std::string> odd{"",
                                              "~",
                                              "null",
                                              "true",
                                              "0",
                                              " ",
                                              "  ",
                                              "\n",
                                              "\n\n",
                                              "\t",
                                              "\r",
                                              "\"",
                                              "'",
                                              "\\",
                                              "#",
                                              " #",
                                              ": ",
                                              "- ",
                                              "{",
                                              "}",
                                              "[",
                                              "]",
                                              ",",
                                              "&a",
                                              "*a",
                                              "!t",
                                              "%",
                                              "@",
                                              "`",
                                              "|",
                                              ">",
                                              "---",
                                              "...",
                                              "\x01",
                                              "\x04",
                                              "\x7f",
                                              "=",
                                              "<<",
                                              "?",
                                              "a",
                                              "\xc3\xa4",
                                              "\xc2\x85",
                                              "\xe2\x80\xa8",
                                              "\xe2\x80\xa9",
                                              "\xef\xbb\xbf",
                                              "\xf0\x9f\x98\x80",
                                              "\xc2\xa0",
                                              "\x1b[0m"};
    std::string out;
    for (std::uint64_t i = random_.upto(pieces); i > 0; --i) out += odd[random_.upto(odd.size() - 1)];
    return out;
  }
  std::vector<KeyValue> pairs() {
    std::vector<KeyValue> out;
    for (std::uint64_t i = random_.upto(3); i > 0; --i) out.push_back({key(), text(6)});
    std::sort(out.begin(), out.end());
    return out;
  }
  Topology topology() {
    if (sometimes()) return {};
    return {sometimes() ? key() : "", sometimes() ? key() : ""};
  }
  std::vector<RoleIndex> role_list(const GroupSpec& spec) {
    std::vector<RoleIndex> roles;
    for (RoleIndex i = 0; i < spec.roles.size(); ++i) {
      if (random_.chance()) roles.push_back(i);
    }
    return roles;
  }

  TaskTerm term() {
    TaskTerm out;
    out.count = small() + 1;
    if (random_.chance()) out.requests.push_back({"cpu", static_cast<std::int64_t>(random_.upto(5000)) + 1});
    if (random_.chance()) out.requests.push_back({"mem", std::int64_t{1} << random_.upto(36)});
    if (random_.chance()) out.requests.push_back({key(), static_cast<std::int64_t>(random_.upto(1'000'000)) + 1});
    std::sort(out.requests.begin(), out.requests.end());
    out.select = pairs();
    if (sometimes()) out.span_ptile = small() + 1;
    if (out.span_ptile >= out.count && sometimes()) out.span_hosts = 1;
    return out;
  }
  void make_role(std::vector<RoleSpec>& roles, std::size_t index) {
    RoleSpec& role = roles[index];
    role.name = name();
    for (std::size_t i = 0; i < index; ++i) {
      if (roles[i].name == role.name) role.name = "role" + std::to_string(index);
    }
    role.replicas = small() + 1;
    role.min = sometimes() ? 1 : role.replicas;
    role.max = sometimes() ? role.replicas + small() : role.replicas;
    for (std::uint64_t i = random_.upto(2) + 1; i > 0; --i) role.tasks.push_back(term());
    role.topology = topology();
    role.spares = sometimes() ? small() : 0;
    for (RoleIndex i = 0; i < index; ++i) {
      if (sometimes()) role.after.push_back({i, random_.chance() ? AfterWhat::Started : AfterWhat::Succeeded});
    }
    for (std::uint64_t i = random_.upto(4); i > 0; --i) role.command.push_back(text(8));
    role.env = pairs();
  }
  void make_placement(GroupSpec& spec) {
    spec.priority = static_cast<std::int32_t>(small()) - 10;
    spec.preemptible = random_.chance();
    if (sometimes()) spec.mode = PlacementMode::Reserve;
    spec.partial = sometimes();
    spec.topology = topology();
  }
  void make_claim(GroupSpec& spec) {
    ClaimSpec claim;
    claim.name = "c" + std::to_string(++count_);
    if (sometimes()) {
      claim.kind = ClaimKind::Standalone;
    } else if (sometimes()) {
      claim.per = ClaimPer::Member;
    }
    claim.roles = role_list(spec);
    claim.size = static_cast<std::int64_t>(random_.upto(std::uint64_t{1} << random_.upto(60)));
    spec.claims.push_back(std::move(claim));
  }
  void make_failure(GroupSpec& spec) {
    FailurePolicy& failure = spec.failure;
    for (std::uint64_t i = random_.upto(3); i > 0; --i) {
      FailureRule rule;
      rule.roles = role_list(spec);
      if (sometimes()) rule.reasons = {static_cast<FailureReason>(random_.upto(7) + 1)};
      if (sometimes()) rule.exit_codes = {{1, 1}, {64, 64 + static_cast<std::int32_t>(small())}};
      if (sometimes()) rule.signals = {static_cast<std::int32_t>(random_.upto(63)) + 1};
      rule.action = static_cast<FailureAction>(random_.upto(4) + 1);
      rule.charge = random_.chance();
      failure.rules.push_back(std::move(rule));
    }
    failure.default_action = static_cast<FailureAction>(random_.upto(4) + 1);
    if (sometimes()) failure.below_min = FailureAction::RestartGroup;
    if (sometimes()) failure.max_restarts = small();
    for (RoleIndex i = 0; i < spec.roles.size(); ++i) {
      if (sometimes()) failure.max_restarts_per_role.push_back({i, small()});
    }
    if (sometimes()) failure.max_restarts_per_member = small();
    failure.window = time();
    if (sometimes()) failure.backoff = {time(), small() + 1, time()};
    if (sometimes()) failure.restart_on = RestartOn::Anywhere;
  }

  Random random_;
  int count_ = 0;
};

TEST(WriteManifest, OfAnyGroupReadsBackToTheSameGroup) {
  RandomGroup groups;
  for (int i = 0; i < 1'500; ++i) {
    const DefineGroup group = groups.make();
    const std::string text = write_manifest(group);
    const ManifestResult again = read_manifest(text, "somebody");
    ASSERT_TRUE(again.problems.empty()) << lines_of(again.problems).front() << '\n' << text;
    ASSERT_EQ(again.groups.size(), 1U);
    ASSERT_TRUE(again.groups[0].identity == group.identity) << text;
    ASSERT_TRUE(again.groups[0].spec == group.spec) << text << write_manifest(again.groups[0]);
    ASSERT_EQ(again.groups[0].hold, group.hold);
  }
}

TEST(WriteManifest, UsesTheShortFormForACounterNamedLikeAKey) {
  const std::string text =
      "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, tasks: \"2*{count=4 span=1 select[a=='b c' && "
      "d==e] span[ptile=2]} + {span[hosts=1]}\"}]}";
  const DefineGroup group = read_manifest(text, "x").groups.at(0);
  const ManifestResult again = read_manifest(write_manifest(group), "x");
  ASSERT_TRUE(again.problems.empty()) << lines_of(again.problems).front() << write_manifest(group);
  EXPECT_TRUE(again.groups.at(0).spec == group.spec);
}

}  // namespace
}  // namespace lockstep
