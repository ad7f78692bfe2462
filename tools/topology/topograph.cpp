// Models of NVIDIA's topograph: a map of switches with the names of those below them, and a list of blocks, which are
// hosts below one switch with labels and annotations. A switch that is only named has nothing below it.

#include <fmt/format.h>

#include "tools/manifest/text.h"
#include "tools/topology/readers.h"

namespace lockstep {
namespace {

constexpr std::size_t kListsPerBlockMax = 100'000;

class ModelReader {
 public:
  ModelReader(std::uint32_t file, Draft& draft) : file_(file), draft_(draft) {}

  void read(const Value& document) {
    MapReader map(document);
    if (const auto switches = map.find("switches")) {
      switches->each_pair(kSwitchesMax, [&](std::string_view name, const Value& value) { read_switch(name, value); });
    }
    if (const auto blocks = map.find("blocks")) {
      blocks->each(kSwitchesMax, [&](const Value& item) { read_block(item); });
    }
    map.finish();
  }

 private:
  void read_switch(std::string_view name, const Value& value) {
    SwitchEntry entry;
    entry.name = name;
    entry.where = where_of(value, file_);
    MapReader map(value);
    if (const auto below = map.find("switches")) {
      below->each(kSwitchesMax, [&](const Value& item) {
        if (++named_ <= kSwitchesMax) item.read_scalar(entry.switches.emplace_back());
        if (named_ == kSwitchesMax + 1) item.problem(fmt::format("more than {} names of switches", kSwitchesMax));
      });
    }
    read_attributes(map, entry.where, entry.attributes);
    map.finish();
    draft_.switches.push_back(std::move(entry));
  }

  void read_block(const Value& value) {
    LeafEntry leaf;
    leaf.where = where_of(value, file_);
    MapReader map(value);
    if (const auto name = map.need("switch")) name->read_scalar(leaf.switch_name);
    if (const auto nodes = map.find("nodes")) {
      nodes->each(kListsPerBlockMax, [&](const Value& item) { read_hosts(item, leaf); });
    }
    read_attributes(map, leaf.where, leaf.attributes);
    map.finish();
    if (!leaf.switch_name.empty()) draft_.leaves.push_back(std::move(leaf));
  }

  void read_hosts(const Value& item, LeafEntry& leaf) {
    std::string text;
    if (!item.read_scalar(text) || draft_.host_lists.spent()) return;
    auto names = draft_.host_lists.expand(text);
    if (!names) {
      item.problem(names.error().message);
      return;
    }
    for (std::string& host : *names) leaf.hosts.push_back(std::move(host));
  }

  void read_attributes(MapReader& map, Where where, std::vector<KeyValue>& attributes) {
    for (const std::string_view key : {"labels", "annotations"}) {
      const auto found = map.find(key);
      if (!found) continue;
      found->each_pair(kListMax, [&](std::string_view name, const Value& item) {
        std::string text;
        if (!item.read_scalar(text)) return;
        // What few bytes and many aliases say is paid for as what hosts have.
        if (!draft_.placed.spend(where, sizeof(KeyValue) + name.size() + text.size())) return;
        attributes.push_back({std::string(name), std::move(text)});
      });
    }
  }

  std::uint32_t file_;
  Draft& draft_;
  std::size_t named_ = 0;  // in all lists of switches
};

}  // namespace

void read_topograph(const Value& document, std::uint32_t file, Draft& draft) {
  if (!draft.claim("a model of topograph", where_of(document, file), true)) return;
  draft.all_switches_are_defined = false;
  ModelReader(file, draft).read(document);
}

}  // namespace lockstep
