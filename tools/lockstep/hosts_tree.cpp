#include "tools/lockstep/hosts_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tools/lockstep/text.h"
#include "tools/lockstep/view.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t kBarCells = 10;
constexpr std::size_t kHostListBytesMax = 60;

// Of one counter, over hosts; what is neither used nor free is out of service.
struct Shares {
  std::int64_t total{};
  std::int64_t used{};
  std::int64_t free{};
};

// The largest number when there is no larger one: a sum that is only looked at.
void add(std::int64_t& sum, std::int64_t amount) {
  if (__builtin_add_overflow(sum, amount, &sum)) sum = INT64_MAX;
}

struct Content {
  std::uint64_t hosts{};
  std::uint64_t down{};
  std::uint64_t drained{};
  std::map<std::string, Shares> counters;

  void add_host(const Json& host) {
    const bool is_down = host.at("down").get<bool>();
    const bool is_drained = host.at("drained").get<bool>();
    ++hosts;
    down += is_down ? 1U : 0U;
    drained += is_drained && !is_down ? 1U : 0U;
    const Json& free = host.at("free");
    for (const auto& [counter, amount] : host.at("capacity").items()) {
      const std::int64_t total = base_amount(amount, counter);
      const std::int64_t left = base_amount(free.at(counter), counter);
      Shares& shares = counters[counter];
      add(shares.total, total);
      add(shares.used, total - left);
      if (!is_down && !is_drained) add(shares.free, left);
    }
  }
};

struct Domain {
  std::string name;
  std::string path;
  Content all;
  Content own;  // of the hosts that stand in no domain below it
  std::vector<std::string> own_hosts;
  std::vector<std::unique_ptr<Domain>> domains;  // in the order of their first hosts
};

class Tree {
 public:
  explicit Tree(const Json& hosts) {
    root_.name = root_.path = "/";
    for (const auto& host : hosts) add(host);
  }
  [[nodiscard]] const Domain& root() const { return root_; }

 private:
  void add(const Json& host) {
    const auto at = host.at("at").get<std::string>();
    Domain* domain = &root_;
    domain->all.add_host(host);
    for (std::size_t first = 0; at != "/" && first < at.size();) {
      const std::size_t end = std::min(at.find('/', first), at.size());
      domain = &inside(*domain, at.substr(0, end), at.substr(first, end - first));
      domain->all.add_host(host);
      first = end + 1;
    }
    domain->own.add_host(host);
    domain->own_hosts.push_back(host.at("name").get<std::string>());
  }

  Domain& inside(Domain& parent, std::string path, std::string name) {
    Domain*& domain = by_path_[path];
    if (domain != nullptr) return *domain;
    domain = parent.domains.emplace_back(std::make_unique<Domain>()).get();
    domain->name = std::move(name);
    domain->path = std::move(path);
    return *domain;
  }

  Domain root_{};
  std::map<std::string, Domain*> by_path_{};
};

Json json_of(const Domain& domain) {
  Json capacity = Json::object();
  Json free = Json::object();
  for (const auto& [counter, shares] : domain.all.counters) {
    capacity[counter] = amount_json(shares.total, counter);
    free[counter] = amount_json(shares.free, counter);
  }
  Json domains = Json::array();
  for (const auto& below : domain.domains) domains.push_back(json_of(*below));
  return {{"name", domain.name},     {"path", domain.path},           {"hostCount", domain.all.hosts},
          {"down", domain.all.down}, {"drained", domain.all.drained}, {"capacity", std::move(capacity)},
          {"free", std::move(free)}, {"hosts", domain.own_hosts},     {"domains", std::move(domains)}};
}

// "cpu=48/64 gpu=4/16 mem=1448Gi/2Ti"
std::string free_of_total(const Content& content) {
  std::string text;
  for (const auto& [counter, shares] : content.counters) {
    text += fmt::format("{}{}={}/{}", text.empty() ? "" : " ", counter, format_quantity(shares.free, counter),
                        format_quantity(shares.total, counter));
  }
  return text.empty() ? "-" : text;
}

double part(std::int64_t amount, std::int64_t total) {
  return static_cast<double>(amount) / static_cast<double>(total);
}

// The nearest number of cells; not none for something, and not all for less than all.
std::size_t cells(std::int64_t amount, std::int64_t total) {
  const auto nearest = static_cast<std::size_t>(std::lround(part(amount, total) * kBarCells));
  if (amount > 0 && nearest == 0) return 1;
  return amount < total && nearest == kBarCells ? kBarCells - 1 : nearest;
}

std::string repeated(std::string_view cell, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += cell;
  return text;
}

// "██████▒░░░  60% gpu": used, out of service, free, of the counter of which the least part is free.
std::string bar(const Content& content) {
  const std::pair<const std::string, Shares>* scarcest = nullptr;
  for (const auto& each : content.counters) {
    if (each.second.total <= 0) continue;
    const auto free = [](const Shares& shares) { return part(shares.free, shares.total); };
    if (scarcest == nullptr || free(each.second) < free(scarcest->second)) scarcest = &each;
  }
  if (scarcest == nullptr) return "-";
  const auto& [total, used, free] = scarcest->second;
  const std::size_t full = cells(used, total);
  const std::size_t empty = std::min(cells(free, total), kBarCells - full);
  return fmt::format("{}{}{} {:>3}% {}", repeated("█", full), repeated("▒", kBarCells - full - empty),
                     repeated("░", empty), static_cast<int>(part(used, total) * 100), scarcest->first);
}

class Drawing {
 public:
  explicit Drawing(Draw draw) : draw_(draw), table_(head(draw)) {}

  std::string draw(const Domain& root) {
    row(root.name, root.all);
    draw_below(root, is_terminal() ? "" : "  ");
    return table_.text();
  }

 private:
  static std::vector<std::string> head(Draw draw) {
    std::vector<std::string> names{"DOMAIN", "HOSTS", "DOWN", "DRAINED", "FREE OF TOTAL"};
    if (draw == Draw::Terminal) names.emplace_back("USED");
    return names;
  }

  [[nodiscard]] bool is_terminal() const { return draw_ == Draw::Terminal; }

  void row(std::string name, const Content& content) {
    std::vector<std::string> cells{std::move(name), std::to_string(content.hosts), std::to_string(content.down),
                                   std::to_string(content.drained), free_of_total(content)};
    if (is_terminal()) cells.push_back(bar(content));
    table_.add(std::move(cells));
  }

  [[nodiscard]] std::string branch(const std::string& indent, bool is_last) const {
    if (!is_terminal()) return indent;
    return indent + (is_last ? "└─ " : "├─ ");
  }

  // Hosts beside domains are a line of their own: "(n[7-8])".
  void draw_below(const Domain& domain, const std::string& indent) {
    if (domain.domains.empty()) return;
    if (!domain.own_hosts.empty()) {
      std::string list = compress_hostlist(domain.own_hosts);
      if (list.size() > kHostListBytesMax) list = "hosts in none of these";
      row(fmt::format("{}({})", branch(indent, false), list), domain.own);
    }
    for (const auto& below : domain.domains) {
      const bool is_last = below == domain.domains.back();
      row(branch(indent, is_last) + below->name, below->all);
      draw_below(*below, indent + (!is_terminal() ? "  " : is_last ? "   " : "│  "));
    }
  }

  Draw draw_;
  Table table_;
};

}  // namespace

bool has_domains(const Json& hosts) {
  for (const auto& host : hosts) {
    if (host.at("at") != "/") return true;
  }
  return false;
}

Json domains_json(const Json& hosts) { return json_of(Tree(hosts).root()); }

std::string domains_text(const Json& hosts, Draw draw) {
  const Tree tree(hosts);
  return Drawing(draw).draw(tree.root());
}

}  // namespace lockstep::cli
