#pragma once
// What a figure needs beside a stopwatch: memory of this process, how long its threads had to wait for a CPU (then
// there is no verdict: another process can turn a flush of 0.14 ms into one of 4), and medians.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace lockstep::bench {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A number of /proc/self/status, in bytes: RssAnon (not the pages of a mapped log), VmHWM (the highest RSS).
inline std::uint64_t status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) * 1'024;
  }
  return 0;
}

// Seconds that the threads alive now have waited for a CPU, ever.
inline double cpu_wait_seconds() {
  double sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "schedstat");
    double running = 0;
    double waiting = 0;
    if (file >> running >> waiting) sum += waiting / 1e9;
  }
  return sum;
}

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace lockstep::bench
