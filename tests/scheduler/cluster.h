#pragma once
// States made by hand for the tests of fit and plan: hosts, pools, groups in the phase a test needs. What is derived is
// rebuilt by rebuild_derived(), as after loading a snapshot; no event is applied.

#include <string>
#include <utility>
#include <vector>

#include "events/commands.h"
#include "scheduler/plan.h"
#include "statemachine/fit.h"
#include "statemachine/state.h"

namespace lockstep::testing {

using Amounts = std::vector<std::pair<std::string, std::int64_t>>;
using Attributes = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] TaskTerm term(std::uint32_t count, const Amounts& requests, const Attributes& select = {});
[[nodiscard]] TaskTerm on_one_host(TaskTerm term);
[[nodiscard]] TaskTerm tiled(TaskTerm term, std::uint32_t ptile);
[[nodiscard]] RoleSpec role(const std::string& name, std::uint32_t replicas, std::vector<TaskTerm> tasks);
// A role with one task per member.
[[nodiscard]] RoleSpec role(const std::string& name, std::uint32_t replicas, const Amounts& requests);
[[nodiscard]] RoleSpec within(RoleSpec role, const std::string& level);
[[nodiscard]] GroupSpec spec(std::vector<RoleSpec> roles, const std::string& required = "");

class Cluster {
 public:
  Cluster& levels(std::vector<std::string> names);
  // `at` is a path like b1/r1, or empty.
  Cluster& host(const std::string& name, const std::string& at, const Amounts& counters,
                const Attributes& attributes = {});
  Cluster& hosts(std::uint32_t count, const std::string& prefix, const std::string& at, const Amounts& counters);
  Cluster& pool(const std::string& name, std::int64_t total);
  Cluster& down(const std::string& host);
  Cluster& drained(const std::string& host);
  Cluster& at(Time time);

  // A group in Pending; the order of calls is that of submission.
  GroupId pending(const GroupSpec& spec);
  // A group that runs where fit() puts it now; fails the test when it does not fit.
  GroupId running(const GroupSpec& spec);
  Group& group(GroupId id) { return *state_.groups.find(id); }
  // Takes the member's hosts away, as after a host that went down: it waits, its group recovers.
  void lose(GroupId id, RoleIndex role, std::uint32_t index);
  void ask_resize(GroupId id, RoleIndex role, std::uint32_t replicas);
  // A group of one role with one task per member that reserves: its members, as far as they are named, hold these
  // hosts.
  GroupId reserving(const GroupSpec& spec, const std::string& domain, const std::vector<std::string>& hosts);
  // Its members were all started then.
  void started(GroupId id, Time at);
  // It stops, to be placed anew later: what it holds is leaving.
  void stop(GroupId id);
  // Those of its members that stop are gone, with what they held.
  void gone(GroupId id);

  // The state with everything derived brought up to date.
  State& state();
  // Does what decide and apply would do with the plan, as far as hosts go.
  void carry_out(const Plan& plan);

 private:
  GroupId add_group(const GroupSpec& spec, GroupPhase phase);
  HostInfo& host_named(const std::string& name);
  void reserve(const ReserveAction& action, const Plan& plan);
  State state_;
};

[[nodiscard]] Fit fit_now(Cluster& cluster, const GroupSpec& spec);
[[nodiscard]] std::vector<RoleDemand> demand_of(const GroupSpec& spec);
// "w[0]: n1 n2; w[1]: n3" with the hosts of each member, tasks left out; spares as "w+: n4".
[[nodiscard]] std::string shown(const State& state, const GroupSpec& spec, const Fit& fit);
// The same with tasks and terms: "w[0]: n1(0x2) n2(0x1)".
[[nodiscard]] std::string shown_fully(const State& state, const GroupSpec& spec, const Fit& fit);
// Empty when the placement is one of this demand: every member once, its tasks and spans, `select`, required domains,
// never above what is free, nor above pools.
[[nodiscard]] std::string check_placement(const State& state, const GroupSpec& spec,
                                          const std::vector<RoleDemand>& demand, const Fit& fit);
// Seeds of random tests: LOCKSTEP_SEED, or the one given. Printed.
[[nodiscard]] std::uint64_t seed_or(std::uint64_t seed);
// How many cases of a random test: what the environment variable says, or as many as usual.
[[nodiscard]] std::uint64_t count_or(const char* variable, std::uint64_t usual);

}  // namespace lockstep::testing
