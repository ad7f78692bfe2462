#pragma once
// Entities by dense id: ids are given out 1, 2, 3 ... and never again, so a lookup is two array steps, iteration is in
// id order, and what has been forgotten leaves a hole; a page of holes is freed. References stay valid until erase.

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace lockstep {

template <class Id, class T>
class Table {
 public:
  Table() = default;
  Table(Table&&) noexcept = default;
  Table& operator=(Table&&) noexcept = default;
  Table(const Table& other) : size_(other.size_) {
    pages_.reserve(other.pages_.size());
    for (const auto& page : other.pages_) pages_.push_back(page ? std::make_unique<Page>(*page) : nullptr);
  }
  Table& operator=(const Table& other) {
    if (this != &other) *this = Table(other);
    return *this;
  }

  [[nodiscard]] T* find(Id id) { return const_cast<T*>(std::as_const(*this).find(id)); }
  [[nodiscard]] const T* find(Id id) const {
    const auto page = static_cast<std::size_t>(id.value) / kPageSize;
    if (page >= pages_.size() || !pages_[page]) return nullptr;
    return pages_[page]->slots[static_cast<std::size_t>(id.value) % kPageSize].get();
  }

  // Has the CPU fetch where find(id) will look.
  void prefetch(Id id) const {
    const auto page = static_cast<std::size_t>(id.value) / kPageSize;
    if (page < pages_.size() && pages_[page])
      __builtin_prefetch(&pages_[page]->slots[static_cast<std::size_t>(id.value) % kPageSize]);
  }

  // The entity of `id`, made new when it is not there.
  T& insert(Id id) {
    const auto page = static_cast<std::size_t>(id.value) / kPageSize;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    auto& slot = pages_[page]->slots[static_cast<std::size_t>(id.value) % kPageSize];
    if (!slot) {
      slot = std::make_unique<T>();
      ++pages_[page]->used;
      ++size_;
    }
    return *slot;
  }

  void erase(Id id) {
    const auto page = static_cast<std::size_t>(id.value) / kPageSize;
    if (find(id) == nullptr) return;
    pages_[page]->slots[static_cast<std::size_t>(id.value) % kPageSize].reset();
    --size_;
    if (--pages_[page]->used == 0) pages_[page].reset();
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  // visit(T&) in id order. The visitor must not insert or erase.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (auto& page : pages_) {
      if (!page) continue;
      for (auto& slot : page->slots) {
        if (slot) visit(*slot);
      }
    }
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& page : pages_) {
      if (!page) continue;
      for (const auto& slot : page->slots) {
        if (slot) visit(std::as_const(*slot));
      }
    }
  }

 private:
  static constexpr std::size_t kPageSize = 256;
  struct Page {
    std::array<std::unique_ptr<T>, kPageSize> slots{};
    std::size_t used = 0;
    Page() = default;
    Page(const Page& other) : used(other.used) {
      for (std::size_t i = 0; i < kPageSize; ++i) {
        if (other.slots[i]) slots[i] = std::make_unique<T>(*other.slots[i]);
      }
    }
  };
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t size_ = 0;
};

}  // namespace lockstep
