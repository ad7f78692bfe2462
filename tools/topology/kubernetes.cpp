// Objects of Kubernetes: Nodes (labels are attributes, what is allocatable is counters), Kueue's Topology (labels as
// levels), lists of objects, and the Cluster of kind, whose workers have labels but no resources.

#include <fmt/format.h>

#include <algorithm>

#include "tools/manifest/foreign.h"
#include "tools/manifest/text.h"
#include "tools/topology/readers.h"

namespace lockstep {
namespace {

constexpr std::size_t kKeysLookedAtMax = 64;  // for one: an alias may stand for a large map a million times
constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

std::string_view kind_of(const YamlNode& node) {
  const YamlNode* kind = find_key(node, "kind");
  return kind != nullptr && kind->kind == YamlNode::Kind::Scalar ? std::string_view(kind->text) : std::string_view{};
}

std::string_view group_of(const YamlNode& node) {
  const YamlNode* version = find_key(node, "apiVersion");
  if (version == nullptr || version->kind != YamlNode::Kind::Scalar) return {};
  return std::string_view(version->text).substr(0, version->text.find('/'));
}

std::string name_of(const YamlNode& object) {
  const YamlNode* metadata = find_key(object, "metadata");
  const YamlNode* name = metadata == nullptr ? nullptr : find_key(*metadata, "name");
  return name == nullptr ? "without a name" : printable(name->text);
}

void read_labels_into(const Value& labels, HostInfo& host) {
  labels.each_pair(kListMax, [&](std::string_view key, const Value& item) {
    std::string text;
    if (item.read_scalar(text)) host.attributes.push_back({std::string(key), std::move(text)});
  });
}

void add_node(HostInfo host, const Value& object, Where where, Draft& draft) {
  finish_host(host);
  const HostTable::Added added = draft.nodes.add(std::move(host), where);
  if (added.record == nullptr || added.is_new) return;
  object.problem(
      fmt::format("{} is a host of {} already", added.record->info.name, draft.findings.text(added.record->where)));
}

void read_resources(const Value& resources, HostInfo& host) {
  resources.each_pair(kListMax, [&](std::string_view key, const Value& item) {
    std::string text;
    if (!item.read_scalar(text)) return;
    const std::string_view name = counter_of_resource(key);
    const auto amount = parse_kubernetes_quantity(text, name == "cpu" ? kThousandths : 1);
    if (!amount) {
      item.problem(amount.error().message);
    } else if (*amount > 0 && !add_counter(host, name, *amount)) {
      item.problem("no host has a counter of this name, or so many of them");
    }
  });
}

// Fields that no inventory has a place for are passed over: a Node is mostly status.
void read_node(const Value& object, std::uint32_t file, Draft& draft) {
  HostInfo host;
  MapReader map(object);
  if (const auto metadata = map.need("metadata")) {
    MapReader inner(*metadata);
    if (const auto name = inner.need("name")) name->read_scalar(host.name);
    if (const auto labels = inner.find("labels")) read_labels_into(*labels, host);
  }
  if (const auto spec = map.find("spec")) {
    MapReader inner(*spec);
    bool is_off = false;
    inner.read("unschedulable", is_off);
    if (is_off) draft.unschedulable.add(host.name);
    const auto taints = inner.find("taints");
    if (taints && !taints->node().items.empty()) draft.tainted.add(host.name);
  }
  if (const auto status = map.find("status")) {
    MapReader inner(*status);
    if (const auto resources = inner.find("allocatable")) read_resources(*resources, host);
  }
  if (!host.name.empty()) add_node(std::move(host), object, where_of(object, file), draft);
}

void read_level_label(const Value& item, Draft& draft) {
  MapReader map(item);
  std::string key;
  const auto label = map.need("nodeLabel");
  if (label && label->read_text(key)) {
    if (!draft.label_keys.empty() && draft.label_keys.back() == kHostnameLabel) {
      label->problem(fmt::format("a level below {}, which is the host itself", kHostnameLabel));
    } else if (key == kHostnameLabel ||
               draft.add_level(std::string(level_of_label(key)), label->context().prefix() + label->path())) {
      draft.label_keys.push_back(key);
    }
  }
  map.finish();
}

void read_kueue_topology(const Value& object, std::uint32_t file, Draft& draft) {
  if (!draft.claim(kKueueTopology, where_of(object, file), true)) return;
  MapReader map(object);
  const auto spec = map.need("spec");
  if (!spec) return;
  MapReader inner(*spec);
  if (const auto levels = inner.need("levels")) {
    levels->each(kLevelsMax + 1, [&](const Value& item) { read_level_label(item, draft); });
  }
  inner.finish();
  if (!draft.label_keys.empty() && draft.label_keys.back() == kHostnameLabel) draft.label_keys.pop_back();
}

// The names that kind gives to its containers: kind-worker, kind-worker2, ...
void read_kind_cluster(const Value& object, std::uint32_t file, Draft& draft) {
  MapReader map(object);
  std::string cluster = "kind";
  map.read_text("name", cluster);
  const auto nodes = map.find("nodes");
  if (!nodes) return;
  std::size_t workers = 0;
  Sample control;
  nodes->each(kInventoryHostsMax, [&](const Value& item) {
    MapReader inner(item);
    std::string role = "control-plane";
    inner.read_text("role", role);
    if (role != "worker") {
      control.add(role);
      return;
    }
    HostInfo host;
    ++workers;
    host.name = workers == 1 ? fmt::format("{}-worker", cluster) : fmt::format("{}-worker{}", cluster, workers);
    if (const auto labels = inner.find("labels")) read_labels_into(*labels, host);
    add_node(std::move(host), item, where_of(item, file), draft);
  });
  if (!control.empty()) {
    draft.findings.not_carried(
        where_of(*nodes, file),
        fmt::format("{} that {} no worker", count_of(control.size(), "node"), control.size() == 1 ? "is" : "are"));
  }
}

bool read_object(const Value& object, std::uint32_t file, Draft& draft) {
  const std::string_view kind = kind_of(object.node());
  const std::string_view group = group_of(object.node());
  if (kind == "Node" && (group == "v1" || group.empty())) {
    read_node(object, file, draft);
  } else if (kind == "HyperNode") {
    read_hyper_node(object, file, draft);
  } else if (kind == "Topology" && (group == "kueue.x-k8s.io" || group.empty())) {
    read_kueue_topology(object, file, draft);
  } else if (kind == "Cluster" && group == "kind.x-k8s.io") {
    read_kind_cluster(object, file, draft);
  } else if (!kind.empty()) {
    draft.findings.not_carried(where_of(object, file), fmt::format("{} {}", printable(kind), name_of(object.node())));
  } else {
    return false;
  }
  return true;
}

}  // namespace

const YamlNode* find_key(const YamlNode& map, std::string_view key) {
  if (map.kind != YamlNode::Kind::Map) return nullptr;
  for (std::size_t i = 0; i + 1 < std::min(map.items.size(), 2 * kKeysLookedAtMax); i += 2) {
    if (map.items[i]->text == key) return map.items[i + 1];
  }
  return nullptr;
}

bool read_kubernetes(const Value& document, std::uint32_t file, Draft& draft) {
  const auto read_all = [&](const Value& list, std::string_view kind) {
    list.each(kInventoryHostsMax, [&](const Value& item) {
      if (kind == "NodeList" && kind_of(item.node()).empty()) {
        read_node(item, file, draft);  // what an API server sends says it once
      } else if (kind == "HyperNodeList" && kind_of(item.node()).empty()) {
        read_hyper_node(item, file, draft);
      } else if (!read_object(item, file, draft)) {
        item.problem("is no object with a kind");
      }
    });
  };
  if (document.node().kind == YamlNode::Kind::List) {
    const auto& items = document.node().items;
    if (items.empty() || kind_of(*items.front()).empty()) return false;
    read_all(document, "");
    return true;
  }
  const std::string_view kind = kind_of(document.node());
  const YamlNode* items = find_key(document.node(), "items");
  if (kind.ends_with("List") && items != nullptr) {
    read_all(document.key("items", *items), kind);
    return true;
  }
  return read_object(document, file, draft);
}

void finish_label_levels(Draft& draft) {
  if (draft.label_keys.empty()) return;
  std::vector<Sample> missing(draft.label_keys.size());
  for (const HostRecord& record : draft.nodes.all()) {
    std::uint32_t domain = kNowhere;
    for (std::size_t i = 0; i < draft.label_keys.size(); ++i) {
      const std::string* name = attribute_of(record.info, draft.label_keys[i]);
      if (name == nullptr || name->empty()) {
        missing[i].add(record.info.name);
        break;
      }
      if (!draft.check_domain(*name, record.where)) break;
      domain = draft.forest.child(domain, *name);
    }
    draft.place({.name = record.info.name}, record.where, domain);
  }
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i].empty()) continue;
    draft.findings.note(fmt::format("{} without the label {}, so in no {}: {}", count_of(missing[i].size(), "host"),
                                    printable(draft.label_keys[i]), draft.levels[i], missing[i].text()));
  }
}

}  // namespace lockstep
