#pragma once
// The text of a scenario file to a Script. Every line is looked at; all that does not parse is listed, each with its
// line. Pure, but for files that a line names, which `load` reads.
//
//     line      := [ step ] [ comment ]
//     step      := verb words...            one line
//                | verb words... <<MARK     and the lines up to one that is MARK: inline YAML, no comments in it
//     trace     := "----" line... ""        the events of the step above, up to the next empty line

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "tools/scenario/step.h"

namespace lockstep::scenario {

inline constexpr std::size_t kScenarioBytesMax = 16U << 20U;
inline constexpr std::string_view kTraceMark = "----";

// The text of a file named in a step, relative to the scenario.
using LoadFile = std::function<Result<std::string>(const std::string& name)>;

[[nodiscard]] Script parse_script(std::string_view text, const LoadFile& load);

// One line's words, and its block when it has one.
struct Words {
  std::vector<std::string> words;  // the verb first; without `<<EOF`
  bool has_block{false};
  std::string block;
  [[nodiscard]] std::size_t size() const { return words.size(); }
  [[nodiscard]] const std::string& operator[](std::size_t i) const { return words[i]; }
};

// `expect ...`, the words after it (parse_expect.cpp).
[[nodiscard]] Result<Expectation> parse_expectation(const std::vector<std::string>& words);

}  // namespace lockstep::scenario
