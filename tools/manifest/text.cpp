#include "tools/manifest/text.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr std::size_t kQuotedBytesMax = 60;

// Never cut inside a UTF-8 sequence.
std::string_view cut(std::string_view text) {
  std::size_t size = kQuotedBytesMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace

std::string printable(std::string_view text) {
  const bool whole = text.size() <= kQuotedBytesMax;
  std::string line;
  for (const char c : whole ? text : cut(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return whole ? line : line + "...";
}

std::string in_quotes(std::string_view text) { return '"' + printable(text) + '"'; }

}  // namespace lockstep
