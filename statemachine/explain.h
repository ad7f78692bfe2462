#pragma once
// Why is this group not running? A function of the state alone, so it also answers for the past.

#include <string>
#include <vector>

#include "statemachine/state.h"

namespace lockstep {

enum class ReasonCode : std::uint8_t {
  None = 0,  // Running or terminal
  Held,
  WaitingForHosts,
  InsufficientResources,
  TopologyUnsatisfiable,
  NeverFits,
  WaitingBehind,
  ReservationAccumulating,
  WaitingForPreempted,
  WaitingForClaim,
  WaitingForArm,
  WaitingForOldAttempt,
  Backoff,
  Suspended,
  WaitingForOrder,
  WaitingForStart,
};
LOCKSTEP_ENUM(ReasonCode, None, Held, WaitingForHosts, InsufficientResources, TopologyUnsatisfiable, NeverFits,
              WaitingBehind, ReservationAccumulating, WaitingForPreempted, WaitingForClaim, WaitingForArm,
              WaitingForOldAttempt, Backoff, Suspended, WaitingForOrder, WaitingForStart)

struct Reason {
  ReasonCode code{ReasonCode::None};
  RoleIndex role{kNoRole};
  std::string resource;  // a counter, or the name of a claim
  std::int64_t needed{};
  std::int64_t free{};
  std::string domain;
  std::vector<GroupId> blockers;  // in the order of the groups
  Time since{};
  Time projected_start{};  // 0 = unknown
};

[[nodiscard]] Reason explain(const State& state, const Group& group);

}  // namespace lockstep
