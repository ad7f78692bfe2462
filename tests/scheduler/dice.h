#pragma once
// The random numbers of a test: all of them follow from one seed, on any machine.

#include <cstdint>
#include <random>
#include <vector>

namespace lockstep::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  std::uint32_t count(std::int64_t least, std::int64_t most) {
    return static_cast<std::uint32_t>(between(least, most));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  bool chance(std::int64_t percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[random_() % from.size()];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i-- > 1;) std::swap(list[i], list[random_() % (i + 1)]);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace lockstep::testing
