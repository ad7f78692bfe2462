#include "tools/scenario/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tools/manifest/manifest.h"
#include "tools/scenario/facts.h"
#include "tools/scenario/lex.h"

namespace lockstep::scenario {
namespace {

Verdict compare_text(std::string subject, const std::string& expected, const std::string& got) {
  return {expected == got, subject + " " + expected, got};
}

Verdict compare_count(std::string subject, std::uint64_t expected, std::uint64_t got) {
  return compare_text(std::move(subject), std::to_string(expected), std::to_string(got));
}

const Group* find(const Run& run, const GroupRef& group) { return run.state().group(resolve(run.world, group)); }

// ---- groups -------------------------------------------------------------------------------------------------------

// "a,b#3" against the blockers, in their order: a name, or the one with that id.
bool same_blockers(const Run& run, const Group& group, const std::string& expected) {
  const Reason reason = explain(run.state(), group);
  std::vector<std::string> names;
  std::stringstream list(expected);
  for (std::string one; std::getline(list, one, ',');) names.push_back(one);
  return std::ranges::equal(names, reason.blockers, [&](const std::string& text, GroupId id) {
    const auto ref = parse_group(text);
    if (!ref) return false;
    return ref->id == 0 ? ref->name == run.world.book().group_name(id) : ref->id == id.value;
  });
}

// `needed` and `free` are quantities of the counter that the reason itself names.
bool same_quantity(const std::string& expected, std::int64_t amount, const std::string& counter) {
  const auto parsed = parse_amount(expected, counter);
  return parsed && *parsed == amount;
}

Result<Verdict> check(const Run& run, const ExpectGroup& expect, const Refusal&) {
  const auto subject = fmt::format("group {} {}", to_string(expect.group), expect.key);
  const Group* group = find(run, expect.group);
  if (group == nullptr) {
    return Verdict{expect.key == "phase" && expect.value == kNone, subject + " " + expect.value, "no such group"};
  }
  auto verdict = compare_text(subject, expect.value,
                              group_fact(run.state(), run.world.book(), *group, expect.key, run.world.now()));
  if (verdict.holds || verdict.got == kNone || expect.value == kNone) return verdict;
  if (expect.key == "reason.blockers") verdict.holds = same_blockers(run, *group, expect.value);
  if (expect.key == "reason.needed" || expect.key == "reason.free") {
    const Reason reason = explain(run.state(), *group);
    verdict.holds =
        same_quantity(expect.value, expect.key == "reason.free" ? reason.free : reason.needed, reason.resource);
  }
  return verdict;
}

std::int64_t amount_of(const std::vector<Counter>& counters, const std::string& name) {
  const auto found = std::ranges::find(counters, name, &Counter::name);
  return found == counters.end() ? 0 : found->amount;
}

Result<Verdict> check(const Run& run, const ExpectHeld& expect, const Refusal&) {
  const Group* group = find(run, expect.group);
  const auto subject = fmt::format("group {} held {}", to_string(expect.group), counters_text(expect.counters));
  if (group == nullptr) return Verdict{false, subject, "no such group"};
  const auto all = held(run.state(), *group);
  if (expect.none) return Verdict{all.empty(), subject, counters_text(all)};
  bool holds = true;
  for (const auto& counter : expect.counters) holds = holds && amount_of(all, counter.name) == counter.amount;
  return Verdict{holds, subject, counters_text(all)};
}

Result<Verdict> check(const Run& run, const ExpectGroups& expect, const Refusal&) {
  return compare_count(fmt::format("groups {}", name(expect.phase)), expect.count, run.state().groups_in(expect.phase));
}

// ---- members ------------------------------------------------------------------------------------------------------

Result<Verdict> check(const Run& run, const ExpectMember& expect, const Refusal&) {
  const auto subject = fmt::format("member {} {}", to_string(expect.members), expect.key);
  const Group* group = find(run, expect.members.group);
  const auto keys = resolve(run.world, expect.members);
  if (group == nullptr || keys.empty()) return Verdict{false, subject + " " + expect.value, "no such member"};
  for (const MemberKey& key : keys) {
    const Member* member = find_member(*group, key);
    const auto got = member == nullptr ? "no such member" : member_fact(run.world.book(), *member, expect.key);
    if (got == expect.value) continue;
    const auto which =
        keys.size() == 1 ? got : fmt::format("{} of {}", got, run.world.book().member(group->head.id, key));
    return Verdict{false, subject + " " + expect.value, which};
  }
  return Verdict{true, subject + " " + expect.value, expect.value};
}

template <class Matches>
std::uint64_t count_members(const Run& run, const MemberRef& members, Matches matches) {
  const Group* group = find(run, members.group);
  if (group == nullptr) return 0;
  std::uint64_t count = 0;
  for (const MemberKey& key : resolve(run.world, members)) {
    const Member* member = find_member(*group, key);
    if (member != nullptr && matches(*member)) ++count;
  }
  return count;
}

// A count of 0 must not hold only because the name is misspelt.
std::optional<Verdict> nobody(const Run& run, const MemberRef& members, const std::string& expected) {
  if (find(run, members.group) == nullptr) return Verdict{false, expected, "no such group"};
  if (!members.role.empty() && !run.world.book().role(resolve(run.world, members.group), members.role)) {
    return Verdict{false, expected, "no such role"};
  }
  return std::nullopt;
}

Result<Verdict> check(const Run& run, const ExpectMembersIn& expect, const Refusal&) {
  const auto subject = fmt::format("members {} {}", to_string(expect.members), name(expect.phase));
  if (auto verdict = nobody(run, expect.members, fmt::format("{} {}", subject, expect.count))) return *verdict;
  return compare_count(subject, expect.count, count_members(run, expect.members, [&](const Member& member) {
                         return member.phase == expect.phase;
                       }));
}

Result<Verdict> check(const Run& run, const ExpectMembersOn& expect, const Refusal&) {
  const auto subject = fmt::format("members {} on {}", to_string(expect.members), hosts_text(expect.hosts));
  if (auto verdict = nobody(run, expect.members, fmt::format("{} {}", subject, expect.count))) return *verdict;
  const std::set<std::string> hosts(expect.hosts.begin(), expect.hosts.end());
  return compare_count(subject, expect.count, count_members(run, expect.members, [&](const Member& member) {
                         if (!is_live(member.phase) && member.phase != MemberPhase::Reserved) return false;
                         return std::ranges::any_of(member.hosts, [&](const Slice& slice) {
                           return hosts.contains(run.world.book().host(slice.host));
                         });
                       }));
}

// ---- the cluster --------------------------------------------------------------------------------------------------

Result<Verdict> check(const Run& run, const ExpectHostFree& expect, const Refusal&) {
  const auto subject = fmt::format("host {} free {}", hosts_text(expect.hosts), counters_text(expect.counters));
  for (const auto& name : expect.hosts) {
    const Host* host = run.state().host_named(name);
    if (host == nullptr) return Verdict{false, subject, "no host " + name};
    std::vector<Counter> free;
    for (const auto& counter : expect.counters) {
      free.push_back({counter.name, host_free(run.state(), *host, counter.name)});
    }
    if (free != expect.counters) return Verdict{false, subject, fmt::format("{} of {}", counters_text(free), name)};
  }
  return Verdict{true, subject, counters_text(expect.counters)};
}

Result<Verdict> check(const Run& run, const ExpectPoolFree& expect, const Refusal&) {
  return compare_text(fmt::format("pool {} free", expect.pool), format_quantity(expect.free, expect.pool),
                      format_quantity(pool_free(run.state(), expect.pool), expect.pool));
}

Result<Verdict> check(const Run& run, const ExpectClaim& expect, const Refusal&) {
  const auto subject = fmt::format("claim {} {}", to_string(expect.claim), name(expect.phase));
  const auto claims = resolve(run.world, expect.claim);
  if (claims.empty()) return Verdict{false, subject, "no such claim"};
  for (const FoundClaim& claim : claims) {
    if (claim.phase != expect.phase) return Verdict{false, subject, std::string(name(claim.phase))};
  }
  return Verdict{true, subject, std::string(name(expect.phase))};
}

// ---- counts -------------------------------------------------------------------------------------------------------

// Of a group; or of the standalone claim of that name, when there never was such a group.
Result<Verdict> check(const Run& run, const ExpectIntents& expect, const Refusal&) {
  const auto subject = fmt::format("intents {} {}", to_string(expect.group), name(expect.kind));
  const GroupId id = resolve(run.world, expect.group);
  if (!id && !run.state().claims.contains(expect.group.name)) {
    return Verdict{false, fmt::format("{} {}", subject, expect.count), "no such group"};
  }
  std::uint64_t count = 0;
  intents(run.state(), [&](const Intent& intent) {
    const bool meant = id ? intent.group == id : !intent.group && intent.claim.name == expect.group.name;
    if (meant && intent.kind == expect.kind) ++count;
  });
  return compare_count(subject, expect.count, count);
}

Result<Verdict> compare_events(const Run& run, std::string subject, EventKind kind,
                               const std::optional<GroupRef>& group, std::uint64_t expected) {
  if (!group) return compare_count(std::move(subject), expected, run.world.book().count(kind));
  subject += " group=" + to_string(*group);
  const GroupId id = resolve(run.world, *group);
  if (!id) return Verdict{false, fmt::format("{} {}", subject, expected), "no such group"};
  return compare_count(std::move(subject), expected, run.world.book().count(kind, id));
}

Result<Verdict> check(const Run& run, const ExpectEvents& expect, const Refusal&) {
  return compare_events(run, fmt::format("events {}", name(expect.kind)), expect.kind, expect.group, expect.count);
}

Result<Verdict> check(const Run& run, const ExpectLate& expect, const Refusal&) {
  return compare_events(run, "late reports", EventKind::LateReport, expect.group, expect.count);
}

// ---- the step above, and all of history ---------------------------------------------------------------------------

Result<Verdict> check(const Run&, const ExpectRejected& expect, const Refusal& last) {
  return Verdict{last.code == expect.code, fmt::format("the step to be refused with {}", name(expect.code)),
                 last.refused() ? fmt::format("{}: {}", name(last.code), last.text) : "it was done"};
}

Result<Verdict> check(const Run& run, const ExpectSameDigest&, const Refusal&) {
  const auto differences = run.world.replay_differences();
  LOCKSTEP_TRY(differences);
  return Verdict{differences->empty(), "replay to reach the state held now",
                 differences->empty() ? "the same" : fmt::format("{}", fmt::join(*differences, "; "))};
}

}  // namespace

Result<Verdict> evaluate(const Run& run, const Expectation& expectation, const Refusal& last) {
  return std::visit([&](const auto& expect) { return check(run, expect, last); }, expectation);
}

}  // namespace lockstep::scenario
