// Volcano's tests of its job controller: what a policy makes of an event, what each state makes of an action, when a
// role may start, and how much must fit before a gang is placed. The tests of the states record only that there is no
// error; the phase that follows is known from Volcano's state machine, and is written here in Lockstep's words.

#include <algorithm>
#include <map>
#include <utility>

#include "tests/peers/peer.h"

namespace lockstep {
namespace {

const std::vector<Difference> kVolcanoDifferences{
    {"a verb that means nothing is refused with a code",
     "ignoring it would tell the caller that something will happen; Volcano takes any action in any state",
     {"CompletingState- *", "TerminatingState- *"},
     {"expected the step to be accepted, got WrongPhase: *"}},
    {"a group restarts by its policy alone",
     "every restart has a cause and a budget; an operator moves a group with evict, or with suspend and resume",
     {"AbortedState-AnyOtherAction case*", "PendingState- RestartJobAction *"},
     {"cannot say: a verb that restarts a job"}},
    {"success is what members report",
     "an operator's word would make a success of what did not finish; he can cancel",
     {"RunningState- CompleteJobAction *"},
     {"cannot say: a verb that ends a job well", "expected group g phase Succeeded, got Running"}},
    {"suspend, resume and preemption never charge",
     "the group did not fail; Volcano counts a resumption as a retry",
     {"AbortedState-ResumeAction case"},
     {"expected group g charged 1, got 0"}},
    {"maxRestarts: exactly this many charged restarts, so this + 1 runs",
     "in Volcano the last retry that is counted is never run",
     {"RestartingState- RetryCount is equal to or greater than MaxRetry"},
     {"expected group g phase Failed, got Running"}},
    {"a running group that is short of members is Recovering",
     "it keeps what it holds and has a deadline for what it lacks; a Pending group would hold nothing",
     {"RunningState- Default case and running back to pending *"},
     {"expected group g phase Pending, got Recovering"}},
    {"a rule is about failures",
     "commands are verbs with meanings of their own, which no policy of a group changes",
     {"Test Apply policies where overriding job level policies *", "Test Apply policies with job level policies *"},
     {"cannot say: a policy about commands"}},
    {"a member is asked to start when its `after` holds",
     "so none can run before; a report that says so is late. Volcano's controller counts the pods that it finds",
     {"SyncJob with dependsOn job can't find the dependent task"},
     {"expected members g/work[*] Running 2, got 0"}},
    {"minimums are of roles",
     "a minimum of the whole group says nothing about who is missing; Volcano fills it up, or cuts it, by priority",
     {"job's min available is 2, *", "job's min available is 3, master's and worker's *", "job's min available is 4, *",
      "#2", "#3"},
     {"expected group g phase Pending, got Placed", "expected group g phase Placed, got Pending",
      "expected group g held cpu=*"}},
    {"roles go in the order of the manifest",
     "priorities are of groups; what comes first in a group is said by writing it first",
     {"TestTasksPriority_Less", "TestTasksPriority_Swap"},
     {"cannot say: TestTasksPriority_*"}},
    {"a topology holds for the group or for a role",
     "parts of a role that have domains of their own are roles, as the reader of JobSets makes them",
     {"TestCreatePodGroupIfNotExistFunc", "UpdatePodGroup compatibility with *", "TestGetSubGroupPolicy",
      "TestCreatePodWithPartitionPolicy", "TestPartitionPolicyEdgeCases"},
     {"cannot say: parts of a role, each with a domain of its own", "cannot say: TestGetSubGroupPolicy",
      "cannot say: TestCreatePodWithPartitionPolicy", "cannot say: TestPartitionPolicyEdgeCases"}},
    {"every group that neither runs nor has ended has a reason",
     "also before a pass looked at it; Volcano has something to say only once its scheduler wrote it down",
     {"pg with no conditions"},
     {"expected group g reason none, got WaitingBehind"}},
    {"the log is the history",
     "a list of conditions in the state would keep the latest of each kind and forget the others",
     {"TestAppendJobCondition"},
     {"cannot say: TestAppendJobCondition"}},
    {"Lockstep makes no objects of Kubernetes",
     "pod groups, plugins that write into pods, and queues of commands beside the log are not there",
     {"UpdatePodGroup success Case", "TestAddCommandFunc", "TestUpdateJobFunc", "TestPluginOnPodCreate",
      "TestPluginOnJobAdd", "TestPluginOnJobDelete"},
     {"cannot say: objects of Kubernetes", "cannot say: TestAddCommandFunc", "cannot say: TestUpdateJobFunc",
      "cannot say: TestPluginOn*"}},
};

const std::string kTask = "task1";

std::string times(std::uint64_t number) { return std::to_string(number); }

void begin_job(Story& story, const std::vector<RoleLine>& roles, std::string_view spec,
               std::string_view host = "cpu=100") {
  // The larger one is down: it makes that a group could fit, and never does.
  story.line("host n1 " + std::string(host) + "\nhost n2 cpu=100\nhost-down n2");
  story.line("run " + group_block(roles, spec));
}

std::vector<std::string> phases_of(const Json& pods) {
  std::vector<std::string> phases;
  for (const Json& pod : pods) phases.push_back(text_at(at(pod, "Status"), "Phase"));
  return phases;
}
std::uint64_t count_of(const std::vector<std::string>& phases, std::string_view phase) {
  return static_cast<std::uint64_t>(std::ranges::count(phases, phase));
}

// ---- states: what an action does in each

// The members of task1: as many as there are pods, or the gang needs; one where the table has none.
struct Job {
  std::uint64_t members{};
  std::uint64_t live{};  // still to be confirmed gone when the job is being stopped
  std::uint64_t running{};
  std::uint64_t succeeded{};
  std::uint64_t pending{};  // of a job that ran: lost, and not started again
};

Job job_of(const Json& info) {
  const Json& spec = at(info, "Job", "Spec");
  const auto pods = phases_of(at(info, "Pods", kTask));
  Job job{std::max({pods.size(), static_cast<std::size_t>(number_at(spec, "MinAvailable")), std::size_t{1}})};
  if (!at(spec, "Tasks").empty()) job.members = std::max(job.members, number_at(at(spec, "Tasks")[0], "Replicas"));
  job.live = pods.size() - count_of(pods, "Succeeded");
  job.running = count_of(pods, "Running");
  job.succeeded = count_of(pods, "Succeeded");
  job.pending = count_of(pods, "Pending");
  return job;
}

// Brings the group into the state that a case begins in. Without pods nothing lives any more.
void enter(Story& story, const std::string& state, const Job& job) {
  if (state == "Pending") {
    if (job.live == 0) return;
    story.line("agents manual\nschedule\narmed g/*");
    for (std::uint64_t i = 0; i < job.running; ++i) story.line("started g/task1[" + times(i) + "]");
    return;
  }
  story.line("schedule\nexpect group g phase Running\nagents manual");
  if (state == "Aborting" || state == "Aborted") story.line("suspend g");
  if (state == "Terminating") story.line("cancel g");
  if (state == "Completing") story.line("exit g/task1[0] code=0");
  if (state != "Running" && job.live == 0) story.line("stopped g/*");
}

void act(Story& story, const std::string& action, const Job& job) {
  if (action == "AbortJobAction") story.line("suspend g");
  if (action == "ResumeJobAction") story.line("resume g");
  if (action == "TerminateJobAction") story.line("cancel g");
  if (action == "EnqueueAction") story.line("schedule");
  if (action == "CompleteJobAction") story.cannot_say("a verb that ends a job well");
  if (action == "RestartJobAction") story.cannot_say("a verb that restarts a job");
  if (action != "SyncJobAction") return;
  for (std::uint64_t i = 0; i < job.succeeded; ++i) story.line("exit g/task1[" + times(i) + "] code=0");
  for (std::uint64_t i = 0; i < job.pending; ++i) story.line("lost g/task1[" + times(job.members - 1 - i) + "]");
}

// Where Volcano's job is once what it stops is gone; "" where it stays.
std::string phase_after(const std::string& state, const std::string& action, const Job& job, std::uint64_t min) {
  const bool is_stable = state == "Pending" || state == "Running";
  if (state == "Aborting" || (is_stable && action == "AbortJobAction")) return "Suspended";
  if (state == "Aborted") return action == "ResumeJobAction" ? "Pending" : "Suspended";
  if (state == "Terminating" || (is_stable && action == "TerminateJobAction")) return "Cancelled";
  if (state == "Completing" || (is_stable && action == "CompleteJobAction")) return "Succeeded";
  if (state == "Running") return job.pending > job.members - min ? "Pending" : "Running";
  return job.live > 0 && job.running >= min ? "Running" : "";
}

Story tell_state(const Json& entry) {
  Story story;
  const Json& info = at(entry, "inputs", "JobInfo");
  const std::string state = text_at(at(info, "Job", "Status", "State"), "Phase");
  const std::string action = text_at(entry.at("inputs"), "Action");
  const Job job = job_of(info);
  story.line("agents auto");
  begin_job(story, {{kTask, state == "Completing" ? job.members + 1 : job.members}},
            "  failure: {default: restartMember, maxRestarts: 10}\n  success: {operator: " +
                std::string(state == "Completing" ? "any" : "all") + ", rest: kill}\n");
  enter(story, state, job);
  act(story, action, job);
  const bool stops = action != "SyncJobAction" && action != "EnqueueAction";
  if (stops) story.line("stopped g/*");
  const std::string phase =
      phase_after(state, action, job, number_at(at(info, "Job", "Spec"), "MinAvailable", job.members));
  story.line(phase.empty() ? "not expect group g phase Running" : "expect group g phase " + phase);
  // Volcano counts a resumption as a retry.
  if (action == "ResumeJobAction" && state == "Aborted") story.line("expect group g charged 1");
  return story;
}

// In Volcano a job that is Restarting fails when the restart that brought it there was the last one of MaxRetry.
Story tell_restarting(const Json& entry) {
  Story story;
  const Json& job = at(entry, "inputs", "JobInfo", "Job");
  const std::uint64_t max = number_at(job.at("Spec"), "MaxRetry");
  const std::uint64_t done = number_at(job.at("Status"), "RetryCount");
  std::vector<RoleLine> roles;
  for (const Json& task : at(job, "Spec", "Tasks"))
    roles.push_back({text_at(task, "Name"), number_at(task, "Replicas")});
  if (roles.empty()) roles.push_back({kTask});
  story.line("agents auto");
  begin_job(story, roles, "  failure: {default: restartGroup, backoff: {base: 0s}, maxRestarts: " + times(max) + "}\n");
  story.line("schedule");
  for (std::uint64_t i = 0; i < done; ++i) story.line("exit g/task1[0] code=1");
  story.line("expect group g charged " + times(done));
  story.line(done >= max ? "expect group g phase Failed"
                         : "expect group g phase Running\nexpect group g attempt " + times(done + 1));
  return story;
}

// ---- policies: SyncJob means that nothing is done but to look

Story tell_policies(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const Json& request = inputs.at("Request");
  const std::string event = text_at(request, "Event");
  const Json& task = at(inputs, "Job", "Spec", "Tasks")[0];
  std::string rules;
  for (const Json* policies : {&at(task, "Policies"), &at(inputs, "Job", "Spec", "Policies")}) {
    for (const Json& policy : *policies) {
      if (text_at(policy, "Event") == "CommandIssuedEvent") story.cannot_say("a policy about commands");
      if (text_at(policy, "Action") == "TerminateJobAction") rules += "{reasons: [hostLost], action: failGroup}";
    }
  }
  begin_job(story, {{kTask, number_at(task, "Replicas")}},
            "  failure: {default: restartGroup, rules: [" + rules + "]}\n");
  story.line("agents auto\nschedule\nagents manual");
  if (event == "PodRunningEvent") story.line("started g/task1[0]");
  if (event == "PodEvictedEvent") story.line("lost g#10000/task1[0]\nexpect rejected UnknownGroup");  // another job's
  if (request.contains("JobVersion")) story.line("exit g/task1[0] code=1 attempt=2\nexpect late 1");
  if (request.contains("TaskName") && event.empty()) story.line("exit g/task1[0] code=0");
  if (text_at(entry.at("expected"), "ReturnVal") == "EnqueueAction") story.line("schedule");
  story.line("expect group g phase Running\nexpect group g attempt 1\nexpect group g charged 0");
  return story;
}

// ---- pods: what is stopped and what stays, what is counted

Story tell_kill(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  const std::uint64_t pods = std::max<std::size_t>(at(inputs, "Pods").size(), 1);
  const Json& target = at(inputs, "Target");
  story.line("agents auto");
  begin_job(story, {{kTask, pods + (target.is_null() ? 0U : 1U)}}, "  failure: {default: restartMember}\n");
  story.line("schedule");
  if (target.is_null()) {  // the whole job
    story.line("agents manual\ncancel g\nexpect intents g stop " + times(pods));
    story.line("stopped g/*\nexpect group g phase Cancelled\nexpect group g held none");
    return story;
  }
  const bool known = text_at(target, "TaskName") == kTask;
  story.line(known ? "exit g/task1[0] code=1" : "exit g/nobody[0] code=1\nexpect rejected UnknownRole");
  story.line("expect group g phase Running\nexpect group g attempt 1");
  story.line("expect member g/task1[0] run " + times(known ? 2 : 1) + "\nexpect member g/task1[1] run 1");
  return story;
}

Story tell_sync(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  std::vector<RoleLine> roles;
  for (const Json& task : at(inputs, "Job", "Spec", "Tasks")) {
    RoleLine role{text_at(task, "Name"), number_at(task, "Replicas")};
    for (const Json& other : at(task, "DependsOn", "Name"))
      role.more += ", after: {" + other.get<std::string>() + ": started}";
    roles.push_back(role);
  }
  begin_job(story, roles, "");
  story.line("schedule\narmed g/*");
  for (const auto& [name, pods] : at(inputs, "JobInfo", "Pods").items()) {
    for (std::size_t i = 0; i < pods.size(); ++i) story.line("started g/" + name + "[" + times(i) + "]");
    story.line("expect members g/" + name + "[*] Running " + times(pods.size()));
  }
  story.line("expect members g/* on n1 " + times(number_at(inputs, "TotalNumPods")));
  return story;
}

// The list of pods that the controller keeps; here what is known of the members.
Story tell_pod_list(const Json& entry) {
  Story story;
  const std::string test = text_at(entry, "test");
  const Json& expected = at(entry, "expected", "ExpectedValue");
  begin_job(story, {{kTask, 2, ", min: 1"}}, "  failure: {default: tolerate}\n");
  story.line("schedule");
  if (test == "TestAddPodFunc") {
    for (std::size_t i = at(entry, "inputs", "pods").size(); i > 0; --i) story.line("armed g/task1[0] seq=1");
    story.line("expect members g/* Armed " + expected.dump() + "\nexpect late 0");
  } else if (test == "TestUpdatePodFunc") {
    story.line("exit g/task1[0] code=1\nexpect member g/task1[0] phase " + expected.get<std::string>());
  } else {
    const bool known = expected == 1;
    story.line("armed g/*\nstarted g/*\nlost g/task1[" + std::string(known ? "1" : "7") + "]");
    story.line("expect members g/* Running " + expected.dump());
  }
  return story;
}

// ---- order: a task waits for those it depends on

Story tell_depends_on(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  std::vector<RoleLine> roles;
  for (const Json& task : at(inputs, "Job", "Spec", "Tasks")) {
    RoleLine role{text_at(task, "Name"), number_at(task, "Replicas")};
    role.more = ", min: " + times(number_at(task, "MinAvailable", role.replicas));
    if (task.contains("DependsOn")) role.more += ", after: {" + kTask + ": started}";
    roles.push_back(role);
  }
  begin_job(story, roles, "");
  story.line("schedule\narmed g/*");
  const Json& pods = inputs.at("Pods");
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const std::string member = "g/task1[" + times(i) + "]";
    const Json& containers = at(pods[i], "Status", "ContainerStatuses");
    if (!containers.empty() && at(containers[0], "Ready") == true) story.line("started " + member);
    if (text_at(pods[i].at("Status"), "Phase") == "Succeeded") story.line("exit " + member + " code=0");
  }
  story.line(std::string("expect members g/task2[*] Starting ") +
             (at(entry, "expected", "ExpectedReady") == true ? "1" : "0"));
  return story;
}

// ---- gang minimums: the least that must fit, so nothing is placed with a little less

void expect_minimum(Story& story, std::uint64_t min_cpu, std::string_view unit) {
  const auto cpu = [&](std::uint64_t amount) { return "host n1 cpu=" + times(amount) + std::string(unit); };
  story.line(cpu(min_cpu - 1) + "\nschedule\nexpect group g phase Pending");
  story.line(cpu(min_cpu) + "\nschedule\nexpect group g phase Placed");
  story.line("expect group g held cpu=" + times(min_cpu) + std::string(unit));
}

Story tell_partitions(const Json& entry) {
  Story story;
  const Json& tasks = at(entry, "inputs", "Job", "Spec", "Tasks");
  if (tasks.empty()) {
    story.cannot_say("objects of Kubernetes");
    return story;
  }
  const Json& policy = tasks[0].at("PartitionPolicy");
  const std::uint64_t replicas = number_at(tasks[0], "Replicas");
  const std::uint64_t partitions = number_at(policy, "MinPartitions", number_at(policy, "TotalPartitions"));
  if (policy.contains("NetworkTopology")) story.cannot_say("parts of a role, each with a domain of its own");
  begin_job(story, {{kTask, replicas, ", min: " + times(partitions * number_at(policy, "PartitionSize"))}},
            "  placement: {partial: true}\n", "cpu=0");
  expect_minimum(story, at(entry, "expected", "ExpectMinTaskMember", kTask).get<std::uint64_t>(), "");
  return story;
}

// Two masters and two workers; the order of a role's priority is the order of roles here.
Story tell_minimum(const Json& entry) {
  Story story;
  const Json& inputs = entry.at("inputs");
  std::vector<RoleLine> roles{{"master", 2, "", "cpu=50m"}, {"worker", 2, "", "cpu=100m"}};
  const Json& minimums = inputs.at("TasksMinAvailable");
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!minimums[i].is_null()) roles[i].more = ", min: " + minimums[i].dump();
  }
  const Json& priorities = at(inputs, "TasksPriority");
  if (!priorities.empty() && number_at(priorities[1], "priority") > number_at(priorities[0], "priority")) {
    std::swap(roles[0], roles[1]);
  }
  begin_job(story, roles, "  placement: {partial: true}\n", "cpu=0");
  const std::string cpu = text_at(at(entry, "expected", "ExpectValue"), "cpu");
  expect_minimum(story, std::stoull(cpu), "m");
  return story;
}

// ---- why it waits

Story tell_unschedulable(const Json& entry) {
  Story story;
  const auto minutes = [](const Json& condition) {
    return condition.at("LastTransitionTime").at("args").at(4).get<int>();
  };
  std::map<int, std::string> in_order;
  for (const Json& condition : at(entry, "inputs", "pgConditions"))
    in_order[minutes(condition)] = text_at(condition, "Type");
  story.line("agents auto");
  begin_job(story, {{kTask}}, "");
  for (const auto& [time, type] : in_order) {
    if (type == "PodGroupScheduled") story.line("host-up n1\nschedule\nexpect group g phase Running");
    if (type == "PodGroupUnschedulableType" && time == in_order.begin()->first) story.line("drain n1\nschedule");
    if (type == "PodGroupUnschedulableType" && time != in_order.begin()->first)
      story.line("drain n1\nevict g\nschedule");
  }
  const bool is_told = !text_at(entry.at("expected"), "ExpectEvent").empty();
  story.line("expect group g reason " + std::string(is_told ? "WaitingForHosts" : "none"));
  return story;
}

Story tell_nothing(const Json& entry) {
  Story story;
  story.cannot_say(text_at(entry, "test"));
  return story;
}

Story tell_volcano(const Json& entry) {
  using Tell = Story (*)(const Json&);
  static const std::map<std::string, Tell, std::less<>> kTellers{
      {"TestApplyPolicies", tell_policies},
      {"TestRestartingState_Execute", tell_restarting},
      {"TestKillJobFunc", tell_kill},
      {"TestPodsToKill", tell_kill},
      {"TestKillPodsPodGroupDeletion", tell_kill},
      {"TestSyncJobFunc", tell_sync},
      {"TestAddPodFunc", tell_pod_list},
      {"TestUpdatePodFunc", tell_pod_list},
      {"TestDeletePodFunc", tell_pod_list},
      {"TestIsDependsOnPodsReady", tell_depends_on},
      {"TestCreatePodGroupIfNotExistFunc", tell_partitions},
      {"TestUpdatePodGroupIfJobUpdateFunc", tell_partitions},
      {"TestTaskPriority_CalcPGMin", tell_minimum},
      {"TestCalcPGMinResources", tell_minimum},
      {"TestRecordPodGroupEvent", tell_unschedulable},
  };
  const std::string test = text_at(entry, "test");
  if (const auto teller = kTellers.find(test); teller != kTellers.end()) return teller->second(entry);
  return test.ends_with("State_Execute") ? tell_state(entry) : tell_nothing(entry);
}

TEST_F(Peers, VolcanoJobController) { compare("volcano_job_controller", tell_volcano, kVolcanoDifferences); }

}  // namespace
}  // namespace lockstep
