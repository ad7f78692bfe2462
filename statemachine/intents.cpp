#include "statemachine/intents.h"

#include <optional>

namespace lockstep {

namespace {

std::optional<IntentKind> owed(const Member& member) {
  switch (member.phase) {
    case MemberPhase::Placed:
      return IntentKind::Arm;
    case MemberPhase::Starting:
      return IntentKind::Start;
    case MemberPhase::Stopping:
      return member.kill ? IntentKind::Kill : IntentKind::Stop;
    default:
      return std::nullopt;
  }
}

std::optional<IntentKind> owed(ClaimPhase phase) {
  if (phase == ClaimPhase::Provisioning) return IntentKind::Provision;
  if (phase == ClaimPhase::Releasing) return IntentKind::Release;
  return std::nullopt;
}

}  // namespace

void intents(const State&, const Group& group, const VisitIntent& visit) {
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const auto& members = group.roles[role].members;
    for (std::uint32_t index = 0; index < members.size(); ++index) {
      const Member& member = members[index];
      const auto kind = owed(member);
      if (!kind) continue;
      visit(Intent{.kind = *kind,
                   .group = group.head.id,
                   .attempt = group.head.attempt,
                   .member = {role, index},
                   .run = member.run,
                   .host = member.hosts.empty() ? HostId{} : member.hosts.front().host});
    }
  }
  for (const auto& [key, claim] : group.claims) {
    if (const auto kind = owed(claim.phase)) {
      visit(Intent{.kind = *kind,
                   .group = group.head.id,
                   .attempt = group.head.attempt,
                   .member = key.member,
                   .claim = {{}, key}});
    }
  }
}

void intents(const State& state, const VisitIntent& visit) {
  for (const auto& [name, claim] : state.claims) {
    if (const auto kind = owed(claim.phase)) visit(Intent{.kind = *kind, .claim = {name, {}}});
  }
  for (const GroupId id : state.indexes.owing) intents(state, *state.groups.find(id), visit);
}

}  // namespace lockstep
