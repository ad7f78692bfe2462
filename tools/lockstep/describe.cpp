#include "tools/lockstep/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/lockstep/times.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

struct Words {
  const Event& event;
  const Names& names;

  [[nodiscard]] std::string role(RoleIndex index) const { return names.role(event.group, index); }
  [[nodiscard]] std::string member(MemberKey key) const { return names.member(event.group, key); }
  [[nodiscard]] std::string members(const std::vector<MemberKey>& keys) const {
    return names.members(event.group, keys);
  }
  [[nodiscard]] std::string members(RoleIndex of, const std::vector<std::uint32_t>& indexes) const {
    std::vector<MemberKey> keys;
    for (const auto index : indexes) keys.push_back({of, index});
    return indexes.empty() ? role(of) + "[*]" : members(keys);
  }
  [[nodiscard]] std::string claim(const ClaimRef& ref) const { return names.claim(event.group, ref); }
  [[nodiscard]] static std::string domain(const std::string& path) {
    return path.empty() || path == "/" ? std::string() : " in " + path;
  }
  [[nodiscard]] static std::string count(std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  }

  [[nodiscard]] static std::string how(FailureReason reason, std::int32_t code, std::int32_t signal) {
    if (signal != 0) return fmt::format("signal {}", signal);
    switch (reason) {
      case FailureReason::None:
      case FailureReason::Exited:
        return fmt::format("exit code {}", code);
      case FailureReason::OutOfMemory:
        return "out of memory";
      case FailureReason::HostLost:
        return "its host is lost";
      case FailureReason::LaunchFailed:
        return "it could not be launched";
      case FailureReason::ClaimFailed:
        return "its claim failed";
      case FailureReason::Signaled:
      case FailureReason::StartTimeout:
      case FailureReason::RunTimeout:
        break;
    }
    return lower_camel(name(reason));
  }

  [[nodiscard]] static std::string fate(MemberFate fate) {
    switch (fate) {
      case MemberFate::Ends:
        return "";
      case MemberFate::KeepsHosts:
        return ", keeps its hosts";
      case MemberFate::RunsAgain:
        return ", runs again";
      case MemberFate::GivenUp:
        return ", given up";
    }
    return "";
  }

  [[nodiscard]] static std::string charged(bool charged, Scope scope) {
    return charged ? fmt::format(", charged to the {}", lower_camel(name(scope))) : "";
  }

  [[nodiscard]] std::string end(const End& end) const {
    std::string text(name(end.code));
    if (end.code == EndCode::None) return "by request";
    if (end.role != kNoRole && end.member != kNoMember) {
      text += fmt::format(": {}", member({end.role, end.member}));
      const bool by_itself = end.exit_code != 0 || end.code == EndCode::Completed;
      if (end.signal != 0) text += fmt::format(", signal {}", end.signal);
      if (end.signal == 0 && by_itself) text += fmt::format(", exit code {}", end.exit_code);
    } else if (end.role != kNoRole) {
      text += ": " + role(end.role);
    }
    return text;
  }

  // ---- the cluster and the controller ----
  std::string operator()(const HostAdded& e) const { return host(e.info); }
  std::string operator()(const HostChanged& e) const { return host(e.info); }
  std::string operator()(const HostRemoved& e) const { return names.host(e.host); }
  std::string operator()(const PoolSet& e) const {
    return fmt::format("{} {}", e.name, format_quantity(e.total, e.name));
  }
  std::string operator()(const LevelsSet& e) const { return fmt::format("{}", fmt::join(e.levels, " ")); }
  std::string operator()(const ControllerStarted& e) const { return fmt::format("epoch {}", e.epoch.value); }
  std::string operator()(const DigestRecorded& e) const { return fmt::format("{:016x}{:016x}", e.high, e.low); }
  std::string operator()(const RequestAnswered& e) const {
    const auto code = static_cast<AnswerCode>(e.code);
    const auto told = is_enumerator<AnswerCode>(e.code) ? std::string(name(code)) : fmt::format("{}", e.code);
    return fmt::format("client {:016x} request {}: {}", e.client, e.request, told);
  }
  [[nodiscard]] static std::string host(const HostInfo& info) {
    std::string text = info.name;
    for (const auto& counter : info.counters) {
      text += fmt::format(" {}={}", counter.name, format_quantity(counter.amount, counter.name));
    }
    if (!info.at.empty()) text += fmt::format(" at {}", fmt::join(info.at, "/"));
    if (info.down) text += " down";
    if (info.drained) text += " drained";
    return text;
  }

  // ---- wishes ----
  std::string operator()(const GroupDefined& e) const {
    std::string roles;
    for (const auto& r : e.spec->roles) roles += fmt::format("{}{} x{}", roles.empty() ? "" : ", ", r.name, r.replicas);
    return fmt::format("{} for {} in queue {}: {}{}", e.identity.name, e.identity.user, e.identity.queue, roles,
                       e.hold ? ", held" : "");
  }
  std::string operator()(const GroupSubmitted&) const { return ""; }
  std::string operator()(const ResizeRequested& e) const {
    return fmt::format("{} to {}{}", role(e.role), e.replicas, e.pending ? ", pending" : "");
  }
  std::string operator()(const ResizeApplied& e) const {
    std::string text = fmt::format("{} to {}", role(e.role), e.replicas);
    if (!e.grown.empty()) text += fmt::format(", grown on {}", names.hosts(e.grown));
    if (!e.shrunk.empty()) text += fmt::format(", stopping {}", members(e.role, e.shrunk));
    return text;
  }
  std::string operator()(const ResizeDropped& e) const {
    return fmt::format("{}: {}", role(e.role), lower_camel(name(e.why)));
  }

  // ---- placement ----
  std::string operator()(const ReservationOpened& e) const {
    std::string text =
        fmt::format("{} held on {}{}", count(e.members.size(), "member"), names.hosts(e.members), domain(e.domain));
    if (!e.victims.empty()) text += fmt::format(", evicting {}", groups(e.victims));
    if (e.deadline) text += fmt::format(", until {}", date_time(e.deadline));
    return text;
  }
  std::string operator()(const ReservationExtended& e) const {
    return fmt::format("{} more on {}", count(e.members.size(), "member"), names.hosts(e.members));
  }
  std::string operator()(const ReservationReleased& e) const {
    return fmt::format("{}{}", lower_camel(name(e.why)), e.keeps_place ? ", keeps its place" : "");
  }
  std::string operator()(const GroupPlaced& e) const {
    return fmt::format("attempt {}: {} on {}{}", e.attempt, count(e.members.size(), "member"), names.hosts(e.members),
                       domain(e.domain));
  }
  std::string operator()(const MemberReplaced& e) const {
    return fmt::format("{} runs again on {}{}", member(e.placement.member), names.hosts({e.placement}),
                       e.from_spare ? ", a spare" : "");
  }
  std::string operator()(const KeptHostsReleased&) const { return ""; }
  std::string operator()(const IdleHostsReleased& e) const {
    return fmt::format("{}, {}", count(e.members.size(), "kept share"), count(e.spares.size(), "spare"));
  }
  [[nodiscard]] std::string groups(const std::vector<GroupId>& ids) const {
    std::string text;
    for (const auto id : ids) text += (text.empty() ? "" : ",") + names.group(id);
    return text;
  }

  // ---- claims ----
  std::string operator()(const ClaimRequested& e) const { return claim(e.claim) + charged(e.charged, e.charged_scope); }
  std::string operator()(const ClaimReady& e) const { return claim(e.claim); }
  std::string operator()(const ClaimFailed& e) const { return claim(e.claim); }
  std::string operator()(const ClaimReleased& e) const { return claim(e.claim); }

  // ---- a run ----
  std::string operator()(const MemberArmed& e) const { return member(e.member); }
  std::string operator()(const GroupStarted& e) const {
    std::string text;
    for (const auto index : e.roles) text += (text.empty() ? "" : ", ") + role(index);
    return "the barrier lifts: " + text;
  }
  std::string operator()(const MembersStarting& e) const { return members(e.role, e.indexes); }
  std::string operator()(const MemberStarted& e) const { return member(e.member); }
  std::string operator()(const MemberEnded& e) const {
    if (e.phase == MemberPhase::Succeeded) return fmt::format("{} succeeded{}", member(e.member), fate(e.fate));
    return fmt::format("{} {}: {}{}{}", member(e.member), e.phase == MemberPhase::Lost ? "lost" : "failed",
                       how(e.reason, e.exit_code, e.signal), fate(e.fate), charged(e.charged, e.charged_scope));
  }
  std::string operator()(const MemberGivenUp& e) const { return member(e.member); }
  std::string operator()(const GroupRunning&) const { return "every member runs"; }
  std::string operator()(const GroupRecovering&) const { return ""; }
  std::string operator()(const GroupSatisfied&) const { return ""; }
  std::string operator()(const GroupStopping& e) const {
    return fmt::format("to {}{}{} ({})", lower_camel(name(e.next)), e.charged ? ", charged" : "",
                       e.keep_hosts ? ", keeps its hosts" : "", end(e.end));
  }
  std::string operator()(const MembersStopping& e) const {
    const std::string why = e.reason == FailureReason::None ? "" : ": " + how(e.reason, 0, 0);
    return members(e.role, e.indexes) + why + fate(e.fate) + charged(e.charged, e.charged_scope);
  }
  std::string operator()(const MemberStopped& e) const { return member(e.member); }
  std::string operator()(const StopExpired& e) const {
    return member(e.member) + (e.fence ? ": its hosts are drained" : ": killed");
  }

  // ---- what follows ----
  std::string operator()(const GroupRestarted& e) const {
    if (e.to == GroupPhase::Backoff) return fmt::format("waits until {}", date_time(e.backoff_until));
    return fmt::format("is {} again", name(e.to));
  }
  std::string operator()(const GroupRequeued&) const { return ""; }
  std::string operator()(const GroupPreempted& e) const {
    return fmt::format("{} by {}", e.members.empty() ? "all of it" : members(e.members),
                       e.by ? names.group(e.by) : "an operator");
  }
  std::string operator()(const GroupSuspended&) const { return ""; }
  std::string operator()(const GroupResumed&) const { return ""; }
  std::string operator()(const GroupSucceeded& e) const { return end(e.end); }
  std::string operator()(const GroupFailed& e) const { return end(e.end); }
  std::string operator()(const GroupCancelled& e) const { return end(e.end); }
  std::string operator()(const GroupPurged& e) const {
    return fmt::format("{}: {}, {} after {}", e.name, name(e.phase), end(e.end), count(e.attempt, "attempt"));
  }
  std::string operator()(const LateReport& e) const {
    const GroupId of = e.about ? e.about : event.group;
    if (e.claim_kind != ClaimReportKind::None) {
      return fmt::format("{} of claim {} of {}", lower_camel(name(e.claim_kind)), names.claim(of, e.claim),
                         names.group(of));
    }
    return fmt::format("{} of {} {} attempt {} run {}", lower_camel(name(e.report.kind)), names.group(of),
                       names.member(of, e.report.member), e.report.attempt, e.report.run);
  }
};

}  // namespace

std::string describe(const Event& event, const Names& names) { return std::visit(Words{event, names}, event.body); }

namespace {

// What somebody watching wants to hear of, and how it is said; empty = not one of these. "+" = the facts say it all.
std::string_view phrase(EventKind kind) {
  switch (kind) {
    case EventKind::GroupDefined:
      return "defined";
    case EventKind::ReservationOpened:
      return "reserves";
    case EventKind::ReservationReleased:
      return "gives its reservation back";
    case EventKind::GroupPlaced:
      return "placed";
    case EventKind::ClaimReady:
      return "claim ready";
    case EventKind::ClaimFailed:
      return "claim failed";
    case EventKind::GroupStarted:
      return "starts";
    case EventKind::MemberEnded:
    case EventKind::MemberReplaced:
      return "+";
    case EventKind::GroupRunning:
      return "runs";
    case EventKind::GroupRecovering:
      return "recovers";
    case EventKind::GroupStopping:
      return "stops";
    case EventKind::StopExpired:
      return "does not stop in time";
    case EventKind::MemberGivenUp:
      return "gives up";
    case EventKind::GroupRestarted:
      return "restarts";
    case EventKind::GroupRequeued:
      return "waits for hosts again";
    case EventKind::GroupPreempted:
      return "preempted";
    case EventKind::GroupSuspended:
      return "suspended";
    case EventKind::GroupResumed:
      return "resumed";
    case EventKind::ResizeApplied:
      return "resized";
    case EventKind::GroupSucceeded:
      return "succeeded";
    case EventKind::GroupFailed:
      return "failed";
    case EventKind::GroupCancelled:
      return "cancelled";
    default:
      return "";
  }
}

}  // namespace

std::string sentence(const Event& event, const Names& names) {
  const std::string facts = describe(event, names);
  std::string said(phrase(kind(event)));
  if (said == "+") return facts;
  if (said.empty()) said = name(kind(event));
  return facts.empty() ? said : said + ": " + facts;
}

bool is_a_turn(const Event& event) { return !phrase(kind(event)).empty(); }

}  // namespace lockstep::cli
