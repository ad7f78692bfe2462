// A tree of switches, out of what each says of those below it. Nothing here recurses: a stranger decides how deep it
// is.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/manifest/text.h"
#include "tools/topology/draft.h"

namespace lockstep {
namespace {

constexpr std::size_t kCycleShownMax = 8;

class SwitchTree {
 public:
  explicit SwitchTree(Draft& draft) : draft_(draft) {}

  void build() {
    index();
    connect();
    place_hosts();
    const bool is_ordered = order();
    if (!is_ordered || !draft_.findings.good()) return;
    join();
    adopt();
    if (!draft_.findings.good() || !name_levels()) return;
    for (HostRecord& record : draft_.placed.all()) record.domain = settle(record);
    if (stretched_.empty()) return;
    draft_.findings.note(
        fmt::format("branches are not equally deep: {} for more than one level: {}",
                    stretched_.size() == 1 ? "1 switch stands" : fmt::format("{} switches stand", stretched_.size()),
                    stretched_.text()));
  }

 private:
  using Id = std::uint32_t;

  [[nodiscard]] const SwitchEntry& at(Id id) const { return draft_.switches[id]; }
  [[nodiscard]] std::string said(Id id) const {
    return fmt::format("{} ({})", printable(at(id).name), draft_.findings.text(at(id).where));
  }

  Id find_or_add(std::string_view name, Where where) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    if (draft_.all_switches_are_defined || draft_.switches.size() == kSwitchesMax) return kNowhere;
    const auto id = static_cast<Id>(draft_.switches.size());
    draft_.switches.push_back({.name = std::string(name), .where = where});
    draft_.check_domain(name, where);
    ids_.emplace(name, id);
    return id;
  }

  void index() {
    for (Id id = 0; id < draft_.switches.size(); ++id) {
      const auto [same, is_new] = ids_.emplace(at(id).name, id);
      draft_.check_domain(at(id).name, at(id).where);
      if (!is_new) {
        draft_.findings.problem(at(id).where, fmt::format("{} is a switch already", said(same->second)));
      }
    }
  }

  void connect() {
    const std::size_t said_of = draft_.switches.size();  // those that are found on the way say nothing
    for (Id id = 0; id < said_of; ++id) {
      std::vector<Id> children;
      for (const std::string& name : at(id).switches) {
        const Id child = find_or_add(name, at(id).where);
        if (child == kNowhere) {
          draft_.findings.problem(at(id).where, fmt::format("{} is below {}, but there is no switch {}",
                                                            printable(name), printable(at(id).name), printable(name)));
        } else {
          children.push_back(child);
        }
      }
      children_.push_back(std::move(children));
    }
    for (const LeafEntry& leaf : draft_.leaves) {
      const Id id = find_or_add(leaf.switch_name, leaf.where);
      if (id == kNowhere) {
        draft_.findings.problem(leaf.where, fmt::format("there is no switch {}", in_quotes(leaf.switch_name)));
      }
      leaf_switches_.push_back(id);
    }
    children_.resize(draft_.switches.size());
    has_hosts_.resize(draft_.switches.size());
  }

  // Until domains are known, a host's domain is the index of its leaf entry.
  void place_hosts() {
    for (std::uint32_t i = 0; i < draft_.leaves.size(); ++i) {
      LeafEntry& leaf = draft_.leaves[i];
      if (leaf_switches_[i] != kNowhere && !leaf.hosts.empty()) has_hosts_[leaf_switches_[i]] = true;
      for (std::string& name : leaf.hosts) {
        const HostTable::Added added = draft_.placed.add({.name = std::move(name)}, leaf.where);
        if (added.record == nullptr) break;
        if (added.is_new) {
          added.record->domain = i;
          continue;
        }
        const LeafEntry& other = draft_.leaves[added.record->domain];
        draft_.findings.problem(
            leaf.where,
            fmt::format("{} is under {}, and under {} ({}) too: a host has one place", added.record->info.name,
                        printable(leaf.switch_name), printable(other.switch_name), draft_.findings.text(other.where)));
        break;
      }
    }
  }

  // Children before parents, and height by height, since each waits in one queue for its last child; false, with a
  // problem, when there is a cycle.
  bool order() {
    const std::size_t count = draft_.switches.size();
    std::vector<std::uint32_t> pending(count);
    std::vector<std::vector<Id>> parents(count);
    heights_.assign(count, 0);
    for (Id id = 0; id < count; ++id) {
      pending[id] = static_cast<std::uint32_t>(children_[id].size());
      if (pending[id] == 0) order_.push_back(id);
      for (const Id child : children_[id]) parents[child].push_back(id);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (const Id parent : parents[order_[i]]) {
        heights_[parent] = std::max(heights_[parent], heights_[order_[i]] + 1);
        if (--pending[parent] == 0) order_.push_back(parent);
      }
    }
    if (order_.size() < count) {
      name_cycle(pending);
      return false;
    }
    return true;
  }

  // Each switch that is left has one below it that is left: who goes down comes round.
  void name_cycle(const std::vector<std::uint32_t>& pending) {
    const auto is_left = [&](Id id) { return pending[id] > 0; };
    Id id = 0;
    while (!is_left(id)) ++id;
    std::vector<std::size_t> steps(pending.size());
    std::vector<Id> way;
    while (steps[id] == 0) {
      way.push_back(id);
      steps[id] = way.size();
      id = *std::find_if(children_[id].begin(), children_[id].end(), is_left);
    }
    way.erase(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(steps[id] - 1));
    std::rotate(way.begin(), std::min_element(way.begin(), way.end()), way.end());
    const Id first = way.front();
    const std::size_t size = way.size();
    std::string text = printable(at(first).name);
    for (std::size_t i = 1; i < std::min(size, kCycleShownMax); ++i)
      text += fmt::format(" > {}", printable(at(way[i]).name));
    draft_.findings.problem(at(first).where,
                            fmt::format("a cycle of switches: {}{} > {}", text, size > kCycleShownMax ? " > ..." : "",
                                        printable(at(first).name)));
  }

  // Switches with the same ones below them are one domain: which of several equal spines a message takes does not
  // matter to who is placed. From the leaves up, so that cores above equal spines are found equal too.
  void join() {
    std::vector<std::uint32_t> above(draft_.switches.size());
    for (const auto& children : children_) {
      for (const Id child : children) ++above[child];
    }
    same_as_.resize(draft_.switches.size());
    std::map<std::vector<Id>, Id> known;
    std::map<Id, Sample> joined;
    for (const Id id : order_) {
      same_as_[id] = id;
      std::vector<Id>& children = children_[id];
      bool is_shared = false;
      for (Id& child : children) {
        child = same_as_[child];
        is_shared = is_shared || above[child] > 1;
      }
      if (!is_shared || has_hosts_[id]) continue;
      std::sort(children.begin(), children.end());
      children.erase(std::unique(children.begin(), children.end()), children.end());
      const auto [first, is_new] = known.emplace(children, id);
      if (is_new) continue;
      same_as_[id] = first->second;
      above[first->second] += above[id];
      joined[first->second].add(at(id).name);
    }
    for (const auto& [id, others] : joined) {
      draft_.findings.note(at(id).where, fmt::format("{} and {} have the same switches below them: one domain, {}",
                                                     printable(at(id).name), others.text(), printable(at(id).name)));
    }
  }

  void adopt() {
    parents_.assign(draft_.switches.size(), kNowhere);
    for (Id id = 0; id < draft_.switches.size(); ++id) {
      for (const Id child : children_[id]) {
        Id& parent = parents_[child];
        if (parent == kNowhere) parent = same_as_[id];
        if (parent == same_as_[id]) continue;
        draft_.findings.problem(at(child).where, fmt::format("{} is below {} and below {}: a switch is below one other",
                                                             printable(at(child).name), said(parent), said(id)));
      }
    }
  }

  bool name_levels() {
    const auto highest = std::max_element(heights_.begin(), heights_.end());
    const std::size_t count = *highest + 1;
    if (count > kLevelsMax) {
      const auto id = static_cast<Id>(highest - heights_.begin());
      draft_.findings.problem(at(id).where, fmt::format("{} levels of switches are more than {}", count, kLevelsMax));
      return false;
    }
    for (std::size_t i = 1; i <= count; ++i) draft_.levels.push_back(fmt::format("switch{}", i));
    domains_.assign(draft_.switches.size(), kNowhere);
    return true;
  }

  // The domain of a host that has its leaf's index for one, and what it has from its leaf and the switches above.
  std::uint32_t settle(HostRecord& record) {
    const std::uint32_t index = record.domain;
    const Id id = leaf_switches_[index];
    settled_.resize(draft_.leaves.size());
    Leaf& leaf = settled_[index];
    if (leaf.domain == kNowhere) {
      leaf.domain = domain_of(id);
      leaf.attributes = attributes_of(draft_.leaves[index], id);
    }
    std::size_t bytes = 0;
    for (const KeyValue& pair : leaf.attributes) bytes += sizeof(KeyValue) + pair.key.size() + pair.value.size();
    if (bytes > 0 && draft_.placed.spend(record.where, bytes)) record.info.attributes = leaf.attributes;
    return leaf.domain;
  }

  // What is nearer to the host stands.
  [[nodiscard]] std::vector<KeyValue> attributes_of(const LeafEntry& leaf, Id id) const {
    HostInfo host;
    if (draft_.placed.full()) return {};
    host.attributes = leaf.attributes;
    for (; id != kNowhere; id = parents_[id]) {
      host.attributes.insert(host.attributes.end(), at(id).attributes.begin(), at(id).attributes.end());
    }
    finish_host(host);
    return std::move(host.attributes);
  }

  // A switch stands for itself in the levels between it and the one above: at most kLevelsMax steps each way.
  std::uint32_t domain_of(Id id) {
    std::vector<Id> way;
    for (Id up = id; up != kNowhere && domains_[up] == kNowhere; up = parents_[up]) way.push_back(up);
    while (!way.empty()) {
      const Id next = way.back();
      way.pop_back();
      const Id parent = parents_[next];
      std::uint32_t domain = parent == kNowhere ? kNowhere : domains_[parent];
      const std::size_t steps =
          parent == kNowhere ? draft_.levels.size() - heights_[next] : heights_[parent] - heights_[next];
      if (steps > 1) stretched_.add(at(next).name);
      for (std::size_t i = 0; i < steps; ++i) domain = draft_.forest.child(domain, at(next).name);
      domains_[next] = domain;
    }
    return domains_[id];
  }

  struct Leaf {
    std::uint32_t domain{kNowhere};
    std::vector<KeyValue> attributes{};
  };

  Draft& draft_;
  std::map<std::string, Id, std::less<>> ids_{};
  std::vector<std::vector<Id>> children_{};
  std::vector<Id> leaf_switches_{};  // of each leaf entry
  std::vector<bool> has_hosts_{};
  std::vector<Id> order_{};
  std::vector<std::uint32_t> heights_{};
  std::vector<Id> same_as_{};
  std::vector<Id> parents_{};
  std::vector<std::uint32_t> domains_{};
  std::vector<Leaf> settled_{};
  Sample stretched_{};  // switches that are domains of more than one level
};

}  // namespace

void finish_switches(Draft& draft) {
  if (!draft.switches.empty() || !draft.leaves.empty()) SwitchTree(draft).build();
}

}  // namespace lockstep
