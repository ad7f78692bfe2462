#include "events/log/lmdb_room.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lockstep {
namespace {

constexpr std::uint64_t kMapShare = 8;  // one part in so many of the map is for trims
constexpr std::uint64_t kMapReserveMax = std::uint64_t{1} << 30U;
constexpr std::uint64_t kDiskReserve = 256U << 10U;
constexpr std::uint64_t kDiskStep = std::uint64_t{1} << 20U;  // reserved at a time, while there is so much
constexpr std::uint64_t kTreePages = 16;                      // branch and leaf pages that one append rewrites, at most

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

Result<void> LmdbRoom::check(const LmdbTxn& txn, std::uint64_t bytes, std::uint64_t records) {
  MDB_envinfo info{};
  MDB_stat stat{};
  (void)mdb_env_info(env_.get(), &info);
  (void)mdb_env_stat(env_.get(), &stat);
  const std::uint64_t pages = bytes / stat.ms_psize + 2 * records + kTreePages;
  const std::uint64_t end = (info.me_last_pgno + 1 + pages) * stat.ms_psize;
  const std::uint64_t map_end = info.me_mapsize - std::min<std::uint64_t>(info.me_mapsize / kMapShare, kMapReserveMax);
  const bool map_has_room = end <= map_end;
  if (map_has_room && reserve_disk(end)) return {};
  // A record of many pages needs them in one run: twice as many free ones make that likely, not sure.
  if (usable_pages(txn) >= 2 * pages) return {};
  if (!map_has_room) return tl::unexpected(env_.step_error(MDB_MAP_FULL, "append to"));
  return fail(ErrorCode::DiskFull,
              fmt::format("append to {}: no room on the disk: free some and try again", env_.path().string()));
}

// Filesystems that cannot reserve say no with another error; there LMDB finds out by itself.
bool LmdbRoom::reserve_disk(std::uint64_t end) {
  if (end + kDiskReserve <= reserved_) return true;
  for (const std::uint64_t wanted : {round_up(end + kDiskReserve, kDiskStep), end + kDiskReserve}) {
    const int done = ::fallocate(env_.file().get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(reserved_),
                                 static_cast<off_t>(wanted - reserved_));
    if (done != 0 && (errno == ENOSPC || errno == EDQUOT)) continue;
    reserved_ = wanted;
    return true;
  }
  return false;
}

// Pages on the free list that no reader keeps from being used: those freed before the oldest commit that is still read.
std::uint64_t LmdbRoom::usable_pages(const LmdbTxn& txn) const {
  const std::uint64_t oldest = std::min(env_.oldest_reader(), txn.id() - 1);
  const auto view = env_.begin_read();  // LMDB shows the free list to read transactions only
  MDB_cursor* cursor = nullptr;
  constexpr MDB_dbi kFreeList = 0;
  if (!view || mdb_cursor_open(view->get(), kFreeList, &cursor) != 0) return 0;
  std::uint64_t pages = 0;
  MDB_val key{};
  MDB_val data{};
  while (mdb_cursor_get(cursor, &key, &data, MDB_NEXT) == 0) {
    std::uint64_t commit = 0;
    std::uint64_t count = 0;
    std::memcpy(&commit, key.mv_data, sizeof commit);
    std::memcpy(&count, data.mv_data, sizeof count);
    if (commit >= oldest) break;
    pages += count;
  }
  mdb_cursor_close(cursor);
  return pages;
}

}  // namespace lockstep
