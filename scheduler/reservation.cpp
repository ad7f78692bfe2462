#include "scheduler/reservation.h"

#include <algorithm>

#include "scheduler/partial.h"
#include "statemachine/capacity.h"
#include "statemachine/fit_shape.h"

namespace lockstep::scheduler_detail {

namespace {

constexpr std::size_t kSitesMax = 64;  // domains that are compared

}  // namespace

Time projected_in(const std::vector<Ending>& ends, Time now, CapacityView& later, const Group& group,
                  const std::vector<RoleDemand>& demand, const std::string& domain) {
  const auto fits = [&] { return fits_in(later, *group.spec, demand, domain); };
  if (fits()) return now;
  WhatIf ended(later);
  std::size_t fails = 0;
  std::size_t works = ends.size() + 1;
  while (works - fails > 1) {
    const std::size_t middle = fails + (works - fails) / 2;
    ended.rewind(0);
    for (std::size_t i = 0; i < middle; ++i) ended.give(ends[i].holdings);
    (fits() ? works : fails) = middle;
  }
  return works > ends.size() ? Time{} : ends[works - 1].end;
}

std::vector<MemberPlacement> hold_now(const CapacityView& view, const Group& group, std::vector<RoleDemand> demand,
                                      const std::string& domain) {
  for (RoleDemand& each : demand) each.spares = 0;
  return as_many_as_fit(view, *group.spec, demand, domain).members;
}

std::vector<Site> sites(const CapacityView& up, const CapacityView& view, const Group& group,
                        const std::vector<RoleDemand>& demand) {
  std::vector<Site> found;
  for (const Domain& domain : fit_detail::group_domains(up, *group.spec, Require::AsSaid, {})) {
    if (found.size() == kSitesMax) break;
    const std::string path = up.path(domain);
    if (!fits_in(up, *group.spec, demand, path)) continue;
    found.push_back({path, hold_now(view, group, demand, path).size()});
  }
  return found;
}

const Site* completes_first(const std::vector<Site>& sites, const std::vector<Ending>& ends, Time now,
                            CapacityView& later, const Group& group, const std::vector<RoleDemand>& demand) {
  const Site* best = nullptr;
  Time best_end{};
  for (const Site& each : sites) {
    const Time end = projected_in(ends, now, later, group, demand, each.domain);
    const bool known = end.value != 0;
    const bool sooner = known && (!best_end || end < best_end);
    const bool alike = known ? end == best_end : !best_end;
    if (best != nullptr && !sooner && !(alike && each.now > best->now)) continue;
    best = &each;
    best_end = end;
  }
  return best;
}

}  // namespace lockstep::scheduler_detail
