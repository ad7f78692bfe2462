// Kueue's tests of its topology-aware placement. A pod set is a role, pod sets that share their request are the roles
// of a group that has it, a slice is a role with a domain of its own, or one task when it belongs on one host; pods
// that use a node already are groups that run there. The same must be placed and refused; and what is placed must not
// use more domains than Kueue does, at any level down to hosts. Kueue's messages are its own.
//
// Where an assignment was there before, the group is placed like that first: a counter for each pod set allows on each
// host what was there. Then the hosts become those of the case, and each member must be where Kueue has its pod.

#include <algorithm>
#include <iostream>
#include <regex>
#include <set>
#include <utility>

#include "tests/peers/kueue_workload.h"

namespace lockstep {
namespace {

const std::vector<Difference> kKueueDifferences{
    {"a role's domain lies inside its group's",
     "so a wider level of a role says nothing more; Kueue takes it for a mistake",
     {"slice required topology level cannot be above the main required topology level"},
     {"expected the step to be refused with NeverFits, got it was done"}},
    {"a topology holds for the group or for a role",
     "parts that have domains of their own are roles, and these have no parts in turn but what is on one host",
     {"multi-layer topology: mimic a real-world *", "multi-layer topology: 3-layer negative case *"},
     {"cannot say: slices of slices"}},
    {"a role has a size",
     "so a slice has one by being a role; Kueue refuses a slice of which the size is not said",
     {"slice size is required when slice topology is requested"},
     {"cannot say: slices without a size", "expected the step to be refused with NeverFits, got it was done"}},
    {"select says which hosts count",
     "which of these are better is decided for all groups alike, so that no wish of one spoils domains for others",
     {"with preferred affinity", "with required and preferred affinity", "with multiple preferred affinities",
      "affinity ordering with *", "flat topology, *"},
     {"cannot say: hosts that are preferred"}},
    {"the fewest domains, and of these the tightest",
     "an even spread would leave a piece of each domain, which fits no other gang",
     {"balanced placement; *"},
     {"cannot say: members spread evenly"}},
    {"growth moves nobody, nor does a loss",
     "members that run stay where they are; Kueue places all anew when the leader's node is not there any more",
     {"elastic workload scale up with leader: stale leader assignment falls back to fresh placement"},
     {"expected members g/leader[*] on x1 1, got 0", "expected members g/leader[*] on x2 0, got 1",
      "expected members g/workers[*] on x1 1, got 2", "expected members g/workers[*] on x2 3, got 2"}},
};

// How many placed groups are where Kueue puts them.
struct KueueTally {
  std::uint64_t placed{};
  std::uint64_t identical{};
};

// ---- comparing where it is

// By pod set, or by role.
using KueuePlacement = std::map<std::string, KueueDomains>;

class KueueJudge {
 public:
  KueueJudge(Workload workload, KueueTally& tally) : workload_(std::move(workload)), tally_(&tally) {}

  std::vector<std::string> operator()(const std::string& events) const {
    KueuePlacement roles;
    const KueuePlacement got = placement_in(events, roles);
    if (got.empty()) return {};  // then an expectation did not hold
    KueuePlacement wanted;
    for (const auto& set : workload_.sets) wanted[set.name] = workload_.cluster.domains_of(set.wanted);
    ++tally_->placed;
    if (got == wanted) ++tally_->identical;
    std::vector<std::string> differences;
    compare_domains(all_of(got), all_of(wanted), "", differences);
    for (const auto& set : workload_.sets) {
      const bool alone = !workload_.one_request();
      if (alone) compare_domains(got.at(set.name), wanted.at(set.name), " of " + set.name, differences);
      const auto& bound = alone ? got.at(set.name) : all_of(got);
      check_inside(bound, kueue_name(text_at(set.topology, "Required")), set.name, differences);
    }
    for (const auto& [role, domains] : roles)
      check_inside(domains, workload_.set_of(role).slice_level, role, differences);
    return differences;
  }

 private:
  // "GroupPlaced g attempt=1 domain=/ w[0]=a1 w[1]=a2"
  KueuePlacement placement_in(const std::string& events, KueuePlacement& roles) const {
    static const std::regex kPlaced(R"(GroupPlaced g .*)");
    static const std::regex kMember(R"( ([^ \[]+)\[\d+\]=(\S+))");
    KueuePlacement placement;
    std::smatch found;
    if (!std::regex_search(events, found, kPlaced)) return placement;
    const std::string line = found[0];
    for (auto each = std::sregex_iterator(line.begin(), line.end(), kMember); each != std::sregex_iterator(); ++each) {
      const PodSet& set = workload_.set_of((*each)[1]);
      const auto& path = workload_.cluster.find((*each)[2])->path;
      placement[set.name][path] += set.host_slice;
      roles[(*each)[1]][path] += set.host_slice;
    }
    return placement;
  }

  static KueueDomains all_of(const KueuePlacement& placement) {
    KueueDomains all;
    for (const auto& [set, domains] : placement) all.insert(domains.begin(), domains.end());
    return all;
  }

  static std::uint64_t count_at(const KueueDomains& domains, std::size_t depth) {
    std::set<KueuePath> distinct;
    for (const auto& [path, count] : domains) {
      distinct.emplace(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
    }
    return distinct.size();
  }

  void compare_domains(const KueueDomains& got, const KueueDomains& wanted, const std::string& whose,
                       std::vector<std::string>& differences) const {
    for (std::size_t depth = 0; depth < workload_.cluster.levels().size(); ++depth) {
      const auto more = count_at(got, depth);
      const auto allowed = count_at(wanted, depth);
      if (more <= allowed) continue;
      differences.push_back("expected domains of level " + workload_.cluster.levels()[depth] + whose + " at most " +
                            std::to_string(allowed) + ", got " + std::to_string(more));
    }
  }

  void check_inside(const KueueDomains& got, const std::string& level, const std::string& whose,
                    std::vector<std::string>& differences) const {
    const std::size_t depth = workload_.cluster.depth_of(level);
    if (depth == workload_.cluster.levels().size() || count_at(got, depth) == 1) return;
    differences.push_back("expected one " + level + " for " + whose + ", got " + std::to_string(count_at(got, depth)));
  }

  Workload workload_;
  KueueTally* tally_;
};

// ---- telling it

class KueueTeller {
 public:
  KueueTeller(const Json& entry, KueueTally& tally)
      : inputs_(entry.at("inputs")), workload_(read_workload(entry, story_)), tally_(tally) {}

  Story tell() {
    story_.line("agents auto");
    workload_.cluster.tell_levels(story_);
    if (workload_.sets[0].previous.is_null())
      tell_new();
    else
      tell_again();
    return std::move(story_);
  }

 private:
  // ---- a group that is placed for the first time

  void tell_new() {
    const bool balanced = at(inputs_, "featureGates", "TASBalancedPlacement") == true;
    if (balanced && workload_.sets[0].topology.contains("Preferred")) story_.cannot_say("members spread evenly");
    workload_.cluster.tell_hosts(story_);
    const bool would_fit =
        workload_.cluster.tell_usage(story_, inputs_) || workload_.cluster.any_out(at(inputs_, "nodeLabels"));
    std::vector<RoleLine> roles;
    for (const auto& set : workload_.sets) workload_.add_roles(set, set.count, "", "", roles);
    story_.line("run " + group_block(roles, workload_.topology_of_group()));
    if (!workload_.placed() && !would_fit) return story_.line("expect rejected NeverFits");
    story_.line(std::string("schedule\nexpect group g phase ") + (workload_.placed() ? "Running" : "Pending"));
    if (workload_.placed()) story_.look = KueueJudge(workload_, tally_);
  }

  // ---- a group that is there: its nodes become unhealthy, or its size changes

  void tell_again() {
    const bool elastic = at(inputs_, "featureGates", "ElasticJobsViaWorkloadSlicesWithTAS") == true;
    std::set<std::string> gone;
    tell_hosts_for_before(gone);
    workload_.cluster.tell_usage(story_, inputs_);
    std::vector<RoleLine> roles;
    for (const auto& set : workload_.sets) {
      workload_.add_roles(set, total_of(set.previous), ":" + set.name + "=" + std::to_string(set.host_slice),
                          elastic ? ", min: 1, max: 100" : "", roles);
    }
    story_.line("run " + group_block(roles, workload_.topology_of_group() + policy(gone)) + "\nschedule");
    for (const auto& set : workload_.sets) expect_on_hosts(set, set.previous, {});
    for (const auto& node : workload_.cluster.nodes()) KueueCluster::tell_host(story_, node, room_now(node, elastic));
    for (const auto& name : gone) story_.line("host-down " + name);
    if (!gone.empty()) story_.line("schedule");
    for (const auto& set : workload_.sets) {
      if (elastic && set.count != total_of(set.previous))
        story_.line("resize g " + set.name + " " + std::to_string(set.count) + "\nschedule");
    }
    for (const auto& set : workload_.sets) expect_on_hosts(set, set.wanted.is_null() ? set.previous : set.wanted, gone);
  }

  static std::uint64_t total_of(const Json& assignment) {
    std::uint64_t total = 0;
    for (const Json& domain : assignment.at("Domains")) total += number_at(domain, "Count");
    return total;
  }
  static std::uint64_t count_on(const Json& assignment, const std::string& name) {
    for (const Json& domain : assignment.at("Domains")) {
      if (domain.at("Values").back() == name) return number_at(domain, "Count");
    }
    return 0;
  }

  // What Kueue has no more, or as not healthy, goes to `gone`.
  void tell_hosts_for_before(std::set<std::string>& gone) {
    std::vector<KueueNode> nodes = workload_.cluster.nodes();
    for (const auto& node : nodes) {
      if (at(node.json, "ready") != true) gone.insert(node.name);
    }
    for (const auto& set : workload_.sets) {
      for (const Json& domain : set.previous.at("Domains")) {
        const std::string name = domain.at("Values").back().get<std::string>();
        if (workload_.cluster.find(name) != nullptr || !gone.insert(name).second) continue;
        nodes.push_back({name, {}, "", {}, {}});
      }
    }
    for (const auto& node : nodes) {
      std::string room = "cpu=1000 pods=1000";
      for (const auto& set : workload_.sets) {
        room += " " + set.name + "=" + std::to_string(count_on(set.previous, node.name));
      }
      KueueCluster::tell_host(story_, node, room);
    }
  }

  // What the table has is what is left beside the pods of this workload, but for elastic ones, where it is all.
  [[nodiscard]] std::string room_now(const KueueNode& node, bool elastic) const {
    std::string room = counters_text(node.json.at("allocatable"), " ");
    for (const auto& set : workload_.sets) {
      room += " " + set.name + "=1000";
      const std::uint64_t own = count_on(set.previous, node.name);
      if (elastic || own == 0) continue;
      const std::string cpu = text_at(node.json.at("allocatable"), "cpu");
      const std::uint64_t milli = cpu.ends_with('m') ? std::stoull(cpu) : std::stoull(cpu) * 1000;
      room =
          "cpu=" + std::to_string(milli + own * number_at(set.requests, "cpu")) + "m pods=1000 " + set.name + "=1000";
    }
    return room;
  }

  // A workload of which nothing is left runs again as a whole, one that is a Pod does not.
  std::string policy(const std::set<std::string>& gone) {
    std::uint64_t left = 0;
    for (const auto& set : workload_.sets) {
      left += total_of(set.previous);
      for (const auto& name : gone) left -= count_on(set.previous, name);
    }
    std::string action = left == 0 ? "restartGroup, restartOn: anywhere" : "restartMember";
    const auto owners = arguments_of(at(inputs_, "workload"), "OwnerReference");
    const auto is_pod = [](const Json& owner) { return text_at(owner, "make") == "WithKind"; };
    if (std::ranges::count_if(owners, is_pod) == 1) action = "failGroup";
    return "  failure: {backoff: {base: 0s}, default: " + action + "}\n";
  }

  void expect_on_hosts(const PodSet& set, const Json& assignment, const std::set<std::string>& gone) {
    const std::uint64_t slices = set.slice_level.empty() ? 1 : total_of(assignment) / set.slice_size;
    for (const auto& node : workload_.cluster.nodes()) {
      if (gone.contains(node.name)) continue;
      const std::string members = slices == 1 ? "g/" + set.name + "[*]" : "g/*";
      story_.line("expect members " + members + " on " + node.name + " " +
                  std::to_string(count_on(assignment, node.name) / set.host_slice));
    }
  }

  const Json& inputs_;
  Story story_{};
  Workload workload_;
  KueueTally& tally_;
};

TEST_F(Peers, KueuePlacement) {
  KueueTally tally;
  compare(
      "kueue_tas_placement", [&](const Json& entry) { return KueueTeller(entry, tally).tell(); }, kKueueDifferences);
  if (IsSkipped()) return;
  std::cout << "  " << tally.placed << " placed by both, " << tally.identical << " of them in the same domains\n";
}

}  // namespace
}  // namespace lockstep
