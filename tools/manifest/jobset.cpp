#include "tools/manifest/jobset.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::string_view kJobSetApiVersion = "jobset.x-k8s.io/v1alpha2";
constexpr std::string_view kQueueName = "kueue.x-k8s.io/queue-name";

void read_labels(MapReader& map, JobSetReader& jobset) {
  const auto labels = map.find("labels");
  if (!labels) return;
  labels->each_pair(kListMax, [&](std::string_view key, const Value& item) {
    KeyValue pair{std::string(key), {}};
    if (!item.read_scalar(pair.value)) return;
    if (key == kQueueName) {
      jobset.group.identity.queue = std::move(pair.value);
    } else {
      jobset.group.identity.labels.push_back(std::move(pair));
    }
  });
  std::sort(jobset.group.identity.labels.begin(), jobset.group.identity.labels.end());
}

void read_metadata(const Value& value, JobSetReader& jobset) {
  MapReader map(value);
  if (const auto name = map.need("name")) name->read_text(jobset.group.identity.name);
  read_labels(map, jobset);
  if (const auto annotations = map.find("annotations")) {
    MapReader notes(*annotations);
    if (const auto level = notes.find(kExclusiveTopology)) read_level(*level, jobset.exclusive_level);
    jobset.not_carried.add_rest(notes);
  }
  jobset.not_carried.add_rest(map);
}

void read_success_policy(const Value& value, JobSetReader& jobset) {
  MapReader map(value);
  std::string text = "All";
  const auto op = map.find("operator");
  if (op) op->read_text(text);
  const std::vector<const ReplicatedJob*> jobs = jobset.read_targets(map);
  SuccessPolicy& success = jobset.group.spec.success;
  if (text == "Any") {
    success.op = SuccessOperator::Any;
    const auto large = std::find_if(jobs.begin(), jobs.end(), [](const ReplicatedJob* job) { return job->pods > 1; });
    if (large != jobs.end()) {
      op->problem(fmt::format("Any would end the group when one of the {} pods of a Job of {} has succeeded, not all",
                              (*large)->pods, printable((*large)->name)));
    }
  } else if (text != "All") {
    op->problem(fmt::format("{} is none of All, Any", in_quotes(text)));
  }
  const bool some = jobs.size() != jobset.jobs.size();
  for (const ReplicatedJob* job : jobs) {
    if (some) success.roles.insert(success.roles.end(), job->roles.begin(), job->roles.end());
  }
  std::sort(success.roles.begin(), success.roles.end());
  if (some || success.op == SuccessOperator::Any) success.rest = SuccessRest::Kill;
  jobset.not_carried.add_rest(map);
}

// InOrder: each replicatedJob waits for the one before it.
void read_startup_policy(const Value& value, JobSetReader& jobset) {
  MapReader map(value);
  const auto order = map.find("startupPolicyOrder");
  std::string text = "AnyOrder";
  if (order) order->read_text(text);
  jobset.not_carried.add_rest(map);
  if (text != "InOrder" && text != "AnyOrder")
    order->problem(fmt::format("{} is none of AnyOrder, InOrder", in_quotes(text)));
  if (text != "InOrder") return;
  for (std::size_t i = 1; i < jobset.jobs.size(); ++i) {
    for (const RoleIndex role : jobset.jobs[i].roles) {
      std::vector<After>& after = jobset.group.spec.roles[role].after;
      if (!after.empty()) {
        order->problem("InOrder and dependsOn cannot both be given");
        return;
      }
      for (const RoleIndex other : jobset.jobs[i - 1].roles) after.push_back({other, AfterWhat::Started});
    }
  }
}

// ---- volumeClaimPolicies
// -----------------------------------------------------------------------------------------------

void read_claim_size(MapReader& map, NotCarried& not_carried, ClaimSpec& claim) {
  const auto spec = map.find("spec");
  if (!spec) return;
  MapReader inner(*spec);
  const auto resources = inner.find("resources");
  not_carried.add_rest(inner);
  if (!resources) return;
  MapReader outer(*resources);
  const auto requests = outer.find("requests");
  not_carried.add_rest(outer);
  if (!requests) return;
  MapReader amounts(*requests);
  std::string text;
  const auto storage = amounts.find("storage");
  if (!storage || !storage->read_scalar(text)) return;
  auto size = parse_kubernetes_quantity(text, 1);
  if (size) {
    claim.size = *size;
  } else {
    storage->problem(std::move(size).error().message);
  }
}

void read_claim(const Value& value, bool retained, JobSetReader& jobset) {
  MapReader map(value);
  ClaimSpec claim;
  const auto metadata = map.need("metadata");
  if (!metadata) return;
  MapReader inner(*metadata);
  const auto name = inner.need("name");
  if (!name || !name->read_text(claim.name)) return;
  // A pod mounts them by the names of their templates, whatever a retained one is called in the end.
  const bool again = std::any_of(jobset.claims.begin(), jobset.claims.end(),
                                 [&](const ClaimTemplate& other) { return other.name == claim.name; });
  if (again) {
    name->problem(fmt::format("{} is the name of another claim", in_quotes(claim.name)));
    return;
  }
  jobset.not_carried.add_rest(inner);
  read_claim_size(map, jobset.not_carried, claim);
  jobset.not_carried.add_rest(map);
  jobset.claims.push_back({claim.name, value.path()});
  if (retained) {
    claim.kind = ClaimKind::Standalone;
    claim.name += '-' + jobset.group.identity.name;
  }
  jobset.group.spec.claims.push_back(std::move(claim));
}

bool read_retained(MapReader& policy) {
  std::string when = "Delete";
  const auto retention = policy.find("retentionPolicy");
  if (!retention) return false;
  MapReader map(*retention);
  const auto deleted = map.find("whenDeleted");
  if (!deleted || !deleted->read_text(when)) return false;
  if (when != "Retain" && when != "Delete") {
    deleted->problem(fmt::format("{} is none of Delete, Retain", in_quotes(when)));
  }
  return when == "Retain";
}

void read_claim_policies(const Value& value, JobSetReader& jobset) {
  value.each(kListMax, [&](const Value& policy) {
    MapReader map(policy);
    const bool retained = read_retained(map);
    if (const auto templates = map.find("templates")) {
      templates->each(kListMax, [&](const Value& claim) { read_claim(claim, retained, jobset); });
    }
    jobset.not_carried.add_rest(map);
  });
}

// ---- the whole
// -----------------------------------------------------------------------------------------------------------

void read_clocks(MapReader& map, JobSetReader& jobset) {
  GroupSpec& spec = jobset.group.spec;
  if (jobset.grace_seconds > 0) spec.timeouts.stop = seconds(jobset.grace_seconds);
  const auto ttl = map.find("ttlSecondsAfterFinished");
  std::int64_t after = 0;
  if (!ttl || !ttl->read_integer(after, 0, std::numeric_limits<std::int32_t>::max())) return;
  spec.ttl_after_finished = after == 0 ? Duration{1} : seconds(after);  // ours is never at 0
}

void read_spec(const Value& value, JobSetReader& jobset) {
  MapReader map(value);
  const auto jobs = map.need("replicatedJobs");
  if (!jobs || !jobs->each(kRolesMax, [&](const Value& job) { read_replicated_job(jobset, job); })) return;
  const auto failure = map.find("failurePolicy");
  read_failure_policy(jobset, failure ? &*failure : nullptr);
  if (const auto success = map.find("successPolicy")) read_success_policy(*success, jobset);
  if (const auto startup = map.find("startupPolicy")) read_startup_policy(*startup, jobset);
  if (const auto claims = map.find("volumeClaimPolicies")) read_claim_policies(*claims, jobset);
  map.read("suspend", jobset.group.hold);
  read_clocks(map, jobset);
  jobset.not_carried.add_rest(map);
}

// "spec.claims[1].name" -> "spec.volumeClaimPolicies[0].templates[1].metadata.name"
std::string claim_path(const JobSetReader& jobset, std::string_view path) {
  for (std::size_t i = 0; i < jobset.claims.size(); ++i) {
    const std::string place = fmt::format("spec.claims[{}]", i);
    if (!path.starts_with(place)) continue;
    const std::string_view rest = path.substr(place.size());
    return jobset.claims[i].path + (rest == ".name" ? ".metadata.name" : ".spec.resources.requests.storage");
  }
  return "spec.volumeClaimPolicies";
}

// What validate() says of our fields, in terms of the JobSet's. `key` is what a path of theirs does not say: the
// counter, which several containers may ask for, the variable, the role that is waited for.
std::string jobset_path(const JobSetReader& jobset, std::string_view path, std::string_view& key) {
  struct Renamed {
    std::string_view ours;
    std::string_view theirs;
  };
  static constexpr Renamed kFields[] = {
      {"metadata.queue", "metadata.labels.kueue.x-k8s.io/queue-name"},
      {"spec.failure", "spec.failurePolicy"},
      {"spec.success", "spec.successPolicy"},
  };
  static constexpr Renamed kOfRole[] = {
      {".tasks", ".template.spec.template.spec"},
      {".command", ".template.spec.template.spec.containers[0].command"},
      {".env", ".template.spec.template.spec.containers[0].env"},
      {".after", ".dependsOn"},
      {".min", ".replicas"},
      {".max", ".replicas"},
  };
  for (const Renamed& field : kFields) {
    if (path.starts_with(field.ours)) return std::string(field.theirs) + std::string(path.substr(field.ours.size()));
  }
  if (path.starts_with("spec.claims")) return claim_path(jobset, path);
  constexpr std::string_view kRoles = "spec.roles";
  if (!path.starts_with(kRoles)) return std::string(path);
  for (std::size_t i = 0; i < jobset.jobs.size(); ++i) {
    for (const RoleIndex role : jobset.jobs[i].roles) {
      const std::string place = fmt::format("{}[{}]", kRoles, role);
      if (!path.starts_with(place)) continue;
      const std::string_view rest = path.substr(place.size());
      for (const Renamed& field : kOfRole) {
        if (!rest.starts_with(field.ours)) continue;
        key = rest.substr(std::min(rest.find('.', field.ours.size()), rest.size() - 1) + 1);
        return fmt::format("spec.replicatedJobs[{}]{}", i, field.theirs);
      }
      return fmt::format("spec.replicatedJobs[{}]{}", i, rest);
    }
  }
  return "spec.replicatedJobs";
}

void check(const Value& document, const JobSetReader& jobset) {
  ReadContext& context = document.context();
  const ReadContext before = context;
  std::set<std::string> told;  // once a field: the roles of an exclusive topology are all alike
  if (!jobset.jobs.empty() && jobset.group.spec.roles.empty()) told.insert("spec.replicatedJobs");  // each is refused
  for (Problem& problem : validate(jobset.group.identity, jobset.group.spec)) {
    std::string_view key;
    std::string path = jobset_path(jobset, problem.path, key);
    if (before.mentions(path) || !told.insert(path).second) continue;
    context.add(std::move(path), key.empty() ? std::move(problem.text) : fmt::format("{}: {}", key, problem.text));
  }
}

}  // namespace

const ReplicatedJob* JobSetReader::find_job(std::string_view name) const {
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const ReplicatedJob& job) { return job.name == name; });
  return found == jobs.end() || name.empty() ? nullptr : &*found;
}

std::vector<const ReplicatedJob*> JobSetReader::read_targets(MapReader& map) const {
  std::vector<const ReplicatedJob*> targets;
  bool named = false;
  if (const auto list = map.find("targetReplicatedJobs")) {
    list->each(kRolesMax, [&](const Value& item) {
      named = true;
      std::string name;
      if (!item.read_text(name)) return;
      const ReplicatedJob* job = find_job(name);
      if (job == nullptr) {
        item.problem(fmt::format("no replicatedJob is named {}", in_quotes(name)));
      } else if (std::find(targets.begin(), targets.end(), job) == targets.end()) {
        targets.push_back(job);
      }
    });
  }
  if (named) return targets;
  for (const ReplicatedJob& job : jobs) targets.push_back(&job);
  return targets;
}

DefineGroup read_jobset(const Value& document, std::string_view default_user, NotCarried& not_carried) {
  JobSetReader jobset{not_carried};
  jobset.group.identity.user = default_user;
  MapReader map(document);
  map.ignore("kind");
  if (const auto version = map.find("apiVersion")) {
    std::string text;
    if (version->read_text(text) && text != kJobSetApiVersion) {
      version->problem(fmt::format("{} is not {}", in_quotes(text), kJobSetApiVersion));
    }
  }
  if (const auto metadata = map.need("metadata")) read_metadata(*metadata, jobset);
  if (const auto spec = map.need("spec")) read_spec(*spec, jobset);
  jobset.not_carried.add_rest(map);
  check(document, jobset);
  return std::move(jobset.group);
}

}  // namespace lockstep
