// HyperNodes as domains: a level for each tier, the highest first. Tiers decrease from a HyperNode to its members, so
// nothing can be below itself.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "tools/manifest/foreign.h"
#include "tools/manifest/text.h"
#include "tools/topology/draft.h"
#include "tools/topology/pattern.h"

namespace lockstep {
namespace {

// Of all selectors together: states of patterns that are looked at, and labels that are compared.
constexpr std::size_t kSelectWorkMax = 200'000'000;

// Names in order, so that the ones with a prefix are a range.
class NameIndex {
 public:
  void add(std::string_view name, std::uint32_t id) { names_.emplace_back(name, id); }
  void finish() { std::sort(names_.begin(), names_.end()); }

  // visit(id) of each name that matches; false when that is more work than is left.
  template <class Visit>
  bool each_match(const Pattern& pattern, std::size_t& work, Visit&& visit) const {
    const std::string& prefix = pattern.prefix();
    auto it = std::lower_bound(names_.begin(), names_.end(), std::pair<std::string_view, std::uint32_t>(prefix, 0));
    for (; it != names_.end() && it->first.starts_with(prefix); ++it) {
      std::size_t steps = pattern.size();  // which it takes to begin
      const bool matches = pattern.matches(it->first, steps);
      if (work < steps) return false;
      work -= steps;
      if (matches) visit(it->second);
    }
    return true;
  }

 private:
  std::vector<std::pair<std::string_view, std::uint32_t>> names_;
};

class HyperTree {
 public:
  explicit HyperTree(Draft& draft) : draft_(draft), nodes_(draft.hyper_nodes) {}

  void build() {
    index();
    name_levels();
    parents_.assign(nodes_.size(), kNowhere);
    for (Id id = 0; id < nodes_.size(); ++id) adopt(id);
    if (!draft_.findings.good()) return;
    domains_.assign(nodes_.size(), kNowhere);
    for (const Id id : by_tier()) settle(id);
    for (Id id = 0; id < nodes_.size(); ++id) place_members(id);
  }

 private:
  using Id = std::uint32_t;

  [[nodiscard]] std::string said(Id id) const {
    return fmt::format("{} ({})", printable(nodes_[id].name), draft_.findings.text(nodes_[id].where));
  }

  void index() {
    for (Id id = 0; id < nodes_.size(); ++id) {
      draft_.check_domain(nodes_[id].name, nodes_[id].where);
      const auto [same, is_new] = ids_.emplace(nodes_[id].name, id);
      if (!is_new)
        draft_.findings.problem(nodes_[id].where, fmt::format("{} is a HyperNode already", said(same->second)));
      hyper_names_.add(nodes_[id].name, id);
    }
    hyper_names_.finish();
    for (HostRecord& record : draft_.nodes.all()) {
      host_names_.add(record.info.name, static_cast<Id>(hosts_.size()));
      hosts_.push_back(&record);
    }
    host_names_.finish();
  }

  // A tier is called as its HyperNodes say, if they agree and no other is called so.
  void name_levels() {
    std::map<std::int64_t, std::string, std::greater<>> tiers;
    std::map<std::string, std::size_t> uses;
    for (const HyperNode& node : nodes_) {
      const std::string name(level_of_label(node.tier_name));
      const auto [found, is_new] = tiers.emplace(node.tier, name);
      if (!is_new && !name.empty() && found->second != name) found->second = found->second.empty() ? name : "?";
    }
    for (const auto& [tier, name] : tiers) ++uses[name];
    for (const auto& [tier, name] : tiers) {
      level_of_tier_.emplace(tier, draft_.levels.size());
      const bool is_good = uses[name] == 1 && name != "?" && !name.empty();
      if (!draft_.add_level(is_good ? name : fmt::format("tier{}", tier), "HyperNodes: tiers")) return;
    }
  }

  // HyperNodes below this one get to know it.
  void adopt(Id id) {
    for (const HyperMember& member : nodes_[id].members) {
      if (member.type != HyperMember::Type::HyperNode) continue;
      if (member.by == HyperMember::By::Name) {
        const auto found = ids_.find(member.text);
        if (found == ids_.end()) {
          draft_.findings.problem(member.where, fmt::format("there is no HyperNode {}", in_quotes(member.text)));
        } else {
          adopt(id, found->second, member.where);
        }
      } else {
        // A pattern may take in those of its own tier and above, itself too: Volcano takes what is below.
        select(member, hyper_names_, [&](Id child) {
          if (nodes_[child].tier < nodes_[id].tier) adopt(id, child, member.where);
        });
      }
    }
  }

  void adopt(Id id, Id child, Where where) {
    if (nodes_[child].tier >= nodes_[id].tier) {
      draft_.findings.problem(
          where, fmt::format("{} of tier {} is below {} of tier {}: tiers decrease downwards",
                             printable(nodes_[child].name), nodes_[child].tier, said(id), nodes_[id].tier));
    } else if (parents_[child] != kNowhere && parents_[child] != id) {
      draft_.findings.problem(where, fmt::format("{} is below {} and below {}: a HyperNode is below one other",
                                                 printable(nodes_[child].name), said(parents_[child]), said(id)));
    } else {
      parents_[child] = id;
    }
  }

  template <class Visit>
  void select(const HyperMember& member, const NameIndex& names, Visit&& visit) {
    const auto pattern = Pattern::parse(member.text);
    if (!pattern) {
      draft_.findings.problem(member.where, fmt::format("{}: {}", in_quotes(member.text), pattern.error().message));
    } else if (!names.each_match(*pattern, work_, visit)) {
      too_much(member.where);
    }
  }

  void too_much(Where where) {
    if (work_ == 0) return;
    work_ = 0;
    draft_.findings.problem(where, "the selectors up to this one take more work than they may");
  }

  [[nodiscard]] std::vector<Id> by_tier() const {
    std::vector<Id> ids(nodes_.size());
    for (Id id = 0; id < ids.size(); ++id) ids[id] = id;
    std::stable_sort(ids.begin(), ids.end(), [&](Id a, Id b) { return nodes_[a].tier > nodes_[b].tier; });
    return ids;
  }

  // Parents first. A HyperNode stands for itself in the levels between it and the one above.
  void settle(Id id) {
    const Id parent = parents_[id];
    std::size_t level = parent == kNowhere ? 0 : level_of_tier_.at(nodes_[parent].tier) + 1;
    std::uint32_t domain = parent == kNowhere ? kNowhere : domains_[parent];
    for (; level <= level_of_tier_.at(nodes_[id].tier); ++level) domain = draft_.forest.child(domain, nodes_[id].name);
    domains_[id] = domain;
  }

  void place_members(Id id) {
    for (const HyperMember& member : nodes_[id].members) {
      if (member.type != HyperMember::Type::Node || draft_.findings.full()) continue;
      if (member.by == HyperMember::By::Name) {
        place(member.text, id, member.where);
      } else if (hosts_.empty()) {
        if (!std::exchange(missed_, true)) {
          draft_.findings.problem(member.where,
                                  "what a pattern or labels select is not known without the Nodes; give "
                                  "'kubectl get nodes -o yaml' too");
        }
      } else if (member.by == HyperMember::By::Pattern) {
        select(member, host_names_, [&](Id host) { place(hosts_[host]->info.name, id, member.where); });
      } else {
        select_labels(member, id);
      }
    }
  }

  // Two members of one HyperNode may select one Node.
  void place(const std::string& name, Id id, Where where) {
    const HostRecord* record = draft_.placed.find(name);
    if (record == nullptr || record->domain != domains_[id]) draft_.place({.name = name}, where, domains_[id]);
  }

  // ---- labels ----
  static bool meets(const HostInfo& host, const LabelRequirement& requirement) {
    using Op = LabelRequirement::Op;
    const std::string* value = attribute_of(host, requirement.key);
    const auto is_listed = [&] {
      return std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
    };
    switch (requirement.op) {
      case Op::In:
        return value != nullptr && is_listed();
      case Op::NotIn:
        return value == nullptr || !is_listed();
      case Op::Exists:
        return value != nullptr;
      case Op::DoesNotExist:
        return value == nullptr;
    }
    return false;
  }

  void index_labels() {
    if (std::exchange(has_labels_, true)) return;
    for (Id host = 0; host < hosts_.size(); ++host) {
      for (const KeyValue& pair : hosts_[host]->info.attributes) {
        by_label_[fmt::format("{}={}", pair.key, pair.value)].push_back(host);
      }
    }
  }

  void select_labels(const HyperMember& member, Id id) {
    std::vector<Id> found;
    const std::vector<Id>* candidates = candidates_of(member);
    if (candidates == nullptr) {
      for (Id host = 0; host < hosts_.size(); ++host) found.push_back(host);
      candidates = &found;
    }
    std::size_t cost = 1;
    for (const LabelRequirement& requirement : member.labels) cost += requirement.values.size() + 1;
    if (work_ / cost < candidates->size()) return too_much(member.where);
    work_ -= cost * candidates->size();
    for (const Id host : *candidates) {
      const HostInfo& info = hosts_[host]->info;
      const auto is_met = [&](const LabelRequirement& requirement) { return meets(info, requirement); };
      if (std::all_of(member.labels.begin(), member.labels.end(), is_met)) place(info.name, id, member.where);
    }
  }

  // Hosts with the rarest label that is wanted; null = no requirement narrows them.
  const std::vector<Id>* candidates_of(const HyperMember& member) {
    static const std::vector<Id> kNobody;
    const std::vector<Id>* best = nullptr;
    for (const LabelRequirement& requirement : member.labels) {
      if (requirement.op != LabelRequirement::Op::In || requirement.values.size() != 1) continue;
      index_labels();
      const auto found = by_label_.find(fmt::format("{}={}", requirement.key, requirement.values.front()));
      if (found == by_label_.end()) return &kNobody;
      if (best == nullptr || found->second.size() < best->size()) best = &found->second;
    }
    return best;
  }

  Draft& draft_;
  std::vector<HyperNode>& nodes_;
  std::map<std::string_view, Id> ids_{};
  NameIndex hyper_names_{};
  NameIndex host_names_{};
  std::vector<HostRecord*> hosts_{};
  std::map<std::int64_t, std::size_t> level_of_tier_{};
  std::vector<Id> parents_{};
  std::vector<std::uint32_t> domains_{};
  std::unordered_map<std::string, std::vector<Id>> by_label_{};
  bool has_labels_ = false;
  bool missed_ = false;
  std::size_t work_ = kSelectWorkMax;
};

}  // namespace

void finish_hyper_nodes(Draft& draft) {
  if (!draft.hyper_nodes.empty()) HyperTree(draft).build();
}

}  // namespace lockstep
