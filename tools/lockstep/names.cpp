#include "tools/lockstep/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

template <class Number>
std::string numbered(Number number) {
  return fmt::format("#{}", number);
}

// {0, 1, 2, 5} -> "0-2,5". `indexes` ascend.
std::string ranges(const std::vector<std::uint32_t>& indexes) {
  std::string text;
  for (std::size_t i = 0; i < indexes.size();) {
    std::size_t last = i;
    while (last + 1 < indexes.size() && indexes[last + 1] == indexes[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", indexes[i]) : fmt::format("{}-{}", indexes[i], indexes[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

std::string lower_camel(std::string_view enumerator) {
  std::string text(enumerator);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void Names::learn(const Event& event) {
  if (const auto* added = std::get_if<HostAdded>(&event.body)) hosts_[added->host] = added->info.name;
  if (const auto* changed = std::get_if<HostChanged>(&event.body)) hosts_[changed->host] = changed->info.name;
  if (const auto* defined = std::get_if<GroupDefined>(&event.body)) {
    Known known{defined->identity.name, {}, {}};
    for (const auto& role : defined->spec->roles) known.roles.push_back(role.name);
    for (const auto& claim : defined->spec->claims) known.claims.push_back(claim.name);
    groups_[event.group] = std::move(known);
  }
}

const GroupSpec* Names::spec(GroupId id) const {
  const Group* group = state_ != nullptr ? state_->group(id) : nullptr;
  return group != nullptr ? group->spec.get() : nullptr;
}

std::string Names::group(GroupId id) const {
  if (const auto known = groups_.find(id); known != groups_.end()) return known->second.name;
  const Group* group = state_ != nullptr ? state_->group(id) : nullptr;
  missed_ = missed_ || group == nullptr;
  return group != nullptr ? group->head.identity.name : numbered(id.value);
}

std::string Names::role(GroupId id, RoleIndex role) const {
  const auto known = groups_.find(id);
  if (known != groups_.end() && role < known->second.roles.size()) return known->second.roles[role];
  const GroupSpec* of_state = spec(id);
  return of_state != nullptr && role < of_state->roles.size() ? of_state->roles[role].name : numbered(role);
}

std::string Names::host(HostId id) const {
  if (const auto known = hosts_.find(id); known != hosts_.end()) return known->second;
  const Host* host = state_ != nullptr ? state_->host(id) : nullptr;
  missed_ = missed_ || host == nullptr;
  return host != nullptr ? host->facts.info.name : numbered(id.value);
}

std::string Names::member(GroupId id, MemberKey member) const {
  return fmt::format("{}[{}]", role(id, member.role), member.index);
}

std::string Names::members(GroupId id, std::vector<MemberKey> members) const {
  std::sort(members.begin(), members.end());
  std::string text;
  for (std::size_t i = 0; i < members.size();) {
    std::vector<std::uint32_t> indexes;
    const RoleIndex of = members[i].role;
    for (; i < members.size() && members[i].role == of; ++i) indexes.push_back(members[i].index);
    text += fmt::format("{}{}[{}]", text.empty() ? "" : " ", role(id, of), ranges(indexes));
  }
  return text;
}

std::string Names::claim(GroupId id, const ClaimRef& claim) const {
  if (!claim.name.empty()) return claim.name;
  std::string text = numbered(claim.key.claim);
  const auto known = groups_.find(id);
  const GroupSpec* of_state = spec(id);
  if (known != groups_.end() && claim.key.claim < known->second.claims.size()) {
    text = known->second.claims[claim.key.claim];
  } else if (of_state != nullptr && claim.key.claim < of_state->claims.size()) {
    text = of_state->claims[claim.key.claim].name;
  }
  return claim.key.member.index == kNoMember ? text : member(id, claim.key.member) + "/" + text;
}

std::string Names::hosts(const std::vector<MemberPlacement>& placements) const {
  std::vector<std::string> names;
  std::set<HostId> seen;
  for (const auto& placement : placements) {
    for (const auto& slice : placement.slices) {
      if (seen.insert(slice.host).second) names.push_back(host(slice.host));
    }
  }
  return compress_hostlist(names);
}

}  // namespace lockstep::cli
