// Claims: asked for when a group becomes Placed, kept, released at its end.
#include <algorithm>

#include "tests/model/naive_model.h"

namespace lockstep::model {
namespace {

bool may_answer(ClaimPhase phase, ClaimReportKind kind) {
  return kind == ClaimReportKind::Released ? phase == ClaimPhase::Releasing : phase == ClaimPhase::Provisioning;
}

ClaimPhase phase_after(ClaimReportKind kind) {
  if (kind == ClaimReportKind::Ready) return ClaimPhase::Ready;
  return kind == ClaimReportKind::Failed ? ClaimPhase::Failed : ClaimPhase::Released;
}

}  // namespace

std::vector<ClaimKey> NaiveModel::claims_of_group(const Group& group) const {
  std::vector<ClaimKey> keys;
  for (std::uint32_t i = 0; i < group.spec.claims.size(); ++i) {
    if (group.spec.claims[i].kind == ClaimKind::Standalone || group.spec.claims[i].per == ClaimPer::Group)
      keys.push_back({i, {kNoRole, kNoMember}});
  }
  return keys;
}

std::vector<ClaimKey> NaiveModel::claims_of_member(const Group& group, MemberKey key) const {
  std::vector<ClaimKey> keys;
  for (std::uint32_t i = 0; i < group.spec.claims.size(); ++i) {
    const ClaimSpec& claim = group.spec.claims[i];
    if (claim.kind == ClaimKind::Standalone || claim.per != ClaimPer::Member) continue;
    if (claim.roles.empty() || std::find(claim.roles.begin(), claim.roles.end(), key.role) != claim.roles.end())
      keys.push_back({i, key});
  }
  return keys;
}

void NaiveModel::request_claim(Group& group, ClaimKey key) {
  const ClaimSpec& spec = group.spec.claims[key.claim];
  ClaimPhase& phase = spec.kind == ClaimKind::Standalone ? claims[spec.name] : group.claims[key];
  if (phase == ClaimPhase::None || phase == ClaimPhase::Wanted || phase == ClaimPhase::Failed)
    phase = ClaimPhase::Provisioning;
}

void NaiveModel::request_claims(Group& group) {
  group.uses_claims = true;
  for (const ClaimKey& key : claims_of_group(group)) request_claim(group, key);
  for (const auto& [member, state] : group.members) {
    if (!state.required) continue;
    for (const ClaimKey& key : claims_of_member(group, member)) request_claim(group, key);
  }
}

void NaiveModel::release_claims(Group& group) {
  for (auto& [key, phase] : group.claims) {
    if (phase != ClaimPhase::Released) phase = ClaimPhase::Releasing;
  }
}

bool NaiveModel::owes_release(const Group& group) {
  return std::any_of(group.claims.begin(), group.claims.end(),
                     [](const auto& claim) { return claim.second == ClaimPhase::Releasing; });
}

bool NaiveModel::ready(const Group& group, ClaimKey key) const {
  const ClaimSpec& spec = group.spec.claims[key.claim];
  if (spec.kind == ClaimKind::Standalone) {
    const auto found = claims.find(spec.name);
    return found != claims.end() && found->second == ClaimPhase::Ready;
  }
  const auto found = group.claims.find(key);
  return found != group.claims.end() && found->second == ClaimPhase::Ready;
}

bool NaiveModel::group_claims_ready(const Group& group) const {
  const auto keys = claims_of_group(group);
  return std::all_of(keys.begin(), keys.end(), [&](const ClaimKey& key) { return ready(group, key); });
}

bool NaiveModel::member_claims_ready(const Group& group, MemberKey member) const {
  const auto keys = claims_of_member(group, member);
  return std::all_of(keys.begin(), keys.end(), [&](const ClaimKey& key) { return ready(group, key); });
}

AnswerCode NaiveModel::on(const ReportClaim& command) {
  if (command.group.value == 0) return report_standalone(command);
  Group* found = find(command.group);
  if (found == nullptr) {
    ++late_unknown;
    return AnswerCode::Late;
  }
  Group& group = *found;
  const auto claim = group.claims.find(command.claim.key);
  if (claim == group.claims.end() || !may_answer(claim->second, command.kind)) return late(group);
  claim->second = phase_after(command.kind);
  if (command.kind == ClaimReportKind::Failed) claim_failed(group, claim->first);
  const bool forgotten =
      is_terminal(group.phase) && group.ttl_deadline && group.ttl_deadline <= now && !owes_release(group);
  if (forgotten)
    groups.erase(group.id);  // its time had passed, and this was the last release
  else
    settle(group);
  return AnswerCode::Done;
}

AnswerCode NaiveModel::report_standalone(const ReportClaim& command) {
  const auto claim = claims.find(command.claim.name);
  if (claim == claims.end() || command.kind == ClaimReportKind::Released || !may_answer(claim->second, command.kind)) {
    ++late_unknown;
    return AnswerCode::Late;
  }
  claim->second = phase_after(command.kind);
  for (auto& [id, group] : groups) {
    if (!group.uses_claims || is_terminal(group.phase)) continue;
    for (const ClaimKey& key : claims_of_group(group)) {
      if (group.spec.claims[key.claim].kind != ClaimKind::Standalone) continue;
      if (group.spec.claims[key.claim].name != command.claim.name) continue;
      if (command.kind == ClaimReportKind::Failed) claim_failed(group, key);
    }
    settle(group);
  }
  return AnswerCode::Done;
}

void NaiveModel::claim_failed(Group& group, ClaimKey key) {
  if (!is_active(group.phase)) return;
  Failure failure;
  failure.reason = FailureReason::ClaimFailed;
  failure.left = Failure::Left::All;
  failure.claim = key;
  if (key.member.role != kNoRole) {
    failure.member = key.member;
    if (!group.members.at(key.member).required) return;
  }
  judge(group, failure);
}

}  // namespace lockstep::model
