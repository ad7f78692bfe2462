// One pass: the groups that want hosts, in their total order, each as far as it gets: a placement on what is free, else
// on what weaker reservations hold or stronger ones lend, else an eviction of others, else a reservation.

#include "scheduler/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "scheduler/cluster.h"
#include "scheduler/ends.h"
#include "scheduler/open.h"
#include "scheduler/partial.h"
#include "scheduler/reservation.h"
#include "scheduler/victims.h"
#include "statemachine/capacity.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

using scheduler_detail::as_many_as_fit;
using scheduler_detail::Cluster;
using scheduler_detail::Ends;
using scheduler_detail::Holding;
using scheduler_detail::holdings_of;
using scheduler_detail::Open;
using scheduler_detail::OpenReservations;
using scheduler_detail::WhatIf;

class Pass {
 public:
  Pass(const State& state, const ScheduleOptions& options, Cluster& cluster)
      : state_(state),
        options_(options),
        now_(std::max(options.now, state.head.time)),
        cluster_(cluster),
        view_(cluster.free()),
        plan_{state.head.seq, {}},
        open_(state),
        ends_(state, now_) {
    for (const Open& each : open_.all()) {
      if (!each.preempts) ++open_in_queue_[each.group->head.identity.queue];
    }
  }

  Plan run() {
    const auto& going_on = state_.indexes.goes_on;
    auto next = going_on.begin();
    for (const auto& [shape, groups] : state_.indexes.pending) waiting_.emplace(*groups.begin(), &groups);
    while (plan_.actions.size() < options_.actions_max && (next != going_on.end() || !waiting_.empty())) {
      if (waiting_.empty() || (next != going_on.end() && *next < waiting_.begin()->first)) {
        go_on(*state_.group((next++)->group));
        continue;
      }
      const auto [key, alike] = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      if (place(*state_.group(key.group)))
        wait_on(*alike, key);
      else
        failed_.emplace_back(key, alike);
    }
    put_in_order();
    return std::move(plan_);
  }

 private:
  using Alike = std::set<OrderKey>;  // Pending groups of one shape

  // The next of a shape whose last group was `key`.
  void wait_on(const Alike& alike, const OrderKey& key) {
    if (const auto next = alike.upper_bound(key); next != alike.end()) waiting_.emplace(*next, &alike);
  }

  // More is free than when groups of some shapes failed.
  void ask_again() {
    waiting_.insert(failed_.begin(), failed_.end());
    failed_.clear();
  }

  // What gives something back comes before what may take it: releases and evictions, then reservations that change or
  // become placements, then the others, each in the order in which they were decided.
  void put_in_order() {
    const auto rank = [&](const PlanAction& action) {
      if (std::holds_alternative<ReleaseAction>(action) || std::holds_alternative<EvictAction>(action)) return 0;
      const auto* place = std::get_if<PlaceAction>(&action);
      const auto* reserve = std::get_if<ReserveAction>(&action);
      if (place == nullptr && reserve == nullptr) return 2;
      const Group* group = state_.group(place != nullptr ? place->group : reserve->group);
      return group->head.phase == GroupPhase::Reserving ? 1 : 2;
    };
    std::stable_sort(plan_.actions.begin(), plan_.actions.end(),
                     [&](const PlanAction& a, const PlanAction& b) { return rank(a) < rank(b); });
  }

  void go_on(const Group& group) {
    if (group.head.phase == GroupPhase::Reserving) {
      complete(group);
    } else if (!replace(group)) {
      grow(group);
    }
  }

  // ---- what is asked
  Fit try_fit(const Group& group, const std::vector<RoleDemand>& demand, std::string_view inside) const {
    return best_fit(view_, *group.spec, demand, inside);
  }

  // ---- a group that waits for all its hosts
  // All or nothing (where nobody is left to run, nothing is all of it); with `partial` the mins of all roles or
  // nothing, then as many more as fit. False: nothing came of it, nor would for others of its shape.
  bool place(const Group& group) {
    const std::vector<RoleDemand> wanted = whole_demand(group);
    if (const Fit found = try_fit(group, wanted, {}); found.fits) return add_placement(group, found);
    const std::vector<RoleDemand> least = group.spec->partial ? whole_demand(group, true) : wanted;
    if (group.spec->partial) {
      if (Fit found = try_fit(group, least, {}); found.fits) {
        return add_placement(group, as_many_as_fit(view_, *group.spec, least, wanted, {}, std::move(found)));
      }
    }
    const auto add = [&](Fit found) {
      if (group.spec->partial) found = as_many_as_fit(view_, *group.spec, least, wanted, {}, std::move(found));
      add_placement(group, found);
    };
    return take_from_weaker(group, least, {}, add) || borrow(group, least, wanted) || preempt(group, least) ||
           reserve(group, least);
  }

  bool add_placement(const Group& group, const Fit& found) {
    view_.take(*group.spec, found.members, found.spares);
    ends_.placed(group, std::get<PlaceAction>(plan_.actions.emplace_back(
                            PlaceAction{group.head.id, found.domain, found.members, found.spares})));
    return true;
  }

  // ---- reservations that are open
  void complete(const Group& group) {
    Open* open = open_.of(group);
    if (open == nullptr) return;  // taken by a stronger group in this pass
    // It has lent something in this pass, and others may have taken what was left over of it: the next one goes on.
    if (find_reserve_action(group) != nullptr) return;
    const std::vector<RoleDemand> wanted = least_demand(group);
    {
      WhatIf own(view_);
      own.give(open->holdings());
      const auto finish = [&](Fit found) {
        own.keep();
        close(group);
        if (group.spec->partial) {
          found = as_many_as_fit(view_, *group.spec, wanted, whole_demand(group), group.head.domain, std::move(found));
        }
        add_placement(group, found);
        ask_again();  // it may need less than it held
      };
      if (Fit found = try_fit(group, wanted, group.head.domain); found.fits) return finish(std::move(found));
      // What those behind it hold must not keep it from being complete: two would wait for each other.
      if (take_from(open_.later_than(group), group, wanted, group.head.domain, finish)) return;
    }
    if (!fits_in(cluster_.up(), *group.spec, wanted, group.head.domain)) {
      return release(group, ReservationEnd::HostsLost);
    }
    std::vector<MemberPlacement> members = more_of(*open);
    if (!members.empty()) return hold(*open, std::move(members));
    // Others may have come or gone since its end was projected. What could be any moment now is not worth an event.
    const Time now_projected = projected(*open);
    if (now_projected == group.head.projected || now_projected == now_) return;
    reserve_action(group).projected = now_projected;
  }

  // What it could hold now beyond what it holds.
  [[nodiscard]] std::vector<MemberPlacement> more_of(const Open& open) const {
    std::vector<RoleDemand> missing = least_demand(*open.group);
    for (RoleDemand& each : missing) {
      each.inside = role_domain(state_, *open.group, each.role);
      std::erase_if(each.indexes, [&](std::uint32_t index) { return open.held.contains({each.role, index}); });
    }
    return scheduler_detail::hold_now(view_, *open.group, std::move(missing), open.domain);
  }

  // Adds members to what a reservation holds.
  void hold(Open& open, std::vector<MemberPlacement> members) {
    for (const MemberPlacement& each : members) view_.take(*open.group->spec, each.member.role, each.slices);
    ReserveAction& action = reserve_action(*open.group);
    action.domain = open.domain;
    action.members = std::move(members);
    for (const MemberPlacement& each : action.members) open.held[each.member] = &each.slices;
    action.projected = projected(open);
  }

  // Nobody knows how long those take to stop that are evicted for it.
  Time projected(const Open& open) {
    if (open.preempts) return {};
    WhatIf later(view_);
    let_leave(later, *open.group);
    later.give(open.holdings());
    return scheduler_detail::projected_in(ends_.in_order(), now_, view_, *open.group, least_demand(*open.group), open.domain);
  }

  // What its reservation is for: the mins with `partial`.
  static std::vector<RoleDemand> least_demand(const Group& group) { return whole_demand(group, group.spec->partial); }

  // ---- what will be free without anybody's doing
  // What is leaving, less what the reservations before `group` will take of it.
  void let_leave(WhatIf& later, const Group& group) {
    const std::size_t nothing = later.mark();
    for (const GroupId other : state_.indexes.owing) later.give(scheduler_detail::leaving(*state_.group(other)));
    later.give(evicted_);
    if (later.mark() == nothing) return;
    for (const Open& open : open_.all()) {
      if (!(open.group->indexed.order < group.indexed.order)) break;
      const std::size_t before = later.mark();
      later.give(open.holdings());
      Fit whole = try_fit(*open.group, least_demand(*open.group), open.domain);
      if (!whole.fits) {
        later.rewind(before);
        whole.members = more_of(open);
      }
      later.take(*open.group->spec, std::move(whole));
    }
  }

  void close(const Group& group) {
    open_.remove(group);
    std::erase_if(plan_.actions, [&](const PlanAction& action) {
      const auto* reserve = std::get_if<ReserveAction>(&action);
      return reserve != nullptr && reserve->group == group.head.id;
    });
  }

  ReserveAction* find_reserve_action(const Group& group) {
    for (PlanAction& action : plan_.actions) {
      auto* reserve = std::get_if<ReserveAction>(&action);
      if (reserve != nullptr && reserve->group == group.head.id) return reserve;
    }
    return nullptr;
  }

  // The one action about a reservation in this plan.
  ReserveAction& reserve_action(const Group& group) {
    if (ReserveAction* known = find_reserve_action(group)) return *known;
    plan_.actions.emplace_back(ReserveAction{.group = group.head.id, .projected = group.head.projected});
    return std::get<ReserveAction>(plan_.actions.back());
  }

  // ---- what weaker reservations hold
  void release(const Group& group, ReservationEnd why) {
    for (const Holding& each : open_.of(group)->holdings()) view_.give(*each.spec, each.role, *each.slices);
    close(group);
    plan_.actions.emplace_back(ReleaseAction{group.head.id, why});
    ask_again();
  }

  // Whoever has a strictly higher priority may take it; taking any of it releases all of it.
  template <class Done>
  bool take_from_weaker(const Group& group, const std::vector<RoleDemand>& demand, std::string_view inside,
                        Done&& done) {
    return take_from(open_.weaker_than(group), group, demand, inside, done);
  }

  // From as few of them as it comes to, the first of `weaker` first.
  template <class Done>
  bool take_from(std::vector<const Group*> weaker, const Group& group, const std::vector<RoleDemand>& demand,
                 std::string_view inside, Done&& done) {
    if (weaker.empty()) return false;
    WhatIf given(view_);
    std::size_t needed = 0;
    Fit found;
    while (!found.fits && needed < weaker.size()) {
      given.give(open_.of(*weaker[needed++])->holdings());
      found = try_fit(group, demand, inside);
    }
    if (!found.fits) return false;
    weaker.resize(needed);
    for (std::size_t i = weaker.size() - 1; i-- > 0;) {  // was an earlier one given in vain?
      std::vector<const Group*> fewer = weaker;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      given.rewind(0);
      for (const Group* each : fewer) given.give(open_.of(*each)->holdings());
      if (Fit without = try_fit(group, demand, inside); without.fits) {
        weaker = std::move(fewer);
        found = std::move(without);
      }
    }
    given.rewind(0);
    for (const Group* each : weaker) release(*each, ReservationEnd::Taken);
    done(found);
    return true;
  }

  // ---- what reservations lend
  // To a group that ends before they should be complete, and so delays none of them.
  bool borrow(const Group& group, const std::vector<RoleDemand>& demand, const std::vector<RoleDemand>& wanted) {
    if (group.spec->run_limit.value <= 0) return false;
    const Time end = now_ + group.spec->run_limit;
    WhatIf given(view_);
    std::vector<Open*> lenders;
    for (Open& open : open_.all()) {
      const Time projected = projected_of(open);
      if (open.held.empty() || !projected || projected <= end) continue;
      given.give(open.holdings());
      lenders.push_back(&open);
    }
    if (lenders.empty()) return false;
    Fit found = try_fit(group, demand, {});
    if (!found.fits) return false;
    if (group.spec->partial) found = as_many_as_fit(view_, *group.spec, demand, wanted, {}, std::move(found));
    given.keep();
    add_placement(group, found);
    for (Open* lender : lenders) take_again(*lender);
    return true;
  }

  [[nodiscard]] Time projected_of(const Open& open) {
    const ReserveAction* action = find_reserve_action(*open.group);
    return action != nullptr ? action->projected : open.group->head.projected;
  }

  // A lender keeps what is not in use now; the rest is lent.
  void take_again(Open& lender) {
    std::vector<MemberKey> lent;
    for (const auto& [key, slices] : lender.held) {
      if (view_.take(*lender.group->spec, key.role, *slices)) continue;
      view_.give(*lender.group->spec, key.role, *slices);
      lent.push_back(key);
    }
    if (lent.empty()) return;
    ReserveAction& action = reserve_action(*lender.group);
    for (const MemberKey& key : lent) {
      lender.held.erase(key);
      const auto fresh = std::find_if(action.members.begin(), action.members.end(),
                                      [&](const MemberPlacement& each) { return each.member == key; });
      if (fresh == action.members.end())
        action.lost.push_back(key);
      else
        unhold(lender, action, *fresh);
    }
  }

  // A member that this pass itself had reserved. The others of the action move, and with them what the lender refers
  // to.
  static void unhold(Open& lender, ReserveAction& action, const MemberPlacement& fresh) {
    action.members.erase(action.members.begin() + (&fresh - action.members.data()));
    for (const MemberPlacement& each : action.members) lender.held[each.member] = &each.slices;
  }

  // ---- evictions
  // With the eviction the group opens a reservation that holds the free part of the plan. What weaker reservations hold
  // is free to it; those that the plan needs are released.
  bool preempt(const Group& group, const std::vector<RoleDemand>& demand) {
    const std::vector<scheduler_detail::Unit>& units = units_below(group.spec->priority);
    if (units.empty()) return false;
    const std::vector<const Group*> weaker = open_.weaker_than(group);
    scheduler_detail::Victims victims;
    std::vector<const Group*> released;
    {
      WhatIf later(view_);
      let_leave(later, group);
      for (const Group* each : weaker) later.give(open_.of(*each)->holdings());
      if (fits_in(view_, *group.spec, demand, {})) return false;  // it has only to wait
      victims = scheduler_detail::find_victims(view_, group, demand, units);
      if (victims.evictions.empty()) return false;
      released = not_beside(victims, group, weaker);
    }
    for (const Group* each : released) release(*each, ReservationEnd::Taken);
    for (EvictAction& eviction : victims.evictions) {
      changed_.insert(eviction.group);
      ends_.evicted(eviction.group);
      plan_.actions.emplace_back(std::move(eviction));
    }
    evicted_.insert(evicted_.end(), victims.freed.begin(), victims.freed.end());
    units_.clear();
    std::vector<MemberPlacement> free_part;
    for (MemberPlacement& each : victims.fit.members) {
      if (view_.take(*group.spec, each.member.role, each.slices)) {
        free_part.push_back(std::move(each));
      } else {
        view_.give(*group.spec, each.member.role, each.slices);
      }
    }
    for (const MemberPlacement& each : free_part) view_.give(*group.spec, each.member.role, each.slices);
    open_reservation({&group, true, victims.fit.domain, {}}, std::move(free_part));
    return true;
  }

  // Of `weaker` reservations, whose holdings are given back in the view, those that have no room beside the plan.
  std::vector<const Group*> not_beside(const scheduler_detail::Victims& victims, const Group& group,
                                       const std::vector<const Group*>& weaker) {
    if (weaker.empty()) return {};
    CapacityView then = view_;
    const auto give = [&](const std::vector<Holding>& holdings) {
      for (const Holding& each : holdings) then.give(*each.spec, each.role, *each.slices);
    };
    give(victims.freed);
    then.take(*group.spec, victims.fit.members, victims.fit.spares);
    std::vector<const Group*> released;
    for (auto each = weaker.rbegin(); each != weaker.rend(); ++each) {
      const std::vector<Holding> holdings = open_.of(**each)->holdings();
      bool beside = true;
      for (const Holding& holding : holdings)
        beside = then.take(*holding.spec, holding.role, *holding.slices) && beside;
      if (beside) continue;
      give(holdings);
      released.push_back(*each);
    }
    return released;
  }

  // Not those of groups that this pass changes: they are evicted already, or another group than the state says.
  const std::vector<scheduler_detail::Unit>& units_below(std::int32_t priority) {
    auto [entry, fresh] = units_.try_emplace(priority);
    if (fresh) {
      entry->second = scheduler_detail::units_below(state_, now_, priority);
      std::erase_if(entry->second,
                    [&](const scheduler_detail::Unit& unit) { return changed_.contains(unit.group->head.id); });
    }
    return entry->second;
  }

  // ---- new reservations
  bool reserve(const Group& group, const std::vector<RoleDemand>& demand) {
    if (group.spec->mode != PlacementMode::Reserve) return false;
    if (open_in_queue_[group.head.identity.queue] >= options_.reservations_max_per_queue) return false;
    const std::vector<scheduler_detail::Site> sites = scheduler_detail::sites(cluster_.up(), view_, group, demand);
    const scheduler_detail::Site* site = nullptr;
    {
      WhatIf later(view_);
      let_leave(later, group);
      site = scheduler_detail::completes_first(sites, ends_.in_order(), now_, view_, group, demand);
    }
    if (site == nullptr) return false;
    ++open_in_queue_[group.head.identity.queue];
    open_reservation({&group, false, site->domain, {}},
                     scheduler_detail::hold_now(view_, group, demand, site->domain));
    return true;
  }

  void open_reservation(Open open, std::vector<MemberPlacement> members) {
    ReserveAction& action = reserve_action(*open.group);
    action.domain = open.domain;
    Open& here = open_.add(std::move(open));
    if (members.empty())
      action.projected = projected(here);
    else
      hold(here, std::move(members));
  }

  // ---- groups that go on
  // Members that wait inside a group that goes on: as many as fit, by role and index, in the promised domain. True when
  // there is an action for the group, which then gets no second one: that would meet another group than it is made for.
  bool replace(const Group& group) {
    const std::vector<RoleDemand> wanted = waiting_demand(state_, group);
    if (wanted.empty()) return false;
    const auto add = [&](const Fit& found) {
      view_.take(*group.spec, found.members, found.spares);
      plan_.actions.emplace_back(ReplaceAction{group.head.id, found.members});
      changed_.insert(group.head.id);
    };
    Fit found = try_fit(group, wanted, group.head.domain);
    if (!found.fits) {
      found = as_many_as_fit(view_, *group.spec, wanted, group.head.domain);
      const std::vector<RoleDemand> more = with_weaker(group, wanted, found.members.size());
      if (!more.empty() && take_from_weaker(group, more, group.head.domain, add)) return true;
    }
    if (!found.fits || found.members.empty()) return false;
    add(found);
    return true;
  }

  // As much of `wanted` as fits when weaker reservations are gone; empty: no more than `without` members.
  std::vector<RoleDemand> with_weaker(const Group& group, std::vector<RoleDemand> wanted, std::size_t without) {
    const std::vector<const Group*> weaker = open_.weaker_than(group);
    if (weaker.empty()) return {};
    WhatIf given(view_);
    for (const Group* each : weaker) given.give(open_.of(*each)->holdings());
    const Fit found = as_many_as_fit(view_, *group.spec, wanted, group.head.domain);
    if (found.members.size() <= without) return {};
    for (RoleDemand& each : wanted) {
      std::erase_if(each.indexes, [&](std::uint32_t index) {
        return std::none_of(found.members.begin(), found.members.end(), [&](const MemberPlacement& placed) {
          return placed.member == MemberKey{each.role, index};
        });
      });
    }
    return wanted;
  }

  // A pending resize: all that it adds, or nothing. Of several the first that fits; the next pass goes on.
  void grow(const Group& group) {
    if (group.head.phase != GroupPhase::Running) return;
    for (RoleIndex role = 0; role < group.roles.size(); ++role) {
      const std::vector<RoleDemand> added = growth_demand(state_, group, role);
      if (added.empty()) continue;
      const auto add = [&](const Fit& found) {
        view_.take(*group.spec, found.members, found.spares);
        plan_.actions.emplace_back(GrowAction{group.head.id, role, found.members});
        changed_.insert(group.head.id);
      };
      const Fit found = try_fit(group, added, group.head.domain);
      if (found.fits) return add(found);
      if (take_from_weaker(group, added, group.head.domain, add)) return;
    }
  }

  const State& state_;
  const ScheduleOptions& options_;
  Time now_;
  Cluster& cluster_;
  CapacityView& view_;  // what is free; what the pass does with it stays in it
  Plan plan_;
  std::map<OrderKey, const Alike*> waiting_;  // the next of each shape that may still fit
  std::vector<std::pair<OrderKey, const Alike*>> failed_;
  OpenReservations open_;
  Ends ends_;
  std::map<std::string, std::uint32_t> open_in_queue_;
  std::map<std::int32_t, std::vector<scheduler_detail::Unit>> units_;  // by priority that asks
  std::set<GroupId> changed_;                                          // active groups with an action
  std::vector<Holding> evicted_;                                       // what evictions of this pass will set free
};

}  // namespace

Plan plan(const State& state, const ScheduleOptions& options) {
  scheduler_detail::Cluster cluster(state);
  return Pass(state, options, cluster).run();
}

Scheduler::Scheduler() = default;
Scheduler::Scheduler(const ScheduleOptions& options) : options_(options) {}
Scheduler::~Scheduler() = default;

Plan Scheduler::plan(const State& state, Time now) {
  if (cluster_ == nullptr || !cluster_->is_of(state))
    cluster_ = std::make_unique<scheduler_detail::Cluster>(state);
  else
    cluster_->follow();
  options_.now = now;
  return Pass(state, options_, *cluster_).run();
}

}  // namespace lockstep
