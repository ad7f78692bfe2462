// One replicatedJob of a JobSet: its Job template becomes a role, or, when each Job wants a domain of its own, one role
// for each Job.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/manifest/jobset.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

struct Job {
  std::int64_t parallelism{1};
  std::int64_t completions{-1};  // -1 = not said
  bool indexed{true};
  std::string exclusive_level{};
  Pod pod{};
  std::vector<PodRule> pod_rules{};
};

// ---- podFailurePolicy
// ------------------------------------------------------------------------------------------------

// All codes but 0 and those listed.
std::vector<ExitRange> all_but(std::vector<std::int32_t> codes) {
  std::sort(codes.begin(), codes.end());
  std::vector<ExitRange> ranges;
  std::int64_t first = 1;
  const auto add_to = [&](std::int64_t last) {
    if (last >= first) ranges.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)});
  };
  for (const std::int64_t code : codes) {
    add_to(code - 1);
    first = std::max(first, code + 1);
  }
  add_to(kInt32Max);
  return ranges;
}

bool read_exit_codes(const Value& value, const Job& job, NotCarried& not_carried, FailureRule& match) {
  MapReader map(value);
  std::string text;
  const auto container = map.find("containerName");
  if (container && container->read_scalar(text) && text != job.pod.container) {
    not_carried.add(*container, "only the first container runs");
    return false;
  }
  std::vector<std::int32_t> codes;
  if (const auto values = map.need("values")) {
    const bool good = values->each(kListMax, [&](const Value& item) {
      std::int64_t code = 0;
      if (item.read_integer(code, 0, kInt32Max)) codes.push_back(static_cast<std::int32_t>(code));
    });
    if (good && values->node().items.empty()) values->problem("at least one exit code is needed");
  }
  const auto op = map.need("operator");
  if (!op || !op->read_scalar(text)) return false;
  if (text == "NotIn") {
    match.exit_codes = all_but(std::move(codes));
  } else if (text == "In") {
    for (const std::int32_t code : codes) match.exit_codes.push_back({code, code});
  } else {
    op->problem(fmt::format("{} is none of In, NotIn", in_quotes(text)));
  }
  return !match.exit_codes.empty();
}

// DisruptionTarget is what Kubernetes says of a pod whose node went away.
bool read_pod_conditions(const Value& value, NotCarried& not_carried, FailureRule& match) {
  value.each(kListMax, [&](const Value& item) {
    MapReader map(item);
    std::string type;
    const auto what = map.need("type");
    if (!what || !what->read_scalar(type)) return;
    std::string status = "True";
    const auto given = map.find("status");
    if (given && !given->read_scalar(status)) return;
    if (type == "DisruptionTarget" && status == "True") {
      match.reasons = {FailureReason::HostLost};
    } else {
      not_carried.add(*what, fmt::format("{} is a condition known to Kubernetes only", printable(type)));
    }
  });
  return !match.reasons.empty();
}

// Count and FailIndex must be rules too, or those after them would match what these have decided.
bool read_pod_action(const Value& value, std::string_view action, NotCarried& not_carried, PodRule& rule) {
  if (action == "FailJob") {
    rule.reason = kPodFailurePolicy;
  } else if (action == "Count") {
    rule.reason = kBackoffLimitExceeded;
    not_carried.add(value, "a failure counts at once");
  } else if (action == "FailIndex") {
    rule.reason = kFailedIndexes;
    not_carried.add(value, "a member fails with its Job");
  } else if (action != "Ignore") {
    value.problem(fmt::format("{} is none of FailJob, Ignore, Count, FailIndex", in_quotes(action)));
    return false;
  }
  return true;
}

void read_pod_rule(const Value& value, NotCarried& not_carried, Job& job) {
  MapReader map(value);
  PodRule rule;
  std::string action;
  const auto what = map.need("action");
  if (!what || !what->read_scalar(action)) return;
  const auto codes = map.find("onExitCodes");
  const auto conditions = map.find("onPodConditions");
  const bool any_condition = conditions && !conditions->node().items.empty();
  if (codes.has_value() == any_condition) {
    value.problem(codes ? "onExitCodes and onPodConditions cannot both be given"
                        : "neither onExitCodes nor onPodConditions says which failures it is about");
    return;
  }
  if (!read_pod_action(*what, action, not_carried, rule)) return;
  const bool known = codes ? read_exit_codes(*codes, job, not_carried, rule.match)
                           : read_pod_conditions(*conditions, not_carried, rule.match);
  if (known) job.pod_rules.push_back(std::move(rule));
}

void read_pod_failure_policy(MapReader& spec, NotCarried& not_carried, Job& job) {
  const auto value = spec.find("podFailurePolicy");
  if (!value) return;
  MapReader map(*value);
  if (const auto rules = map.find("rules")) {
    rules->each(kListMax, [&](const Value& rule) { read_pod_rule(rule, not_carried, job); });
  }
}

// ---- the Job template
// ----------------------------------------------------------------------------------------------------

// How many pods a Job has at once. One that runs them in several rounds, or as a queue, is not a gang.
void read_pod_count(MapReader& spec, NotCarried& not_carried, Job& job) {
  const auto parallelism = spec.find("parallelism");
  const auto completions = spec.find("completions");
  bool known = !parallelism || parallelism->read_integer(job.parallelism, 1, kInt32Max);
  if (completions) known = completions->read_integer(job.completions, 1, kInt32Max) && known;
  std::string mode = "Indexed";
  if (const auto value = spec.find("completionMode")) {
    value->read_scalar(mode);
    if (mode == "NonIndexed") {
      not_carried.add(*value, "members have an index all the same");
    } else if (mode != "Indexed") {
      value->problem(fmt::format("{} is none of Indexed, NonIndexed", in_quotes(mode)));
    }
  }
  if (!known) return;
  if (parallelism && !completions && job.parallelism > 1) {
    parallelism->problem(
        fmt::format("{} pods without completions work on a queue, and the members of a gang do not", job.parallelism));
  } else if (completions && job.completions > job.parallelism) {
    completions->problem(fmt::format("{} is more than parallelism {}: the members of a gang all run at once",
                                     job.completions, job.parallelism));
  } else if (parallelism && completions && job.completions < job.parallelism) {
    not_carried.add(*parallelism, fmt::format("only {} pods ever run, as completions says", job.completions));
    job.parallelism = job.completions;
  }
}

void read_backoff_limit(MapReader& spec, const Value& value, NotCarried& not_carried) {
  constexpr std::int64_t kUsual = 6;
  std::int64_t limit = kUsual;
  const auto given = spec.find("backoffLimit");
  if (given && (!given->read_integer(limit, 0, kInt32Max) || limit == 0)) return;
  not_carried.add(given ? *given : value,
                  fmt::format("the failure policy decides at a pod's first failure; {} retries{}", limit,
                              given ? "" : " (backoffLimit is left out)"));
}

void read_job_metadata(const Value& value, NotCarried& not_carried, Job& job) {
  MapReader map(value);
  if (const auto annotations = map.find("annotations")) {
    MapReader notes(*annotations);
    if (const auto level = notes.find(kExclusiveTopology)) read_level(*level, job.exclusive_level);
    not_carried.add_rest(notes);
  }
  not_carried.add_rest(map);
}

void read_job_template(const Value& value, NotCarried& not_carried, Job& job) {
  MapReader map(value);
  if (const auto metadata = map.find("metadata")) read_job_metadata(*metadata, not_carried, job);
  const auto spec = map.need("spec");
  if (!spec) return;
  MapReader inner(*spec);
  read_pod_count(inner, not_carried, job);
  read_backoff_limit(inner, *spec, not_carried);
  if (const auto pod = inner.need("template")) read_pod_template(*pod, not_carried, job.pod);
  read_pod_failure_policy(inner, not_carried, job);
  if (const auto success = inner.find("successPolicy")) {
    success->problem("a Job that ends before all its pods have succeeded; all members of a role are waited for");
  }
  not_carried.add_rest(inner);
  not_carried.add_rest(map);
}

// ---- roles
// -----------------------------------------------------------------------------------------------------------------

std::size_t text_bytes(const RoleSpec& role) {
  std::size_t bytes = 0;
  for (const std::string& word : role.command) bytes += word.size();
  for (const KeyValue& pair : role.env) bytes += pair.key.size() + pair.value.size();
  return bytes;
}

void add_role(JobSetReader& jobset, ReplicatedJob& entry, RoleSpec role, std::uint32_t members) {
  role.replicas = role.min = role.max = members;
  entry.roles.push_back(static_cast<RoleIndex>(jobset.group.spec.roles.size()));
  jobset.group.spec.roles.push_back(std::move(role));
}

// Each Job in a domain that it shares with no other: that its pods are together we can say, that others are not, not.
void add_exclusive_roles(JobSetReader& jobset, const Value& value, ReplicatedJob& entry, RoleSpec role) {
  jobset.not_carried.add(value,
                         fmt::format("the pods of each Job are kept together in one {}; that no other Job shares it",
                                     printable(role.topology.required)));
  if (entry.replicas == 1) {
    add_role(jobset, entry, std::move(role), entry.pods);
    return;
  }
  if (entry.replicas > kRolesMax || text_bytes(role) > kSpecBytesMax / entry.replicas) {
    value.problem(
        fmt::format("an exclusive topology makes a role of each of {} Jobs, and that is too much", entry.replicas));
    return;
  }
  for (std::uint32_t i = 0; i < entry.replicas; ++i) {
    RoleSpec copy = role;
    copy.name = fmt::format("{}-{}", role.name, i);
    add_role(jobset, entry, std::move(copy), entry.pods);
  }
}

void add_roles(JobSetReader& jobset, const Value& value, ReplicatedJob& entry, Job job) {
  RoleSpec role;
  role.name = entry.name;
  role.tasks = {std::move(job.pod.task)};
  role.topology = std::move(job.pod.topology);
  role.command = std::move(job.pod.command);
  role.env = std::move(job.pod.env);
  const std::uint64_t members = std::uint64_t{entry.replicas} * entry.pods;
  if (members > kMembersMax) {
    value.problem(fmt::format("{} Jobs of {} pods are more than {} members", entry.replicas, entry.pods, kMembersMax));
    return;
  }
  if (job.exclusive_level.empty()) job.exclusive_level = jobset.exclusive_level;
  if (job.exclusive_level.empty()) {
    add_role(jobset, entry, std::move(role), static_cast<std::uint32_t>(members));
    return;
  }
  if (!role.topology.required.empty()) {
    jobset.not_carried.add(value, fmt::format("the exclusive topology decides; that all Jobs are in one {}",
                                              printable(role.topology.required)));
  }
  role.topology.required = std::move(job.exclusive_level);
  add_exclusive_roles(jobset, value, entry, std::move(role));
}

void read_depends_on(JobSetReader& jobset, MapReader& map, const ReplicatedJob& self) {
  const auto value = map.find("dependsOn");
  if (!value) return;
  value->each(kRolesMax, [&](const Value& item) {
    MapReader entry(item);
    std::string name;
    std::string status;
    const auto who = entry.need("name");
    const auto what = entry.need("status");
    if (!who || !what || !who->read_text(name) || !what->read_text(status)) return;
    if (status != "Ready" && status != "Complete") {
      what->problem(fmt::format("{} is none of Ready, Complete", in_quotes(status)));
      return;
    }
    const ReplicatedJob* job = jobset.find_job(name);  // only those before this one are there yet
    if (job == nullptr) {
      who->problem(fmt::format("no replicatedJob before this one is named {}", in_quotes(name)));
      return;
    }
    for (const RoleIndex role : self.roles) {
      std::vector<After>& after = jobset.group.spec.roles[role].after;
      for (const RoleIndex other : job->roles) {
        after.push_back({other, status == "Ready" ? AfterWhat::Started : AfterWhat::Succeeded});
      }
      std::sort(after.begin(), after.end());
    }
  });
}

}  // namespace

void read_replicated_job(JobSetReader& jobset, const Value& value) {
  MapReader map(value);
  ReplicatedJob entry;
  Job job;
  if (const auto name = map.need("name")) name->read_text(entry.name);
  bool good = map.is_map();
  if (const auto replicas = map.find("replicas")) {
    std::int64_t count = 1;
    good = replicas->read_integer(count, 1, kInt32Max) && good;
    entry.replicas = static_cast<std::uint32_t>(count);
  }
  if (const auto tmpl = map.need("template")) read_job_template(*tmpl, jobset.not_carried, job);
  jobset.grace_seconds = std::max(jobset.grace_seconds, job.pod.grace_seconds);
  entry.pods = static_cast<std::uint32_t>(job.parallelism);
  entry.pod_rules = std::move(job.pod_rules);
  if (good) add_roles(jobset, value, entry, std::move(job));
  read_depends_on(jobset, map, entry);
  jobset.not_carried.add_rest(map);
  jobset.jobs.push_back(std::move(entry));
}

}  // namespace lockstep
