#include "tests/scheduler/brute_force.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace lockstep::testing {
namespace {

struct Counted {
  const HostInfo* info;
  std::map<std::string, std::int64_t> free;
};

// One task term of one member.
struct Piece {
  RoleIndex role;
  const TaskTerm* term;
};

std::string domain_of(const State& state, const HostInfo& host, const std::string& level) {
  if (level == "host") return "host " + host.name;
  std::string path;
  for (std::size_t i = 0; i < state.head.levels.size() && i < host.at.size(); ++i) {
    path += "/" + host.at[i];
    if (state.head.levels[i] == level) return path;
  }
  return {};
}

class Search {
 public:
  Search(const State& state, const GroupSpec& spec, std::vector<Counted> hosts, std::vector<Piece> pieces)
      : state_(state), spec_(spec), hosts_(std::move(hosts)), pieces_(std::move(pieces)) {}

  // Every choice of a domain for the group and for each role that requires one.
  bool any_domains() {
    std::vector<std::pair<RoleIndex, std::string>> scopes;
    if (!spec_.topology.required.empty()) scopes.emplace_back(kNoRole, spec_.topology.required);
    for (RoleIndex role = 0; role < spec_.roles.size(); ++role) {
      if (!spec_.roles[role].topology.required.empty()) scopes.emplace_back(role, spec_.roles[role].topology.required);
    }
    const std::function<bool(std::size_t)> choose = [&](std::size_t at) {
      if (at == scopes.size()) {
        failed_.clear();
        return piece(0);
      }
      std::set<std::string> names;
      for (const Counted& host : hosts_) names.insert(domain_of(state_, *host.info, scopes[at].second));
      names.erase("");
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        domains_[scopes[at].first] = {scopes[at].second, name};
        return choose(at + 1);
      });
    };
    return choose(0);
  }

 private:
  bool allowed(const Piece& piece, const Counted& host) const {
    for (const RoleIndex scope : {kNoRole, piece.role}) {
      const auto domain = domains_.find(scope);
      if (domain == domains_.end()) continue;
      if (domain_of(state_, *host.info, domain->second.first) != domain->second.second) return false;
    }
    for (const KeyValue& wanted : piece.term->select) {
      const auto& all = host.info->attributes;
      if (std::find(all.begin(), all.end(), wanted) == all.end()) return false;
    }
    return true;
  }

  bool piece(std::size_t at) {
    if (at == pieces_.size()) return true;
    std::vector<std::int64_t> key{static_cast<std::int64_t>(at)};
    for (const Counted& host : hosts_) {
      for (const auto& [name, amount] : host.free) key.push_back(amount);
    }
    if (failed_.contains(key)) return false;
    if (spread(at, 0, pieces_[at].term->count, 0, 0)) return true;
    failed_.insert(std::move(key));
    return false;
  }

  // Puts what is left of the piece's tasks on hosts from `host` on.
  bool spread(std::size_t at, std::size_t host, std::uint32_t left, std::uint32_t hosts_used, std::uint32_t smaller) {
    const TaskTerm& term = *pieces_[at].term;
    if (left == 0) return piece(at + 1);
    if (host == hosts_.size()) return false;
    if (spread(at, host + 1, left, hosts_used, smaller)) return true;
    if (!allowed(pieces_[at], hosts_[host])) return false;
    if (term.span_hosts == 1 && hosts_used > 0) return false;
    for (std::uint32_t tasks = 1; tasks <= left; ++tasks) {
      if (term.span_hosts == 1 && tasks != left) continue;
      const bool tiles = term.span_ptile != 0 && term.span_hosts == 0;
      if (tiles && tasks > term.span_ptile) break;
      const bool fewer = tiles && tasks < term.span_ptile;
      if (fewer && smaller > 0) continue;
      if (!take(host, term, tasks)) break;
      const bool found = spread(at, host + 1, left - tasks, hosts_used + 1, smaller + (fewer ? 1 : 0));
      give(host, term, tasks);
      if (found) return true;
    }
    return false;
  }

  bool take(std::size_t host, const TaskTerm& term, std::int64_t tasks) {
    for (const Counter& request : term.requests) {
      if (is_pool(state_, request.name)) continue;
      const auto free = hosts_[host].free.find(request.name);
      if ((free == hosts_[host].free.end() ? 0 : free->second) < request.amount * tasks) return false;
    }
    give(host, term, -tasks);
    return true;
  }
  void give(std::size_t host, const TaskTerm& term, std::int64_t tasks) {
    for (const Counter& request : term.requests) {
      if (!is_pool(state_, request.name)) hosts_[host].free[request.name] += request.amount * tasks;
    }
  }

  const State& state_;
  const GroupSpec& spec_;
  std::vector<Counted> hosts_;
  std::vector<Piece> pieces_;
  std::map<RoleIndex, std::pair<std::string, std::string>> domains_;  // level and name
  std::set<std::vector<std::int64_t>> failed_;
};

}  // namespace

bool fits_by_brute_force(const State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand) {
  std::vector<Counted> hosts;
  state.hosts.for_each([&](const Host& host) {
    if (host.facts.info.down || host.facts.info.drained) return;
    Counted counted{&host.facts.info, {}};
    for (const Counter& counter : host.facts.info.counters) {
      counted.free[counter.name] = host_free(state, host, counter.name);
    }
    hosts.push_back(std::move(counted));
  });
  std::vector<Piece> pieces;
  std::map<std::string, std::int64_t> pools;
  for (const RoleDemand& each : demand) {
    for (std::size_t i = 0; i < each.indexes.size() + each.spares; ++i) {
      for (const TaskTerm& term : spec.roles[each.role].tasks) {
        pieces.push_back({each.role, &term});
        for (const Counter& request : term.requests) {
          if (is_pool(state, request.name)) pools[request.name] += request.amount * term.count;
        }
      }
    }
  }
  for (const auto& [name, amount] : pools) {
    if (amount > pool_free(state, name)) return false;
  }
  return Search(state, spec, std::move(hosts), std::move(pieces)).any_domains();
}

}  // namespace lockstep::testing
