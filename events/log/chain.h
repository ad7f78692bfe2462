#pragma once
// The rules that every log holds an append and a read to, whatever it is kept in.

#include <cstddef>
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

// Walks a run of records in order: each must be whole, begin where the one before ended, and have no lower epoch.
class ChainReader {
 public:
  // `first` is where the next record is to begin; Seq{} = wherever it does.
  explicit ChainReader(Seq first = {}) : next_(first) {}
  [[nodiscard]] Result<RecordHeader> read(std::span<const std::byte> record, std::string_view where);

 private:
  Seq next_;
  Epoch epoch_{};
};

}  // namespace lockstep
