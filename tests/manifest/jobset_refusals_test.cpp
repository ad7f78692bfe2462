// What is refused of JobSets, each with the path its author wrote. Shows R44.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/manifest/jobset_text.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(JobSetRefuses, WhatIsNoJobSetOfTheVersionThatWeKnow) {
  EXPECT_THAT(
      refusals_of("kind: JobSet\napiVersion: jobset.x-k8s.io/v1\nmetadata: {name: js}\nspec: {replicatedJobs: [" +
                  job_text("a") + "]}"),
      ElementsAre("apiVersion: \"jobset.x-k8s.io/v1\" is not jobset.x-k8s.io/v1alpha2"));
  EXPECT_THAT(refusals_of("kind: JobSet"), ElementsAre("metadata: is missing", "spec: is missing"));
  EXPECT_THAT(
      refusals_of("kind: JobSet\nmetadata: {generateName: a-}\nspec: {replicatedJobs: []}"),
      ElementsAre("metadata.name: is missing", "spec.replicatedJobs: is missing; a group has at least one role"));
}

TEST(JobSetRefuses, ASpecThatIsWrong) {
  struct Case {
    std::string_view spec;
    std::string_view problem;
  };
  for (const Case& c : {
           Case{"suspend: 'yes'", "spec.suspend: \"yes\" is neither true nor false"},
           Case{"ttlSecondsAfterFinished: -1", "spec.ttlSecondsAfterFinished: -1 is negative"},
           Case{"startupPolicy: {startupPolicyOrder: Reverse}",
                "spec.startupPolicy.startupPolicyOrder: \"Reverse\" is none of AnyOrder, InOrder"},
           Case{"startupPolicy: {startupPolicyOrder: InOrder}",
                "spec.startupPolicy.startupPolicyOrder: InOrder and dependsOn cannot both be given"},
           Case{"successPolicy: {operator: Most}", "spec.successPolicy.operator: \"Most\" is none of All, Any"},
           Case{"successPolicy: {operator: All, targetReplicatedJobs: [b, z]}",
                "spec.successPolicy.targetReplicatedJobs[1]: no replicatedJob is named \"z\""},
           Case{"successPolicy: {operator: Any}",
                "spec.successPolicy.operator: Any would end the group when one of the 2 pods of a Job of b has "
                "succeeded, "
                "not all"},
           Case{"failurePolicy: {maxRestarts: -1}", "spec.failurePolicy.maxRestarts: -1 is negative"},
           Case{"failurePolicy: {restartStrategy: Never}",
                "spec.failurePolicy.restartStrategy: \"Never\" is none of Recreate, BlockingRecreate, InPlaceRestart"},
           Case{"failurePolicy: {rules: [{name: r}]}", "spec.failurePolicy.rules[0].action: is missing"},
           Case{"failurePolicy: {rules: [{action: FailJobSetAndIgnoreMaxRestarts}]}",
                "spec.failurePolicy.rules[0].action: \"FailJobSetAndIgnoreMaxRestarts\" is none of FailJobSet, "
                "RestartJobSet, RestartJobSetAndIgnoreMaxRestarts, RestartJob, RestartJobAndIgnoreMaxRestarts"},
           Case{"failurePolicy: {rules: [{action: FailJobSet, onJobFailureReasons: [Sad]}]}",
                "spec.failurePolicy.rules[0].onJobFailureReasons[0]: \"Sad\" is none of BackoffLimitExceeded, "
                "DeadlineExceeded, FailedIndexes, MaxFailedIndexesExceeded, PodFailurePolicy"},
           Case{"failurePolicy: {rules: [{action: FailJobSet, onJobFailureMessagePatterns: [x]}]}",
                "spec.failurePolicy.rules[0].onJobFailureMessagePatterns: the message of a Job is known to Kubernetes "
                "only, and without it the rule would match more"},
           Case{"failurePolicy: {rules: [{action: FailJobSet, targetReplicatedJobs: [z]}]}",
                "spec.failurePolicy.rules[0].targetReplicatedJobs[0]: no replicatedJob is named \"z\""},
           Case{"volumeClaimPolicies: [{templates: [{spec: {}}]}]",
                "spec.volumeClaimPolicies[0].templates[0].metadata: is missing"},
           Case{"volumeClaimPolicies: [{templates: [{metadata: {name: c}}, {metadata: {name: Data}}]}]",
                "spec.volumeClaimPolicies[0].templates[1].metadata.name: 'Data' is not a name; use lowercase letters, "
                "digits, '-' and '.', at most 253 characters"},
           Case{"volumeClaimPolicies: [{retentionPolicy: {whenDeleted: Retain}, templates: [{metadata: {name: c}}]}, "
                "{templates: [{metadata: {name: c}}]}]",
                "spec.volumeClaimPolicies[1].templates[0].metadata.name: \"c\" is the name of another claim"},
           Case{"volumeClaimPolicies: [{retentionPolicy: {whenDeleted: Retian}, templates: [{metadata: {name: c}}]}]",
                "spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted: \"Retian\" is none of Delete, Retain"},
           Case{"volumeClaimPolicies: [{templates: [{metadata: {name: c}, spec: {resources: {requests: {storage: "
                "big}}}}]}]",
                "spec.volumeClaimPolicies[0].templates[0].spec.resources.requests.storage: \"big\" is not a quantity, "
                "as "
                "4, 500m, 1.5 or 64Gi"},
       }) {
    const std::string jobs = job_text("a") + ", " + job_text("b", "dependsOn: [{name: a, status: Ready}]", pods(2));
    EXPECT_THAT(refusals_of(jobset_text(jobs, c.spec)), ElementsAre(c.problem));
  }
}

TEST(JobSetRefuses, AReplicatedJobThatIsWrong) {
  struct Case {
    std::string job;
    std::string_view problem;  // after "spec.replicatedJobs[1]"
  };
  const auto rule = [](std::string_view text) {
    return job_text("b", "", "podFailurePolicy: {rules: [{" + std::string(text) + "}]}");
  };
  for (
      const Case& c : {
          Case{"b", ": text where a map is wanted"},
          Case{job_text("a"), ".name: 'a' is the name of another role"},
          Case{job_text("B"),
               ".name: 'B' is not a name; use lowercase letters, digits, '-' and '.', at most 253 characters"},
          Case{job_text("7"), ".name: 7 is a number where text is wanted; put it in quotes"},
          Case{job_text("b", "replicas: 0"), ".replicas: 0 is less than 1"},
          Case{job_text("b", "replicas: 1001", pods(1000)), ": 1001 Jobs of 1000 pods are more than 1000000 members"},
          Case{job_text("b", "replicas: 1000", pods(1000)),
               ".replicas: the members of the group, `max` and spares counted, are more than 1000000"},
          Case{job_text("b", "dependsOn: [{name: b, status: Ready}]"),
               ".dependsOn[0].name: no replicatedJob before this one is named \"b\""},
          Case{job_text("b", "dependsOn: [{name: a, status: Done}]"),
               ".dependsOn[0].status: \"Done\" is none of Ready, Complete"},
          Case{job_text("b", "dependsOn: [{name: a}]"), ".dependsOn[0].status: is missing"},
          Case{job_text("b", "dependsOn: [{name: a, status: Ready}, {name: a, status: Complete}]"),
               ".dependsOn: a: is given twice; give it once"},
          Case{"{name: b}", ".template: is missing"},
          Case{"{name: b, template: {metadata: {}}}", ".template.spec: is missing"},
          Case{"{name: b, template: {spec: {}}}", ".template.spec.template: is missing"},
          Case{job_text("b", "", "parallelism: 0"), ".template.spec.parallelism: 0 is less than 1"},
          Case{job_text("b", "", "parallelism: 2"),
               ".template.spec.parallelism: 2 pods without completions work on a queue, and the members of a gang do "
               "not"},
          Case{job_text("b", "", "completions: 3"),
               ".template.spec.completions: 3 is more than parallelism 1: the members of a gang all run at once"},
          Case{job_text("b", "", "completionMode: Both"),
               ".template.spec.completionMode: \"Both\" is none of Indexed, NonIndexed"},
          Case{
              job_text("b", "", "successPolicy: {rules: [{succeededIndexes: 0}]}"),
              ".template.spec.successPolicy: a Job that ends before all its pods have succeeded; all members of a role "
              "are waited for"},
          Case{rule("onExitCodes: {operator: In, values: [1]}"),
               ".template.spec.podFailurePolicy.rules[0].action: is missing"},
          Case{
              rule("action: Fail, onExitCodes: {operator: In, values: [1]}"),
              ".template.spec.podFailurePolicy.rules[0].action: \"Fail\" is none of FailJob, Ignore, Count, FailIndex"},
          Case{rule("action: FailJob"),
               ".template.spec.podFailurePolicy.rules[0]: neither onExitCodes nor onPodConditions says which failures "
               "it "
               "is about"},
          Case{rule("action: FailJob, onExitCodes: {operator: In, values: [1]}, onPodConditions: [{type: "
                    "DisruptionTarget}]"),
               ".template.spec.podFailurePolicy.rules[0]: onExitCodes and onPodConditions cannot both be given"},
          Case{rule("action: FailJob, onExitCodes: {operator: Is, values: [1]}"),
               ".template.spec.podFailurePolicy.rules[0].onExitCodes.operator: \"Is\" is none of In, NotIn"},
          Case{rule("action: FailJob, onExitCodes: {operator: In, values: []}"),
               ".template.spec.podFailurePolicy.rules[0].onExitCodes.values: at least one exit code is needed"},
          Case{rule("action: FailJob, onExitCodes: {operator: In, values: [-1]}"),
               ".template.spec.podFailurePolicy.rules[0].onExitCodes.values[0]: -1 is negative"},
          Case{job_text("b", "", "", "containers: []"),
               ".template.spec.template.spec.containers: at least one container is needed"},
          Case{job_text("b", "", "", "restartPolicy: Never"), ".template.spec.template.spec.containers: is missing"},
          Case{job_text("b", "", "", "containers: [{command: run}]"),
               ".template.spec.template.spec.containers[0].command: text where a list is wanted"},
          Case{job_text("b", "", "", "containers: [{env: [{value: x}]}]"),
               ".template.spec.template.spec.containers[0].env[0].name: is missing"},
          Case{job_text("b", "", "", "containers: [{resources: {requests: {cpu: many}}}]"),
               ".template.spec.template.spec.containers[0].resources.requests.cpu: \"many\" is not a quantity, as 4, "
               "500m, 1.5 or 64Gi"},
          Case{job_text("b", "", "", "containers: [{resources: {limits: {memory: -1}}}]"),
               ".template.spec.template.spec.containers[0].resources.limits.memory: \"-1\" is negative"},
          Case{job_text("b", "", pods(2), "containers: [{resources: {limits: {nvidia.com/gpu: 1Ei}}}]"),
               ".template.spec.template.spec: gpu: the group as a whole, `max` and spares counted, asks for more than "
               "1152921504606846976"},
          Case{job_text("b", "", "", joined("nodeSelector: [a]", kMain)),
               ".template.spec.template.spec.nodeSelector: a list where a map is wanted"},
          Case{job_text("b", "", "", joined("terminationGracePeriodSeconds: soon", kMain)),
               ".template.spec.template.spec.terminationGracePeriodSeconds: the text \"soon\" is not a whole number"},
      }) {
    EXPECT_THAT(refusals_of(jobset_text(job_text("a") + ", " + c.job)),
                ElementsAre("spec.replicatedJobs[1]" + std::string(c.problem)));
  }
}

TEST(JobSetRefuses, AnExclusiveTopologyOnceForAllItsRoles) {
  const auto exclusive = [](std::string_view level, const std::string& jobs) {
    return refusals_of(jobset_text(
        jobs, "", "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: '" + std::string(level) + "'}"));
  };
  EXPECT_THAT(
      exclusive("a rack", job_text("a", "replicas: 3")),
      ElementsAre("metadata.annotations.alpha.jobset.sigs.k8s.io/exclusive-topology: \"a rack\" is not the name "
                  "of a level; use printable ASCII without spaces, at most 253 characters"));
  EXPECT_THAT(exclusive("rack", job_text("a", "replicas: 257")),
              ElementsAre("spec.replicatedJobs[0]: an exclusive topology makes a role of each of 257 Jobs, and that is "
                          "too much"));
  EXPECT_THAT(exclusive("rack", job_text("a", "replicas: 2") + ", " + job_text("a-1")),
              ElementsAre("spec.replicatedJobs[1].name: 'a-1' is the name of another role"));
  EXPECT_THAT(exclusive("rack", job_text("a", "replicas: 3", "", "containers: [{command: ['']}]")), IsEmpty());
  EXPECT_THAT(exclusive("rack", job_text("a", "replicas: 3", "", "containers: [{env: [{name: X=, value: 1}]}]")),
              ElementsAre("spec.replicatedJobs[0].template.spec.template.spec.containers[0].env: X=: a variable's name "
                          "holds no '='"));
}

TEST(JobSetRefuses, EverythingThatIsWrongAtOnce) {
  EXPECT_THAT(
      refusals_of(jobset_text(job_text("a", "replicas: x", "parallelism: 0") + ", {name: b}",
                              "suspend: 1, ttlSecondsAfterFinished: x")),
      ElementsAre("spec.replicatedJobs[0].replicas: the text \"x\" is not a whole number",
                  "spec.replicatedJobs[0].template.spec.parallelism: 0 is less than 1",
                  "spec.replicatedJobs[1].template: is missing", "spec.suspend: \"1\" is neither true nor false",
                  "spec.ttlSecondsAfterFinished: the text \"x\" is not a whole number"));
}

TEST(JobSetRefuses, SayWhichDocumentItIs) {
  const std::string workload = "kind: Workload\nmetadata: {name: w}\nspec: {replicas: x}\n---\n";
  EXPECT_THAT(refusals_of(workload + jobset_text(job_text("a", "replicas: 0"))),
              ElementsAre("document 2: spec.replicatedJobs[0].replicas: 0 is less than 1"));
  EXPECT_THAT(refusals_of(jobset_text(job_text("a")) + "\n---\nmetadata: {name: w}\n"),
              ElementsAre("document 2: kind: is missing"));
  const ManifestResult good = read_manifest(workload + jobset_text(job_text("a", "groupName: g")), "x");
  EXPECT_THAT(lines_of(good.problems), IsEmpty());
  EXPECT_THAT(good.not_carried, ElementsAre("document 1: kind: Workload w, not carried",
                                            "document 2: spec.replicatedJobs[0].groupName: not carried"));
}

}  // namespace
}  // namespace lockstep
