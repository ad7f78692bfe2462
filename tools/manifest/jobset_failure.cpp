// The failure policy of a JobSet as rules of ours. A Job's own podFailurePolicy is asked first: what it ignores runs
// again, and what it fails has the reason PodFailurePolicy, which the JobSet's rules may name.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tools/manifest/jobset.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

struct Outcome {
  FailureAction action{FailureAction::FailGroup};
  bool charge{true};
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct Rule {
  std::vector<const ReplicatedJob*> jobs{};
  bool all_jobs{};
  std::vector<std::string> reasons{};  // of Jobs; empty = any
  bool restarts_job{};                 // the one that failed, not the JobSet
  Outcome outcome{};

  [[nodiscard]] bool names(std::string_view reason) const {
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
  }
  [[nodiscard]] bool applies(const ReplicatedJob& job, std::string_view reason) const {
    return (reasons.empty() || names(reason)) && std::find(jobs.begin(), jobs.end(), &job) != jobs.end();
  }
  // What runs again when a Job of `job` does: its role, or, when a Job is one pod, that member.
  [[nodiscard]] Outcome outcome_for(const ReplicatedJob& job) const {
    if (!restarts_job) return outcome;
    const bool is_member = job.replicas > 1 && job.pods == 1 && job.roles.size() == 1;
    return {is_member ? FailureAction::RestartMember : FailureAction::RestartRole, outcome.charge};
  }
};

class FailureReader {
 public:
  explicit FailureReader(JobSetReader& jobset) : jobset_(jobset), failure_(jobset.group.spec.failure) {}

  void read(const Value* value) {
    if (value != nullptr) read_policy(*value);
    for (const ReplicatedJob& job : jobset_.jobs) add_pod_rules(job);
    for (const Rule& rule : rules_) add_rule(rule);
  }

 private:
  void read_policy(const Value& value) {
    MapReader map(value);
    std::int64_t restarts = 0;
    if (const auto max = map.find("maxRestarts")) {
      max->read_integer(restarts, 0, kRestartsMax);
    }
    failure_.max_restarts = static_cast<std::uint32_t>(restarts);
    failure_.default_action = FailureAction::RestartGroup;
    failure_.backoff.base = {};  // JobSet restarts at once
    read_strategy(map);
    if (const auto rules = map.find("rules")) {
      rules->each(kRulesMax, [&](const Value& rule) { read_rule(rule); });
    }
    jobset_.not_carried.add_rest(map);
  }

  void read_strategy(MapReader& map) {
    const auto value = map.find("restartStrategy");
    std::string strategy;
    if (!value || !value->read_text(strategy)) return;
    if (strategy == "InPlaceRestart") {
      jobset_.not_carried.add(*value, "members are stopped and started again on the same hosts");
    } else if (strategy != "Recreate" && strategy != "BlockingRecreate") {
      value->problem(fmt::format("{} is none of Recreate, BlockingRecreate, InPlaceRestart", in_quotes(strategy)));
    }
  }

  void read_rule(const Value& value) {
    MapReader map(value);
    Rule rule;
    const bool good = read_action(map, rule);
    read_reasons(map, rule);
    if (const auto patterns = map.find("onJobFailureMessagePatterns")) {
      patterns->problem("the message of a Job is known to Kubernetes only, and without it the rule would match more");
    }
    rule.jobs = jobset_.read_targets(map);
    rule.all_jobs = rule.jobs.size() == jobset_.jobs.size();
    tell_wider(value, rule);
    jobset_.not_carried.add_rest(map);
    if (good) rules_.push_back(std::move(rule));
  }

  static bool read_action(MapReader& map, Rule& rule) {
    const auto value = map.need("action");
    std::string action;
    if (!value || !value->read_text(action)) return false;
    constexpr std::string_view kUncharged = "AndIgnoreMaxRestarts";
    std::string_view verb = action;
    if (verb.ends_with(kUncharged)) {
      verb.remove_suffix(kUncharged.size());
      rule.outcome.charge = false;
    }
    rule.restarts_job = verb == "RestartJob";
    if (verb == "RestartJobSet") rule.outcome.action = FailureAction::RestartGroup;
    if (rule.restarts_job || verb == "RestartJobSet" || action == "FailJobSet") return true;
    value->problem(
        fmt::format("{} is none of FailJobSet, RestartJobSet, RestartJobSetAndIgnoreMaxRestarts, RestartJob, "
                    "RestartJobAndIgnoreMaxRestarts",
                    in_quotes(action)));
    return false;
  }

  static void read_reasons(MapReader& map, Rule& rule) {
    static constexpr std::array<std::string_view, 5> kKnown{kBackoffLimitExceeded, "DeadlineExceeded", kFailedIndexes,
                                                            "MaxFailedIndexesExceeded", kPodFailurePolicy};
    const auto value = map.find("onJobFailureReasons");
    if (!value) return;
    value->each(kListMax, [&](const Value& item) {
      std::string reason;
      if (!item.read_text(reason)) return;
      if (std::find(kKnown.begin(), kKnown.end(), reason) == kKnown.end()) {
        item.problem(fmt::format("{} is none of {}", in_quotes(reason), fmt::join(kKnown, ", ")));
        return;
      }
      rule.reasons.push_back(std::move(reason));
    });
  }

  // A Job of several pods, one of several in its role, cannot be told apart from the others.
  void tell_wider(const Value& value, const Rule& rule) {
    if (!rule.restarts_job) return;
    for (const ReplicatedJob* job : rule.jobs) {
      if (job->replicas == 1 || job->pods == 1 || job->roles.size() != 1) continue;
      jobset_.not_carried.add(value, fmt::format("all {} Jobs of {} run again; that only the failed one does",
                                                 job->replicas, printable(job->name)));
    }
  }

  // ---- rules of ours ---------------------------------------------------------------------------------------------

  [[nodiscard]] Outcome outcome_of(const ReplicatedJob& job, std::string_view reason) const {
    for (const Rule& rule : rules_) {
      if (rule.applies(job, reason)) return rule.outcome_for(job);
    }
    return {failure_.default_action, true};
  }

  void add_pod_rules(const ReplicatedJob& job) {
    for (const PodRule& pod_rule : job.pod_rules) {
      FailureRule rule = pod_rule.match;
      rule.roles = job.roles;
      const Outcome outcome =
          pod_rule.reason.empty() ? Outcome{FailureAction::RestartMember, false} : outcome_of(job, pod_rule.reason);
      add(std::move(rule), outcome);
    }
  }

  // What a Job can fail of besides its podFailurePolicy, in our words; nothing when a rule is about other reasons only.
  [[nodiscard]] static std::optional<std::vector<FailureReason>> reasons_of(const Rule& rule) {
    if (rule.reasons.empty()) return std::vector<FailureReason>{};
    std::vector<FailureReason> reasons;
    if (rule.names(kBackoffLimitExceeded)) {
      reasons = {FailureReason::Exited, FailureReason::Signaled, FailureReason::OutOfMemory, FailureReason::HostLost,
                 FailureReason::LaunchFailed};
    }
    if (rule.names("DeadlineExceeded")) reasons.push_back(FailureReason::RunTimeout);
    if (reasons.empty()) return {};
    return reasons;
  }

  void add_rule(const Rule& rule) {
    const auto reasons = reasons_of(rule);
    if (!reasons) return;
    std::vector<Outcome> outcomes;
    for (const ReplicatedJob* job : rule.jobs) {
      const Outcome outcome = rule.outcome_for(*job);
      if (std::find(outcomes.begin(), outcomes.end(), outcome) == outcomes.end()) outcomes.push_back(outcome);
    }
    for (const Outcome& outcome : outcomes) {
      FailureRule ours;
      ours.reasons = *reasons;
      for (const ReplicatedJob* job : rule.jobs) {
        if (rule.outcome_for(*job) == outcome)
          ours.roles.insert(ours.roles.end(), job->roles.begin(), job->roles.end());
      }
      if (rule.all_jobs && outcomes.size() == 1) ours.roles.clear();
      add(std::move(ours), outcome);
    }
  }

  void add(FailureRule rule, const Outcome& outcome) {
    std::sort(rule.roles.begin(), rule.roles.end());
    rule.action = outcome.action;
    rule.charge = outcome.charge;
    failure_.rules.push_back(std::move(rule));
  }

  JobSetReader& jobset_;
  FailurePolicy& failure_;
  std::vector<Rule> rules_{};
};

}  // namespace

void read_failure_policy(JobSetReader& jobset, const Value* value) { FailureReader(jobset).read(value); }

}  // namespace lockstep
