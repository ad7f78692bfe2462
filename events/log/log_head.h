#pragma once
// Where the log ends, twice (events/log/FORMAT.md):
//
// - LogHead, one value in LMDB, changed in the transaction that appends or trims. It must agree with the records.
// - log/head, a small file beside LMDB, rewritten now and then after a commit: a *lower bound* of the head. LMDB has no
//   checksum on its meta pages, and one flipped bit in the newer one opens the commit before without an error; a log
//   that ends before its bound has lost acknowledged history and is refused.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "events/file.h"
#include "events/record.h"

namespace lockstep {

using StoreId = std::array<std::byte, 16>;

struct LogHead {
  StoreId store{};
  Head head{};
  Seq first{1};             // the first seq that is kept
  std::uint64_t records{};  // how many are kept
  friend bool operator==(const LogHead&, const LogHead&) = default;
};

inline constexpr std::size_t kLogHeadBytes = 128;
[[nodiscard]] std::array<std::byte, kLogHeadBytes> encode_log_head(const LogHead& head);
[[nodiscard]] Result<LogHead> decode_log_head(std::span<const std::byte> bytes, std::string_view where);

// log/head: two slots of 512 bytes, written in turn, so that a torn write leaves the other one.
class HeadFile {
 public:
  [[nodiscard]] static Result<void> create(const std::filesystem::path& path, const StoreId& store);
  // Reads the newer whole slot. Damaged when neither is whole, NewerFormat, NotAStore when there is no file.
  [[nodiscard]] static Result<HeadFile> open(const std::filesystem::path& path, bool writable);

  [[nodiscard]] const Head& bound() const { return bound_; }
  [[nodiscard]] const StoreId& store() const { return store_; }
  // Raises the bound and syncs it. Only with a head whose commit returned success: what a start finds in
  // the page cache may not be on the disk yet.
  [[nodiscard]] Result<void> write(const Head& head);

 private:
  std::filesystem::path path_{};
  Fd file_{};
  StoreId store_{};
  Head bound_{};
  std::uint64_t generation_{};
};

}  // namespace lockstep
