#include "tools/scenario/book.h"

#include <fmt/format.h>

namespace lockstep::scenario {

void Book::learn(const Event& event, Count count) {
  learn_names(event);
  if (count == Count::No && (kind(event) == EventKind::ControllerStarted || kind(event) == EventKind::DigestRecorded)) {
    return;
  }
  ++total_;
  ++counts_[kind(event)];
  GroupId group = event.group;
  if (const auto* late = std::get_if<LateReport>(&event.body); late != nullptr && !group) group = late->about;
  if (group) ++counts_of_[{kind(event), group}];
}

void Book::learn_names(const Event& event) {
  if (const auto* added = std::get_if<HostAdded>(&event.body)) hosts_[added->host] = added->info.name;
  const auto* defined = std::get_if<GroupDefined>(&event.body);
  if (defined == nullptr) return;
  KnownGroup& known = groups_[event.group];
  known.name = defined->identity.name;
  known.reused = latest_.contains(known.name);
  for (const auto& role : defined->spec->roles) known.roles.push_back(role.name);
  for (const auto& claim : defined->spec->claims) known.claims.push_back(claim.name);
  latest_[known.name] = event.group;
}

GroupId Book::latest(const std::string& name) const {
  const auto found = latest_.find(name);
  return found == latest_.end() ? GroupId{} : found->second;
}

std::string Book::group_name(GroupId id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? fmt::format("#{}", id.value) : found->second.name;
}

std::string Book::group(GroupId id) const {
  const auto found = groups_.find(id);
  if (found == groups_.end() || !found->second.reused) return group_name(id);
  return fmt::format("{}#{}", found->second.name, id.value);
}

std::optional<RoleIndex> Book::role(GroupId group, const std::string& name) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return std::nullopt;
  const auto& roles = found->second.roles;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] == name) return static_cast<RoleIndex>(i);
  }
  return std::nullopt;
}

std::string Book::role_name(GroupId group, RoleIndex role) const {
  const auto found = groups_.find(group);
  if (found == groups_.end() || role >= found->second.roles.size()) return "?";
  return found->second.roles[role];
}

std::string Book::member(GroupId group, MemberKey member) const {
  return fmt::format("{}[{}]", role_name(group, member.role), member.index);
}

std::string Book::claim(GroupId group, const ClaimRef& claim) const {
  if (!claim.name.empty()) return claim.name;
  const auto found = groups_.find(group);
  const bool known = found != groups_.end() && claim.key.claim < found->second.claims.size();
  const std::string name = known ? found->second.claims[claim.key.claim] : "?";
  return claim.key.member.role == kNoRole ? name : member(group, claim.key.member) + "/" + name;
}

std::string Book::host(HostId id) const {
  const auto found = hosts_.find(id);
  return found == hosts_.end() ? fmt::format("host {}", id.value) : found->second;
}

std::uint64_t Book::count(EventKind kind) const {
  const auto found = counts_.find(kind);
  return found == counts_.end() ? 0 : found->second;
}

std::uint64_t Book::count(EventKind kind, GroupId group) const {
  const auto found = counts_of_.find({kind, group});
  return found == counts_of_.end() ? 0 : found->second;
}

}  // namespace lockstep::scenario
