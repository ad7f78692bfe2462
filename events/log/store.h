#pragma once
// A store directory: log/ (a ring and LMDB), snapshots/, archive/, store.json. init_store() makes one under a temporary
// name and renames it, so a crash leaves either a store or none. open_store() never creates: a missing store is
// NotAStore.
//
// One writer: an OFD lock on log/redo, which also holds the owner's pid, start time and pid namespace for messages.
// Read-only opens take no lock and never write, so they work beside a live controller and on a read-only copy.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "events/log/log.h"

namespace lockstep {

inline constexpr std::uint32_t kStoreFormat = 2;
inline constexpr std::size_t kLogMapBytes = std::size_t{64} << 30U;  // sparse; LOCKSTEP_MAP_BYTES overrides it

enum class OpenMode { Write, ReadOnly };

struct Store {
  std::filesystem::path directory{};
  std::string id;  // 32 hex digits
  std::unique_ptr<Log> log;
  [[nodiscard]] std::filesystem::path snapshots() const { return directory / "snapshots"; }
};

// Whether init_store() may make one there. Errors: Usage (something is there, or nothing it could be in; a name that is
// too long), StorageFailed (no permission, for one).
[[nodiscard]] Result<void> check_new_store(const std::filesystem::path& directory);

// `directory` must not exist or be empty. `fill` may put the first events into the store while it is built under its
// temporary name, which it is given: the store is there with them or not at all. Errors: those of check_new_store() and
// of `fill`, DiskFull, NetworkFilesystem.
using FillStore = std::function<Result<void>(const std::filesystem::path& built)>;
struct NewStore {
  std::uint64_t ring_slots{0};  // of 4 KiB; 0 = 16,384, or what LOCKSTEP_RING_SLOTS says. Small ones are for tests.
  FillStore fill{};
};
[[nodiscard]] Result<void> init_store(const std::filesystem::path& directory, const NewStore& options = {});

// Errors: NotAStore, NewerFormat, Damaged, Locked (names the pid), NetworkFilesystem, DiskFull, StorageFailed.
[[nodiscard]] Result<Store> open_store(const std::filesystem::path& directory, OpenMode mode);

// "lockstep 0.1.0, store format 2, LMDB 0.9.24": what writes here.
[[nodiscard]] std::string store_versions();

// The pid that holds the writer's lock now; 0 = nobody.
[[nodiscard]] Result<int> store_owner(const std::filesystem::path& directory);

}  // namespace lockstep
