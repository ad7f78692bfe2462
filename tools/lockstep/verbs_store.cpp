// init, state, snapshot, recover: a store as a whole.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "events/log/store.h"
#include "replay/recovery.h"
#include "statemachine/digest.h"
#include "tools/lockstep/client.h"
#include "tools/lockstep/direct_backend.h"
#include "tools/lockstep/init_store.h"
#include "tools/lockstep/manifest_files.h"
#include "tools/lockstep/text.h"
#include "tools/lockstep/verbs.h"
#include "tools/lockstep/view.h"

namespace lockstep::cli {
namespace {

struct StoreOptions {
  std::string store;
  std::string snapshot;            // seq or path
  std::vector<std::string> hosts;  // init: files
  std::uint64_t at{};
  bool plan{false};
};

std::string init_text(const Json& made) {
  const auto hosts = made.at("hosts").get<std::uint64_t>();
  return fmt::format("{}: a new store{}\n", printable(made.at("store").get<std::string>()),
                     hosts == 0 ? ", without hosts" : " with " + counted(hosts, "host"));
}

Outcome<void> init(const Session& session, const StoreOptions& options) {
  std::size_t hosts = 0;
  if (options.hosts.empty()) {
    if (auto made = init_store(options.store); !made) return refuse(made.error());
  } else {
    const auto inventory = read_hosts(options.hosts);
    if (!inventory) return refuse(inventory.error());
    if (auto made = init_with_hosts(options.store, *inventory); !made) return made;
    tell_not_carried(inventory->not_carried);
    hosts = inventory->hosts.size();
  }
  return show(session, Json{{"store", options.store}, {"hosts", hosts}}, init_text);
}

Outcome<void> state(const Session& session, const StoreOptions& options) {
  Client client(options.store);
  const std::string target = options.at != 0 ? fmt::format("/v1/state?at={}", options.at) : "/v1/state";
  return show(session, client.get(target), state_text);
}

// ---- snapshots ----
Outcome<Json> list_snapshots(const StoreOptions& options) { return Client(options.store).get("/v1/snapshots"); }

Outcome<void> check_seq(const std::string& what, const std::string& text) {
  if (text.empty()) return {};
  const auto seq = parse_number_of(what, text, seqs());
  if (!seq) return refuse(seq.error());
  return {};
}

// The newest, or the one of that seq or file.
Outcome<std::filesystem::path> choose(const StoreOptions& options) {
  if (options.snapshot.find('/') != std::string::npos) return std::filesystem::path(options.snapshot);
  if (auto checked = check_seq("SNAPSHOT", options.snapshot); !checked) {
    checked.error().message += ", or the path of a snapshot, with a / in it";
    return refuse(std::move(checked.error()));
  }
  const auto listing = list_snapshots(options);
  if (!listing) return refuse(listing.error());
  for (const auto& info : listing->at("snapshots")) {
    const bool wanted = options.snapshot.empty() || info.at("seq").dump() == options.snapshot;
    if (wanted) return std::filesystem::path(info.at("path").get<std::string>());
  }
  const std::string what = options.snapshot.empty() ? "no snapshot" : "no snapshot at seq " + options.snapshot;
  return refuse(Error{ErrorCode::NotFound, fmt::format("{}: {}; see 'lockstep snapshot list'", options.store, what)});
}

Outcome<void> show_snapshot(const Session& session, const StoreOptions& options) {
  const auto path = choose(options);
  if (!path) return refuse(path.error());
  const auto info = describe_snapshot(*path);
  if (!info) return refuse(info.error());
  return show(session, snapshot_json(*info), snapshot_text);
}

Outcome<void> verify_snapshots(const Session& session, const StoreOptions& options) {
  if (auto checked = check_seq("SEQ", options.snapshot); !checked) return checked;
  const auto listing = list_snapshots(options);
  if (!listing) return refuse(listing.error());
  Json verified = Json::array();
  std::string text;
  for (const auto& info : listing->at("snapshots")) {
    if (!options.snapshot.empty() && info.at("seq").dump() != options.snapshot) continue;
    const auto whole = verify_snapshot(info.at("path").get<std::string>());
    if (!whole) return refuse(whole.error());
    verified.push_back(snapshot_json(*whole));
    text += fmt::format("snapshot at seq {}: whole, {}, digest {}\n", whole->head.seq.value,
                        counted(whole->groups, "group"), verified.back().at("digest").get<std::string>());
  }
  const auto& damaged = listing->at("damaged");
  if (!damaged.empty()) {
    const std::string code = damaged[0].at("code").get<std::string>();
    return refuse(Failure{code, damaged[0].at("message").get<std::string>(), exit_status(ErrorCode::Damaged)});
  }
  if (!options.snapshot.empty() && verified.empty()) {
    return refuse(
        Error{ErrorCode::NotFound, fmt::format("{}: no snapshot at seq {}", options.store, options.snapshot)});
  }
  if (verified.empty()) text = "no snapshots: the log alone holds everything\n";
  print(session.json() ? to_text(verified, 2) + "\n" : text);
  return {};
}

void add_snapshot_verbs(CLI::App& app, Session& session) {
  CLI::App* snapshot = &add_verb(app, session, "snapshot", "create, list, describe or verify snapshots", [] {
    return Outcome<void>(usage("snapshot: say which: create, list, describe or verify"));
  });
  const auto add = [&](const char* name, const char* help, auto action) -> std::pair<CLI::App*, StoreOptions*> {
    auto options = std::make_shared<StoreOptions>();
    CLI::App& verb =
        add_verb(*snapshot, session, name, help, [&session, options, action] { return action(session, *options); });
    add_store_option(verb, session, options->store);
    return {&verb, options.get()};
  };
  add("create", "Take one now", [](const Session& s, const StoreOptions& options) {
    return show(s, Client(options.store).post("/v1/snapshots", ""), snapshot_text);
  });
  add("list", "Newest first",
      [](const Session& s, const StoreOptions& options) { return show(s, list_snapshots(options), snapshots_text); });
  auto [one, described] = add("describe", "Header and footer of one", show_snapshot);
  one->add_option("SNAPSHOT", described->snapshot, "Its seq, or a path; else the newest");
  auto [all, verified] = add("verify", "Read every byte of all", verify_snapshots);
  all->add_option("SEQ", verified->snapshot, "Only this one");
}

// ---- recover ----
Json plan_json(const RecoveryPlan& plan) {
  return {{"fromSnapshot", plan.from_snapshot ? snapshot_json(plan.snapshot) : Json(nullptr)},
          {"replayFirst", plan.replay_first.value},
          {"replayLast", plan.replay_last.value},
          {"head", plan.log_head.seq.value},
          {"why", plan.why}};
}

std::string plan_text(const Json& plan) {
  std::string text;
  for (const auto& why : plan.at("why")) text += printable(why.get<std::string>()) + "\n";
  const auto first = plan.at("replayFirst").get<std::uint64_t>();
  const auto last = plan.at("replayLast").get<std::uint64_t>();
  return text + (last < first ? "nothing to replay\n" : fmt::format("replays seq {} to {}\n", first, last));
}

std::string report_text(const Json& report) {
  return plan_text(report.at("plan")) +
         fmt::format("recovered seq {}: {} replayed, {} compared, digest {}\n", report.at("seq").dump(),
                     counted(report.at("eventsReplayed").get<std::uint64_t>(), "event"),
                     counted(report.at("digestsCompared").get<std::uint64_t>(), "digest"),
                     report.at("digest").get<std::string>());
}

Outcome<void> recover_verb(const Session& session, const StoreOptions& options) {
  const auto store = open_store(options.store, OpenMode::ReadOnly);
  if (!store) return refuse(store.error());
  const SnapshotStore snapshots(store->snapshots(), store->id);
  const auto end = recover_until(*store);
  if (!end) return refuse(end.error());
  const Seq until = options.at != 0 ? Seq{options.at} : *end;
  if (options.plan) {
    const auto plan = plan_recovery(*store->log, &snapshots, until);
    if (!plan) return refuse(plan.error());
    return show(session, plan_json(*plan), plan_text);
  }
  const auto recovered = recover(*store->log, &snapshots, until);
  if (!recovered) return refuse(recovered.error());
  const RecoveryReport& report = recovered->report;
  const Json json = {{"plan", plan_json(report.plan)},
                     {"seq", recovered->state.head.seq.value},
                     {"digest", hex(recovered->state.digest())},
                     {"eventsReplayed", report.events_replayed},
                     {"digestsCompared", report.digests_compared},
                     {"secondsSnapshot", report.seconds_snapshot},
                     {"secondsReplay", report.seconds_replay}};
  return show(session, json, report_text);
}

}  // namespace

void add_store_verbs(CLI::App& app, Session& session) {
  auto made = std::make_shared<StoreOptions>();
  CLI::App& init_verb =
      add_verb(app, session, "init", "Make a new store", [&session, made] { return init(session, *made); });
  add_store_option(init_verb, session, made->store);
  init_verb
      .add_option("--hosts", made->hosts, "What to begin with: an Inventory, the topology of another system, or both")
      ->type_name("FILE");

  auto shown = std::make_shared<StoreOptions>();
  CLI::App& state_verb = add_verb(app, session, "state", "The whole state, now or as it was",
                                  [&session, shown] { return state(session, *shown); });
  add_store_option(state_verb, session, shown->store);
  add_number(state_verb, "--at", shown->at, seqs(), "After the event of this seq");

  add_snapshot_verbs(app, session);

  auto recovered = std::make_shared<StoreOptions>();
  CLI::App& recover_added = add_verb(app, session, "recover", "Recover in memory, and say how",
                                     [&session, recovered] { return recover_verb(session, *recovered); });
  add_store_option(recover_added, session, recovered->store);
  recover_added.add_flag("--plan", recovered->plan, "Only say what would be done");
  add_number(recover_added, "--at", recovered->at, seqs(), "Up to this seq");
}

}  // namespace lockstep::cli
