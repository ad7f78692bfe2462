#include "tools/manifest/host_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/manifest/hostlist.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

// One level of `at`: host i is in names[i * names.size() / hosts].
Result<std::vector<std::string>> expand_level(std::string_view segment, std::size_t hosts) {
  auto names = expand_names(segment, hosts);
  if (!names) return bad(fmt::format("at: {}", names.error().message));
  if (hosts % names->size() != 0) {
    return bad(fmt::format("at: the {} elements of {} do not divide {} hosts evenly", names->size(), in_quotes(segment),
                           hosts));
  }
  return names;
}

Result<std::vector<std::vector<std::string>>> expand_place(std::string_view at, std::size_t hosts) {
  std::vector<std::vector<std::string>> levels;
  while (!at.empty()) {
    if (levels.size() == kLevelsMax) return bad(fmt::format("at: more than {} levels", kLevelsMax));
    const std::size_t slash = at.find('/');
    auto level = expand_level(at.substr(0, slash), hosts);
    if (!level) return tl::unexpected(std::move(level).error());
    levels.push_back(std::move(*level));
    if (slash == std::string_view::npos) break;
    at.remove_prefix(slash + 1);
    if (at.empty()) return bad("at: ends with a /");
  }
  return levels;
}

// What is wrong with one host is wrong with all of them, except for its own name and place.
Result<void> check_host(const HostInfo& host) {
  const std::vector<Problem> problems = validate(host);
  if (problems.empty()) return {};
  std::string_view path = problems.front().path;
  if (path.starts_with("counters.")) path.remove_prefix(std::string_view("counters.").size());
  return bad(fmt::format("{}: {}", path, problems.front().text));
}

Result<void> add_key(const KeyValue& pair, std::set<std::string_view>& seen, HostEntry& entry) {
  if (!seen.insert(pair.key).second) return bad(fmt::format("{} is given twice", in_quotes(pair.key)));
  if (pair.key == "at") {
    entry.at = pair.value;
    return {};
  }
  const std::string_view value = pair.value;
  const bool negative = value.starts_with('-') && is_quantity(value.substr(1));
  const bool thousandths = value.ends_with('m') && pair.key != "cpu";  // of nothing that is counted so
  if (pair.key != "cpu" && pair.key != "mem" && !negative && (!is_quantity(value) || thousandths)) {
    entry.attributes.push_back(pair);
    return {};
  }
  auto amount = parse_quantity(value, pair.key);
  if (!amount) return bad(fmt::format("{}: {}", pair.key, amount.error().message));
  entry.counters.push_back({pair.key, *amount});
  return {};
}

}  // namespace

std::size_t bytes_of(const HostInfo& host) {
  std::size_t bytes = sizeof(HostInfo) + host.name.size();
  for (const Counter& counter : host.counters) bytes += sizeof(Counter) + counter.name.size();
  for (const KeyValue& pair : host.attributes) bytes += sizeof(KeyValue) + pair.key.size() + pair.value.size();
  for (const std::string& name : host.at) bytes += sizeof(std::string) + name.size();
  return bytes;
}

Result<std::vector<HostInfo>> expand_hosts(const HostEntry& entry, std::size_t hosts_max) {
  auto names = expand_names(entry.names, hosts_max);
  if (!names) return bad(fmt::format("name: {}", names.error().message));
  auto levels = expand_place(entry.at, names->size());
  if (!levels) return tl::unexpected(std::move(levels).error());
  HostInfo same;
  same.counters = entry.counters;
  same.attributes = entry.attributes;
  std::sort(same.counters.begin(), same.counters.end());
  std::sort(same.attributes.begin(), same.attributes.end());
  std::vector<HostInfo> hosts;
  for (std::size_t i = 0; i < names->size(); ++i) {
    HostInfo host = same;
    host.name = std::move((*names)[i]);
    for (const std::vector<std::string>& level : *levels) host.at.push_back(level[i * level.size() / names->size()]);
    LOCKSTEP_TRY(check_host(host));
    if (bytes_of(host) > kInventoryBytesMax / names->size()) {
      return bad(fmt::format("name: {} hosts of {} bytes each are more than {} bytes", names->size(), bytes_of(host),
                             kInventoryBytesMax));
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

Result<std::vector<HostInfo>> read_host_line(std::string_view hostlist, const std::vector<KeyValue>& keys) {
  HostEntry entry;
  entry.names = hostlist;
  std::set<std::string_view> seen;
  for (const KeyValue& pair : keys) LOCKSTEP_TRY(add_key(pair, seen, entry));
  return expand_hosts(entry, kInventoryHostsMax);
}

}  // namespace lockstep
