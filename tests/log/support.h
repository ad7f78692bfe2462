#pragma once
// What the tests of the log share: fresh directories, records with any payload, children that run a piece of a test.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/log/lmdb_log.h"
#include "events/log/log.h"
#include "events/log/store.h"

namespace lockstep::testing {

// In memory where that can be had (a flush costs nothing there); LOCKSTEP_TEST_DIR names another place. Once there is
// one, stores are made with small rings, unless LOCKSTEP_RING_SLOTS is set.
inline constexpr std::uint64_t kTestRingSlots = 256;
inline constexpr std::uint64_t kSmallRingSlots = 64;  // for tests of a ring that is full, or gone round
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Sets an environment variable for a scope, and then what it was before.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const std::string& value);
  ~ScopedEnv();

 private:
  const char* name_;
  std::optional<std::string> before_;
};

using Bytes = std::vector<std::byte>;

// A record after `head`: `payload_bytes` (rounded up to 8) that depend on the seq.
[[nodiscard]] Bytes make_record(const Head& head, std::size_t payload_bytes = 64, std::uint32_t count = 1,
                                Epoch epoch = Epoch{1});

// Appends `n` such records; the first error, or the head.
[[nodiscard]] Result<Head> append_records(Log& log, int n, std::size_t payload_bytes = 64, std::uint32_t count = 1);

// All records from `from` on.
[[nodiscard]] Result<std::vector<Bytes>> read_all(const Log& log, Seq from);

// What store.json names.
[[nodiscard]] StoreId store_id(const std::filesystem::path& store);

// What of the store is in LMDB, without the ring and its lock: for tests of LMDB itself.
[[nodiscard]] std::unique_ptr<LmdbLog> open_lmdb(const std::filesystem::path& store, OpenMode mode = OpenMode::Write);

// As if the newer of LMDB's two meta pages had been lost: the commit before counts.
void lose_newer_meta_page(const std::filesystem::path& store);

[[nodiscard]] std::string file_bytes(const std::filesystem::path& path);
void overwrite(const std::filesystem::path& path, std::uint64_t offset, std::string_view bytes);

// LOCKSTEP_SEED, or a new one; printed.
[[nodiscard]] std::uint64_t test_seed();

// Runs `part` in a forked child. "" when it returned "" and exited; else what it returned or how it died.
[[nodiscard]] std::string in_child(const std::function<std::string()>& part);

// A child that stops at fault injection leaves with this status; in_child says "crashed".
inline constexpr int kCrashStatus = 86;

}  // namespace lockstep::testing
