// Kueue's tests of its ungater: pods are held back by a gate until their workload is admitted; then each is told its
// domain, by rank, and let go. Here a pod is a member: one that is held back has not been asked to start, and one that
// exists has an agent that is armed. Where members go is decided with the placement: by role and index, in the order of
// hosts, of which each domain has one.
//
// Where some pods run and others are held back, all ran once, and those were lost: each where it is to run again, or,
// if the others are not where their ranks would put them, on a host that is gone now.

#include <algorithm>
#include <optional>
#include <utility>

#include "tests/peers/kueue_cluster.h"

namespace lockstep {
namespace {

const std::vector<Difference> kUngaterDifferences{
    {"no member starts before all are armed",
     "the barrier; Kueue lets each pod go as it appears, whether or not the others exist yet",
     {"ungate multiple pods in a single domain"},
     {"expected members g/* Starting 2, got 0"}},
    {"a placement names every member",
     "a group has its members from the start, with or without processes, and a place for some of them is none at all",
     {"ungate multiple pods in a single domain",
      "ranks: TopologyAssignment shorter than the PodSet count falls back to greedy assignment"},
     {"expected members g/* on b1-r1 2, got 3", "expected the step to be accepted, got NeverFits: *",
      "expected the step to be accepted, got UnknownGroup: *", "expected members g/* Starting 1, got no such group",
      "expected members g/* on b1-r1 1, got no such group"}},
    {"a member that succeeded is done",
     "it has done its work; in Kueue the next pod takes its place",
     {"expect single pod; one ungated pod succeeded - ungate second pod"},
     {"expected members g/* Starting 1, got 0", "expected members g/* on b1-r1 1, got 0"}},
    {"the log is the history",
     "it has the time of each event; a sum over all groups is what a reader of the log makes of them",
     {"TestRecordPodSchedulingGateRemovalSeconds"},
     {"cannot say: a sum of the times that pods were held"}},
};

struct GatedPod {
  std::string role;
  std::uint64_t index{};
  std::string domain;  // where it is told to run; empty: not told
  bool stray = false;  // of no workload, or of none of its pod sets
  bool held = false;   // by the gate of the topology
  bool held_by_other = false;
  std::string phase;
  std::string domain_after;
  bool held_after = false;

  [[nodiscard]] std::string member() const { return "g/" + role + "[" + std::to_string(index) + "]"; }
  [[nodiscard]] bool over() const { return phase == "Succeeded" || phase == "Failed"; }
  [[nodiscard]] bool started() const { return !held && !held_by_other && !stray; }
};

// The last argument of ["Label", name, value] and its like.
std::string value_of(const Json& pod, std::string_view call, std::string_view name) {
  for (const Json& other : at(pod, "other")) {
    if (other[0] == call && (name.empty() || other[1] == name)) return other.back().get<std::string>();
  }
  return "";
}

// The name of a domain, and of its host: ["b1", "r1"] is b1-r1.
std::string joined(const Json& names) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : "-") + name.get<std::string>();
  return text;
}

std::string domain_of(const Json& pod) {
  Json names = Json::array();
  for (const Json& other : at(pod, "other")) {
    if (other[0] == "NodeSelector") names.push_back(other[2]);
  }
  return joined(names);
}

class UngaterTeller {
 public:
  explicit UngaterTeller(const Json& entry) : entry_(entry), workload_(at(entry, "inputs", "workloads")[0]) {}

  Story tell() {
    read_pod_sets();
    read_pods();
    story_.line("levels block rack");
    const bool moved = runs_elsewhere();
    const std::uint64_t held = count([](const GatedPod& pod) { return pod.held; });
    if (moved) {
      tell_host("a-lost", held);
      for (const auto& [domain, size] : domains_) {
        if (const auto here = started_in(domain); here != 0) tell_host(domain, here);
      }
    } else {
      tell_domains();
    }
    story_.line("run " + group_block(roles_, spec()));
    if (!arguments_of(workload_, "ReserveQuotaAt").empty()) story_.line("schedule");
    if (moved)
      lose_host("a-lost");
    else
      release();
    expect();
    return std::move(story_);
  }

 private:
  // ---- the workload

  void read_pod_sets() {
    for (const Json& made : arguments_of(workload_, "PodSets")) {
      const std::string name = made.at("args")[0].get<std::string>();
      if (text_at(made, "make") == "PodSet") {
        roles_.push_back({name, made.at("args")[1].get<std::uint64_t>()});
        if (const auto label = arguments_of(made, "PodIndexLabel"); !label.empty()) index_label_ = label[0];
        if (const auto label = arguments_of(made, "SubGroupIndexLabel"); !label.empty()) job_label_ = label[0];
        if (const auto jobs = arguments_of(made, "SubGroupCount"); !jobs.empty() && jobs[0].is_number())
          jobs_ = jobs[0];
        continue;
      }
      std::uint64_t assigned = 0;
      const Json assignment = arguments_of(made, "TopologyAssignment").at(0);
      for (const Json& domain : assignment.at("Domains")) {
        assigned += number_at(domain, "Count");
        domains_[joined(domain.at("Values"))] += number_at(domain, "Count");
      }
      auto& role = *std::ranges::find(roles_, name, &RoleLine::name);
      role.replicas = std::max(role.replicas, assigned);
    }
    if (!admitted()) domains_ = {{"b1-r1", 100}};  // but not for want of room
  }

  [[nodiscard]] bool admitted() const {
    const auto when = arguments_of(workload_, "AdmittedAt");
    return !when.empty() && when[0] == true;
  }

  void read_pods() {
    const Json& pods = at(entry_, "inputs", "pods");
    read_roles_of_jobs(pods);
    std::uint64_t next = 0;
    for (const Json& json : pods) {
      GatedPod pod;
      pod.phase = text_at(json, "phase");
      pod.domain = domain_of(json);
      pod.held = is_held(json);
      pod.held_by_other = !value_of(json, "Gate", "").empty();
      pod.role = role_of(json);
      pod.stray = pod.role.empty() || value_of(json, "Annotation", "kueue.x-k8s.io/workload").empty();
      pod.index = index_of(json, pod.role).value_or(next);
      if (!pod.over() && pod.role == roles_.front().name) ++next;
      for (const Json& after : at(entry_, "expected", "wantPods")) {
        if (text_at(after, "name") != text_at(json, "name")) continue;
        pod.held_after = is_held(after);
        pod.domain_after = domain_of(after);
      }
      pods_.push_back(std::move(pod));
    }
  }

  static bool is_held(const Json& pod) {
    return std::ranges::any_of(pod.at("other"), [](const Json& other) { return other[0] == "TopologySchedulingGate"; });
  }
  static std::string role_of(const Json& pod) {
    const std::string role = value_of(pod, "Label", "JobRoleLabel");
    return role.empty() ? value_of(pod, "Label", "PodSetLabel") : role;
  }

  // Kubeflow: the pods of one pod set have roles.
  void read_roles_of_jobs(const Json& pods) {
    std::vector<RoleLine> roles;
    for (const Json& pod : pods) {
      if (value_of(pod, "Label", "JobRoleLabel").empty()) return;
      const auto known = std::ranges::find(roles, role_of(pod), &RoleLine::name);
      if (known == roles.end())
        roles.push_back({role_of(pod), 1});
      else
        ++known->replicas;
    }
    roles_ = roles;
  }

  // Its rank; nothing: the pods of the set take the places as they come.
  [[nodiscard]] std::optional<std::uint64_t> index_of(const Json& pod, const std::string& role) const {
    const std::string label = index_label_.empty() ? "" : value_of(pod, "Label", index_label_);
    if (label.empty()) return std::nullopt;
    std::uint64_t index = std::stoull(label);
    if (const auto offset = value_of(pod, "Annotation", "kueue.x-k8s.io/pod-index-offset"); !offset.empty())
      index -= std::stoull(offset);
    if (jobs_ == 0) return index;
    const std::uint64_t of_job = std::ranges::find(roles_, role, &RoleLine::name)->replicas / jobs_;
    return std::stoull(value_of(pod, "Label", job_label_)) * of_job + index;
  }

  // ---- the group

  void tell_host(const std::string& name, std::uint64_t cpu) {
    const auto dash = name.find('-');
    const std::string at = dash == std::string::npos ? "" : " at=" + name.substr(0, dash) + "/" + name.substr(dash + 1);
    story_.line("host " + name + " cpu=" + std::to_string(cpu) + at);
  }
  void tell_domains() {
    for (const auto& [domain, size] : domains_) tell_host(domain, size);
  }

  // What else holds pods back is a claim that is not ready.
  std::string spec() {
    std::string text = "  failure: {default: restartMember, maxRestarts: 9, backoff: {base: 0s}}\n";
    if (!admitted() || count(&GatedPod::held_by_other) != 0) text += "  claims: [{name: other-gate, per: group}]\n";
    return text;
  }

  template <class What>
  std::uint64_t count(What what) const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(pods_, [&](const GatedPod& pod) { return std::invoke(what, pod); }));
  }
  [[nodiscard]] std::uint64_t started_in(const std::string& domain) const {
    return count([&](const GatedPod& pod) { return pod.started() && pod.domain == domain; });
  }

  [[nodiscard]] bool has_member(const GatedPod& pod) const {
    return pod.index < std::ranges::find(roles_, pod.role, &RoleLine::name)->replicas;
  }

  // A pod that runs is not in the domain of its rank.
  [[nodiscard]] bool runs_elsewhere() const {
    std::vector<std::string> ranks;
    for (const auto& [domain, size] : domains_) ranks.insert(ranks.end(), size, domain);
    return std::ranges::any_of(pods_, [&](const GatedPod& pod) {
      if (!pod.started() || index_label_.empty()) return false;
      std::uint64_t rank = pod.index;
      for (auto role = roles_.begin(); role->name != pod.role; ++role) rank += role->replicas;
      return ranks.at(rank) != pod.domain;
    });
  }

  void lose_host(const std::string& host) {
    story_.line("armed g/*\nstarted g/*");
    tell_domains();
    story_.line("host-down " + host + "\nschedule\narmed g/*");
  }

  void release() {
    const bool running = count(&GatedPod::started) != 0;
    if (running) story_.line("armed g/*\nstarted g/*");
    const auto unhealthy = arguments_of(workload_, "UnhealthyNodes");
    for (const Json& node : unhealthy) story_.line("host-down " + node.get<std::string>() + "\nschedule\narmed g/*");
    if (!unhealthy.empty()) return;
    for (const auto& pod : pods_) {
      if (pod.over()) story_.line("exit " + pod.member() + " code=" + (pod.phase == "Failed" ? "1" : "0"));
    }
    for (const auto& pod : pods_) {
      if (pod.started()) continue;
      if (pod.stray) {
        story_.line(pod.role.empty() ? "armed g/nobody[0]\nexpect rejected UnknownRole"
                                     : "armed nobody/" + pod.role + "[0]\nexpect rejected UnknownGroup");
      } else if (!has_member(pod)) {
        story_.line("armed " + pod.member() + "\nexpect rejected UnknownMember");
      } else {
        const bool again = running && !was_over(pod.member());
        if (again) story_.line("exit " + pod.member() + " code=1");
        story_.line("armed " + pod.member());
      }
    }
  }
  [[nodiscard]] bool was_over(const std::string& member) const {
    return count([&](const GatedPod& pod) { return pod.over() && pod.member() == member; }) != 0;
  }

  // ---- what is to be seen

  void expect() {
    const auto released = [](const GatedPod& pod) { return pod.held && !pod.held_after && !pod.held_by_other; };
    story_.line("expect members g/* Starting " + std::to_string(count(released)));
    for (const Json& domain : at(entry_, "expected", "wantCounts")) {
      story_.line("expect members g/* on " + joined(domain.at("NodeSelector")) + " " +
                  std::to_string(number_at(domain, "Count")));
    }
    const bool counts_only = text_at(at(entry_, "inputs"), "nodeSelectorAssertMode") == "CountsOnly";
    if (!counts_only || !index_label_.empty()) expect_each_where_it_is_told();
    if (at(entry_, "expected").contains("wantMetricsCount"))
      story_.cannot_say("a sum of the times that pods were held");
  }
  void expect_each_where_it_is_told() {
    for (const auto& pod : pods_) {
      if (!pod.domain_after.empty() && has_member(pod))
        story_.line("expect member " + pod.member() + " host " + pod.domain_after);
    }
  }

  const Json& entry_;
  const Json& workload_;
  Story story_{};
  std::vector<RoleLine> roles_{};
  std::map<std::string, std::uint64_t> domains_{};  // as hosts, with how many pods each gets
  std::string index_label_{};
  std::string job_label_{};
  std::uint64_t jobs_{};
  std::vector<GatedPod> pods_{};
};

TEST_F(Peers, KueueTopologyUngater) {
  compare(
      "kueue_topology_ungater", [](const Json& entry) { return UngaterTeller(entry).tell(); }, kUngaterDifferences);
}

}  // namespace
}  // namespace lockstep
