// The gang step at size: what a scheduling pass costs as the cluster grows, warm, as a scheduler that runs all day is.
//
//     lockstep_bench_gang_step [--hosts N,N,...] [--pending N] [--json]
//
//   place    small gangs (8 members) placed per second, plan, decide, apply and the record in memory included
//   full     a pass in which none of the pending groups of 100 shapes fits, nothing being free
//   lacking  the same when every host has room but for one counter, not always the same one
//   big      one gang of 4,096 members, required block, preferred rack
//   victims  whom to evict for a gang on 512 hosts, among 5,000 running groups
//   freed    a pass after one host became free, everything pending

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "events/log/memory_log.h"
#include "replay/controller.h"
#include "scheduler/plan.h"
#include "tools/bench/measure.h"

namespace lockstep::bench {
namespace {

constexpr std::uint32_t kHostsPerBlock = 1'000;
constexpr std::uint32_t kHostsPerRack = 20;
constexpr std::uint32_t kHostsPerIsland = 4;

class Site {
 public:
  explicit Site(std::uint32_t hosts) : controller_(Controller::start(log_, nullptr, {}, Time{1}).value()) {
    take(Actor::User, SetLevels{{"block", "rack", "island"}});
    for (std::uint32_t host = 0; host < hosts; ++host) {
      HostInfo info;
      info.name = fmt::format("n{:06}", host);
      info.counters = {{"cpu", 64'000}, {"gpu", 8}, {"mem", std::int64_t{1} << 40U}};
      info.at = {fmt::format("b{:03}", host / kHostsPerBlock), fmt::format("r{:04}", host / kHostsPerRack),
                 fmt::format("i{:05}", host / kHostsPerIsland)};
      info.attributes = {{"kind", std::to_string(host % 3)}};
      take(Actor::User, SetHost{.info = info, .set_at = true});
    }
  }

  GroupId define(std::uint32_t members, const std::vector<Counter>& requests, std::int32_t priority = 0,
                 const Topology& topology = {}, const std::vector<KeyValue>& select = {}) {
    DefineGroup define;
    define.identity.name = fmt::format("g{}", ++named_);
    define.identity.user = "ana";
    RoleSpec role;
    role.name = "worker";
    role.replicas = role.min = role.max = members;
    TaskTerm term;
    term.requests = requests;
    term.select = select;
    role.tasks = {term};
    define.spec.roles = {role};
    define.spec.priority = priority;
    define.spec.topology = topology;
    return take(Actor::User, std::move(define)).group;
  }

  // Passes until nothing more is placed.
  void settle() {
    while (true) {
      Plan next = scheduler_.plan(state());
      if (next.actions.empty()) return;
      take(Actor::Scheduler, ApplyPlan{std::move(next)});
    }
  }

  void report_all(GroupId id, ReportKind kind) {
    const Group& group = *state().group(id);
    for (std::uint32_t index = 0; index < group.roles[0].members.size(); ++index) {
      Report said;
      said.kind = kind;
      said.member = {0, index};
      said.attempt = group.head.attempt;
      said.run = group.roles[0].members[index].run;
      said.sequence = group.roles[0].members[index].sequence + 1;
      take(Actor::Agent, ReportMember{id, said});
    }
  }

  Answer take(Actor actor, CommandBody body) {
    Command command;
    now_ = Time{now_.value + 1'000'000};
    command.time = now_;
    command.actor = actor;
    command.body = std::move(body);
    const Answer answer = controller_->execute(command).value();
    LOCKSTEP_CHECK(!is_rejection(answer.code), answer.text);
    return answer;
  }

  [[nodiscard]] Plan plan() { return scheduler_.plan(state()); }
  [[nodiscard]] const State& state() const { return controller_->state(); }

 private:
  MemoryLog log_;
  std::unique_ptr<Controller> controller_;
  Scheduler scheduler_;
  Time now_{seconds(1).value};
  std::uint64_t named_ = 0;
};

const std::vector<Counter> kSmall{{"cpu", 1'000}, {"gpu", 1}};
const std::vector<Counter> kWhole{{"cpu", 64'000}, {"gpu", 8}};

// 100 shapes: members and cpu of a task differ.
void define_pending(Site& site, std::uint32_t pending) {
  for (std::uint32_t i = 0; i < pending; ++i) {
    const std::uint32_t shape = i % 100;
    site.define(1 + shape / 10, {{"cpu", 1'000 + shape % 10 * 500}, {"gpu", 1}, {"mem", 1}});
  }
}

double pass_ms(Site& site, std::uint32_t expected) {
  std::vector<double> passes;
  for (int i = 0; i < 7; ++i) {
    const Stopwatch watch;
    const Plan next = site.plan();
    passes.push_back(watch.seconds() * 1e3);
    LOCKSTEP_CHECK(next.actions.size() == expected, fmt::format("{} actions", next.actions.size()));
  }
  return median(passes);
}

nlohmann::ordered_json place(std::uint32_t hosts, std::uint32_t pending) {
  Site site(hosts);
  for (std::uint32_t i = 0; i < pending; ++i) site.define(8, kSmall);
  const Stopwatch watch;
  std::size_t placed = 0;
  while (true) {
    Plan next = site.plan();
    if (next.actions.empty()) break;
    placed += next.actions.size();
    site.take(Actor::Scheduler, ApplyPlan{std::move(next)});
  }
  return {{"placed", placed}, {"per_second", static_cast<double>(placed) / watch.seconds()}};
}

nlohmann::ordered_json full(std::uint32_t hosts, std::uint32_t pending) {
  Site site(hosts);
  const GroupId filler = site.define(1, kWhole);
  for (std::uint32_t i = 1; i < hosts; ++i) site.define(1, kWhole);
  site.settle();
  define_pending(site, pending);
  nlohmann::ordered_json figures{{"pass_ms", pass_ms(site, 0)}};
  site.report_all(filler, ReportKind::LaunchFailed);
  const Stopwatch watch;
  const Plan next = site.plan();
  figures["freed_ms"] = watch.seconds() * 1e3;
  LOCKSTEP_CHECK(!next.actions.empty(), "the free host is of no use");
  return figures;
}

nlohmann::ordered_json lacking(std::uint32_t hosts, std::uint32_t pending) {
  Site site(hosts);
  const std::vector<Counter> lacks[] = {{{"cpu", 64'000}}, {{"gpu", 8}}, {{"mem", std::int64_t{1} << 40U}}};
  for (std::uint32_t kind = 0; kind < 3; ++kind) {
    site.define((hosts - kind + 2) / 3, lacks[kind], 0, {}, {{"kind", std::to_string(kind)}});
  }
  site.settle();
  define_pending(site, pending);
  return {{"pass_ms", pass_ms(site, 0)}};
}

nlohmann::ordered_json big(std::uint32_t hosts) {
  Site site(hosts);
  site.define(1, kSmall);
  site.settle();
  site.define(4'096, {{"cpu", 1'000}, {"gpu", 1}}, 0, {"block", "rack"});
  const Stopwatch watch;
  (void)site.plan();
  const double first = watch.seconds() * 1e3;  // nothing is known of this size yet
  return {{"first_pass_ms", first}, {"pass_ms", pass_ms(site, 1)}};
}

nlohmann::ordered_json victims(std::uint32_t hosts) {
  Site site(hosts);
  std::vector<GroupId> running;
  for (std::uint32_t i = 0; i < 5'000; ++i) running.push_back(site.define(hosts / 5'000, kWhole));
  site.settle();
  for (const GroupId id : running) {
    site.report_all(id, ReportKind::Armed);
    site.report_all(id, ReportKind::Started);
  }
  site.define(512, kWhole, 10);
  std::vector<double> passes;
  std::size_t evicted = 0;
  for (int i = 0; i < 7; ++i) {
    const Stopwatch watch;
    const Plan next = site.plan();
    passes.push_back(watch.seconds() * 1e3);
    evicted = next.actions.size() - 1;
  }
  return {{"pass_ms", median(passes)}, {"evicted", evicted}};
}

int run(int argc, char** argv) {
  std::vector<std::uint32_t> sizes{1'000, 10'000, 100'000};
  std::uint32_t pending = 50'000;
  bool json = false;
  std::vector<std::string> parts{"place", "full", "lacking", "big", "victims"};
  CLI::App app("What a scheduling pass costs, by size of the cluster");
  app.add_option("--hosts", sizes, "sizes")->delimiter(',')->capture_default_str();
  app.add_option("--pending", pending, "groups")->capture_default_str();
  app.add_option("--parts", parts, "which")->delimiter(',')->capture_default_str();
  app.add_flag("--json", json, "figures as JSON");
  CLI11_PARSE(app, argc, argv);
  nlohmann::ordered_json all;
  for (const std::uint32_t hosts : sizes) {
    for (const std::string& part : parts) {
      nlohmann::ordered_json figures;
      if (part == "place") figures = place(hosts, pending);
      if (part == "full") figures = full(hosts, pending);
      if (part == "lacking") figures = lacking(hosts, pending);
      if (part == "big" && hosts >= kHostsPerBlock) figures = big(hosts);
      if (part == "victims" && hosts >= 5'000) figures = victims(hosts);
      all[std::to_string(hosts)][part] = figures;
      if (!json) fmt::print("{:>8} hosts  {:<8} {}\n", hosts, part, figures.dump());
      std::fflush(stdout);
    }
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return 0;
}

}  // namespace
}  // namespace lockstep::bench

int main(int argc, char** argv) { return lockstep::bench::run(argc, argv); }
