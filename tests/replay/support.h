#pragma once
// What the tests of this folder share: a fresh directory, a store in memory with real snapshot files, small commands,
// and a log that can be held, watched and made to fail.

#include <stdlib.h>  // mkdtemp

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "events/log/memory_log.h"
#include "events/record.h"
#include "replay/controller.h"
#include "snapshot/snapshot.h"

namespace lockstep::test {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-replay-XXXXXX").string();
    LOCKSTEP_CHECK(mkdtemp(pattern.data()) != nullptr, "mkdtemp " + pattern);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::filesystem::path path_;
};

inline const std::string kStoreId = "00112233445566778899aabbccddeeff";

// ---- commands -------------------------------------------------------------------------------------------------------

inline Command command(CommandBody body, Time time = {}) {
  Command made;
  made.time = time;
  made.body = std::move(body);
  return made;
}

inline Command asked(std::uint64_t client, std::uint64_t request, CommandBody body) {
  Command made = command(std::move(body));
  made.client = client;
  made.request = request;
  return made;
}

inline GroupSpec small_spec(std::uint32_t members = 1) {
  GroupSpec spec;
  RoleSpec role;
  role.name = "worker";
  role.replicas = role.min = role.max = members;
  TaskTerm term;
  term.requests = {{"cpu", 1'000}};
  role.tasks = {term};
  spec.roles = {role};
  return spec;
}

inline DefineGroup define(std::string name, std::uint32_t members = 1) {
  DefineGroup made;
  made.identity.name = std::move(name);
  made.identity.user = "ana";
  made.spec = small_spec(members);
  return made;
}

inline SetHost host(std::string name, std::int64_t cores = 64) {
  SetHost made;
  made.info.name = std::move(name);
  made.info.counters = {{"cpu", cores * 1'000}};
  return made;
}

// ---- logs -----------------------------------------------------------------------------------------------------------

// Appends `events`, which continue the log, as records of at most `record_events` events.
inline void append_events(Log& log, std::span<const Event> events, std::size_t record_events, Epoch epoch = Epoch{1}) {
  Head head = log.head().value();
  while (!events.empty()) {
    const auto some = events.first(std::min(record_events, events.size()));
    const auto record = encode_record(head, epoch, some);
    const auto appended = log.append(record);
    LOCKSTEP_CHECK(appended.has_value(), appended.error().message);
    head = log.head().value();
    events = events.subspan(some.size());
  }
}

inline void copy_records(const Log& from, Log& into, Seq until) {
  const auto read = from.read(from.first().value(), [&](const RecordHeader& header, auto record) -> Result<Continue> {
    if (header.last() > until) return Continue::No;
    LOCKSTEP_TRY(into.append(record));
    return Continue::Yes;
  });
  LOCKSTEP_CHECK(read.has_value(), read.error().message);
}

inline std::vector<Event> events_of(const Log& log) {
  std::vector<Event> events;
  const auto read = log.read(log.first().value(), [&](const RecordHeader&, auto record) -> Result<Continue> {
    auto decoded = decode_record(record, "test");
    LOCKSTEP_TRY(decoded);
    events.insert(events.end(), decoded->begin(), decoded->end());
    return Continue::Yes;
  });
  LOCKSTEP_CHECK(read.has_value(), read.error().message);
  return events;
}

inline std::vector<RecordHeader> records_of(const Log& log) {
  std::vector<RecordHeader> headers;
  const auto read = log.read(log.first().value(), [&](const RecordHeader& header, auto) -> Result<Continue> {
    headers.push_back(header);
    return Continue::Yes;
  });
  LOCKSTEP_CHECK(read.has_value(), read.error().message);
  return headers;
}

// A log in memory whose appends can be held back until released, and watched.
class GatedLog final : public Log {
 public:
  [[nodiscard]] Result<Head> head() const override { return inner.head(); }
  [[nodiscard]] Result<Seq> first() const override { return inner.first(); }
  [[nodiscard]] Result<void> read(Seq from, const Visit& visit) const override { return inner.read(from, visit); }
  [[nodiscard]] Result<void> trim(Seq before) override { return inner.trim(before); }
  [[nodiscard]] Result<void> append(std::span<const std::byte> record) override {
    {
      std::unique_lock lock(mutex_);
      ++arrived_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !closed_; });
    }
    if (before_append) before_append();
    return inner.append(record);
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  // Waits until `count` appends have come to the gate, ever.
  void wait_for_arrivals(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }
  [[nodiscard]] std::size_t arrivals() const {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }

  MemoryLog inner;
  std::function<void()> before_append;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::size_t arrived_ = 0;
};

}  // namespace lockstep::test
