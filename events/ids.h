#pragma once
// Integers of different meaning are different types: a Seq is never a GroupId, a Time never a Duration.
// All of them are plain values, ordered, and are written to disk as their `value`, little-endian.

#include <compare>
#include <cstdint>
#include <limits>

namespace lockstep {

template <class Tag, class Rep>
struct Strong {
  using rep = Rep;
  Rep value{};
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
  constexpr explicit operator bool() const { return value != Rep{}; }
};

// Position of an event in the log: 1, 2, 3 ... without holes. 0 is "no event".
using Seq = Strong<struct SeqTag, std::uint64_t>;
// The nth group ever defined in a store has id n; never used again. 0 is "no group".
using GroupId = Strong<struct GroupIdTag, std::uint64_t>;
// The nth host ever added has id n. A host that is removed and added again has a new id. 0 is "no host".
using HostId = Strong<struct HostIdTag, std::uint32_t>;
// Index into State::resources, the names of all counters ever seen, in order of first appearance.
using ResourceId = Strong<struct ResourceIdTag, std::uint32_t>;
// Grows by one with every controller start. 0 is "no controller yet".
using Epoch = Strong<struct EpochTag, std::uint64_t>;
// Nanoseconds since the Unix epoch (scenarios and simulations start their own clock). 0 is "none": no deadline.
using Time = Strong<struct TimeTag, std::int64_t>;
// Nanoseconds. 0 is "none" where a manifest says so.
using Duration = Strong<struct DurationTag, std::int64_t>;

constexpr Seq next(Seq seq) { return Seq{seq.value + 1}; }

// A deadline there never comes: it stands for all that would lie beyond, and may be set again at that very time.
inline constexpr Time kEndOfTime{std::numeric_limits<std::int64_t>::max()};

// Saturating: a deadline past the end of time is the end of time.
constexpr Time operator+(Time time, Duration duration) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(time.value, duration.value, &sum)) {
    sum = duration.value > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
  }
  return Time{sum};
}
constexpr Duration operator-(Time later, Time earlier) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(later.value, earlier.value, &difference)) {
    difference = later > earlier ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
  }
  return Duration{difference};
}

constexpr Duration seconds(std::int64_t count) { return Duration{count * 1'000'000'000}; }
constexpr Duration minutes(std::int64_t count) { return seconds(count * 60); }
constexpr Duration hours(std::int64_t count) { return minutes(count * 60); }

// 128 bits of a SHA-256: names a GroupSpec by its content.
struct SpecHash {
  std::uint64_t high{};
  std::uint64_t low{};
  friend constexpr auto operator<=>(const SpecHash&, const SpecHash&) = default;
};

}  // namespace lockstep
