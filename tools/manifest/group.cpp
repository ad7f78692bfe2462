// The native manifest: every key of it, with its default. What single fields may hold is checked where they are read;
// what they mean together is left to validate().

#include "tools/manifest/group.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/manifest/tasks.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::string_view kApiVersion = "lockstep/v1";

// Names of roles as they were written, so that what refers to one by name finds its index, also ahead of it.
class RoleNames {
 public:
  // A list or a map that is too long is refused by who reads it, and is not gone through here.
  void collect(const Value& roles) {
    if (roles.node().items.size() > kRolesMax) return;
    for (const YamlNode* item : roles.node().items) {
      names_.emplace_back();
      if (item->kind != YamlNode::Kind::Map || item->items.size() > 2 * std::size_t{kListMax}) continue;
      for (std::size_t i = 0; i + 1 < item->items.size(); i += 2) {
        if (item->items[i]->text == "name") names_.back() = item->items[i + 1]->text;
      }
    }
  }
  [[nodiscard]] bool find(const Value& value, std::string_view name, RoleIndex& role) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (name.empty() || found == names_.end()) {
      value.problem(fmt::format("no role is named {}", in_quotes(name)));
      return false;
    }
    role = static_cast<RoleIndex>(found - names_.begin());
    return true;
  }

 private:
  std::vector<std::string_view> names_{};
};

void read_pairs(const Value& value, std::vector<KeyValue>& pairs) {
  value.each_pair(kListMax, [&](std::string_view key, const Value& item) {
    KeyValue pair{std::string(key), {}};
    if (item.read_scalar(pair.value)) pairs.push_back(std::move(pair));
  });
  std::sort(pairs.begin(), pairs.end());
}

void read_pairs(MapReader& map, std::string_view key, std::vector<KeyValue>& pairs) {
  if (const auto value = map.find(key)) read_pairs(*value, pairs);
}

void read_topology(MapReader& outer, Topology& topology) {
  const auto value = outer.find("topology");
  if (!value) return;
  MapReader map(*value);
  map.read_text("required", topology.required);
  map.read_text("preferred", topology.preferred);
  map.finish();
}

// A list of names of roles, as their indexes in the order of the roles.
void read_role_list(MapReader& map, const RoleNames& names, std::vector<RoleIndex>& roles) {
  const auto value = map.find("roles");
  if (!value) return;
  value->each(kRolesMax, [&](const Value& item) {
    std::string name;
    RoleIndex role = 0;
    if (!item.read_text(name) || !names.find(item, name, role)) return;
    if (std::find(roles.begin(), roles.end(), role) != roles.end()) {
      item.problem(fmt::format("{} is there twice", in_quotes(name)));
      return;
    }
    roles.push_back(role);
  });
  std::sort(roles.begin(), roles.end());
}

// ---- tasks
// -------------------------------------------------------------------------------------------------------------

void read_span(MapReader& outer, TaskTerm& term) {
  const auto value = outer.find("span");
  if (!value) return;
  MapReader map(*value);
  map.read("ptile", term.span_ptile);
  map.read("hosts", term.span_hosts);
  map.finish();
}

void read_term(const Value& value, TaskTerm& term) {
  MapReader map(value);
  map.read("count", term.count);
  read_span(map, term);
  read_pairs(map, "select", term.select);
  map.each_other([&](std::string_view counter, const Value& quantity) {
    std::string text;
    if (!quantity.read_scalar(text)) return;
    auto added = add_request(term, counter, text);
    if (added) return;
    const std::string said = fmt::format("{}: ", counter);
    const std::string& message = added.error().message;
    quantity.problem(message.starts_with(said) ? message.substr(said.size()) : message);
  });
  finish_term(term);
}

// The short form, or the list of terms.
void read_tasks(const Value& value, NotCarried& not_carried, std::vector<TaskTerm>& tasks) {
  if (value.node().kind == YamlNode::Kind::List) {
    value.each(kTaskTermsMax, [&](const Value& term) { read_term(term, tasks.emplace_back()); });
    return;
  }
  std::string text;
  if (!value.read_text(text)) return;
  auto parsed = parse_tasks(text);
  if (!parsed) {
    value.problem(std::move(parsed).error().message);
    return;
  }
  tasks = std::move(parsed->terms);
  for (const std::string& line : parsed->not_carried) not_carried.add_line(value, line);
}

// ---- roles
// -------------------------------------------------------------------------------------------------------------

void read_after(MapReader& outer, const RoleNames& names, std::vector<After>& after) {
  const auto value = outer.find("after");
  if (!value) return;
  value->each_pair(kRolesMax, [&](std::string_view name, const Value& what) {
    After entry;
    const bool known = names.find(what, name, entry.role);
    if (what.read_enum(entry.what) && known) after.push_back(entry);
  });
  std::sort(after.begin(), after.end());
}

bool read_count(const Value& value, std::int64_t min, std::int64_t max, std::uint32_t& count) {
  std::int64_t number = 0;
  if (!value.read_integer(number, min, max)) return false;
  count = static_cast<std::uint32_t>(number);
  return true;
}

bool read_count(MapReader& map, std::string_view key, std::int64_t min, std::int64_t max, std::uint32_t& count) {
  const auto value = map.find(key);
  return !value || read_count(*value, min, max, count);
}

// A count that was refused must not make others look wrong.
void read_counts(MapReader& map, RoleSpec& role) {
  const bool known = read_count(map, "replicas", 1, kMembersMax, role.replicas);
  role.min = role.max = role.replicas;
  read_count(map, "min", 1, kMembersMax, role.min);
  read_count(map, "max", 1, kMembersMax, role.max);
  read_count(map, "spares", 0, kMembersMax, role.spares);
  if (!known) role.min = role.max = role.replicas;
}

void read_role(const Value& value, const RoleNames& names, NotCarried& not_carried, RoleSpec& role) {
  MapReader map(value);
  if (const auto name = map.need("name")) name->read_text(role.name);
  read_counts(map, role);
  if (const auto tasks = map.need("tasks")) read_tasks(*tasks, not_carried, role.tasks);
  read_topology(map, role.topology);
  read_after(map, names, role.after);
  if (const auto command = map.find("command")) {
    command->each(kListMax, [&](const Value& word) { word.read_scalar(role.command.emplace_back()); });
  }
  read_pairs(map, "env", role.env);
  map.finish();
}

// ---- claims
// --------------------------------------------------------------------------------------------------------------

void read_claim(const Value& value, const RoleNames& names, ClaimSpec& claim) {
  MapReader map(value);
  if (const auto name = map.need("name")) name->read_text(claim.name);
  map.read_enum("kind", claim.kind);
  map.read_enum("per", claim.per);
  read_role_list(map, names, claim.roles);
  if (const auto size = map.find("size")) size->read_quantity(claim.size, "size");
  map.finish();
}

// ---- failure
// -------------------------------------------------------------------------------------------------------------

// 13, or "64-78".
void read_exit_codes(const Value& value, std::vector<ExitRange>& ranges) {
  std::string text;
  if (!value.read_scalar(text)) return;
  const std::size_t dash = text.find('-', 1);
  std::int64_t ends[2] = {0, 0};
  const auto read_end = [&](std::size_t end, std::string part) {
    YamlNode node;
    node.kind = YamlNode::Kind::Scalar;
    node.text = std::move(part);
    ReadContext quiet;
    return Value(quiet, node).read_integer(ends[end], 0, std::numeric_limits<std::int32_t>::max());
  };
  const bool good = read_end(0, text.substr(0, dash)) &&
                    read_end(1, dash == std::string::npos ? text : text.substr(dash + 1)) && ends[0] <= ends[1];
  if (!good) {
    value.problem(fmt::format("{} is neither an exit code nor a range of them, as 13 or \"64-78\"", in_quotes(text)));
    return;
  }
  ranges.push_back({static_cast<std::int32_t>(ends[0]), static_cast<std::int32_t>(ends[1])});
}

void read_rule(const Value& value, const RoleNames& names, FailureRule& rule) {
  MapReader map(value);
  read_role_list(map, names, rule.roles);
  if (const auto reasons = map.find("reasons")) {
    reasons->each(kListMax, [&](const Value& item) {
      FailureReason reason{};
      if (item.read_enum(reason, 1)) rule.reasons.push_back(reason);  // without None
    });
  }
  if (const auto codes = map.find("exitCodes")) {
    codes->each(kListMax, [&](const Value& item) { read_exit_codes(item, rule.exit_codes); });
  }
  if (const auto signals = map.find("signals")) {
    signals->each(kListMax, [&](const Value& item) {
      std::int64_t signal = 0;
      if (item.read_integer(signal, 1, 64)) rule.signals.push_back(static_cast<std::int32_t>(signal));
    });
  }
  map.read_enum("action", rule.action);
  map.read("charge", rule.charge);
  map.finish();
}

void read_budgets(MapReader& map, const RoleNames& names, FailurePolicy& failure) {
  read_count(map, "maxRestarts", 0, kRestartsMax, failure.max_restarts);
  read_count(map, "maxRestartsPerMember", 0, kRestartsMax, failure.max_restarts_per_member);
  const auto per_role = map.find("maxRestartsPerRole");
  if (!per_role) return;
  per_role->each_pair(kRolesMax, [&](std::string_view name, const Value& value) {
    RoleBudget budget;
    const bool known = names.find(value, name, budget.role);
    if (read_count(value, 0, kRestartsMax, budget.max_restarts) && known)
      failure.max_restarts_per_role.push_back(budget);
  });
  std::sort(failure.max_restarts_per_role.begin(), failure.max_restarts_per_role.end());
}

void read_below_min(MapReader& map, FailureAction& action) {
  const auto value = map.find("belowMin");
  std::string text;
  if (!value || !value->read_text(text)) return;
  if (text == "restartGroup") {
    action = FailureAction::RestartGroup;
  } else if (text != "failGroup") {
    value->problem(fmt::format("{} is none of failGroup, restartGroup", in_quotes(text)));
  }
}

void read_backoff(MapReader& outer, BackoffPolicy& backoff) {
  const auto value = outer.find("backoff");
  if (!value) return;
  MapReader map(*value);
  map.read("base", backoff.base);
  map.read("factor", backoff.factor);
  map.read("cap", backoff.cap);
  map.finish();
}

void read_failure(const Value& value, const RoleNames& names, FailurePolicy& failure) {
  MapReader map(value);
  if (const auto rules = map.find("rules")) {
    rules->each(kRulesMax, [&](const Value& rule) { read_rule(rule, names, failure.rules.emplace_back()); });
  }
  map.read_enum("default", failure.default_action);
  read_below_min(map, failure.below_min);
  read_budgets(map, names, failure);
  map.read("window", failure.window);
  read_backoff(map, failure.backoff);
  map.read_enum("restartOn", failure.restart_on);
  map.finish();
}

// ---- the whole
// -----------------------------------------------------------------------------------------------------------

void read_success(const Value& value, const RoleNames& names, SuccessPolicy& success) {
  MapReader map(value);
  map.read_enum("operator", success.op);
  read_role_list(map, names, success.roles);
  map.read_enum("rest", success.rest);
  map.finish();
}

void read_timeouts(const Value& value, Timeouts& timeouts) {
  MapReader map(value);
  map.read("pend", timeouts.pend);
  map.read("reserve", timeouts.reserve);
  map.read("start", timeouts.start);
  map.read("recover", timeouts.recover);
  map.read("run", timeouts.run);
  map.read("stop", timeouts.stop);
  map.finish();
}

void read_placement(const Value& value, GroupSpec& spec) {
  MapReader map(value);
  map.read_enum("mode", spec.mode);
  map.read("partial", spec.partial);
  read_topology(map, spec.topology);
  map.finish();
}

void read_spec(const Value& value, NotCarried& not_carried, DefineGroup& group) {
  GroupSpec& spec = group.spec;
  MapReader map(value);
  RoleNames names;
  if (const auto roles = map.find("roles")) {
    names.collect(*roles);
    roles->each(kRolesMax, [&](const Value& role) { read_role(role, names, not_carried, spec.roles.emplace_back()); });
  }
  map.read("priority", spec.priority);
  map.read("preemptible", spec.preemptible);
  map.read("hold", group.hold);
  if (const auto placement = map.find("placement")) read_placement(*placement, spec);
  if (const auto claims = map.find("claims")) {
    claims->each(kListMax, [&](const Value& claim) { read_claim(claim, names, spec.claims.emplace_back()); });
  }
  if (const auto failure = map.find("failure")) read_failure(*failure, names, spec.failure);
  if (const auto success = map.find("success")) read_success(*success, names, spec.success);
  map.read_enum("resume", spec.resume);
  if (const auto timeouts = map.find("timeouts")) read_timeouts(*timeouts, spec.timeouts);
  map.read("runLimit", spec.run_limit);
  map.read("ttlAfterFinished", spec.ttl_after_finished);
  map.finish();
}

void read_metadata(const Value& value, GroupIdentity& identity) {
  MapReader map(value);
  if (const auto name = map.need("name")) name->read_text(identity.name);
  map.read_text("user", identity.user);
  map.read_text("queue", identity.queue);
  read_pairs(map, "labels", identity.labels);
  map.finish();
}

}  // namespace

DefineGroup read_group(const Value& document, std::string_view default_user, NotCarried& not_carried) {
  DefineGroup group;
  group.identity.user = default_user;
  MapReader map(document);
  map.ignore("kind");
  if (const auto version = map.find("apiVersion")) {
    std::string text;
    if (version->read_text(text) && text != kApiVersion) {
      version->problem(fmt::format("{} is not {}", in_quotes(text), kApiVersion));
    }
  }
  if (const auto metadata = map.find("metadata")) read_metadata(*metadata, group.identity);
  if (const auto spec = map.find("spec")) read_spec(*spec, not_carried, group);
  map.finish();
  return group;
}

}  // namespace lockstep
