// One HyperNode object of Volcano: its tier, and the members that its selectors name.

#include <fmt/format.h>

#include "tools/manifest/text.h"
#include "tools/topology/readers.h"

namespace lockstep {
namespace {

constexpr std::int64_t kTierMax = 1'000'000;
constexpr std::size_t kHyperNodesMax = 1'000'000;

// False, and a problem once, when there are too many of them: aliases make few that are written many.
bool count_part(const Value& value, Draft& draft) {
  if (draft.selector_parts > kSelectorPartsMax) return false;
  if (++draft.selector_parts <= kSelectorPartsMax) return true;
  value.problem(fmt::format("more than {} members, labels and values in all selectors", kSelectorPartsMax));
  return false;
}

void read_labels(const Value& value, Draft& draft, HyperMember& member) {
  MapReader map(value);
  if (const auto labels = map.find("matchLabels")) {
    labels->each_pair(kListMax, [&](std::string_view key, const Value& item) {
      std::string text;
      if (!count_part(item, draft) || !item.read_scalar(text)) return;
      member.labels.push_back({.key = std::string(key), .op = LabelRequirement::Op::In, .values = {std::move(text)}});
    });
  }
  if (const auto expressions = map.find("matchExpressions")) {
    expressions->each(kListMax, [&](const Value& item) {
      if (!count_part(item, draft)) return;
      MapReader inner(item);
      LabelRequirement requirement;
      std::string op;
      if (const auto key = inner.need("key")) key->read_scalar(requirement.key);
      const auto found = inner.need("operator");
      if (found) found->read_text(op);
      if (const auto values = inner.find("values")) {
        values->each(kListMax, [&](const Value& entry) {
          if (count_part(entry, draft)) entry.read_scalar(requirement.values.emplace_back());
        });
      }
      using Op = LabelRequirement::Op;
      if (op == "In" || op == "NotIn") {
        requirement.op = op == "In" ? Op::In : Op::NotIn;
      } else if (op == "Exists" || op == "DoesNotExist") {
        requirement.op = op == "Exists" ? Op::Exists : Op::DoesNotExist;
      } else if (found) {
        found->problem(fmt::format("{} is none of In, NotIn, Exists, DoesNotExist", in_quotes(op)));
      }
      inner.finish();
      member.labels.push_back(std::move(requirement));
    });
  }
  if (member.labels.empty()) value.problem("selects nothing");
  map.finish();
}

// exactMatch: {name: x}, or regexMatch: {pattern: x}
void read_match(const Value& value, std::string_view key, HyperMember& member) {
  MapReader map(value);
  if (const auto text = map.need(key)) text->read_scalar(member.text);
  map.finish();
}

void read_selector(const Value& value, Draft& draft, HyperMember& member) {
  MapReader map(value);
  std::size_t found = 0;
  if (const auto exact = map.find("exactMatch")) {
    ++found;
    read_match(*exact, "name", member);
  }
  if (const auto pattern = map.find("regexMatch")) {
    ++found;
    member.by = HyperMember::By::Pattern;
    read_match(*pattern, "pattern", member);
  }
  if (const auto labels = map.find("labelMatch")) {
    ++found;
    member.by = HyperMember::By::Labels;
    read_labels(*labels, draft, member);
    if (member.type == HyperMember::Type::HyperNode) labels->problem("only Nodes are selected by their labels");
  }
  if (map.is_map() && found != 1) value.problem("one of exactMatch, regexMatch and labelMatch is wanted");
  map.finish();
}

void read_member(const Value& value, std::uint32_t file, Draft& draft, HyperMember& member) {
  MapReader map(value);
  member.where = where_of(value, file);
  std::string type;
  if (const auto found = map.need("type")) {
    if (found->read_text(type) && type != "Node" && type != "HyperNode") {
      found->problem(fmt::format("{} is neither Node nor HyperNode", in_quotes(type)));
    }
  }
  member.type = type == "HyperNode" ? HyperMember::Type::HyperNode : HyperMember::Type::Node;
  if (const auto selector = map.need("selector")) read_selector(*selector, draft, member);
  map.finish();
}

}  // namespace

void read_hyper_node(const Value& object, std::uint32_t file, Draft& draft) {
  const Where where = where_of(object, file);
  if (!draft.claim("HyperNodes", where, false)) return;
  if (draft.hyper_nodes.size() == kHyperNodesMax) {
    object.problem(fmt::format("more than {} HyperNodes", kHyperNodesMax));
    return;
  }
  HyperNode& node = draft.hyper_nodes.emplace_back();
  node.where = where;
  MapReader map(object);
  if (const auto metadata = map.need("metadata")) {
    MapReader inner(*metadata);
    if (const auto name = inner.need("name")) name->read_scalar(node.name);
  }
  const auto spec = map.need("spec");
  if (!spec) return;
  MapReader inner(*spec);
  if (const auto tier = inner.need("tier")) tier->read_integer(node.tier, 0, kTierMax);
  if (const auto name = inner.find("tierName")) name->read_scalar(node.tier_name);
  if (const auto members = inner.find("members")) {
    members->each(kSelectorPartsMax, [&](const Value& member) {
      if (count_part(member, draft)) read_member(member, file, draft, node.members.emplace_back());
    });
  }
  inner.finish();
}

}  // namespace lockstep
