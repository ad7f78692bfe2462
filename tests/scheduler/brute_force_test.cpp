// fit() against an exhaustive search on thousands of random small clusters and groups: it says yes exactly when a
// placement exists, and what it returns is one. Then planted placements: members are put somewhere at random first and
// the hosts are made just as large as that needs, so that a placement exists and first-fit is mostly wrong.
// Shows R42.

#include "tests/scheduler/brute_force.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "statemachine/fit_shape.h"
#include "tests/scheduler/cluster.h"
#include "tests/scheduler/dice.h"

namespace lockstep::testing {
namespace {

struct Made {
  std::string name;
  std::string at;
  Amounts counters;
  Attributes attributes;
};

std::vector<Made> make_hosts(Dice& dice) {
  std::vector<Made> hosts;
  const std::int64_t count = dice.between(2, 5);
  for (std::int64_t i = 0; i < count; ++i) {
    std::string at;
    if (!dice.one_in(8)) at = "b" + std::to_string(dice.between(1, 2));
    if (!at.empty() && !dice.one_in(8)) at += "/r" + std::to_string(dice.between(1, 2));
    Amounts counters{{"cpu", dice.between(1, 7)}};
    if (dice.one_in(2)) counters.emplace_back("gpu", dice.between(0, 3));
    hosts.push_back({"n" + std::to_string(i), at, counters, {{"m", dice.one_in(2) ? "x" : "y"}}});
  }
  return hosts;
}

TaskTerm make_term(Dice& dice) {
  Amounts requests;
  if (!dice.one_in(10)) requests.emplace_back("cpu", dice.between(1, 3));
  if (dice.one_in(6)) requests.emplace_back("gpu", 1);
  if (dice.one_in(8)) requests.emplace_back("license.x", dice.between(1, 2));
  TaskTerm made = term(dice.count(1, 3), requests);
  if (dice.one_in(2)) made.count = 1;
  if (dice.one_in(6)) made.select.push_back({"m", dice.one_in(2) ? "x" : "y"});
  if (dice.one_in(4))
    made.span_hosts = 1;
  else if (dice.one_in(3))
    made.span_ptile = dice.count(1, 3);
  return made;
}

std::string some_level(Dice& dice) {
  const std::int64_t which = dice.between(1, 7);
  return which == 1 ? "host" : which < 3 ? "rack" : "block";
}

GroupSpec make_group(Dice& dice) {
  std::vector<RoleSpec> roles;
  const std::int64_t count = dice.between(1, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<TaskTerm> terms{make_term(dice)};
    if (dice.one_in(4)) terms.push_back(make_term(dice));
    roles.push_back(role("r" + std::to_string(i), dice.count(1, 3), std::move(terms)));
    if (dice.one_in(6)) roles.back().spares = 1;
    if (dice.one_in(5)) roles.back().topology.required = some_level(dice);
  }
  return spec(std::move(roles), dice.one_in(4) ? some_level(dice) : "");
}

void build(Cluster& cluster, const std::vector<Made>& hosts, std::int64_t licenses) {
  cluster.levels({"block", "rack"}).pool("license.x", licenses);
  for (const Made& host : hosts) cluster.host(host.name, host.at, host.counters, host.attributes);
}

// Which part of the cases is feasible, to know that both answers are tried.
struct Tally {
  int yes = 0;
  int no = 0;
};

void compare_one(std::uint64_t seed, Tally& tally) {
  Dice dice(seed);
  const std::vector<Made> hosts = make_hosts(dice);
  const std::int64_t licenses = dice.between(0, 12);
  Cluster cluster;
  build(cluster, hosts, licenses);
  if (dice.one_in(3)) {  // somebody is there already
    const GroupSpec other = make_group(dice);
    if (fit_now(cluster, other).fits) (void)cluster.running(other);
  } else if (dice.one_in(4)) {
    cluster.down(hosts[0].name);
  }
  const GroupSpec group = make_group(dice);
  const State& state = cluster.state();
  const std::vector<RoleDemand> demand = demand_of(group);
  const Fit found = fit(state, group, demand, Capacity::Free);
  ASSERT_EQ(found.fits, fits_by_brute_force(state, group, demand));
  ++(found.fits ? tally.yes : tally.no);
  if (found.fits) {
    ASSERT_EQ(check_placement(state, group, demand, found), "") << shown_fully(state, group, found);
  } else {
    ASSERT_NE(found.shortage.role, kNoRole);
  }
}

TEST(FitAgainstBruteForce, SaysYesExactlyWhenAPlacementExists) {
  const std::uint64_t seed = seed_or(1);
  Tally tally;
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    compare_one(seed + i, tally);
    if (HasFatalFailure()) FAIL() << "LOCKSTEP_SEED=" << seed + i;
  }
  EXPECT_GT(tally.yes, 500);
  EXPECT_GT(tally.no, 500);
}

// Puts the tasks of one member's term on hosts at random, by its spans, and makes the hosts larger by what they need.
void plant(Dice& dice, const TaskTerm& term, std::vector<std::map<std::string, std::int64_t>>& hosts) {
  std::vector<std::size_t> order(hosts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[dice.count(0, static_cast<std::int64_t>(i))]);
  std::size_t next = 0;
  for (std::uint32_t left = term.count; left > 0;) {
    std::uint32_t here = term.span_hosts == 1 ? left : std::min(left, term.span_ptile);
    if (term.span_hosts == 0 && term.span_ptile == 0) here = dice.count(1, left);
    for (const Counter& request : term.requests)
      hosts[order[next % order.size()]][request.name] += request.amount * here;
    ++next;
    left -= here;
  }
}

// `ptile` of a term never needs more hosts than there are.
TaskTerm plantable_term(Dice& dice, std::uint32_t hosts) {
  TaskTerm made = term(dice.count(1, 5), {{"cpu", dice.between(1, 5)}});
  if (dice.one_in(3)) made.requests.push_back({"gpu", dice.between(1, 2)});
  if (dice.one_in(4))
    made.span_hosts = 1;
  else if (dice.one_in(2))
    made.span_ptile = std::max(dice.count(1, 3), (made.count + hosts - 1) / hosts);
  return made;
}

TEST(FitAgainstPlantedPlacements, FindsAPlacementOnHostsThatAreJustLargeEnough) {
  const std::uint64_t seed = seed_or(1);
  for (std::uint64_t i = 0; i < 1'500; ++i) {
    Dice dice(seed + i);
    std::vector<std::map<std::string, std::int64_t>> hosts(dice.count(2, 5));
    std::vector<RoleSpec> roles;
    for (std::int64_t left = dice.between(1, 3); left > 0; --left) {
      std::vector<TaskTerm> terms{plantable_term(dice, static_cast<std::uint32_t>(hosts.size()))};
      if (dice.one_in(3)) terms.push_back(plantable_term(dice, static_cast<std::uint32_t>(hosts.size())));
      roles.push_back(role("r" + std::to_string(left), dice.count(1, 4), terms));
      for (std::uint32_t member = 0; member < roles.back().replicas; ++member) {
        for (const TaskTerm& each : terms) plant(dice, each, hosts);
      }
    }
    Cluster cluster;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      Amounts counters;
      for (const auto& [name, amount] : hosts[host]) counters.emplace_back(name, amount + (dice.one_in(5) ? 1 : 0));
      cluster.host("n" + std::to_string(host), "", counters);
    }
    const GroupSpec group = spec(std::move(roles));
    const Fit found = fit_now(cluster, group);
    ASSERT_TRUE(found.fits) << "LOCKSTEP_SEED=" << seed + i;
    ASSERT_EQ(check_placement(cluster.state(), group, demand_of(group), found), "") << "LOCKSTEP_SEED=" << seed + i;
  }
}

// Terms with ptile alone, on hosts that have room for more tasks of a member than ptile lets there be.
TEST(FitAgainstBruteForce, KeepsTilesOfAMemberApartWhereOneHostHasRoomForThemAll) {
  const std::uint64_t seed = seed_or(1);
  Tally tally;
  for (std::uint64_t i = 0; i < 1'500; ++i) {
    Dice dice(seed + i);
    Cluster cluster;
    const std::int64_t hosts = dice.between(2, 4);
    for (std::int64_t host = 0; host < hosts; ++host) {
      cluster.host("n" + std::to_string(host), "", {{"cpu", dice.between(1, 9)}, {"gpu", dice.between(0, 4)}});
    }
    std::vector<RoleSpec> roles;
    for (std::int64_t left = dice.between(2, 3); left > 0; --left) {
      TaskTerm made = tiled(term(dice.count(1, 5), {{"cpu", dice.between(1, 2)}}), dice.count(1, 3));
      if (dice.one_in(3)) made.requests.push_back({"gpu", 1});
      roles.push_back(role("r" + std::to_string(left), dice.count(1, 2), {made}));
    }
    const GroupSpec group = spec(std::move(roles));
    const State& state = cluster.state();
    const Fit found = fit(state, group, demand_of(group), Capacity::Free);
    ASSERT_EQ(found.fits, fits_by_brute_force(state, group, demand_of(group))) << "LOCKSTEP_SEED=" << seed + i;
    ++(found.fits ? tally.yes : tally.no);
    if (!found.fits) continue;
    ASSERT_EQ(check_placement(state, group, demand_of(group), found), "") << "LOCKSTEP_SEED=" << seed + i;
  }
  EXPECT_GT(tally.yes, 150);
  EXPECT_GT(tally.no, 150);
}

// Any numbers of tiles and remainders by host that add up can be given to the members, tiles of one on different hosts.
TEST(Deal, GivesEveryMemberItsTilesOnDifferentHosts) {
  const std::uint64_t seed = seed_or(1);
  int dealt = 0;
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    Dice dice(seed + i);
    const std::uint32_t members = dice.count(1, 5);
    const std::uint32_t tiles = dice.count(0, 3);
    const std::uint32_t hosts = dice.count(tiles + 1, 6);
    const GroupSpec group = spec({role("w", members, {tiled(term(tiles * 2 + 1, {{"cpu", 1}}), 2)})});
    const std::vector<RoleDemand> demand = demand_of(group);
    Cluster cluster;
    const CapacityView view(cluster.state(), Capacity::Free);
    const fit_detail::Shape shape = fit_detail::make_shape(view, group, demand);
    std::vector<std::int64_t> full(hosts, 0);
    std::vector<std::int64_t> rest(hosts, 0);
    const auto scatter = [&](std::vector<std::int64_t>& into, std::uint32_t count) {
      for (std::uint32_t tries = 0; count > 0 && tries < 200; ++tries) {
        const std::uint32_t host = dice.one_in(2) ? 0 : dice.count(0, hosts - 1);
        if (full[host] + rest[host] >= members) continue;
        ++into[host];
        --count;
      }
      return count == 0;
    };
    if (!scatter(rest, members) || !scatter(full, members * tiles)) continue;
    ++dealt;
    std::vector<std::vector<fit_detail::RowCount>> taken;
    for (const auto* counts : {&full, &rest}) {
      if (counts == &full && tiles == 0) continue;
      auto& list = taken.emplace_back();
      for (std::uint32_t host = 0; host < hosts; ++host) {
        if ((*counts)[host] > 0) list.push_back({host, (*counts)[host]});
      }
    }
    for (const auto& member : fit_detail::deal(shape, 0, taken)) {
      std::set<std::uint32_t> rows;
      std::uint32_t tasks = 0;
      for (const fit_detail::Part& part : member) {
        rows.insert(part.row);
        tasks += part.tasks;
        --(part.tasks == 2 ? full : rest)[part.row];
      }
      ASSERT_EQ(rows.size(), tiles + 1) << "LOCKSTEP_SEED=" << seed + i;
      ASSERT_EQ(tasks, tiles * 2 + 1) << "LOCKSTEP_SEED=" << seed + i;
    }
    ASSERT_EQ(full, std::vector<std::int64_t>(hosts, 0)) << "LOCKSTEP_SEED=" << seed + i;
    ASSERT_EQ(rest, std::vector<std::int64_t>(hosts, 0)) << "LOCKSTEP_SEED=" << seed + i;
  }
  EXPECT_GT(dealt, 1'000);
}

TEST(FitAgainstBruteForce, DoesNotDependOnTheOrderInWhichHostsWereAdded) {
  const std::uint64_t seed = seed_or(1);
  for (std::uint64_t i = 0; i < 300; ++i) {
    Dice dice(seed + i);
    const std::vector<Made> hosts = make_hosts(dice);
    const std::vector<Made> reversed(hosts.rbegin(), hosts.rend());
    const std::int64_t licenses = dice.between(0, 12);
    const GroupSpec group = make_group(dice);
    Cluster forward;
    build(forward, hosts, licenses);
    Cluster backward;
    build(backward, reversed, licenses);
    const Fit one = fit_now(forward, group);
    const Fit other = fit_now(backward, group);
    ASSERT_EQ(one.domain, other.domain) << "LOCKSTEP_SEED=" << seed + i;
    ASSERT_EQ(shown_fully(forward.state(), group, one), shown_fully(backward.state(), group, other))
        << "LOCKSTEP_SEED=" << seed + i;
    ASSERT_EQ(one.shortage.resource, other.shortage.resource) << "LOCKSTEP_SEED=" << seed + i;
    ASSERT_EQ(one.shortage.free, other.shortage.free) << "LOCKSTEP_SEED=" << seed + i;
  }
}

}  // namespace
}  // namespace lockstep::testing
