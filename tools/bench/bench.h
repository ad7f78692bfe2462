#pragma once
// What the product does on a disk and a machine, each figure beside the best that these can do, measured in the same
// run: an append beside a bare write and flush of the same frames, replay beside a scan that only checks and decodes,
// recovery beside reading and decompressing the snapshot. Everything happens in a new folder inside `directory`, which
// is removed at the end.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "events/error.h"

namespace lockstep::bench {

struct BenchOptions {
  std::filesystem::path directory{};
  std::uint64_t slices{7};          // of appends, alternating with bare writes
  double slice_seconds{0.5};        // of each
  std::uint64_t groups{1'000'000};  // that are held, written to a snapshot, recovered and replayed
  std::uint64_t tail_events{1'000'000};
  // What is being done, for somebody who waits; returning false interrupts (error Interrupted).
  std::function<bool(const std::string& what)> progress{};
};

struct AppendFigures {
  double p50_us{};  // of one producer that waits for each answer
  double floor_p50_us{};
  double p50_ratio{};
  // 256 commands of one event outstanding, one record for all that wait, and for 128 of them at most.
  double events_per_second_256{};
  double floor_events_per_second_256{};
  double full_frame_throughput_ratio{};
  double throughput_ratio{};
  double cpu_wait_percent{};  // of the time of this process's threads
  double floor_spread{};      // the largest p50 of a slice of bare writes over the smallest
  // Whether the machine was quiet enough to believe them.
  [[nodiscard]] bool tells() const { return cpu_wait_percent <= 5 && floor_spread <= 1.5; }
};
[[nodiscard]] Result<AppendFigures> bench_append(const BenchOptions& options);

// One kind of history, replayed on one core, every recorded digest compared.
struct ReplayFigures {
  std::string mix;
  std::uint64_t events{};
  double events_per_second{};
  double scan_events_per_second{};
  [[nodiscard]] double ratio() const { return events_per_second / scan_events_per_second; }
};
[[nodiscard]] Result<std::vector<ReplayFigures>> bench_replay(const BenchOptions& options);

struct SnapshotFigures {
  std::uint64_t groups{};
  double seconds{};
  std::uint64_t bytes{};
  std::uint64_t raw_bytes{};
};
struct RecoveryFigures {
  std::uint64_t groups{};
  std::uint64_t tail_events{};
  double seconds{};        // from opening the store to the first accepted command
  double floor_seconds{};  // reading and decompressing the snapshot, and the tail at five million events a second
  double bytes_per_group{};
  [[nodiscard]] double ratio() const { return seconds / floor_seconds; }
};
struct GroupsFigures {
  SnapshotFigures snapshot{};
  RecoveryFigures recovery{};
};
[[nodiscard]] Result<GroupsFigures> bench_groups(const BenchOptions& options);

}  // namespace lockstep::bench
