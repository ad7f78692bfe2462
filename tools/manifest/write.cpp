// write_manifest(): the native YAML of a group, without what has its default value. Words are quoted whenever a reader
// of YAML could take them for something else.

#include <fmt/format.h>

#include <algorithm>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_plain(std::string_view text) {
  if (text.empty() || !is_letter(text[0]) || text.size() > 80) return false;
  const auto safe = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '/'; };
  if (!std::all_of(text.begin(), text.end(), safe)) return false;
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view word : {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}) {
    if (lower == word) return false;
  }
  return true;
}

// A word as one YAML scalar. U+0085, U+2028 and U+2029 end a line for some readers of YAML and are escaped too.
std::string scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::string_view rest = text.substr(i);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte < 0x20 || byte == 0x7F) {
      out += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : fmt::format("\\x{:02x}", byte);
    } else if (rest.starts_with("\xc2\x85")) {
      out += "\\u0085";
      i += 1;
    } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      out += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out + '"';
}

// A flow map or list, item by item.
class Flow {
 public:
  void add(std::string_view key, std::string_view value) { item(fmt::format("{}: {}", scalar(key), value)); }
  void item(std::string_view text) {
    if (!text_.empty()) text_ += ", ";
    text_ += text;
  }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string map() const { return '{' + text_ + '}'; }
  [[nodiscard]] std::string list() const { return '[' + text_ + ']'; }

 private:
  std::string text_;
};

// Lines below one another; a block with no lines is not written at all.
class Block {
 public:
  void line(std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), "{}: {}\n", scalar(key), value);
  }
  void map(std::string_view key, const Flow& flow) {
    if (!flow.empty()) line(key, flow.map());
  }
  void list(std::string_view key, const Flow& flow) {
    if (!flow.empty()) line(key, flow.list());
  }
  void block(std::string_view key, const Block& inner) {
    if (inner.text_.empty()) return;
    fmt::format_to(std::back_inserter(text_), "{}:\n", scalar(key));
    indented(inner, "  ", "  ");
  }
  void item(const Block& inner) { indented(inner, "- ", "  "); }
  void item(const Flow& flow) { fmt::format_to(std::back_inserter(text_), "- {}\n", flow.map()); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void indented(const Block& inner, std::string_view first, std::string_view others) {
    std::string_view rest = inner.text_;
    for (std::string_view before = first; !rest.empty(); before = others) {
      const std::size_t size = rest.find('\n') + 1;
      text_ += before;
      text_ += rest.substr(0, size);
      rest.remove_prefix(size);
    }
  }

  std::string text_;
};

template <DescribedEnum E>
std::string word(E value) {
  return enum_text(name(value));
}

Flow pairs_flow(const std::vector<KeyValue>& pairs) {
  Flow flow;
  for (const KeyValue& pair : pairs) flow.add(pair.key, scalar(pair.value));
  return flow;
}

Flow topology_flow(const Topology& topology) {
  Flow flow;
  if (!topology.required.empty()) flow.add("required", scalar(topology.required));
  if (!topology.preferred.empty()) flow.add("preferred", scalar(topology.preferred));
  return flow;
}

class ManifestWriter {
 public:
  explicit ManifestWriter(const DefineGroup& group) : group_(group), spec_(group.spec) {}

  [[nodiscard]] std::string text() const {
    Block document;
    document.line("apiVersion", "lockstep/v1");
    document.line("kind", "GangGroup");
    document.block("metadata", metadata());
    document.block("spec", spec());
    return document.text();
  }

 private:
  [[nodiscard]] Block metadata() const {
    const GroupIdentity& identity = group_.identity;
    Block block;
    block.line("name", scalar(identity.name));
    block.line("user", scalar(identity.user));
    if (identity.queue != GroupIdentity{}.queue) block.line("queue", scalar(identity.queue));
    block.map("labels", pairs_flow(identity.labels));
    return block;
  }

  [[nodiscard]] Block spec() const {
    const GroupSpec usual;
    Block block;
    if (spec_.priority != usual.priority) block.line("priority", fmt::format("{}", spec_.priority));
    if (spec_.preemptible != usual.preemptible) block.line("preemptible", "false");
    if (group_.hold) block.line("hold", "true");
    block.block("placement", placement());
    block.block("roles", roles());
    block.block("claims", claims());
    block.block("failure", failure());
    block.map("success", success());
    if (spec_.resume != usual.resume) block.line("resume", word(spec_.resume));
    block.map("timeouts", timeouts());
    if (spec_.run_limit != usual.run_limit) block.line("runLimit", format_duration(spec_.run_limit));
    if (spec_.ttl_after_finished != usual.ttl_after_finished) {
      block.line("ttlAfterFinished", format_duration(spec_.ttl_after_finished));
    }
    return block;
  }

  [[nodiscard]] Block placement() const {
    Block block;
    if (spec_.mode != PlacementMode::Atomic) block.line("mode", word(spec_.mode));
    if (spec_.partial) block.line("partial", "true");
    block.map("topology", topology_flow(spec_.topology));
    return block;
  }

  [[nodiscard]] std::string role_name(RoleIndex role) const {
    return role < spec_.roles.size() ? scalar(spec_.roles[role].name) : fmt::format("{}", role);
  }
  [[nodiscard]] Flow role_list(const std::vector<RoleIndex>& roles) const {
    Flow flow;
    for (const RoleIndex role : roles) flow.item(role_name(role));
    return flow;
  }
  // A key of a flow map is written as it is, because scalar() of a scalar would quote it again.
  [[nodiscard]] std::string role_pair(RoleIndex role, std::string_view value) const {
    return fmt::format("{}: {}", role_name(role), value);
  }

  // ---- roles and their tasks -------------------------------------------------------------------------------------

  static Flow term_flow(const TaskTerm& term) {
    Flow flow;
    if (term.count != 1) flow.add("count", fmt::format("{}", term.count));
    for (const Counter& counter : term.requests) {
      flow.add(counter.name, format_quantity(counter.amount, counter.name));
    }
    Flow span;
    if (term.span_ptile != 0) span.add("ptile", fmt::format("{}", term.span_ptile));
    if (term.span_hosts != 0) span.add("hosts", fmt::format("{}", term.span_hosts));
    if (!span.empty()) flow.add("span", span.map());
    if (!term.select.empty()) flow.add("select", pairs_flow(term.select).map());
    return flow;
  }

  // A counter with the name of a key of the structured form can be written in the short form only.
  static bool needs_short_form(const std::vector<TaskTerm>& tasks) {
    const auto reserved = [](const Counter& counter) {
      return counter.name == "count" || counter.name == "span" || counter.name == "select";
    };
    return std::any_of(tasks.begin(), tasks.end(), [&](const TaskTerm& term) {
      return std::any_of(term.requests.begin(), term.requests.end(), reserved);
    });
  }

  static std::string short_form(const std::vector<TaskTerm>& tasks) {
    std::string text;
    for (const TaskTerm& term : tasks) {
      fmt::format_to(std::back_inserter(text), "{}{}*{{", text.empty() ? "" : " + ", term.count);
      for (const Counter& counter : term.requests) {
        fmt::format_to(std::back_inserter(text), "{}={} ", counter.name, format_quantity(counter.amount, counter.name));
      }
      for (std::size_t i = 0; i < term.select.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "{}{}=='{}'{}", i == 0 ? "select[" : " && ", term.select[i].key,
                       term.select[i].value, i + 1 == term.select.size() ? "] " : "");
      }
      if (term.span_ptile != 0) fmt::format_to(std::back_inserter(text), "span[ptile={}] ", term.span_ptile);
      if (term.span_hosts != 0) text += "span[hosts=1] ";
      text += '}';
    }
    return text;
  }

  [[nodiscard]] Block role_block(const RoleSpec& role) const {
    Block block;
    block.line("name", scalar(role.name));
    if (role.replicas != 1) block.line("replicas", fmt::format("{}", role.replicas));
    if (role.min != role.replicas) block.line("min", fmt::format("{}", role.min));
    if (role.max != role.replicas) block.line("max", fmt::format("{}", role.max));
    if (needs_short_form(role.tasks)) {
      block.line("tasks", scalar(short_form(role.tasks)));
    } else {
      Block terms;
      for (const TaskTerm& term : role.tasks) terms.item(term_flow(term));
      block.block("tasks", terms);
    }
    block.map("topology", topology_flow(role.topology));
    if (role.spares != 0) block.line("spares", fmt::format("{}", role.spares));
    Flow after;
    for (const After& entry : role.after) after.item(role_pair(entry.role, word(entry.what)));
    block.map("after", after);
    Flow command;
    for (const std::string& text : role.command) command.item(scalar(text));
    block.list("command", command);
    block.map("env", pairs_flow(role.env));
    return block;
  }

  [[nodiscard]] Block roles() const {
    Block block;
    for (const RoleSpec& role : spec_.roles) block.item(role_block(role));
    return block;
  }

  [[nodiscard]] Block claims() const {
    Block block;
    for (const ClaimSpec& claim : spec_.claims) {
      Flow flow;
      flow.add("name", scalar(claim.name));
      if (claim.kind != ClaimKind::Template) flow.add("kind", word(claim.kind));
      if (claim.per != ClaimPer::Group) flow.add("per", word(claim.per));
      if (!claim.roles.empty()) flow.add("roles", role_list(claim.roles).list());
      if (claim.size != 0) flow.add("size", format_quantity(claim.size, "size"));
      block.item(flow);
    }
    return block;
  }

  // ---- policies
  // ------------------------------------------------------------------------------------------------------

  [[nodiscard]] Flow rule_flow(const FailureRule& rule) const {
    Flow flow;
    if (!rule.roles.empty()) flow.add("roles", role_list(rule.roles).list());
    Flow reasons;
    for (const FailureReason reason : rule.reasons) reasons.item(word(reason));
    if (!reasons.empty()) flow.add("reasons", reasons.list());
    Flow codes;
    for (const ExitRange& range : rule.exit_codes) {
      codes.item(range.first == range.last ? fmt::format("{}", range.first)
                                           : fmt::format("\"{}-{}\"", range.first, range.last));
    }
    if (!codes.empty()) flow.add("exitCodes", codes.list());
    Flow signals;
    for (const std::int32_t signal : rule.signals) signals.item(fmt::format("{}", signal));
    if (!signals.empty()) flow.add("signals", signals.list());
    flow.add("action", word(rule.action));
    if (!rule.charge) flow.add("charge", "false");
    return flow;
  }

  [[nodiscard]] Block failure() const {
    const FailurePolicy& failure = spec_.failure;
    const FailurePolicy usual;
    Block block;
    Block rules;
    for (const FailureRule& rule : failure.rules) rules.item(rule_flow(rule));
    block.block("rules", rules);
    if (failure.default_action != usual.default_action) block.line("default", word(failure.default_action));
    if (failure.below_min != usual.below_min) block.line("belowMin", word(failure.below_min));
    if (failure.max_restarts != usual.max_restarts) block.line("maxRestarts", fmt::format("{}", failure.max_restarts));
    Flow per_role;
    for (const RoleBudget& budget : failure.max_restarts_per_role) {
      per_role.item(role_pair(budget.role, fmt::format("{}", budget.max_restarts)));
    }
    block.map("maxRestartsPerRole", per_role);
    if (failure.max_restarts_per_member != kNoBudget) {
      block.line("maxRestartsPerMember", fmt::format("{}", failure.max_restarts_per_member));
    }
    if (failure.window != usual.window) block.line("window", format_duration(failure.window));
    Flow backoff;
    if (failure.backoff.base != usual.backoff.base) backoff.add("base", format_duration(failure.backoff.base));
    if (failure.backoff.factor != usual.backoff.factor) {
      backoff.add("factor", fmt::format("{}", failure.backoff.factor));
    }
    if (failure.backoff.cap != usual.backoff.cap) backoff.add("cap", format_duration(failure.backoff.cap));
    block.map("backoff", backoff);
    if (failure.restart_on != usual.restart_on) block.line("restartOn", word(failure.restart_on));
    return block;
  }

  [[nodiscard]] Flow success() const {
    Flow flow;
    if (spec_.success.op != SuccessOperator::All) flow.add("operator", word(spec_.success.op));
    if (!spec_.success.roles.empty()) flow.add("roles", role_list(spec_.success.roles).list());
    if (spec_.success.rest != SuccessRest::Wait) flow.add("rest", word(spec_.success.rest));
    return flow;
  }

  [[nodiscard]] Flow timeouts() const {
    Flow flow;
    for_each_field(spec_.timeouts, kUsualTimeouts, [&](std::string_view key, Duration value, Duration usual) {
      if (value != usual) flow.add(key, format_duration(value));
    });
    return flow;
  }

  static constexpr Timeouts kUsualTimeouts{};
  const DefineGroup& group_;
  const GroupSpec& spec_;
};

}  // namespace

std::string write_manifest(const DefineGroup& group) { return ManifestWriter(group).text(); }

}  // namespace lockstep
