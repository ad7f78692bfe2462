#include "tests/bench/workload.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::bench {
namespace {

constexpr std::int64_t kCore = 1'000;

Command command(Actor actor, CommandBody body) {
  Command made;
  made.actor = actor;
  made.time = Time{seconds(1'000).value};
  made.body = std::move(body);
  return made;
}

Command report(std::uint64_t group, std::uint32_t index, ReportKind kind, std::uint64_t sequence) {
  Report said;
  said.kind = kind;
  said.member = MemberKey{0, index};
  said.attempt = 1;
  said.run = 1;
  said.sequence = sequence;
  return command(Actor::Agent, ReportMember{GroupId{group}, said});
}

Command place(std::uint64_t group, std::uint64_t host) {
  PlaceAction action;
  action.group = GroupId{group};
  action.domain = "/";
  for (std::uint32_t index = 0; index < kMembers; ++index) {
    action.members.push_back({MemberKey{0, index}, {Slice{HostId{static_cast<std::uint32_t>(host)}, 0, 1}}});
  }
  return command(Actor::Scheduler, ApplyPlan{Plan{Seq{}, {std::move(action)}}});
}

}  // namespace

CommandBody define_group(std::uint64_t number) {
  DefineGroup define;
  define.identity.name = fmt::format("train-{}", number);
  define.identity.user = "ana";
  RoleSpec role;
  role.name = "worker";
  role.replicas = role.min = role.max = kMembers;
  TaskTerm term;
  term.requests = {{"cpu", kCore}};
  role.tasks = {term};
  define.spec.roles = {role};
  define.spec.ttl_after_finished = Duration{};
  return define;
}

std::vector<Command> cluster(std::uint64_t groups) {
  std::vector<Command> commands;
  for (std::uint64_t host = 0; host <= groups / kGroupsPerHost; ++host) {
    SetHost set;
    set.info.name = fmt::format("n{}", host + 1);
    set.info.counters = {{"cpu", std::int64_t{kGroupsPerHost} * kMembers * kCore}};
    commands.push_back(command(Actor::User, std::move(set)));
  }
  return commands;
}

void live(std::uint64_t groups, Life life, const std::function<void(const std::vector<Command>&)>& take) {
  for (std::uint64_t first = 1; first <= groups; first += kWindow) {
    const std::uint64_t after = std::min(first + kWindow, groups + 1);
    const auto step = [&](const std::function<void(std::vector<Command>&, std::uint64_t)>& make) {
      std::vector<Command> batch;
      for (std::uint64_t group = first; group < after; ++group) make(batch, group);
      take(batch);
    };
    const auto all_report = [&](ReportKind kind, std::uint64_t sequence) {
      step([&](auto& batch, std::uint64_t group) {
        for (std::uint32_t index = 0; index < kMembers; ++index) {
          batch.push_back(report(group, index, kind, sequence));
        }
      });
    };
    step([](auto& batch, std::uint64_t group) { batch.push_back(command(Actor::User, define_group(group))); });
    step([&](auto& batch, std::uint64_t group) {
      const std::uint64_t place_in = life == Life::UntilEnd ? group - first : group - 1;  // ended ones make room
      batch.push_back(place(group, 1 + place_in / kGroupsPerHost));
    });
    all_report(ReportKind::Armed, 1);
    all_report(ReportKind::Started, 2);
    if (life == Life::UntilEnd) all_report(ReportKind::Exit, 3);
  }
}

}  // namespace lockstep::bench
