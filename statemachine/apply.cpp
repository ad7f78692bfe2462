#include "statemachine/apply.h"

#include <variant>

#include "events/error.h"
#include "statemachine/apply_detail.h"

namespace lockstep {

namespace apply_detail {

Group& Context::group() const {
  Group* found = state.groups.find(event.group);
  LOCKSTEP_CHECK(found != nullptr, "event " + std::to_string(event.seq.value) + " names a group that is not there");
  return *found;
}

void move(const Context& context, edit::EditGroup& group, GroupTrigger trigger) {
  const auto to = next_phase(group->phase, trigger);
  LOCKSTEP_CHECK(to.has_value(), "event " + std::to_string(context.event.seq.value) + ": " +
                                     std::string(name(group->phase)) + " refuses " + std::string(name(trigger)));
  if (*to == group->phase) return;
  group->phase = *to;
  group->phase_since = context.event.time;
}

void move(const Context& context, GroupTrigger trigger) {
  edit::EditGroup group(context.state, context.group());
  move(context, group, trigger);
}

}  // namespace apply_detail

namespace {

void advance_head(State& state, const Event& event) {
  LOCKSTEP_CHECK(event.seq == next(state.head.seq), "event " + std::to_string(event.seq.value) +
                                                        " does not follow seq " + std::to_string(state.head.seq.value));
  LOCKSTEP_CHECK(event.time >= state.head.time, "time runs backwards at event " + std::to_string(event.seq.value));
  state.head.seq = event.seq;
  state.head.time = event.time;
}

// Every event names its group's previous one, so a history needs no index.
void link_history(State& state, const Event& event) {
  Group* group = state.groups.find(event.group);
  if (group == nullptr) return;  // its own GroupPurged
  LOCKSTEP_CHECK(group->head.last_event == event.prev,
                 "event " + std::to_string(event.seq.value) + " names another previous event than its group's last");
  edit::set_last_event(state, *group, event.seq);
}

}  // namespace

void apply(State& state, const Event& event) {
  advance_head(state, event);
  const apply_detail::Context context{state, event};
  std::visit([&](const auto& body) { apply_detail::on(context, body); }, event.body);
  if (!event.group) return;
  link_history(state, event);
  if (Group* group = state.groups.find(event.group)) derived::reindex(state, *group);
}

}  // namespace lockstep
