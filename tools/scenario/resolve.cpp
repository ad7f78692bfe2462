// From what a line names to what the state has of it.

#include <algorithm>

#include "tools/scenario/run.h"

namespace lockstep::scenario {
namespace {

constexpr MemberKey kOfGroup{kNoRole, kNoMember};

ClaimPhase phase_of(const Group& group, const ClaimKey& key) {
  const auto found = group.claims.find(key);
  return found == group.claims.end() ? ClaimPhase::Wanted : found->second.phase;
}

std::vector<MemberKey> all_members(const Group& group, std::optional<RoleIndex> role) {
  std::vector<MemberKey> keys;
  for (RoleIndex r = 0; r < group.roles.size(); ++r) {
    if (role && *role != r) continue;
    for (std::uint32_t i = 0; i < group.roles[r].members.size(); ++i) {
      if (is_there(group.roles[r], i)) keys.push_back({r, i});
    }
  }
  return keys;
}

bool has_claim(const ClaimSpec& spec, RoleIndex role) {
  return spec.roles.empty() || std::ranges::find(spec.roles, role) != spec.roles.end();
}

std::vector<FoundClaim> standalone(const World& world, const std::string& name) {
  const auto found = world.state().claims.find(name);
  if (found != world.state().claims.end()) return {{ClaimRef{name, {}}, found->second.phase}};
  bool named = false;
  world.state().groups.for_each([&](const Group& group) {
    for (const auto& claim : group.spec->claims) {
      named = named || (claim.kind == ClaimKind::Standalone && claim.name == name);
    }
  });
  if (!named) return {};
  return {{ClaimRef{name, {}}, ClaimPhase::Wanted}};
}

}  // namespace

GroupId resolve(const World& world, const GroupRef& group) {
  if (group.id == 0) return world.book().latest(group.name);
  const GroupId id{group.id};
  return id <= world.state().head.group_last ? id : GroupId{};
}

bool is_there(const Role& role, std::uint32_t index) {
  const Member& member = role.members[index];
  return index < role.head.wanted || member.required || member.phase != MemberPhase::Waiting || !member.hosts.empty();
}

const Member* find_member(const Group& group, MemberKey key) {
  if (key.role >= group.roles.size() || key.index >= group.roles[key.role].members.size()) return nullptr;
  return &group.roles[key.role].members[key.index];
}

std::vector<MemberKey> resolve(const World& world, const MemberRef& members) {
  const GroupId id = resolve(world, members.group);
  std::optional<RoleIndex> role;
  if (!members.role.empty()) {
    role = world.book().role(id, members.role);
    if (!role) return {};
  }
  const Group* group = world.state().group(id);
  if (members.all) return group == nullptr ? std::vector<MemberKey>{} : all_members(*group, role);
  std::vector<MemberKey> keys;
  for (const std::uint32_t index : members.indexes) keys.push_back({*role, index});
  return keys;
}

std::vector<FoundClaim> resolve(const World& world, const ClaimPath& path, Whose whose) {
  if (path.standalone) return standalone(world, path.name);
  const Group* group = world.state().group(resolve(world, path.members.group));
  if (group == nullptr) return {};
  const bool of_members = path.members.all || !path.members.indexes.empty();
  std::vector<FoundClaim> found;
  for (std::uint32_t c = 0; c < group->spec->claims.size(); ++c) {
    const ClaimSpec& spec = group->spec->claims[c];
    if (spec.name != path.name) continue;
    if (spec.kind == ClaimKind::Standalone) return standalone(world, path.name);
    if (spec.per == ClaimPer::Group) {
      const ClaimKey key{c, kOfGroup};
      if (!of_members) found.push_back({ClaimRef{{}, key}, phase_of(*group, key)});
      continue;
    }
    if (whose == Whose::AnyMembers && path.members.all) {
      const auto role = world.book().role(resolve(world, path.members.group), path.members.role);
      for (const auto& [key, claim] : group->claims) {
        const bool named = key.claim == c && (path.members.role.empty() || (role && key.member.role == *role));
        if (named) found.push_back({ClaimRef{{}, key}, claim.phase});
      }
      continue;
    }
    // `g/scratch` of a claim per member means that of each of them.
    for (const auto& member : of_members ? resolve(world, path.members) : all_members(*group, {})) {
      const ClaimKey key{c, member};
      if (has_claim(spec, member.role)) found.push_back({ClaimRef{{}, key}, phase_of(*group, key)});
    }
  }
  return found;
}

}  // namespace lockstep::scenario
