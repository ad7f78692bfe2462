// validate(): a table of one change to a good group or host and the one problem that it must give, with the path that
// the author of the manifest wrote; and all problems at once.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "events/spec.h"

namespace lockstep {
namespace {

struct Group {
  GroupIdentity identity{"llama", "ana", "train", {{"team", "nlp"}}};
  GroupSpec spec{};
  RoleSpec& launcher() { return spec.roles[0]; }
  RoleSpec& worker() { return spec.roles[1]; }
};

Group good() {
  Group group;
  RoleSpec launcher;
  launcher.name = "launcher";
  launcher.tasks = {{1, {{"cpu", 4'000}}, {}, 0, 0}};
  RoleSpec worker;
  worker.name = "worker";
  worker.replicas = 4;
  worker.min = 2;
  worker.max = 6;
  worker.spares = 1;
  worker.tasks = {{8, {{"cpu", 8'000}, {"gpu", 1}}, {{"model", "h100"}}, 8, 0}};
  worker.after = {{0, AfterWhat::Started}};
  worker.command = {"python", "train.py"};
  worker.env = {{"NCCL_DEBUG", "WARN"}};
  group.spec.roles = {launcher, worker};
  group.spec.topology = {"block", "rack"};
  group.spec.claims = {{"dataset", ClaimKind::Standalone, ClaimPer::Group, {}, 0},
                       {"scratch", ClaimKind::Template, ClaimPer::Member, {1}, 1 << 20}};
  FailureRule rule;
  rule.roles = {0};
  rule.reasons = {FailureReason::HostLost};
  rule.exit_codes = {{13, 13}, {64, 78}};
  rule.signals = {9};
  group.spec.failure.rules = {rule};
  group.spec.failure.max_restarts_per_role = {{1, 10}};
  group.spec.success.roles = {0, 1};
  return group;
}

std::vector<std::string> lines(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(problem.path + ": " + problem.text);
  return lines;
}

std::vector<std::string> problems_of(const Group& group) { return lines(validate(group.identity, group.spec)); }

TEST(Validate, FindsNothingWrongWithAGoodGroup) { EXPECT_EQ(problems_of(good()), std::vector<std::string>{}); }

struct Case {
  std::function<void(Group&)> change;
  const char* problem;  // what the line begins with
};

const std::vector<Case>& cases() {
  constexpr auto kMax64 = std::numeric_limits<std::int64_t>::max();
  static const std::vector<Case> all = {
      // metadata
      {[](Group& g) { g.identity.name = ""; }, "metadata.name: is missing"},
      {[](Group& g) { g.identity.name = "Llama"; }, "metadata.name: 'Llama' is not a name"},
      {[](Group& g) { g.identity.name = std::string(254, 'a'); }, "metadata.name: '"},
      {[](Group& g) { g.identity.name = "a\nb\x1b[31m"; }, "metadata.name: 'a?b?[31m' is not a name"},
      {[](Group& g) { g.identity.user = std::string("a\0b", 3); }, "metadata.user: holds a NUL"},
      {[](Group& g) { g.identity.user = "\xff"; }, "metadata.user: is not UTF-8"},
      {[](Group& g) { g.identity.user = std::string(254, 'a'); }, "metadata.user: 254 bytes are more than 253"},
      {[](Group& g) { g.identity.queue = "a b"; }, "metadata.queue: 'a b' is not a name"},
      {[](Group& g) {
         g.identity.labels = {{"a", "1"}, {"a", "2"}};
       },
       "metadata.labels.a: is given twice"},
      {[](Group& g) {
         g.identity.labels = {{"b", "1"}, {"a", "2"}};
       },
       "metadata.labels: is not sorted"},
      {[](Group& g) {
         g.identity.labels = {{"a b", "1"}};
       },
       "metadata.labels.a b: 'a b' is not a key"},
      {[](Group& g) {
         g.identity.labels = {{"a", std::string(65'537, 'x')}};
       },
       "metadata.labels.a: 65537 bytes"},
      {[](Group& g) { g.identity.labels.resize(1'025); }, "metadata.labels: 1025 entries are more than 1024"},
      // roles
      {[](Group& g) { g.spec = GroupSpec{}; }, "spec.roles: is missing"},
      {[](Group& g) { g.worker().name = ""; }, "spec.roles[1].name: is missing"},
      {[](Group& g) { g.worker().name = "launcher"; }, "spec.roles[1].name: 'launcher' is the name of another role"},
      {[](Group& g) { g.worker().min = 6; }, "spec.roles[1].min: 6 is more than replicas 4"},
      {[](Group& g) { g.worker().min = 0; }, "spec.roles[1].min: 0 is less than 1"},
      {[](Group& g) { g.worker().replicas = 7; }, "spec.roles[1].max: 6 is less than replicas 7"},
      {[](Group& g) { g.worker().tasks.clear(); }, "spec.roles[1].tasks: is missing"},
      {[](Group& g) { g.worker().tasks.resize(17); }, "spec.roles[1].tasks: 17 entries are more than 16"},
      {[](Group& g) { g.worker().tasks[0].count = 0; }, "spec.roles[1].tasks[0].count: 0 is less than 1"},
      {[](Group& g) { g.worker().tasks[0].count = 100'001; }, "spec.roles[1].tasks: 100001 tasks of one member"},
      {[](Group& g) { g.worker().tasks[0].requests[1].amount = 0; }, "spec.roles[1].tasks[0].gpu: 0 is not between 1"},
      {[](Group& g) { g.worker().tasks[0].requests[1].amount = -1; }, "spec.roles[1].tasks[0].gpu: -1 is not between"},
      {[](Group& g) { g.worker().tasks[0].requests[1].amount = kMax64; }, "spec.roles[1].tasks[0].gpu: 92233720"},
      {[](Group& g) { g.worker().tasks[0].requests[1].amount = kQuantityMax / 55; },
       "spec.roles[1].tasks[0].gpu: the group as a whole, `max` and spares counted, asks for more than"},
      {[](Group& g) { g.worker().tasks[0].requests[1].name = "cpu"; }, "spec.roles[1].tasks[0].cpu: is given twice"},
      {[](Group& g) { g.worker().tasks[0].requests[1].name = ""; }, "spec.roles[1].tasks[0].: is empty"},
      {[](Group& g) { g.worker().tasks[0].requests[1].name = "a"; }, "spec.roles[1].tasks[0]: is not sorted"},
      {[](Group& g) {
         g.worker().tasks[0].select = {{"m", "1"}, {"m", "2"}};
       },
       "spec.roles[1].tasks[0].select.m: is given twice"},
      {[](Group& g) { g.worker().tasks[0].span_hosts = 2; }, "spec.roles[1].tasks[0].span.hosts: 2 is not supported"},
      {[](Group& g) {
         g.worker().tasks[0].span_hosts = 1;
         g.worker().tasks[0].span_ptile = 4;
       },
       "spec.roles[1].tasks[0].span: hosts 1 and ptile 4 cannot both hold for 8 tasks"},
      {[](Group& g) { g.worker().tasks[0].span_ptile = 100'001; }, "spec.roles[1].tasks[0].span.ptile: 100001 is more"},
      {[](Group& g) { g.worker().max = 999'999; }, "spec.roles[1].max: the members of the group"},
      {[](Group& g) { g.worker().spares = 0xffffffff; }, "spec.roles[1].max: the members of the group"},
      {[](Group& g) { g.worker().topology.required = "a b"; }, "spec.roles[1].topology.required: 'a b' is not a key"},
      {[](Group& g) { g.worker().after[0].role = 1; }, "spec.roles[1].after.worker: a role cannot start after itself"},
      {[](Group& g) { g.worker().after[0].role = 2; }, "spec.roles[1].after[0]: there is no role 2"},
      {[](Group& g) {
         g.worker().after.push_back({0, AfterWhat::Succeeded});
       },
       "spec.roles[1].after.launcher: is given twice"},
      {[](Group& g) { g.worker().after[0].what = static_cast<AfterWhat>(3); },
       "spec.roles[1].after.launcher: 3 is not"},
      {[](Group& g) {
         g.launcher().after = {{1, AfterWhat::Started}};
       },
       "spec.roles[0].after: these roles wait for each other in a circle and could never start: launcher, worker"},
      {[](Group& g) { g.worker().command = {std::string("a\0", 2)}; }, "spec.roles[1].command[0]: holds a NUL"},
      {[](Group& g) { g.worker().command.resize(1'025); }, "spec.roles[1].command: 1025 entries are more than 1024"},
      {[](Group& g) {
         g.worker().env = {{"A", "1"}, {"A", "2"}};
       },
       "spec.roles[1].env.A: is given twice"},
      {[](Group& g) {
         g.worker().env = {{"A=B", "1"}};
       },
       "spec.roles[1].env.A=B: a variable's name holds no '='"},
      // placement and claims
      {[](Group& g) { g.spec.mode = static_cast<PlacementMode>(0); }, "spec.placement.mode: 0 is not one of"},
      {[](Group& g) { g.spec.topology.preferred = "\n"; }, "spec.placement.topology.preferred: '?' is not a key"},
      {[](Group& g) { g.spec.claims[1].name = "dataset"; }, "spec.claims[1].name: 'dataset' is the name of another"},
      {[](Group& g) { g.spec.claims[0].per = ClaimPer::Member; }, "spec.claims[0].per: a standalone claim is shared"},
      {[](Group& g) { g.spec.claims[1].kind = static_cast<ClaimKind>(9); }, "spec.claims[1].kind: 9 is not one of"},
      {[](Group& g) { g.spec.claims[1].size = -1; }, "spec.claims[1].size: -1 is not between 0"},
      {[](Group& g) { g.spec.claims[1].roles = {2}; }, "spec.claims[1].roles[0]: there is no role 2"},
      {[](Group& g) {
         g.spec.claims[1].roles = {1, 1};
       },
       "spec.claims[1].roles[1]: names a role a second time"},
      {[](Group& g) {
         g.spec.claims[1].roles = {1, 0};
       },
       "spec.claims[1].roles[1]: is not in the order"},
      // failure
      {[](Group& g) { g.spec.failure.rules[0].roles = {7}; }, "spec.failure.rules[0].roles[0]: there is no role 7"},
      {[](Group& g) {
         g.spec.failure.rules[0].roles = {1, 1};
       },
       "spec.failure.rules[0].roles[1]: names a role a second"},
      {[](Group& g) { g.spec.failure.rules[0].reasons = {FailureReason::None}; },
       "spec.failure.rules[0].reasons[0]: None is not a reason"},
      {[](Group& g) { g.spec.failure.rules[0].reasons = {static_cast<FailureReason>(99)}; },
       "spec.failure.rules[0].reasons[0]: 99 is not one of"},
      {[](Group& g) {
         g.spec.failure.rules[0].exit_codes[1] = {78, 64};
       },
       "spec.failure.rules[0].exitCodes[1]: 78 is more than 64"},
      {[](Group& g) {
         g.spec.failure.rules[0].exit_codes[1] = {-1, 64};
       },
       "spec.failure.rules[0].exitCodes[1]: -1 is negative"},
      {[](Group& g) { g.spec.failure.rules[0].signals = {0}; }, "spec.failure.rules[0].signals[0]: 0 is not between 1"},
      {[](Group& g) { g.spec.failure.rules[0].signals = {65}; }, "spec.failure.rules[0].signals[0]: 65 is not between"},
      {[](Group& g) { g.spec.failure.rules[0].action = static_cast<FailureAction>(6); },
       "spec.failure.rules[0].action: 6 is not one of"},
      {[](Group& g) { g.spec.failure.rules.resize(1'025); }, "spec.failure.rules: 1025 entries are more than 1024"},
      {[](Group& g) { g.spec.failure.default_action = static_cast<FailureAction>(0); },
       "spec.failure.default: 0 is not"},
      {[](Group& g) { g.spec.failure.below_min = FailureAction::Tolerate; }, "spec.failure.belowMin: is neither"},
      {[](Group& g) { g.spec.failure.max_restarts = kNoBudget; }, "spec.failure.maxRestarts: 4294967295 is more than"},
      {[](Group& g) { g.spec.failure.max_restarts = 100'001; }, "spec.failure.maxRestarts: 100001 is more than 100000"},
      {[](Group& g) { g.spec.failure.max_restarts_per_member = 100'001; },
       "spec.failure.maxRestartsPerMember: 100001 is more than 100000"},
      {[](Group& g) {
         g.spec.failure.max_restarts_per_role = {{1, 100'001}};
       },
       "spec.failure.maxRestartsPerRole[0]: 100001 is more than 100000"},
      {[](Group& g) {
         g.spec.failure.max_restarts_per_role = {{2, 1}};
       },
       "spec.failure.maxRestartsPerRole[0]: there is no role 2"},
      {[](Group& g) {
         g.spec.failure.max_restarts_per_role = {{1, 1}, {1, 2}};
       },
       "spec.failure.maxRestartsPerRole[1]: names a role a second time"},
      {[](Group& g) { g.spec.failure.window = Duration{-1}; }, "spec.failure.window: -1 is negative"},
      {[](Group& g) { g.spec.failure.backoff.base = Duration{-1}; }, "spec.failure.backoff.base: -1 is negative"},
      {[](Group& g) { g.spec.failure.backoff.cap = Duration{-1}; }, "spec.failure.backoff.cap: -1 is negative"},
      {[](Group& g) { g.spec.failure.backoff.factor = 0; }, "spec.failure.backoff.factor: 0 is less than 1"},
      {[](Group& g) { g.spec.failure.restart_on = static_cast<RestartOn>(0); }, "spec.failure.restartOn: 0 is not"},
      // success, resume, times
      {[](Group& g) { g.spec.success.op = static_cast<SuccessOperator>(0); }, "spec.success.operator: 0 is not one of"},
      {[](Group& g) { g.spec.success.roles = {9}; }, "spec.success.roles[0]: there is no role 9"},
      {[](Group& g) { g.spec.success.rest = static_cast<SuccessRest>(3); }, "spec.success.rest: 3 is not one of"},
      {[](Group& g) { g.spec.resume = static_cast<ResumeWhat>(3); }, "spec.resume: 3 is not one of"},
      {[](Group& g) { g.spec.timeouts.pend = Duration{-1}; }, "spec.timeouts.pend: -1 is negative"},
      {[](Group& g) { g.spec.timeouts.reserve = Duration{-1}; }, "spec.timeouts.reserve: -1 is negative"},
      {[](Group& g) { g.spec.timeouts.start = Duration{-1}; }, "spec.timeouts.start: -1 is negative"},
      {[](Group& g) { g.spec.timeouts.recover = Duration{-1}; }, "spec.timeouts.recover: -1 is negative"},
      {[](Group& g) { g.spec.timeouts.run = Duration{-1}; }, "spec.timeouts.run: -1 is negative"},
      {[](Group& g) { g.spec.timeouts.stop = Duration{-1}; }, "spec.timeouts.stop: -1 is negative"},
      {[](Group& g) { g.spec.run_limit = Duration{-1}; }, "spec.runLimit: -1 is negative"},
      {[](Group& g) { g.spec.ttl_after_finished = Duration{-1}; }, "spec.ttlAfterFinished: -1 is negative"},
  };
  return all;
}

TEST(Validate, NamesTheFieldAndWhatIsWrongWithIt) {
  for (const Case& one : cases()) {
    Group group = good();
    one.change(group);
    const auto found = problems_of(group);
    EXPECT_TRUE(
        std::any_of(found.begin(), found.end(), [&](const std::string& line) { return line.starts_with(one.problem); }))
        << "expected " << one.problem << "\n  found " << (found.empty() ? "nothing" : found.front());
    for (const std::string& line : found) EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(Validate, ReportsAllProblemsAtOnce) {
  Group group = good();
  for (const Case& one : cases()) {
    if (std::string_view(one.problem).starts_with("spec.timeouts")) one.change(group);
  }
  EXPECT_EQ(problems_of(group).size(), 6U);
}

TEST(Validate, TellsWhenThereAreTooManyProblemsToShow) {
  Group group = good();
  group.spec.failure.rules.assign(1'024, FailureRule{});
  for (FailureRule& rule : group.spec.failure.rules) rule.signals.assign(2, 0);
  const auto found = problems_of(group);
  ASSERT_EQ(found.size(), 1'001U);
  EXPECT_EQ(found.back(), ": more than 1000 problems; the rest is not shown");
}

TEST(Validate, LetsOnlyAsMuchInAsALogCanCarry) {
  Group group = good();
  group.worker().command.assign(300, std::string(65'536, 'x'));
  const auto found = problems_of(group);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].starts_with("spec: 19")) << found[0];
}

TEST(Validate, TakesTheLargestNumbersThatFit) {
  Group group = good();
  group.worker().max = 1'000'000 - 2;  // one launcher, one spare
  EXPECT_EQ(problems_of(group), std::vector<std::string>{});
  group.worker().tasks[0].requests[1].amount = kQuantityMax / 8 / (1'000'000 - 1);
  EXPECT_EQ(problems_of(group), std::vector<std::string>{});
  group.worker().tasks[0].requests[1].amount += 1;
  EXPECT_EQ(problems_of(group).size(), 1U);
}

TEST(Validate, CountsACounterOverAllRoles) {
  Group group = good();
  group.launcher().tasks[0].requests = {{"gpu", kQuantityMax - 55}};
  EXPECT_TRUE(problems_of(group).size() == 1 &&
              problems_of(group)[0].starts_with("spec.roles[1].tasks[0].gpu: the group as a whole"));
}

TEST(Validate, FollowsLongOrdersWithoutRunningOutOfStack) {
  Group group = good();
  const RoleSpec role = group.launcher();
  group.spec.roles.clear();
  for (std::uint32_t i = 0; i < kRolesMax; ++i) {
    group.spec.roles.push_back(role);
    group.spec.roles.back().name = fmt::format("r{}", i);
    if (i > 0) group.spec.roles.back().after = {{i - 1, AfterWhat::Succeeded}};
  }
  EXPECT_EQ(problems_of(group), std::vector<std::string>{});
  group.spec.roles[0].after = {{kRolesMax - 1, AfterWhat::Started}};
  EXPECT_EQ(problems_of(group).size(), 1U);
  group.spec.roles.resize(100'000);
  const auto found = problems_of(group);
  EXPECT_EQ(found[0], "spec.roles: 100000 entries are more than 256");
}

TEST(Validate, SaysWhatIsWrongWithAHost) {
  const HostInfo host{"n001", {{"cpu", 96'000}, {"gpu", 0}}, {"b1", "r1"}, {{"model", "h100"}}, false, false};
  EXPECT_EQ(lines(validate(host)), std::vector<std::string>{});
  struct HostCase {
    std::function<void(HostInfo&)> change;
    const char* problem;
  };
  const std::vector<HostCase> all = {
      {[](HostInfo& h) { h.name = "N1"; }, "name: 'N1' is not a name"},
      {[](HostInfo& h) { h.counters[1].name = "cpu"; }, "counters.cpu: is given twice"},
      {[](HostInfo& h) { h.counters[1].amount = -1; }, "counters.gpu: -1 is not between 0"},
      {[](HostInfo& h) { h.counters.resize(65); }, "counters: 65 entries are more than 64"},
      {[](HostInfo& h) {
         h.at = {"b1", ""};
       },
       "at[1]: is empty"},
      {[](HostInfo& h) { h.at = {"b1/r1"}; }, "at[0]: the name of a domain holds no '/'"},
      {[](HostInfo& h) { h.at.assign(17, "x"); }, "at: 17 entries are more than 16"},
      {[](HostInfo& h) {
         h.attributes.push_back({"model", "b"});
       },
       "attributes.model: is given twice"},
      {[](HostInfo& h) { h.attributes[0].value = "\xc0\x80"; }, "attributes.model: is not UTF-8"},
  };
  for (const HostCase& one : all) {
    HostInfo changed = host;
    one.change(changed);
    const auto found = lines(validate(changed));
    EXPECT_TRUE(
        std::any_of(found.begin(), found.end(), [&](const std::string& line) { return line.starts_with(one.problem); }))
        << "expected " << one.problem;
  }
}

}  // namespace
}  // namespace lockstep
