// Defining groups, and the verbs that users and operators have for them.

#include <algorithm>

#include "statemachine/decider.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += "; ";
    text += problem.path + ": " + problem.text;
  }
  return text;
}

// As people write it: cpu in cores, or in thousandths when it is no whole number.
std::string amount_text(std::int64_t amount, const std::string& counter) {
  if (counter != "cpu") return std::to_string(amount);
  return amount % 1000 == 0 ? std::to_string(amount / 1000) : std::to_string(amount) + "m";
}

// "": every level that the spec requires is there.
std::string unknown_level(const State& state, const GroupSpec& spec) {
  const auto known = [&](const std::string& level) {
    const auto& levels = state.head.levels;
    return level.empty() || level == "host" || std::find(levels.begin(), levels.end(), level) != levels.end();
  };
  if (!known(spec.topology.required)) return spec.topology.required;
  const auto role = std::find_if(spec.roles.begin(), spec.roles.end(),
                                 [&](const RoleSpec& each) { return !known(each.topology.required); });
  return role != spec.roles.end() ? role->topology.required : "";
}

std::string never_fits(const State& state, const GroupSpec& spec, const Shortage& shortage) {
  if (state.hosts.size() == 0) return "needs hosts, and this cluster has none";
  if (const std::string level = unknown_level(state, spec); !level.empty()) {
    return "requires the topology level " + level + ", which this cluster does not have";
  }
  std::string text = "would not fit if every host were up and empty";
  if (shortage.role < spec.roles.size()) text += ": role " + spec.roles[shortage.role].name;
  if (!shortage.resource.empty()) {
    text += " needs " + amount_text(shortage.needed, shortage.resource) + " " + shortage.resource + ", " +
            amount_text(shortage.free, shortage.resource) + " can be had";
    if (shortage.needed <= shortage.free) text += " in all, but not where it must be together";
  }
  return text;
}

}  // namespace

Answer Decider::on(const DefineGroup& command) {
  if (const auto problems = validate(command.identity, command.spec); !problems.empty()) {
    return reject(AnswerCode::InvalidManifest, join(problems));
  }
  const Group* namesake = state_.group_named(command.identity.name);
  if (namesake != nullptr && !is_terminal(namesake->head.phase)) {
    return reject(AnswerCode::DuplicateName,
                  "group " + command.identity.name + " lives as #" + std::to_string(namesake->head.id.value) +
                      "; cancel it first or choose another name",
                  namesake->head.id);
  }
  if (!command.hold) {
    if (const Fit fit = could_ever_fit(state_, command.spec); !fit.fits) {
      return reject(AnswerCode::NeverFits,
                    "group " + command.identity.name + " " + never_fits(state_, command.spec, fit.shortage));
    }
  }
  const GroupId id{state_.head.group_last.value + 1};
  emit(id, GroupDefined{command.identity, content_hash(command.spec), command.spec, command.hold});
  return Answer{.code = AnswerCode::Done, .group = id, .seq = {}, .text = {}};
}

Answer Decider::on(const GroupCommand& command) {
  const Group* found = state_.groups.find(command.group);
  if (found == nullptr) {
    return reject(AnswerCode::UnknownGroup, "no group has id " + std::to_string(command.group.value));
  }
  Answer answer;
  switch (command.verb) {
    case GroupVerb::Submit:
      answer = submit(*found);
      break;
    case GroupVerb::Cancel:
      answer = cancel(*found);
      break;
    case GroupVerb::Suspend:
      answer = suspend(*found);
      break;
    case GroupVerb::Resume:
      answer = resume(*found);
      break;
    case GroupVerb::Evict:
      answer = evict(*found);
      break;
    case GroupVerb::Purge:
      answer = purge(*found);
      break;
  }
  answer.group = command.group;
  return answer;
}

Answer Decider::wrong_phase(const Group& group, std::string_view verb) const {
  return reject(AnswerCode::WrongPhase,
                "group " + group.head.identity.name + " is " + std::string(name(group.head.phase)) +
                    (group.head.next == StopNext::None ? "" : " to " + std::string(name(group.head.next))) +
                    ": cannot " + std::string(verb),
                group.head.id);
}

Answer Decider::submit(const Group& group) {
  if (group.head.phase != GroupPhase::Defined) return wrong_phase(group, "submit");
  if (const Fit fit = could_ever_fit(state_, group); !fit.fits) {
    return reject(AnswerCode::NeverFits,
                  "group " + group.head.identity.name + " " + never_fits(state_, *group.spec, fit.shortage));
  }
  emit(group.head.id, GroupSubmitted{});
  return {};
}

Answer Decider::cancel(const Group& group) {
  const GroupId id = group.head.id;
  const End end{.code = EndCode::Cancelled, .scope = Scope::Group};
  const GroupPhase phase = group.head.phase;
  if (is_terminal(phase)) return wrong_phase(group, "cancel");
  if (phase == GroupPhase::Stopping && group.head.next >= StopNext::Cancel) return wrong_phase(group, "cancel");
  if (is_active(phase) || phase == GroupPhase::Stopping) {
    stop_group(id, StopNext::Cancel, end);
    settle(id);
    return {};
  }
  if (phase == GroupPhase::Reserving) emit(id, ReservationReleased{.why = ReservationEnd::Stopped});
  emit(id, GroupCancelled{end});
  return {};
}

Answer Decider::suspend(const Group& group) {
  const GroupId id = group.head.id;
  const GroupPhase phase = group.head.phase;
  const bool stopping = phase == GroupPhase::Stopping;
  if (stopping && group.head.next >= StopNext::Suspend) return wrong_phase(group, "suspend");
  if (is_active(phase) || stopping) {
    stop_group(id, StopNext::Suspend, {});
    settle(id);
    return {};
  }
  const bool waits = phase == GroupPhase::Pending || phase == GroupPhase::Reserving || phase == GroupPhase::Backoff;
  if (!waits) return wrong_phase(group, "suspend");
  if (phase == GroupPhase::Reserving) emit(id, ReservationReleased{.why = ReservationEnd::Stopped});
  emit(id, GroupSuspended{});
  return {};
}

Answer Decider::resume(const Group& group) {
  if (group.head.phase != GroupPhase::Suspended) return wrong_phase(group, "resume");
  emit(group.head.id, GroupResumed{});
  return {};
}

// `by`: for whom; 0 = an operator.
Answer Decider::evict(const Group& group, GroupId by) {
  const GroupId id = group.head.id;
  const GroupPhase phase = group.head.phase;
  if (phase == GroupPhase::Reserving) {
    emit(id, ReservationReleased{.why = ReservationEnd::Evicted});
    return {};
  }
  if (phase == GroupPhase::Backoff && group.head.keep_hosts) {
    emit(id, GroupPreempted{.by = by});
    emit(id, KeptHostsReleased{});
    return {};
  }
  const bool stopping = phase == GroupPhase::Stopping;
  if (!is_active(phase) && !stopping) return wrong_phase(group, "evict");
  if (stopping && group.head.next >= StopNext::Requeue) return wrong_phase(group, "evict");
  emit(id, GroupPreempted{.by = by});
  stop_group(id, StopNext::Requeue, {});
  settle(id);
  return {};
}

Answer Decider::purge(const Group& group) {
  const GroupHead& head = group.head;
  if (!is_terminal(head.phase)) return wrong_phase(group, "purge");
  if (group.claims_owed > 0) {
    return reject(AnswerCode::WrongPhase, "group " + head.identity.name + " still owes the release of " +
                                              std::to_string(group.claims_owed) + " claims: cannot purge");
  }
  emit(head.id, GroupPurged{.name = head.identity.name,
                            .user = head.identity.user,
                            .phase = head.phase,
                            .end = head.end,
                            .attempt = head.attempt,
                            .charged = head.charged});
  return {};
}

// ---- resize
// -----------------------------------------------------------------------------------------------------------
Answer Decider::on(const ResizeGroup& command) {
  const Group* found = state_.groups.find(command.group);
  if (found == nullptr) {
    return reject(AnswerCode::UnknownGroup, "no group has id " + std::to_string(command.group.value));
  }
  const Group& group = *found;
  const GroupId id = command.group;
  if (command.role >= group.roles.size()) {
    return reject(AnswerCode::UnknownRole,
                  "group " + group.head.identity.name + " has no role " + std::to_string(command.role), id);
  }
  const bool ending = group.head.phase == GroupPhase::Stopping && group.head.next >= StopNext::Fail;
  const bool satisfied = group.head.satisfied && is_active(group.head.phase);
  if (is_terminal(group.head.phase) || ending || satisfied) return wrong_phase(group, "resize");
  const RoleSpec& spec = group.spec->roles[command.role];
  const Role& role = group.roles[command.role];
  const std::uint32_t succeeded = role.counts.in(MemberPhase::Succeeded);
  if (command.replicas < spec.min || command.replicas > spec.max || command.replicas < succeeded) {
    return reject(AnswerCode::OutOfBounds,
                  "role " + spec.name + " takes " + std::to_string(std::max(spec.min, succeeded)) + " to " +
                      std::to_string(spec.max) + " replicas, not " + std::to_string(command.replicas),
                  id);
  }
  if (is_active(group.head.phase)) {
    if (role.head.resize_pending) emit(id, ResizeDropped{command.role, ResizeDropReason::Replaced});
    const Duration expires = group.spec->timeouts.recover;
    emit(id, ResizeRequested{command.role, command.replicas, true, expires.value > 0 ? now() + expires : Time{}});
    settle(id);
    return Answer{.code = AnswerCode::Done, .group = id, .seq = {}, .text = {}};
  }
  GroupSpec wanted = *group.spec;
  for (RoleIndex each = 0; each < wanted.roles.size(); ++each)
    wanted.roles[each].replicas = group.roles[each].head.wanted;
  wanted.roles[command.role].replicas = command.replicas;
  if (const Fit fit = could_ever_fit(state_, wanted); !fit.fits && group.head.phase != GroupPhase::Defined) {
    return reject(AnswerCode::NeverFits,
                  "group " + group.head.identity.name + " " + never_fits(state_, wanted, fit.shortage), id);
  }
  if (group.head.phase == GroupPhase::Reserving) {
    emit(id, ReservationReleased{.why = ReservationEnd::Resized, .keeps_place = true});
  }
  emit(id, ResizeRequested{command.role, command.replicas, false, {}});
  if (group.head.keep_hosts) emit(id, KeptHostsReleased{});
  return Answer{.code = AnswerCode::Done, .group = id, .seq = {}, .text = {}};
}

}  // namespace lockstep
