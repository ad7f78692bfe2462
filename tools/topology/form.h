#pragma once
// What form a text has, as its first line that says something tells: the one judgement for whoever reads a topology and
// for whoever only asks what a file is. Private to tools/topology.

#include <cstdint>
#include <string_view>

namespace lockstep {

enum class Form : std::uint8_t {
  Empty,
  Conf,    // "SwitchName=s1 Nodes=n[1-4]", "include nodes.conf"
  Csv,     // "host,block,rack"
  Fabric,  // "vendid=0x2c9": the links of an InfiniBand fabric
  Yaml,    // and JSON, and what is none of these
};

[[nodiscard]] Form form_of(std::string_view text);

// Without the mark that some editors begin a file of UTF-8 with.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

}  // namespace lockstep
