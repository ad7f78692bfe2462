// Where best_fit() and a pass put a group, against an exhaustive search on random small clusters: a group is placed
// exactly when a placement exists, required domains are kept, nothing above what is free is taken, and of all
// placements one in the fewest domains is chosen.
//
// "Fewest" is read from the top: of the levels below the required one, widest first, the number of domains used is as
// small as it can be, down to the preferred level. So one domain of the preferred level where that is enough, else one
// of the level above with as few preferred ones in it as possible, and so on.
//
// LOCKSTEP_CLUSTERS=20000 gives the long form; a cluster's own seed repeats it (LOCKSTEP_SEED). Shows R42, R48.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "scheduler/plan.h"
#include "statemachine/capacity.h"
#include "tests/scheduler/brute_force.h"
#include "tests/scheduler/cluster.h"
#include "tests/scheduler/dice.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kClustersUsual = 2'500;
constexpr std::uint32_t kMembersMax = 12;  // spares included

const std::vector<std::string> kLevelNames{"block", "rack", "nvlink"};

// Hosts in no order of their paths; some without a place, or with a part of one.
void add_hosts(Dice& dice, Cluster& cluster, std::size_t levels) {
  std::vector<std::uint32_t> names(dice.count(dice.one_in(4) ? 1 : 5, 8));
  for (std::uint32_t i = 0; i < names.size(); ++i) names[i] = i;
  dice.shuffle(names);
  const std::int64_t wide = dice.between(1, 3);
  for (const std::uint32_t name : names) {
    std::string at;
    for (std::size_t level = 0; level < levels && !dice.one_in(14); ++level) {
      at += (at.empty() ? "" : "/") + kLevelNames[level].substr(0, 1) + std::to_string(dice.between(1, wide));
    }
    Amounts counters{{"cpu", dice.between(1, 8)}};
    if (!dice.one_in(3)) counters.emplace_back("gpu", dice.between(1, 4));
    if (!dice.one_in(3)) counters.emplace_back("mem", dice.between(2, 8));
    cluster.host("n" + std::to_string(name), at, counters, {{"m", dice.one_in(3) ? "x" : "y"}});
  }
}

TaskTerm some_term(Dice& dice) {
  Amounts requests{{"cpu", dice.between(1, 3)}};
  if (dice.one_in(6)) requests.emplace_back("gpu", 1);
  if (dice.one_in(8)) requests.emplace_back("mem", dice.between(1, 2));
  if (dice.one_in(12)) requests.emplace_back("license.x", 1);
  TaskTerm made = term(dice.one_in(2) ? 1 : dice.count(1, 3), requests);
  if (dice.one_in(10)) made.select.push_back({"m", dice.one_in(2) ? "x" : "y"});
  if (dice.one_in(5))
    made.span_hosts = 1;
  else if (dice.one_in(4))
    made.span_ptile = dice.count(1, 2);
  return made;
}

std::string one_of_levels(Dice& dice, std::size_t levels) {
  const std::int64_t which = dice.between(0, static_cast<std::int64_t>(levels) * 2);
  return which == 0 ? "host" : kLevelNames[static_cast<std::size_t>(which - 1) / 2];
}

GroupSpec some_group(Dice& dice, std::size_t levels) {
  std::vector<RoleSpec> roles;
  std::uint32_t members_left = kMembersMax;
  const std::int64_t count = dice.one_in(2) ? 1 : dice.between(2, 3);
  const bool large = dice.one_in(6);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t most = std::min<std::int64_t>(large ? 10 : 4, members_left - (count - 1 - i));
    std::vector<TaskTerm> terms{some_term(dice)};
    if (large) terms[0].count = 1;
    if (!large && dice.one_in(6)) terms.push_back(some_term(dice));
    roles.push_back(role("r" + std::to_string(i), dice.count(1, most), std::move(terms)));
    members_left -= roles.back().replicas;
    if (members_left > count && dice.one_in(8)) {
      roles.back().spares = 1;
      --members_left;
    }
    if (dice.one_in(8)) roles.back().topology.required = one_of_levels(dice, levels);
  }
  GroupSpec group = spec(std::move(roles), dice.one_in(4) ? one_of_levels(dice, levels) : "");
  // A preference of the group, or of one of its roles, or of nobody.
  const std::int64_t who = dice.between(1, 8);
  if (who <= 4) group.topology.preferred = one_of_levels(dice, levels);
  RoleSpec& one = dice.one_in(2) ? group.roles.front() : group.roles.back();
  if (who == 5) one.topology.preferred = one_of_levels(dice, levels);
  return group;
}

// Levels below `required` (empty: all) down to `last`, widest first.
std::vector<std::string> levels_between(const State& state, const std::string& required, const std::string& last) {
  std::vector<std::string> all = state.head.levels;
  all.emplace_back("host");
  const auto first = required.empty() ? all.begin() : std::find(all.begin(), all.end(), required) + 1;
  const auto end = std::find(all.begin(), all.end(), last);
  return first > end ? std::vector<std::string>{} : std::vector<std::string>(first, end + 1);
}

std::string path_of_level(const State& state, const HostInfo& host, const std::string& level) {
  if (level.empty()) return "/";
  const auto& levels = state.head.levels;
  const auto depth = static_cast<std::size_t>(std::find(levels.begin(), levels.end(), level) - levels.begin()) + 1;
  std::string path;
  for (std::size_t i = 0; i < std::min(depth, host.at.size()); ++i) path += (path.empty() ? "" : "/") + host.at[i];
  return level != "host" ? path : path + (path.empty() ? "" : "/") + host.name;
}

std::set<HostId> hosts_of(const Fit& fit, RoleIndex role) {
  std::set<HostId> hosts;
  const auto add = [&](RoleIndex of, const std::vector<Slice>& slices) {
    if (role != kNoRole && of != role) return;
    for (const Slice& slice : slices) hosts.insert(slice.host);
  };
  for (const auto& [member, slices] : fit.members) add(member.role, slices);
  for (const auto& [of, slices] : fit.spares) add(of, slices);
  return hosts;
}

std::string text_of(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (const std::size_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

// How many placements used as few domains as there can be, of those that were asked.
struct Fewest {
  const char* of;
  std::uint64_t asked{};
  std::uint64_t reached{};
  std::string missed;

  [[nodiscard]] double percent() const {
    return asked == 0 ? 100 : 100.0 * static_cast<double>(reached) / static_cast<double>(asked);
  }
  void print() const {
    std::printf("%s: %llu of %llu use the fewest domains, %.3f %%\n%s", of, static_cast<unsigned long long>(reached),
                static_cast<unsigned long long>(asked), percent(), missed.c_str());
  }
};

struct Tallies {
  std::uint64_t placed{};
  std::uint64_t refused{};
  Fewest group{"preferred by a group"};
  Fewest role{"preferred by a role"};
  Fewest all{"no preference, all levels"};
};

class OneCluster {
 public:
  explicit OneCluster(std::uint64_t seed) : seed_(seed) {
    Dice dice(seed);
    const std::size_t levels = dice.count(0, 3);
    cluster_.levels({kLevelNames.begin(), kLevelNames.begin() + static_cast<std::ptrdiff_t>(levels)});
    cluster_.pool("license.x", dice.between(2, 12));
    add_hosts(dice, cluster_, levels);
    for (std::int64_t others = dice.between(-1, 2); others > 0; --others) {  // somebody is there already
      const GroupSpec other = some_group(dice, levels);
      if (fit_now(cluster_, other).fits) (void)cluster_.running(other);
    }
    if (dice.one_in(6)) cluster_.down("n0");
    group_ = some_group(dice, levels);
    id_ = cluster_.pending(group_);
  }

  void compare(Tallies& tallies) {
    const State& state = cluster_.state();
    const std::vector<RoleDemand> demand = demand_of(group_);
    const bool exists = fits_by_brute_force(state, group_, demand);
    const Fit best = best_fit(CapacityView(state, Capacity::Free), group_, demand, {}, Joining::No);
    const Fit planned = planned_fit(state);
    ASSERT_EQ(best.fits, exists);
    ASSERT_EQ(planned.fits, exists);
    ++(exists ? tallies.placed : tallies.refused);
    if (!exists) return;
    ASSERT_EQ(check_placement(state, group_, demand, best), "") << shown_fully(state, group_, best);
    ASSERT_EQ(planned.members, best.members);
    ASSERT_EQ(planned.spares, best.spares);
    ASSERT_EQ(planned.domain, best.domain);
    for (const HostId host : hosts_of(best, kNoRole)) {
      ASSERT_EQ(path_of_level(state, state.host(host)->facts.info, group_.topology.required), best.domain);
    }
    count(state, demand, best, tallies);
  }

 private:
  Fit planned_fit(const State& state) const {
    Fit fit;
    const Plan made = plan(state);
    EXPECT_LE(made.actions.size(), 1U);
    for (const PlanAction& action : made.actions) {
      const auto& place = std::get<PlaceAction>(action);
      EXPECT_EQ(place.group, id_);
      fit.fits = true;
      fit.domain = place.domain;
      fit.members = place.members;
      fit.spares = place.spares;
    }
    return fit;
  }

  void count(const State& state, const std::vector<RoleDemand>& demand, const Fit& fit, Tallies& tallies) const {
    bool prefers = !group_.topology.preferred.empty();
    for (RoleIndex role = 0; role < group_.roles.size(); ++role) {
      const Topology& topology = group_.roles[role].topology;
      if (topology.preferred.empty()) continue;
      prefers = true;
      // A role lies inside of its group's domain: levels as wide as that are no question of its own.
      const std::string& group_level = group_.topology.required;
      auto levels = levels_between(state, topology.required, topology.preferred);
      const auto of_group = levels_between(state, group_level, topology.preferred);
      if (of_group.size() < levels.size()) levels = of_group;
      ask(state, demand, fit, role, levels, tallies.role);
    }
    if (!group_.topology.preferred.empty()) {
      const auto levels = levels_between(state, group_.topology.required, group_.topology.preferred);
      ask(state, demand, fit, kNoRole, levels, tallies.group);
    } else if (!prefers) {
      ask(state, demand, fit, kNoRole, levels_between(state, group_.topology.required, "host"), tallies.all);
    }
  }

  void ask(const State& state, const std::vector<RoleDemand>& demand, const Fit& fit, RoleIndex role,
           const std::vector<std::string>& levels, Fewest& tally) const {
    if (levels.empty()) return;
    const auto used = domains_used(state, levels, hosts_of(fit, role));
    const auto fewer = fewer_domains(state, group_, demand, free_now(state), role, levels, used);
    ++tally.asked;
    tally.reached += fewer ? 0U : 1U;
    if (!fewer) return;
    tally.missed += "  LOCKSTEP_SEED=" + std::to_string(seed_) + ": used " + text_of(used) + ", least " +
                    text_of(*fewer) + ": " + shown_fully(state, group_, fit) + "\n";
  }

  std::uint64_t seed_;
  Cluster cluster_;
  GroupSpec group_;
  GroupId id_;
};

TEST(PlacementAgainstBruteForce, IsFoundExactlyWhenThereIsOneAndUsesTheFewestDomains) {
  const std::uint64_t seed = seed_or(1);
  const std::uint64_t clusters = count_or("LOCKSTEP_CLUSTERS", kClustersUsual);
  Tallies tallies;
  for (std::uint64_t i = 0; i < clusters; ++i) {
    OneCluster(seed + i).compare(tallies);
    if (HasFailure()) FAIL() << "LOCKSTEP_SEED=" << seed + i;
  }
  std::printf("%llu clusters: %llu placed, %llu not\n", static_cast<unsigned long long>(clusters),
              static_cast<unsigned long long>(tallies.placed), static_cast<unsigned long long>(tallies.refused));
  for (const Fewest* each : {&tallies.group, &tallies.role, &tallies.all}) each->print();
  EXPECT_GE(tallies.group.percent(), 99.9);
  if (clusters < 1'000) return;
  EXPECT_GT(tallies.placed, clusters / 4);
  EXPECT_GT(tallies.refused, clusters / 4);
}

}  // namespace
}  // namespace lockstep::testing
