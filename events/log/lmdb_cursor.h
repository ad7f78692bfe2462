#pragma once
// Keys and values of our tables, and a cursor over the records of one transaction. Only the .cpp files of this folder
// include it.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "events/log/lmdb_env.h"

namespace lockstep {

inline MDB_val value_of(std::span<const std::byte> bytes) {
  return MDB_val{bytes.size(), const_cast<std::byte*>(bytes.data())};  // LMDB does not write through it
}
inline MDB_val key_of(const std::uint64_t& key) { return value_of(std::as_bytes(std::span(&key, 1))); }
inline std::span<const std::byte> bytes_of_value(const MDB_val& value) {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

// A cursor over the records of one transaction.
class LmdbCursor {
 public:
  static Result<LmdbCursor> open(const LmdbEnv& env, const LmdbTxn& txn, MDB_dbi records) {
    MDB_cursor* cursor = nullptr;
    const int code = mdb_cursor_open(txn.get(), records, &cursor);
    if (code != 0) return tl::unexpected(env.step_error(code, "read"));
    return LmdbCursor(env, cursor);
  }
  LmdbCursor(LmdbCursor&& other) noexcept : env_(other.env_), cursor_(std::exchange(other.cursor_, nullptr)) {}
  LmdbCursor& operator=(LmdbCursor&&) = delete;
  ~LmdbCursor() {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  }

  // Moves; false at the end.
  Result<bool> move(MDB_cursor_op operation, std::uint64_t wanted = 0) {
    MDB_val key = key_of(wanted);
    MDB_val data{};
    const int code = mdb_cursor_get(cursor_, &key, &data, operation);
    if (code == MDB_NOTFOUND) return false;
    if (code != 0) return tl::unexpected(env_.step_error(code, "read"));
    if (key.mv_size != sizeof seq_) {
      return fail(ErrorCode::Damaged, fmt::format("{}: a key that is no seq", env_.path().string()));
    }
    std::memcpy(&seq_, key.mv_data, sizeof seq_);
    data_ = bytes_of_value(data);
    return true;
  }
  // To the record that holds `seq`, or the next one after it.
  Result<bool> seek(std::uint64_t seq) {
    auto found = move(MDB_SET_RANGE, seq);
    LOCKSTEP_TRY(found);
    if (*found && seq_ == seq) return true;
    auto before = move(*found ? MDB_PREV : MDB_LAST);
    LOCKSTEP_TRY(before);
    return *before ? true : move(MDB_FIRST);
  }

  [[nodiscard]] std::uint64_t seq() const { return seq_; }
  // The record, 8-byte aligned: in place, as 8-byte keys and sizes make it, or else copied.
  std::span<const std::byte> record() {
    if (reinterpret_cast<std::uintptr_t>(data_.data()) % 8 == 0) return data_;
    copy_.assign(data_.begin(), data_.end());
    return copy_;
  }

 private:
  LmdbCursor(const LmdbEnv& env, MDB_cursor* cursor) : env_(env), cursor_(cursor) {}
  const LmdbEnv& env_;
  MDB_cursor* cursor_;
  std::uint64_t seq_ = 0;
  std::span<const std::byte> data_;
  std::vector<std::byte> copy_;
};

}  // namespace lockstep
