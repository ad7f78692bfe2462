#pragma once
// XXH3-64, at once or in pieces. It finds damage, not forgery: whoever can write the file can also make it match.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace lockstep {

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

class Checksum {
 public:
  Checksum();
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

}  // namespace lockstep
