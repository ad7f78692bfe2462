// validate(): everything that can be wrong with a manifest or a host, in the words of its author.

#include <set>

#include "events/problems.h"
#include "events/walk.h"

namespace lockstep {
namespace {

struct CountingSink {
  std::size_t size = 0;
  void put(const void*, std::size_t bytes) { size += bytes; }
};

void check_identity(Problems& problems, const GroupIdentity& identity) {
  problems.name("metadata.name", identity.name);
  problems.text("metadata.user", identity.user, kNameBytesMax);
  problems.name("metadata.queue", identity.queue);
  if (!problems.list("metadata.labels", identity.labels.size(), kListMax)) return;
  problems.sorted_keys("metadata.labels", identity.labels);
  for (const KeyValue& label : identity.labels) {
    problems.text("metadata.labels." + shown(label.key), label.value, kTextBytesMax);
  }
}

void check_claims(Problems& problems, const GroupSpec& spec) {
  if (!problems.list("spec.claims", spec.claims.size(), kListMax)) return;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < spec.claims.size(); ++i) {
    const ClaimSpec& claim = spec.claims[i];
    const std::string path = fmt::format("spec.claims[{}]", i);
    problems.name(path + ".name", claim.name);
    if (!names.insert(claim.name).second && !claim.name.empty()) {
      problems.add(path + ".name", fmt::format("'{}' is the name of another claim", shown(claim.name)));
    }
    problems.enumerator(path + ".kind", claim.kind);
    problems.enumerator(path + ".per", claim.per);
    if (claim.kind == ClaimKind::Standalone && claim.per == ClaimPer::Member) {
      problems.add(path + ".per", "a standalone claim is shared and cannot be per member; use group, or kind template");
    }
    problems.sorted_roles(path + ".roles", claim.roles, spec.roles.size());
    if (claim.size < 0 || claim.size > kQuantityMax) {
      problems.add(path + ".size", fmt::format("{} is not between 0 and {}", claim.size, kQuantityMax));
    }
  }
}

void check_rule_roles(Problems& problems, const std::string& path, const FailureRule& rule, std::size_t role_count) {
  if (!problems.list(path, rule.roles.size(), kRolesMax)) return;
  std::set<RoleIndex> seen;
  for (std::size_t i = 0; i < rule.roles.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", path, i);
    problems.role(place, rule.roles[i], role_count);
    if (!seen.insert(rule.roles[i]).second) problems.add(place, "names a role a second time; name it once");
  }
}

void check_rule_codes(Problems& problems, const std::string& path, const FailureRule& rule) {
  if (problems.list(path + ".reasons", rule.reasons.size(), kListMax)) {
    for (std::size_t i = 0; i < rule.reasons.size(); ++i) {
      const std::string place = fmt::format("{}.reasons[{}]", path, i);
      problems.enumerator(place, rule.reasons[i]);
      if (rule.reasons[i] == FailureReason::None) problems.add(place, "None is not a reason to fail");
    }
  }
  if (problems.list(path + ".exitCodes", rule.exit_codes.size(), kListMax)) {
    for (std::size_t i = 0; i < rule.exit_codes.size(); ++i) {
      const ExitRange range = rule.exit_codes[i];
      const std::string place = fmt::format("{}.exitCodes[{}]", path, i);
      problems.not_negative(place, range.first);
      if (range.first > range.last) problems.add(place, fmt::format("{} is more than {}", range.first, range.last));
    }
  }
  if (!problems.list(path + ".signals", rule.signals.size(), kListMax)) return;
  for (std::size_t i = 0; i < rule.signals.size(); ++i) {
    if (rule.signals[i] >= 1 && rule.signals[i] <= 64) continue;
    problems.add(fmt::format("{}.signals[{}]", path, i), fmt::format("{} is not between 1 and 64", rule.signals[i]));
  }
}

void check_budget(Problems& problems, const std::string& path, std::uint32_t restarts) {
  if (restarts > kRestartsMax) problems.add(path, fmt::format("{} is more than {}", restarts, kRestartsMax));
}

void check_budgets(Problems& problems, const FailurePolicy& failure, std::size_t role_count) {
  check_budget(problems, "spec.failure.maxRestarts", failure.max_restarts);
  if (failure.max_restarts_per_member != kNoBudget) {
    check_budget(problems, "spec.failure.maxRestartsPerMember", failure.max_restarts_per_member);
  }
  const std::string path = "spec.failure.maxRestartsPerRole";
  if (!problems.list(path, failure.max_restarts_per_role.size(), kRolesMax)) return;
  for (std::size_t i = 0; i < failure.max_restarts_per_role.size(); ++i) {
    const RoleBudget& budget = failure.max_restarts_per_role[i];
    const std::string place = fmt::format("{}[{}]", path, i);
    problems.role(place, budget.role, role_count);
    check_budget(problems, place, budget.max_restarts);
    if (i == 0) continue;
    const RoleIndex before = failure.max_restarts_per_role[i - 1].role;
    if (before == budget.role) problems.add(place, "names a role a second time; name it once");
    if (before > budget.role) problems.add(place, "is not in the order of the roles; sort the list");
  }
}

void check_failure(Problems& problems, const FailurePolicy& failure, std::size_t role_count) {
  if (problems.list("spec.failure.rules", failure.rules.size(), kRulesMax)) {
    for (std::size_t i = 0; i < failure.rules.size(); ++i) {
      const std::string path = fmt::format("spec.failure.rules[{}]", i);
      check_rule_roles(problems, path + ".roles", failure.rules[i], role_count);
      check_rule_codes(problems, path, failure.rules[i]);
      problems.enumerator(path + ".action", failure.rules[i].action);
    }
  }
  problems.enumerator("spec.failure.default", failure.default_action);
  if (failure.below_min != FailureAction::FailGroup && failure.below_min != FailureAction::RestartGroup) {
    problems.add("spec.failure.belowMin", "is neither failGroup nor restartGroup");
  }
  check_budgets(problems, failure, role_count);
  problems.not_negative("spec.failure.window", failure.window.value);
  problems.not_negative("spec.failure.backoff.base", failure.backoff.base.value);
  problems.not_negative("spec.failure.backoff.cap", failure.backoff.cap.value);
  if (failure.backoff.factor < 1) problems.add("spec.failure.backoff.factor", "0 is less than 1");
  problems.enumerator("spec.failure.restartOn", failure.restart_on);
}

void check_times(Problems& problems, const GroupSpec& spec) {
  problems.not_negative("spec.timeouts.pend", spec.timeouts.pend.value);
  problems.not_negative("spec.timeouts.reserve", spec.timeouts.reserve.value);
  problems.not_negative("spec.timeouts.start", spec.timeouts.start.value);
  problems.not_negative("spec.timeouts.recover", spec.timeouts.recover.value);
  problems.not_negative("spec.timeouts.run", spec.timeouts.run.value);
  problems.not_negative("spec.timeouts.stop", spec.timeouts.stop.value);
  problems.not_negative("spec.runLimit", spec.run_limit.value);
  problems.not_negative("spec.ttlAfterFinished", spec.ttl_after_finished.value);
}

void check_size(Problems& problems, const GroupIdentity& identity, const GroupSpec& spec) {
  CountingSink sink;
  walk_write(sink, identity);
  walk_write(sink, spec);
  if (sink.size <= kSpecBytesMax) return;
  problems.add("spec",
               fmt::format("{} bytes are more than {}; shorten commands and environments", sink.size, kSpecBytesMax));
}

void check_at(Problems& problems, const HostInfo& host) {
  if (!problems.list("at", host.at.size(), kLevelsMax)) return;
  for (std::size_t i = 0; i < host.at.size(); ++i) {
    const std::string path = fmt::format("at[{}]", i);
    problems.key(path, host.at[i]);
    if (host.at[i].find('/') != std::string::npos) problems.add(path, "the name of a domain holds no '/'");
  }
}

}  // namespace

std::vector<Problem> validate(const GroupIdentity& identity, const GroupSpec& spec) {
  Problems problems;
  check_identity(problems, identity);
  problems.enumerator("spec.placement.mode", spec.mode);
  check_topology(problems, "spec.placement.topology", spec.topology);
  check_roles(problems, spec.roles);
  check_claims(problems, spec);
  check_failure(problems, spec.failure, spec.roles.size());
  problems.enumerator("spec.success.operator", spec.success.op);
  problems.sorted_roles("spec.success.roles", spec.success.roles, spec.roles.size());
  problems.enumerator("spec.success.rest", spec.success.rest);
  problems.enumerator("spec.resume", spec.resume);
  check_times(problems, spec);
  check_size(problems, identity, spec);
  return problems.take();
}

std::vector<Problem> validate_levels(const std::vector<std::string>& levels) {
  Problems problems;
  if (!problems.list("levels", levels.size(), kLevelsMax)) return problems.take();
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string path = fmt::format("levels[{}]", i);
    if (levels[i] == "host") {
      problems.add(path, "host is always the last level; leave it out");
    } else if (!is_level_name(levels[i])) {
      problems.add(path, fmt::format("'{}' is not the name of a level: printable, no space, no /", shown(levels[i])));
    } else if (!names.insert(levels[i]).second) {
      problems.add(path, fmt::format("'{}' is there twice", levels[i]));
    }
  }
  return problems.take();
}

std::vector<Problem> validate(const HostInfo& host) {
  Problems problems;
  problems.name("name", host.name);
  if (problems.list("counters", host.counters.size(), kCountersMax)) {
    problems.sorted_keys("counters", host.counters);
    for (const Counter& counter : host.counters) {
      if (counter.amount >= 0 && counter.amount <= kQuantityMax) continue;
      problems.add("counters." + shown(counter.name),
                   fmt::format("{} is not between 0 and {}", counter.amount, kQuantityMax));
    }
  }
  check_at(problems, host);
  if (problems.list("attributes", host.attributes.size(), kListMax)) {
    problems.sorted_keys("attributes", host.attributes);
    for (const KeyValue& pair : host.attributes) {
      problems.text("attributes." + shown(pair.key), pair.value, kTextBytesMax);
    }
  }
  return problems.take();
}

}  // namespace lockstep
