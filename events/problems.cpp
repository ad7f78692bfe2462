#include "events/problems.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::size_t kShownBytesMax = 80;

// Length of the UTF-8 sequence at the start of `text`; 0 = none is there.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                             : (lead & 0xf0U) == 0xe0       ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
  if (lead == 0xed && byte(1) > 0x9f) return 0;  // surrogates
  if (lead == 0xf0 && byte(1) < 0x90) return 0;  // overlong
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;  // past U+10FFFF
  return length;
}

template <class T, class KeyOf>
void check_sorted(Problems& problems, const std::string& path, const std::vector<T>& list, KeyOf key_of) {
  bool sorted = true;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& key = key_of(list[i]);
    problems.key(path + "." + shown(key), key);
    if (i == 0) continue;
    if (key_of(list[i - 1]) == key) problems.add(path + "." + shown(key), "is given twice; give it once");
    sorted = sorted && key_of(list[i - 1]) <= key;
  }
  if (!sorted) problems.add(path, "is not sorted; sort it by name");
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_level_name(std::string_view text) { return is_key(text) && text.find('/') == std::string_view::npos; }

std::string shown(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    if (line.size() >= kShownBytesMax) return line + "...";
    const std::size_t length = utf8_length(text);
    const bool printable = length > 1 || (length == 1 && text[0] >= ' ' && text[0] != '\x7f');
    line += printable ? text.substr(0, length) : std::string_view("?");
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return line;
}

void Problems::add(std::string path, std::string text) {
  if (problems_.size() > kProblemsMax) return;
  if (problems_.size() == kProblemsMax) {
    problems_.push_back({"", fmt::format("more than {} problems; the rest is not shown", kProblemsMax)});
    return;
  }
  problems_.push_back({std::move(path), std::move(text)});
}

void Problems::name(const std::string& path, std::string_view text) {
  if (text.empty()) {
    add(path, "is missing; a name is needed");
  } else if (!is_name(text)) {
    add(path, fmt::format("'{}' is not a name; use lowercase letters, digits, '-' and '.', at most {} characters",
                          shown(text), kNameBytesMax));
  }
}

void Problems::key(const std::string& path, std::string_view text) {
  if (text.empty()) {
    add(path, "is empty; a key is needed");
  } else if (!is_key(text)) {
    add(path, fmt::format("'{}' is not a key; use printable ASCII without spaces, at most {} characters", shown(text),
                          kNameBytesMax));
  }
}

void Problems::key_or_empty(const std::string& path, std::string_view text) {
  if (!text.empty()) key(path, text);
}

void Problems::text(const std::string& path, std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    add(path, fmt::format("{} bytes are more than {}", text.size(), bytes_max));
  } else if (!is_utf8(text)) {
    add(path, "is not UTF-8");
  } else if (text.find('\0') != std::string_view::npos) {
    add(path, "holds a NUL byte");
  }
}

void Problems::not_negative(const std::string& path, std::int64_t number) {
  if (number < 0) add(path, fmt::format("{} is negative; use 0 or more", number));
}

bool Problems::list(const std::string& path, std::size_t size, std::size_t max) {
  if (size <= max) return true;
  add(path, fmt::format("{} entries are more than {}", size, max));
  return false;
}

void Problems::sorted_keys(const std::string& path, const std::vector<KeyValue>& list) {
  check_sorted(*this, path, list, [](const KeyValue& pair) -> const std::string& { return pair.key; });
}

void Problems::sorted_keys(const std::string& path, const std::vector<Counter>& list) {
  check_sorted(*this, path, list, [](const Counter& counter) -> const std::string& { return counter.name; });
}

void Problems::role(const std::string& path, RoleIndex role, std::size_t role_count) {
  if (role >= role_count) add(path, fmt::format("there is no role {}; the group has {} roles", role, role_count));
}

void Problems::sorted_roles(const std::string& path, const std::vector<RoleIndex>& roles, std::size_t role_count) {
  if (!list(path, roles.size(), kRolesMax)) return;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", path, i);
    role(place, roles[i], role_count);
    if (i == 0) continue;
    if (roles[i - 1] == roles[i]) add(place, "names a role a second time; name it once");
    if (roles[i - 1] > roles[i]) add(place, "is not in the order of the roles; sort the list");
  }
}

}  // namespace lockstep
