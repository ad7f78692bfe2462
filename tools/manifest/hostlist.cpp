#include "tools/manifest/hostlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::size_t kDigitsMax = 18;   // fits 64 bits
constexpr std::size_t kBracketsMax = 8;  // in one name
constexpr std::size_t kHostlistMax = kManifestBytesMax;

// "001-128": numbers [first, after), printed with at least `width` digits.
struct Range {
  std::uint64_t first{};
  std::uint64_t after{};
  std::size_t width{};
  [[nodiscard]] std::uint64_t size() const { return after - first; }
};

// A fixed text followed by a choice of numbers; the last part of a name may have no choice.
struct Part {
  std::string_view text;
  std::vector<Range> ranges;
};

std::optional<std::uint64_t> number(std::string_view digits) {
  if (digits.empty() || digits.size() > kDigitsMax || !std::all_of(digits.begin(), digits.end(), is_digit)) return {};
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Result<Range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  const auto first = number(low);
  const auto last = number(high);
  if (!first || !last) return bad(fmt::format("{} in brackets is not a number or a range of numbers", in_quotes(text)));
  if (*last < *first) return bad(fmt::format("the range {} runs backwards", in_quotes(text)));
  if (high.size() > 1 && high[0] == '0' && high.size() != low.size()) {
    return bad(fmt::format("the ends of {} have different zero padding", in_quotes(text)));
  }
  return Range{*first, *last + 1, low.size()};
}

Result<std::vector<Range>> parse_brackets(std::string_view inside) {
  std::vector<Range> ranges;
  while (true) {
    const std::size_t comma = inside.find(',');
    auto range = parse_range(inside.substr(0, comma));
    if (!range) return tl::unexpected(std::move(range).error());
    if (ranges.size() == kInventoryHostsMax) return bad("too many ranges in one bracket");
    ranges.push_back(*range);
    if (comma == std::string_view::npos) return ranges;
    inside.remove_prefix(comma + 1);
  }
}

// "n[1-2]x[3-4]y" -> n, x, y with their choices.
Result<std::vector<Part>> parse_name(std::string_view text) {
  std::vector<Part> parts;
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    Part part{text.substr(0, open), {}};
    if (part.text.find(']') != std::string_view::npos) return bad("a ] without its [");
    if (open == std::string_view::npos) {
      parts.push_back(std::move(part));
      break;
    }
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) return bad("a [ without its ]");
    if (parts.size() == kBracketsMax) return bad(fmt::format("more than {} brackets in one name", kBracketsMax));
    auto ranges = parse_brackets(text.substr(open + 1, close - open - 1));
    if (!ranges) return tl::unexpected(std::move(ranges).error());
    part.ranges = std::move(*ranges);
    parts.push_back(std::move(part));
    text.remove_prefix(close + 1);
  }
  return parts;
}

// How many names; above `count_max` the exact number does not matter.
std::uint64_t count_names(const std::vector<Part>& parts, std::size_t count_max) {
  std::uint64_t product = 1;
  for (const Part& part : parts) {
    if (part.ranges.empty()) continue;
    std::uint64_t sum = 0;
    for (const Range& range : part.ranges) {
      sum = std::min<std::uint64_t>(sum + std::min<std::uint64_t>(range.size(), count_max + 1), count_max + 1);
    }
    product = std::min<std::uint64_t>(product * sum, count_max + 1);  // both factors are at most count_max + 1
  }
  return product;
}

// Asked before anything is expanded: a long text before a long range would be copied once per name.
std::size_t longest_name(const std::vector<Part>& parts) {
  std::size_t size = 0;
  for (const Part& part : parts) {
    std::size_t digits = 0;
    for (const Range& range : part.ranges) {
      digits = std::max(digits, fmt::formatted_size("{:0{}}", range.after - 1, range.width));
    }
    size += part.text.size() + digits;
  }
  return size;
}

void append_number(std::string& text, std::uint64_t value, std::size_t width) {
  std::array<char, 20> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const auto size = static_cast<std::size_t>(end - digits.data());
  if (size < width) text.append(width - size, '0');
  text.append(digits.data(), size);
}

// The leftmost bracket varies slowest, as Slurm does it.
void expand(const std::vector<Part>& parts, std::size_t at, std::string& prefix, std::vector<std::string>& names) {
  if (at == parts.size()) {
    names.push_back(prefix);
    return;
  }
  const std::size_t size = prefix.size();
  prefix += parts[at].text;
  if (parts[at].ranges.empty()) expand(parts, at + 1, prefix, names);
  const std::size_t fixed = prefix.size();
  for (const Range& range : parts[at].ranges) {
    for (std::uint64_t value = range.first; value < range.after; ++value) {
      prefix.resize(fixed);
      append_number(prefix, value, range.width);
      expand(parts, at + 1, prefix, names);
    }
  }
  prefix.resize(size);
}

// Up to the next comma that is outside of brackets.
std::string_view next_item(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] == ',' && !inside) return text.substr(0, i);
  }
  return text;
}

Result<void> append_names(std::string_view item, std::size_t count_max, std::vector<std::string>& names) {
  if (item.empty()) return bad("an empty name");
  if (std::any_of(item.begin(), item.end(), is_space)) return bad(fmt::format("a space in {}", in_quotes(item)));
  auto parts = parse_name(item);
  if (!parts) return bad(fmt::format("{}: {}", in_quotes(item), parts.error().message));
  if (names.size() + count_names(*parts, count_max) > count_max) {
    return bad(fmt::format("{} makes more than {} names", in_quotes(item), count_max));
  }
  if (longest_name(*parts) > kNameBytesMax) {
    return bad(fmt::format("{} makes a name of more than {} bytes", in_quotes(item), kNameBytesMax));
  }
  std::string prefix;
  expand(*parts, 0, prefix, names);
  return {};
}

// "n007x" -> n, 007, x: the last run of digits is the one that counts up.
struct Split {
  std::string_view prefix;
  std::string_view digits;
  std::string_view suffix;
};

Split split_name(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (begin == end || end - begin > kDigitsMax - 1) return {name, {}, {}};
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

// What the bracket range that begins with `first` prints `distance` places later.
std::string counted(std::string_view first, std::uint64_t distance) {
  return fmt::format("{:0{}}", *number(first) + distance, first.size());
}

// Ranges of the names [first, after), which differ in their digits only.
std::string bracket_text(const std::vector<Split>& names, std::size_t first, std::size_t after) {
  std::string inside;
  while (first < after) {
    std::size_t next = first + 1;
    while (next < after && names[next].digits == counted(names[first].digits, next - first)) ++next;
    if (!inside.empty()) inside += ',';
    inside += names[first].digits;
    if (next - first > 1) fmt::format_to(std::back_inserter(inside), "-{}", names[next - 1].digits);
    first = next;
  }
  return inside;
}

}  // namespace

Result<std::vector<std::string>> expand_names(std::string_view text, std::size_t count_max) {
  if (text.size() > kHostlistMax) return bad("a hostlist of more than 16 MiB");
  std::vector<std::string> names;
  while (true) {
    const std::string_view item = next_item(text);
    LOCKSTEP_TRY(append_names(trim(item), count_max, names));
    if (item.size() == text.size()) break;
    text.remove_prefix(item.size() + 1);
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return bad(fmt::format("{} is named twice", in_quotes(name)));
  }
  return names;
}

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  return expand_names(text, kInventoryHostsMax);
}

std::string compress_hostlist(const std::vector<std::string>& names) {
  std::vector<Split> splits;
  splits.reserve(names.size());
  for (const std::string& name : names) splits.push_back(split_name(name));
  std::string text;
  std::size_t first = 0;
  while (first < splits.size()) {
    const Split& split = splits[first];
    std::size_t after = first + 1;
    while (after < splits.size() && !split.digits.empty() && !splits[after].digits.empty() &&
           splits[after].prefix == split.prefix && splits[after].suffix == split.suffix) {
      ++after;
    }
    if (!text.empty()) text += ',';
    if (after - first == 1) {
      text += names[first];
    } else {
      fmt::format_to(std::back_inserter(text), "{}[{}]{}", split.prefix, bracket_text(splits, first, after),
                     split.suffix);
    }
    first = after;
  }
  return text;
}

}  // namespace lockstep
