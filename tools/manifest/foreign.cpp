#include "tools/manifest/foreign.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "tools/manifest/text.h"

namespace lockstep {
namespace {

__extension__ using Wide = unsigned __int128;

// A factor of 10^decimal * 2^binary.
struct Suffix {
  std::string_view text;
  int decimal;
  unsigned binary;
};

constexpr std::array kSuffixes{
    Suffix{"", 0, 0},    Suffix{"n", -9, 0},  Suffix{"u", -6, 0},  Suffix{"m", -3, 0},
    Suffix{"k", 3, 0},   Suffix{"M", 6, 0},   Suffix{"G", 9, 0},   Suffix{"T", 12, 0},
    Suffix{"P", 15, 0},  Suffix{"E", 18, 0},  Suffix{"Ki", 0, 10}, Suffix{"Mi", 0, 20},
    Suffix{"Gi", 0, 30}, Suffix{"Ti", 0, 40}, Suffix{"Pi", 0, 50}, Suffix{"Ei", 0, 60},
};
constexpr int kExponentMax = 99;
constexpr std::size_t kSignificantMax = 18;

// digits without leading zeros, times 10^exponent.
struct Decimal {
  std::string digits;
  int exponent{};
};

// Takes the number from the front of `text`; false when there is none.
bool take_decimal(std::string_view& text, Decimal& number) {
  bool any = false;
  bool point = false;
  std::size_t size = 0;
  for (; size < text.size(); ++size) {
    const char c = text[size];
    if (c == '.' && !point) {
      point = true;
    } else if (is_digit(c)) {
      any = true;
      if (point) --number.exponent;
      if (c != '0' || !number.digits.empty()) number.digits += c;
    } else {
      break;
    }
    if (number.exponent < -kExponentMax) return false;
  }
  text.remove_prefix(size);
  return any;
}

// What follows the number: a suffix, or e and an exponent.
bool read_suffix(std::string_view text, Suffix& suffix) {
  for (const Suffix& entry : kSuffixes) {
    if (entry.text == text) {
      suffix = entry;
      return true;
    }
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(text[1] == '+' ? 2 : 1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), suffix.decimal);
  return error == std::errc{} && end == text.data() + text.size() && suffix.decimal <= kExponentMax &&
         suffix.decimal >= -kExponentMax;
}

// False when it is too large. Fractions are rounded up.
bool scale_up(std::uint64_t digits, int decimal, unsigned binary, std::int64_t scale, std::int64_t& amount) {
  Wide value = digits;
  bool fits = !__builtin_mul_overflow(value, Wide{1} << binary, &value) &&
              !__builtin_mul_overflow(value, static_cast<Wide>(scale), &value);
  for (; fits && decimal > 0 && value != 0; --decimal) fits = !__builtin_mul_overflow(value, Wide{10}, &value);
  bool rest = false;
  for (; fits && decimal < 0 && value != 0; ++decimal) {
    rest = rest || value % 10 != 0;
    value /= 10;
  }
  if (rest) ++value;
  if (!fits || value > static_cast<Wide>(kQuantityMax)) return false;
  amount = static_cast<std::int64_t>(value);
  return true;
}

}  // namespace

Result<std::int64_t> parse_kubernetes_quantity(std::string_view text, std::int64_t scale) {
  if (text.starts_with('-')) return bad(fmt::format("{} is negative", in_quotes(text)));
  std::string_view rest = text;
  Decimal number;
  Suffix suffix{};
  if (!take_decimal(rest, number) || !read_suffix(rest, suffix)) {
    return bad(fmt::format("{} is not a quantity, as 4, 500m, 1.5 or 64Gi", in_quotes(text)));
  }
  while (number.digits.ends_with('0')) {
    number.digits.pop_back();
    ++number.exponent;
  }
  if (number.digits.size() > kSignificantMax) return bad(fmt::format("{} has too many digits", in_quotes(text)));
  std::uint64_t digits = 0;
  std::from_chars(number.digits.data(), number.digits.data() + number.digits.size(), digits);
  std::int64_t amount = 0;
  if (!scale_up(digits, number.exponent + suffix.decimal, suffix.binary, scale, amount)) {
    return bad(fmt::format("{} is more than a counter holds (2^60)", in_quotes(text)));
  }
  return amount;
}

std::string_view level_of_label(std::string_view label) { return label.substr(label.rfind('/') + 1); }

void read_level(const Value& value, std::string& level) {
  std::string text;
  if (!value.read_scalar(text)) return;
  if (is_plain_key(text)) {
    level = level_of_label(text);
    if (level == "hostname") level = "host";  // kubernetes.io/hostname
  } else {
    value.problem(fmt::format(
        "{} is not the name of a level; use printable ASCII without spaces, at most 253 characters", in_quotes(text)));
  }
}

std::string_view counter_of_resource(std::string_view resource) {
  if (resource == "memory") return "mem";
  if (resource == "nvidia.com/gpu" || resource == "amd.com/gpu") return "gpu";
  return resource;
}

void NotCarried::add(const Value& value, std::string_view why) {
  add_line(value, fmt::format("{}{}not carried", why, why.empty() ? "" : ", "));
}

void NotCarried::add_line(const Value& value, std::string_view line) {
  if (lines_.size() > kNotCarriedMax) return;
  if (lines_.size() == kNotCarriedMax) {
    lines_.push_back("more than that is not carried and not listed");
    return;
  }
  lines_.push_back(one_line(fmt::format("{}{}: {}", value.context().prefix(), value.path(), line)));
}

void NotCarried::add_rest(MapReader& map) {
  map.each_other([&](std::string_view, const Value& value) {
    if (value.node().kind != YamlNode::Kind::Null) add(value);
  });
}

}  // namespace lockstep
