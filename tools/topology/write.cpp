// write_inventory(): the native YAML of an inventory. A host is one line, as authors write it, unless all of them
// together would have more commas and brackets than read_inventory() takes; then each of its keys is.

#include <fmt/format.h>

#include <algorithm>

#include "tools/manifest/yaml.h"
#include "tools/topology/topology.h"

namespace lockstep {
namespace {

// In double quotes always: no text in them can be taken for anything else.
std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::string_view three = text.substr(i, 3);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else if (three.starts_with("\xc2\x85")) {  // these end a line for some readers of YAML
      out += "\\u0085";
      i += 1;
    } else if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") {
      out += three.back() == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out + '"';
}

std::string key_text(std::string_view name) {
  const bool is_usual = name == "cpu" || name == "mem" || name == "gpu";
  return is_usual ? std::string(name) : double_quoted(name);
}

bool differ_in_name_only(const HostInfo& a, const HostInfo& b) {
  return a.at == b.at && a.counters == b.counters && a.attributes == b.attributes;
}

struct Entry {
  std::vector<std::pair<std::string, std::string>> keys;
  std::vector<std::pair<std::string, std::string>> attributes;
};

Entry make_entry(const std::vector<HostInfo>& hosts, std::size_t first, std::size_t after) {
  std::vector<std::string> names;
  for (std::size_t i = first; i < after; ++i) names.push_back(hosts[i].name);
  const HostInfo& host = hosts[first];
  Entry entry;
  entry.keys.emplace_back("name", double_quoted(compress_hostlist(names)));
  for (const Counter& counter : host.counters) {
    entry.keys.emplace_back(key_text(counter.name), format_quantity(counter.amount, counter.name));
  }
  if (!host.at.empty()) entry.keys.emplace_back("at", double_quoted(fmt::format("{}", fmt::join(host.at, "/"))));
  for (const KeyValue& pair : host.attributes)
    entry.attributes.emplace_back(double_quoted(pair.key), double_quoted(pair.value));
  return entry;
}

std::string in_braces(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs)
    fmt::format_to(std::back_inserter(text), "{}{}: {}", text.empty() ? "" : ", ", key, value);
  return '{' + text + '}';
}

void write_on_one_line(Entry entry, std::string& out) {
  if (!entry.attributes.empty()) entry.keys.emplace_back("attributes", in_braces(entry.attributes));
  fmt::format_to(std::back_inserter(out), "  - {}\n", in_braces(entry.keys));
}

void write_on_lines(const Entry& entry, std::string& out) {
  std::string_view before = "  - ";
  for (const auto& [key, value] : entry.keys) {
    fmt::format_to(std::back_inserter(out), "{}{}: {}\n", before, key, value);
    before = "    ";
  }
  if (!entry.attributes.empty()) out += "    attributes:\n";
  for (const auto& [key, value] : entry.attributes)
    fmt::format_to(std::back_inserter(out), "      {}: {}\n", key, value);
}

std::size_t commas_and_brackets(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return std::string_view(",[]{}").find(c) != std::string_view::npos; }));
}

template <class Write>
std::string write_hosts(const std::vector<HostInfo>& hosts, Write&& write) {
  std::string out;
  for (std::size_t first = 0; first < hosts.size();) {
    std::size_t after = first + 1;
    while (after < hosts.size() && differ_in_name_only(hosts[first], hosts[after])) ++after;
    write(make_entry(hosts, first, after), out);
    first = after;
  }
  return out;
}

}  // namespace

std::string write_inventory(const InventoryResult& inventory) {
  std::string out = "apiVersion: lockstep/v1\nkind: Inventory\n";
  std::string levels;
  for (const std::string& level : inventory.levels) levels += (levels.empty() ? "" : ", ") + double_quoted(level);
  if (!levels.empty()) fmt::format_to(std::back_inserter(out), "levels: [{}]\n", levels);
  std::vector<std::pair<std::string, std::string>> pools;
  for (const Counter& pool : inventory.pools) {
    pools.emplace_back(double_quoted(pool.name), format_quantity(pool.amount, pool.name));
  }
  if (!pools.empty()) fmt::format_to(std::back_inserter(out), "pools: {}\n", in_braces(pools));
  if (inventory.hosts.empty()) return out;
  std::string hosts = write_hosts(inventory.hosts, write_on_one_line);
  if (commas_and_brackets(hosts) > kYamlFlowMax / 2) hosts = write_hosts(inventory.hosts, write_on_lines);
  return out + "hosts:\n" + hosts;
}

}  // namespace lockstep
