#include "tests/peers/volcano_network_group.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lockstep {
namespace {

std::string tasks_of(const Json& pod) {
  const Json& selector = at(pod, "node_selector");
  if (selector.is_null()) return volcano_counters(pod.at("requests"));
  std::string conditions;
  for (const auto& [key, value] : selector.items()) conditions += key + "==" + value.get<std::string>();
  return "select[" + conditions + "] rusage[" + volcano_counters(pod.at("requests"), ":") + "]";
}

// Of a hard constraint; 0: none of the tree binds. Volcano's whole cluster is above every tier.
std::uint64_t tier_of(const Json& constraint, const Json& tier_names, const HyperNodeTree& tree) {
  if (text_at(constraint, "topology_mode") != "hard") return 0;
  const std::string name = text_at(constraint, "highest_tier_name");
  const std::uint64_t tier = name.empty() ? number_at(constraint, "highest_tier_allowed") : number_at(tier_names, name);
  return tier > tree.highest() ? 0 : tier;
}

// In either mode Volcano goes from the lowest tier up.
std::string topology_of(const Json& constraint, std::uint64_t tier, const HyperNodeTree& tree) {
  if (text_at(constraint, "topology_mode").empty() || tree.empty()) return "{}";
  const std::string name = text_at(constraint, "highest_tier_name");
  if (!name.empty() && tier == 0) return "{required: " + name.substr(name.rfind('/') + 1) + "}";
  const std::string preferred = "preferred: " + level_of_tier(tree.lowest());
  if (tier == 0) return "{" + preferred + "}";
  return "{required: " + level_of_tier(tier) + (tier > tree.lowest() ? ", " + preferred : "") + "}";
}

const Json* policy_of(const Json& policies, const Json& labels, std::string& role) {
  for (const Json& policy : policies) {
    const std::string value = text_at(labels, policy.at("match_label_keys").at(0));
    if (value.empty()) continue;
    role = value;
    return &policy;
  }
  return nullptr;
}

}  // namespace

VolcanoPodGroup::VolcanoPodGroup(const Json& inputs, const HyperNodeTree& tree, Story& story)
    : tree_(tree),
      json_(at(inputs, "PodGroups").at(0)),
      tier_(tree.empty() ? 0 : tier_of(json_, at(inputs, "HyperNodesTierNameMap"), tree)) {
  read_pods(inputs);
  keep_least_subgroups(story);
}

void VolcanoPodGroup::read_pods(const Json& inputs) {
  for (const Json& json : at(inputs, "Pods")) {
    VolcanoPod pod{text_at(json, "name"), "w", text_at(json, "node"), std::stoull(text_at(json.at("requests"), "cpu")),
                   tasks_of(json)};
    const Json* policy = policy_of(at(json_, "subgroup_policies"), at(json, "labels"), pod.role);
    if (std::ranges::find(subgroups_, pod.role, &VolcanoSubgroup::role) == subgroups_.end())
      subgroups_.push_back({pod.role, policy});
    (pod.node.empty() ? pending_ : running_).push_back(std::move(pod));
  }
}

// Of more subgroups than are needed Volcano places as many as fit, besides those that run; a role is always needed.
void VolcanoPodGroup::keep_least_subgroups(Story& story) {
  const auto runs = [&](const VolcanoSubgroup& subgroup) {
    return std::ranges::find(running_, subgroup.role, &VolcanoPod::role) != running_.end();
  };
  std::ranges::stable_partition(subgroups_, runs);
  std::map<const Json*, std::uint64_t> kept;
  std::erase_if(subgroups_, [&](const VolcanoSubgroup& subgroup) {
    if (subgroup.policy == nullptr || !subgroup.policy->contains("min_subgroups")) return false;
    if (++kept[subgroup.policy] <= number_at(*subgroup.policy, "min_subgroups") || runs(subgroup)) return false;
    story.cannot_say("a role that may be left out");
    return true;
  });
}

std::uint64_t VolcanoPodGroup::pending_of(const std::string& role) const {
  return static_cast<std::uint64_t>(std::ranges::count(pending_, role, &VolcanoPod::role));
}

std::string VolcanoPodGroup::member_of(const std::string& pod) const {
  std::map<std::string, std::uint64_t> count;
  for (const auto* pods : {&running_, &pending_}) {
    for (const auto& each : *pods) {
      const std::uint64_t index = count[each.role]++;
      if (each.name == pod) return "g/" + each.role + "[" + std::to_string(index) + "]";
    }
  }
  return "";
}

std::string VolcanoPodGroup::node_of(const std::string& role) const {
  if (running_.empty()) return "";
  const auto found = std::ranges::find(running_, role, &VolcanoPod::role);
  return found == running_.end() ? running_.front().node : found->node;
}

// A minimum of the whole group is one of its only role; subgroups are whole.
std::string VolcanoPodGroup::manifest() const {
  std::vector<RoleLine> lines;
  for (const auto& [role, policy] : subgroups_) {
    const auto is_in = [&](const VolcanoPod& pod) { return pod.role == role; };
    const auto number = std::ranges::count_if(running_, is_in) + std::ranges::count_if(pending_, is_in);
    RoleLine line{role, static_cast<std::uint64_t>(number)};
    for (const auto* pods : {&pending_, &running_}) {
      if (const auto pod = std::ranges::find_if(*pods, is_in); pod != pods->end()) line.tasks = pod->tasks;
    }
    if (policy == nullptr)
      line.more = ", min: " + std::to_string(std::min(line.replicas, number_at(json_, "min_member", line.replicas)));
    else
      line.more = ", topology: " + topology_of(*policy, tier_of(*policy, Json(), tree_), tree_);
    lines.push_back(std::move(line));
  }
  return group_block(lines, "  placement: {partial: true, topology: " + topology_of(json_, tier_, tree_) +
                                "}\n  failure: {default: restartMember, maxRestarts: 100}\n");
}

}  // namespace lockstep
