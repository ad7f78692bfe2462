#pragma once
// Looks at an LMDB file with plain reads before LMDB is let loose on it. LMDB trusts its pages: damaged ones end in
// SIGBUS, in abort(), or in new data written over old (a wrong free list). Everything found wrong is Damaged, with the
// file and the offset of the page.
//
// It knows the one shape that our log has: 64-bit little-endian, LMDB 0.9 (data version 1), two tables with 8-byte
// integer keys ("meta", "records") in the main one. Record contents are not its business; their checksums are.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "events/file.h"

namespace lockstep {

// Pages: every page that can be reached, each node in its bounds, keys in order, no page used twice or used and free.
// Spine: the same, but of the records only the branch pages and the last leaf: for files too big to walk at each open.
enum class Walk { Spine, Pages };

// Files up to this size are walked whole at each open (a second at most when they are in the page cache).
inline constexpr std::uint64_t kWholeWalkBytes = std::uint64_t{1} << 30U;

struct LmdbSummary {
  std::uint64_t page_size{};
  std::uint64_t txn{};        // of the newer meta page
  std::uint64_t last_page{};  // of that commit
};

// The two meta pages: whole, of this version, and of consecutive commits. To be called before the environment is
// opened. Beside a live writer it may meet a half-written meta page; then it looks again.
[[nodiscard]] Result<LmdbSummary> check_lmdb_metas(const Fd& file, const std::filesystem::path& path);

// All that belongs to commit `txn`. The caller keeps a read transaction of that commit open, so that its pages stay.
// StaleHead when neither meta page is of that commit any more: take a new transaction and come again.
[[nodiscard]] Result<void> check_lmdb_pages(const Fd& file, const std::filesystem::path& path, std::uint64_t txn,
                                            Walk walk);

// Where in the file the value of `key` of "records" begins; for messages. nullopt when it cannot be found.
[[nodiscard]] std::optional<std::uint64_t> find_record_offset(const Fd& file, const std::filesystem::path& path,
                                                              std::uint64_t txn, std::uint64_t key);

}  // namespace lockstep
