#include "tests/model/stream.h"

#include <algorithm>

#include "statemachine/decide.h"

namespace lockstep::model {
namespace {

constexpr std::size_t kHeldMax = 12;

bool is_report(const Command& command) {
  return std::holds_alternative<ReportMember>(command.body) || std::holds_alternative<ReportClaim>(command.body);
}

}  // namespace

Command Stream::take(std::vector<Command>& from) {
  const std::size_t at = random_() % from.size();
  Command command = from[at];
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
  command.time = now_;
  return command;
}

Command Stream::next(const State& state) {
  now_ = now_ + Duration{static_cast<std::int64_t>(below(400)) * 1'000'000};
  if (!held_back_.empty() && (held_back_.size() >= kHeldMax || chance(6))) return take(held_back_);
  if (!old_plans_.empty() && chance(1)) return take(old_plans_);
  Command command = world_.next(state);
  bend(command, state);
  step_clock(command, state);
  command.time = now_;
  if (is_report(command) && held_back_.size() < kHeldMax && chance(12)) {
    held_back_.push_back(command);
    if (chance(30)) return command;  // said twice: now and later
    return next(state);
  }
  if (std::holds_alternative<ApplyPlan>(command.body) && chance(5)) {
    if (old_plans_.size() == kHeldMax) old_plans_.erase(old_plans_.begin());
    old_plans_.push_back(command);
  }
  return command;
}

// Often to the next deadline, exactly or just past it; sometimes far beyond several.
void Stream::step_clock(const Command& command, const State& state) {
  if (!std::holds_alternative<AdvanceTime>(command.body)) return;
  const Time deadline = next_deadline(state);
  if (deadline && chance(45)) {
    now_ = std::max(now_, deadline) + seconds(static_cast<std::int64_t>(below(2)));
  } else {
    now_ = now_ + seconds(static_cast<std::int64_t>(below(chance(8) ? 600 : 4)));
  }
}

void Stream::bend(Command& command, const State& state) {
  if (auto* define = std::get_if<DefineGroup>(&command.body)) {
    if (chance(55)) make_patient(define->spec);
  } else if (auto* report = std::get_if<ReportMember>(&command.body)) {
    if (chance(60)) make_good_news(*report, state);
  } else if (auto* verb = std::get_if<GroupCommand>(&command.body)) {
    if (chance(60)) verb->group = living_group(state, verb->group);
  } else if (auto* resize = std::get_if<ResizeGroup>(&command.body)) {
    resize->group = chance(80) ? living_group(state, resize->group) : resize->group;
    const Group* group = state.group(resize->group);
    if (group != nullptr && !chance(3)) resize->role = static_cast<RoleIndex>(below(group->roles.size()));
    if (group != nullptr && chance(3)) resize->role = static_cast<RoleIndex>(group->roles.size());
  }
}

GroupId Stream::living_group(const State& state, GroupId otherwise) {
  std::vector<GroupId> living;
  const bool rare = chance(50);  // phases that do not last
  state.groups.for_each([&](const Group& group) {
    const GroupPhase phase = group.head.phase;
    const bool is_rare = phase == GroupPhase::Recovering || phase == GroupPhase::Backoff ||
                         phase == GroupPhase::Suspended || phase == GroupPhase::Starting;
    if (rare ? is_rare : (is_active(phase) || phase == GroupPhase::Stopping)) living.push_back(group.head.id);
  });
  return living.empty() ? otherwise : living[below(living.size())];
}

void Stream::make_patient(GroupSpec& spec) {
  spec.timeouts.pend = spec.timeouts.run = {};
  if (chance(60)) spec.timeouts.start = {};
  spec.timeouts.recover.value *= 3;
  spec.failure.max_restarts += 4;
  if (chance(50)) spec.failure.default_action = chance(50) ? FailureAction::RestartMember : FailureAction::RestartRole;
  for (RoleSpec& role : spec.roles) {
    if (chance(50)) role.min = 1;
    if (chance(70)) role.max += 2;
  }
}

// What is due of the member, instead of its end.
void Stream::make_good_news(ReportMember& about, const State& state) {
  Report& report = about.report;
  const Group* group = state.group(about.group);
  if (group == nullptr || report.member.role >= group->roles.size()) return;
  const auto& members = group->roles[report.member.role].members;
  if (report.member.index >= members.size()) return;
  const MemberPhase phase = members[report.member.index].phase;
  if (phase == MemberPhase::Placed) report.kind = ReportKind::Armed;
  if (phase == MemberPhase::Starting) report.kind = ReportKind::Started;
  if (phase == MemberPhase::Stopping) report.kind = ReportKind::Stopped;
}

}  // namespace lockstep::model
