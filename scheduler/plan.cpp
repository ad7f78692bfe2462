// One pass: the groups that want hosts, in their total order, each as far as it gets: a placement on what is free, else
// on what weaker reservations hold or stronger ones lend, else an eviction of others, else a reservation.

#include "scheduler/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "scheduler/cluster.h"
#include "scheduler/forecast.h"
#include "scheduler/open.h"
#include "scheduler/partial.h"
#include "scheduler/victims.h"
#include "statemachine/capacity.h"
#include "statemachine/fit.h"

namespace lockstep {

namespace {

using scheduler_detail::as_many_as_fit;
using scheduler_detail::Cluster;
using scheduler_detail::Forecast;
using scheduler_detail::Holding;
using scheduler_detail::Open;
using scheduler_detail::OpenReservations;
using scheduler_detail::reserved_demand;
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
        forecast_(state, now_, cluster, open_) {}

  Plan run() {
    const auto& going_on = state_.indexes.goes_on;
    next_ = going_on.begin();
    for (const auto& [shape, groups] : state_.indexes.pending) waiting_.emplace(*groups.begin(), &groups);
    while (plan_.actions.size() < options_.actions_max && (next_ != going_on.end() || !waiting_.empty())) {
      if (waiting_.empty() || (next_ != going_on.end() && *next_ < waiting_.begin()->first)) {
        go_on(*state_.group((next_++)->group));
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

  // More is free than when others were asked.
  void ask_again() {
    waiting_.insert(failed_.begin(), failed_.end());
    failed_.clear();
    next_ = state_.indexes.goes_on.begin();
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
    if (group.head.phase == GroupPhase::Reserving)
      complete(group);
    else if (!changed_.contains(group.head.id) && !replace(group))  // evicted in this pass: another group by then
      grow(group);
  }

  // ---- what is asked
  Fit try_whole(const Group& group, const std::vector<RoleDemand>& demand, std::string_view inside) const {
    return best_fit(view_, *group.spec, demand, inside, Joining::No);
  }
  Fit try_more(const Group& group, const std::vector<RoleDemand>& demand) const {
    return best_fit(view_, *group.spec, demand, group.head.domain, Joining::Yes);
  }

  // ---- a group that waits for all its hosts
  // All or nothing (where nobody is left to run, nothing is all of it); with `partial` the mins of all roles or
  // nothing, then as many more as fit. False: nothing came of it, nor would for others of its shape.
  bool place(const Group& group) {
    const std::vector<RoleDemand> wanted = whole_demand(group);
    if (const Fit found = try_whole(group, wanted, {}); found.fits) return add_placement(group, found);
    const std::vector<RoleDemand> least = group.spec->partial ? whole_demand(group, true) : wanted;
    if (group.spec->partial) {
      if (Fit found = try_whole(group, least, {}); found.fits) {
        return add_placement(group,
                             as_many_as_fit(view_, *group.spec, least, wanted, {}, Joining::No, std::move(found)));
      }
    }
    const auto add = [&](Fit found) {
      if (group.spec->partial)
        found = as_many_as_fit(view_, *group.spec, least, wanted, {}, Joining::No, std::move(found));
      add_placement(group, found);
    };
    return take_from_weaker(group, least, {}, Joining::No, add) || borrow(group, least, wanted) ||
           preempt(group, least) || reserve(group, least);
  }

  bool add_placement(const Group& group, const Fit& found) {
    view_.take(*group.spec, found.members, found.spares);
    forecast_.placed(group, std::get<PlaceAction>(plan_.actions.emplace_back(
                                PlaceAction{group.head.id, found.domain, found.members, found.spares})));
    return true;
  }

  // ---- reservations that are open
  void complete(const Group& group) {
    Open* open = open_.of(group);
    if (open == nullptr) return;  // taken by a stronger group in this pass
    view_.give(open->withheld);   // when it is asked again
    open->withheld.clear();
    // One that has lent in this pass goes on in the next: others may have taken what was left over of it.
    const bool has_lent = find_reserve_action(group) != nullptr;
    if (!has_lent && (place_reserved(*open) || release_if_hopeless(group))) return;
    take_aim(*open_.of(group), has_lent ? Holds::WhatItHas : Holds::WhatIsFree);
  }

  bool place_reserved(const Open& open) {
    const Group& group = *open.group;
    const std::vector<RoleDemand> wanted = reserved_demand(group);
    WhatIf own(view_);
    own.give(open.holdings());
    const auto finish = [&](Fit found) {
      own.keep();
      close(group);
      if (group.spec->partial) {
        found = as_many_as_fit(view_, *group.spec, wanted, whole_demand(group), group.head.domain, Joining::No,
                               std::move(found));
      }
      add_placement(group, found);
      ask_again();  // it may need less than it held
    };
    if (Fit found = try_whole(group, wanted, group.head.domain); found.fits) {
      finish(std::move(found));
      return true;
    }
    // What those behind it hold must not keep it from being complete: two would wait for each other.
    return take_from(open_.later_than(group), group, wanted, group.head.domain, Joining::No, finish);
  }

  bool release_if_hopeless(const Group& group) {
    if (fits_in(cluster_.up(), *group.spec, reserved_demand(group), group.head.domain)) return false;
    release(group, ReservationEnd::HostsLost);
    return true;
  }

  enum class Holds : std::uint8_t { WhatItHas, WhatIsFree };

  // From now on it holds what is free of its aim, and keeps the pieces of the rest from those behind it.
  void take_aim(Open& open, Holds holds) {
    scheduler_detail::Aim aim = forecast_.aim(open);
    open.projected = aim.projected;
    using Held = scheduler_detail::Aim::Held;
    if (aim.held == Held::InVain && holds == Holds::WhatIsFree) give_up_what_is_elsewhere(open, aim.fit);
    adopt(open, std::move(aim.fit), aim.held == Held::InTheWay ? Holds::WhatItHas : holds);
    tell_projected(open);
  }

  void give_up_what_is_elsewhere(Open& open, const Fit& fit) {
    ReserveAction& action = reserve_action(*open.group);
    for (auto held = open.held.begin(); held != open.held.end();) {
      const bool stays = std::any_of(fit.members.begin(), fit.members.end(), [&](const MemberPlacement& each) {
        return each.member == held->first && each.slices == *held->second;
      });
      if (stays) {
        ++held;
        continue;
      }
      view_.give(*open.group->spec, held->first.role, *held->second);
      action.lost.push_back(held->first);
      held = open.held.erase(held);
    }
  }

  void adopt(Open& open, Fit fit, Holds holds) {
    std::vector<MemberPlacement> fresh;
    open.target = {};
    for (MemberPlacement& each : fit.members) {
      const auto held = open.held.find(each.member);
      if (held != open.held.end() && *held->second == each.slices) continue;
      const bool may_hold = holds == Holds::WhatIsFree && held == open.held.end();
      const bool is_free = may_hold && view_.take(*open.group->spec, each.member.role, each.slices);
      if (may_hold && !is_free) view_.give(*open.group->spec, each.member.role, each.slices);
      (is_free ? fresh : open.target.members).push_back(std::move(each));
    }
    open.target.spares = std::move(fit.spares);
    withhold(open);
    if (fresh.empty()) return;
    ReserveAction& action = reserve_action(*open.group);
    action.domain = open.domain;
    action.members = std::move(fresh);
    for (const MemberPlacement& each : action.members) open.held[each.member] = &each.slices;
  }

  // Of what it still lacks, what is free.
  void withhold(Open& open) {
    open.withheld.clear();
    const auto add = [&](RoleIndex role, const std::vector<Slice>& slices) {
      for (const auto& piece : view_.take_free(*open.group->spec, role, slices)) open.withheld.push_back(piece);
    };
    for (const MemberPlacement& each : open.target.members) add(each.member.role, each.slices);
    for (const SparePlacement& each : open.target.spares) add(each.role, each.slices);
  }

  // Others may have come or gone since its end was projected. What could be any moment now is told once.
  void tell_projected(const Open& open) {
    const Time before = open.group->head.projected;
    const Time now = *open.projected;
    const bool is_any_moment = now == now_ && before <= now_;
    if (ReserveAction* action = find_reserve_action(*open.group); action != nullptr)
      action->projected = now;
    else if (now != before && !is_any_moment)
      reserve_action(*open.group).projected = now;
  }

  void close(const Group& group) {
    view_.give(open_.of(group)->withheld);
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
    // (One that was opened in this pass was only meant to be.)
    if (group.head.phase == GroupPhase::Reserving) plan_.actions.emplace_back(ReleaseAction{group.head.id, why});
    ask_again();
  }

  // Whoever has a strictly higher priority may take it; taking any of it releases all of it.
  template <class Done>
  bool take_from_weaker(const Group& group, const std::vector<RoleDemand>& demand, std::string_view inside,
                        Joining joining, Done&& done) {
    return take_from(open_.weaker_than(group), group, demand, inside, joining, done);
  }

  void give_back(WhatIf& given, const Group& reserving) {
    const Open& open = *open_.of(reserving);
    given.give(open.holdings());
    given.give(open.withheld);
  }

  // From as few of them as it comes to, the first of `weaker` first.
  template <class Done>
  bool take_from(std::vector<const Group*> weaker, const Group& group, const std::vector<RoleDemand>& demand,
                 std::string_view inside, Joining joining, Done&& done) {
    if (weaker.empty()) return false;
    WhatIf given(view_);
    std::size_t needed = 0;
    Fit found;
    while (!found.fits && needed < weaker.size()) {
      give_back(given, *weaker[needed++]);
      found = best_fit(view_, *group.spec, demand, inside, joining);
    }
    if (!found.fits) return false;
    weaker.resize(needed);
    for (std::size_t i = weaker.size() - 1; i-- > 0;) {  // was an earlier one given in vain?
      std::vector<const Group*> fewer = weaker;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      given.rewind(0);
      for (const Group* each : fewer) give_back(given, *each);
      if (Fit without = best_fit(view_, *group.spec, demand, inside, joining); without.fits) {
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
      const bool keeps_something = !open.held.empty() || !open.withheld.empty();
      if (!keeps_something || projected_of(open) <= end) continue;  // unknown, which is 0, too
      give_back(given, *open.group);
      lenders.push_back(&open);
    }
    if (lenders.empty()) return false;
    Fit found = try_whole(group, demand, {});
    if (!found.fits) return false;
    if (group.spec->partial)
      found = as_many_as_fit(view_, *group.spec, demand, wanted, {}, Joining::No, std::move(found));
    given.keep();
    add_placement(group, found);
    for (Open* lender : lenders) take_again(*lender);
    return true;
  }

  [[nodiscard]] Time projected_of(Open& open) {
    if (!open.projected) open.projected = forecast_.projected(open);
    return *open.projected;
  }

  // A lender keeps what is not in use now; the rest is lent.
  void take_again(Open& lender) {
    std::vector<MemberKey> lent;
    for (const auto& [key, slices] : lender.held) {
      if (view_.take(*lender.group->spec, key.role, *slices)) continue;
      view_.give(*lender.group->spec, key.role, *slices);
      lent.push_back(key);
    }
    // What is not in use of a member that is lent is still for nobody else.
    for (const MemberKey& key : lent) lender.target.members.push_back({key, *lender.held.at(key)});
    withhold(lender);
    if (lent.empty()) return;
    ReserveAction& action = reserve_action(*lender.group);
    action.projected = *lender.projected;
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
      forecast_.let_leave(later, group);
      for (const Group* each : weaker) give_back(later, *each);
      if (fits_in(view_, *group.spec, demand, {})) return false;  // it has only to wait
      victims = scheduler_detail::find_victims(view_, group, demand, units);
      if (victims.evictions.empty()) return false;
      released = not_beside(victims, group, weaker);
    }
    for (const Group* each : released) release(*each, ReservationEnd::Taken);
    for (EvictAction& eviction : victims.evictions) {
      changed_.insert(eviction.group);
      forecast_.evicted(eviction.group);
      plan_.actions.emplace_back(std::move(eviction));
    }
    forecast_.will_leave(victims.freed);
    Open& open = open_reservation({&group, true, victims.fit.domain});
    adopt(open, std::move(victims.fit), Holds::WhatIsFree);
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
    auto& [units, without] = entry->second;
    if (fresh) units = scheduler_detail::units_below(state_, now_, priority);
    if (without != changed_.size()) {
      std::erase_if(units, [&](const scheduler_detail::Unit& unit) { return changed_.contains(unit.group->head.id); });
      without = changed_.size();
    }
    return units;
  }

  // ---- new reservations
  bool reserve(const Group& group, const std::vector<RoleDemand>& demand) {
    if (group.spec->mode != PlacementMode::Reserve) return false;
    const auto making_way = open_.making_way_for(group, options_.reservations_max_per_queue);
    if (!making_way) return false;
    std::string site;
    {
      WhatIf given(view_);
      for (const Group* each : *making_way) give_back(given, *each);
      site = forecast_.site(group, demand);
    }
    if (site.empty()) return false;
    for (const Group* each : *making_way) release(*each, ReservationEnd::Taken);
    take_aim(open_reservation({&group, false, std::move(site)}), Holds::WhatIsFree);
    return true;
  }

  Open& open_reservation(Open open) {
    reserve_action(*open.group).domain = open.domain;
    return open_.add(std::move(open));
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
    Fit found = try_more(group, wanted);
    if (!found.fits) {
      found = as_many_as_fit(view_, *group.spec, wanted, group.head.domain);
      const std::vector<RoleDemand> more = with_weaker(group, wanted, found.members.size());
      if (!more.empty() && take_from_weaker(group, more, group.head.domain, Joining::Yes, add)) return true;
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
    for (const Group* each : weaker) give_back(given, *each);
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
      const Fit found = try_more(group, added);
      if (found.fits) return add(found);
      if (take_from_weaker(group, added, group.head.domain, Joining::Yes, add)) return;
    }
  }

  const State& state_;
  const ScheduleOptions& options_;
  Time now_;
  Cluster& cluster_;
  CapacityView& view_;  // what is free; what the pass does with it stays in it
  Plan plan_;
  std::set<OrderKey>::const_iterator next_;   // of those that go on
  std::map<OrderKey, const Alike*> waiting_;  // the next of each shape that may still fit
  std::vector<std::pair<OrderKey, const Alike*>> failed_;
  OpenReservations open_;
  Forecast forecast_;
  struct Units {
    std::vector<scheduler_detail::Unit> units;
    std::size_t without{0};  // so many of changed_
  };
  std::map<std::int32_t, Units> units_;  // by priority that asks
  std::set<GroupId> changed_;            // active groups with an action
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
