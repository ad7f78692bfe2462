#pragma once
// What the outside may ask of the controller, and the answers. Commands are imperative and may be refused; time, ids
// and choices arrive inside them, so deciding one is a pure function of the state.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "events/events.h"
#include "events/ids.h"
#include "events/spec.h"

namespace lockstep {

// ---- groups -------------------------------------------------------------------------------------------------------
struct DefineGroup {
  GroupIdentity identity{};
  GroupSpec spec{};
  bool hold{false};
};
LOCKSTEP_FIELDS(DefineGroup, identity, spec, hold)

enum class GroupVerb : std::uint8_t { Submit = 1, Cancel = 2, Suspend = 3, Resume = 4, Evict = 5, Purge = 6 };
LOCKSTEP_ENUM(GroupVerb, Submit, Cancel, Suspend, Resume, Evict, Purge)

struct GroupCommand {
  GroupVerb verb{GroupVerb::Submit};
  GroupId group{};
};
LOCKSTEP_FIELDS(GroupCommand, verb, group)

struct ResizeGroup {
  GroupId group{};
  RoleIndex role{};
  std::uint32_t replicas{};
};
LOCKSTEP_FIELDS(ResizeGroup, group, role, replicas)

// ---- the cluster ----------------------------------------------------------------------------------------------------
struct SetHost {  // adds the host, or changes what is given; down and drained of `info` are not looked at
  HostInfo info{};
  bool set_at{true};  // false: a known host keeps its place
};
LOCKSTEP_FIELDS(SetHost, info, set_at)

enum class HostVerb : std::uint8_t { Down = 1, Up = 2, Drain = 3, Remove = 4 };
LOCKSTEP_ENUM(HostVerb, Down, Up, Drain, Remove)

struct HostCommand {
  HostVerb verb{HostVerb::Down};
  std::string name;
};
LOCKSTEP_FIELDS(HostCommand, verb, name)

struct SetPool {
  std::string name;
  std::int64_t total{};
};
LOCKSTEP_FIELDS(SetPool, name, total)

struct SetLevels {
  std::vector<std::string> levels;
};
LOCKSTEP_FIELDS(SetLevels, levels)

// ---- reports: never refused ---------------------------------------------------------------------------------------
struct ReportMember {
  GroupId group{};
  Report report{};
};
LOCKSTEP_FIELDS(ReportMember, group, report)

struct ReportClaim {
  GroupId group{};  // 0: standalone, by claim.name
  ClaimRef claim{};
  ClaimReportKind kind{ClaimReportKind::Ready};
};
LOCKSTEP_FIELDS(ReportClaim, group, claim, kind)

// ---- the scheduler: a plan is taken whole or not at all (StalePlan) -----------------------------------------------
struct PlaceAction {  // a Pending or Reserving group gets all its members' hosts
  GroupId group{};
  std::string domain;
  std::vector<MemberPlacement> members;
  std::vector<SparePlacement> spares;
};
LOCKSTEP_FIELDS(PlaceAction, group, domain, members, spares)

struct ReplaceAction {  // members that wait inside a group that goes on
  GroupId group{};
  std::vector<MemberPlacement> members;
};
LOCKSTEP_FIELDS(ReplaceAction, group, members)

struct GrowAction {  // a pending resize that fits now
  GroupId group{};
  RoleIndex role{};
  std::vector<MemberPlacement> members;
};
LOCKSTEP_FIELDS(GrowAction, group, role, members)

struct ReserveAction {  // opens a reservation, or extends the open one
  GroupId group{};
  std::string domain;
  std::vector<MemberPlacement> members;
  std::vector<SparePlacement> spares;
  std::vector<MemberKey> lost;
  Time projected{};
};
LOCKSTEP_FIELDS(ReserveAction, group, domain, members, spares, lost, projected)

struct ReleaseAction {  // ends a reservation
  GroupId group{};
  ReservationEnd why{ReservationEnd::Taken};
};
LOCKSTEP_FIELDS(ReleaseAction, group, why)

struct EvictAction {  // `members` empty: the whole group
  GroupId group{};
  GroupId by{};
  std::vector<MemberKey> members;
};
LOCKSTEP_FIELDS(EvictAction, group, by, members)

using PlanAction = std::variant<PlaceAction, ReplaceAction, GrowAction, ReserveAction, ReleaseAction, EvictAction>;

struct Plan {
  Seq made_for{};
  std::vector<PlanAction> actions;
};
LOCKSTEP_FIELDS(Plan, made_for, actions)

struct ApplyPlan {
  Plan plan{};
};
LOCKSTEP_FIELDS(ApplyPlan, plan)

// ---- the controller itself ------------------------------------------------------------------------------------------
struct AdvanceTime {};  // fires the deadlines up to the command's time
LOCKSTEP_FIELDS(AdvanceTime)

struct StartController {  // a new epoch
  std::uint32_t feature_level{};
};
LOCKSTEP_FIELDS(StartController, feature_level)

struct RecordDigest {};
LOCKSTEP_FIELDS(RecordDigest)

using CommandBody = std::variant<DefineGroup, GroupCommand, ResizeGroup, SetHost, HostCommand, SetPool, SetLevels,
                                 ReportMember, ReportClaim, ApplyPlan, AdvanceTime, StartController, RecordDigest>;

// client != 0 and request != 0: the answer is recorded, and asking again with the same pair gets it again. A client's
// requests grow; the last kAnswersKept of a client are kept.
struct Command {
  std::uint64_t client{};
  std::uint64_t request{};
  Time time{};
  Actor actor{Actor::User};
  CommandBody body{};
};

enum class AnswerCode : std::uint8_t {
  Done = 0,
  Late = 1,       // a report that was not due: recorded, nothing changed
  Duplicate = 2,  // the same report again: not even recorded
  InvalidManifest = 16,
  DuplicateName = 17,
  UnknownGroup = 18,
  UnknownRole = 19,
  UnknownMember = 20,
  UnknownHost = 21,
  UnknownClaim = 22,
  WrongPhase = 23,
  NeverFits = 24,
  OutOfBounds = 25,
  HostInUse = 26,
  StalePlan = 27,
  NotLeader = 28,
  ForgottenRequest = 29,  // older than the answers kept for this client
};
LOCKSTEP_ENUM(AnswerCode, Done, Late, Duplicate, InvalidManifest, DuplicateName, UnknownGroup, UnknownRole,
              UnknownMember, UnknownHost, UnknownClaim, WrongPhase, NeverFits, OutOfBounds, HostInUse, StalePlan,
              NotLeader, ForgottenRequest)

[[nodiscard]] constexpr bool is_rejection(AnswerCode code) { return code >= AnswerCode::InvalidManifest; }

struct Answer {
  AnswerCode code{AnswerCode::Done};
  GroupId group{};   // the group defined or meant; 0 = none
  Seq seq{};         // the state's seq after the command: a read at this seq sees it
  std::string text;  // of a rejection: what, where, what to do; one line
  bool repeated{false};  // this is the first answer to a request asked again
};

}  // namespace lockstep
