#pragma once
// What the outside world is still owed, derived from the state alone: nothing is queued, so nothing is lost or doubled
// by a crash. Sent only for durable states; receivers drop duplicates by (group, attempt, member, run, kind).

#include <functional>

#include "statemachine/state.h"

namespace lockstep {

enum class IntentKind : std::uint8_t { Arm = 1, Start = 2, Stop = 3, Kill = 4, Provision = 5, Release = 6 };
LOCKSTEP_ENUM(IntentKind, Arm, Start, Stop, Kill, Provision, Release)

struct Intent {
  IntentKind kind{IntentKind::Arm};
  GroupId group{};  // 0: of a standalone claim
  std::uint32_t attempt{};
  MemberKey member{kNoRole, kNoMember};
  std::uint32_t run{};  // of the member
  HostId host{};        // whose agent it is for; 0 for claims
  ClaimRef claim{};     // Provision and Release
  friend auto operator<=>(const Intent&, const Intent&) = default;
};

using VisitIntent = std::function<void(const Intent&)>;

// Of one group, in the order of roles and indexes, then claims.
void intents(const State& state, const Group& group, const VisitIntent& visit);
// All: standalone claims by name, then groups by id. Only groups that owe something are looked at.
void intents(const State& state, const VisitIntent& visit);

}  // namespace lockstep
