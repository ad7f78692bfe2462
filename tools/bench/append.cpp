// Acknowledged commands beside bare writes of the same frames, in slices that alternate, since a disk's own speed
// wanders.

#include <fcntl.h>

#include <atomic>
#include <chrono>
#include <semaphore>

#include "events/file.h"
#include "events/log/redo_frame.h"
#include "replay/engine.h"
#include "tools/bench/measure.h"
#include "tools/bench/stage.h"

namespace lockstep::bench {
namespace {

using Records = std::vector<std::vector<std::byte>>;

constexpr std::uint32_t kReporters = 10'000;  // members of one group of those that report
constexpr std::size_t kOutstanding = 256;

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
  Records records;  // the writer's, between two reads

 private:
  Log& log_;
};

// A file written through once, so that a write changes nothing but its own bytes.
class BareFile {
 public:
  static Result<std::unique_ptr<BareFile>> create(const std::filesystem::path& path) {
    auto file = open_file(path, O_RDWR | O_CREAT | O_EXCL);
    LOCKSTEP_TRY(file);
    const std::vector<std::byte> blank(std::size_t{1} << 20U);
    for (std::size_t at = 0; at < kBytes; at += blank.size()) LOCKSTEP_TRY(write_at(*file, blank, at, path));
    LOCKSTEP_TRY(sync_data(*file, path));
    return std::unique_ptr<BareFile>(new BareFile(std::move(*file), path));
  }

  struct Written {
    std::vector<double> seconds;  // of each frame
    double total{};
  };
  // Frames of these records one after another, each flushed, for so long at most.
  Result<Written> write(const Records& records, double at_most) {
    Written written;
    const Stopwatch watch;
    for (const auto& record : records) {
      if (watch.seconds() > at_most) break;
      frame_.resize(frame_slots(record.size()) * kSlotBytes);
      if (at_ + frame_.size() > kBytes) at_ = 0;
      lay_frame(record, {1, at_ / kSlotBytes}, frame_);
      const Stopwatch one;
      LOCKSTEP_TRY(write_at(file_, frame_, at_, path_));
      LOCKSTEP_TRY(sync_data(file_, path_));
      written.seconds.push_back(one.seconds());
      at_ += frame_.size();
    }
    written.total = watch.seconds();
    return written;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 20U;
  BareFile(Fd file, std::filesystem::path path) : file_(std::move(file)), path_(std::move(path)) {}
  Fd file_;
  std::filesystem::path path_;
  std::size_t at_ = 0;
  std::vector<std::byte> frame_;
};

// Commands of one event each, without end: members of large groups report, and a group has its turn when the one before
// has nothing more to say.
class Reports {
 public:
  explicit Reports(Engine& engine) : engine_(engine) {}
  Result<Command> next() {
    if (left_ == 0) {
      ++group_;
      left_ = kReporters;
      LOCKSTEP_TRY(place_big_group(group_, kReporters, [this](const std::vector<Command>& batch) -> Result<void> {
        for (const Command& command : batch) {
          auto answer = engine_.execute(command);
          LOCKSTEP_TRY(answer);
          LOCKSTEP_CHECK(answer->code == AnswerCode::Done, "the workload was refused: " + answer->text);
        }
        return {};
      }));
    }
    return report(group_, --left_, ReportKind::Armed, 1);
  }

 private:
  Engine& engine_;
  std::uint64_t group_ = 0;
  std::uint32_t left_ = 0;
};

// One store, one engine, and the file beside it.
class Course {
 public:
  static Result<std::unique_ptr<Course>> open(const Stage& stage, const std::string& name, std::size_t batch_max) {
    auto store = stage.fresh_store(name);
    LOCKSTEP_TRY(store);
    auto bare = BareFile::create(stage.path() / (name + ".bare"));
    LOCKSTEP_TRY(bare);
    std::unique_ptr<Course> course(new Course(std::move(*store), std::move(*bare)));
    EngineOptions options;
    options.controller.snapshot_every = 0;
    if (batch_max != 0) options.batch_commands_max = batch_max;
    auto engine = Engine::start(course->log_, nullptr, options, [] { return Time{seconds(1'000).value}; });
    LOCKSTEP_TRY(engine);
    course->engine_ = std::move(*engine);
    course->reports_.emplace(*course->engine_);
    for (const Command& host : cluster(std::uint64_t{kGroupsMax} * kReporters))
      course->engine_->submit(host, [](const Result<Answer>&) {});  // a report tells if one was refused
    return course;
  }

  // Seconds that one caller waited for each answer.
  Result<std::vector<double>> alone(double seconds) {
    LOCKSTEP_TRY(forget_records());
    std::vector<double> each;
    const Stopwatch watch;
    while (watch.seconds() < seconds) {
      auto command = reports_->next();
      LOCKSTEP_TRY(command);
      const Stopwatch one;
      auto answer = engine_->execute(std::move(*command));
      LOCKSTEP_TRY(answer);
      each.push_back(one.seconds());
    }
    return each;
  }

  // Events per second with so many outstanding.
  Result<double> many(double seconds) {
    LOCKSTEP_TRY(forget_records());
    std::counting_semaphore<> room(kOutstanding);
    std::atomic<bool> refused{false};
    std::uint64_t commands = 0;
    const Stopwatch watch;
    Result<void> went;
    while (watch.seconds() < seconds && went) {
      auto command = reports_->next();
      if (!command) {
        went = tl::unexpected(std::move(command).error());
        break;
      }
      room.acquire();
      engine_->submit(std::move(*command), [&](const Result<Answer>& answer) {
        if (!answer || answer->code != AnswerCode::Done) refused = true;
        room.release();
      });
      ++commands;
    }
    for (std::size_t i = 0; i < kOutstanding; ++i) room.acquire();
    const double took = watch.seconds();
    LOCKSTEP_TRY(went);
    if (refused) return fail(ErrorCode::StorageFailed, "bench: a report was refused");
    return static_cast<double>(commands) / took;
  }

  // The records of the last slice.
  Result<Records> records() {
    Records copy;
    LOCKSTEP_TRY(engine_->read([&](const State&, const Head&) { copy = log_.records; }));
    return copy;
  }
  BareFile& bare() { return *bare_; }

 private:
  static constexpr std::uint32_t kGroupsMax = 1'000;  // of reporters; more have no hosts
  Course(Store store, std::unique_ptr<BareFile> bare)
      : store_(std::move(store)), bare_(std::move(bare)), log_(*store_.log) {}
  Result<void> forget_records() {
    return engine_->read([this](const State&, const Head&) { log_.records.clear(); });
  }

  Store store_;
  std::unique_ptr<BareFile> bare_;
  RecordingLog log_;
  std::unique_ptr<Engine> engine_;
  std::optional<Reports> reports_;
};

std::uint64_t events_of(const Records& records, std::size_t frames) {
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    const auto header = read_header(records[i], "bench");
    LOCKSTEP_CHECK(header, "a record of ours");
    events += header->count;
  }
  return events;
}

struct Alone {
  std::vector<double> product;  // p50 of each slice, in microseconds
  std::vector<double> floor;
};

Result<Alone> measure_alone(const Stage& stage, const BenchOptions& options) {
  auto course = Course::open(stage, "alone", 0);
  LOCKSTEP_TRY(course);
  Alone figures;
  for (std::uint64_t slice = 0; slice < options.slices; ++slice) {
    LOCKSTEP_TRY(stage.say(fmt::format("append: one producer, slice {} of {}", slice + 1, options.slices)));
    auto waited = (*course)->alone(options.slice_seconds);
    LOCKSTEP_TRY(waited);
    const auto records = (*course)->records();
    LOCKSTEP_TRY(records);
    auto bare = (*course)->bare().write(*records, options.slice_seconds);
    LOCKSTEP_TRY(bare);
    figures.product.push_back(median(std::move(*waited)) * 1e6);
    figures.floor.push_back(median(std::move(bare->seconds)) * 1e6);
  }
  return figures;
}

struct Many {
  double events_per_second{};
  double floor_events_per_second{};
  double ratio{};
};

Result<Many> measure_many(const Stage& stage, const BenchOptions& options, std::size_t batch_max) {
  auto course = Course::open(stage, fmt::format("outstanding-{}", batch_max), batch_max);
  LOCKSTEP_TRY(course);
  std::vector<double> product;
  std::vector<double> floor;
  std::vector<double> ratio;
  for (std::uint64_t slice = 0; slice < options.slices; ++slice) {
    LOCKSTEP_TRY(stage.say(fmt::format("append: {} outstanding, batches of {} at most, slice {} of {}", kOutstanding,
                                       batch_max, slice + 1, options.slices)));
    const auto speed = (*course)->many(options.slice_seconds);
    LOCKSTEP_TRY(speed);
    const auto records = (*course)->records();
    LOCKSTEP_TRY(records);
    const auto bare = (*course)->bare().write(*records, options.slice_seconds);
    LOCKSTEP_TRY(bare);
    product.push_back(*speed);
    floor.push_back(static_cast<double>(events_of(*records, bare->seconds.size())) / bare->total);
    ratio.push_back(product.back() / floor.back());
  }
  return Many{median(product), median(floor), median(ratio)};
}

}  // namespace

Result<AppendFigures> bench_append(const BenchOptions& options) {
  const Stage stage(options);
  const double waited = cpu_wait_seconds();
  const Stopwatch watch;
  auto alone = measure_alone(stage, options);
  LOCKSTEP_TRY(alone);
  const auto full = measure_many(stage, options, kOutstanding);
  LOCKSTEP_TRY(full);
  const auto halves = measure_many(stage, options, kOutstanding / 2);
  LOCKSTEP_TRY(halves);
  const auto [least, most] = std::minmax_element(alone->floor.begin(), alone->floor.end());
  AppendFigures figures;
  figures.floor_spread = *most / *least;
  figures.p50_us = median(alone->product);
  figures.floor_p50_us = median(alone->floor);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < alone->floor.size(); ++i) ratios.push_back(alone->product[i] / alone->floor[i]);
  figures.p50_ratio = median(ratios);
  figures.events_per_second_256 = full->events_per_second;
  figures.floor_events_per_second_256 = full->floor_events_per_second;
  figures.full_frame_throughput_ratio = full->ratio;
  figures.throughput_ratio = halves->ratio;
  figures.cpu_wait_percent = (cpu_wait_seconds() - waited) / watch.seconds() * 100;
  return figures;
}

}  // namespace lockstep::bench
