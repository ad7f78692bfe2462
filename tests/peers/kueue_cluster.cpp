#include "tests/peers/kueue_cluster.h"

#include <algorithm>

namespace lockstep {
namespace {

const std::string kHostname = "kubernetes.io/hostname";

void collect_arguments(const Json& value, std::string_view call, std::vector<Json>& found) {
  if (value.is_array() && !value.empty() && value[0] == call) found.insert(found.end(), value.begin() + 1, value.end());
  if (!value.is_structured()) return;
  for (const Json& inner : value) collect_arguments(inner, call, found);
}

bool is_down(const KueueNode& node) { return at(node.json, "ready") != true; }
bool is_drained(const KueueNode& node) { return at(node.json, "unschedulable") == true; }

// On no node: it waits, and uses nothing. True: it holds something.
bool tell_pod(Story& story, const std::string& group, const KueueNode* node, const Json& requests,
              const std::string& phase) {
  Json amounts = requests;
  amounts["pods"] = 1;
  const std::string where = node == nullptr ? "" : "select[node=='" + node->name + "'] ";
  story.line(node == nullptr ? "define <<EOF" : "run <<EOF");
  story.line("kind: GangGroup\nmetadata: {name: " + group + "}\nspec:");
  if (node == nullptr) story.line("  hold: true");
  story.line("  roles: [{name: pod, tasks: \"1*{" + where + "rusage[" + counters_text(amounts, ":") + "]}\"}]\nEOF");
  story.line("schedule\nexpect group " + group + " phase " + (node == nullptr ? "Defined" : "Running"));
  const bool over = phase == "Succeeded" || phase == "Failed";
  if (over) story.line("exit " + group + "/pod[0] code=" + (phase == "Failed" ? "1" : "0"));
  return node != nullptr && !over;
}

}  // namespace

std::string kueue_name(std::string_view label) {
  if (label == kHostname) return "host";
  if (const auto slash = label.find('/'); slash != std::string_view::npos) label.remove_prefix(slash + 1);
  static constexpr std::string_view kPrefix = "topology-";
  if (label.starts_with(kPrefix)) label.remove_prefix(kPrefix.size());
  return std::string(label);
}

std::vector<Json> arguments_of(const Json& object, std::string_view call) {
  std::vector<Json> found;
  collect_arguments(object, call, found);
  return found;
}

std::string counters_text(const Json& amounts, std::string_view separator, std::uint64_t times) {
  std::string text;
  for (const auto& [label, amount] : amounts.items()) {
    if (amount == 0) continue;
    const std::string name = kueue_name(label);
    if (!text.empty()) text += separator;
    text += name + "=";
    text += amount.is_string() ? amount.get<std::string>() : std::to_string(amount.get<std::uint64_t>() * times);
    if (amount.is_number() && name == "cpu") text += "m";
  }
  return text;
}

KueueCluster::KueueCluster(const Json& inputs) {
  std::vector<std::string> labels{"cloud.com/topology-block", "cloud.com/topology-rack", kHostname};
  if (inputs.contains("levels")) labels = inputs.at("levels").get<std::vector<std::string>>();
  for (const auto& label : labels) levels_.push_back(kueue_name(label));
  const Json& nodes = inputs.at("nodes");
  const bool any_tainted = std::ranges::any_of(nodes, [](const Json& node) { return node.contains("taints"); });
  const bool used = inputs.contains("pods") || inputs.contains("priorFlavorUsage");
  for (const Json& json : nodes) {
    KueueNode node;
    node.json = json;
    const Json& of_node = at(json, "labels");
    node.name = of_node.contains(kHostname) ? text_at(of_node, kHostname) : text_at(json, "name");
    for (const auto& label : labels) {
      node.path.push_back(label == kHostname ? node.name : text_at(of_node, label));
      if (label != kHostname) node.at += (node.at.empty() ? "" : "/") + node.path.back();
    }
    for (const auto& [label, value] : of_node.items()) {
      const bool is_level = label == kHostname || std::ranges::find(labels, label) != labels.end();
      if (!is_level) node.attributes[kueue_name(label)] = value.get<std::string>();
    }
    if (used) node.attributes["node"] = node.name;                                      // what uses it names it
    if (any_tainted && !json.contains("taints")) node.attributes["untainted"] = "yes";  // nothing tolerates a taint
    nodes_.push_back(std::move(node));
  }
}

const KueueNode* KueueCluster::find(const std::string& name) const {
  const auto found = std::ranges::find_if(
      nodes_, [&](const KueueNode& node) { return node.name == name || text_at(node.json, "name") == name; });
  return found == nodes_.end() ? nullptr : &*found;
}

std::size_t KueueCluster::depth_of(std::string_view level) const {
  return static_cast<std::size_t>(std::ranges::find(levels_, level) - levels_.begin());
}

KueueDomains KueueCluster::domains_of(const Json& assignment) const {
  KueueDomains domains;
  for (const Json& domain : at(assignment, "Domains")) {
    auto path = domain.at("Values").get<KueuePath>();
    if (path.size() < levels_.size()) path = find(path.back())->path;
    domains[path] += domain.at("Count").get<std::uint64_t>();
  }
  return domains;
}

void KueueCluster::tell_levels(Story& story) const {
  std::string text;
  for (const auto& level : levels_) {
    if (level != "host") text += " " + level;
  }
  if (!text.empty()) story.line("levels" + text);
}

void KueueCluster::tell_host(Story& story, const KueueNode& node, const std::string& counters) {
  std::string text = "host " + node.name + " " + counters;
  if (!node.at.empty()) text += " at=" + node.at;
  for (const auto& [key, value] : node.attributes) text += " " + key + "=" + value;
  story.line(text);
}

void KueueCluster::tell_hosts(Story& story) const {
  for (const auto& node : nodes_) {
    tell_host(story, node, counters_text(node.json.at("allocatable"), " "));
    if (is_down(node)) story.line("host-down " + node.name);
    if (is_drained(node)) story.line("drain " + node.name);
  }
}

bool KueueCluster::tell_usage(Story& story, const Json& inputs) const {
  bool used = false;
  std::size_t number = 0;
  const auto next = [&] { return "used" + std::to_string(++number); };
  for (const Json& pod : at(inputs, "pods")) {
    used = tell_pod(story, next(), find(text_at(pod, "node")), at(pod, "requests"), text_at(pod, "phase")) || used;
  }
  for (const Json& usage : at(inputs, "priorFlavorUsage")) {
    const auto name = usage.at("Values")[0].get<std::string>();
    used = tell_pod(story, next(), find(name), usage.at("SinglePodRequests"), "") || used;
  }
  return used;
}

bool KueueCluster::any_out(const Json& labels) const {
  return std::ranges::any_of(nodes_, [&](const KueueNode& node) {
    bool matches = true;
    for (const auto& [label, value] : labels.items()) {
      const auto found = node.attributes.find(kueue_name(label));
      matches = matches && found != node.attributes.end() && found->second == value;
    }
    return matches && (is_down(node) || is_drained(node));
  });
}

}  // namespace lockstep
