// Figures of the whole spine, each beside what the machine can do at best, measured in the same run:
//
//   replay      events/s of recovery from an empty state, and of a scan of the same log that only checks and decodes
//   commands    acknowledged commands/s through the engine on a store, with 1 and with 256 outstanding, and a bare
//               write + fdatasync of the very same record bytes on the same disk, in alternating slices
//   a million   bytes of memory per running group of 4 members, bytes and seconds of a snapshot of them, seconds to
//               recover from it and from the log alone
//
//     lockstep_bench_spine [--dir DIR] [--groups N] [--lifecycle-groups N] [--slices N] [--slice-seconds S] [--json]

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <semaphore>

#include "events/codec.h"
#include "events/log/store.h"
#include "replay/engine.h"
#include "tests/bench/measure.h"
#include "tests/bench/workload.h"

namespace lockstep::bench {
namespace {

struct Options {
  std::filesystem::path dir{"."};
  std::uint64_t groups{1'000'000};
  std::uint64_t lifecycle_groups{100'000};
  std::uint64_t slices{7};
  double slice_seconds{0.5};
  bool json{false};
};

// A measurement without its errors is none.
template <class T>
T must(Result<T> result) {
  LOCKSTEP_CHECK(result.has_value(), result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::uint64_t size_of_directory(const std::filesystem::path& dir) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

Store fresh_store(const Options& options, const std::string& name) {
  const std::filesystem::path path = options.dir / name;
  std::filesystem::remove_all(path);
  must(init_store(path));
  return must(open_store(path, OpenMode::Write));
}

ControllerOptions plain() {
  ControllerOptions options;
  options.snapshot_every = 0;
  return options;
}

std::unique_ptr<Controller> populated(Log& log, const SnapshotStore* snapshots, std::uint64_t groups, Life life) {
  auto controller = must(Controller::start(log, snapshots, plain(), Time{seconds(1'000).value}));
  const auto take = [&](const std::vector<Command>& batch) {
    for (const Answer& answer : must(controller->execute(batch))) {
      LOCKSTEP_CHECK(answer.code == AnswerCode::Done, "the workload was refused: " + answer.text);
    }
  };
  take(cluster(life == Life::UntilEnd ? std::min(groups, kWindow) : groups));
  live(groups, life, take);
  return controller;
}

// ---- replay ---------------------------------------------------------------------------------------------------------

struct Scan {
  std::uint64_t events{};
  std::uint64_t bytes{};
  double seconds{};
};

Scan scan(const Log& log) {
  Scan result;
  const Stopwatch watch;
  must(log.read(must(log.first()),
                [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
                  auto events = decode_events(record.subspan(kRecordHeaderBytes), header.first, header.count);
                  LOCKSTEP_TRY(events);
                  result.events += events->size();
                  result.bytes += record.size();
                  return Continue::Yes;
                }));
  result.seconds = watch.seconds();
  return result;
}

nlohmann::json measure_replay(const Options& options) {
  Store store = fresh_store(options, "lifecycle");
  { const auto controller = populated(*store.log, nullptr, options.lifecycle_groups, Life::UntilEnd); }
  std::vector<double> scans;
  std::vector<double> replays;
  Scan last;
  const double waited = cpu_wait_seconds();
  for (int round = 0; round < 5; ++round) {
    last = scan(*store.log);
    scans.push_back(static_cast<double>(last.events) / last.seconds);
    const Recovered recovered = must(recover(*store.log, nullptr));
    replays.push_back(static_cast<double>(recovered.report.events_replayed) / recovered.report.seconds_replay);
  }
  const double scanned = median(scans);
  const double replayed = median(replays);
  return {{"events", last.events},
          {"eventsPerGroup", static_cast<double>(last.events) / static_cast<double>(options.lifecycle_groups)},
          {"logBytesPerEvent", static_cast<double>(last.bytes) / static_cast<double>(last.events)},
          {"scanEventsPerSecond", scanned},
          {"replayEventsPerSecond", replayed},
          {"scanToReplay", scanned / replayed},
          {"cpuWaitSeconds", cpu_wait_seconds() - waited}};
}

// ---- acknowledged commands ------------------------------------------------------------------------------------------

// Keeps a copy of what is appended, so that the same bytes can be written bare.
class RecordingLog final : public Log {
 public:
  explicit RecordingLog(Log& log) : log_(log) {}
  [[nodiscard]] Result<Head> head() const override { return log_.head(); }
  [[nodiscard]] Result<Seq> first() const override { return log_.first(); }
  [[nodiscard]] Result<void> read(Seq from, const Visit& visit) const override { return log_.read(from, visit); }
  [[nodiscard]] Result<void> trim(Seq before) override { return log_.trim(before); }
  [[nodiscard]] Result<void> append(std::span<const std::byte> record) override {
    records.emplace_back(record.begin(), record.end());
    return log_.append(record);
  }
  std::vector<std::vector<std::byte>> records;  // the writer's, between two reads

 private:
  Log& log_;
};

// A file written through once, so that a write changes no metadata.
class BareFile {
 public:
  explicit BareFile(const std::filesystem::path& path) : fd_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    LOCKSTEP_CHECK(fd_ >= 0, "cannot open " + path.string());
    const std::vector<std::byte> zeros(std::size_t{1} << 20U);
    for (std::size_t at = 0; at < kBytes; at += zeros.size()) put(zeros, at);
    LOCKSTEP_CHECK(::fsync(fd_) == 0, "fsync");
  }
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;
  ~BareFile() { ::close(fd_); }

  // Seconds to write and flush each record, one after another.
  double write(const std::vector<std::vector<std::byte>>& records) {
    const Stopwatch watch;
    for (const auto& record : records) {
      if (at_ + record.size() > kBytes) at_ = 0;
      put(record, at_);
      at_ = (at_ + record.size() + 4'095) / 4'096 * 4'096;
      LOCKSTEP_CHECK(::fdatasync(fd_) == 0, "fdatasync");
    }
    return watch.seconds();
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 20U;
  void put(std::span<const std::byte> bytes, std::size_t at) const {
    const auto written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    LOCKSTEP_CHECK(written == static_cast<ssize_t>(bytes.size()), "pwrite");
  }
  int fd_;
  std::size_t at_ = 0;
};

struct TimeSlice {
  std::uint64_t commands{};
  double seconds{};
};

// One client keeps `outstanding` definitions in flight.
TimeSlice run_slice(Engine& engine, std::uint64_t outstanding, double seconds, std::uint64_t& number) {
  TimeSlice slice;
  std::counting_semaphore<> room(static_cast<std::ptrdiff_t>(outstanding));
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    room.acquire();
    Command command;
    command.body = define_group(++number);
    std::get<DefineGroup>(command.body).hold = true;
    engine.submit(std::move(command), [&room](const Result<Answer>& answer) {
      LOCKSTEP_CHECK(answer.has_value() && answer->code == AnswerCode::Done, "a definition was refused");
      room.release();
    });
    ++slice.commands;
  }
  for (std::uint64_t i = 0; i < outstanding; ++i) room.acquire();
  slice.seconds = watch.seconds();
  return slice;
}

nlohmann::json measure_commands(const Options& options, std::uint64_t outstanding) {
  Store store = fresh_store(options, fmt::format("commands-{}", outstanding));
  RecordingLog log(*store.log);
  EngineOptions engine_options;
  engine_options.controller = plain();
  const auto engine = must(Engine::start(log, nullptr, engine_options, [] { return Time{seconds(1'000).value}; }));
  BareFile bare(options.dir / fmt::format("bare-{}", outstanding));
  std::uint64_t number = 0;
  must(engine->execute([] {
    Command host;
    host.body = std::get<SetHost>(cluster(1).front().body);
    return host;
  }()));
  std::vector<double> product;
  std::vector<double> floor;
  std::vector<double> ratio;
  double records = 0;
  double commands = 0;
  const double waited = cpu_wait_seconds();
  for (std::uint64_t round = 0; round < options.slices; ++round) {
    must(engine->read([&](const State&, const Head&) { log.records.clear(); }));
    const TimeSlice slice = run_slice(*engine, outstanding, options.slice_seconds, number);
    std::vector<std::vector<std::byte>> written;
    must(engine->read([&](const State&, const Head&) { written = log.records; }));
    const double bare_seconds = bare.write(written);
    product.push_back(static_cast<double>(slice.commands) / slice.seconds);
    floor.push_back(static_cast<double>(slice.commands) / bare_seconds);
    ratio.push_back(bare_seconds / slice.seconds);
    records += static_cast<double>(written.size());
    commands += static_cast<double>(slice.commands);
  }
  const double wait = cpu_wait_seconds() - waited;
  engine->stop();
  return {{"outstanding", outstanding}, {"acknowledgedPerSecond", median(product)}, {"barePerSecond", median(floor)},
          {"ofBare", median(ratio)},    {"commandsPerRecord", commands / records},  {"cpuWaitSeconds", wait}};
}

// ---- a million groups -----------------------------------------------------------------------------------------------

nlohmann::json measure_groups(const Options& options) {
  Store store = fresh_store(options, "groups");
  const SnapshotStore snapshots(store.snapshots(), store.id);
  const auto groups = static_cast<double>(options.groups);
  nlohmann::json figures{{"groups", options.groups}};
  const double waited = cpu_wait_seconds();
  Digest digest;
  {
    const std::uint64_t before = status_bytes("RssAnon");
    const Stopwatch watch;
    const auto controller = populated(*store.log, &snapshots, options.groups, Life::UntilRunning);
    figures["defineToRunningSeconds"] = watch.seconds();
    figures["memoryBytesPerGroup"] = static_cast<double>(status_bytes("RssAnon") - before) / groups;
    const Stopwatch writing;
    const SnapshotInfo info = must(controller->snapshot());
    figures["snapshotSeconds"] = writing.seconds();
    figures["snapshotBytes"] = info.file_bytes;
    figures["snapshotRawBytes"] = info.raw_bytes;
    figures["events"] = controller->head().seq.value;
    digest = controller->state().digest;
  }
  figures["logBytes"] = size_of_directory(store.directory / "log");
  {
    const Stopwatch watch;
    const Recovered recovered = must(recover(*store.log, &snapshots));
    figures["recoverSeconds"] = watch.seconds();
    LOCKSTEP_CHECK(recovered.report.plan.from_snapshot && recovered.state.digest == digest, "another state");
  }
  const Stopwatch watch;
  const Recovered recovered = must(recover(*store.log, nullptr));
  figures["recoverFromLogSeconds"] = watch.seconds();
  LOCKSTEP_CHECK(recovered.state.digest == digest, "another state");
  figures["memoryPeakBytes"] = status_bytes("VmHWM");
  figures["cpuWaitSeconds"] = cpu_wait_seconds() - waited;
  return figures;
}

// ---- the table ------------------------------------------------------------------------------------------------------

void print_replay(const nlohmann::json& figures) {
  fmt::print("replay of {} events ({:.1f} a group of {}, {:.0f} log bytes an event)\n",
             figures["events"].get<std::uint64_t>(), figures["eventsPerGroup"].get<double>(), kMembers,
             figures["logBytesPerEvent"].get<double>());
  fmt::print("  check and decode only   {:>12.0f} events/s\n", figures["scanEventsPerSecond"].get<double>());
  fmt::print("  replay                  {:>12.0f} events/s   (scan is {:.2f} times as fast)\n",
             figures["replayEventsPerSecond"].get<double>(), figures["scanToReplay"].get<double>());
}

void print_commands(const nlohmann::json& figures) {
  fmt::print("acknowledged commands, {} outstanding ({:.1f} a record)\n", figures["outstanding"].get<std::uint64_t>(),
             figures["commandsPerRecord"].get<double>());
  fmt::print("  bare write + fdatasync  {:>12.0f} /s\n", figures["barePerSecond"].get<double>());
  fmt::print("  engine on LMDB          {:>12.0f} /s   ({:.0f}% of bare)\n",
             figures["acknowledgedPerSecond"].get<double>(), figures["ofBare"].get<double>() * 100);
}

void print_groups(const nlohmann::json& figures) {
  const auto seconds = [&](const char* name) { return figures[name].get<double>(); };
  const auto mib = [&](const char* name) { return figures[name].get<double>() / (1U << 20U); };
  fmt::print("{} running groups of {} members\n", figures["groups"].get<std::uint64_t>(), kMembers);
  fmt::print("  memory                  {:>12.0f} bytes a group, highest {:.0f} MiB\n", seconds("memoryBytesPerGroup"),
             mib("memoryPeakBytes"));
  fmt::print("  define to running       {:>12.2f} s   ({} events, log {:.0f} MiB)\n", seconds("defineToRunningSeconds"),
             figures["events"].get<std::uint64_t>(), mib("logBytes"));
  fmt::print("  snapshot                {:>12.2f} s   ({:.0f} MiB, raw {:.0f} MiB)\n", seconds("snapshotSeconds"),
             mib("snapshotBytes"), mib("snapshotRawBytes"));
  fmt::print("  recover from it         {:>12.2f} s\n", seconds("recoverSeconds"));
  fmt::print("  recover from the log    {:>12.2f} s\n", seconds("recoverFromLogSeconds"));
}

void note_cpu_wait(const nlohmann::json& figures) {
  const double wait = figures["cpuWaitSeconds"].get<double>();
  if (wait > 0.05) fmt::print("  (threads waited {:.2f} s for a CPU: no verdict)\n", wait);
}

int run(Options options) {
  options.dir /= fmt::format("lockstep-bench-spine-{}", ::getpid());  // ours to remove
  std::filesystem::create_directories(options.dir);
  nlohmann::json all;
  const auto one = [&](const char* name, nlohmann::json figures,
                       const std::function<void(const nlohmann::json&)>& print) {
    if (!options.json) {
      print(figures);
      note_cpu_wait(figures);
      std::fflush(stdout);
    }
    all[name] = std::move(figures);
  };
  one("replay", measure_replay(options), print_replay);
  one("commands1", measure_commands(options, 1), print_commands);
  one("commands256", measure_commands(options, 256), print_commands);
  one("groups", measure_groups(options), print_groups);
  if (options.json) fmt::print("{}\n", all.dump(2));
  std::filesystem::remove_all(options.dir);
  return 0;
}

}  // namespace
}  // namespace lockstep::bench

int main(int argc, char** argv) {
  lockstep::bench::Options options;
  CLI::App app("Figures of replay, commands, memory, snapshot and recovery");
  app.add_option("--dir", options.dir, "a directory on the disk to measure")
      ->capture_default_str();
  app.add_option("--groups", options.groups, "running groups to hold, snapshot and recover")->capture_default_str();
  app.add_option("--lifecycle-groups", options.lifecycle_groups, "groups of the replay")->capture_default_str();
  app.add_option("--slices", options.slices, "of commands, alternating with bare writes")->capture_default_str();
  app.add_option("--slice-seconds", options.slice_seconds, "of one slice")->capture_default_str();
  app.add_flag("--json", options.json, "figures as JSON");
  CLI11_PARSE(app, argc, argv);
  return lockstep::bench::run(options);
}
