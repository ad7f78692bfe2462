#pragma once
// Small text helpers that whoever reads text shares, here and in the folders above.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "events/error.h"

namespace lockstep {

inline constexpr std::int64_t kThousandths = 1000;  // of a core, the base unit of cpu

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

[[nodiscard]] constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// What events/spec.h takes for a counter or an attribute: printable ASCII without spaces, at most 253 bytes.
[[nodiscard]] constexpr bool is_plain_key(std::string_view text) {
  return !text.empty() && text.size() <= 253 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

[[nodiscard]] inline tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

// Bytes of the UTF-8 character at the start of `text`, which is not empty; 0 = none is there.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// `text` as one printable line, for messages: what an author wrote may be anything. Each byte of a control character,
// of an end of a line and of what is no UTF-8 is written as in "\x1b"; all else stays, a line of such lines too.
[[nodiscard]] std::string one_line(std::string_view text);
// What is quoted from a text: such a line in double quotes, cut when it is long.
[[nodiscard]] std::string in_quotes(std::string_view text);
// The same without the quotes, for a key as part of a path.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace lockstep
