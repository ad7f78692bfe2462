#pragma once
// Lines and words of a scenario file, and the small texts inside a word: numbers, what names a group, members or a
// claim. Errors are one line without the place; the parser knows the line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "tools/scenario/step.h"

namespace lockstep::scenario {

// Lines without their end (\n or \r\n); a last line without one counts.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

// Without the comment: a `#` at the start of the line or after a space, and what follows; and without spaces around.
[[nodiscard]] std::string_view without_comment(std::string_view line);

[[nodiscard]] std::vector<std::string> split_words(std::string_view line);

[[nodiscard]] tl::unexpected<Error> bad(std::string what);

[[nodiscard]] Result<std::uint64_t> parse_count(std::string_view text);  // 0 or more
[[nodiscard]] Result<std::uint32_t> parse_small(std::string_view text);  // 0 to 2^32 - 1
[[nodiscard]] Result<std::int32_t> parse_signed(std::string_view text);  // exit codes

[[nodiscard]] Result<GroupRef> parse_group(std::string_view text);
[[nodiscard]] Result<MemberRef> parse_members(std::string_view text);
[[nodiscard]] Result<ClaimPath> parse_claim(std::string_view text);

// A quantity, also below 0: what is free of a host that shrank.
[[nodiscard]] Result<std::int64_t> parse_amount(std::string_view text, std::string_view counter);

// `gpu=8` ...
[[nodiscard]] Result<std::vector<Counter>> parse_counters(const std::vector<std::string>& words, std::size_t first);

// "cpu=64" -> {"cpu", "64"}; no `=`: an error that says so.
[[nodiscard]] Result<KeyValue> parse_pair(std::string_view word);

}  // namespace lockstep::scenario
