// Slurm's tests of topology/block and of backfill. Every block size is a level, the base block the lowest; a job fits
// into one aggregate of the smallest size that can hold it, so that level is required. A segment is a role that
// requires one base block; without nodes of a size to itself the job may then be anywhere. A job takes whole nodes.

#include <algorithm>
#include <utility>

#include "tests/peers/peer.h"

namespace lockstep {
namespace {

const std::vector<Difference> kSlurmDifferences{
    {"roles may be of any size",
     "a segment is a role, and what is left over is a smaller one; Slurm refuses what does not divide",
     {"5 nodes with segment 2 is refused at submit (5 % 2 != 0)"},
     {"expected the step to be refused with NeverFits, got it was done"}},
    {"a manifest is recorded once, only sizes change, by resize",
     "every event of a group was decided for the roles that it has; who wants others defines another group",
     {"test_segment_update", "test_segment_update_not_pending"},
     {"cannot say: a change of the roles of a group"}},
    {"a group is what runs",
     "what starts inside of it is its program's business; steps that have hosts of their own are roles",
     {"test_topo_multi_step_rotation"},
     {"cannot say: steps inside an allocation"}},
    {"members by role and index take hosts in path order, piece by piece, bytewise",
     "one order on every machine, whatever came up first; numbers that are to be in order have leading zeros",
     {"test_alpha_step_rank"},
     {"cannot say: the order in which hosts registered", "expected member g/w[0] host node11, got node101",
      "expected member g/w[1] host node12, got node102", "expected member g/w[2] host node101, got node11",
      "expected member g/w[3] host node102, got node12"}},
    {"what is held is never more than a host has",
     "who wants more tasks than cpus lets each ask for less",
     {"test_overcommit_cpus_per_task_multinode"},
     {"cannot say: more tasks than cpus"}},
    {"what a reservation holds, its deadline and its projected completion are visible",
     "a group without one has no planned start: it would be a guess about those before it, made anew in every pass",
     {"test_backfill_3"},
     {"cannot say: a planned start of a group that has no reservation"}},
    {"counts per domain",
     "decide where a group goes: the fewest domains, then the tightest; no number says how good a cluster looks",
     {"test_fragmentation"},
     {"cannot say: how scattered the free nodes are"}},
};

std::string job_name(std::uint64_t id) { return "j" + std::to_string(id); }
std::string size_level(std::uint64_t size) { return "nodes" + std::to_string(size); }

class BlockTeller {
 public:
  explicit BlockTeller(const Json& entry) : inputs_(entry.at("inputs")), expected_(entry.at("expected")) {
    const Json& topology = inputs_.at("topology");
    cpus_ = std::to_string(number_at(inputs_, "node_cpus", number_at(topology, "cores_per_node", 1)));
    blocks_ = topology.at("blocks").size();
    for (const Json& size : topology.at("block_sizes")) sizes_.push_back(size);
    base_ = sizes_.front();
    std::erase_if(sizes_, [&](std::uint64_t size) { return size > base_ * blocks_; });
    tell_cluster(topology);
  }

  // Jobs, one after the other: what becomes of each.
  Story states() {
    for (const Json& job : inputs_.at("jobs")) {
      const std::uint64_t id = number_at(job, "id");
      const Json& state = expected_.at(std::to_string(id));
      if (at(job, "overcommit") == true) story_.cannot_say("more tasks than cpus");
      submit(id, job, Mode::Atomic);
      if (state == "SUBMIT_REJECTED") {
        story_.line("expect rejected NeverFits");
        continue;
      }
      story_.line("schedule");
      if (state.is_object()) {
        story_.line("expect group " + job_name(id) + " phase Pending");
        story_.line("expect group " + job_name(id) + " reason TopologyUnsatisfiable");
        continue;
      }
      story_.line("expect group " + job_name(id) + " phase Running");
      story_.line("expect members " + job_name(id) + "/* on " + nodes_of(job) + " " +
                  std::to_string(number_at(job, "nodes")));
      if (state == "COMPLETED") story_.line("exit " + job_name(id) + "/* code=0\nexpect group j1 phase Succeeded");
    }
    return std::move(story_);
  }

  Story task_order() {
    submit(1, inputs_.at("jobs")[0], Mode::Atomic);
    story_.line("schedule");
    expect_order("j1/w", expected_.at("task_nodes"));
    return std::move(story_);
  }

  // Two steps are two roles.
  Story steps() {
    story_.cannot_say("steps inside an allocation");
    std::vector<RoleLine> roles;
    for (const Json& step : inputs_.at("steps")) roles.push_back(segment(roles.size(), number_at(step, "nodes")));
    story_.line("run " + group_block(roles, "", "j1") + "\nschedule");
    for (std::size_t i = 0; i < roles.size(); ++i) expect_order("j1/" + roles[i].name, expected_.at("step_nodes")[i]);
    return std::move(story_);
  }

  // All at once: who starts in the first pass, or when.
  Story backfill() {
    const std::uint64_t repeat = number_at(inputs_, "jobs_repeat");
    const std::uint64_t count = repeat > 0 ? repeat : inputs_.at("jobs").size();
    for (std::uint64_t id = 1; id <= count; ++id)
      submit(id, repeat > 0 ? inputs_.at("job") : inputs_.at("jobs")[id - 1], Mode::Reserve);
    story_.line("schedule\nschedule");  // until nothing changes
    for (const Json& id : at(expected_, "running")) story_.line("expect group " + job_name(id) + " phase Running");
    for (const Json& id : at(expected_, "not_running")) story_.line("expect group " + job_name(id) + " attempt 0");
    for (const Json& id : at(expected_, "equal_start")) story_.line("expect group " + job_name(id) + " attempt 0");
    if (expected_.contains("equal_start")) story_.line("advance 10m\nschedule");
    for (const Json& id : at(expected_, "equal_start")) story_.line("expect group " + job_name(id) + " phase Running");
    if (expected_.contains("invariant")) expect_order_of_starts();
    return std::move(story_);
  }

 private:
  enum class Mode { Atomic, Reserve };

  // ---- the cluster

  void tell_cluster(const Json& topology) {
    std::string levels = "levels";
    for (auto size = sizes_.rbegin(); size != sizes_.rend(); ++size) levels += " " + size_level(*size);
    story_.line(levels);
    std::uint64_t number = 0;
    for (const auto& [block, nodes] : topology.at("blocks").items()) {
      std::string path;
      for (auto size = sizes_.rbegin(); size + 1 != sizes_.rend(); ++size)
        path += "a" + std::to_string(number * base_ / *size) + "/";
      story_.line("host " + nodes.get<std::string>() + " cpu=" + cpus_ + " at=" + path + block);
      ++number;
    }
    for (const auto& [name, amount] : at(topology, "licenses").items())
      story_.line("pool license." + name + " " + amount.dump());
    story_.line("agents auto");
  }

  [[nodiscard]] std::string nodes_of(const Json& job) const {
    return job.contains("nodelist") ? text_at(job, "nodelist") : text_at(inputs_.at("topology"), "nodes");
  }

  // ---- jobs

  [[nodiscard]] std::string tasks_of(const Json& job) const {
    const std::string licence = text_at(job, "licenses");
    const std::string usage = "cpu=" + cpus_ + (licence.empty() ? "" : ":license." + licence + "=1");
    return (job.contains("nodelist") ? "select[listed==yes] " : "") + ("rusage[" + usage + "]");
  }

  [[nodiscard]] RoleLine segment(std::size_t number, std::uint64_t nodes) const {
    return {"s" + std::to_string(number), nodes, ", topology: {required: " + size_level(base_) + "}", "cpu=" + cpus_};
  }

  void submit(std::uint64_t id, const Json& job, Mode mode) {
    const std::uint64_t nodes = number_at(job, "nodes");
    const std::uint64_t size = number_at(job, "segment");
    if (job.contains("nodelist")) story_.line("host " + text_at(job, "nodelist") + " listed=yes");
    std::vector<RoleLine> roles;
    for (std::uint64_t left = nodes; size > 0 && left > 0; left -= std::min(left, size)) {
      roles.push_back(segment(roles.size(), std::min(left, size)));
      roles.back().tasks = tasks_of(job);
    }
    if (roles.empty()) roles.push_back({"w", nodes, "", tasks_of(job)});
    const auto aggregate = std::ranges::find_if(sizes_, [&](std::uint64_t each) { return each >= nodes; });
    const bool is_bound = size == 0 && aggregate != sizes_.end();
    const std::string limit = std::to_string(number_at(job, "time_limit_min")) + "m";
    std::string spec = "  priority: " + std::to_string(number_at(job, "priority")) + "\n  preemptible: false\n";
    spec += "  placement: {mode: " + std::string(mode == Mode::Reserve ? "reserve" : "atomic") + ", topology: {" +
            (is_bound ? "required: " + size_level(*aggregate) : "") + "}}\n";
    if (job.contains("time_limit_min")) spec += "  runLimit: " + limit + "\n  timeouts: {run: " + limit + "}\n";
    story_.line("run " + group_block(roles, spec, job_name(id)));
  }

  // ---- expectations

  void expect_order(const std::string& members, const Json& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      story_.line("expect member " + members + "[" + std::to_string(i) + "] host " + nodes[i].get<std::string>());
  }

  // No smaller job of a higher priority starts later than a bigger one of a lower one.
  void expect_order_of_starts() {
    story_.line("scheduler auto\nadvance 3h");
    const Json jobs = inputs_.at("jobs");
    for (std::uint64_t id = 1; id <= jobs.size(); ++id) story_.line("expect group " + job_name(id) + " attempt 1");
    story_.look = [jobs](const std::string& events) {
      std::vector<std::string> wrong;
      const auto start = [&](std::size_t i) { return events.find("GroupPlaced " + job_name(i + 1)); };
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        for (std::size_t j = 0; j < jobs.size(); ++j) {
          const bool is_first =
              jobs[i].at("priority") > jobs[j].at("priority") && jobs[i].at("nodes") <= jobs[j].at("nodes");
          if (is_first && start(i) > start(j)) wrong.push_back(job_name(j + 1) + " starts before " + job_name(i + 1));
        }
      }
      return wrong;
    };
  }

  const Json& inputs_;
  const Json& expected_;
  Story story_{};
  std::string cpus_;
  std::vector<std::uint64_t> sizes_{};  // of aggregates that the cluster can fill
  std::uint64_t base_{};
  std::size_t blocks_{};
};

// Hosts without a topology, in the order in which they registered.
Story tell_step_rank(const Json& entry) {
  Story story;
  const Json& nodes = entry.at("inputs").at("registration_order");
  for (const Json& node : nodes) story.line("host " + node.get<std::string>() + " cpu=1");
  story.line("run " + group_block({{"w", nodes.size()}}, "") + "\nschedule");
  std::size_t index = 0;
  for (const Json& node : entry.at("expected").at("alpha_step_rank"))
    story.line("expect member g/w[" + std::to_string(index++) + "] host " + node.get<std::string>());
  story.cannot_say("the order in which hosts registered");
  return story;
}

Story tell_slurm(const Json& entry) {
  const std::string test = text_at(entry, "test");
  if (test == "test_topo_task_order") return BlockTeller(entry).task_order();
  if (test == "test_topo_multi_step_rotation") return BlockTeller(entry).steps();
  if (test == "test_alpha_step_rank") return tell_step_rank(entry);
  Story nothing;
  if (test.starts_with("test_segment_update")) nothing.cannot_say("a change of the roles of a group");
  if (test == "test_backfill_3") nothing.cannot_say("a planned start of a group that has no reservation");
  if (test == "test_fragmentation") nothing.cannot_say("how scattered the free nodes are");
  if (!nothing.not_said.empty()) return nothing;
  return test.starts_with("test_backfill") ? BlockTeller(entry).backfill() : BlockTeller(entry).states();
}

TEST_F(Peers, SlurmBlockBackfill) { compare("slurm_block_backfill", tell_slurm, kSlurmDifferences); }

}  // namespace
}  // namespace lockstep
