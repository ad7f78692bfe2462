#pragma once
// The state at exactly one seq as a file: independent zstd frames with checksums, an index, a header and a footer
// (snapshot/FORMAT.md). Written under a temporary name, synced, read back and verified, renamed, directory synced; so a
// snapshot that has its name is whole. Nothing here ever deletes a snapshot to recover, only prune() by its rule.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/record.h"
#include "statemachine/state.h"

namespace lockstep {

struct SnapshotInfo {
  std::filesystem::path path{};
  std::string store_id;
  Head head{};  // the log's head at that point: seq, record hash, epoch
  Digest digest{};
  std::uint32_t digest_version{};
  Time time{};
  std::uint64_t groups{};
  std::uint64_t members{};
  std::uint64_t hosts{};
  std::uint64_t raw_bytes{};  // before compression
  std::uint64_t file_bytes{};
};

class SnapshotStore {
 public:
  // `directory` exists. Snapshots of another store id are refused when read.
  SnapshotStore(std::filesystem::path directory, std::string store_id);

  // `head.seq` must be state.head.seq, at a batch boundary. Errors: DiskFull, StorageFailed.
  [[nodiscard]] Result<SnapshotInfo> write(const State& state, const Head& head) const;

  // Newest first, by header alone; files that cannot be read are listed in `damaged` with what is wrong.
  struct Listing {
    std::vector<SnapshotInfo> snapshots;
    std::vector<Error> damaged;
  };
  [[nodiscard]] Result<Listing> list() const;

  // Keeps the `keep` newest (at least 2) and removes temporary files of dead writers. A file that cannot be removed is
  // a warning in the result, not an error: new snapshots go on.
  [[nodiscard]] std::vector<std::string> prune(std::size_t keep = 2) const;

 private:
  std::filesystem::path directory_;
  std::string store_id_;
};

// Header and footer only.
[[nodiscard]] Result<SnapshotInfo> describe_snapshot(const std::filesystem::path& path);

// The whole state, derived data rebuilt; its digest must equal the header's.
[[nodiscard]] Result<State> load_snapshot(const std::filesystem::path& path);

// Every byte: frames, checksums, counts, digest.
[[nodiscard]] Result<SnapshotInfo> verify_snapshot(const std::filesystem::path& path);

// Reads and decompresses all of it, with its checksums, and makes nothing of it: what no recovery can be faster than.
[[nodiscard]] Result<void> read_through_snapshot(const std::filesystem::path& path);

// One group alone, touching only its frame. NotFound when it is not in it.
[[nodiscard]] Result<Group> load_group(const std::filesystem::path& path, GroupId id);

// What differs between two states, one line each: entity, field, the two values. At most `limit` lines.
[[nodiscard]] std::vector<std::string> diff_states(const State& a, const State& b, std::size_t limit = 100);

// Every fact of the state as JSON text, by the same field walk; names are lowerCamelCase.
[[nodiscard]] std::string dump_json(const State& state);
[[nodiscard]] std::string dump_json(const Event& event);  // one line: seq, prev, cause, time, actor, group, kind, body

}  // namespace lockstep
