#include "tools/lockstep/live_run.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "scheduler/plan.h"
#include "tools/lockstep/address.h"
#include "tools/lockstep/direct_backend.h"
#include "tools/lockstep/live_backend.h"
#include "tools/lockstep/live_lines.h"
#include "tools/lockstep/manifest_files.h"
#include "tools/lockstep/server.h"
#include "tools/lockstep/simulated_hosts.h"
#include "tools/lockstep/times.h"
#include "tools/lockstep/waker.h"

namespace lockstep::cli {
namespace {

// A verb that found no controller may have the store open for a moment.
constexpr auto kLockPatience = std::chrono::seconds(2);
constexpr auto kLockPause = std::chrono::milliseconds(20);
constexpr Duration kPassAgain{1'000'000};  // the state had moved on
constexpr Duration kPassAfterError = seconds(1);

Result<Store> open_patiently(const std::filesystem::path& directory) {
  const auto until = std::chrono::steady_clock::now() + kLockPatience;
  while (true) {
    auto store = open_store(directory, OpenMode::Write);
    if (store || store.error().code != ErrorCode::Locked || std::chrono::steady_clock::now() > until) return store;
    std::this_thread::sleep_for(kLockPause);
  }
}

std::shared_ptr<spdlog::logger> make_logger() {
  auto logger = std::make_shared<spdlog::logger>("lockstep", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%H:%M:%S.%e  [%l] %v", spdlog::pattern_time_type::utc);
  return logger;
}

bool all_ended(const State& state) {
  std::uint64_t live = 0;
  for (std::size_t i = 1; i < kGroupPhaseCount; ++i) {
    if (!is_terminal(static_cast<GroupPhase>(i))) live += state.indexes.groups_in[i];
  }
  return live == 0 && state.indexes.owing.empty();
}

class LiveRun {
 public:
  explicit LiveRun(const LiveOptions& options)
      : options_(options), logger_(make_logger()), hosts_(options.simulation), lines_(options.lines) {}

  Outcome<void> run() {
    if (auto rehearsed = rehearse(); !rehearsed) return rehearsed;
    if (auto started = start(); !started) return started;
    auto outcome = set_cluster();
    if (outcome) outcome = define_missing();
    if (outcome) {
      tell_start();
      outcome = loop();
    }
    stop();
    return outcome;
  }

 private:
  // ---- on the writer's thread ----
  void on_durable(const State& state, const std::vector<Event>& events) {
    const std::lock_guard lock(mutex_);
    const Time now = wall_clock();
    if (first_) {
      hosts_.observe_all(state, now);
      first_ = false;
    } else {
      hosts_.observe(state, events, now);
    }
    lines_.collect(state, events);
    schedule_ = state.anyone_waits();
    idle_ = all_ended(state);
    waker_.wake();
  }

  // ---- on the main thread ----
  Outcome<void> start() {
    auto store = open_patiently(options_.store);
    if (!store) return refuse(store.error());
    store_ = std::make_unique<Store>(std::move(*store));
    snapshots_ = std::make_unique<SnapshotStore>(store_->snapshots(), store_->id);
    EngineOptions options;
    options.controller.snapshot_every = options_.snapshot_every;
    options.controller.check_invariants = options_.check_invariants;
    options.controller.warn = [this](const std::string& text) { logger_->warn("{}", text); };
    auto engine =
        Engine::start(*store_->log, snapshots_.get(), options, wall_clock,
                      [this](const State& state, const std::vector<Event>& events) { on_durable(state, events); });
    if (!engine) return refuse(engine.error());
    engine_ = std::move(*engine);
    backend_ = std::make_unique<LiveBackend>(*engine_, *store_, [this](const Error& error) { on_error(error); });
    service_ = std::make_unique<Service>(*backend_);
    return listen();
  }

  Outcome<void> listen() {
    auto address = ControlAddress::of(options_.store);
    if (!address) return refuse(std::move(address.error()));
    address_ = std::make_unique<ControlAddress>(std::move(*address));
    auto server = Server::start(address_->path(), *service_, *backend_);
    if (!server) return refuse(std::move(server.error()));
    server_ = std::move(*server);
    return {};
  }

  // When nothing can be refused any more: a refusal is one line.
  void tell_start() {
    tell_not_carried(options_.not_carried);
    tell_recovery();
    for (const auto& name : there_) logger_->info("{} is already there, and goes on", name);
    logger_->info("listening on {}", (options_.store / "control.sock").string());
    told_ = true;
  }

  void tell_recovery() {
    const RecoveryReport& report = engine_->recovery();
    if (const std::string cut = store_->log->cut(); !cut.empty())
      logger_->warn("left out, for it was never acknowledged: {}", cut);
    const std::string from = report.plan.from_snapshot
                                 ? fmt::format("snapshot at seq {} and ", report.plan.snapshot.head.seq.value)
                                 : std::string();
    logger_->info("recovered seq {} from {}{} events of the log in {:.3f} s", report.plan.log_head.seq.value, from,
                  report.events_replayed, report.seconds_snapshot + report.seconds_replay);
  }

  void on_error(const Error& error) {
    logger_->error("{}: {}", name(error.code), error.message);
    waker_.wake();
  }

  static bool is_live(const State& state, const DefineGroup& group) {
    const Group* known = state.group_named(group.identity.name);
    return known != nullptr && !is_terminal(known->head.phase);
  }

  static Outcome<void> done(const Result<Answer>& answer) {
    if (!answer) return refuse(answer.error());
    if (is_rejection(answer->code)) return refuse(failure(*answer));
    return {};
  }

  // An inventory or a manifest that would be refused is, before this controller has written anything.
  Outcome<void> rehearse() const {
    if (options_.cluster.empty() && options_.groups.empty()) return {};
    const auto reader = open_to_read(options_.store);
    if (!reader) return refuse(reader.error());
    for (const auto& body : options_.cluster) {
      if (auto set = done(execute(**reader, command(Actor::User, body))); !set) return set;
    }
    for (const auto& group : options_.groups) {
      bool there = false;
      const auto looked = (*reader)->read([&](const State& state, const Head&) { there = is_live(state, group); });
      if (!looked) return refuse(looked.error());
      if (there) continue;
      if (auto defined = done(execute(**reader, command(Actor::User, group))); !defined) return defined;
    }
    return {};
  }

  // Many hosts are few flushes: nobody waits but for the last. Answers come in the order of the commands.
  Outcome<void> set_cluster() {
    Outcome<void> outcome;
    const auto take = [&outcome](const Result<Answer>& answer) {
      if (outcome) outcome = done(answer);
    };
    for (const auto& body : options_.cluster) {
      if (&body != &options_.cluster.back()) {
        engine_->submit(command(Actor::User, body), take);
      } else {
        take(engine_->execute(command(Actor::User, body)));
      }
    }
    return outcome;
  }

  // A manifest given again to a restarted controller is the group that is already there.
  Outcome<void> define_missing() {
    std::vector<std::string> defined;
    for (const auto& group : options_.groups) {
      bool there = false;
      const auto looked = engine_->read([&](const State& state, const Head&) { there = is_live(state, group); });
      if (!looked) return refuse(looked.error());
      if (there) {
        there_.push_back(group.identity.name);
        continue;
      }
      auto answered = done(engine_->execute(command(Actor::User, group)));
      if (!answered) return refuse(after_part(std::move(answered.error()), defined));
      defined.push_back(group.identity.name);
    }
    return {};
  }

  [[nodiscard]] static Command command(Actor actor, CommandBody body) {
    Command result;
    result.actor = actor;
    result.body = std::move(body);
    return result;
  }

  Outcome<void> loop() {
    while (!waker_.asked_to_end()) {
      if (const auto error = engine_->latched()) return refuse(*error);
      show();
      if (options_.until_idle && idle_now()) return {};
      report();
      pass();
      waker_.wait(next_wake());
    }
    return {};
  }

  void show() {
    std::unique_lock lock(mutex_);
    const auto batch = lines_.take();
    lock.unlock();
    lines_.show(batch);
  }

  // The flag may be of a batch before the last answer; a read is not.
  bool idle_now() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_) return false;
    }
    bool idle = false;
    const auto looked = engine_->read([&](const State& state, const Head&) { idle = all_ended(state); });
    return looked && idle;
  }

  // What agents and providers have to say by now.
  void report() {
    std::unique_lock lock(mutex_);
    auto reports = hosts_.due(wall_clock());
    lock.unlock();
    for (auto& report : reports) {
      const Actor actor = std::holds_alternative<ReportMember>(report) ? Actor::Agent : Actor::Provider;
      backend_->submit(command(actor, std::move(report)), [](const Result<Answer>&) {});
    }
  }

  // One scheduling pass, if something changed while somebody wants hosts.
  void pass() {
    {
      const std::lock_guard lock(mutex_);
      if (!schedule_ || wall_clock() < pass_after_) return;
      schedule_ = false;
    }
    Plan plan;
    const auto planned =
        engine_->read([&](const State& state, const Head&) { plan = scheduler_.plan(state, wall_clock()); });
    if (!planned || plan.actions.empty()) return;
    const auto answer = engine_->execute(command(Actor::Scheduler, ApplyPlan{std::move(plan)}));
    if (answer && !is_rejection(answer->code)) return;
    if (!answer) on_error(answer.error());
    const std::lock_guard lock(mutex_);
    schedule_ = true;
    pass_after_ = wall_clock() + (answer ? kPassAgain : kPassAfterError);
  }

  Time next_wake() {
    const std::lock_guard lock(mutex_);
    const Time report = hosts_.next();
    if (!schedule_) return report;
    return report ? std::min(report, pass_after_) : pass_after_;
  }

  void stop() {
    server_->close();
    engine_->stop();
    server_.reset();
    ::unlink(address_->path().c_str());
    show();
    lines_.finish();
    if (told_) logger_->info("stopped");
  }

  const LiveOptions& options_;
  Waker waker_;  // before any thread
  std::shared_ptr<spdlog::logger> logger_;

  std::mutex mutex_;  // what the writer's thread also uses
  SimulatedHosts hosts_;
  LiveLines lines_;
  bool first_ = true;
  bool schedule_ = false;  // somebody wants hosts, and something changed
  Time pass_after_{1};
  bool idle_ = false;

  std::vector<std::string> there_;  // groups that were there already
  bool told_ = false;               // that it runs

  std::unique_ptr<Store> store_;
  std::unique_ptr<SnapshotStore> snapshots_;
  std::unique_ptr<Engine> engine_;
  Scheduler scheduler_;  // asked by pass() alone
  std::unique_ptr<LiveBackend> backend_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<ControlAddress> address_;
  std::unique_ptr<Server> server_;
};

}  // namespace

Outcome<void> run_live(const LiveOptions& options) { return LiveRun(options).run(); }

}  // namespace lockstep::cli
