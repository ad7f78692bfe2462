#include "tests/peers/kueue_workload.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

std::string request_of(const Json& topology) {
  std::string text;
  for (const auto& [key, name] : {std::pair{"Required", "required"}, std::pair{"Preferred", "preferred"}}) {
    const std::string level = text_at(topology, key);
    if (!level.empty()) text += std::string(text.empty() ? "" : ", ") + name + ": " + kueue_name(level);
  }
  return "{" + text + "}";
}

std::string tasks_of(const PodSet& set, const std::string& further) {
  const std::string where = set.select.empty() ? "" : "select[" + set.select + "] ";
  return where + "rusage[" + counters_text(set.requests, ":", set.host_slice) + further + "]";
}

class KueueReader {
 public:
  KueueReader(const Json& entry, Story& story) : entry_(entry), inputs_(entry.at("inputs")), story_(story) {}

  Workload read() {
    Workload workload{KueueCluster(inputs_), {}};
    const Json& sets = at(inputs_, "podSets");
    for (std::size_t i = 0; i < sets.size(); ++i) {
      workload.sets.push_back(read_set(sets[i]));
      workload.sets.back().wanted = at(at(entry_, "expected", "podSets").at(i), "assignment");
    }
    if (sets.empty()) {  // replacements: one pod set, of which the table has no request
      PodSet set = read_set(inputs_);
      set.requests = {{"cpu", 1000}, {"pods", 1}};
      set.previous = inputs_.at("existingTA");
      workload.sets.push_back(std::move(set));
    }
    return workload;
  }

 private:
  PodSet read_set(const Json& json) {
    PodSet set;
    set.name = json.contains("podSetName") ? text_at(json, "podSetName") : "main";
    set.group = text_at(json, "podSetGroupName");
    set.count = number_at(json, "count");
    set.requests = at(json, "requests");
    set.requests["pods"] = 1;
    set.topology = at(json, "topologyRequest");
    set.select = select_of(json);
    set.previous = at(json, "previousAssignment");
    const auto before = arguments_of(at(inputs_, "workload"), "TopologyAssignment");
    if (!before.empty()) set.previous = before[0];
    read_slices(set);
    return set;
  }

  std::string select_of(const Json& json) {
    std::string text;
    const auto add = [&](const std::string& label, const std::string& value) {
      text += (text.empty() ? "" : " && ") + kueue_name(label) + "=='" + value + "'";
    };
    for (const Json* labels : {&at(inputs_, "nodeLabels"), &at(json, "nodeSelector")}) {
      for (const auto& [label, value] : labels->items()) add(label, value.get<std::string>());
    }
    const Json& affinity = at(json, "nodeAffinity");
    const auto term = arguments_of(at(affinity, "RequiredDuringSchedulingIgnoredDuringExecution"), "Term");
    if (!term.empty()) add(term[0].get<std::string>(), term[2].get<std::string>());
    if (!at(affinity, "PreferredDuringSchedulingIgnoredDuringExecution").empty())
      story_.cannot_say("hosts that are preferred");
    const auto tainted = [](const Json& node) { return node.contains("taints"); };
    if (std::ranges::any_of(inputs_.at("nodes"), tainted)) add("untainted", "yes");
    return text;
  }

  // The leader of a group is in no slice, whatever it says.
  void read_slices(PodSet& set) {
    Json slices = at(set.topology, "PodsetSliceRequiredTopologyConstraints");
    if (const auto level = text_at(set.topology, "PodSetSliceRequiredTopology"); !level.empty()) {
      slices.push_back({{"Topology", level}, {"Size", number_at(set.topology, "PodSetSliceSize")}});
    }
    for (const Json& slice : slices) {
      const std::string level = kueue_name(text_at(slice, "Topology"));
      const std::uint64_t size = number_at(slice, "Size");
      if (size == 0) {
        if (set.group.empty()) story_.cannot_say("slices without a size");
      } else if (level == "host") {
        set.host_slice = size;
      } else {
        if (!set.slice_level.empty()) story_.cannot_say("slices of slices");
        set.slice_level = level;
        set.slice_size = size;
      }
    }
  }

  const Json& entry_;
  const Json& inputs_;
  Story& story_;
};

}  // namespace

bool Workload::one_request() const {
  const auto same = [&](const PodSet& set) { return set.group == sets[0].group; };
  return sets.size() == 1 || (!sets[0].group.empty() && std::ranges::all_of(sets, same));
}

bool Workload::placed() const {
  return std::ranges::none_of(sets, [](const PodSet& set) { return set.wanted.is_null(); });
}

const PodSet& Workload::set_of(const std::string& role) const {
  return *std::ranges::find_if(
      sets, [&](const PodSet& set) { return role == set.name || role.starts_with(set.name + "-slice"); });
}

void Workload::add_roles(const PodSet& set, std::uint64_t count, const std::string& tasks, const std::string& more,
                         std::vector<RoleLine>& roles) const {
  if (set.slice_level.empty()) {
    const std::string topology = one_request() ? "" : ", topology: " + request_of(set.topology);
    roles.push_back({set.name, count / set.host_slice, topology + more, tasks_of(set, tasks)});
    return;
  }
  for (std::uint64_t i = 0; i < count / set.slice_size; ++i) {
    roles.push_back({set.name + "-slice" + std::to_string(i), set.slice_size / set.host_slice,
                     ", topology: {required: " + set.slice_level + "}" + more, tasks_of(set, tasks)});
  }
}

std::string Workload::topology_of_group() const {
  return one_request() ? "  placement: {topology: " + request_of(sets[0].topology) + "}\n" : "";
}

Workload read_workload(const Json& entry, Story& story) { return KueueReader(entry, story).read(); }

}  // namespace lockstep
