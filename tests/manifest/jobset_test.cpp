// JobSets: what every field that tools/manifest/jobset.h promises becomes. Shows R44.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/fields.h"
#include "tests/manifest/jobset_text.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

ManifestResult read_good(const std::string& text) {
  ManifestResult result = read_manifest(text, "caller");
  EXPECT_THAT(lines_of(result.problems), IsEmpty()) << text;
  EXPECT_EQ(result.groups.size(), 1U);
  result.groups.resize(1);
  return result;
}

DefineGroup jobset_of(const std::string& text) { return read_good(text).groups.front(); }
GroupSpec spec_of(const std::string& text) { return jobset_of(text).spec; }
std::vector<std::string> not_carried_of(const std::string& text) { return read_good(text).not_carried; }

// One role, "worker", of one pod with this spec.
TaskTerm task_of(std::string_view pod) {
  return spec_of(jobset_text(job_text("worker", "", "", pod))).roles[0].tasks[0];
}

// "driver 1, worker 8 after driver started"
std::string roles_line(const GroupSpec& spec) {
  std::string line;
  for (const RoleSpec& role : spec.roles) {
    EXPECT_TRUE(role.min == role.replicas && role.max == role.replicas) << role.name;
    line += (line.empty() ? "" : ", ") + role.name + ' ' + std::to_string(role.replicas);
    for (const After& after : role.after) {
      line += " after " + spec.roles[after.role].name + ' ' + std::string(name(after.what));
    }
  }
  return line;
}

// "RestartGroup uncharged: roles 0 1, HostLost, codes 1-41 43-50"
std::string rule_line(const FailureRule& rule) {
  std::string line(name(rule.action));
  if (!rule.charge) line += " uncharged";
  std::string filters;
  if (!rule.roles.empty()) filters += " roles";
  for (const RoleIndex role : rule.roles) filters += ' ' + std::to_string(role);
  for (const FailureReason reason : rule.reasons) filters += ' ' + std::string(name(reason));
  if (!rule.exit_codes.empty()) filters += " codes";
  for (const ExitRange range : rule.exit_codes) {
    filters += ' ' + std::to_string(range.first) + '-' + std::to_string(range.last);
  }
  return filters.empty() ? line : line + ':' + filters;
}

std::vector<std::string> rules_of(const std::string& text) {
  const GroupSpec spec = spec_of(text);
  std::vector<std::string> lines;
  for (const FailureRule& rule : spec.failure.rules) lines.push_back(rule_line(rule));
  return lines;
}

TEST(JobSet, IsAGroupOfTheSameNameWithTheDefaultsOfJobSet) {
  const DefineGroup group = jobset_of(jobset_text(job_text("worker")));
  EXPECT_EQ(group.identity.name, "js");
  EXPECT_EQ(group.identity.user, "caller");
  EXPECT_EQ(group.identity.queue, "default");
  EXPECT_FALSE(group.hold);
  DefineGroup want;
  want.spec.roles.resize(1);
  want.spec.roles[0].name = "worker";
  want.spec.roles[0].tasks.resize(1);
  want.spec.roles[0].command = {"run"};
  EXPECT_TRUE(group.spec == want.spec);  // so it fails at its first failure, and waits for all to succeed
}

TEST(JobSet, HasItsLabelsAndTheQueueOfKueue) {
  const DefineGroup group = jobset_of(jobset_text(
      job_text("worker"), "", "labels: {team: nlp, kueue.x-k8s.io/queue-name: train, app: x}, namespace: research"));
  EXPECT_EQ(group.identity.queue, "train");
  EXPECT_THAT(group.identity.labels, ElementsAre(KeyValue{"app", "x"}, KeyValue{"team", "nlp"}));
}

TEST(JobSet, HasAMemberForEachPodOfEachJob) {
  struct Case {
    std::string jobs;
    std::string_view roles;
  };
  for (const Case& c : {
           Case{job_text("a"), "a 1"},
           Case{job_text("a", "replicas: 3"), "a 3"},
           Case{job_text("a", "", pods(4)), "a 4"},
           Case{job_text("a", "replicas: 3", pods(4)) + ", " + job_text("b"), "a 12, b 1"},
           Case{job_text("a", "", "parallelism: 8, completions: 3"), "a 3"},
           Case{job_text("a", "", "completions: 1, completionMode: NonIndexed"), "a 1"},
           Case{job_text("a", "replicas: 1000", pods(1000)), "a 1000000"},
       }) {
    EXPECT_EQ(roles_line(spec_of(jobset_text(c.jobs))), c.roles);
  }
}

TEST(JobSet, HasARoleForEachJobWhenTheirTopologyIsExclusive) {
  const std::string key = "alpha.jobset.sigs.k8s.io/exclusive-topology: ";
  const std::string both = job_text("a", "replicas: 2", pods(3)) + ", " + job_text("b", "", pods(2));
  const GroupSpec all = spec_of(jobset_text(both, "", "annotations: {" + key + "rack}"));
  EXPECT_EQ(roles_line(all), "a-0 3, a-1 3, b 2");
  for (const RoleSpec& role : all.roles) EXPECT_EQ(role.topology.required, "rack");

  const std::string own = "{name: a, replicas: 2, template: {metadata: {annotations: {" + key +
                          "block}}, spec: {template: {spec: {" + std::string(kMain) + "}}}}}";
  const GroupSpec one = spec_of(jobset_text(own + ", " + job_text("b", "replicas: 2")));
  EXPECT_EQ(roles_line(one), "a-0 1, a-1 1, b 2");
  EXPECT_EQ(one.roles[1].topology.required, "block");
  EXPECT_EQ(one.roles[2].topology.required, "");
  const GroupSpec nearer = spec_of(jobset_text(own + ", " + job_text("b"), "", "annotations: {" + key + "rack}"));
  EXPECT_EQ(nearer.roles[1].topology.required, "block");
  EXPECT_EQ(nearer.roles[2].topology.required, "rack");
}

TEST(JobSet, KeepsARoleTogetherWhereKueueDoes) {
  const std::string worker =
      "{name: w, template: {spec: {backoffLimit: 0, template: {metadata: {annotations: "
      "{kueue.x-k8s.io/podset-required-topology: block, kueue.x-k8s.io/podset-preferred-topology: rack}}, spec: {" +
      std::string(kMain) + "}}}}}";
  EXPECT_EQ(spec_of(jobset_text(worker)).roles[0].topology, (Topology{"block", "rack"}));
  // Levels are named by the last part of a label; a host is a level of its own.
  std::string labels = worker;
  labels.replace(labels.find("topology: block"), 15, "topology: cloud.provider.com/topology-block");
  labels.replace(labels.find("topology: rack"), 14, "topology: kubernetes.io/hostname");
  EXPECT_EQ(spec_of(jobset_text(labels)).roles[0].topology, (Topology{"topology-block", "host"}));
  const ManifestResult both =
      read_good(jobset_text(worker, "", "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}"));
  EXPECT_EQ(both.groups[0].spec.roles[0].topology.required, "rack");
  EXPECT_THAT(both.not_carried, Contains("spec.replicatedJobs[0]: the exclusive topology decides; that all Jobs are in "
                                         "one block, not carried"));
}

TEST(JobSet, StartsInTheOrderThatItSays) {
  const std::string plain = job_text("a") + ", " + job_text("b") + ", " + job_text("c");
  struct Case {
    std::string text;
    std::string_view roles;
  };
  for (const Case& c : {
           Case{jobset_text(plain, "startupPolicy: {startupPolicyOrder: AnyOrder}"), "a 1, b 1, c 1"},
           Case{jobset_text(plain, "startupPolicy: {startupPolicyOrder: InOrder}"),
                "a 1, b 1 after a Started, c 1 after b Started"},
           Case{jobset_text(job_text("a") + ", " + job_text("b", "dependsOn: [{name: a, status: Complete}]")),
                "a 1, b 1 after a Succeeded"},
           Case{jobset_text(job_text("a") + ", " + job_text("b") + ", " +
                            job_text("c", "dependsOn: [{name: b, status: Ready}, {name: a, status: Complete}]")),
                "a 1, b 1, c 1 after a Succeeded after b Started"},
           Case{jobset_text(job_text("a", "replicas: 2") + ", " + job_text("b"),
                            "startupPolicy: {startupPolicyOrder: InOrder}",
                            "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}"),
                "a-0 1, a-1 1, b 1 after a-0 Started after a-1 Started"},
       }) {
    EXPECT_EQ(roles_line(spec_of(c.text)), c.roles);
  }
}

TEST(JobSet, WithAFailurePolicyRestartsAtOnceAndAsOftenAsItSays) {
  const FailurePolicy none = spec_of(jobset_text(job_text("a"))).failure;
  EXPECT_EQ(none.default_action, FailureAction::FailGroup);
  const FailurePolicy bare = spec_of(jobset_text(job_text("a"), "failurePolicy: {}")).failure;
  EXPECT_EQ(bare.default_action, FailureAction::RestartGroup);
  EXPECT_EQ(bare.max_restarts, 0U);
  EXPECT_EQ(bare.backoff.base, Duration{});
  for (const char* strategy : {"Recreate", "BlockingRecreate", "InPlaceRestart"}) {
    const std::string policy = "failurePolicy: {maxRestarts: 4, restartStrategy: " + std::string(strategy) + "}";
    const FailurePolicy some = spec_of(jobset_text(job_text("a"), policy)).failure;
    EXPECT_EQ(some.default_action, FailureAction::RestartGroup);
    EXPECT_EQ(some.max_restarts, 4U);
    EXPECT_THAT(some.rules, IsEmpty());
  }
}

TEST(JobSet, HasARuleForEachRuleOfItsFailurePolicy) {
  // One pod, one Job of several, many Jobs of one pod, many Jobs of several.
  const std::string jobs = job_text("a") + ", " + job_text("b", "", pods(2)) + ", " + job_text("c", "replicas: 2") +
                           ", " + job_text("d", "replicas: 2", pods(2));
  struct Case {
    std::string_view rules;
    std::vector<std::string> want;
  };
  for (const Case& c : {
           Case{"{action: FailJobSet}", {"FailGroup"}},
           Case{"{action: RestartJobSet, name: first}", {"RestartGroup"}},
           Case{"{action: RestartJobSetAndIgnoreMaxRestarts, targetReplicatedJobs: []}", {"RestartGroup uncharged"}},
           Case{"{action: FailJobSet, targetReplicatedJobs: [c, a]}", {"FailGroup: roles 0 2"}},
           Case{"{action: RestartJob}", {"RestartRole: roles 0 1 3", "RestartMember: roles 2"}},
           Case{"{action: RestartJobAndIgnoreMaxRestarts, targetReplicatedJobs: [b, c]}",
                {"RestartRole uncharged: roles 1", "RestartMember uncharged: roles 2"}},
           Case{"{action: FailJobSet, onJobFailureReasons: [BackoffLimitExceeded]}",
                {"FailGroup: Exited Signaled OutOfMemory HostLost LaunchFailed"}},
           Case{"{action: FailJobSet, onJobFailureReasons: [DeadlineExceeded], targetReplicatedJobs: [b]}",
                {"FailGroup: roles 1 RunTimeout"}},
           Case{
               "{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy, FailedIndexes, MaxFailedIndexesExceeded]}",
               {}},
           Case{"{action: FailJobSet, targetReplicatedJobs: [a]}, {action: RestartJobSet}",
                {"FailGroup: roles 0", "RestartGroup"}},
       }) {
    EXPECT_EQ(rules_of(jobset_text(jobs, "failurePolicy: {rules: [" + std::string(c.rules) + "]}")), c.want) << c.rules;
  }
}

TEST(JobSet, RestartsTheOneRoleOfAJobWithADomainOfItsOwn) {
  EXPECT_THAT(
      rules_of(jobset_text(job_text("a", "replicas: 2", pods(2)), "failurePolicy: {rules: [{action: RestartJob}]}",
                           "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}")),
      ElementsAre("RestartRole"));
}

TEST(JobSet, SaysWhenMoreRestartsThanTheJobThatFailed) {
  EXPECT_THAT(not_carried_of(
                  jobset_text(job_text("a", "replicas: 3", pods(2)), "failurePolicy: {rules: [{action: RestartJob}]}")),
              Contains("spec.failurePolicy.rules[0]: all 3 Jobs of a run again; that only the failed one does, not "
                       "carried"));
}

TEST(JobSet, AsksThePodFailurePolicyFirst) {
  struct Case {
    std::string_view pod_rules;
    std::string_view failure;  // "" = no failurePolicy
    std::vector<std::string> want;
  };
  constexpr std::string_view kOn42 = "onExitCodes: {operator: In, values: [42]}";
  constexpr std::string_view kOn1 = "onExitCodes: {operator: In, values: [1]}";
  const std::string ignored = "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}";
  const auto of = [](std::string_view action, std::string_view filter) {
    return "{action: " + std::string(action) + ", " + std::string(filter) + "}";
  };
  const std::string fail_42 = of("FailJob", kOn42);
  const std::string count_1 = of("Count", kOn1) + ", " + of("FailJob", "onExitCodes: {operator: NotIn, values: [0]}");
  const std::string index_1 = of("FailIndex", kOn1);
  for (const Case& c : {
           Case{ignored, "", {"RestartMember uncharged: roles 1 HostLost"}},
           Case{fail_42, "", {"FailGroup: roles 1 codes 42-42"}},
           Case{fail_42, "{}", {"RestartGroup: roles 1 codes 42-42"}},
           Case{fail_42,
                "{rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]}",
                {"FailGroup: roles 1 codes 42-42"}},
           Case{fail_42,
                "{rules: [{action: FailJobSet, onJobFailureReasons: [BackoffLimitExceeded]}]}",
                {"RestartGroup: roles 1 codes 42-42", "FailGroup: Exited Signaled OutOfMemory HostLost LaunchFailed"}},
           Case{
               fail_42,
               "{rules: [{action: FailJobSet, targetReplicatedJobs: [a]}, {action: RestartJob}, {action: FailJobSet}]}",
               {"RestartRole: roles 1 codes 42-42", "FailGroup: roles 0", "RestartRole", "FailGroup"}},
           Case{fail_42,
                "{rules: [{action: RestartJobSetAndIgnoreMaxRestarts}]}",
                {"RestartGroup uncharged: roles 1 codes 42-42", "RestartGroup uncharged"}},
           // What is counted is not what the rule after it fails.
           Case{count_1,
                "{rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]}",
                {"RestartGroup: roles 1 codes 1-1", "FailGroup: roles 1 codes 1-2147483647"}},
           Case{index_1,
                "{rules: [{action: FailJobSet, onJobFailureReasons: [FailedIndexes]}]}",
                {"FailGroup: roles 1 codes 1-1"}},
       }) {
    const std::string jobs =
        job_text("a") + ", " + job_text("b", "", "podFailurePolicy: {rules: [" + std::string(c.pod_rules) + "]}");
    const std::string policy = c.failure.empty() ? "" : "failurePolicy: " + std::string(c.failure);
    EXPECT_EQ(rules_of(jobset_text(jobs, policy)), c.want) << c.pod_rules << ' ' << c.failure;
  }
}

TEST(JobSet, TellsWhichFailuresAPodFailurePolicyIsAbout) {
  struct Case {
    std::string_view filter;
    std::string_view want;  // "" = no rule
  };
  for (const Case& c : {
           Case{"onExitCodes: {operator: In, values: [3, 1]}", " codes 3-3 1-1"},
           Case{"onExitCodes: {operator: NotIn, values: [0]}", " codes 1-2147483647"},
           Case{"onExitCodes: {operator: NotIn, values: [42, 1, 42]}", " codes 2-41 43-2147483647"},
           Case{"onExitCodes: {operator: NotIn, values: [2147483647]}", " codes 1-2147483646"},
           Case{"onExitCodes: {containerName: main, operator: In, values: [1]}", " codes 1-1"},
           Case{"onExitCodes: {containerName: other, operator: In, values: [1]}", ""},
           Case{"onPodConditions: [], onExitCodes: {operator: In, values: [1]}", " codes 1-1"},
           Case{"onPodConditions: [{type: DisruptionTarget, status: 'True'}]", " HostLost"},
           Case{"onPodConditions: [{type: Strange}, {type: DisruptionTarget}]", " HostLost"},
           Case{"onPodConditions: [{type: DisruptionTarget, status: 'False'}]", ""},
           Case{"onPodConditions: [{type: Strange}]", ""},
       }) {
    const std::string policy = "podFailurePolicy: {rules: [{action: FailJob, " + std::string(c.filter) + "}]}";
    std::vector<std::string> want;
    if (!c.want.empty()) want.push_back("FailGroup: roles 0" + std::string(c.want));
    EXPECT_EQ(rules_of(jobset_text(job_text("a", "", policy))), want) << c.filter;
  }
}

TEST(JobSet, SucceedsAsItsPolicySays) {
  const std::string jobs = job_text("a") + ", " + job_text("b", "replicas: 2") + ", " + job_text("c", "", pods(2));
  struct Case {
    std::string_view policy;
    SuccessPolicy want;
  };
  for (const Case& c : {
           Case{"{operator: All}", {SuccessOperator::All, {}, SuccessRest::Wait}},
           Case{"{operator: All, targetReplicatedJobs: [a, b, c]}", {SuccessOperator::All, {}, SuccessRest::Wait}},
           Case{"{operator: All, targetReplicatedJobs: [c, a]}", {SuccessOperator::All, {0, 2}, SuccessRest::Kill}},
           Case{"{operator: Any, targetReplicatedJobs: [b]}", {SuccessOperator::Any, {1}, SuccessRest::Kill}},
       }) {
    const SuccessPolicy got = spec_of(jobset_text(jobs, "successPolicy: " + std::string(c.policy))).success;
    EXPECT_TRUE(got == c.want) << c.policy;
  }
  const GroupSpec any = spec_of(jobset_text(job_text("a") + ", " + job_text("b"), "successPolicy: {operator: Any}"));
  EXPECT_TRUE(any.success == (SuccessPolicy{SuccessOperator::Any, {}, SuccessRest::Kill}));
}

TEST(JobSet, ThatIsSuspendedIsHeld) {
  EXPECT_TRUE(jobset_of(jobset_text(job_text("a"), "suspend: true")).hold);
  EXPECT_FALSE(jobset_of(jobset_text(job_text("a"), "suspend: false")).hold);
}

TEST(JobSet, HasTheClocksThatItSays) {
  const GroupSpec usual;
  EXPECT_EQ(spec_of(jobset_text(job_text("a"), "ttlSecondsAfterFinished: 60")).ttl_after_finished, seconds(60));
  EXPECT_EQ(spec_of(jobset_text(job_text("a"), "ttlSecondsAfterFinished: 0")).ttl_after_finished, Duration{1});
  const auto stop_of = [](std::string_view a, std::string_view b) {
    const auto with_grace = [](std::string_view seconds) {
      return joined("terminationGracePeriodSeconds: " + std::string(seconds), kMain);
    };
    return spec_of(jobset_text(job_text("a", "", "", with_grace(a)) + ", " + job_text("b", "", "", with_grace(b))))
        .timeouts.stop;
  };
  EXPECT_EQ(stop_of("5", "90"), seconds(90));
  EXPECT_EQ(stop_of("7", "0"), seconds(7));
  EXPECT_EQ(stop_of("0", "0"), usual.timeouts.stop);
}

TEST(JobSet, HasAClaimForEachTemplate) {
  const std::string claims =
      "volumeClaimPolicies: [{templates: [{metadata: {name: scratch}, spec: {resources: {requests: {storage: "
      "2Gi}}}}]}, "
      "{retentionPolicy: {whenDeleted: Retain}, templates: [{metadata: {name: data}}, {metadata: {name: logs}}]}, "
      "{retentionPolicy: {whenDeleted: Delete}, templates: [{metadata: {name: tmp}}]}]";
  EXPECT_TRUE(spec_of(jobset_text(job_text("a"), claims)).claims ==
              (std::vector<ClaimSpec>{{"scratch", ClaimKind::Template, ClaimPer::Group, {}, 2 * kGi},
                                      {"data-js", ClaimKind::Standalone, ClaimPer::Group, {}, 0},
                                      {"logs-js", ClaimKind::Standalone, ClaimPer::Group, {}, 0},
                                      {"tmp", ClaimKind::Template, ClaimPer::Group, {}, 0}}));
}

TEST(JobSet, AsksForWhatItsContainersAskForTogether) {
  struct Case {
    std::string_view pod;
    std::vector<Counter> want;
  };
  for (
      const Case& c : {
          Case{"containers: [{resources: {requests: {cpu: '4', memory: 64Gi, nvidia.com/gpu: 8}}}]",
               {{"cpu", 4000}, {"gpu", 8}, {"mem", 64 * kGi}}},
          Case{"containers: [{resources: {requests: {cpu: 500m}, limits: {cpu: 2, amd.com/gpu: 1}}}]",
               {{"cpu", 500}, {"gpu", 1}}},
          Case{"containers: [{resources: {limits: {google.com/tpu: 4}}}]", {{"google.com/tpu", 4}}},
          Case{"containers: [{resources: {requests: {cpu: 0}}}]", {}},
          Case{"containers: [{resources: {requests: {cpu: 1.5}}}, {resources: {requests: {cpu: 0.25, memory: 1k}}}]",
               {{"cpu", 1750}, {"mem", 1000}}},
          // Each init container by itself ...
          Case{"initContainers: [{resources: {requests: {cpu: 3}}}, {resources: {requests: {cpu: 2, memory: 8}}}], "
               "containers: [{resources: {requests: {cpu: 1}}}]",
               {{"cpu", 3000}, {"mem", 8}}},
          // ... beside those that stay.
          Case{
              "initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 4}}}, {resources: {requests: {cpu: "
              "8}}}], containers: [{resources: {requests: {cpu: 1}}}]",
              {{"cpu", 12000}}},
          Case{
              "initContainers: [{resources: {requests: {cpu: 2}}}, {restartPolicy: Always, resources: {requests: {cpu: "
              "4}}}], containers: [{resources: {requests: {cpu: 1}}}]",
              {{"cpu", 5000}}},
      }) {
    EXPECT_EQ(task_of(c.pod).requests, c.want) << c.pod;
  }
}

TEST(JobSet, SelectsTheHostsThatItsPodsSelect) {
  EXPECT_THAT(task_of("nodeSelector: {zone: b, accelerator: h100}, " + std::string(kMain)).select,
              ElementsAre(KeyValue{"accelerator", "h100"}, KeyValue{"zone", "b"}));
}

TEST(JobSet, RunsWhatItsFirstContainerRuns) {
  const std::string pod =
      "containers: [{name: main, command: [python, train.py], args: [--steps, 100], env: [{name: B, value: 1}, {name: "
      "A, "
      "value: x}, {name: B, value: '2'}, {name: C}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}, "
      "{name: log, command: [tail], env: [{name: Z, value: z}]}]";
  const ManifestResult result = read_good(jobset_text(job_text("a", "", "", pod)));
  const RoleSpec& role = result.groups[0].spec.roles[0];
  EXPECT_THAT(role.command, ElementsAre("python", "train.py", "--steps", "100"));
  EXPECT_THAT(role.env, ElementsAre(KeyValue{"A", "x"}, KeyValue{"B", "2"}, KeyValue{"C", ""}));
  const std::string containers = "spec.replicatedJobs[0].template.spec.template.spec.containers";
  EXPECT_THAT(
      result.not_carried,
      ElementsAre(containers + "[0].env[4].valueFrom: POD is known to Kubernetes only, not carried",
                  containers + "[1]: what it asks for is counted, but only the first container runs, not carried"));
}

TEST(JobSet, NamesEachFieldThatIsNotCarried) {
  const std::string job = "spec.replicatedJobs[0].template.spec";
  const std::string pod = job + ".template.spec";
  struct Case {
    std::string text;
    std::vector<std::string> lines;
  };
  for (const Case& c : {
           Case{jobset_text(job_text("a")), {}},
           Case{jobset_text(job_text("a"), "network: {subdomain: x}, coordinator: {replicatedJob: a}, managedBy: me",
                            "namespace: x, annotations: {note: y}"),
                {"metadata.annotations.note: not carried", "metadata.namespace: not carried",
                 "spec.network: not carried", "spec.coordinator: not carried", "spec.managedBy: not carried"}},
           Case{jobset_text(job_text("a", "groupName: g")), {"spec.replicatedJobs[0].groupName: not carried"}},
           Case{jobset_text(job_text("a", "", "activeDeadlineSeconds: 60, completionMode: NonIndexed, completions: 1")),
                {job + ".completionMode: members have an index all the same, not carried",
                 job + ".activeDeadlineSeconds: not carried"}},
           Case{jobset_text(job_text("a", "", "parallelism: 4, completions: 2")),
                {job + ".parallelism: only 2 pods ever run, as completions says, not carried"}},
           Case{jobset_text("{name: a, template: {spec: {template: {spec: {" + std::string(kMain) + "}}}}}"),
                {job +
                 ": the failure policy decides at a pod's first failure; 6 retries (backoffLimit is left out), not "
                 "carried"}},
           Case{jobset_text("{name: a, template: {spec: {backoffLimit: 3, template: {spec: {" + std::string(kMain) +
                            "}}}}}"),
                {job + ".backoffLimit: the failure policy decides at a pod's first failure; 3 retries, not carried"}},
           Case{jobset_text(
                    job_text("a", "", "", "containers: [{image: busybox, args: [x], ports: [{containerPort: 1}]}]")),
                {pod + ".containers[0].args: the command is the image's own and not known here, not carried",
                 pod + ".containers[0].image: an agent runs the command as it is, not carried",
                 pod + ".containers[0].ports: not carried"}},
           Case{jobset_text(job_text(
                    "a", "", "", joined("restartPolicy: Never, hostNetwork: true, priorityClassName: high", kMain))),
                {pod + ".priorityClassName: the value of the class is not known here; give the group a priority, not "
                       "carried",
                 pod + ".hostNetwork: not carried"}},
           Case{jobset_text(job_text("a", "", "", joined("initContainers: [{name: i}]", kMain))),
                {pod +
                 ".initContainers[0]: what it asks for is counted, but only the first container runs, not carried"}},
           Case{jobset_text(job_text(
                    "a", "", "podFailurePolicy: {rules: [{action: Count, onPodConditions: [{type: Strange}]}]}")),
                {job + ".podFailurePolicy.rules[0].action: a failure counts at once, not carried",
                 job + ".podFailurePolicy.rules[0].onPodConditions[0].type: Strange is a condition known to Kubernetes "
                       "only, not carried"}},
           Case{jobset_text(job_text("a"),
                            "failurePolicy: {restartStrategy: InPlaceRestart, rules: [{name: r, action: "
                            "FailJobSet}]}"),
                {"spec.failurePolicy.restartStrategy: members are stopped and started again on the same hosts, not "
                 "carried",
                 "spec.failurePolicy.rules[0].name: not carried"}},
           Case{jobset_text(job_text("a"),
                            "volumeClaimPolicies: [{templates: [{metadata: {name: c, labels: {a: b}}, spec: "
                            "{accessModes: [ReadWriteMany]}}]}]"),
                {"spec.volumeClaimPolicies[0].templates[0].metadata.labels: not carried",
                 "spec.volumeClaimPolicies[0].templates[0].spec.accessModes: not carried"}},
           Case{jobset_text(job_text("a"), "", "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}"),
                {"spec.replicatedJobs[0]: the pods of each Job are kept together in one rack; that no other Job shares "
                 "it, not carried"}},
       }) {
    EXPECT_EQ(not_carried_of(c.text), c.lines) << c.text;
  }
}

}  // namespace
}  // namespace lockstep
