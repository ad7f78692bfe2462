// Which hosts, of all that could hold a demand (SCHEDULING.md, Topology): in the fewest domains, level by level with
// the widest first, down to hosts; among these where least is left over, counter by counter in the order of their
// names, level by level too; then the first in path order. So `preferred` is met as well as it can be: what fits into
// one domain of the level stays in it, else in one of the level above, in as few of the level as that allows.
//
// Counts decide where they are exact, which is for one class of items: domains and hosts are chosen without looking
// into them. For others counts say which sets are worth asking, and the solvers answer (holds()). What does not come to
// an end within its budget is placed as fit_in() would: the choice changes where, never whether.

#include <algorithm>
#include <numeric>
#include <set>

#include "statemachine/capacity.h"
#include "statemachine/fit_cache.h"
#include "statemachine/fit_shape.h"

namespace lockstep {

namespace fit_detail {

namespace {

using Area = std::vector<Domain>;  // apart from each other, in path order

constexpr std::uint64_t kSetsMax = 256;           // sets of domains of one size that are all looked at
constexpr std::size_t kFeasibleMax = 16;          // of them, those followed to the end when solvers must be asked
constexpr std::uint64_t kChoiceWorkMax = 20'000;  // of solvers, in units of solve()

// What a domain must have for a demand to fit into it, summed over the domains of a set: room for the items of each
// class, and, where classes compete, the counters that they share.
class Measures {
 public:
  Measures(const CapacityView& view, const Shape& shape) : view_(view) {
    for (const ItemClass& items : shape.classes) {
      RoomKey key{{}, *items.select, on_one_host_max(shape, items)};
      for (const Size& size : items.size) key.size.emplace_back(shape.columns[size.column], size.amount);
      if (items.kind == Kind::Spread || items.kind == Kind::Whole) key.host_max = kAnyNumber;
      impossible_ = impossible_ || items.impossible;
      rooms_.push_back(view.cache().rooms(view, key));
      needs_.push_back(items.count);
      if (shape.classes.size() == 1) only_ = std::move(key);
    }
    if (rooms_.size() == 1) return;
    std::vector<std::int64_t> amounts(shape.columns.size(), 0);
    for (const ItemClass& items : shape.classes) {
      for (const Size& size : items.size) {
        amounts[size.column] = saturating_plus(amounts[size.column], saturating_times(size.amount, items.count));
      }
    }
    columns_ = shape.columns;
    needs_.insert(needs_.end(), amounts.begin(), amounts.end());
  }

  [[nodiscard]] bool impossible() const { return impossible_; }
  [[nodiscard]] const RoomKey& only() const { return only_; }  // of the only class
  [[nodiscard]] std::size_t size() const { return needs_.size(); }
  [[nodiscard]] std::int64_t need(std::size_t measure) const { return needs_[measure]; }
  [[nodiscard]] std::int64_t have(std::size_t measure, const Domain& domain) const {
    if (measure < rooms_.size()) return rooms_[measure]->in(view_, domain);
    return view_.sum(domain, columns_[measure - rooms_.size()]);
  }

 private:
  const CapacityView& view_;
  std::vector<std::shared_ptr<const Rooms>> rooms_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::int64_t> needs_;
  RoomKey only_;
  bool impossible_ = false;
};

// Sets of `size` out of `count`, or the largest number when they are too many to look at.
std::uint64_t number_of_sets(std::uint64_t count, std::uint64_t size) {
  std::uint64_t sets = 1;
  for (std::uint64_t i = 0; i < std::min(size, count - size); ++i) {
    sets = sets * (count - i) / (i + 1);
    if (sets > kSetsMax) return kSetsMax + 1;
  }
  return sets;
}

// The next set of positions in lexicographic order.
bool next_set(std::vector<std::uint32_t>& set, std::uint32_t count) {
  const auto size = static_cast<std::uint32_t>(set.size());
  for (std::uint32_t i = size; i-- > 0;) {
    if (set[i] == count - size + i) continue;
    ++set[i];
    for (std::uint32_t j = i + 1; j < size; ++j) set[j] = set[j - 1] + 1;
    return true;
  }
  return false;
}

class Chooser {
 public:
  Chooser(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand)
      : view_(view), spec_(spec), demand_(demand), shape_(make_shape(view, spec, demand)), measures_(view, shape_) {
    const auto bound = [](const RoleShape& role) {
      return !role.spec->topology.required.empty() || !role.demand->inside.empty();
    };
    exact_ = shape_.classes.size() == 1 && std::none_of(shape_.roles.begin(), shape_.roles.end(), bound);
    if (exact_) kept_ = view.cache().choices(measures_.only(), measures_.need(0));
  }

  // Proven that nothing of `domains` holds all of it.
  [[nodiscard]] bool hopeless(const Area& domains) const {
    if (measures_.impossible() || !pools_suffice(view_, shape_)) return true;
    return std::none_of(domains.begin(), domains.end(), [&](const Domain& domain) { return may_hold(domain); });
  }

  // In one of `domains`, which are of one level.
  [[nodiscard]] Fit place_in_one_of(const Area& domains) {
    const auto choice = choose(domains, 1);
    return choice ? fit_on(choice->hosts) : Fit{};
  }

  // Counts alone tell whether it fits, and first-fit finds it where they say so.
  [[nodiscard]] bool exact() const {
    if (!exact_) return false;
    const Kind kind = shape_.classes.front().kind;
    return kind == Kind::Spread || kind == Kind::Whole;
  }
  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  [[nodiscard]] bool may_hold(const Domain& domain) const {
    for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
      if (measures_.have(measure, domain) < measures_.need(measure)) return false;
    }
    return true;
  }
  [[nodiscard]] bool may_hold(const Area& area) const {
    for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
      std::int64_t have = 0;
      for (const Domain& domain : area) have = saturating_plus(have, measures_.have(measure, domain));
      if (have < measures_.need(measure)) return false;
    }
    return true;
  }

  // The answer of the solvers, on these hosts alone.
  [[nodiscard]] Fit fit_on(const Area& area) {
    std::vector<std::uint32_t> rows;
    for (const Domain& domain : area) {
      for (std::uint32_t row = domain.rows.first; row < domain.rows.after; ++row) rows.push_back(row);
    }
    const CapacityView part = view_.restricted_to(rows);
    Fit fit = fit_in_cluster(part, spec_, demand_);
    work_ += fit.work;
    return fit;
  }
  [[nodiscard]] bool holds(const Area& area) { return exact_ || fit_on(area).fits; }

  [[nodiscard]] std::vector<std::int64_t> free_in(const Area& area) const {
    std::vector<std::int64_t> free;
    for (const std::uint32_t column : view_.columns_by_name()) {
      std::int64_t sum = 0;
      for (const Domain& domain : area) sum = saturating_plus(sum, view_.sum(domain, column));
      free.push_back(sum);
    }
    return free;
  }

  // The domains of the level below that make up `area`; a host that is in none of that level stands for itself.
  [[nodiscard]] Area below(const Area& area, std::uint32_t depth) const {
    Area found;
    for (const Domain& domain : area) {
      for (std::uint32_t row = domain.rows.first; row < domain.rows.after;) {
        const std::uint32_t index = depth == kHostDepth ? kNoRow : view_.domain_index(depth, row);
        found.push_back(index == kNoRow ? Domain{kHostDepth, {row, row + 1}} : view_.domain_at(depth, index));
        row = found.back().rows.after;
      }
    }
    return found;
  }

  // The best hosts within one domain that holds all of it, with what the domain itself has left.
  [[nodiscard]] HostChoice within(const Domain& domain) {
    HostChoice choice = descend({domain});
    std::vector<std::int64_t> left = free_in({domain});
    left.insert(left.end(), choice.left.begin(), choice.left.end());
    choice.left = std::move(left);
    return choice;
  }
  // The same, not found out again.
  [[nodiscard]] const HostChoice& kept_within(const Domain& domain) {
    if (const HostChoice* known = kept_->find(view_, domain)) return *known;
    return kept_->keep(view_, domain, within(domain));
  }

  // The best hosts within `area`, which holds all of it.
  [[nodiscard]] HostChoice descend(const Area& area) {
    std::uint32_t depth = kHostDepth;  // of the area, hosts without a domain aside
    for (const Domain& domain : area) depth = std::min(depth, domain.depth);
    if (depth == kHostDepth) return {{}, {}, area};
    const Area parts = below(area, depth < view_.level_count() ? depth + 1 : kHostDepth);
    const std::size_t fewest = fewest_of(parts);
    for (std::size_t size = fewest; size <= parts.size() && work_ < kChoiceWorkMax; ++size) {
      if (auto found = choose(parts, size)) return *found;
    }
    return {{parts.size()}, free_in(area), parts};  // all of them: where that is not hosts, the solvers go on
  }

  // No fewer of `parts` can hold it.
  [[nodiscard]] std::size_t fewest_of(const Area& parts) const {
    std::size_t fewest = 1;
    std::vector<std::int64_t> have(parts.size());
    for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
      for (std::size_t i = 0; i < parts.size(); ++i) have[i] = measures_.have(measure, parts[i]);
      std::make_heap(have.begin(), have.end());
      std::int64_t sum = 0;
      std::size_t size = 0;
      auto end = have.end();
      while (sum < measures_.need(measure) && end != have.begin()) {
        std::pop_heap(have.begin(), end);
        sum = saturating_plus(sum, *--end);
        ++size;
      }
      fewest = std::max(fewest, size);
    }
    return fewest;
  }

  // The best of `parts` that holds it alone, where counts are exact; nothing when none does.
  [[nodiscard]] std::optional<HostChoice> choose_one(const Area& parts) {
    const bool hosts =
        std::all_of(parts.begin(), parts.end(), [](const Domain& part) { return part.depth == kHostDepth; });
    if (hosts) return tightest_host(parts);
    std::optional<HostChoice> best_host;
    const HostChoice* best = nullptr;
    for (const Domain& part : parts) {
      if (!may_hold(part)) continue;
      if (part.depth != kHostDepth && part.depth != 0) {
        const HostChoice& here = kept_within(part);
        if (best == nullptr || here < *best) best = &here;
      } else if (HostChoice here = within(part); !best_host || here < *best_host) {
        best_host = std::move(here);
      }
    }
    if (best_host && (best == nullptr || *best_host < *best)) best = &*best_host;
    if (best == nullptr) return std::nullopt;
    HostChoice choice{{1}, best->left, best->hosts};
    choice.domains.insert(choice.domains.end(), best->domains.begin(), best->domains.end());
    return choice;
  }

  [[nodiscard]] std::optional<HostChoice> tightest_host(const Area& hosts) const {
    const auto tighter = [&](const Domain& a, const Domain& b) {
      for (const std::uint32_t column : view_.columns_by_name()) {
        const std::int64_t here = view_.free(a.rows.first, column);
        const std::int64_t there = view_.free(b.rows.first, column);
        if (here != there) return here < there;
      }
      return false;
    };
    const Domain* best = nullptr;
    for (const Domain& host : hosts) {
      if (!may_hold(host)) continue;
      if (best == nullptr || tighter(host, *best)) best = &host;
    }
    if (best == nullptr) return std::nullopt;
    return HostChoice{{1}, free_in({*best}), {*best}};
  }

  // The best set of `size` of `parts` that holds it; nothing when none was found.
  [[nodiscard]] std::optional<HostChoice> choose(const Area& parts, std::size_t size) {
    if (exact_ && size == 1) return choose_one(parts);
    const bool all_sets = size == 1 || number_of_sets(parts.size(), size) <= kSetsMax;
    std::vector<Area> sets = all_sets ? every_set(parts, size) : likely_sets(parts, size);
    if (exact_) return best_of(sets, sets.size());
    std::vector<std::pair<std::vector<std::int64_t>, std::size_t>> order;
    for (std::size_t i = 0; i < sets.size(); ++i) order.emplace_back(free_in(sets[i]), i);
    std::sort(order.begin(), order.end());
    std::vector<Area> tightest_first;
    for (const auto& [free, i] : order) tightest_first.push_back(std::move(sets[i]));
    return best_of(tightest_first, kFeasibleMax);
  }

  [[nodiscard]] std::optional<HostChoice> best_of(const std::vector<Area>& sets, std::size_t feasible_max) {
    std::optional<HostChoice> best;
    std::size_t feasible = 0;
    for (const Area& set : sets) {
      if (feasible == feasible_max || work_ >= kChoiceWorkMax) break;
      if (!holds(set)) continue;
      ++feasible;
      HostChoice deeper = descend(set);
      HostChoice here{{set.size()}, free_in(set), std::move(deeper.hosts)};
      here.domains.insert(here.domains.end(), deeper.domains.begin(), deeper.domains.end());
      here.left.insert(here.left.end(), deeper.left.begin(), deeper.left.end());
      if (!best || here < *best) best = std::move(here);
    }
    return best;
  }

  [[nodiscard]] std::vector<Area> every_set(const Area& parts, std::size_t size) const {
    std::vector<Area> sets;
    std::vector<std::uint32_t> positions(size);
    std::iota(positions.begin(), positions.end(), 0U);
    do {
      Area set;
      for (const std::uint32_t position : positions) set.push_back(parts[position]);
      if (may_hold(set)) sets.push_back(std::move(set));
    } while (next_set(positions, static_cast<std::uint32_t>(parts.size())));
    return sets;
  }

  // Too many to look at all: the largest; and, where counts are exact, the largest with the last as small as it may be,
  // and the smallest that follow each other by size.
  [[nodiscard]] std::vector<Area> likely_sets(const Area& parts, std::size_t size) const {
    std::vector<std::uint32_t> order(parts.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::int64_t> weight;
    for (const Domain& part : parts) weight.push_back(weight_of(part));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return weight[a] > weight[b]; });
    std::vector<Area> sets;
    const auto add = [&](std::vector<std::uint32_t> positions) {
      std::sort(positions.begin(), positions.end());
      Area set;
      for (const std::uint32_t position : positions) set.push_back(parts[position]);
      if (may_hold(set)) sets.push_back(std::move(set));
    };
    const auto first = order.begin();
    const auto largest_but_one = first + static_cast<std::ptrdiff_t>(size) - 1;
    add({first, largest_but_one + 1});
    const bool all_alike = weight[order.front()] == weight[order.back()];
    if (!exact_ || all_alike) return sets;
    std::int64_t missing = measures_.need(0);
    for (auto each = first; each != largest_but_one; ++each) missing -= weight[*each];
    auto last = largest_but_one;
    while (last + 1 != order.end() && weight[*(last + 1)] >= missing) ++last;
    while (last != largest_but_one && weight[*(last - 1)] == weight[*last]) --last;  // the first of those in path order
    std::vector<std::uint32_t> tight(first, largest_but_one);
    tight.push_back(*last);
    add(std::move(tight));
    std::int64_t sum = 0;
    for (auto each = order.end() - static_cast<std::ptrdiff_t>(size); each != order.end(); ++each) sum += weight[*each];
    auto window = order.end() - static_cast<std::ptrdiff_t>(size);
    while (sum < measures_.need(0) && window != first) {
      --window;
      sum += weight[*window] - weight[*(window + static_cast<std::ptrdiff_t>(size))];
    }
    add({window, window + static_cast<std::ptrdiff_t>(size)});
    return sets;
  }

  // How much of the demand a domain could take: exact for one class, else of each measure in parts of a million.
  [[nodiscard]] std::int64_t weight_of(const Domain& part) const {
    if (exact_) return measures_.have(0, part);
    std::int64_t weight = 0;
    for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
      const std::int64_t need = std::max<std::int64_t>(1, measures_.need(measure));
      const std::int64_t have = std::min(need, measures_.have(measure, part));
      weight += need > std::int64_t{1} << 40U ? have / (need / 1'000'000) : have * 1'000'000 / need;
    }
    return weight;
  }

  const CapacityView& view_;
  const GroupSpec& spec_;
  const std::vector<RoleDemand>& demand_;
  Shape shape_;
  Measures measures_;
  bool exact_ = false;
  std::shared_ptr<ChoicesKept> kept_;  // when exact
  std::uint64_t work_ = 0;
};

}  // namespace

}  // namespace fit_detail

namespace {

Fit choose_hosts(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                 std::string_view inside) {
  const auto domains = fit_detail::group_domains(view, spec, Require::AsSaid, inside);
  fit_detail::Chooser chooser(view, spec, demand);
  if (chooser.hopeless(domains)) return {};
  Fit fit = chooser.place_in_one_of(domains);
  if (!fit.fits) return fit_in(view, spec, demand, Require::AsSaid, inside, Explain::No);
  fit.work = chooser.work();
  if (!inside.empty()) {
    fit.domain = inside;
    return fit;
  }
  if (fit.members.empty() && fit.spares.empty()) {
    fit.domain = view.path(domains.front());
    return fit;
  }
  const auto& placed = fit.members.empty() ? fit.spares.front().slices : fit.members.front().slices;
  const std::uint32_t row = view.row_of(placed.front().host);
  const auto chosen = std::find_if(domains.begin(), domains.end(), [&](const Domain& domain) {
    return domain.rows.contains({row, row + 1});
  });
  fit.domain = view.path(*chosen);
  return fit;
}

}  // namespace

bool fits_in(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
             std::string_view inside) {
  const auto domains = fit_detail::group_domains(view, spec, Require::AsSaid, inside);
  const fit_detail::Chooser chooser(view, spec, demand);
  if (chooser.hopeless(domains)) return false;
  return chooser.exact() || fit_in(view, spec, demand, Require::AsSaid, inside, Explain::No).fits;
}

namespace {

// The domains that the members of a role (kNoRole: of all) use, level by level down to `preferred`.
std::vector<std::size_t> domains_used(const CapacityView& view, const Fit& fit, RoleIndex role,
                                      std::uint32_t preferred) {
  std::set<std::uint32_t> rows;
  const auto add = [&](RoleIndex of, const std::vector<Slice>& slices) {
    if (role != kNoRole && of != role) return;
    for (const Slice& slice : slices) rows.insert(view.row_of(slice.host));
  };
  for (const MemberPlacement& each : fit.members) add(each.member.role, each.slices);
  for (const SparePlacement& each : fit.spares) add(each.role, each.slices);
  std::vector<std::size_t> numbers;
  for (std::uint32_t depth = 1; depth <= std::min(preferred, view.level_count()); ++depth) {
    std::set<std::pair<bool, std::uint32_t>> used;  // a host in no domain of the level stands for itself
    for (const std::uint32_t row : rows) {
      const std::uint32_t index = view.domain_index(depth, row);
      used.insert({index == kNoRow, index == kNoRow ? row : index});
    }
    numbers.push_back(used.size());
  }
  if (preferred == kHostDepth) numbers.push_back(rows.size());
  return numbers;
}

// How well preferences are met, of the group first, then role by role: less is better.
std::vector<std::vector<std::size_t>> domains_where_preferred(const CapacityView& view, const GroupSpec& spec,
                                                              const Fit& fit) {
  std::vector<std::vector<std::size_t>> numbers;
  const auto add = [&](RoleIndex role, const Topology& topology) {
    const auto preferred = view.depth_of(topology.preferred);
    if (preferred) numbers.push_back(domains_used(view, fit, role, *preferred));
  };
  add(kNoRole, spec.topology);
  for (RoleIndex role = 0; role < spec.roles.size(); ++role) add(role, spec.roles[role].topology);
  return numbers;
}

// Roles that prefer a level find their hosts first and each for itself, then the others.
Fit preferring_roles_first(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                           std::string_view inside) {
  CapacityView left = view;
  Fit all;
  all.domain = inside;
  const auto place = [&](const std::vector<RoleDemand>& part) {
    Fit found = choose_hosts(left, spec, part, all.domain);
    if (!found.fits) return false;
    left.take(spec, found.members, found.spares);
    all.members.insert(all.members.end(), found.members.begin(), found.members.end());
    all.spares.insert(all.spares.end(), found.spares.begin(), found.spares.end());
    all.domain = found.domain;
    all.work += found.work;
    return true;
  };
  std::vector<RoleDemand> others;
  for (const RoleDemand& each : demand) {
    if (spec.roles[each.role].topology.preferred.empty())
      others.push_back(each);
    else if (!place({each}))
      return {};
  }
  if (!others.empty() && !place(others)) return {};
  std::sort(all.members.begin(), all.members.end());
  std::stable_sort(all.spares.begin(), all.spares.end(),
                   [](const SparePlacement& a, const SparePlacement& b) { return a.role < b.role; });
  all.fits = true;
  return all;
}

// All hosts of a role's members are in a domain of the level; a host without a place is in none.
bool in_domains_of(const CapacityView& view, const Fit& fit, RoleIndex role, std::uint32_t depth) {
  return std::all_of(fit.members.begin(), fit.members.end(), [&](const MemberPlacement& each) {
    return each.member.role != role || std::all_of(each.slices.begin(), each.slices.end(), [&](const Slice& slice) {
             return view.domain_index(depth, view.row_of(slice.host)) != kNoRow;
           });
  });
}

// Role after role, as if the preferred level were required, then the level above it, as long as that fits.
Fit preferred_as_required(const CapacityView& view, GroupSpec wanted, const std::vector<RoleDemand>& demand,
                          std::string_view inside, Fit best) {
  for (RoleIndex role = 0; role < wanted.roles.size(); ++role) {
    Topology& topology = wanted.roles[role].topology;
    const auto preferred = view.depth_of(topology.preferred);
    if (!preferred) continue;
    const std::string required = topology.required;
    const std::uint32_t widest = required.empty() ? 0 : view.depth_of(required).value_or(0);
    Fit found;
    for (std::uint32_t depth = *preferred; depth > widest && !found.fits; depth = view.depth_above(depth)) {
      topology.required = view.level_name(depth);
      found = choose_hosts(view, wanted, demand, inside);
      if (found.fits && widest > 0 && !in_domains_of(view, found, role, widest)) found = {};
    }
    if (found.fits)
      best = std::move(found);
    else
      topology.required = required;
  }
  return best;
}

}  // namespace

Fit best_fit(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
             std::string_view inside, Joining joining) {
  Fit best = choose_hosts(view, spec, demand, inside);
  const bool prefers = std::any_of(spec.roles.begin(), spec.roles.end(),
                                   [](const RoleSpec& role) { return !role.topology.preferred.empty(); });
  if (!best.fits || !prefers || joining == Joining::Yes) return best;
  // Of several ways the best is taken.
  std::vector<Fit> ways{preferred_as_required(view, spec, demand, inside, best),
                        preferring_roles_first(view, spec, demand, inside)};
  for (Fit& way : ways) {
    if (way.fits && domains_where_preferred(view, spec, way) < domains_where_preferred(view, spec, best))
      best = std::move(way);
  }
  return best;
}

}  // namespace lockstep
