#pragma once
// Room for trims. LMDB deletes by writing new pages, so in a map or on a disk that appends have filled to the last page
// nothing can be trimmed any more. Appends therefore leave the last part of the map alone, and have some of the disk
// reserved beyond the end of the file, unless pages that are free inside the file serve them.

#include <cstdint>

#include "events/log/lmdb_env.h"

namespace lockstep {

class LmdbRoom {
 public:
  explicit LmdbRoom(const LmdbEnv& env) : env_(env) {}

  // Whether `txn` may append `bytes` in so many records. MapFull (with the readers that hold pages back) or DiskFull:
  // nothing was written.
  [[nodiscard]] Result<void> check(const LmdbTxn& txn, std::uint64_t bytes, std::uint64_t records);

 private:
  [[nodiscard]] bool reserve_disk(std::uint64_t end);
  [[nodiscard]] std::uint64_t usable_pages(const LmdbTxn& txn) const;

  const LmdbEnv& env_;
  std::uint64_t reserved_ = 0;  // bytes of the file, and beyond it, that the disk has room for
};

}  // namespace lockstep
