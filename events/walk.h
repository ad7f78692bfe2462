#pragma once
// The canonical bytes of a value, from its field list (fields.h): fixed width, little-endian, no padding, in field order.
//
//     bool, integers, enums   their width          string          u32 length, bytes
//     Strong<..>              its value            vector, map     u32 count, elements (map: key, value)
//     described struct        its fields              Shared<..>     the value itself
//
// Snapshots, digests and spec hashes are made of these bytes; snapshot/FORMAT.md describes them. Derived fields are not
// walked. Reading checks every length against what is left, so hostile bytes cost no more memory than they have.

#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "events/fields.h"
#include "events/ids.h"
#include "events/shared.h"

namespace lockstep {

static_assert(std::endian::native == std::endian::little, "Lockstep writes native integers as little-endian bytes");

namespace walk_detail {
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V>
inline constexpr bool kIsMap<std::map<K, V>> = true;
template <class T>
inline constexpr bool kIsStrong = false;
template <class Tag, class Rep>
inline constexpr bool kIsStrong<Strong<Tag, Rep>> = true;
template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<Shared<T>> = true;
template <class T>
inline constexpr bool kIsNumber = std::is_integral_v<T> || std::is_enum_v<T>;
}  // namespace walk_detail

template <class T>
concept WalkNumber = walk_detail::kIsNumber<T>;
template <class T>
concept WalkVector = walk_detail::kIsVector<T>;
template <class T>
concept WalkMap = walk_detail::kIsMap<T>;
template <class T>
concept WalkStrong = walk_detail::kIsStrong<T>;
template <class T>
concept WalkShared = walk_detail::kIsShared<T>;

// Sink: anything with put(const void* data, size_t size).
// Inlined whole: it stands in the path of every event (digest), and most of it is a few moves of known sizes.
template <class Sink, class T>
[[gnu::always_inline]] inline void walk_write(Sink& sink, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::uint8_t byte = value ? 1 : 0;
    sink.put(&byte, 1);
  } else if constexpr (WalkNumber<T>) {
    sink.put(&value, sizeof value);
  } else if constexpr (WalkStrong<T>) {
    sink.put(&value.value, sizeof value.value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    const auto size = static_cast<std::uint32_t>(value.size());
    sink.put(&size, sizeof size);
    sink.put(value.data(), value.size());
  } else if constexpr (WalkShared<T>) {
    walk_write(sink, *value);
  } else if constexpr (WalkVector<T>) {
    const auto count = static_cast<std::uint32_t>(value.size());
    sink.put(&count, sizeof count);
    for (const auto& element : value) walk_write(sink, element);
  } else if constexpr (WalkMap<T>) {
    const auto count = static_cast<std::uint32_t>(value.size());
    sink.put(&count, sizeof count);
    for (const auto& [key, element] : value) {
      walk_write(sink, key);
      walk_write(sink, element);
    }
  } else {
    static_assert(Described<T>, "walk_write: a type without LOCKSTEP_FIELDS");
    for_each_field(value, [&](std::string_view, const auto& field) { walk_write(sink, field); });
  }
}

// Bytes collected in a vector.
struct ByteSink {
  std::vector<std::byte>& bytes;
  void put(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
};

// Reads what walk_write wrote. read() is false, and stays false, once a length does not fit what is left, a number is
// no enumerator, or a bool is neither 0 nor 1; offset() is then where.
class WalkReader {
 public:
  explicit WalkReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - offset_; }

  template <class T>
  bool read(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      if (!take(&byte, 1) || byte > 1) return stop();
      value = byte == 1;
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      if (!take(&number, sizeof number) || !is_enumerator<T>(number)) return stop();
      value = static_cast<T>(number);
    } else if constexpr (std::is_integral_v<T>) {
      return take(&value, sizeof value);
    } else if constexpr (WalkStrong<T>) {
      return take(&value.value, sizeof value.value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      std::uint32_t size = 0;
      if (!count(size)) return false;
      value.assign(reinterpret_cast<const char*>(bytes_.data() + offset_), size);
      offset_ += size;
    } else if constexpr (WalkVector<T>) {
      std::uint32_t size = 0;
      if (!count(size)) return false;
      value.clear();
      value.reserve(std::min<std::size_t>(size, left() / sizeof(typename T::value_type) + 1));
      for (std::uint32_t i = 0; i < size && ok_; ++i) read(value.emplace_back());
    } else if constexpr (WalkMap<T>) {
      std::uint32_t size = 0;
      if (!count(size)) return false;
      value.clear();
      for (std::uint32_t i = 0; i < size && ok_; ++i) {
        typename T::key_type key{};
        if (!read(key)) return false;
        if (!value.empty() && !(value.rbegin()->first < key)) return stop();  // one order only
        read(value.emplace_hint(value.end(), std::move(key), typename T::mapped_type{})->second);
      }
    } else {
      static_assert(Described<T>, "WalkReader: a type without LOCKSTEP_FIELDS");
      for_each_field(value, [&](std::string_view, auto& field) { ok_ = ok_ && read(field); });
    }
    return ok_;
  }

 private:
  bool stop() {
    ok_ = false;
    return false;
  }
  bool take(void* into, std::size_t size) {
    if (!ok_ || left() < size) return stop();
    std::memcpy(into, bytes_.data() + offset_, size);
    offset_ += size;
    return true;
  }
  bool count(std::uint32_t& size) {  // every element has at least one byte
    return take(&size, sizeof size) && (left() >= size || stop());
  }

  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace lockstep
