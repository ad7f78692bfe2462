// The tests of scheduler-plugins' Coscheduling: a pod group is a group of one role, a pod without one a group of its
// own. Pods of a group meet at Permit, each holding its node, until the least number is there: the barrier, where
// members wait that are armed. What nodes there are stands in the tests' code, not in the table.

#include <algorithm>
#include <map>
#include <utility>

#include "tests/peers/peer.h"

namespace lockstep {
namespace {

const std::vector<Difference> kCoschedulingDifferences{
    {"a gang is one object",
     "its members come with it, so fewer than its minimum is a mistake that is told at once, not something to wait for",
     {"Group status keeps pending", "Group min member more than Pod number",
      "equal priority, not sequentially pg1 not meet min and 3 regular pods"},
     {"expected the step to be accepted, got InvalidManifest: *",
      "expected the step to be accepted, got UnknownGroup: *", "expected group g phase Pending, got no such group"}},
    {"what can never fit is refused",
     "NeverFits names role and resource at once; here pods are tried again and again",
     {"equal priority, not sequentially pg1 meet min and pg2 not meet min",
      "equal priority, not sequentially pg1 meet min and p2 p3 not meet min, pgs have min resources"},
     {"expected the step to be accepted, got NeverFits: *"}},
    {"a group holds whatever it can use, until a deadline, or nothing",
     "modes reserve and atomic; a share from which on a group may hold says nothing about when it lets go",
     {"default 10%: *", "50%: *"},
     {"cannot say: hold what is there if enough of it is there", "expected group g held none, got cpu=*"}},
    {"`hold` is of the group",
     "members are placed together, so none can be held back; the group is, until it is submitted",
     {"gated pods *"},
     {"cannot say: a member that is held back"}},
    {"a running group that is short of members is Recovering",
     "it keeps what it holds and has a deadline for what it lacks; a Pending group would hold nothing",
     {"Group status convert from running to pending"},
     {"expected group g phase Pending, got Recovering"}},
    {"Lockstep makes no objects of Kubernetes",
     "so it reads none, and none owns a group",
     {"TestSchemeRestriction", "TestFillGroupStatusOccupied"},
     {"cannot say: objects of Kubernetes"}},
};

// ---- objects, as the calls that build them: {make, args} or {make, with: [[call, argument, ...], ...]}

const Json& built_pod(const Json& object) {
  if (text_at(object, "make") == "Pod") return object;
  return *std::ranges::find_if(at(object, "args"), [](const Json& each) { return text_at(each, "make") == "Pod"; });
}

const Json& argument(const Json& object, std::string_view call, std::size_t number = 0) {
  for (const Json& each : at(object, "with")) {
    if (each.at(0) == call && each.size() > number + 1) return each.at(number + 1);
  }
  return at(object, "no such call");
}

struct GangPod {
  std::string name;
  std::string space;
  std::string gang;  // "": alone
  std::uint64_t priority{};
  std::string memory;
  bool is_gated{};
};

GangPod read_pod(const Json& object) {
  const Json& pod = built_pod(object);
  const auto text = [&](const Json& json) { return json.is_string() ? json.get<std::string>() : ""; };
  return {text(argument(pod, "Name")),
          argument(pod, "Namespace").dump(),
          text(argument(pod, "Label", 1)),
          argument(pod, "Priority").is_null() ? 0 : argument(pod, "Priority").get<std::uint64_t>(),
          text_at(argument(pod, "Req"), "memory"),
          !argument(pod, "SchedulingGates").is_null()};
}

std::vector<GangPod> read_pods(const Json& list) {
  std::vector<GangPod> pods;
  for (const Json& each : list) pods.push_back(read_pod(each));
  return pods;
}

struct Gang {
  std::string name;
  std::string space;
  std::uint64_t least{1};
  std::string created;
  std::uint64_t cpu_least{};
};

std::vector<Gang> read_gangs(const Json& list) {
  std::vector<Gang> gangs;
  for (const Json& each : list) {
    if (each.contains("args")) {
      gangs.push_back({each.at("args")[0], "", each.at("args")[2].get<std::uint64_t>(), "", 0});
      continue;
    }
    const Json& least = argument(each, "MinMember");
    const std::string cpu = text_at(argument(each, "MinResources"), "cpu");
    const Json& time = argument(each, "Time");
    gangs.push_back({argument(each, "Name"), argument(each, "Namespace").dump(),
                     least.is_null() ? 1 : least.get<std::uint64_t>(), time.is_null() ? "" : time.get<std::string>(),
                     cpu.empty() ? 0 : std::stoull(cpu)});
  }
  return gangs;
}

const Gang* gang_of(const std::vector<Gang>& gangs, const GangPod& pod) {
  const auto found = std::ranges::find(gangs, pod.gang, &Gang::name);
  return found == gangs.end() ? nullptr : &*found;
}

std::uint64_t count_in(const std::vector<GangPod>& pods, const std::string& gang) {
  return static_cast<std::uint64_t>(std::ranges::count(pods, gang, &GangPod::gang));
}

std::string gang_manifest(const std::string& name, std::uint64_t members, std::uint64_t least, const std::string& tasks,
                          const std::string& spec = "") {
  return group_block({{"w", members, ", min: " + std::to_string(least), tasks}}, spec, name);
}

// ---- the order of the queue: there is room for one

Story tell_less(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const auto gangs = read_gangs(at(inputs, "pgs"));
  std::vector<std::pair<std::string, GangPod>> in_time;  // that of the pod group, where there is one
  for (const char* key : {"p1", "p2"}) {
    const GangPod pod = read_pod(inputs.at(key).at("PodInfo"));
    const Gang* gang = gang_of(gangs, pod);
    const bool is_in = gang != nullptr && gang->space == pod.space;
    in_time.emplace_back(is_in ? gang->created : text_at(inputs.at(key), "InitialAttemptTimestamp"), pod);
  }
  std::ranges::stable_sort(in_time, {}, [](const auto& each) { return each.first; });
  story.line("host n1 cpu=1");
  for (const auto& [time, pod] : in_time) {
    story.line("run " + gang_manifest(pod.name, 1, 1, "cpu=1", "  priority: " + std::to_string(pod.priority) + "\n"));
  }
  const bool want = at(entry, "expected", "want") == true;
  story.line("schedule\nexpect group " + std::string(want ? "p1" : "p2") + " phase Placed");
  story.line("expect group " + std::string(want ? "p2" : "p1") + " phase Pending");
  return story;
}

// ---- Permit

Story tell_permit(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const auto gangs = read_gangs(at(inputs, "pgs"));
  const GangPod pod = read_pod(inputs.at("pod"));
  const Gang* gang = gang_of(gangs, pod);
  const std::uint64_t least = gang == nullptr ? 1 : gang->least;
  story.line("host node cpu=4\nrun " + gang_manifest("g", least, least, "cpu=1") + "\nschedule");
  const std::uint64_t there = gang == nullptr ? 0 : count_in(read_pods(at(inputs, "existingPods")), pod.gang);
  for (std::uint64_t i = 0; i <= there; ++i) story.line("armed g/w[" + std::to_string(i) + "]");
  const bool waits = at(entry, "expected", "want") == "Wait";
  story.line("expect group g phase " + std::string(waits ? "Placed" : "Starting"));
  story.line("expect members g/* Starting " + std::to_string(waits ? 0 : least));
  return story;
}

// ---- PostFilter: what becomes of those that hold a node when one more does not fit

void fill(Story& story, std::uint64_t all, std::uint64_t free) {
  story.line("agents auto\nhost node cpu=" + std::to_string(all));
  if (all > free) story.line("run " + gang_manifest("other", all - free, all - free, "cpu=1") + "\nschedule");
}

Story tell_post_filter(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const GangPod pod = read_pod(inputs.at("pod"));
  const auto gangs = read_gangs(at(inputs, "pgs"));
  const Gang* gang = gang_of(gangs, pod);
  const std::uint64_t least = gang == nullptr ? 1 : gang->least;
  fill(story, least, gang == nullptr ? 0 : count_in(read_pods(at(inputs, "existingPods")), pod.gang));
  story.line("run " + gang_manifest("g", least, least, "cpu=1") + "\nschedule");
  story.line("expect group g phase Pending\nexpect group g held none");
  return story;
}

// Rejected: all let go. Without a message they keep their nodes.
Story tell_threshold(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const std::uint64_t least = number_at(inputs, "minMember");
  const std::uint64_t assigned = number_at(inputs, "assignedCount");
  if (inputs.at("threshold") < 1) story.cannot_say("hold what is there if enough of it is there");
  fill(story, least, assigned);
  story.line("run " + gang_manifest("g", least, least, "cpu=1", "  placement: {mode: reserve}\n") + "\nschedule");
  const bool is_rejected = entry.at("expected").at("want").at("args").size() > 1;
  const bool holds = !is_rejected && assigned > 0;
  story.line("expect group g held " + (holds ? "cpu=" + std::to_string(assigned) : std::string("none")));
  return story;
}

// ---- PreFilter: whether a group may be placed at all

Story tell_pre_filter(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const GangPod pod = read_pod(inputs.at("pod"));
  const auto gangs = read_gangs(inputs.at("pgs"));
  const Gang& gang = *gang_of(gangs, pod);
  auto others = read_pods(at(inputs, "pendingPods"));
  if (std::erase_if(others, [](const GangPod& other) { return other.is_gated; }) > 0)
    story.cannot_say("a member that is held back");
  const std::uint64_t members = 1 + count_in(others, pod.gang);
  const std::string tasks = "cpu=" + std::to_string(std::max<std::uint64_t>(gang.cpu_least / members, 1));
  story.line("host node-a,node-b cpu=4\nrun " + gang_manifest("g", members, gang.least, tasks));
  const bool success = at(entry, "expected", "expectedSuccess") == true;
  story.line(success ? "schedule\nexpect group g phase Placed" : "expect rejected InvalidManifest");
  return story;
}

Story tell_cluster_resource(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  for (const char* node : {"node-a", "node-b"}) story.line("host " + std::string(node) + " cpu=3 name=" + node);
  for (const Json& pod : inputs.at("existingPods")) {
    const std::string node = argument(pod, "Node");
    const std::string usage = "rusage[cpu=" + text_at(argument(pod, "Req"), "cpu") + "]";
    story.line("run " + gang_manifest(argument(pod, "Name"), 1, 1, "select[name==" + node + "] " + usage));
  }
  const std::uint64_t cpus = number_at(inputs.at("minResources"), "cpu");
  story.line("schedule\nrun " + gang_manifest("g", cpus, cpus, "cpu=1") + "\nschedule");
  story.line("expect group g phase " + std::string(at(entry, "expected", "want") == true ? "Placed" : "Pending"));
  return story;
}

// ---- the phase of a group

std::string phase_line(const std::string& phase) {
  static const std::map<std::string, std::string> kPhases{{"PodGroupPending", "Pending"},
                                                          {"PodGroupScheduling", "Pending"},
                                                          {"PodGroupRunning", "Running"},
                                                          {"PodGroupFailed", "Failed"},
                                                          {"PodGroupFinished", "Succeeded"}};
  return "expect group g phase " + kPhases.at(phase);
}

Story tell_phase(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const std::uint64_t least = number_at(inputs, "minMember");
  const std::uint64_t pods = inputs.at("podNames").size();
  const std::string phase = text_at(inputs, "podPhase");
  const std::string next = text_at(inputs, "podNextPhase");
  const bool ran = text_at(inputs, "previousPhase") == "PodGroupRunning";
  story.line("host n1 cpu=8\nrun " +
             gang_manifest(
                 "g", ran ? least : pods, least, "cpu=1",
                 "  failure: {default: " + std::string(ran ? "restartMember" : "failGroup") + ", maxRestarts: 100}\n"));
  if (ran || phase != "Pending" || !next.empty()) story.line("schedule\narmed g/*");
  if (ran || phase != "Pending") story.line("started g/*");
  if (ran) story.line("expect group g phase Running\nhost-down n1\nschedule");  // its pods are to be made again
  if (phase == "Failed") story.line("exit g/* code=1");
  if (phase == "Succeeded" || next == "Succeeded") story.line("exit g/* code=0");
  story.line(phase_line(text_at(entry.at("expected"), "desiredGroupPhase")));
  return story;
}

// A pod group whose pods are not made yet is one that is held.
Story tell_controller(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const Gang gang = read_gangs(inputs.at("podGroups")).at(0);
  const auto pods = read_pods(inputs.at("existingPods"));
  const bool has_pods = count_in(pods, gang.name) > 0;
  story.line("host fake-node mem=300\n" + std::string(has_pods ? "run " : "define ") +
             gang_manifest("g", gang.least, gang.least, "mem=50", has_pods ? "" : "  hold: true\n"));
  for (const auto& pod : pods) {
    if (pod.gang.empty()) story.line("run " + gang_manifest(pod.name, 1, 1, "mem=" + pod.memory));
  }
  story.line("schedule");
  const auto check = [&](const Json& status) {
    const std::string phase = status.at("args").at(1);
    const std::uint64_t running = status.at("args").at(4).get<std::uint64_t>();
    if (phase == "Pending") story.line("expect group g phase Defined");
    if (phase == "Scheduling") story.line("expect group g phase Placed");
    if (phase == "Running") story.line("expect group g phase Running");
    story.line("expect members g/* Running " + std::to_string(running));
  };
  check(inputs.at("intermediatePGState")[0]);
  for (const auto& pod : read_pods(inputs.at("incomingPods"))) {
    const std::string members = (pod.gang.empty() ? pod.name : "g") + "/*";
    story.line("armed " + members + "\nstarted " + members);
  }
  check(entry.at("expected").at("expectedPGState")[0]);
  return story;
}

// ---- all together: pod groups by the time of their creation, pods that are alone after them

Story tell_plugin(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const auto pods = read_pods(inputs.at("pods"));
  const auto gangs = read_gangs(inputs.at("podGroups"));
  story.line("agents auto\nhost fake-node mem=300");
  const auto submit = [&](const std::string& name, std::uint64_t members, std::uint64_t least, const GangPod& pod) {
    story.line("run " + gang_manifest(name, members, least, "mem=" + pod.memory,
                                      "  priority: " + std::to_string(pod.priority) + "\n"));
  };
  for (const auto& gang : gangs)
    submit(gang.name, count_in(pods, gang.name), gang.least, *std::ranges::find(pods, gang.name, &GangPod::gang));
  for (const auto& pod : pods) {
    if (pod.gang.empty()) submit(pod.name, 1, 1, pod);
  }
  story.line("schedule");
  std::map<std::string, std::uint64_t> running;  // members, by group
  for (const Json& name : at(entry, "expected", "expectedPods")) {
    const GangPod& pod = *std::ranges::find(pods, name.get<std::string>(), &GangPod::name);
    ++running[pod.gang.empty() ? pod.name : pod.gang];
  }
  for (const auto& [group, members] : running)
    story.line("expect members " + group + "/* Running " + std::to_string(members));
  story.line("expect groups Running " + std::to_string(running.size()));
  return story;
}

Story tell_no_objects(const Json&) {
  Story story;
  story.cannot_say("objects of Kubernetes");
  return story;
}

Story tell_coscheduling(const Json& entry) {
  using Tell = Story (*)(const Json&);
  static const std::map<std::string, Tell, std::less<>> kTellers{
      {"TestLess", tell_less},
      {"TestPermit", tell_permit},
      {"TestPostFilter", tell_post_filter},
      {"TestPostFilterRejectThreshold", tell_threshold},
      {"TestPreFilter", tell_pre_filter},
      {"TestCheckClusterResource", tell_cluster_resource},
      {"TestSchemeRestriction", tell_no_objects},
      {"Test_Run", tell_phase},
      {"TestFillGroupStatusOccupied", tell_no_objects},
      {"TestCoschedulingPlugin", tell_plugin},
      {"TestPodGroupController", tell_controller},
  };
  return kTellers.at(text_at(entry, "test"))(entry);
}

TEST_F(Peers, Coscheduling) { compare("coscheduling", tell_coscheduling, kCoschedulingDifferences); }

}  // namespace
}  // namespace lockstep
