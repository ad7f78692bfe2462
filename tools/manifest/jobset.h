#pragma once
// The parts of the JobSet reader. Not for use outside of this folder.
//
// What becomes of a JobSet (jobset.x-k8s.io/v1alpha2):
//   replicatedJobs[i]     a role; each pod of its Jobs is a member, so replicas * parallelism of them, in the order Job
//                         index, pod index. All of a Job's pods run at once: completions must equal parallelism.
//   exclusive-topology    the pods of one Job share a domain of the named level: a role of its own for each Job
//   dependsOn, startupPolicy   `after`: Ready is started, Complete is succeeded, InOrder a chain of started
//   failurePolicy         rules in order; what none of them matches restarts the group. Without a policy it fails.
//                         The Job's podFailurePolicy is put in front, because it decides what reason a failure has.
//   successPolicy         the same; once it holds the other members are killed, as JobSet deletes their Jobs
//   suspend               hold
//   ttlSecondsAfterFinished, termination grace   the same clocks; left out: our defaults
//   volumeClaimPolicies   claims of the group; retained ones are standalone, under the name that JobSet gives them
//   resources, nodeSelector, command, env   see pod.cpp

#include <string>
#include <string_view>
#include <vector>

#include "tools/manifest/foreign.h"
#include "tools/manifest/group.h"

namespace lockstep {

inline constexpr std::string_view kExclusiveTopology = "alpha.jobset.sigs.k8s.io/exclusive-topology";

// Reasons of which a Job fails; the rules of a failurePolicy name them.
inline constexpr std::string_view kBackoffLimitExceeded = "BackoffLimitExceeded";
inline constexpr std::string_view kFailedIndexes = "FailedIndexes";
inline constexpr std::string_view kPodFailurePolicy = "PodFailurePolicy";

// One entry of a Job's podFailurePolicy that we can tell: which failures it is about, and what they mean.
struct PodRule {
  FailureRule match{};        // only its filters
  std::string_view reason{};  // of which the Job fails; empty = Ignore: the pod runs again and nothing is counted
};

// A replicatedJob and the roles that it became.
struct ReplicatedJob {
  std::string name;
  std::uint32_t replicas{1};
  std::uint32_t pods{1};  // of each Job
  std::vector<RoleIndex> roles;
  std::vector<PodRule> pod_rules;
};

// What became a claim of the group: its name there may be another one.
struct ClaimTemplate {
  std::string name;
  std::string path;
};

// Everything that readers of a JobSet's parts need to know of the rest.
struct JobSetReader {
  NotCarried& not_carried;
  DefineGroup group{};
  std::vector<ReplicatedJob> jobs;
  std::string exclusive_level;        // of the JobSet's annotation
  std::vector<ClaimTemplate> claims;  // as many as the group has

  std::int64_t grace_seconds{};  // the longest terminationGracePeriodSeconds; 0 = not said

  // nullptr when there is none of that name.
  [[nodiscard]] const ReplicatedJob* find_job(std::string_view name) const;
  // The jobs that a list of names means; an empty list, or none, means all.
  [[nodiscard]] std::vector<const ReplicatedJob*> read_targets(MapReader& map) const;
};

// One replicatedJob: appends to `jobs` and to the roles of the group.
void read_replicated_job(JobSetReader& jobset, const Value& value);
// nullptr: there is no policy, and the group fails at the first failure that no podFailurePolicy ignores.
void read_failure_policy(JobSetReader& jobset, const Value* value);

}  // namespace lockstep
