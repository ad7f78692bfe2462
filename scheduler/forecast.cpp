#include "scheduler/forecast.h"

#include <algorithm>

#include "scheduler/partial.h"
#include "statemachine/fit_shape.h"

namespace lockstep::scheduler_detail {

namespace {

constexpr std::size_t kSitesMax = 64;  // domains whose members are counted one by one when ends do not tell

// How many members of `demand` the sums of a domain have room for, one role beside the other.
std::int64_t room_of(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                     const Domain& domain) {
  std::int64_t room = 0;
  for (const RoleDemand& each : demand) {
    auto members = static_cast<std::int64_t>(each.indexes.size());
    for (const TaskTerm& term : spec.roles[each.role].tasks) {
      for (const Counter& request : term.requests) {
        const CounterPlace place = view.place(request.name);
        const std::int64_t amount = saturating_times(request.amount, term.count);
        if (place.kind != CounterPlace::Kind::Host || amount <= 0) continue;
        members = std::min(members, view.sum(domain, place.column) / amount);
      }
    }
    room = saturating_plus(room, members);
  }
  return room;
}

// How many tasks of a group a host has room for, in thousandths of one; all kinds of its tasks added up.
std::int64_t room_on(const CapacityView& view, const GroupSpec& spec, std::uint32_t row) {
  constexpr std::int64_t kWhole = 1'000;
  std::int64_t room = 0;
  for (const RoleSpec& role : spec.roles) {
    for (const TaskTerm& term : role.tasks) {
      if (!matches(term.select, view.host(row).facts.info)) continue;
      std::int64_t tasks = std::int64_t{kWhole} << 20U;
      for (const Counter& request : term.requests) {
        const CounterPlace place = view.place(request.name);
        if (place.kind != CounterPlace::Kind::Host || request.amount <= 0) continue;
        tasks = std::min(tasks, saturating_times(view.free(row, place.column), kWhole) / request.amount);
      }
      room = saturating_plus(room, tasks);
    }
  }
  return room;
}

// The fewest of `count` things with which `works` says yes, as it does with any more than these; none: not even with
// all.
template <class Works>
std::optional<std::size_t> fewest(std::size_t count, Works works) {
  std::size_t fails = 0;
  std::size_t enough = count + 1;
  while (enough - fails > 1) {
    const std::size_t middle = fails + (enough - fails) / 2;
    (works(middle) ? enough : fails) = middle;
  }
  return enough > count ? std::nullopt : std::optional(enough);
}

void merge(Fit& fit, std::vector<MemberPlacement> members) {
  fit.members.insert(fit.members.end(), std::make_move_iterator(members.begin()),
                     std::make_move_iterator(members.end()));
  std::sort(fit.members.begin(), fit.members.end());
}

}  // namespace

std::vector<RoleDemand> reserved_demand(const Group& group) { return whole_demand(group, group.spec->partial); }

void Forecast::let_leave(WhatIf& later, const Group& group) {
  for (const GroupId other : state_.indexes.owing) later.give(leaving(*state_.group(other)));
  later.give(leaving_);
  for (const Open& open : open_.all()) {
    if (!(open.group->indexed.order < group.indexed.order)) break;
    later.give(open.withheld);
    later.take(*open.group->spec, open.target);
  }
}

std::optional<std::size_t> Forecast::ends_needed(const Group& group, const std::vector<RoleDemand>& demand,
                                                 const std::string& inside) {
  CapacityView& view = cluster_.free();
  const auto fits = [&] { return fits_in(view, *group.spec, demand, inside); };
  if (fits()) return 0;
  const std::vector<Ending>& ends = ends_.in_order();
  WhatIf ended(view);
  auto needed = fewest(ends.size(), [&](std::size_t count) {
    ended.rewind(0);
    give_ends(ended, count);
    return fits();
  });
  while (needed && *needed < ends.size() && ends[*needed].end == ends[*needed - 1].end) ++*needed;  // at the same time
  return needed;
}

void Forecast::give_ends(WhatIf& later, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) later.give(ends_.in_order()[i].holdings);
}

Time Forecast::time_of(std::size_t needed) { return needed == 0 ? now_ : ends_.in_order()[needed - 1].end; }

Time Forecast::projected(const Open& open) {
  if (open.preempts) return {};
  WhatIf later(cluster_.free());
  let_leave(later, *open.group);
  later.give(open.holdings());
  const auto needed = ends_needed(*open.group, reserved_demand(*open.group), open.domain);
  return needed ? time_of(*needed) : Time{};
}

// ---- where it goes on ----------------------------------------------------------------------------------------------

// A role that requires a domain of its own stays where its first member is.
void Forecast::pin(const Group& group, std::vector<RoleDemand>& demand,
                   const std::vector<MemberPlacement>& members) const {
  for (RoleDemand& each : demand) {
    if (!each.inside.empty()) continue;
    const auto first = std::find_if(members.begin(), members.end(),
                                    [&](const MemberPlacement& placed) { return placed.member.role == each.role; });
    if (first != members.end()) each.inside = role_domain(state_, group.spec->roles[each.role], first->slices);
  }
}

std::vector<RoleDemand> Forecast::missing(const Open& open) const {
  std::vector<RoleDemand> demand = reserved_demand(*open.group);
  for (RoleDemand& each : demand) {
    const auto first = open.held.lower_bound({each.role, 0});
    if (first != open.held.end() && first->first.role == each.role)
      each.inside = role_domain(state_, open.group->spec->roles[each.role], *first->second);
    std::erase_if(each.indexes, [&](std::uint32_t index) { return open.held.contains({each.role, index}); });
  }
  return demand;
}

std::vector<MemberPlacement> Forecast::hold_now(const Group& group, std::vector<RoleDemand> demand,
                                                const std::string& domain) const {
  for (RoleDemand& each : demand) each.spares = 0;
  return as_many_as_fit(cluster_.free(), *group.spec, demand, domain).members;
}

Aim Forecast::aim(const Open& open) {
  const Group& group = *open.group;
  const std::vector<MemberPlacement> now = hold_now(group, missing(open), open.domain);
  CapacityView& view = cluster_.free();
  std::vector<Pieces> hosts;  // outlives what is given of it
  WhatIf later(view);
  let_leave(later, group);
  const std::size_t held = later.mark();
  later.give(open.holdings());
  const auto needed = ends_needed(group, reserved_demand(group), open.domain);
  later.rewind(held);
  give_ends(later, needed ? *needed : ends_.in_order().size());
  Aim aim;
  if (needed) {
    aim = aim_in(view, open, now);
    if (!open.preempts) aim.projected = time_of(*needed);
  } else if (hosts = used_by_host(open); empty_hosts(later, open, hosts)) {
    aim = aim_in(view, open, now);
  } else {  // those before it need so much
    WhatIf empty(cluster_.up());
    empty.take(open.holdings());
    aim = aim_in(cluster_.up(), open, now);
  }
  if (aim.held == Aim::Held::InTheWay && holds_in_vain(open)) aim.held = Aim::Held::InVain;
  return aim;
}

bool Forecast::holds_in_vain(const Open& open) const {
  if (open.held.empty()) return false;
  WhatIf empty(cluster_.up());
  empty.take(open.holdings());
  return !fits_in(cluster_.up(), *open.group->spec, missing(open), open.domain);
}

// What is used of each host of its domain, and not by it, nor by those before it or for them: those hosts first that
// have most room for it as it is. What is used of the pools goes with the first.
std::vector<Forecast::Pieces> Forecast::used_by_host(const Open& open) {
  const CapacityView& view = cluster_.free();
  CapacityView& up = cluster_.up();
  const auto domain = up.find(open.domain, open.group->spec->topology.required == "host");
  if (!domain) return {};
  WhatIf empty(up);
  empty.take(open.holdings());
  for (const Open& other : open_.all()) {
    if (!(other.group->indexed.order < open.group->indexed.order)) break;
    empty.take(other.holdings());
    empty.take(*other.group->spec, other.target);
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;
  for (std::uint32_t row = domain->rows.first; row < domain->rows.after; ++row) {
    if (up.open(row)) order.emplace_back(-room_on(view, *open.group->spec, row), row);
  }
  std::sort(order.begin(), order.end());
  std::vector<Pieces> hosts;
  for (const auto& [room, row] : order) {
    Pieces& host = hosts.emplace_back();
    const auto add = [&](std::uint32_t of, std::uint32_t column) {
      const std::int64_t used = up.balance(of, column) - view.balance(of, column);
      if (used > 0) host.push_back({of, column, used});
    };
    for (const std::uint32_t column : up.columns_by_name()) add(row, column);
    for (std::uint32_t pool = 0; hosts.size() == 1 && pool < up.pool_count(); ++pool) add(kNoRow, pool);
  }
  return hosts;
}

// The first of `hosts` as if nothing of them were used, as many as it takes. False: not even all of them do.
bool Forecast::empty_hosts(WhatIf& later, const Open& open, const std::vector<Pieces>& hosts) {
  const std::vector<RoleDemand> demand = reserved_demand(*open.group);
  const std::size_t before = later.mark();
  const auto empty = [&](std::size_t count) {
    later.rewind(before);
    for (std::size_t i = 0; i < count; ++i) later.give(hosts[i]);
  };
  const auto needed = fewest(hosts.size(), [&](std::size_t count) {
    empty(count);
    later.give(open.holdings());
    return fits_in(cluster_.free(), *open.group->spec, demand, open.domain);
  });
  empty(needed.value_or(0));
  return needed.has_value();
}

// In `later`, where all of it fits once it gives back what it holds.
Aim Forecast::aim_in(CapacityView& later, const Open& open, const std::vector<MemberPlacement>& now) const {
  const GroupSpec& spec = *open.group->spec;
  const std::vector<RoleDemand> rest = missing(open);
  {
    Fit held_now;
    held_now.members = now;
    WhatIf with(later);
    with.take(spec, held_now);
    std::vector<RoleDemand> others = rest;
    pin(*open.group, others, now);
    for (RoleDemand& each : others) {
      std::erase_if(each.indexes, [&](std::uint32_t index) {
        return std::any_of(now.begin(), now.end(), [&](const MemberPlacement& placed) {
          return placed.member == MemberKey{each.role, index};
        });
      });
    }
    if (Fit fit = best_fit(later, spec, others, open.domain, Joining::Yes); fit.fits) {
      merge(fit, now);
      return {Aim::Held::PartOfIt, std::move(fit), {}};
    }
  }
  if (Fit fit = best_fit(later, spec, rest, open.domain, Joining::Yes); fit.fits)
    return {Aim::Held::PartOfIt, std::move(fit), {}};
  WhatIf own(later);
  own.give(open.holdings());
  return {Aim::Held::InTheWay, best_fit(later, spec, reserved_demand(*open.group), open.domain, Joining::No), {}};
}

// ---- where it opens ------------------------------------------------------------------------------------------------

// Domains that hold `demand` of hosts with nothing on them: those with most room now, in path order.
std::vector<std::string> Forecast::worth_comparing(const Group& group, const std::vector<RoleDemand>& demand) {
  const CapacityView& up = cluster_.up();
  const CapacityView& view = cluster_.free();
  const std::vector<Domain> domains = fit_detail::group_domains(up, *group.spec, Require::AsSaid, {});
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < domains.size(); ++i)
    order.emplace_back(-room_of(view, *group.spec, demand, domains[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> taken;
  for (const auto& [room, i] : order) {
    if (taken.size() == kSitesMax) break;
    if (fits_in(up, *group.spec, demand, up.path(domains[i]))) taken.push_back(i);
  }
  std::sort(taken.begin(), taken.end());
  std::vector<std::string> paths;
  for (const std::size_t i : taken) paths.push_back(up.path(domains[i]));
  return paths;
}

std::string Forecast::site(const Group& group, const std::vector<RoleDemand>& demand) {
  CapacityView& view = cluster_.free();
  std::vector<std::string> sites;
  {
    WhatIf later(view);
    let_leave(later, group);
    if (const auto needed = ends_needed(group, demand, {})) {
      give_ends(later, *needed);
      for (const Domain& domain : fit_detail::group_domains(view, *group.spec, Require::AsSaid, {})) {
        const std::string path = view.path(domain);
        if (fits_in(view, *group.spec, demand, path)) sites.push_back(path);
      }
    }
  }
  if (sites.empty()) sites = worth_comparing(group, demand);
  std::string best;
  std::size_t most = 0;
  for (const std::string& site : sites) {
    const std::size_t now = sites.size() == 1 ? 0 : hold_now(group, demand, site).size();
    if (!best.empty() && now <= most) continue;
    best = site;
    most = now;
  }
  return best;
}

}  // namespace lockstep::scheduler_detail
