#include <fmt/format.h>

#include <array>
#include <charconv>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

struct Suffix {
  std::string_view text;
  std::int64_t factor;
};

constexpr std::int64_t kKibi = 1024;
constexpr std::array kSuffixes{
    Suffix{"Ki", kKibi},
    Suffix{"Mi", kKibi* kKibi},
    Suffix{"Gi", kKibi* kKibi* kKibi},
    Suffix{"Ti", kKibi* kKibi* kKibi* kKibi},
    Suffix{"K", 1'000},
    Suffix{"M", 1'000'000},
    Suffix{"G", 1'000'000'000},
    Suffix{"T", 1'000'000'000'000},
};

constexpr std::array kUnits{
    Suffix{"ns", 1},
    Suffix{"us", 1'000},
    Suffix{"ms", 1'000'000},
    Suffix{"s", 1'000'000'000},
    Suffix{"m", 60'000'000'000},
    Suffix{"h", 3'600'000'000'000},
    Suffix{"d", 86'400'000'000'000},
};

constexpr std::string_view kQuantityForm = "an integer, alone or with Ki Mi Gi Ti or K M G T (cpu also 500m)";
constexpr std::string_view kDurationForm = "one integer and one of ns us ms s m h d";

template <std::size_t N>
std::int64_t factor_of(const std::array<Suffix, N>& table, std::string_view suffix) {
  for (const Suffix& entry : table) {
    if (entry.text == suffix) return entry.factor;
  }
  return 0;
}

std::string_view digits_of(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  return text.substr(0, size);
}

// False when the number itself, or the product, does not fit.
bool multiply(std::string_view digits, std::int64_t factor, std::int64_t& product) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return false;
  return !__builtin_mul_overflow(number, factor, &product);
}

bool counts_bytes(std::string_view counter) {
  return counter == "mem" || counter == "size" || counter == "disk" || counter == "storage" ||
         counter == "ephemeral-storage";
}

// In the unit that people write.
std::string largest(std::string_view counter) {
  return format_quantity(counter == "cpu" ? kQuantityMax / kThousandths * kThousandths : kQuantityMax, counter);
}

}  // namespace

bool is_quantity(std::string_view text) {
  const std::string_view digits = digits_of(text);
  if (digits.empty()) return false;
  const std::string_view suffix = text.substr(digits.size());
  return suffix.empty() || suffix == "m" || factor_of(kSuffixes, suffix) != 0;
}

Result<std::int64_t> parse_quantity(std::string_view text, std::string_view counter) {
  const std::string_view digits = digits_of(text);
  if (text.starts_with('-') && is_quantity(text.substr(1))) return bad(fmt::format("{} is negative", in_quotes(text)));
  if (!is_quantity(text)) return bad(fmt::format("{} is not a quantity: {}", in_quotes(text), kQuantityForm));
  const std::string_view suffix = text.substr(digits.size());
  const bool cpu = counter == "cpu";
  if (suffix == "m" && !cpu) return bad(fmt::format("{}: only cpu is counted in thousandths", in_quotes(text)));
  std::int64_t factor = suffix.empty() || suffix == "m" ? 1 : factor_of(kSuffixes, suffix);
  if (cpu && suffix != "m") factor *= kThousandths;
  std::int64_t amount = 0;
  if (!multiply(digits, factor, amount) || amount > kQuantityMax) {
    return bad(fmt::format("{} is more than a counter holds, {}", in_quotes(text), largest(counter)));
  }
  return amount;
}

std::string format_quantity(std::int64_t amount, std::string_view counter) {
  if (counter == "cpu") {
    return amount % kThousandths == 0 ? fmt::format("{}", amount / kThousandths) : fmt::format("{}m", amount);
  }
  if (!counts_bytes(counter) || amount == 0) return fmt::format("{}", amount);
  for (const std::string_view suffix : {"Ti", "Gi", "Mi", "Ki"}) {
    const std::int64_t factor = factor_of(kSuffixes, suffix);
    if (amount % factor == 0) return fmt::format("{}{}", amount / factor, suffix);
  }
  return fmt::format("{}", amount);
}

Result<Duration> parse_duration(std::string_view text) {
  if (text == "0") return Duration{};
  const std::string_view digits = digits_of(text);
  const std::int64_t factor = factor_of(kUnits, text.substr(digits.size()));
  if (digits.empty() || factor == 0) {
    return bad(fmt::format("{} is not a duration: {}", in_quotes(text), kDurationForm));
  }
  Duration duration;
  if (!multiply(digits, factor, duration.value)) {
    return bad(fmt::format("{} is longer than a duration holds (292 years)", in_quotes(text)));
  }
  return duration;
}

std::string format_duration(Duration duration) {
  if (duration.value == 0) return "0s";
  for (std::size_t i = kUnits.size(); i-- > 1;) {
    if (duration.value % kUnits[i].factor == 0) {
      return fmt::format("{}{}", duration.value / kUnits[i].factor, kUnits[i].text);
    }
  }
  return fmt::format("{}ns", duration.value);
}

}  // namespace lockstep
