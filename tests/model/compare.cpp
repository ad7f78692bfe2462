#include "tests/model/compare.h"

#include <fmt/format.h>

namespace lockstep::model {
namespace {

std::string text_of(const std::string& value) { return value; }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::uint32_t value) { return fmt::format("{}", value); }
std::string text_of(std::uint64_t value) { return fmt::format("{}", value); }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(std::int32_t value) { return fmt::format("{}", value); }
std::string text_of(Time value) { return value ? fmt::format("{}ns", value.value) : "none"; }
template <DescribedEnum E>
std::string text_of(E value) {
  return std::string(name(value));
}
std::string text_of(const Slices& slices) {
  std::string text;
  for (const Slice& slice : slices) text += fmt::format(" {}x{}@h{}", slice.count, slice.term, slice.host.value);
  return text.empty() ? "nothing" : text;
}

// Keeps the first difference it is told of.
class Differences {
 public:
  template <class T>
  void check(const std::string& where, const char* what, const T& product, const T& model) {
    if (found_.empty() && product != model)
      found_ = fmt::format("{}: {}: product {}, model {}", where, what, text_of(product), text_of(model));
  }
  [[nodiscard]] bool any() const { return !found_.empty(); }
  [[nodiscard]] const std::string& text() const { return found_; }

 private:
  std::string found_;
};

void compare_members(Differences& differ, const Group& group, const NaiveGroup& other, const std::string& where) {
  static const Member kNobody{.phase = MemberPhase::Waiting};
  static const NaiveMember kNaiveNobody;
  std::set<MemberKey> keys;
  for (const auto& [key, member] : other.members) keys.insert(key);
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    for (std::uint32_t i = 0; i < group.roles[role].members.size(); ++i) keys.insert({role, i});
  }
  for (const MemberKey& key : keys) {
    const auto& all = group.roles.at(key.role).members;
    const Member& member = key.index < all.size() ? all[key.index] : kNobody;
    const auto found = other.members.find(key);
    const NaiveMember& naive = found == other.members.end() ? kNaiveNobody : found->second;
    const std::string at = fmt::format("{}/{}[{}]", where, group.spec->roles[key.role].name, key.index);
    differ.check(at, "phase", member.phase, naive.phase);
    differ.check(at, "run", member.run, naive.run);
    differ.check(at, "hosts", member.hosts, naive.hosts);
    if (is_active(other.phase) && !other.satisfied) differ.check(at, "required", member.required, naive.required);
    differ.check(at, "kill", member.kill, naive.kill);
    differ.check(at, "fenced", member.fenced, naive.fenced);
    differ.check(at, "recover deadline", member.recover_deadline, naive.recover_deadline);
    differ.check(at, "stop deadline", member.stop_deadline, naive.stop_deadline);
    if (differ.any()) return;
  }
}

void compare_roles(Differences& differ, const Group& group, const NaiveGroup& other, const std::string& where) {
  for (RoleIndex index = 0; index < group.roles.size(); ++index) {
    const Role& role = group.roles[index];
    const NaiveRole& naive = other.roles[index];
    const std::string at = fmt::format("{}/{}", where, group.spec->roles[index].name);
    differ.check(at, "wanted", role.head.wanted, naive.wanted);
    differ.check(at, "a resize is pending", role.head.resize_pending, naive.resize_to.has_value());
    if (naive.resize_to) differ.check(at, "resize to", role.head.resize_to, *naive.resize_to);
    differ.check(at, "resize deadline", role.head.resize_deadline, naive.resize_deadline);
    differ.check(at, "spares", role.spares.size(), naive.spares.size());
    for (std::size_t i = 0; i < role.spares.size() && !differ.any(); ++i)
      differ.check(at, "spare", role.spares[i].hosts, naive.spares[i]);
  }
}

void compare_end(Differences& differ, const End& end, const End& naive, const std::string& where) {
  differ.check(where, "end", end.code, naive.code);
  if (naive.code == EndCode::RestartBudgetExhausted) differ.check(where, "end's scope", end.scope, naive.scope);
  differ.check(where, "end's role", end.role, naive.role);
  differ.check(where, "end's member", end.member, naive.member);
  // Of one given up because it did not recover it is left open whether the exit counts that it made while being
  // stopped.
  if (naive.code != EndCode::RecoverTimeout) differ.check(where, "end's exit code", end.exit_code, naive.exit_code);
}

void compare_group(Differences& differ, const Group& group, const NaiveGroup& other) {
  const GroupHead& head = group.head;
  const std::string where = fmt::format("g#{} ({})", head.id.value, head.identity.name);
  differ.check(where, "phase", head.phase, other.phase);
  differ.check(where, "attempt", head.attempt, other.attempt);
  differ.check(where, "charged", head.charged, other.charged);
  differ.check(where, "stops for", head.next, other.next);
  differ.check(where, "keeps hosts", head.keep_hosts, other.keep_hosts);
  if (is_active(other.phase)) differ.check(where, "satisfied", head.satisfied, other.satisfied);
  differ.check(where, "late reports", head.late_reports, other.late_reports);
  differ.check(where, "pend deadline", head.pend_deadline, other.pend_deadline);
  differ.check(where, "reserve deadline", head.reserve_deadline, other.reserve_deadline);
  differ.check(where, "start deadline", head.start_deadline, other.start_deadline);
  differ.check(where, "run deadline", head.run_deadline, other.run_deadline);
  differ.check(where, "backoff deadline", head.backoff_deadline, other.backoff_deadline);
  differ.check(where, "ttl deadline", head.ttl_deadline, other.ttl_deadline);
  if (is_terminal(other.phase)) compare_end(differ, head.end, other.end, where);
  if (is_active(other.phase)) differ.check(where, "domain", head.domain, other.domain);
  compare_members(differ, group, other, where);
  compare_roles(differ, group, other, where);
  for (const auto& [key, claim] : group.claims) {
    const auto naive = other.claims.find(key);
    differ.check(fmt::format("{} claim {} of role {} member {}", where, key.claim,
                             static_cast<std::int32_t>(key.member.role), static_cast<std::int32_t>(key.member.index)),
                 "phase", claim.phase, naive == other.claims.end() ? ClaimPhase::Wanted : naive->second);
  }
  for (const auto& [key, phase] : other.claims)
    differ.check(where, "has a claim that was asked for", group.claims.contains(key), true);
}

void compare_hosts(Differences& differ, const State& state, const NaiveModel& model) {
  differ.check("cluster", "hosts", std::uint64_t{state.hosts.size()}, std::uint64_t{model.hosts.size()});
  const auto used = model.used();
  state.hosts.for_each([&](const Host& host) {
    const std::string at = "host " + host.facts.info.name;
    const auto found = model.hosts.find(host.facts.id);
    if (found == model.hosts.end()) return differ.check(at, "there", true, false);
    differ.check(at, "down", host.facts.info.down, found->second.info.down);
    differ.check(at, "drained", host.facts.info.drained, found->second.info.drained);
    const auto sums = used.find(host.facts.id);
    for (std::size_t i = 0; i < host.used.size(); ++i) {
      std::int64_t amount = 0;
      if (sums != used.end()) {
        const auto counter = sums->second.find(state.resources[i]);
        if (counter != sums->second.end()) amount = counter->second;
      }
      if (host.used[i] != amount) differ.check(at, ("used " + state.resources[i]).c_str(), host.used[i], amount);
    }
  });
}

}  // namespace

std::string first_difference(const State& state, const NaiveModel& model) {
  Differences differ;
  state.groups.for_each([&](const Group& group) {
    if (differ.any()) return;
    const auto other = model.groups.find(group.head.id);
    if (other == model.groups.end())
      differ.check(fmt::format("g#{} ({})", group.head.id.value, group.head.identity.name), "known", true, false);
    else
      compare_group(differ, group, other->second);
  });
  for (const auto& [id, group] : model.groups)
    differ.check(fmt::format("g#{} ({})", id.value, group.name), "known", state.group(id) != nullptr, true);
  for (const auto& [claim, phase] : model.claims) {
    const auto found = state.claims.find(claim);
    differ.check("claim " + claim, "phase", found == state.claims.end() ? ClaimPhase::Wanted : found->second.phase,
                 phase);
  }
  differ.check("cluster", "late reports about nobody", state.head.late_unknown, model.late_unknown);
  if (!differ.any()) compare_hosts(differ, state, model);
  return differ.text();
}

}  // namespace lockstep::model
