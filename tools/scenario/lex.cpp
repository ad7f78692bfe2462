#include "tools/scenario/lex.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"

namespace lockstep::scenario {
namespace {

constexpr std::size_t kIndexesMax = 100'000;  // of one `worker[...]`

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

template <class Number>
Result<Number> parse_number(std::string_view text, std::string_view form) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return bad(fmt::format("{} is not {}", in_quotes(text), form));
  }
  return number;
}

// "0-2,5" of `worker[0-2,5]`.
Result<std::vector<std::uint32_t>> parse_indexes(std::string_view text) {
  std::vector<std::uint32_t> indexes;
  while (true) {
    const auto comma = text.find(',');
    const auto piece = text.substr(0, comma);
    const auto dash = piece.find('-');
    const auto first = parse_small(piece.substr(0, dash));
    LOCKSTEP_TRY(first);
    const auto last = dash == std::string_view::npos ? first : parse_small(piece.substr(dash + 1));
    LOCKSTEP_TRY(last);
    if (*last < *first) return bad(fmt::format("{} is an empty range", in_quotes(piece)));
    if (*last - *first >= kIndexesMax || indexes.size() + (*last - *first) >= kIndexesMax) {
      return bad(fmt::format("{} names more than {} members; use [*]", in_quotes(text), kIndexesMax));
    }
    for (std::uint32_t i = *first;; ++i) {
      indexes.push_back(i);
      if (i == *last) break;
    }
    if (comma == std::string_view::npos) return indexes;
    text.remove_prefix(comma + 1);
  }
}

// "*", "worker[*]" or "worker[0-2]" into `members`.
Result<void> parse_which(std::string_view text, MemberRef& members) {
  if (text == "*") {
    members.all = true;
    return {};
  }
  const auto open = text.find('[');
  if (open == std::string_view::npos || open == 0 || text.back() != ']') {
    return bad(fmt::format("{} names no members (worker[3], worker[*] or *)", in_quotes(text)));
  }
  members.role = text.substr(0, open);
  const auto inside = text.substr(open + 1, text.size() - open - 2);
  if (inside == "*") {
    members.all = true;
    return {};
  }
  auto indexes = parse_indexes(inside);
  LOCKSTEP_TRY(indexes);
  members.indexes = std::move(*indexes);
  return {};
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || is_space(line[i - 1]))) return trim(line.substr(0, i));
  }
  return trim(line);
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (i < line.size()) {
    while (i < line.size() && is_space(line[i])) ++i;
    const std::size_t first = i;
    while (i < line.size() && !is_space(line[i])) ++i;
    if (i > first) words.emplace_back(line.substr(first, i - first));
  }
  return words;
}

tl::unexpected<Error> bad(std::string what) { return fail(ErrorCode::InvalidInput, std::move(what)); }

Result<std::uint64_t> parse_count(std::string_view text) { return parse_number<std::uint64_t>(text, "a number"); }
Result<std::uint32_t> parse_small(std::string_view text) {
  return parse_number<std::uint32_t>(text, "a number from 0 to 4294967295");
}
Result<std::int32_t> parse_signed(std::string_view text) {
  return parse_number<std::int32_t>(text, "an integer of 32 bits");
}

Result<GroupRef> parse_group(std::string_view text) {
  const auto hash = text.find('#');
  GroupRef group{std::string(text.substr(0, hash)), 0};
  if (hash != std::string_view::npos) {
    const auto id = parse_count(text.substr(hash + 1));
    LOCKSTEP_TRY(id);
    if (*id == 0) return bad(fmt::format("{}: ids begin at 1", in_quotes(text)));
    group.id = *id;
  } else if (group.name.empty()) {
    return bad("a group's name is missing");
  }
  if (text.find_first_of("/[]*=") != std::string_view::npos) {
    return bad(fmt::format("{} is not the name of a group", in_quotes(text)));
  }
  return group;
}

Result<MemberRef> parse_members(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return bad(fmt::format("{} names no members (g/worker[3], g/worker[*] or g/*)", in_quotes(text)));
  }
  auto group = parse_group(text.substr(0, slash));
  LOCKSTEP_TRY(group);
  MemberRef members{std::move(*group), {}, false, {}};
  LOCKSTEP_TRY(parse_which(text.substr(slash + 1), members));
  return members;
}

Result<ClaimPath> parse_claim(std::string_view text) {
  const auto slash = text.rfind('/');
  ClaimPath claim{slash == std::string_view::npos, {}, std::string(text.substr(slash + 1))};
  if (claim.name.empty() || claim.name.find_first_of("[]*=#") != std::string::npos) {
    return bad(fmt::format("{} names no claim (g/scratch, g/worker[3]/scratch or dataset)", in_quotes(text)));
  }
  if (claim.standalone) {
    claim.name = text;
    return claim;
  }
  const auto owner = text.substr(0, slash);
  if (owner.find('/') != std::string_view::npos) {
    auto members = parse_members(owner);
    LOCKSTEP_TRY(members);
    claim.members = std::move(*members);
  } else {
    auto group = parse_group(owner);
    LOCKSTEP_TRY(group);
    claim.members.group = std::move(*group);
  }
  return claim;
}

Result<KeyValue> parse_pair(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return bad(fmt::format("{} is not of the form key=value", in_quotes(word)));
  }
  return KeyValue{std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

Result<std::int64_t> parse_amount(std::string_view text, std::string_view counter) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto amount = parse_quantity(text, counter);
  if (!amount) return amount;
  return negative ? -*amount : *amount;
}

Result<std::vector<Counter>> parse_counters(const std::vector<std::string>& words, std::size_t first) {
  std::vector<Counter> counters;
  for (std::size_t i = first; i < words.size(); ++i) {
    const auto pair = parse_pair(words[i]);
    LOCKSTEP_TRY(pair);
    const auto amount = parse_amount(pair->value, pair->key);
    if (!amount) return bad(fmt::format("{}: {}", pair->key, amount.error().message));
    counters.push_back({pair->key, *amount});
  }
  if (counters.empty()) return bad("a counter is missing (gpu=8)");
  return counters;
}

std::string to_string(const GroupRef& group) {
  return group.id == 0 ? group.name : fmt::format("{}#{}", group.name, group.id);
}

std::string to_string(const MemberRef& members) {
  if (members.all) {
    return to_string(members.group) + (members.role.empty() ? "/*" : fmt::format("/{}[*]", members.role));
  }
  return fmt::format("{}/{}[{}]", to_string(members.group), members.role, fmt::join(members.indexes, ","));
}

std::string to_string(const ClaimPath& claim) {
  if (claim.standalone) return claim.name;
  const bool of_members = claim.members.all || !claim.members.indexes.empty();
  return fmt::format("{}/{}", of_members ? to_string(claim.members) : to_string(claim.members.group), claim.name);
}

}  // namespace lockstep::scenario
