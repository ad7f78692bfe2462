#include "statemachine/prefetch.h"

namespace lockstep {
namespace {

constexpr std::size_t kLine = 64;

void fetch(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  for (std::size_t at = 0; at < size; at += kLine) __builtin_prefetch(bytes + at);
}

const MemberKey* member_of(const Event& event) {
  return std::visit(
      [](const auto& body) -> const MemberKey* {
        if constexpr (requires {
                        { body.member } -> std::same_as<const MemberKey&>;
                      }) {
          return &body.member;
        } else {
          return nullptr;
        }
      },
      event.body);
}

const Member* find_member(const Group& group, const Event& event) {
  const MemberKey* key = member_of(event);
  if (key == nullptr || key->role >= group.roles.size()) return nullptr;
  const auto& members = group.roles[key->role].members;
  return key->index < members.size() ? &members[key->index] : nullptr;
}

// Each step follows a pointer that the one before has fetched.
void fetch_step(const State& state, const Event& event, std::size_t step) {
  if (step == 0) return state.groups.prefetch(event.group);
  const Group* group = state.groups.find(event.group);
  if (group == nullptr) return;
  if (step == 1) return fetch(group, sizeof *group);
  if (step == 2) return fetch(group->roles.data(), group->roles.size() == 0 ? 0 : sizeof(Role));
  const Member* member = find_member(*group, event);
  if (member == nullptr) return;
  if (step == 3) return fetch(member, sizeof *member);
  fetch(member->hosts.data(), member->hosts.empty() ? 0 : sizeof(Slice));
}

}  // namespace

void prefetch(const State& state, std::span<const Event> events, std::size_t at) {
  constexpr std::size_t kSteps = 5;
  constexpr std::size_t kApart = 4;  // events between two steps of one
  for (std::size_t step = 0; step < kSteps; ++step) {
    const std::size_t ahead = at + (kSteps - step) * kApart;
    if (ahead < events.size()) fetch_step(state, events[ahead], step);
  }
}

}  // namespace lockstep
