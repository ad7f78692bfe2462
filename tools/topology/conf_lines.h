#pragma once
// Slurm's configuration files line by line: Key=Value pairs, values in quotes if they hold spaces, # comments, and
// lines that go on after a backslash. What keys mean is for who reads them. Private to tools/topology.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

inline constexpr std::size_t kConfPairsMax = 256;  // of one line

struct ConfPair {
  std::string_view key;
  std::string_view value;  // without quotes
};

class ConfLines {
 public:
  explicit ConfLines(std::string_view text) : rest_(text) {}
  // To the next line that says something; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::uint32_t line() const { return line_; }  // the first of those that are joined
  // Of the line until next(): at least one pair, or a fault. A line with a fault has the pairs before it.
  [[nodiscard]] const std::vector<ConfPair>& pairs() const { return pairs_; }
  [[nodiscard]] std::string_view fault() const { return fault_; }  // where it is no Key=Value; empty = nowhere

 private:
  bool append(std::string_view physical);
  void parse();

  std::string_view rest_;
  std::uint32_t read_ = 0;  // physical lines
  std::uint32_t line_ = 0;
  std::string joined_;
  std::vector<ConfPair> pairs_;
  std::string_view fault_;
};

}  // namespace lockstep
