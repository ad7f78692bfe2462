// JobSet's tests of its failure policy: which failed Job is looked at, which rule matches it, and what the status is
// after the rule's action.

#include <algorithm>
#include <array>
#include <set>

#include "tests/peers/jobset_story.h"

namespace lockstep {
namespace {

const std::vector<Difference> kFailurePolicyDifferences{
    {"a rule looks at role, reason, exit code and signal",
     "the text of a message is for people: it changes with a release, and two agents word the same end differently",
     {"a job has failed and the failure policy rule matches the job failure message pattern",
      "a job has failed and the failure policy rule does not match the job failure message pattern",
      "a job has failed and the failure policy rule matches both the job failure reason and message pattern",
      "a job has failed and the failure policy rule matches the job failure reason but not the message pattern"},
     {"cannot say: a rule about the text of a message", "expected group g attempt 2, got 1",
      "expected group g end none, got Exited"}},
    {"facts, not rules, in events",
     "an event carries what was charged and what a stop is for; rules have no names, and replay never asks them",
     {"RestartJobSet when restarts < maxRestarts with matching rule sets FailurePolicy_{RuleName} reason"},
     {"cannot say: the name of the rule that matched"}},
};

// All members run; what is reported afterwards waits until everybody was heard, as it may in one batch.
void begin(Story& story, const std::vector<RoleLine>& roles, const std::string& failure) {
  story.line("host n1 cpu=100\nagents auto\nscheduler auto\nrun " +
             group_block(roles, "  failure: {backoff: {base: 0s}, " + failure + "}\n") + "\nagents manual");
}

int hours_ago(const Json& job) {
  const std::string when = text_at(job, "failed_at");
  return when.starts_with("now-") ? std::stoi(when.substr(4)) : 0;
}

// The failed Jobs in the order of their failures, by their index in the table; those that did not fail are left out.
std::vector<std::size_t> by_time(const Json& jobs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].contains("failed_at")) order.push_back(i);
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return hours_ago(jobs[a]) > hours_ago(jobs[b]); });
  return order;
}

// Which of several is blamed.
Story tell_first_failed(const Json& entry) {
  Story story;
  const Json& jobs = at(entry, "inputs", "failedJobs");
  begin(story, {{"w", std::max<std::size_t>(jobs.size(), 1)}}, "default: failGroup");
  for (const auto i : by_time(jobs)) story.line("advance 1s\nexit g/w[" + std::to_string(i) + "] code=1");
  story.line("agents auto");
  const Json& expected = at(entry, "expected", "expected");
  if (expected.is_null()) story.line("expect group g end none");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i] == expected) story.line("expect group g end.member " + std::to_string(i));
  }
  return story;
}

// The rule fails the group; what it does not match restarts it.
Story tell_applicable(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const Json& rule = inputs.at("rule");
  const std::string job =
      inputs.at("failedJob").at("with").at(0).at(1).at("jobset.sigs.k8s.io/replicatedjob-name").get<std::string>();
  std::set<std::string> names{role_name(job)};
  for (const Json& target : at(rule, "TargetReplicatedJobs")) names.insert(role_name(target.get<std::string>()));
  std::vector<RoleLine> roles;
  for (const auto& name : names) roles.push_back({name});
  begin(story, roles,
        "maxRestarts: 1, default: restartGroup, rules: [{" + filter_text(rule, story) + "action: failGroup}]");
  story.line("exit g/" + role_name(job) +
             "[0] code=" + std::to_string(exit_code_of(text_at(inputs, "jobFailureReason"))));
  story.line("agents auto");
  const bool applies = at(entry, "expected", "expected") == true;
  story.line(applies ? "expect group g end Exited" : "expect group g end none\nexpect group g attempt 2");
  return story;
}

// All rules of the table restart the JobSet. So that one sees which one matched, each gets an action of its own here.
struct Mark {
  std::string_view action;
  std::string_view seen;
};
constexpr std::array<Mark, 3> kMarks{
    Mark{"action: restartGroup", "expect group g attempt 2\nexpect group g charged 1"},
    Mark{"action: restartGroup, charge: false", "expect group g attempt 2\nexpect group g charged 0"},
    Mark{"action: restartMember", "expect group g attempt 1\nexpect group g charged 1"}};

Story tell_matching_rule(const Json& entry) {
  Story story;
  const Json& jobs = at(entry, "inputs", "failedOwnedJobs");
  const Json& rules = at(entry, "inputs", "rules");
  const std::string job = jobs.empty() ? "w" : role_name(text_at(jobs[0], "parentReplicatedJobName"));
  std::vector<RoleLine> roles{{job, std::max<std::size_t>(jobs.size(), 1)}};
  std::string rules_text;
  std::string_view seen = jobs.empty() ? "expect group g end none" : "expect group g end Exited";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules_text += "{" + filter_text(rules[i], story) + std::string(kMarks.at(i).action) + "}, ";
    if (rules[i] == at(entry, "expected", "expectedFailurePolicyRule")) seen = kMarks.at(i).seen;
    for (const Json& target : at(rules[i], "TargetReplicatedJobs"))
      roles.push_back({role_name(target.get<std::string>())});
  }
  begin(story, roles, "maxRestarts: 1, default: failGroup, rules: [" + rules_text + "]");
  const Json& expected_job = at(entry, "expected", "expectedJob");
  for (const auto i : by_time(jobs)) {
    if (jobs[i] == expected_job) story.line("expect group g phase Running");
    story.line("advance 1s\nexit g/" + job + "[" + std::to_string(i) +
               "] code=" + std::to_string(exit_code_of(text_at(jobs[i], "reason"))));
    if (jobs[i] == expected_job) story.line("not expect group g phase Running");
  }
  story.line("agents auto");
  story.line(seen);
  return story;
}

// Restarts that happened before the case begins: rules and exit codes of their own bring the counters about.
constexpr std::string_view kPastRules =
    "{exitCodes: [1], action: restartGroup}, {exitCodes: [2], action: restartGroup, charge: false}, "
    "{exitCodes: [3], action: restartMember}, {exitCodes: [4], action: restartMember, charge: false}, ";

struct Counters {
  std::uint64_t restarts{};
  std::uint64_t restarts_charged{};
  std::uint64_t job_restarts{};
  std::uint64_t job_restarts_charged{};
};

Counters counters_of(const Json& status) {
  Counters counters{number_at(status, "Restarts"), number_at(status, "RestartsCountTowardsMax")};
  for (const Json& job : at(status, "ReplicatedJobsStatus")) {
    counters.job_restarts = at(job, "JobRestarts").at(0).get<std::uint64_t>();
    counters.job_restarts_charged = at(job, "JobRestartsCountTowardsMax").at(0).get<std::uint64_t>();
  }
  return counters;
}

void tell_past(Story& story, const Counters& past) {
  const auto fail = [&](std::uint64_t times, int code) {
    for (; times > 0; --times) story.line("exit g/w[0] code=" + std::to_string(code));
  };
  story.line("agents auto");
  fail(past.restarts_charged, 1);
  fail(past.restarts - past.restarts_charged, 2);
  fail(past.job_restarts_charged, 3);
  fail(past.job_restarts - past.job_restarts_charged, 4);
  story.line("expect group g phase Running");
}

void expect_status(Story& story, const Json& status) {
  const Counters after = counters_of(status);
  const bool failed = text_at(status, "TerminalState") == "Failed";
  story.line("expect group g phase " + std::string(failed ? "Failed" : "Running"));
  story.line("expect group g attempt " + std::to_string(after.restarts + 1));
  story.line("expect group g charged " + std::to_string(after.restarts_charged + after.job_restarts_charged));
  story.line("expect member g/w[0] run " + std::to_string(1 + after.restarts + after.job_restarts));
  story.line("expect events GroupRestarted group=g " + std::to_string(after.restarts));
  for (const Json& condition : at(status, "Conditions")) {
    const std::string reason = text_at(condition, "Reason");
    if (reason == "ReachedMaxRestarts") story.line("expect group g end RestartBudgetExhausted");
    if (reason == "FailJobSetFailurePolicyAction") story.line("expect group g end Exited");
    if (reason.starts_with("FailurePolicy_")) story.cannot_say("the name of the rule that matched");
  }
}

Story tell_action(const Json& entry) {
  Story story;
  Json policy;
  Json status;
  for (const Json& with : at(entry, "inputs", "jobSet").at("with")) {
    if (with.at(0) == "FailurePolicy") policy = with.at(1);
    if (with.at(0) == "SetStatus") status = with.at(1);
  }
  begin(story, {{"w"}},
        "maxRestarts: " + std::to_string(number_at(policy, "MaxRestarts")) + ", rules: [" + std::string(kPastRules) +
            "{exitCodes: [10], " + action_text(text_at(entry.at("inputs"), "failurePolicyAction")) + "}]");
  tell_past(story, counters_of(status));
  story.line("exit g/w[0] code=10");
  expect_status(story, at(entry, "expected", "expectedJobSetStatus"));
  return story;
}

Story tell_failure_policy(const Json& entry) {
  const std::string test = text_at(entry, "test");
  if (test == "TestFindFirstFailedJob") return tell_first_failed(entry);
  if (test == "TestFailurePolicyRuleIsApplicable") return tell_applicable(entry);
  if (test == "TestFindFirstFailedPolicyRuleAndJob") return tell_matching_rule(entry);
  if (test == "TestApplyFailurePolicyRuleAction") return tell_action(entry);
  Story story;
  story.cannot_say(test);
  return story;
}

TEST_F(Peers, JobSetFailurePolicy) {
  compare("jobset_failure_policy_units", tell_failure_policy, kFailurePolicyDifferences);
}

}  // namespace
}  // namespace lockstep
