#include "tools/topology/form.h"

#include <algorithm>

#include "tools/manifest/text.h"
#include "tools/topology/findings.h"

namespace lockstep {
namespace {

// Without the "---" that begins a document, after which it may go on in the same line.
std::string_view without_separator(std::string_view line) {
  const bool separates = line.starts_with("---") && (line.size() == 3 || is_space(line[3]));
  return separates ? trim(line.substr(3)) : line;
}

// The first line that is neither empty, nor a comment, nor a directive or separator of YAML.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_separator(trim(text.substr(0, end)));
    if (!line.empty() && !line.starts_with('#') && !line.starts_with('%')) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

bool is_conf(std::string_view line) {
  const auto is_word = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  };
  const std::string_view word(line.begin(), std::find_if_not(line.begin(), line.end(), is_word));
  const std::string_view after = trim(line.substr(word.size()));
  return !word.empty() && (after.starts_with('=') || (lower_case(word) == "include" && !after.starts_with(':')));
}

// Also what an anchor begins: "&a {kind: Inventory}".
bool is_yaml(std::string_view line) {
  return std::string_view("{[-&").find(line.front()) != std::string_view::npos ||
         line.find(": ") != std::string_view::npos || line.ends_with(':');
}

}  // namespace

Form form_of(std::string_view text) {
  const std::string_view line = first_line(without_byte_order_mark(text));
  if (line.empty()) return Form::Empty;
  if (line.starts_with("vendid=")) return Form::Fabric;
  if (is_conf(line)) return Form::Conf;
  const bool is_header = line.find(',') != std::string_view::npos && line.find('=') == std::string_view::npos;
  return is_header && !is_yaml(line) ? Form::Csv : Form::Yaml;
}

}  // namespace lockstep
