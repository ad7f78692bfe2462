#pragma once
// What is wrong with the files, and what of them is not carried: bounded lists, each entry with its file and line, and
// each one line of printable text whatever the files hold.
// Private to tools/topology.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/spec.h"

namespace lockstep {

struct Where {
  std::uint32_t file{};
  std::uint32_t line{};  // from 1; 0 = the whole file
};

class Findings {
 public:
  explicit Findings(std::vector<std::string> files) : files_(std::move(files)) {}

  // "topology.conf:12"
  [[nodiscard]] std::string text(Where where) const;
  void problem(Where where, std::string_view what) { problem(text(where), what); }
  void problem(std::string_view path, std::string_view what);
  // "topology.conf:12: <what>, not carried"
  void not_carried(Where where, std::string_view what);
  void note(Where where, std::string_view what);
  void note(std::string_view what) { add_note({}, what); }
  // No more problems are kept: who reads may stop.
  [[nodiscard]] bool full() const;

  [[nodiscard]] bool good() const { return problems_.empty(); }
  [[nodiscard]] std::vector<Problem> take_problems() { return std::move(problems_); }
  [[nodiscard]] std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  void add_note(std::string_view before, std::string_view what);

  std::vector<std::string> files_;
  std::vector<Problem> problems_{};
  std::vector<std::string> notes_{};
};

// A few of many names: "n1, n2, n3 and 97 more".
class Sample {
 public:
  void add(std::string_view name);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::string text() const;

 private:
  std::string shown_;
  std::size_t size_ = 0;
};

// "1 host", "2 hosts"
[[nodiscard]] std::string count_of(std::size_t count, std::string_view noun);
[[nodiscard]] std::string lower_case(std::string_view text);

}  // namespace lockstep
