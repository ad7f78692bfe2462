// JobSet's integration tests of its controller: a JobSet, steps, and what is to be seen after each. Nothing runs there
// but the controller: the test itself makes Jobs ready, complete and failed, and lets deleted ones go. So agents are
// manual here, and a Job that was created is a member that was asked to start.

#include <algorithm>
#include <iterator>
#include <regex>
#include <utility>

#include "tests/peers/jobset_story.h"

namespace lockstep {
namespace {

const std::vector<Difference> kJobSetDifferences{
    {"an end is recorded when the last live member is confirmed gone",
     "until then something of the group may still run; JobSet says it at once and deletes its Jobs afterwards",
     {"success policy 'any' with replicated job specified", "success policy 'any' without replicated job specified",
      "fails from first run, no restarts", "active jobs are deleted after jobset *", "suspend a running jobset",
      "[failure policy] jobset fails immediately *",
      "[failure policy] job fails and the parent replicated job is contained in TargetReplicatedJobs.",
      "[failure policy] failure policy rules order verification test 1",
      "[failure policy] failure policy rules order verification test 3"},
     {"expected group g phase Succeeded, got Stopping", "expected group g phase Failed, got Stopping",
      "expected group g phase Suspended, got Stopping"}},
    {"attempt counts when a group enters Placed, charged when a restart is decided",
     "an attempt that never was placed is none; JobSet counts both when it decides",
     {"[failure policy] jobset restarts with RestartJobSet*",
      "[failure policy] job fails and the parent replicated job is not contained in TargetReplicatedJobs.",
      "[failure policy] failure policy rules order verification test 2",
      "[failure policy] failure policy rules order verification test 3",
      "[failure policy] jobs are recreated after all Jobs are deleted with BlockingRecreate strategy."},
     {"expected group g attempt 2, got 1", "expected group g attempt 3, got 2", "expected group g attempt 4, got 3"}},
    {"no member of the next attempt runs before all of this one are confirmed gone",
     "two attempts of one gang would meet; of JobSet's strategies it is BlockingRecreate, never Recreate",
     {"[failure policy] jobs are restarted individually with Recreate strategy."},
     {"expected group g attempt 2, got 1", "expected members g/* Starting 3, got 0"}},
    {"a rule looks at role, reason, exit code and signal",
     "the text of a message is for people: it changes with a release, and two agents word the same end differently",
     {"[failure policy] jobset does not fail immediately *",
      "[failure policy] jobset fails immediately with FailJobSet failure policy action as *"},
     {"cannot say: a rule about the text of a message", "expected group g attempt 2, got 1",
      "expected group g charged 1, got 0"}},
    {"facts, not rules, in events",
     "an event carries what was charged and what a stop is for; rules have no names, and replay never asks them",
     {"jobset restarting condition transitions"},
     {"cannot say: the name of the rule that matched"}},
    {"what follows from a report follows in the same decision",
     "nobody can see a role that may start and was not asked to; JobSet's tests catch that moment between two passes",
     {"startupPolicy InOrder; replicated-job-a not ready then replicated-job-b should not run", "DependsOn: *"},
     {"expected members g/* Armed 3, got 0", "expected members g/* Armed 4, got 3"}},
    {"claims are requested when the group becomes Placed",
     "what holds nothing asks for nothing: a group that waits could hold volumes for ever",
     {"suspended jobset with VolumeClaimPolicies should create PVCs"},
     {"expected claim g/test-volume Provisioning, got Wanted"}},
    {"Lockstep makes no objects of Kubernetes",
     "names and addresses belong to the agents, who learn the hosts of all members when they arm",
     {"jobset with DNS hostnames enabled should *", "succeeds from first run", "fails from first run, no restarts",
      "service deleted", "jobset using generateName *", "jobset with coordinator set *"},
     {"cannot say: services", "cannot say: the coordinator's address"}},
    {"a standalone claim outlives groups",
     "tests/scenarios/standalone-claim-is-shared.scn shows a group that uses what another left; here it is only kept",
     {"jobset with VolumeClaimPolicies should create two PVC with Delete and Retain policies"},
     {"cannot say: a second JobSet"}},
};

struct JobName {
  std::string role;
  std::uint64_t index{};
};

std::string member(const JobName& job) { return "g/" + job.role + "[" + std::to_string(job.index) + "]"; }

class JobSetTeller {
 public:
  explicit JobSetTeller(const Json& entry) : entry_(entry), jobset_(at(entry, "inputs", "jobset")) {}

  Story tell() {
    create();
    const Json& steps = at(entry_, "inputs", "steps");
    if (steps.empty()) expect_members("Starting", total_);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const Json& action : steps[i]) act(text_of(action, 0), action);
      story_.line("armed g/*");
      for (const Json& what : at(entry_, "expected", "after_step").at(i)) check(text_of(what, 0), what);
    }
    finish();
    return std::move(story_);
  }

 private:
  static std::string text_of(const Json& list, std::size_t i) {
    return list.size() > i && list[i].is_string() ? list[i].get<std::string>() : "";
  }
  static std::string count(std::uint64_t number) { return " " + std::to_string(number); }

  // ---- the JobSet

  void create() {
    const bool elastic = text_at(entry_, "test").ends_with("Elastic scaling behavior");
    for (const Json& job : at(jobset_, "replicatedJobs")) {
      RoleLine role{role_name(text_at(job, "name")),
                    number_at(job, "Replicas") * number_at(job.at("job"), "Parallelism", 1)};
      role.more = after_of(job);
      if (elastic) role.more += ", max: 100";
      total_ += role.replicas;
      for (std::uint64_t i = 0; i < role.replicas; ++i) jobs_.push_back({role.name, i});
      roles_.push_back(std::move(role));
    }
    story_.line("host n1 cpu=100");
    story_.line("define " + group_block(roles_, spec()));
    story_.line("schedule\narmed g/*");
    if (!at(jobset_, "Coordinator").is_null()) story_.cannot_say("the coordinator's address");
  }

  [[nodiscard]] std::string after_of(const Json& job) const {
    std::string after;
    for (const Json& other : at(job, "DependsOn")) {
      after += text_at(other, "Name") + (text_at(other, "Status") == "Complete" ? ": succeeded, " : ": started, ");
    }
    const bool in_order = at(jobset_, "StartupPolicy", "StartupPolicyOrder") == "InOrder";
    if (in_order && !roles_.empty()) after += roles_.back().name + ": started";
    return after.empty() ? "" : ", after: {" + after + "}";
  }

  std::string spec() {
    std::string text = at(jobset_, "Suspend") == true ? "  hold: true\n" : "";
    const Json& success = at(jobset_, "SuccessPolicy");
    std::string targets;
    for (const Json& name : at(success, "TargetReplicatedJobs")) targets += role_name(name.get<std::string>()) + ", ";
    text += "  success: {operator: " + std::string(text_at(success, "Operator") == "Any" ? "any" : "all") +
            ", roles: [" + targets + "], rest: kill}\n";
    return text + failure() + claims();
  }

  // Without a policy a JobSet fails at its first failure; with one it restarts where no rule matches.
  std::string failure() {
    const Json& policy = at(jobset_, "FailurePolicy");
    if (policy.is_null()) return "  failure: {default: failGroup}\n";
    std::string rules;
    for (const Json& rule : at(policy, "Rules")) {
      rules += "{" + filter_text(rule, story_) + action_text(text_at(rule, "Action")) + "}, ";
    }
    return "  failure: {default: restartGroup, backoff: {base: 0s}, maxRestarts: " +
           std::to_string(number_at(policy, "MaxRestarts")) + ", rules: [" + rules + "]}\n";
  }

  std::string claims() {
    for (const Json& policy : at(jobset_, "VolumeClaimPolicies")) {
      const bool retained = at(policy, "RetentionPolicy", "WhenDeleted") == "Retain";
      for (const Json& claim : at(policy, "Templates")) {
        const std::string name = text_at(at(claim, "ObjectMeta"), "Name");
        claims_.push_back((retained ? "claim " : "g/") + name);
        claim_text_ += "{name: " + name + (retained ? ", kind: standalone}, " : "}, ");
      }
    }
    return claim_text_.empty() ? "" : "  claims: [" + claim_text_ + "]\n";
  }

  // ---- steps

  void act(const std::string& verb, const Json& action) {
    if (verb == "completeAllJobs") {
      ready_claims();
      for (const auto& role : roles_) story_.line("exit g/" + role.name + "[*] code=0");
    } else if (verb == "completeJob") {
      for (const auto& job : jobs_meant(action[1])) complete(job);
    } else if (verb.starts_with("failJob")) {
      fail(jobs_meant(action[1]).at(0), action);
    } else if (verb.starts_with("failFirstMatchingJob")) {
      fail({role_name(text_of(action, 1)), 0}, action);
    } else if (verb == "readyAllJobs" || verb == "readyJob") {
      for (const auto& job : verb == "readyJob" ? jobs_meant(action[1]) : jobs_) story_.line("started " + member(job));
    } else if (verb == "readyReplicatedJob") {
      story_.line("started g/" + role_name(text_of(action, 1)) + "[*]");
    } else if (verb == "removeForegroundDeletionFinalizers") {
      let_go(how_many(action[1]));
    } else if (verb == "suspendJobSet") {
      suspend(action[1] == true);
    } else if (verb == "go") {
      run_code(text_of(action, 1));
    } else if (verb == "value") {
      note(action[1]);
    } else if (verb == "Expect" || verb == "Eventually") {
      expect_call(action);
    } else if (verb == "JobSetCompleted") {
      story_.cannot_say("a second JobSet");
    } else if (verb != "activeReplicatedJob" && verb != "By") {  // pods that are there and not ready: still Starting
      story_.cannot_say(verb);
    }
  }

  void complete(const JobName& job) {
    story_.line("exit " + member(job) + " code=0");
    finished_ = member(job);
  }

  void fail(const JobName& job, const Json& action) {
    const std::string reason = action.back().is_object() ? text_at(action.back(), "reason") : "";
    story_.line("exit " + member(job) + " code=" + std::to_string(exit_code_of(reason)));
    finished_ = member(job);
  }

  // The first deleted Jobs go. A restart deletes the Job that failed too, which is gone here already; an end keeps it.
  void let_go(std::uint64_t number) {
    if (deleted_.empty()) {
      if (end_.empty()) deleted_.push_back(finished_);
      for (const auto& job : jobs_) {
        if (member(job) != finished_) deleted_.push_back(member(job));
      }
    }
    for (; number > 0 && !deleted_.empty(); --number) {
      if (deleted_.front() != finished_) story_.line("stopped " + deleted_.front());
      deleted_.erase(deleted_.begin());
    }
    if (deleted_.empty() && !later_.empty()) story_.line(std::exchange(later_, ""));
  }

  void suspend(bool wanted) {
    if (wanted) return story_.line("suspend g");
    story_.line(at(jobset_, "Suspend") == true ? "submit g" : "resume g");
    story_.line("schedule");
  }

  // Which Jobs an action names: by number, or by a few words of Go.
  [[nodiscard]] std::vector<JobName> jobs_meant(const Json& which) const {
    if (which.contains("job_index")) return {jobs_.at(which.at("job_index").get<std::size_t>())};
    const std::string code = text_at(which, "go");
    if (code.find("len(jobList.Items)-1") != std::string::npos) return {jobs_.back()};
    return {jobs_of(chosen_).at(0)};
  }
  [[nodiscard]] std::vector<JobName> jobs_of(const std::string& role) const {
    std::vector<JobName> jobs;
    std::ranges::copy_if(jobs_, std::back_inserter(jobs), [&](const JobName& job) { return job.role == role; });
    return jobs;
  }
  [[nodiscard]] std::uint64_t how_many(const Json& number) const {
    if (number.is_number()) return number.get<std::uint64_t>();
    return text_at(number, "go").ends_with("- 1") ? total_ - 1 : total_;
  }

  // Loops over Jobs, an update of the JobSet, volumes deleted; the other statements only get hold of objects.
  void run_code(const std::string& code) {
    std::smatch found;
    if (code.find("completeJob(") != std::string::npos) {
      std::vector<JobName> jobs = jobs_;
      if (std::regex_search(code, found, std::regex(R"re(jobList, "([^"]+)"\))re"))) jobs = jobs_of(found[1]);
      if (code.starts_with("for i := 1")) {
        jobs = jobs_of(chosen_);
        jobs.erase(jobs.begin());
      }
      if (code.find("len(jobList.Items)-1") != std::string::npos) jobs.pop_back();
      if (code.find("break") != std::string::npos) jobs.resize(1);
      for (const auto& job : jobs) complete(job);
    } else if (std::regex_search(code, found, std::regex(R"(Parallelism = ptr.To\[int32\]\((\d+)\))"))) {
      story_.line("armed g/*\nstarted g/*\nresize g " + roles_.front().name + " " + found[1].str());
    } else if (code.find("Delete(ctx, pvc)") != std::string::npos) {
      story_.line("claim " + claims_.front() + " released\nexpect " + claims_.back() + " Ready");  // the retained one
    }
  }

  // Of the variables only `jobs` is used by other actions.
  void note(const Json& value) {
    if (text_at(value, "$define") == "jobs") chosen_ = value.at("value").at("args").at(1).get<std::string>();
  }

  void expect_call(const Json& action) {
    const std::string code = action.dump();
    if (code.find("HaveOccurred") != std::string::npos) {
      if (code.find(R"(["To",{"make":"HaveOccurred")") != std::string::npos) story_.line("expect rejected OutOfBounds");
    } else if (code.find("dummy-job") != std::string::npos) {
      story_.line("exit g#9/w[0] code=0\nexpect rejected UnknownGroup");  // of an owner of the same name
    } else if (code.find(R"("svc")") != std::string::npos) {
      story_.cannot_say("services");
    } else if (code.find("volume-test-2") != std::string::npos) {
      story_.cannot_say("a second JobSet");
    }
  }

  void ready_claims() {
    for (const auto& claim : claims_) {
      story_.line((claim.starts_with("claim") ? claim : "claim " + claim) + " ready");
    }
  }

  // ---- checks

  void check(const std::string& verb, const Json& what) {
    if (verb == "matchJobSetReplicatedStatus") {
      for (const Json& role : what[1]) check_role(role);
    } else if (verb == "JobSetActive" || verb == "JobSetResumed") {
      story_.line("expect group g end none");
    } else if (verb == "JobSetCompleted" || verb == "JobSetFailed") {
      end_ = "expect group g phase " + std::string(verb == "JobSetFailed" ? "Failed" : "Succeeded");
      story_.line(end_);
    } else if (verb == "JobSetSuspended") {
      story_.line(at(jobset_, "Suspend") == true ? "expect group g phase Defined" : "expect group g phase Suspended");
      if (at(jobset_, "Suspend") != true) end_ = "expect group g phase Suspended";
    } else if (verb == "JobSetRestarting") {
      story_.line("expect group g phase " + std::string(what[1] == "True" ? "Stopping" : "Running"));
      if (text_of(what, 2).starts_with("FailurePolicy_")) story_.cannot_say("the name of the rule that matched");
    } else if (verb == "JobSetStartupPolicyNotFinished" || verb == "JobSetStartupPolicyComplete") {
      story_.line("expect group g phase " + std::string(verb.ends_with("Complete") ? "Running" : "Starting"));
    } else if (verb.starts_with("match")) {
      check_restarts(verb, what[1]);
    } else if (verb == "checkNoActiveJobs") {
      for (const char* phase : {"Starting", "Running", "Stopping"}) expect_members(phase, 0);
    } else if (verb == "checkExpectedPVCs") {
      for (const auto& claim : claims_) {
        story_.line("expect claim " + claim.substr(claim.starts_with("claim") ? 6 : 0) + " Provisioning");
      }
    } else if (verb == "checkExpectedServices") {
      story_.cannot_say("services");
    } else if (verb == "Eventually") {
      check_soon(what);
    } else if (verb != "value") {
      story_.cannot_say(verb);
    }
  }

  void expect_members(const std::string& phase, std::uint64_t number, const std::string& role = "*") {
    story_.line("expect members g/" + (role == "*" ? role : role + "[*]") + " " + phase + count(number));
  }

  // Ready pods run; suspended Jobs were not asked to start, and Jobs that are suspended no longer were.
  void check_role(const Json& status) {
    const std::string role = role_name(text_at(status, "Name"));
    const Json& suspended = at(status, "Suspended");
    const std::uint64_t ready = number_at(status, "Ready");
    expect_members("Running", ready, role);
    expect_members("Succeeded", number_at(status, "Succeeded"), role);
    if (suspended.is_null()) return;
    expect_members("Starting", suspended == 0 && ready == 0 ? jobs_of(role).size() : 0, role);
  }

  void check_restarts(const std::string& verb, const Json& number) {
    if (verb == "matchJobSetRestarts") {
      restarts_ = number.get<std::uint64_t>();
      const std::string line = "expect group g attempt" + count(restarts_ + 1);
      story_.line(line);
      later_ = line;
    } else if (verb == "matchJobSetRestartsCountTowardsMax") {
      charged_ = number.get<std::uint64_t>();
      if (end_of_step_has_job_counts()) return;
      story_.line("expect group g charged" + count(charged_));
    } else if (verb == "matchJobRestartsCountTowardsMax") {
      const std::uint64_t of_job = number.is_null() ? 0 : number.at(0).get<std::uint64_t>();
      story_.line("expect group g charged" + count(charged_ + of_job));
    } else if (!number.is_null()) {  // of the first Job
      story_.line("expect member " + member(jobs_.front()) + " run" +
                  count(1 + restarts_ + number.at(0).get<std::uint64_t>()));
    }
  }
  // `charged` is one number for both; it is asked for when both parts of it are known.
  [[nodiscard]] bool end_of_step_has_job_counts() const {
    return entry_.at("expected").dump().find("matchJobRestartsCountTowardsMax") != std::string::npos;
  }

  void check_soon(const Json& what) {
    const std::string code = what.dump();
    if (text_of(what, 1) == "NumJobs") {  // those not created yet wait for their turn
      expect_members("Armed", total_ - number_in(what));
    } else if (text_of(what, 1) == "NumJobsByRestartAttempt") {
      check_attempts(equal_to(what));
    } else if (text_of(what, 1) == "matchJobsSuspendState") {
      const bool suspended = code.find("WithArguments\",true") != std::string::npos;
      expect_members("Starting", suspended ? 0 : total_);
    } else if (code.find("checkJobSetReplicatedJobsStatus") != std::string::npos) {
      expect_members("Succeeded", total_);
    } else if (code.find("checkCoordinator") != std::string::npos) {
      story_.cannot_say("the coordinator's address");
    } else if (code.find("Parallelism") != std::string::npos) {
      check_parallelism(code);
    } else {
      story_.cannot_say("services");
    }
  }

  // Of the elastic JobSet: its members, grown once a pass has placed them.
  void check_parallelism(const std::string& code) {
    std::smatch found;
    if (!std::regex_search(code, found, std::regex(R"(p == (\d+))"))) return;
    story_.line("schedule\narmed g/*\nstarted g/*");
    expect_members("Running", std::stoull(found[1]));
  }

  static const Json& equal_to(const Json& what) { return what.back().at("then").at(1).at(1).at("args").at(0); }
  static std::uint64_t number_in(const Json& what) {
    return equal_to(what).is_number() ? equal_to(what).get<std::uint64_t>() : 0;
  }

  // {attempt: Jobs of it}: the newest attempt says how far it got.
  void check_attempts(const Json& jobs) {
    for (const auto& [attempt, number] : jobs.items()) {
      const std::uint64_t there = number.is_number() ? number.get<std::uint64_t>() : total_ - 1;
      story_.line("expect group g attempt" + count(std::stoull(attempt) + 1));
      expect_members(attempt == "0" ? "Stopping" : "Starting", there);
    }
  }

  // ---- the end

  void finish() {
    if (!end_.empty()) story_.line("stopped g/*\n" + end_);
    if (!later_.empty()) story_.line("stopped g/*\narmed g/*\n" + later_);
    story_.line("expect same-digest");
  }

  const Json& entry_;
  const Json& jobset_;
  Story story_{};
  std::vector<RoleLine> roles_{};
  std::vector<JobName> jobs_{};  // in the order of their names
  std::uint64_t total_{};
  std::vector<std::string> claims_{};
  std::string claim_text_{};
  std::string chosen_{};                // the replicatedJob whose Jobs Go's `jobs` are
  std::string finished_{};              // the latest that completed or failed
  std::vector<std::string> deleted_{};  // not let go yet
  std::uint64_t restarts_{};
  std::uint64_t charged_{};
  std::string later_{};  // what JobSet shows when it decides, and is so here once the old Jobs are gone
  std::string end_{};
};

Story tell_jobset_scenario(const Json& entry) { return JobSetTeller(entry).tell(); }

TEST_F(Peers, JobSetScenarios) { compare("jobset_scenarios", tell_jobset_scenario, kJobSetDifferences); }

}  // namespace
}  // namespace lockstep
