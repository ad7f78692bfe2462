// Volcano's tests of allocation on HyperNodes: a pod group fits below one HyperNode of a tier, or prefers to. Pods that
// run already were placed by an earlier pass, and those of such a group that are pending had a host that is gone now. A
// score of nodes is told as the choice that follows from it.

#include <algorithm>
#include <utility>

#include "tests/peers/volcano_network_group.h"

namespace lockstep {
namespace {

const std::vector<Difference> kNetworkDifferences{
    {"what can never fit is refused",
     "NeverFits names role and resource at once; in Volcano the job waits for a cluster that is larger",
     {"hard network topology constrain, can not allocate job when cross highestTierAllowed tier",
      "podgroup soft network topology constrain and subGroup hard network topology constrain, can not allocate job "
      "when "
      "cross highestTierAllowed tier",
      "podgroup hard network topology constrain and subGroup hard network topology constrain, can not allocate job "
      "when "
      "minSubGroups is not satisfied",
      "Evict purpose - allocatable insufficient"},
     {"expected the step to be accepted, got NeverFits: group g would not fit if every host were up and empty: *",
      "expected group g domain none, got no such group"}},
    {"a required level is one of the cluster",
     "its domain is promised, so it must be there; Volcano takes a tier that it does not know for no constraint",
     {"hard network topology with highestTierName constrain and tasks in job rescheduled, can allocate job when here "
      "*"},
     {"expected the step to be accepted, got NeverFits: group g requires the topology level hypercluster, *",
      "expected group g phase Running, got no such group", "expected members g/* on *"}},
    {"a topology holds for the group or for a role, and all roles are needed",
     "parts of a role that have domains of their own are roles; `partial` places fewer members, never fewer roles",
     {"podgroup hard network topology constrain and subGroup hard network topology constrain, can allocate job "
      "according "
      "to *",
      "podgroup hard network topology constrain and subGroup hard network topology constrain with minSubGroups and "
      "tasks "
      "in job rescheduled, can allocate job when subGroup is rescheduled"},
     {"cannot say: a role that may be left out"}},
    {"k lost members in one decision, as many as fit",
     "each that runs again is one less to wait for; Volcano places the missing ones of a gang together or not",
     {"rescheduling scenario: insufficient resources for pending tasks allocation"},
     {"expected members g/* on s0-n[1-2] 1, got 2"}},
    {"`preferred` binds nothing later",
     "a replacement is wanted soon; who must stay close says `required`. Volcano looks for the nearest node again",
     {"Tasks in job rescheduled, score nodes according to *",
      "Tasks in job rescheduled, score hyperNodes according to *"},
     {"expected members g/* on s3-n1 2, got 1", "expected members g/* on s1-n1 2, got 1"}},
    {"the tightest fit, counter by counter in name order",
     "one order that needs no tuning and gives the same placement on every machine; weights make it a matter of taste",
     {"TestNew"},
     {"cannot say: weights of a score"}},
    {"reserve mode: what would fit if the hosts were empty opens a reservation",
     "it has a deadline, so it may wait where nobody knows the end; Volcano waits only for what is being released",
     {"Job - idle insufficient, futureIdle insufficient"},
     {"expected group g domain none, got s2"}},
    {"what is promised to others is held",
     "so there is one number, what is free; in Volcano a node may be idle now and owed to a pod that waits for more",
     {"Job - idle sufficient, futureIdle insufficient", "SubJob - idle sufficient, futureIdle insufficient"},
     {"cannot say: room that is free and promised to others"}},
};

class NetworkTeller {
 public:
  explicit NetworkTeller(const Json& entry)
      : entry_(entry), inputs_(entry.at("inputs")), tree_(inputs_), group_(inputs_, tree_, story_) {
    for (const Json& node : at(inputs_, "Nodes")) nodes_.push_back(text_at(node, "name"));
  }

  Story allocate() {
    begin();
    story_.line("schedule");
    const Json& expected = entry_.at("expected");
    const std::uint64_t binds = number_at(expected, "ExpectBindsNum");
    const std::uint64_t number = group_.running().size() + binds;
    if (number == 0)
      story_.line("expect groups Running 0");
    else
      expect_on(nodes_, number);
    if (number > 0 && group_.tier() > 0)
      expect_on(tree_.nodes_of_domain(group_.tier(), group_.node_of("")), number);  // all in one domain
    if (at(expected, "MinimalBindCheck") == true) return std::move(story_);
    for (const auto& [pod, node] : at(expected, "ExpectBindMap").items()) {
      story_.line("expect member " + group_.member_of(pod.substr(pod.find('/') + 1)) + " host " +
                  node.get<std::string>());
    }
    return std::move(story_);
  }

  // Where one more member goes, of the nodes that have a score. `roomy`: each of them has room for just this one.
  Story choose(bool roomy) {
    std::vector<std::string> candidates;
    for (const auto& [node, score] : scores().items()) candidates.push_back(node);
    if (candidates.empty()) candidates = nodes_;
    if (roomy) roomy_ = candidates;
    begin();
    for (const auto& node : nodes_) {
      if (!contains(candidates, node)) story_.line("drain " + node);
    }
    story_.line("schedule");
    const auto score = [&](const std::string& node) { return scores().value(node, 0.0); };
    const double best = score(std::ranges::max(candidates, {}, score));
    std::erase_if(candidates, [&](const std::string& node) { return score(node) < best; });
    const auto already =
        std::ranges::count_if(group_.running(), [&](const auto& pod) { return contains(candidates, pod.node); });
    expect_on(candidates, static_cast<std::uint64_t>(already) + 1);
    return std::move(story_);
  }

 private:
  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }
  [[nodiscard]] const Json& scores() const {
    static const Json kNone = Json::object();
    const Json& expected = entry_.at("expected");
    const Json& found = expected.contains("expected") ? expected.at("expected") : at(expected, "expectedScores");
    return found.is_null() ? kNone : found;
  }

  // The cluster, and the group as far as it runs.
  void begin() {
    if (!tree_.empty()) story_.line("levels " + tree_.levels());
    tell_nodes();
    story_.line("agents auto");
    const bool runs = !group_.running().empty();
    if (runs) tell_as_it_was();
    story_.line("run " + group_.manifest());
    if (!runs) return;
    story_.line("schedule\nexpect group g phase Running");
    for (const auto& subgroup : group_.subgroups()) {
      if (group_.pending_of(subgroup.role) > 0) story_.line("host-down z." + subgroup.role);
    }
    tell_nodes();
  }

  void tell_nodes() {
    for (const Json& node : at(inputs_, "Nodes")) {
      const std::string name = text_at(node, "name");
      std::string line = "host " + name + " " + volcano_counters(node.at("allocatable"));
      if (!tree_.empty()) line += " at=" + tree_.at(name);
      for (const auto& [key, value] : at(node, "labels").items()) line += " " + key + "=" + value.get<std::string>();
      story_.line(line);
      if (!contains(roomy_, name)) continue;
      const auto pods = 1 + std::ranges::count(group_.running(), name, &VolcanoPod::node);
      story_.line("host " + name + " cpu=" + std::to_string(2 * pods) + " mem=" + std::to_string(4 * pods) + "G");
    }
  }

  // Room exactly where its pods run, and for those now pending on hosts beside the others of their role. These are last
  // in the order of hosts, as the pods on them are the last members of their roles.
  void tell_as_it_was() {
    for (const auto& node : nodes_) {
      std::uint64_t cpu = 0;
      for (const auto& pod : group_.running()) cpu += pod.node == node ? pod.cpu : 0;
      story_.line("host " + node + " cpu=" + std::to_string(cpu));
    }
    for (const auto& [role, policy] : group_.subgroups()) {
      const std::uint64_t pods = group_.pending_of(role);
      if (pods == 0) continue;
      story_.line("host z." + role + " cpu=" + std::to_string(pods * group_.running().front().cpu) +
                  " mem=100Gi foo=100 at=" + tree_.at(group_.node_of(role)));
    }
  }

  void expect_on(const std::vector<std::string>& nodes, std::uint64_t number) {
    std::string list;
    for (const auto& node : nodes) list += (list.empty() ? "" : ",") + node;
    story_.line("expect members g/* on " + list + " " + std::to_string(number));
  }

  const Json& entry_;
  const Json& inputs_;
  Story story_{};
  HyperNodeTree tree_;
  VolcanoPodGroup group_;
  std::vector<std::string> nodes_{};
  std::vector<std::string> roomy_{};  // have more room than the table says
};

// Whether a tier 1 HyperNode is looked at: by what is idle there, or will be, or could be by evictions. What the test
// does not say is what there is in all: more than can be idle, less than what it calls too much.
Story tell_gradient(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  // In members of 5 cpus and 10 GiB.
  const auto units = [&](const char* key) { return number_at(inputs.at(key), "MilliCPU") / 5000; };
  const std::uint64_t idle = units("idleResource");
  const std::uint64_t future = units("futureIdleResource");
  const auto group = [&](const std::string& name, std::uint64_t members, const std::string& more) {
    story.line("run " + group_block({{"w", members, "", "cpu=5 mem=10Gi"}}, more, name));
  };
  constexpr std::uint64_t kAll = 8;
  story.line("levels tier2 tier1\nhost n1 cpu=40 mem=80Gi at=s2/s1\nagents auto");
  if (future < idle) story.cannot_say("room that is free and promised to others");
  if (future > idle) group("leaves", future - idle, "");
  group("stays", kAll - std::max(idle, future), "");
  story.line("schedule\nexpect groups Pending 0\nagents manual");
  if (future > idle) story.line("cancel leaves");
  const bool evicts = text_at(inputs, "purpose") == "PurposeEvict";
  group("g", units("minResource"),
        "  priority: " + std::string(evicts ? "1" : "0") + "\n  placement: {mode: reserve, topology: {required: tier" +
            inputs.at("highestAllowedTier").dump() + "}}\n");
  story.line("schedule");
  const bool selected = at(entry, "expected", "expectTier1Selected") == true;
  story.line((selected ? "not " : "") + std::string("expect group g domain none"));
  return story;
}

// 2000 nodes: what counts is that a pass over them ends soon.
Story tell_large_cluster(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  std::string at_text;
  std::string levels;
  const Json& numbers = inputs.at("hyperNodeNumbers");
  for (std::size_t tier = numbers.size(); tier > 0; --tier) {
    levels += " " + level_of_tier(tier);
    at_text += (at_text.empty() ? "" : "/") + ("h[1-" + numbers.at(tier - 1).dump() + "]");
  }
  story.line("levels" + levels + "\nhost n[1-" + inputs.at("nodeNumber").dump() + "] cpu=8 at=" + at_text);
  story.line("agents auto\nrun " + group_block({{"w"}}, "") + "\nschedule\nexpect group g phase Running");
  return story;
}

Story tell_network(const Json& entry) {
  const std::string test = text_at(entry, "test");
  if (test.starts_with("TestAllocate")) return NetworkTeller(entry).allocate();
  if (test.starts_with("TestNetworkTopologyAwareNodeScore")) return NetworkTeller(entry).choose(true);
  if (test == "TestBatchNodeOrderFn") return NetworkTeller(entry).choose(false);
  if (test == "TestHyperNodeGradientPreFiltering") return tell_gradient(entry);
  if (test.starts_with("Test_")) return tell_large_cluster(entry);
  Story story;
  story.cannot_say("weights of a score");
  return story;
}

TEST_F(Peers, VolcanoNetworkTopology) { compare("volcano_network_topology", tell_network, kNetworkDifferences); }

}  // namespace
}  // namespace lockstep
