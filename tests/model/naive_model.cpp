#include "tests/model/naive_model.h"

#include <algorithm>

namespace lockstep::model {

AnswerCode NaiveModel::execute(const Command& command, const Choices& choices) {
  choices_ = choices;
  complaint_.clear();
  clock_fired_ = false;
  now = std::max(now, command.time);
  fire_deadlines();
  return std::visit([this](const auto& body) { return on(body); }, command.body);
}

NaiveGroup* NaiveModel::find(GroupId id) {
  const auto found = groups.find(id);
  return found == groups.end() ? nullptr : &found->second;
}

NaiveHost* NaiveModel::host_named(const std::string& name) {
  for (auto& [id, host] : hosts) {
    if (host.info.name == name) return &host;
  }
  return nullptr;
}

std::uint32_t NaiveModel::live(const Group& group) {
  return static_cast<std::uint32_t>(
      std::count_if(group.members.begin(), group.members.end(), [](const auto& m) { return is_live(m.second.phase); }));
}

std::uint32_t NaiveModel::required(const Group& group, RoleIndex role) {
  return static_cast<std::uint32_t>(std::count_if(group.members.begin(), group.members.end(), [&](const auto& m) {
    return m.first.role == role && m.second.required;
  }));
}

// ---- groups ---------------------------------------------------------------------------------------------------------

AnswerCode NaiveModel::on(const DefineGroup& command) {
  for (const auto& [id, group] : groups) {
    if (group.name == command.identity.name && !is_terminal(group.phase)) return AnswerCode::DuplicateName;
  }
  if (choices_.code == AnswerCode::NeverFits && !command.hold) return AnswerCode::NeverFits;
  const GroupId id{++groups_defined_};
  Group& group = groups[id];
  group.id = id;
  group.name = command.identity.name;
  group.spec = command.spec;
  for (RoleIndex role = 0; role < command.spec.roles.size(); ++role) {
    const std::uint32_t replicas = command.spec.roles[role].replicas;
    group.roles.emplace_back().wanted = replicas;
    for (std::uint32_t index = 0; index < replicas; ++index) group.members[{role, index}] = {};
  }
  group.phase = GroupPhase::Defined;
  if (!command.hold) become_pending(group);
  return AnswerCode::Done;
}

void NaiveModel::become_pending(Group& group) {
  group.phase = GroupPhase::Pending;
  group.pend_deadline = deadline(group.spec.timeouts.pend);
}

AnswerCode NaiveModel::on(const GroupCommand& command) {
  Group* group = find(command.group);
  return group == nullptr ? AnswerCode::UnknownGroup : verb(command.verb, *group);
}

AnswerCode NaiveModel::verb(GroupVerb verb, Group& group) {
  switch (verb) {
    case GroupVerb::Submit:
      if (group.phase != GroupPhase::Defined) return AnswerCode::WrongPhase;
      if (choices_.code == AnswerCode::NeverFits) return AnswerCode::NeverFits;
      become_pending(group);
      return AnswerCode::Done;
    case GroupVerb::Resume:
      if (group.phase != GroupPhase::Suspended) return AnswerCode::WrongPhase;
      become_pending(group);
      return AnswerCode::Done;
    case GroupVerb::Cancel:
      return stop_for(group, StopNext::Cancel);
    case GroupVerb::Suspend:
      if (group.phase == GroupPhase::Defined || group.phase == GroupPhase::Suspended) return AnswerCode::WrongPhase;
      return stop_for(group, StopNext::Suspend);
    case GroupVerb::Evict:
      return evict(group);
    case GroupVerb::Purge:
      if (!is_terminal(group.phase) || owes_release(group)) return AnswerCode::WrongPhase;
      groups.erase(group.id);
      return AnswerCode::Done;
  }
  return AnswerCode::WrongPhase;
}

// Once the success policy is satisfied, whatever stops the group makes it Succeeded. While Stopping, only a stronger
// reason is taken.
AnswerCode NaiveModel::stop_for(Group& group, StopNext next) {
  if (is_terminal(group.phase)) return AnswerCode::WrongPhase;
  if (group.phase == GroupPhase::Stopping && next <= group.next) return AnswerCode::WrongPhase;
  End end;
  if (next == StopNext::Cancel) end.code = EndCode::Cancelled;
  if (group.satisfied && is_active(group.phase)) {
    next = StopNext::Succeed;
    end.code = EndCode::Completed;
  }
  stop_group(group, next, end, false, false);
  return AnswerCode::Done;
}

AnswerCode NaiveModel::evict(Group& group) {
  if (group.phase == GroupPhase::Reserving) {
    release_reservation(group);
    return AnswerCode::Done;
  }
  if (group.phase == GroupPhase::Backoff) {
    if (!group.keep_hosts) return AnswerCode::WrongPhase;
    release_kept_hosts(group);
    return AnswerCode::Done;
  }
  if (!is_active(group.phase) && group.phase != GroupPhase::Stopping) return AnswerCode::WrongPhase;
  return stop_for(group, StopNext::Requeue);
}

AnswerCode NaiveModel::on(const ResizeGroup& command) {
  Group* found = find(command.group);
  if (found == nullptr) return AnswerCode::UnknownGroup;
  Group& group = *found;
  if (command.role >= group.roles.size()) return AnswerCode::UnknownRole;
  const bool ends = group.phase == GroupPhase::Stopping &&
                    (group.next == StopNext::Fail || group.next == StopNext::Cancel || group.next == StopNext::Succeed);
  const RoleSpec& spec = group.spec.roles[command.role];
  const auto succeeded = std::count_if(group.members.begin(), group.members.end(), [&](const auto& entry) {
    return entry.first.role == command.role && entry.second.phase == MemberPhase::Succeeded;
  });
  const bool wrong_phase = is_terminal(group.phase) || ends || (is_active(group.phase) && group.satisfied);
  const bool bounds = command.replicas < spec.min || command.replicas > spec.max || command.replicas < succeeded;
  if (wrong_phase && bounds && choices_.code == AnswerCode::OutOfBounds)
    return AnswerCode::OutOfBounds;  // either will do
  if (wrong_phase) return AnswerCode::WrongPhase;
  if (bounds) return AnswerCode::OutOfBounds;
  NaiveRole& role = group.roles[command.role];
  if (is_active(group.phase)) {
    role.resize_to = command.replicas;
    role.resize_deadline = deadline(group.spec.timeouts.recover);
    settle(group);
    return AnswerCode::Done;
  }
  if (choices_.code == AnswerCode::NeverFits) return AnswerCode::NeverFits;
  role.wanted = command.replicas;
  if (group.phase == GroupPhase::Reserving) release_reservation(group);
  release_kept_hosts(group);
  return AnswerCode::Done;
}

// ---- the cluster
// ------------------------------------------------------------------------------------------------------

AnswerCode NaiveModel::on(const SetHost& command) {
  NaiveHost* host = host_named(command.info.name);
  if (host == nullptr) {
    const HostId id{++hosts_added_};
    host = &hosts[id];
    host->id = id;
    host->info = command.info;
    host->info.down = host->info.drained = false;
    return AnswerCode::Done;
  }
  host->info.counters = command.info.counters;
  host->info.attributes = command.info.attributes;
  if (command.set_at) host->info.at = command.info.at;
  return AnswerCode::Done;
}

AnswerCode NaiveModel::on(const HostCommand& command) {
  NaiveHost* host = host_named(command.name);
  if (host == nullptr) return AnswerCode::UnknownHost;
  switch (command.verb) {
    case HostVerb::Down:
      if (host->info.down) return AnswerCode::Done;
      host->info.down = true;
      host_down(host->id);
      return AnswerCode::Done;
    case HostVerb::Up:
      host->info.down = host->info.drained = false;
      return AnswerCode::Done;
    case HostVerb::Drain:
      if (host->info.drained) return AnswerCode::Done;
      host->info.drained = true;
      host_not_usable(host->id);
      return AnswerCode::Done;
    case HostVerb::Remove: {
      const auto held = used()[host->id];
      if (std::any_of(held.begin(), held.end(), [](const auto& each) { return each.second > 0; })) {
        return AnswerCode::HostInUse;
      }
      hosts.erase(host->id);
      return AnswerCode::Done;
    }
  }
  return AnswerCode::Done;
}

AnswerCode NaiveModel::on(const SetPool& command) {
  pools[command.name] = command.total;
  return AnswerCode::Done;
}

AnswerCode NaiveModel::on(const SetLevels& command) {
  levels = command.levels;
  return AnswerCode::Done;
}

std::map<HostId, std::map<std::string, std::int64_t>> NaiveModel::used() const {
  std::map<HostId, std::map<std::string, std::int64_t>> sums;
  for (const auto& [id, group] : groups) {
    const auto add = [&](RoleIndex role, const Slices& slices) {
      for (const Slice& slice : slices) {
        for (const Counter& counter : group.spec.roles[role].tasks[slice.term].requests)
          sums[slice.host][counter.name] += counter.amount * slice.count;
      }
    };
    for (const auto& [key, member] : group.members) add(key.role, member.hosts);
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      for (const Slices& spare : group.roles[role].spares) add(role, spare);
    }
  }
  return sums;
}

}  // namespace lockstep::model
