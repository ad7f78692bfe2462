#pragma once
// Every event of the log, as plain data. An event is a fact: apply() never refuses one, and whatever a decision chose
// (hosts, what happens next, whether it was charged) stands in the event, so that a later binary with other rules
// still reaches the same state from the same log.
//
// The wire form is events/lockstep.capnp; codec.h goes between the two. EventKind numbers are written to disk: never
// reuse one, only add at the end.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "events/ids.h"
#include "events/phases.h"
#include "events/shared.h"
#include "events/spec.h"

namespace lockstep {

LOCKSTEP_FIELDS(SpecHash, high, low)

struct MemberKey {
  RoleIndex role{};
  std::uint32_t index{};
  friend auto operator<=>(const MemberKey&, const MemberKey&) = default;
};
LOCKSTEP_FIELDS(MemberKey, role, index)

// `count` tasks of term `term` of a member's tasks, on `host`.
struct Slice {
  HostId host{};
  std::uint32_t term{};
  std::uint32_t count{};
  friend auto operator<=>(const Slice&, const Slice&) = default;
};
LOCKSTEP_FIELDS(Slice, host, term, count)

// Where one member goes. The first slice's host runs its agent.
struct MemberPlacement {
  MemberKey member{};
  std::vector<Slice> slices;
  friend auto operator<=>(const MemberPlacement&, const MemberPlacement&) = default;
};
LOCKSTEP_FIELDS(MemberPlacement, member, slices)

// One spare member's worth of hosts.
struct SparePlacement {
  RoleIndex role{};
  std::vector<Slice> slices;
  friend auto operator<=>(const SparePlacement&, const SparePlacement&) = default;
};
LOCKSTEP_FIELDS(SparePlacement, role, slices)

// Names a claim. Of a group: `claim` is its index in GroupSpec::claims, `member` is {kNoRole, kNoMember} for one per
// group. Standalone: `name` alone counts, and the event's group is 0.
struct ClaimKey {
  std::uint32_t claim{};
  MemberKey member{kNoRole, kNoMember};
  friend auto operator<=>(const ClaimKey&, const ClaimKey&) = default;
};
LOCKSTEP_FIELDS(ClaimKey, claim, member)

struct ClaimRef {
  std::string name;  // not empty: a standalone claim
  ClaimKey key{};
  friend auto operator<=>(const ClaimRef&, const ClaimRef&) = default;
};
LOCKSTEP_FIELDS(ClaimRef, name, key)

// Why and how a group ends, or what decided that it is stopped.
struct End {
  EndCode code{EndCode::None};
  Scope scope{Scope::None};
  RoleIndex role{kNoRole};
  std::uint32_t member{kNoMember};
  std::int32_t exit_code{};
  std::int32_t signal{};
  friend auto operator<=>(const End&, const End&) = default;
};
LOCKSTEP_FIELDS(End, code, scope, role, member, exit_code, signal)

// What an agent says of one member. `sequence` grows within the member's run.
enum class ReportKind : std::uint8_t { Armed = 1, Started = 2, Exit = 3, Stopped = 4, Lost = 5, LaunchFailed = 6 };
LOCKSTEP_ENUM(ReportKind, Armed, Started, Exit, Stopped, Lost, LaunchFailed)

struct Report {
  ReportKind kind{ReportKind::Armed};
  MemberKey member{};
  std::uint32_t attempt{};
  std::uint32_t run{};
  std::uint64_t sequence{};
  std::int32_t exit_code{};
  std::int32_t signal{};
  FailureReason reason{FailureReason::None};  // exit only: what the agent knows better than the code (OutOfMemory)
  friend auto operator<=>(const Report&, const Report&) = default;
};
LOCKSTEP_FIELDS(Report, kind, member, attempt, run, sequence, exit_code, signal, reason)

// What becomes of a member that has ended, decided with its end.
enum class MemberFate : std::uint8_t {
  Ends = 1,          // it gives its share back and stays as it ended
  KeepsHosts = 2,    // the group restarts on its own hosts: the share stays held
  RunsAgain = 3,     // it gives its share back and waits to be placed anew
  GivenUp = 4,       // it gives its share back and is no longer required
};
LOCKSTEP_ENUM(MemberFate, Ends, KeepsHosts, RunsAgain, GivenUp)

// ---- the cluster -----------------------------------------------------------------------------------------------
struct HostAdded {
  HostId host{};
  HostInfo info{};
};
LOCKSTEP_FIELDS(HostAdded, host, info)

struct HostChanged {  // `info` is all of the host as it is now; down, drained and their ends are such changes
  HostId host{};
  HostInfo info{};
};
LOCKSTEP_FIELDS(HostChanged, host, info)

struct HostRemoved {
  HostId host{};
};
LOCKSTEP_FIELDS(HostRemoved, host)

struct PoolSet {
  std::string name;
  std::int64_t total{};
};
LOCKSTEP_FIELDS(PoolSet, name, total)

struct LevelsSet {  // widest first, without `host`
  std::vector<std::string> levels;
};
LOCKSTEP_FIELDS(LevelsSet, levels)

// ---- the controller ---------------------------------------------------------------------------------------------
struct ControllerStarted {
  Epoch epoch{};
  std::uint32_t feature_level{};
};
LOCKSTEP_FIELDS(ControllerStarted, epoch, feature_level)

struct DigestRecorded {  // of the state just before this event
  std::uint32_t version{};
  std::uint64_t high{};
  std::uint64_t low{};
};
LOCKSTEP_FIELDS(DigestRecorded, version, high, low)

// The answer given to a client's request, kept so that asking again gets it again.
struct RequestAnswered {
  std::uint64_t client{};
  std::uint64_t request{};
  std::uint8_t code{};  // AnswerCode of commands.h
  GroupId about{};
  std::string text;
};
LOCKSTEP_FIELDS(RequestAnswered, client, request, code, about, text)

// ---- a group: wishes ----------------------------------------------------------------------------------------------
struct GroupDefined {
  GroupIdentity identity{};
  SpecHash spec_hash{};
  Shared<GroupSpec> spec{};
  bool hold{false};
};
LOCKSTEP_FIELDS(GroupDefined, identity, spec_hash, spec, hold)

struct GroupSubmitted {};
LOCKSTEP_FIELDS(GroupSubmitted)

struct ResizeRequested {  // in effect at once where nothing runs, else until ResizeApplied or ResizeDropped
  RoleIndex role{};
  std::uint32_t replicas{};
  bool pending{false};
  Time deadline{};
};
LOCKSTEP_FIELDS(ResizeRequested, role, replicas, pending, deadline)

struct ResizeApplied {
  RoleIndex role{};
  std::uint32_t replicas{};
  std::vector<MemberPlacement> grown;    // placed by this event
  std::vector<std::uint32_t> shrunk;     // no longer required; asked to stop
};
LOCKSTEP_FIELDS(ResizeApplied, role, replicas, grown, shrunk)

enum class ResizeDropReason : std::uint8_t { Expired = 1, Stopped = 2, Replaced = 3, Evicted = 4 };
LOCKSTEP_ENUM(ResizeDropReason, Expired, Stopped, Replaced, Evicted)

struct ResizeDropped {
  RoleIndex role{};
  ResizeDropReason why{ResizeDropReason::Expired};
};
LOCKSTEP_FIELDS(ResizeDropped, role, why)

// ---- a group: placement -------------------------------------------------------------------------------------------
struct ReservationOpened {
  std::string domain;
  std::vector<MemberPlacement> members;
  std::vector<SparePlacement> spares;
  std::vector<GroupId> victims;  // evicted for it
  Time deadline{};
  Time projected{};  // when it should be complete; 0 = unknown
};
LOCKSTEP_FIELDS(ReservationOpened, domain, members, spares, victims, deadline, projected)

struct ReservationExtended {
  std::vector<MemberPlacement> members;
  std::vector<SparePlacement> spares;
  std::vector<MemberKey> lost;  // members whose held hosts went down, were drained or are lent
  Time projected{};
};
LOCKSTEP_FIELDS(ReservationExtended, members, spares, lost, projected)

enum class ReservationEnd : std::uint8_t { Deadline = 1, Evicted = 2, Taken = 3, HostsLost = 4, Resized = 5, Stopped = 6 };
LOCKSTEP_ENUM(ReservationEnd, Deadline, Evicted, Taken, HostsLost, Resized, Stopped)

struct ReservationReleased {
  ReservationEnd why{ReservationEnd::Deadline};
  bool keeps_place{false};  // else it goes behind those that wait now
};
LOCKSTEP_FIELDS(ReservationReleased, why, keeps_place)

struct GroupPlaced {
  std::uint32_t attempt{};
  std::string domain;  // promised; "/" is the whole cluster
  std::vector<MemberPlacement> members;  // exactly the required ones of this attempt
  std::vector<SparePlacement> spares;
};
LOCKSTEP_FIELDS(GroupPlaced, attempt, domain, members, spares)

struct MemberReplaced {  // a run again inside an attempt
  MemberPlacement placement{};
  bool from_spare{false};
};
LOCKSTEP_FIELDS(MemberReplaced, placement, from_spare)

struct KeptHostsReleased {};  // a restart on the same hosts that no longer can be
LOCKSTEP_FIELDS(KeptHostsReleased)

// ---- claims ---------------------------------------------------------------------------------------------------------
struct ClaimRequested {
  ClaimRef claim{};
  bool charged{false};  // asked for again after it failed, as a member or role restart that counts
  Scope charged_scope{Scope::None};
};
LOCKSTEP_FIELDS(ClaimRequested, claim, charged, charged_scope)
struct ClaimReady {
  ClaimRef claim{};
};
LOCKSTEP_FIELDS(ClaimReady, claim)
struct ClaimFailed {
  ClaimRef claim{};
};
LOCKSTEP_FIELDS(ClaimFailed, claim)
struct ClaimReleased {
  ClaimRef claim{};
};
LOCKSTEP_FIELDS(ClaimReleased, claim)

// ---- a group: its run -------------------------------------------------------------------------------------------------
struct MemberArmed {
  MemberKey member{};
  std::uint64_t sequence{};
};
LOCKSTEP_FIELDS(MemberArmed, member, sequence)

// The barrier lifts: every Armed member of `roles` is asked to start.
struct GroupStarted {
  std::vector<RoleIndex> roles;
};
LOCKSTEP_FIELDS(GroupStarted, roles)

// Later than the barrier: Armed members asked to start (their `after` holds now, or they were replaced or added).
// `indexes` empty: every Armed member of the role.
struct MembersStarting {
  RoleIndex role{};
  std::vector<std::uint32_t> indexes;
};
LOCKSTEP_FIELDS(MembersStarting, role, indexes)

struct MemberStarted {
  MemberKey member{};
  std::uint64_t sequence{};
};
LOCKSTEP_FIELDS(MemberStarted, member, sequence)

struct MemberEnded {
  MemberKey member{};
  MemberPhase phase{MemberPhase::Failed};  // Succeeded, Failed or Lost
  FailureReason reason{FailureReason::None};
  std::int32_t exit_code{};
  std::int32_t signal{};
  std::uint64_t sequence{};  // of the report; 0 = no report (host-down)
  MemberFate fate{MemberFate::Ends};
  bool charged{false};  // a member or role restart that counts
  Scope charged_scope{Scope::None};
};
LOCKSTEP_FIELDS(MemberEnded, member, phase, reason, exit_code, signal, sequence, fate, charged, charged_scope)

struct MemberGivenUp {  // no longer required; stopped if it is live
  MemberKey member{};
};
LOCKSTEP_FIELDS(MemberGivenUp, member)

struct GroupRunning {};
LOCKSTEP_FIELDS(GroupRunning)
struct GroupRecovering {};
LOCKSTEP_FIELDS(GroupRecovering)

// The group is to stop: every live member is asked to. Recorded again when a stronger reason replaces the first.
struct GroupStopping {
  StopNext next{StopNext::None};
  End end{};              // what decided it
  bool charged{false};    // a group restart that counts
  bool keep_hosts{false}; // it restarts on its own hosts
};
LOCKSTEP_FIELDS(GroupStopping, next, end, charged, keep_hosts)

// Single members asked to stop while their group goes on.
struct MembersStopping {
  RoleIndex role{};
  std::vector<std::uint32_t> indexes;
  MemberFate fate{MemberFate::GivenUp};  // RunsAgain or GivenUp once they are gone
  FailureReason reason{FailureReason::None};  // a member that lost one of its several hosts: judged before it is gone
  bool charged{false};
  Scope charged_scope{Scope::None};
};
LOCKSTEP_FIELDS(MembersStopping, role, indexes, fate, reason, charged, charged_scope)

struct MemberStopped {
  MemberKey member{};
  std::int32_t exit_code{};
  std::int32_t signal{};
  std::uint64_t sequence{};
};
LOCKSTEP_FIELDS(MemberStopped, member, exit_code, signal, sequence)

// The stop clock of a member ended: first it is killed, then its hosts are drained.
struct StopExpired {
  MemberKey member{};
  bool fence{false};
};
LOCKSTEP_FIELDS(StopExpired, member, fence)

// ---- a group: what follows a stop, and its end ------------------------------------------------------------------------
struct GroupRestarted {  // Stopping -> Backoff (deadline > 0 or hosts kept) or Pending
  GroupPhase to{GroupPhase::Pending};
  Time backoff_until{};
};
LOCKSTEP_FIELDS(GroupRestarted, to, backoff_until)

struct GroupRequeued {};  // Stopping or Backoff -> Pending
LOCKSTEP_FIELDS(GroupRequeued)

struct GroupPreempted {  // `members` empty: the whole group
  GroupId by{};          // 0: an operator
  std::vector<MemberKey> members;
};
LOCKSTEP_FIELDS(GroupPreempted, by, members)

struct GroupSuspended {};
LOCKSTEP_FIELDS(GroupSuspended)
struct GroupResumed {};
LOCKSTEP_FIELDS(GroupResumed)

struct GroupSucceeded {
  End end{};
};
LOCKSTEP_FIELDS(GroupSucceeded, end)
struct GroupFailed {
  End end{};
};
LOCKSTEP_FIELDS(GroupFailed, end)
struct GroupCancelled {
  End end{};
};
LOCKSTEP_FIELDS(GroupCancelled, end)

struct GroupPurged {  // forgotten; a record of its end
  std::string name;
  std::string user;
  GroupPhase phase{GroupPhase::None};
  End end{};
  std::uint32_t attempt{};
  std::uint32_t charged{};
};
LOCKSTEP_FIELDS(GroupPurged, name, user, phase, end, attempt, charged)

enum class ClaimReportKind : std::uint8_t { None = 0, Ready = 1, Failed = 2, Released = 3 };
LOCKSTEP_ENUM(ClaimReportKind, None, Ready, Failed, Released)

// Of an unknown group: the event's group is 0 and `about` names it. Of a claim: claim_kind is not None.
struct LateReport {
  GroupId about{};
  Report report{};
  ClaimRef claim{};
  ClaimReportKind claim_kind{ClaimReportKind::None};
};
LOCKSTEP_FIELDS(LateReport, about, report, claim, claim_kind)

// The success policy is satisfied while members are still live: nothing is replaced, charged or timed out any more.
struct GroupSatisfied {};
LOCKSTEP_FIELDS(GroupSatisfied)

// Hosts that are down or drained, where nobody runs: what members keep there for a restart, and spares.
struct IdleHostsReleased {
  std::vector<MemberKey> members;
  std::vector<SparePlacement> spares;
};
LOCKSTEP_FIELDS(IdleHostsReleased, members, spares)

// The order is that of EventKind; the index is the kind less one.
using EventBody =
    std::variant<HostAdded, HostChanged, HostRemoved, PoolSet, LevelsSet, ControllerStarted, DigestRecorded,
                 RequestAnswered, GroupDefined, GroupSubmitted, ReservationOpened, ReservationExtended,
                 ReservationReleased, GroupPlaced, ClaimRequested, ClaimReady, ClaimFailed, ClaimReleased, MemberArmed,
                 GroupStarted, MembersStarting, MemberStarted, MemberEnded, MemberReplaced, GroupRunning,
                 GroupRecovering, GroupStopping, MembersStopping, MemberStopped, StopExpired, MemberGivenUp,
                 GroupRestarted, GroupRequeued, GroupPreempted, KeptHostsReleased, GroupSuspended, GroupResumed,
                 ResizeRequested, ResizeApplied, ResizeDropped, GroupSucceeded, GroupFailed, GroupCancelled,
                 GroupPurged, LateReport, GroupSatisfied, IdleHostsReleased>;

enum class EventKind : std::uint16_t {
  HostAdded = 1,
  HostChanged = 2,
  HostRemoved = 3,
  PoolSet = 4,
  LevelsSet = 5,
  ControllerStarted = 6,
  DigestRecorded = 7,
  RequestAnswered = 8,
  GroupDefined = 9,
  GroupSubmitted = 10,
  ReservationOpened = 11,
  ReservationExtended = 12,
  ReservationReleased = 13,
  GroupPlaced = 14,
  ClaimRequested = 15,
  ClaimReady = 16,
  ClaimFailed = 17,
  ClaimReleased = 18,
  MemberArmed = 19,
  GroupStarted = 20,
  MembersStarting = 21,
  MemberStarted = 22,
  MemberEnded = 23,
  MemberReplaced = 24,
  GroupRunning = 25,
  GroupRecovering = 26,
  GroupStopping = 27,
  MembersStopping = 28,
  MemberStopped = 29,
  StopExpired = 30,
  MemberGivenUp = 31,
  GroupRestarted = 32,
  GroupRequeued = 33,
  GroupPreempted = 34,
  KeptHostsReleased = 35,
  GroupSuspended = 36,
  GroupResumed = 37,
  ResizeRequested = 38,
  ResizeApplied = 39,
  ResizeDropped = 40,
  GroupSucceeded = 41,
  GroupFailed = 42,
  GroupCancelled = 43,
  GroupPurged = 44,
  LateReport = 45,
  GroupSatisfied = 46,
  IdleHostsReleased = 47,
};
LOCKSTEP_ENUM(EventKind, HostAdded, HostChanged, HostRemoved, PoolSet, LevelsSet, ControllerStarted, DigestRecorded,
              RequestAnswered, GroupDefined, GroupSubmitted, ReservationOpened, ReservationExtended, ReservationReleased,
              GroupPlaced, ClaimRequested, ClaimReady, ClaimFailed, ClaimReleased, MemberArmed, GroupStarted,
              MembersStarting, MemberStarted, MemberEnded, MemberReplaced, GroupRunning, GroupRecovering, GroupStopping,
              MembersStopping, MemberStopped, StopExpired, MemberGivenUp, GroupRestarted, GroupRequeued, GroupPreempted,
              KeptHostsReleased, GroupSuspended, GroupResumed, ResizeRequested, ResizeApplied, ResizeDropped,
              GroupSucceeded, GroupFailed, GroupCancelled, GroupPurged, LateReport,
              GroupSatisfied, IdleHostsReleased)
inline constexpr std::size_t kEventKindCount = 47;
static_assert(std::variant_size_v<EventBody> == kEventKindCount);

// One fact. `seq` is not stored: the record's first seq plus the position in it.
struct Event {
  Seq seq{};
  Seq prev{};      // the previous event of the same group; 0 = its first, or an event of no group
  Seq cause{};     // the first event of the decision that this one follows from; 0 = this is the first
  Time time{};     // never less than that of the event before
  Actor actor{Actor::None};
  GroupId group{};  // 0 = of no group
  EventBody body{};
};

[[nodiscard]] inline EventKind kind(const Event& event) { return static_cast<EventKind>(event.body.index() + 1); }

}  // namespace lockstep
