#pragma once
// A set of member indexes, which are small and dense: one bit each.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

class IndexSet {
 public:
  void insert(std::uint32_t index) {
    if (index / kBits >= words_.size()) words_.resize(index / kBits + 1, 0);
    std::uint64_t& word = words_[index / kBits];
    count_ += (word & bit(index)) == 0 ? 1U : 0U;
    word |= bit(index);
  }
  void erase(std::uint32_t index) {
    if (index / kBits >= words_.size()) return;
    std::uint64_t& word = words_[index / kBits];
    count_ -= (word & bit(index)) != 0 ? 1U : 0U;
    word &= ~bit(index);
  }
  void clear() {
    words_.clear();
    count_ = 0;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // In order.
  [[nodiscard]] std::vector<std::uint32_t> list() const {
    std::vector<std::uint32_t> indexes;
    indexes.reserve(count_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        indexes.push_back(static_cast<std::uint32_t>(i * kBits) + static_cast<std::uint32_t>(std::countr_zero(left)));
    }
    return indexes;
  }
  friend bool operator==(const IndexSet& a, const IndexSet& b) { return a.list() == b.list(); }

 private:
  static constexpr std::uint32_t kBits = 64;
  static std::uint64_t bit(std::uint32_t index) { return std::uint64_t{1} << index % kBits; }
  std::vector<std::uint64_t> words_;
  std::uint32_t count_ = 0;
};

}  // namespace lockstep
