#include "scheduler/reservation.h"

#include <algorithm>

#include "scheduler/partial.h"
#include "statemachine/capacity.h"
#include "statemachine/fit_shape.h"

namespace lockstep::scheduler_detail {

namespace {

constexpr std::size_t kSitesMax = 64;  // domains that are compared

// Who will give something back, and when. Without a run limit, or beyond it, nobody knows.
struct Ending {
  Time end{};
  const Group* group{};
};

// What is leaving already ends now.
std::vector<Ending> endings(const State& state, Time now) {
  std::vector<Ending> found;
  state.groups.for_each([&](const Group& group) {
    const bool runs = is_active(group.head.phase) && group.spec->run_limit.value > 0;
    if (!runs) return;
    Time started{};
    for (const Role& role : group.roles) {
      for (const Member& member : role.members) {
        if (member.started_at && (!started || member.started_at < started)) started = member.started_at;
      }
    }
    const Time end = (started ? started : now) + group.spec->run_limit;
    if (end > now) found.push_back({end, &group});
  });
  std::sort(found.begin(), found.end(), [](const Ending& a, const Ending& b) {
    return std::pair(a.end, a.group->head.id) < std::pair(b.end, b.group->head.id);
  });
  return found;
}

Time projected_by(const std::vector<Ending>& ends, const State& state, Time now, CapacityView& view, const Group& group,
                  const std::vector<RoleDemand>& demand, const std::string& domain) {
  const auto fits = [&] { return fits_in(view, *group.spec, demand, domain); };
  WhatIf later(view);
  for (const GroupId other : state.indexes.owing) later.give(leaving(*state.group(other)));
  if (fits()) return now;
  const std::size_t before = later.mark();
  std::size_t fails = 0;
  std::size_t works = ends.size() + 1;
  while (works - fails > 1) {
    const std::size_t middle = fails + (works - fails) / 2;
    later.rewind(before);
    for (std::size_t i = 0; i < middle; ++i) later.give(staying(*ends[i].group));
    (fits() ? works : fails) = middle;
  }
  return works > ends.size() ? Time{} : ends[works - 1].end;
}

}  // namespace

Time projected_in(const State& state, Time now, CapacityView& view, const Group& group,
                  const std::vector<RoleDemand>& demand, const std::string& domain) {
  return projected_by(endings(state, now), state, now, view, group, demand, domain);
}

std::vector<MemberPlacement> hold_now(const CapacityView& view, const Group& group, std::vector<RoleDemand> demand,
                                      const std::string& domain) {
  for (RoleDemand& each : demand) each.spares = 0;
  return as_many_as_fit(view, *group.spec, demand, domain).members;
}

Site choose_site(const State& state, Time now, CapacityView& view, const Group& group,
                 const std::vector<RoleDemand>& demand) {
  const CapacityView empty(state, Capacity::Up);
  const GroupSpec& spec = *group.spec;
  struct Candidate {
    std::string domain;
    std::size_t now{};
  };
  std::vector<Candidate> candidates;
  for (const Domain& domain : fit_detail::group_domains(empty, spec, Require::AsSaid, {})) {
    if (candidates.size() == kSitesMax) break;
    const std::string path = empty.path(domain);
    if (!fits_in(empty, spec, demand, path)) continue;
    candidates.push_back({path, hold_now(view, group, demand, path).size()});
  }
  const std::vector<Ending> ends = endings(state, now);
  Site best;
  std::size_t most = 0;
  for (const Candidate& each : candidates) {
    const Time projected = projected_by(ends, state, now, view, group, demand, each.domain);
    const bool known = projected.value != 0;
    const bool sooner = known && (!best.projected || projected < best.projected);
    const bool alike = known ? projected == best.projected : !best.projected;
    if (!best.domain.empty() && !sooner && !(alike && each.now > most)) continue;
    best = {each.domain, projected};
    most = each.now;
  }
  return best;
}

}  // namespace lockstep::scheduler_detail
