#include "tools/scenario/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "statemachine/explain.h"
#include "tools/manifest/manifest.h"

namespace lockstep::scenario {
namespace {

constexpr std::string_view kDeadline = "deadline.";

std::string text_or_none(std::string text) { return text.empty() ? std::string(kNone) : std::move(text); }

std::string lower_first(std::string_view text) {
  std::string lower(text);
  if (!lower.empty() && lower[0] >= 'A' && lower[0] <= 'Z') lower[0] = static_cast<char>(lower[0] - 'A' + 'a');
  return lower;
}

std::string role_or_none(const Book& book, const Group& group, RoleIndex role) {
  return role == kNoRole ? std::string(kNone) : book.role_name(group.head.id, role);
}

std::string reason_fact(const State& state, const Book& book, const Group& group, std::string_view key) {
  const Reason reason = explain(state, group);
  if (reason.code == ReasonCode::None) return std::string(kNone);
  if (key == "reason") return std::string(name(reason.code));
  if (key == "reason.role") return role_or_none(book, group, reason.role);
  if (key == "reason.resource") return text_or_none(reason.resource);
  if (key == "reason.domain") return text_or_none(reason.domain);
  if (key == "reason.needed") return format_quantity(reason.needed, reason.resource);
  if (key == "reason.free") return format_quantity(reason.free, reason.resource);
  std::string blockers;
  for (const GroupId id : reason.blockers) blockers += (blockers.empty() ? "" : ",") + book.group_name(id);
  return text_or_none(std::move(blockers));
}

// Of a terminal group; what decided a stop is not yet an end.
std::string end_fact(const Book& book, const Group& group, std::string_view key) {
  const End& end = group.head.end;
  if (!is_terminal(group.head.phase) || end.code == EndCode::None) return std::string(kNone);
  if (key == "end") return std::string(name(end.code));
  if (key == "end.scope") return lower_first(name(end.scope));
  if (key == "end.role") return role_or_none(book, group, end.role);
  if (end.member == kNoMember) return std::string(kNone);
  if (key == "end.member") return std::to_string(end.member);
  if (key == "end.exitCode") return std::to_string(end.exit_code);
  return std::to_string(end.signal);
}

// The earliest of its kind: of members and roles there are several.
std::string deadline_fact(const State& state, const Group& group, TimerKind kind, Time now) {
  for (const TimerKey& timer : state.indexes.timers) {
    const bool comes = timer.deadline != kEndOfTime;
    if (comes && timer.group == group.head.id && timer.kind == kind) return format_duration(timer.deadline - now);
  }
  return std::string(kNone);
}

}  // namespace

std::optional<TimerKind> timer_kind(std::string_view text) {
  for (const auto kind : {TimerKind::Pend, TimerKind::Reserve, TimerKind::Start, TimerKind::Recover, TimerKind::Run,
                          TimerKind::Stop, TimerKind::Backoff, TimerKind::Resize, TimerKind::Ttl}) {
    if (lower_first(name(kind)) == text) return kind;
  }
  return std::nullopt;
}

std::string hosts_text(std::vector<std::string> names) {
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names.empty() ? std::string(kNone) : compress_hostlist(names);
}

std::string group_fact(const State& state, const Book& book, const Group& group, std::string_view key, Time now) {
  const GroupHead& head = group.head;
  if (key == "phase") return std::string(name(head.phase));
  if (key == "attempt") return std::to_string(head.attempt);
  if (key == "charged") return std::to_string(head.charged);
  if (key == "domain") return text_or_none(head.domain);
  if (key.starts_with("end")) return end_fact(book, group, key);
  if (key.starts_with("reason")) return reason_fact(state, book, group, key);
  if (key.starts_with(kDeadline)) {
    if (const auto kind = timer_kind(key.substr(kDeadline.size()))) return deadline_fact(state, group, *kind, now);
  }
  return std::string(kNone);
}

std::string member_fact(const Book& book, const Member& member, std::string_view key) {
  if (key == "phase") return std::string(name(member.phase));
  if (key == "run") return std::to_string(member.run);
  if (key == "exitCode") return std::to_string(member.exit_code);
  if (key == "signal") return std::to_string(member.signal);
  std::vector<std::string> hosts;
  for (const Slice& slice : member.hosts) hosts.push_back(book.host(slice.host));
  return hosts_text(std::move(hosts));
}

std::string counters_text(const std::vector<Counter>& counters) {
  std::string text;
  for (const auto& counter : counters) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : " ", counter.name, format_quantity(counter.amount, counter.name));
  }
  return text_or_none(std::move(text));
}

}  // namespace lockstep::scenario
