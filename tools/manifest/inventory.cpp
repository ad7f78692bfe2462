#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "tools/manifest/host_line.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

class InventoryReader {
 public:
  explicit InventoryReader(InventoryResult& out) : out_(out) {}

  void read(const Value& document) {
    MapReader map(document);
    read_head(map);
    if (const auto levels = map.find("levels")) read_levels(*levels);
    if (const auto pools = map.find("pools")) read_pools(*pools);
    if (const auto hosts = map.find("hosts")) {
      hosts->each(kInventoryHostsMax, [&](const Value& host) { read_host(host); });
    }
    map.finish();
  }

 private:
  static void read_head(MapReader& map) {
    std::string text;
    const auto kind = map.need("kind");
    if (kind && kind->read_text(text) && text != "Inventory") {
      kind->problem(fmt::format("{} is not Inventory", in_quotes(text)));
    }
    const auto version = map.find("apiVersion");
    if (version && version->read_text(text) && text != "lockstep/v1") {
      version->problem(fmt::format("{} is not lockstep/v1", in_quotes(text)));
    }
  }

  void read_levels(const Value& levels) {
    has_levels_ = levels.each(kLevelsMax, [&](const Value& level) {
      std::string name;
      if (!level.read_text(name)) return;
      const auto same = std::find(out_.levels.begin(), out_.levels.end(), name);
      if (name == "host") {
        level.problem("host is always the last level; leave it out");
      } else if (!is_level_name(name)) {
        level.problem(fmt::format("{} is not the name of a level: printable, no space, no /", in_quotes(name)));
      } else if (same != out_.levels.end()) {
        level.problem(fmt::format("{} is there twice", in_quotes(name)));
      } else {
        out_.levels.push_back(std::move(name));
        return;
      }
      ++levels_refused_;
    });
  }

  void read_pools(const Value& pools) {
    pools.each_pair(kListMax, [&](std::string_view name, const Value& total) {
      Counter pool{std::string(name), 0};
      if (!is_plain_key(name)) total.problem("is not the name of a counter: printable, no space");
      if (total.read_quantity(pool.amount, name)) out_.pools.push_back(std::move(pool));
    });
    std::sort(out_.pools.begin(), out_.pools.end());
  }

  void read_host(const Value& value) {
    ++count_;
    HostEntry entry;
    MapReader map(value);
    const auto name = map.need("name");
    bool good = name && name->read_text(entry.names);
    const auto at = map.find("at");
    if (at) good = at->read_scalar(entry.at) && good;
    if (const auto attributes = map.find("attributes")) {
      attributes->each_pair(kListMax, [&](std::string_view key, const Value& item) {
        KeyValue pair{std::string(key), {}};
        if (item.read_scalar(pair.value)) entry.attributes.push_back(std::move(pair));
      });
    }
    map.each_other([&](std::string_view key, const Value& item) {
      Counter counter{std::string(key), 0};
      if (item.read_quantity(counter.amount, key)) entry.counters.push_back(std::move(counter));
    });
    if (good && bytes_ <= kInventoryBytesMax) add(value, entry);
  }

  void add(const Value& value, const HostEntry& entry) {
    auto hosts = expand_hosts(entry, kInventoryHostsMax - out_.hosts.size());
    if (!hosts) {
      add_problem(value, hosts.error().message);
      return;
    }
    const std::size_t depth = hosts->front().at.size();
    if (has_levels_ && depth > out_.levels.size() + levels_refused_) {
      add_problem(value,
                  fmt::format("at: {} names, but there {} {} level{}", depth, out_.levels.size() == 1 ? "is" : "are",
                              out_.levels.size(), out_.levels.size() == 1 ? "" : "s"));
    }
    for (HostInfo& host : *hosts) {
      bytes_ += bytes_of(host);
      const auto [same, fresh] = entries_.emplace(host.name, count_ - 1);
      if (!fresh) {
        add_problem(value, fmt::format("name: {} is a host of hosts[{}] too", in_quotes(host.name), same->second));
        break;
      }
      out_.hosts.push_back(std::move(host));
    }
    if (bytes_ > kInventoryBytesMax) {
      value.problem(fmt::format("the hosts up to this one take more than {} bytes", kInventoryBytesMax));
    }
  }

  // "at: ..." of an entry becomes the problem of its key `at`.
  static void add_problem(const Value& value, const std::string& message) {
    const std::size_t colon = message.find(": ");
    value.key(std::string_view(message).substr(0, colon), value.node()).problem(message.substr(colon + 2));
  }

  InventoryResult& out_;
  bool has_levels_ = false;
  std::size_t levels_refused_ = 0;
  std::size_t count_ = 0;  // entries begun
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, std::size_t> entries_{};
};

}  // namespace

InventoryResult read_inventory(std::string_view text) {
  InventoryResult result;
  YamlText yaml = parse_yaml(text);
  result.problems = std::move(yaml.problems);
  if (!result.problems.empty()) return result;
  if (yaml.documents.size() != 1) {
    result.problems.push_back(
        {"document", fmt::format("{} documents where one Inventory is wanted", yaml.documents.size())});
    return result;
  }
  ReadContext context;
  InventoryReader(result).read(Value(context, *yaml.documents.front()));
  result.problems = context.take();
  return result;
}

}  // namespace lockstep
