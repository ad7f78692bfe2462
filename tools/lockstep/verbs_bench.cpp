// bench: the product's figures beside the machine's own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/bench/bench.h"
#include "tools/lockstep/json.h"
#include "tools/lockstep/verbs.h"

namespace lockstep::cli {
namespace {

struct BenchChoice {
  std::string what{"all"};
  bench::BenchOptions options{};
};

Json append_json(const bench::AppendFigures& figures) {
  return {{"p50Us", figures.p50_us},
          {"floorP50Us", figures.floor_p50_us},
          {"p50Ratio", figures.p50_ratio},
          {"eventsPerSecond256", figures.events_per_second_256},
          {"floorEventsPerSecond256", figures.floor_events_per_second_256},
          {"fullFrameThroughputRatio", figures.full_frame_throughput_ratio},
          {"throughputRatio", figures.throughput_ratio},
          {"cpuWaitPercent", figures.cpu_wait_percent},
          {"floorSpread", figures.floor_spread},
          {"verdict", figures.tells() ? "quiet" : "machine busy"}};
}

// The first mix is the one that the words without a name mean.
Json replay_json(const std::vector<bench::ReplayFigures>& all) {
  const auto one = [](const bench::ReplayFigures& figures) {
    return Json{{"events", figures.events},
                {"eventsPerSecond", figures.events_per_second},
                {"scanEventsPerSecond", figures.scan_events_per_second},
                {"ratio", figures.ratio()}};
  };
  Json json = one(all.front());
  for (const auto& figures : all) json["mixes"][figures.mix] = one(figures);
  return json;
}

Json snapshot_json(const bench::SnapshotFigures& figures) {
  return {{"groups", figures.groups},
          {"seconds", figures.seconds},
          {"bytes", figures.bytes},
          {"rawBytes", figures.raw_bytes},
          {"maxPauseMs", figures.seconds * 1'000}};  // the writer waits for all of it
}

Json recovery_json(const bench::RecoveryFigures& figures) {
  return {{"groups", figures.groups},   {"tailEvents", figures.tail_events},
          {"seconds", figures.seconds}, {"floorSeconds", figures.floor_seconds},
          {"ratio", figures.ratio()},   {"bytesPerGroup", figures.bytes_per_group}};
}

double number(const Json& json, const char* name) { return json.at(name).get<double>(); }

std::string append_text(const Json& json) {
  std::string text = "append, against a write and a flush of the same frames\n";
  text += fmt::format("  one producer, p50          {:10.0f} us       floor {:10.0f} us       {:5.2f} times it\n",
                      number(json, "p50Us"), number(json, "floorP50Us"), number(json, "p50Ratio"));
  text += fmt::format("  256 outstanding            {:10.0f} events/s floor {:10.0f} events/s {:5.2f} of it\n",
                      number(json, "eventsPerSecond256"), number(json, "floorEventsPerSecond256"),
                      number(json, "fullFrameThroughputRatio"));
  text += fmt::format("  the same, batches of 128                                                  {:5.2f} of it\n",
                      number(json, "throughputRatio"));
  if (json.at("verdict") == "quiet") return text;
  return text +
         fmt::format("  machine busy, no verdict: threads waited {:.0f} % for a CPU, the disk varied {:.1f} times\n",
                     number(json, "cpuWaitPercent"), number(json, "floorSpread"));
}

std::string replay_text(const Json& json) {
  std::string text = "replay, against a scan that only checks and decodes\n";
  for (const auto& [mix, figures] : json.at("mixes").items()) {
    text += fmt::format("  {:<26} {:10.0f} events/s  scan {:10.0f} events/s {:5.2f} of it\n", mix,
                        number(figures, "eventsPerSecond"), number(figures, "scanEventsPerSecond"),
                        number(figures, "ratio"));
  }
  return text;
}

std::string snapshot_text(const Json& json) {
  constexpr double kMiB = 1U << 20U;
  return fmt::format("snapshot of {} groups\n  {:.2f} s, {:.0f} MiB (raw {:.0f} MiB); the writer waits for {:.0f} ms\n",
                     json.at("groups").get<std::uint64_t>(), number(json, "seconds"), number(json, "bytes") / kMiB,
                     number(json, "rawBytes") / kMiB, number(json, "maxPauseMs"));
}

std::string recovery_text(const Json& json) {
  return fmt::format(
      "recovery of {} groups and a tail of {} events\n  {:.2f} s to the first command, {:.2f} times what "
      "reading alone takes; {:.0f} bytes a group\n",
      json.at("groups").get<std::uint64_t>(), json.at("tailEvents").get<std::uint64_t>(), number(json, "seconds"),
      number(json, "ratio"), number(json, "bytesPerGroup"));
}

std::string bench_text(const Json& json) {
  std::string text;
  if (json.contains("append")) text += append_text(json.at("append"));
  if (json.contains("replay")) text += replay_text(json.at("replay"));
  if (json.contains("snapshot")) text += snapshot_text(json.at("snapshot"));
  if (json.contains("recovery")) text += recovery_text(json.at("recovery"));
  return text;
}

Outcome<void> run_bench(const Session& session, BenchChoice& choice) {
  if (std::filesystem::exists(choice.options.directory / "store.json")) {
    return refuse(Error{ErrorCode::Usage, fmt::format("{} is a store: name a directory beside it, on the same disk",
                                                      choice.options.directory.string())});
  }
  choice.options.progress = [](const std::string& what) {
    note_on_terminal("bench", what);
    return !output_lost();
  };
  const auto wants = [&](std::string_view what) { return choice.what == "all" || choice.what == what; };
  Json json = Json::object();
  if (wants("append")) {
    const auto figures = bench::bench_append(choice.options);
    if (!figures) return refuse(figures.error());
    json["append"] = append_json(*figures);
  }
  if (wants("replay")) {
    const auto figures = bench::bench_replay(choice.options);
    if (!figures) return refuse(figures.error());
    json["replay"] = replay_json(*figures);
  }
  if (wants("snapshot") || wants("recovery")) {
    const auto figures = bench::bench_groups(choice.options);
    if (!figures) return refuse(figures.error());
    if (wants("snapshot")) json["snapshot"] = snapshot_json(figures->snapshot);
    if (wants("recovery")) json["recovery"] = recovery_json(figures->recovery);
  }
  return show(session, json, bench_text);
}

}  // namespace

void add_bench_verbs(CLI::App& app, Session& session) {
  auto choice = std::make_shared<BenchChoice>();
  CLI::App& verb = add_verb(app, session, "bench", "What this disk and machine let Lockstep do",
                            [&session, choice] { return run_bench(session, *choice); });
  verb.add_option("WHAT", choice->what, "append, replay, snapshot, recovery or all")
      ->check(CLI::IsMember({"append", "replay", "snapshot", "recovery", "all"}));
  verb.add_option("--dir", choice->options.directory, "Where to work: on the disk that is to be measured")
      ->required()
      ->check(CLI::ExistingDirectory);
  constexpr std::uint64_t kGroupsMax = 10'000'000;
  add_number(verb, "--groups", choice->options.groups, {"a number of groups", 1, kGroupsMax}, "How large the state is");
  add_number(verb, "--tail", choice->options.tail_events, {"a number of events", 1, kGroupsMax},
             "How many events recovery replays");
  add_number(verb, "--slices", choice->options.slices, {"a number of slices", 1, 1'000},
             "Of appends, half a second each, that alternate with bare writes");
}

}  // namespace lockstep::cli
