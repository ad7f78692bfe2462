// run: a controller in the foreground, with simulated hosts.
#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>
#include <vector>

#include "tools/lockstep/live_run.h"
#include "tools/lockstep/manifest_files.h"
#include "tools/lockstep/verbs.h"
#include "tools/manifest/manifest.h"
#include "tools/topology/inventory_files.h"

namespace lockstep::cli {
namespace {

struct RunOptions {
  std::string store;
  std::vector<std::string> hosts;  // files
  std::vector<std::string> manifests;
  std::vector<std::string> runtimes;
  std::vector<std::string> failures;
  std::string claims_after{"200ms"};
  std::string step{"100ms"};
  LiveOptions live{};
};

Outcome<Duration> duration_of(const char* option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) return usage(std::string(option) + ": " + duration.error().message);
  return *duration;
}

Outcome<SimulationOptions> simulation(const RunOptions& options) {
  SimulationOptions simulation;
  for (const auto& text : options.runtimes) {
    if (auto added = add_runtime(text, simulation); !added) return refuse(added.error());
  }
  for (const auto& text : options.failures) {
    auto failure = parse_failure(text);
    if (!failure) return refuse(failure.error());
    simulation.failures.push_back(std::move(*failure));
  }
  const auto claims_after = duration_of("--claims-after", options.claims_after);
  if (!claims_after) return refuse(claims_after.error());
  const auto step = duration_of("--step", options.step);
  if (!step) return refuse(step.error());
  simulation.claims_after = *claims_after;
  simulation.step = *step;
  return simulation;
}

void append(std::vector<std::string> lines, std::vector<std::string>& all) {
  all.insert(all.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
}

Outcome<void> add_hosts(const std::vector<std::string>& files, LiveOptions& live) {
  if (files.empty()) return {};
  auto hosts = read_hosts(files);
  if (!hosts) return refuse(std::move(hosts.error()));
  live.cluster = commands_of(*hosts);
  append(std::move(hosts->not_carried), live.not_carried);
  return {};
}

Outcome<void> add_groups(const std::vector<std::string>& files, LiveOptions& live) {
  auto manifests = read_manifest_files(files, caller());
  if (!manifests) return refuse(std::move(manifests.error()));
  live.groups = std::move(manifests->groups);
  append(std::move(manifests->not_carried), live.not_carried);
  return {};
}

Outcome<void> run(const Session& session, const RunOptions& options) {
  LiveOptions live = options.live;
  live.store = options.store;
  live.lines = session.json() ? Lines::Objects : Lines::Text;
  auto simulated = simulation(options);
  if (!simulated) return refuse(simulated.error());
  live.simulation = std::move(*simulated);
  if (auto added = add_hosts(options.hosts, live); !added) return added;
  if (auto added = add_groups(options.manifests, live); !added) return added;
  return run_live(live);
}

}  // namespace

void add_run_verbs(CLI::App& app, Session& session) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& verb = add_verb(app, session, "run", "Run a controller here, with simulated hosts and members",
                            [&session, options] { return run(session, *options); });
  add_store_option(verb, session, options->store);
  verb.add_option("MANIFEST", options->manifests, "Groups to define, unless a live one has the name");
  verb.add_option("--hosts", options->hosts,
                  "Hosts to know before that: an Inventory, the topology of another system, or both; after MANIFEST")
      ->type_name("FILE");
  verb.add_option("--runtime", options->runtimes, "How long members run: 3s, or of one role: worker=3s (default 5s)")
      ->allow_extra_args(false);
  verb.add_option("--fail", options->failures,
                  "A failure, once: worker[2]@1s:code=1; also [*], group/..., signal=9, oom, "
                  "lost, launch-failed, and ,every for in every run")
      ->allow_extra_args(false);
  verb.add_option("--claims-after", options->claims_after, "How long claims take to be ready (default 200ms)");
  verb.add_option("--step", options->step, "How long arming, starting and stopping a member take (default 100ms)");
  verb.add_flag("--until-idle", options->live.until_idle, "End when every group has ended");
  add_number(verb, "--snapshot-every", options->live.snapshot_every, {"a number of events"},
             "Events between two snapshots; 0 = never");
  verb.add_flag("--check", options->live.check_invariants, "Check the invariants after every command (slow)");
}

}  // namespace lockstep::cli
