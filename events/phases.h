#pragma once
// The phases and codes of the lifecycle. Their numbers are written to disk: never reuse one, only add.

#include <cstdint>

#include "events/fields.h"

namespace lockstep {

enum class GroupPhase : std::uint8_t {
  None = 0,  // not a phase: "no such group"
  Defined = 1,
  Pending = 2,
  Reserving = 3,
  Placed = 4,
  Starting = 5,
  Running = 6,
  Recovering = 7,
  Stopping = 8,
  Backoff = 9,
  Suspended = 10,
  Succeeded = 11,
  Failed = 12,
  Cancelled = 13,
};
LOCKSTEP_ENUM(GroupPhase, None, Defined, Pending, Reserving, Placed, Starting, Running, Recovering, Stopping, Backoff,
              Suspended, Succeeded, Failed, Cancelled)
inline constexpr std::size_t kGroupPhaseCount = 14;

enum class MemberPhase : std::uint8_t {
  None = 0,
  Waiting = 1,
  Reserved = 2,
  Placed = 3,
  Armed = 4,
  Starting = 5,
  Running = 6,
  Stopping = 7,
  Succeeded = 8,
  Failed = 9,
  Lost = 10,
  Stopped = 11,
};
LOCKSTEP_ENUM(MemberPhase, None, Waiting, Reserved, Placed, Armed, Starting, Running, Stopping, Succeeded, Failed, Lost,
              Stopped)
inline constexpr std::size_t kMemberPhaseCount = 12;

enum class ClaimPhase : std::uint8_t {
  None = 0,
  Wanted = 1,
  Provisioning = 2,
  Ready = 3,
  Failed = 4,
  Releasing = 5,
  Released = 6,
};
LOCKSTEP_ENUM(ClaimPhase, None, Wanted, Provisioning, Ready, Failed, Releasing, Released)

[[nodiscard]] constexpr bool is_terminal(GroupPhase phase) {
  return phase == GroupPhase::Succeeded || phase == GroupPhase::Failed || phase == GroupPhase::Cancelled;
}
// Placed to Recovering: every required member has hosts, or is being given some.
[[nodiscard]] constexpr bool is_active(GroupPhase phase) {
  return phase >= GroupPhase::Placed && phase <= GroupPhase::Recovering;
}
// A member that may be there: its agent may have been told. Placed to Stopping.
[[nodiscard]] constexpr bool is_live(MemberPhase phase) {
  return phase >= MemberPhase::Placed && phase <= MemberPhase::Stopping;
}

// Why a member failed, or a group as a whole. Manifests spell them in lowerCamelCase.
enum class FailureReason : std::uint8_t {
  None = 0,
  Exited = 1,
  Signaled = 2,
  OutOfMemory = 3,
  HostLost = 4,
  LaunchFailed = 5,
  ClaimFailed = 6,
  StartTimeout = 7,
  RunTimeout = 8,
};
LOCKSTEP_ENUM(FailureReason, None, Exited, Signaled, OutOfMemory, HostLost, LaunchFailed, ClaimFailed, StartTimeout,
              RunTimeout)

// How a group ended. 1 to 8 are the FailureReason that decided it.
enum class EndCode : std::uint8_t {
  None = 0,
  Exited = 1,
  Signaled = 2,
  OutOfMemory = 3,
  HostLost = 4,
  LaunchFailed = 5,
  ClaimFailed = 6,
  StartTimeout = 7,
  RunTimeout = 8,
  Completed = 9,
  Cancelled = 10,
  RestartBudgetExhausted = 11,
  BelowMin = 12,
  RecoverTimeout = 13,
  PendTimeout = 14,
};
LOCKSTEP_ENUM(EndCode, None, Exited, Signaled, OutOfMemory, HostLost, LaunchFailed, ClaimFailed, StartTimeout, RunTimeout,
              Completed, Cancelled, RestartBudgetExhausted, BelowMin, RecoverTimeout, PendTimeout)

enum class Scope : std::uint8_t { None = 0, Group = 1, Role = 2, Member = 3 };
LOCKSTEP_ENUM(Scope, None, Group, Role, Member)

// What a Stopping group becomes when its last live member is gone. A stronger one replaces a weaker one.
enum class StopNext : std::uint8_t {
  None = 0,
  Restart = 1,
  Requeue = 2,
  Suspend = 3,
  Fail = 4,
  Cancel = 5,
  Succeed = 6,
};
LOCKSTEP_ENUM(StopNext, None, Restart, Requeue, Suspend, Fail, Cancel, Succeed)

// Clocks, in the order in which they fire at the same instant for the same group.
enum class TimerKind : std::uint8_t {
  Pend = 1,
  Reserve = 2,
  Start = 3,
  Recover = 4,
  Run = 5,
  Stop = 6,
  Backoff = 7,
  Resize = 8,
  Ttl = 9,
};
LOCKSTEP_ENUM(TimerKind, Pend, Reserve, Start, Recover, Run, Stop, Backoff, Resize, Ttl)

// Who asked for the change.
enum class Actor : std::uint8_t { None = 0, User = 1, Agent = 2, Provider = 3, Scheduler = 4, Clock = 5, Controller = 6 };
LOCKSTEP_ENUM(Actor, None, User, Agent, Provider, Scheduler, Clock, Controller)

}  // namespace lockstep
