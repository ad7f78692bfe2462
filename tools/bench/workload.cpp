#include "tools/bench/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace lockstep::bench {
namespace {

constexpr std::int64_t kCore = 1'000;
constexpr std::uint32_t kMembersPerHost = kGroupsPerHost * kMembers;
constexpr std::size_t kBatch = 4'096;  // commands

Command command(Actor actor, CommandBody body) {
  Command made;
  made.actor = actor;
  made.time = Time{seconds(1'000).value};
  made.body = std::move(body);
  return made;
}

// On hosts from `first_host` on, kMembersPerHost on each.
Command place(std::uint64_t group, std::uint32_t members, std::uint64_t first_member) {
  PlaceAction action;
  action.group = GroupId{group};
  action.domain = "/";
  for (std::uint32_t index = 0; index < members; ++index) {
    const auto host = static_cast<std::uint32_t>(1 + (first_member + index) / kMembersPerHost);
    action.members.push_back({MemberKey{0, index}, {Slice{HostId{host}, 0, 1}}});
  }
  return command(Actor::Scheduler, ApplyPlan{Plan{Seq{}, {std::move(action)}}});
}

}  // namespace

Command report(std::uint64_t group, std::uint32_t index, ReportKind kind, std::uint64_t sequence) {
  Report said;
  said.kind = kind;
  said.member = MemberKey{0, index};
  said.attempt = 1;
  said.run = 1;
  said.sequence = sequence;
  return command(Actor::Agent, ReportMember{GroupId{group}, said});
}

CommandBody define_group(std::uint64_t number, std::uint64_t specs, std::uint32_t members) {
  DefineGroup define;
  define.identity.name = fmt::format("train-{}", number);
  define.identity.user = "ana";
  RoleSpec role;
  role.name = "worker";
  role.replicas = role.min = role.max = members;
  TaskTerm term;
  term.requests = {{"cpu", kCore}};
  role.tasks = {term};
  define.spec.roles = {role};
  define.spec.run_limit = seconds(static_cast<std::int64_t>(3'600 + number % specs));
  define.spec.ttl_after_finished = Duration{};
  return define;
}

std::vector<Command> cluster(std::uint64_t members) {
  std::vector<Command> commands;
  for (std::uint64_t host = 0; host <= members / kMembersPerHost; ++host) {
    SetHost set;
    set.info.name = fmt::format("n{}", host + 1);
    set.info.counters = {{"cpu", std::int64_t{kMembersPerHost} * kCore}};
    commands.push_back(command(Actor::User, std::move(set)));
  }
  return commands;
}

Result<void> live(std::uint64_t groups, Life life, std::uint64_t specs, const Take& take) {
  for (std::uint64_t first = 1; first <= groups; first += kWindow) {
    const std::uint64_t after = std::min(first + kWindow, groups + 1);
    const auto step = [&](const std::function<void(std::vector<Command>&, std::uint64_t)>& make) {
      std::vector<Command> batch;
      for (std::uint64_t group = first; group < after; ++group) make(batch, group);
      return take(batch);
    };
    const auto all_report = [&](ReportKind kind, std::uint64_t sequence) {
      return step([&](auto& batch, std::uint64_t group) {
        for (std::uint32_t index = 0; index < kMembers; ++index) batch.push_back(report(group, index, kind, sequence));
      });
    };
    LOCKSTEP_TRY(step(
        [&](auto& batch, std::uint64_t group) { batch.push_back(command(Actor::User, define_group(group, specs))); }));
    LOCKSTEP_TRY(step([&](auto& batch, std::uint64_t group) {
      const std::uint64_t place_in = life == Life::UntilEnd ? group - first : group - 1;  // ended ones make room
      batch.push_back(place(group, kMembers, place_in * kMembers));
    }));
    if (life == Life::UntilPlaced) continue;
    LOCKSTEP_TRY(all_report(ReportKind::Armed, 1));
    LOCKSTEP_TRY(all_report(ReportKind::Started, 2));
    if (life == Life::UntilEnd) LOCKSTEP_TRY(all_report(ReportKind::Exit, 3));
  }
  return {};
}

Result<void> place_big_group(std::uint64_t group, std::uint32_t members, const Take& take) {
  LOCKSTEP_TRY(take({command(Actor::User, define_group(group, kSpecs, members))}));
  return take({place(group, members, (group - 1) * members)});
}

Result<void> report_at_random(std::uint64_t groups, std::uint32_t members, std::uint64_t count, const Take& take) {
  std::vector<std::uint64_t> order(groups * members);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::mt19937_64 random(1);
  std::vector<Command> batch;
  for (const ReportKind kind : {ReportKind::Armed, ReportKind::Started}) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::uint64_t at : order) {
      if (count-- == 0) return batch.empty() ? Result<void>{} : take(batch);
      const std::uint64_t sequence = kind == ReportKind::Armed ? 1 : 2;
      batch.push_back(report(1 + at / members, static_cast<std::uint32_t>(at % members), kind, sequence));
      if (batch.size() < kBatch) continue;
      LOCKSTEP_TRY(take(batch));
      batch.clear();
    }
    if (!batch.empty()) LOCKSTEP_TRY(take(batch));
    batch.clear();
  }
  return {};
}

}  // namespace lockstep::bench
