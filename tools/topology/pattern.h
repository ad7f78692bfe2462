#pragma once
// A regular expression over names of hosts, of the syntax that Go's regexp has: text, . [a-z] \d \w \s ( | ) * + ?
// {2,4} ^ $. It matches anywhere in a name unless it says otherwise. In time proportional to the name and the pattern,
// whatever either of them is, and without recursion: both come from strangers, which rules out std::regex. Private to
// tools/topology.

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"

namespace lockstep {

inline constexpr std::size_t kPatternBytesMax = 1'024;
inline constexpr std::size_t kPatternStatesMax = 8'192;

class Pattern {
 public:
  [[nodiscard]] static Result<Pattern> parse(std::string_view text);
  [[nodiscard]] bool matches(std::string_view name) const;
  // Adds how many states were looked at, at most size() for each byte and once more.
  [[nodiscard]] bool matches(std::string_view name, std::size_t& steps) const;
  // What every name that matches begins with; often empty.
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  [[nodiscard]] std::size_t size() const { return states_.size(); }

 private:
  friend class PatternBuilder;
  using Bytes = std::bitset<256>;
  enum class Kind : std::uint8_t { Byte, Jump, Fork, Begin, End, Match };
  struct State {
    Kind kind;
    std::uint32_t bytes{};  // of Byte: an index
    std::uint32_t next{};
    std::uint32_t other{};  // of Fork
  };
  class Run;

  std::vector<State> states_;
  std::vector<Bytes> sets_;
  std::uint32_t start_{};
  std::string prefix_;
};

}  // namespace lockstep
