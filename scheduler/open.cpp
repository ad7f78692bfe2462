#include "scheduler/open.h"

#include <algorithm>

namespace lockstep::scheduler_detail {

std::vector<Holding> Open::holdings() const {
  std::vector<Holding> all;
  for (const auto& [key, slices] : held) all.push_back({group->spec.get(), key.role, slices});
  return all;
}

OpenReservations::OpenReservations(const State& state) {
  for (const OrderKey& key : state.indexes.goes_on) {
    const Group* group = state.group(key.group);
    if (group == nullptr || group->head.phase != GroupPhase::Reserving) continue;
    Open open{group, !group->head.victims.empty(), group->head.domain, {}};
    for (RoleIndex role = 0; role < group->roles.size(); ++role) {
      const auto& members = group->roles[role].members;
      for (std::uint32_t index = 0; index < members.size(); ++index) {
        if (!members[index].hosts.empty()) open.held[{role, index}] = &members[index].hosts;
      }
    }
    open_.push_back(std::move(open));
  }
}

Open* OpenReservations::of(const Group& group) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const Open& each) { return each.group == &group; });
  return found == open_.end() ? nullptr : &*found;
}

std::vector<const Group*> OpenReservations::weaker_than(const Group& group) const {
  std::vector<const Group*> weaker;
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    if (open->group->spec->priority < group.spec->priority) weaker.push_back(open->group);
  }
  return weaker;
}

std::vector<const Group*> OpenReservations::later_than(const Group& group) const {
  std::vector<const Group*> later;
  for (auto open = open_.rbegin(); open != open_.rend() && open->group != &group; ++open) later.push_back(open->group);
  return later;
}

std::optional<std::vector<const Group*>> OpenReservations::making_way_for(const Group& group,
                                                                          std::uint32_t limit) const {
  std::vector<const Group*> weaker;
  std::size_t count = 1;
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    if (open->preempts || open->group->head.identity.queue != group.head.identity.queue) continue;
    ++count;
    if (open->group->spec->priority < group.spec->priority) weaker.push_back(open->group);
  }
  const std::size_t too_many = count > limit ? count - limit : 0;
  if (too_many > weaker.size()) return std::nullopt;
  weaker.resize(too_many);
  return weaker;
}

Open& OpenReservations::add(Open open) {
  const auto place = std::find_if(open_.begin(), open_.end(), [&](const Open& other) {
    return open.group->indexed.order < other.group->indexed.order;
  });
  return *open_.insert(place, std::move(open));
}

void OpenReservations::remove(const Group& group) {
  std::erase_if(open_, [&](const Open& each) { return each.group == &group; });
}

}  // namespace lockstep::scheduler_detail
