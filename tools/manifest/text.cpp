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

// Of one whole character: not the controls U+0000 to U+001F and U+007F to U+009F, nor the line ends U+2028 and U+2029.
bool is_printed(std::string_view character) {
  if (character.size() == 1) return character[0] >= ' ' && character[0] != '\x7f';
  if (character.size() == 2) return character[0] != '\xc2' || static_cast<unsigned char>(character[1]) >= 0xA0;
  return character != "\xe2\x80\xa8" && character != "\xe2\x80\xa9";
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : byte(0) < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const bool overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool outside = (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length > 0 && is_printed(character)) {
      line += character;
    } else {
      for (const char c : character) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(character.size());
  }
  return line;
}

std::string printable(std::string_view text) {
  return text.size() <= kQuotedBytesMax ? one_line(text) : one_line(cut(text)) + "...";
}

std::string in_quotes(std::string_view text) { return '"' + printable(text) + '"'; }

}  // namespace lockstep
