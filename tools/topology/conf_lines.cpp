#include "tools/topology/conf_lines.h"

#include <algorithm>

#include "tools/manifest/text.h"

namespace lockstep {
namespace {

bool is_conf_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

}  // namespace

bool ConfLines::next() {
  joined_.clear();
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    ++read_;
    if (joined_.empty()) line_ = read_;
    const bool goes_on = append(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (goes_on && !rest_.empty()) continue;
    if (!trim(joined_).empty()) {
      parse();
      return true;
    }
    joined_.clear();
  }
  return false;
}

// Without its comment; true when a backslash ends it. \# is a # that begins no comment.
bool ConfLines::append(std::string_view physical) {
  std::size_t size = 0;
  while (size < physical.size() && (physical[size] != '#' || (size > 0 && physical[size - 1] == '\\'))) ++size;
  std::string_view text = physical.substr(0, size);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  const bool goes_on = text.ends_with('\\');
  if (goes_on) text.remove_suffix(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escapes = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '#';
    if (!escapes) joined_ += text[i];
  }
  return goes_on;
}

void ConfLines::parse() {
  pairs_.clear();
  fault_ = {};
  for (std::string_view left = trim(joined_); !left.empty(); left = trim(left)) {
    const auto key_end = std::find_if_not(left.begin(), left.end(), is_conf_key);
    const std::string_view key(left.begin(), key_end);
    std::string_view value = trim(left.substr(key.size()));
    if (key.empty() || !value.starts_with('=') || pairs_.size() == kConfPairsMax) {
      fault_ = left;
      return;
    }
    value = trim(value.substr(1));
    const bool quoted = value.starts_with('"');
    if (quoted) value.remove_prefix(1);
    const auto ends = [&](char c) { return quoted ? c == '"' : is_space(c); };
    const auto size = static_cast<std::size_t>(std::find_if(value.begin(), value.end(), ends) - value.begin());
    if (quoted && size == value.size()) {
      fault_ = left;
      return;
    }
    pairs_.push_back({key, value.substr(0, size)});
    left = value.substr(size + (quoted ? 1 : 0));
  }
}

}  // namespace lockstep
