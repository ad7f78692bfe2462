#include "tests/scheduler/brute_force.h"

#include <algorithm>
#include <functional>

namespace lockstep::testing {
namespace {

struct Counted {
  HostId id;
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
  Search(const State& state, const GroupSpec& spec, std::vector<Counted> hosts, std::vector<Piece> pieces,
         const OnlyHosts& only)
      : state_(state), spec_(spec), hosts_(std::move(hosts)), pieces_(std::move(pieces)), only_(only) {
    find_twins();
  }

  // Every choice of a domain for the group and for each role that requires one.
  bool any_domains() {
    std::vector<std::pair<RoleIndex, std::string>> scopes;
    if (!spec_.topology.required.empty()) scopes.emplace_back(kNoRole, spec_.topology.required);
    for (RoleIndex role = 0; role < spec_.roles.size(); ++role) {
      const bool asked =
          std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.role == role; });
      const std::string& level = spec_.roles[role].topology.required;
      if (asked && !level.empty()) scopes.emplace_back(role, level);
    }
    const std::function<bool(std::size_t)> choose = [&](std::size_t at) {
      if (at == scopes.size()) {
        failed_.clear();
        return piece(0);
      }
      std::set<std::string> names;
      for (const Counted& host : hosts_) {
        if (in_domains(kNoRole, host)) names.insert(domain_of(state_, *host.info, scopes[at].second));
      }
      names.erase("");
      const bool found = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        domains_[scopes[at].first] = {scopes[at].second, name};
        return choose(at + 1);
      });
      domains_.erase(scopes[at].first);
      return found;
    };
    return choose(0);
  }

 private:
  bool in_domains(RoleIndex scope, const Counted& host) const {
    const auto domain = domains_.find(scope);
    return domain == domains_.end() || domain_of(state_, *host.info, domain->second.first) == domain->second.second;
  }

  bool allowed(const Piece& piece, const Counted& host) const {
    for (const RoleIndex scope : {kNoRole, piece.role}) {
      if (!in_domains(scope, host)) return false;
      const auto only = only_.find(scope);
      if (only != only_.end() && !only->second.contains(host.id)) return false;
    }
    for (const KeyValue& wanted : piece.term->select) {
      const auto& all = host.info->attributes;
      if (std::find(all.begin(), all.end(), wanted) == all.end()) return false;
    }
    return true;
  }

  // Hosts that nothing but what is free on them tells apart: one may stand for the other.
  void find_twins() {
    bool by_host = spec_.topology.required == "host" || !only_.empty();
    for (const RoleSpec& role : spec_.roles) by_host = by_host || role.topology.required == "host";
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const auto twin = std::find_if(twins_.begin(), twins_.end(), [&](const std::vector<std::size_t>& class_of) {
        const Counted& first = hosts_[class_of.front()];
        const auto names = [](const Counted& host) {
          std::set<std::string> counters;
          for (const auto& [name, amount] : host.free) counters.insert(name);
          return counters;
        };
        return !by_host && first.info->at == hosts_[i].info->at && names(first) == names(hosts_[i]) &&
               first.info->attributes == hosts_[i].info->attributes;
      });
      if (twin == twins_.end())
        twins_.push_back({i});
      else
        twin->push_back(i);
    }
  }

  std::vector<std::int64_t> remembered(std::size_t at) const {
    std::vector<std::int64_t> key{static_cast<std::int64_t>(at)};
    for (const std::vector<std::size_t>& class_of : twins_) {
      std::vector<std::vector<std::int64_t>> amounts;
      for (const std::size_t host : class_of) {
        auto& of_host = amounts.emplace_back();
        for (const auto& [name, amount] : hosts_[host].free) of_host.push_back(amount);
      }
      std::sort(amounts.begin(), amounts.end());
      for (const auto& of_host : amounts) key.insert(key.end(), of_host.begin(), of_host.end());
    }
    return key;
  }

  bool piece(std::size_t at) {
    if (at == pieces_.size()) return true;
    std::vector<std::int64_t> key = remembered(at);
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
  std::vector<std::vector<std::size_t>> twins_;
  std::vector<Piece> pieces_;
  const OnlyHosts& only_;
  std::map<RoleIndex, std::pair<std::string, std::string>> domains_;  // level and name
  std::set<std::vector<std::int64_t>> failed_;
};

FreeHosts free_hosts(const State& state, bool empty) {
  FreeHosts free;
  state.hosts.for_each([&](const Host& host) {
    if (host.facts.info.down || host.facts.info.drained) return;
    auto& amounts = free.hosts[host.facts.id];
    for (const Counter& counter : host.facts.info.counters) {
      amounts[counter.name] = empty ? counter.amount : host_free(state, host, counter.name);
    }
  });
  for (const auto& [name, pool] : state.pools) free.pools[name] = empty ? pool.total : pool_free(state, name);
  return free;
}

}  // namespace

FreeHosts free_now(const State& state) { return free_hosts(state, false); }
FreeHosts free_if_empty(const State& state) { return free_hosts(state, true); }

void give_back(const State& state, FreeHosts& free, const GroupSpec& spec, RoleIndex role,
               const std::vector<Slice>& slices, std::int64_t sign) {
  for (const Slice& slice : slices) {
    for (const Counter& request : spec.roles.at(role).tasks.at(slice.term).requests) {
      const std::int64_t amount = request.amount * slice.count * sign;
      const auto host = free.hosts.find(slice.host);
      if (is_pool(state, request.name))
        free.pools[request.name] += amount;
      else if (host != free.hosts.end())
        host->second[request.name] += amount;
    }
  }
}

FreeHosts inside(const State& state, const FreeHosts& free, const std::string& domain) {
  FreeHosts found{{}, free.pools};
  for (const auto& [id, amounts] : free.hosts) {
    const HostInfo& info = state.host(id)->facts.info;
    std::string path;
    for (const std::string& piece : info.at) path += piece + "/";
    path += info.name + "/";
    if (domain == "/" || path.starts_with(domain + "/")) found.hosts[id] = amounts;
  }
  return found;
}

bool fits_by_brute_force(const State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                         const FreeHosts& free, const OnlyHosts& only) {
  std::vector<Counted> hosts;
  for (const auto& [id, amounts] : free.hosts) hosts.push_back({id, &state.host(id)->facts.info, amounts});
  std::vector<Piece> pieces;
  std::map<std::string, std::int64_t> needed;
  for (const RoleDemand& each : demand) {
    for (std::size_t i = 0; i < each.indexes.size() + each.spares; ++i) {
      for (const TaskTerm& term : spec.roles[each.role].tasks) {
        if (term.count == 0) continue;
        pieces.push_back({each.role, &term});
        for (const Counter& request : term.requests) needed[request.name] += request.amount * term.count;
      }
    }
  }
  for (const auto& [name, amount] : needed) {
    std::int64_t sum = 0;
    if (is_pool(state, name)) {
      const auto pool = free.pools.find(name);
      sum = pool == free.pools.end() ? 0 : pool->second;
    } else {
      for (const Counted& host : hosts) {
        const auto amounts = host.free.find(name);
        if (amounts != host.free.end()) sum += std::max<std::int64_t>(0, amounts->second);
      }
    }
    if (amount > sum) return false;
  }
  return Search(state, spec, std::move(hosts), std::move(pieces), only).any_domains();
}

bool fits_by_brute_force(const State& state, const GroupSpec& spec, const std::vector<RoleDemand>& demand) {
  return fits_by_brute_force(state, spec, demand, free_now(state));
}

namespace {

std::string unit_of(const State& state, const HostInfo& host, const std::string& level) {
  const std::string domain = domain_of(state, host, level);
  return domain.empty() ? "host " + host.name : domain;
}

}  // namespace

std::vector<std::size_t> domains_used(const State& state, const std::vector<std::string>& levels,
                                      const std::set<HostId>& hosts) {
  std::vector<std::size_t> numbers;
  for (const std::string& level : levels) {
    std::set<std::string> units;
    for (const HostId id : hosts) units.insert(unit_of(state, state.host(id)->facts.info, level));
    numbers.push_back(units.size());
  }
  return numbers;
}

std::optional<std::vector<std::size_t>> fewer_domains(const State& state, const GroupSpec& spec,
                                                      const std::vector<RoleDemand>& demand, const FreeHosts& free,
                                                      RoleIndex role, const std::vector<std::string>& levels,
                                                      const std::vector<std::size_t>& bound) {
  std::map<std::string, std::set<HostId>> units;  // of the narrowest of the levels
  for (const auto& [id, amounts] : free.hosts) {
    units[unit_of(state, state.host(id)->facts.info, levels.back())].insert(id);
  }
  std::vector<std::pair<std::vector<std::size_t>, std::uint32_t>> sets;  // as bits
  const auto hosts_of = [&](std::uint32_t set) {
    std::set<HostId> hosts;
    std::uint32_t bit = 1;
    for (const auto& [name, ids] : units) {
      if ((set & bit) != 0) hosts.insert(ids.begin(), ids.end());
      bit <<= 1U;
    }
    return hosts;
  };
  for (std::uint32_t set = 1; set < 1U << units.size(); ++set) {
    auto numbers = domains_used(state, levels, hosts_of(set));
    if (numbers < bound) sets.emplace_back(std::move(numbers), set);
  }
  std::sort(sets.begin(), sets.end());
  std::vector<std::uint32_t> failed;
  for (const auto& [numbers, set] : sets) {
    const bool hopeless = std::any_of(failed.begin(), failed.end(), [&](std::uint32_t other) {
      return (set & ~other) == 0;  // a part of one that does not hold it
    });
    if (hopeless) continue;
    if (role == kNoRole) {
      FreeHosts part{{}, free.pools};
      for (const HostId id : hosts_of(set)) part.hosts[id] = free.hosts.at(id);
      if (fits_by_brute_force(state, spec, demand, part)) return numbers;
    } else if (fits_by_brute_force(state, spec, demand, free, {{role, hosts_of(set)}})) {
      return numbers;
    }
    failed.push_back(set);
  }
  return std::nullopt;
}

}  // namespace lockstep::testing
