#pragma once
// The rules that every log holds an append and a read to, whatever it is kept in.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "events/record.h"

namespace lockstep {

// The header of `record` when it is whole and may be appended after `head`. Errors: Damaged, NewerFormat, NotLeader
// (its epoch is lower than the head's), StaleHead.
[[nodiscard]] Result<RecordHeader> check_append(const Head& head, std::span<const std::byte> record);

// Trimmed when `from` is before `first`, the first seq that is kept.
[[nodiscard]] Result<void> check_kept(Seq from, Seq first);

// The error of an append after one whose outcome is unknown.
[[nodiscard]] Error latched_error();

// Walks a run of records in order: each must be whole, begin where the one before ended, and have no lower epoch. With
// Check::Full each must also name the hash of the one before (as fast as SHA-256, so for `verify`).
class ChainReader {
 public:
  // `first` is where the next record is to begin; Seq{} = wherever it does.
  explicit ChainReader(Seq first = {}, Check check = Check::Fast) : next_(first), check_(check) {}
  [[nodiscard]] Result<RecordHeader> read(std::span<const std::byte> record, std::string_view where);

 private:
  [[nodiscard]] Result<void> check_previous(const RecordHeader& header, std::string_view where) const;

  Seq next_;
  Check check_;
  Epoch epoch_{};
  std::optional<Hash> hash_;  // of the record before, with Check::Full
};

}  // namespace lockstep
