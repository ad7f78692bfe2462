#pragma once
// The hash of one entity and sums of them. Private to statemachine/; the meaning is in digest.h.

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "events/walk.h"
#include "statemachine/state.h"

namespace lockstep::digest_detail {

// Part of every hash: never reuse a number.
enum class EntityKind : std::uint8_t {
  StateHead = 1,
  Host = 2,
  Pool = 3,
  StandaloneClaim = 4,
  ClientHead = 5,
  Answer = 6,
  Spec = 7,
  GroupHead = 8,
  RoleHead = 9,
  Spare = 10,
  Member = 11,
  GroupClaim = 12,
  MemberCharges = 13,
  LastEvent = 14,
};

// Collects the walk of one entity; most fit the array. Two of them stand in the path of every event: the compiler sees
// the size of nearly every put, and must be let to use it.
class HashSink {
 public:
  [[gnu::always_inline]] void put(const void* data, std::size_t size) {
    if (size > small_.size() - used_) [[unlikely]]
      return put_more(data, size);
    std::memcpy(small_.data() + used_, data, size);
    used_ += size;
  }
  [[nodiscard]] Digest hash() const;

 private:
  [[gnu::noinline]] void put_more(const void* data, std::size_t size);

  std::array<std::byte, 1024> small_;  // not initialised: only the first used_ bytes count
  std::size_t used_ = 0;               // all of it once more_ is in use
  std::vector<std::byte> more_;
};

template <class Value, class... Key>
[[nodiscard]] Digest hash_entity(EntityKind kind, const Value& value, const Key&... key) {
  HashSink sink;
  walk_write(sink, kind);
  (walk_write(sink, key), ...);
  walk_write(sink, value);
  return sink.hash();
}

inline void add(Digest& sum, const Digest& hash) {
  sum.low += hash.low;
  sum.high += hash.high;
}
inline void subtract(Digest& sum, const Digest& hash) {
  sum.low -= hash.low;
  sum.high -= hash.high;
}

// A group's head but for last_event, which every event of the group changes: that is an entity of its own.
[[nodiscard]] Digest hash_head(const GroupHead& head);
[[nodiscard]] Digest hash_last_event(const GroupHead& head);

// Sum over everything that belongs to one group.
[[nodiscard]] Digest hash_group(const Group& group);

}  // namespace lockstep::digest_detail
