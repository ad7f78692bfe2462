// Hosts, pools and levels, and what their changes mean to the groups on them.

#include <algorithm>

#include "statemachine/decider.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

// Sets in `known` every entry of `given`; both are sorted by `name_of`.
template <class Entry, class NameOf>
void merge_into(std::vector<Entry>& known, const std::vector<Entry>& given, NameOf name_of) {
  for (const Entry& entry : given) {
    const auto at = std::lower_bound(known.begin(), known.end(), entry,
                                     [&](const Entry& a, const Entry& b) { return name_of(a) < name_of(b); });
    if (at != known.end() && name_of(*at) == name_of(entry))
      *at = entry;
    else
      known.insert(at, entry);
  }
}

std::vector<GroupId> groups_on(const Host& host) {
  std::vector<GroupId> groups;
  for (const auto& [group, slices] : host.groups) groups.push_back(group);
  return groups;
}

}  // namespace

Answer Decider::on(const SetHost& command) {
  if (const auto problems = validate(command.info); !problems.empty()) {
    return reject(AnswerCode::InvalidManifest,
                  "host " + command.info.name + ": " + problems.front().path + ": " + problems.front().text);
  }
  const Host* known = state_.host_named(command.info.name);
  if (known == nullptr) {
    HostInfo info = command.info;
    info.down = false;
    info.drained = false;
    emit({}, HostAdded{HostId{state_.head.host_last.value + 1}, std::move(info)});
    return {};
  }
  HostInfo info = known->facts.info;
  merge_into(
      info.counters, command.info.counters, [](const Counter& counter) -> const auto& { return counter.name; });
  merge_into(
      info.attributes, command.info.attributes, [](const KeyValue& each) -> const auto& { return each.key; });
  if (command.set_at) info.at = command.info.at;
  if (info != known->facts.info) emit({}, HostChanged{known->facts.id, std::move(info)});
  return {};
}

Answer Decider::on(const HostCommand& command) {
  const Host* host = state_.host_named(command.name);
  if (host == nullptr) return reject(AnswerCode::UnknownHost, "no host is named " + command.name);
  const HostId id = host->facts.id;
  HostInfo info = host->facts.info;
  switch (command.verb) {
    case HostVerb::Down:
      info.down = true;
      break;
    case HostVerb::Drain:
      info.drained = true;
      break;
    case HostVerb::Up:
      info.down = false;
      info.drained = false;
      break;
    case HostVerb::Remove:
      if (!host->groups.empty()) {
        return reject(AnswerCode::HostInUse, "host " + command.name + " is held by group #" +
                                                 std::to_string(host->groups.begin()->first.value) +
                                                 "; drain it and wait");
      }
      emit({}, HostRemoved{id});
      return {};
  }
  if (info == host->facts.info) return {};
  change_host(id, info);
  return {};
}

void Decider::change_host(HostId id, const HostInfo& info) {
  const Host& host = *state_.hosts.find(id);
  const bool lost = info.down && !host.facts.info.down;
  emit({}, HostChanged{id, info});
  if (host.usable()) return;
  for (const GroupId group : groups_on(host)) {
    release_kept_if_lost(group);
    shrink_reservation(group);
  }
  if (lost) host_lost(id);
  for (const GroupId group : groups_on(host)) release_idle(group);
}

// A reservation goes on with the hosts that are left; it ends when none are, or when even all of its domain would not
// do.
void Decider::shrink_reservation(GroupId id) {
  const Group& each = group(id);
  if (each.head.phase != GroupPhase::Reserving) return;
  ReservationExtended shrunk{.projected = each.head.projected};
  bool left = false;
  for (RoleIndex role = 0; role < each.roles.size(); ++role) {
    for (std::uint32_t index = 0; index < each.roles[role].members.size(); ++index) {
      const std::vector<Slice>& hosts = each.roles[role].members[index].hosts;
      if (hosts.empty()) continue;
      if (usable(hosts))
        left = true;
      else
        shrunk.lost.push_back({role, index});
    }
  }
  if (shrunk.lost.empty()) return;
  const auto could_complete = [&] {
    return fit(state_, *each.spec, whole_demand(each, each.spec->partial), Capacity::Up, Require::AsSaid,
               each.head.domain)
        .fits;
  };
  if (left && could_complete())
    emit(id, std::move(shrunk));
  else
    emit(id, ReservationReleased{ReservationEnd::HostsLost, false});
}

// Nothing runs there any more: its members end in the order group id, role, index, each judged by itself.
void Decider::host_lost(HostId id) {
  std::vector<std::pair<GroupId, MemberKey>> lost;
  for (const auto& [group_id, slices] : state_.hosts.find(id)->groups) {
    const Group& each = group(group_id);
    for (RoleIndex role = 0; role < each.roles.size(); ++role) {
      const auto& members = each.roles[role].members;
      for (std::uint32_t index = 0; index < members.size(); ++index) {
        const bool here = std::any_of(members[index].hosts.begin(), members[index].hosts.end(),
                                      [&](const Slice& slice) { return slice.host == id; });
        if (here && is_live(members[index].phase)) lost.emplace_back(group_id, MemberKey{role, index});
      }
    }
  }
  for (const auto& [group_id, member] : lost) member_lost_host(group_id, member, id);
}

// A member on several hosts is gone when all of them are; losing one is judged at once, and the rest is stopped.
void Decider::member_lost_host(GroupId id, const MemberKey& key, HostId host) {
  const Member& member = group(id).roles[key.role].members[key.index];
  const bool still_here = is_live(member.phase) && std::any_of(member.hosts.begin(), member.hosts.end(),
                                                               [&](const Slice& slice) { return slice.host == host; });
  if (!still_here) return;  // an earlier loss of this decision has taken it along
  const bool gone = std::all_of(member.hosts.begin(), member.hosts.end(),
                                [&](const Slice& slice) { return state_.hosts.find(slice.host)->facts.info.down; });
  if (member.phase == MemberPhase::Stopping) {
    if (gone) member_stopped(id, key, 0, 0, 0);
    return;
  }
  member_failed(id, {.reason = FailureReason::HostLost, .member = key}, {.phase = MemberPhase::Lost},
                gone ? Gone::Yes : Gone::NotYet);
}

Answer Decider::on(const SetPool& command) {
  if (command.name.empty() || command.name.size() > kNameBytesMax || command.total < 0 ||
      command.total > kQuantityMax) {
    return reject(AnswerCode::InvalidManifest, "pool " + command.name + ": a total from 0 to 2^60 is wanted");
  }
  const auto known = state_.pools.find(command.name);
  if (known == state_.pools.end() || known->second.total != command.total)
    emit({}, PoolSet{command.name, command.total});
  return {};
}

Answer Decider::on(const SetLevels& command) {
  if (const auto problems = validate_levels(command.levels); !problems.empty()) {
    return reject(AnswerCode::InvalidManifest, problems.front().path + ": " + problems.front().text);
  }
  if (command.levels != state_.head.levels) emit({}, LevelsSet{command.levels});
  return {};
}

}  // namespace lockstep
