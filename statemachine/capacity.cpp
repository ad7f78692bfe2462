#include "statemachine/capacity.h"

#include <algorithm>
#include <limits>

#include "events/error.h"
#include "statemachine/fit_cache.h"

namespace lockstep {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// A host's path goes piece by piece, its name the last of them.
bool path_before(const Host* a, const Host* b) {
  const HostInfo& x = a->facts.info;
  const HostInfo& y = b->facts.info;
  const auto piece = [](const HostInfo& host, std::size_t i) -> const std::string& {
    return i < host.at.size() ? host.at[i] : host.name;
  };
  const std::size_t shared = std::min(x.at.size(), y.at.size()) + 1;
  for (std::size_t i = 0; i < shared; ++i) {
    const int order = piece(x, i).compare(piece(y, i));
    if (order != 0) return order < 0;
  }
  return x.at.size() < y.at.size();
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> pieces;
  while (true) {
    const std::size_t slash = path.find('/');
    pieces.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return pieces;
    path.remove_prefix(slash + 1);
  }
}

// Orders a host against a domain in path order: before, inside (0), or after.
int compare(const HostInfo& host, const std::vector<std::string>& domain) {
  const std::size_t common = std::min(host.at.size(), domain.size());
  for (std::size_t i = 0; i < common; ++i) {
    const int order = host.at[i].compare(domain[i]);
    if (order != 0) return order;
  }
  if (host.at.size() >= domain.size()) return 0;
  return host.name > domain[host.at.size()] ? 1 : -1;
}

const std::string* attribute(const HostInfo& host, const std::string& key) {
  const auto found =
      std::lower_bound(host.attributes.begin(), host.attributes.end(), key,
                       [](const KeyValue& pair, const std::string& wanted) { return pair.key < wanted; });
  return found != host.attributes.end() && found->key == key ? &found->value : nullptr;
}

bool counts_all_hosts(Capacity capacity) { return capacity == Capacity::All || capacity == Capacity::FreeIfUp; }
bool counts_use(Capacity capacity) { return capacity == Capacity::Free || capacity == Capacity::FreeIfUp; }

std::int64_t at_or_zero(const std::vector<std::int64_t>& amounts, ResourceId id) {
  return id.value < amounts.size() ? amounts[id.value] : 0;
}

}  // namespace

std::int64_t saturating_times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

std::int64_t saturating_plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

std::string host_path(const HostInfo& host) {
  if (host.at.empty()) return host.name;
  return domain_path(host.at, host.at.size()) + "/" + host.name;
}

bool matches(const std::vector<KeyValue>& select, const HostInfo& host) {
  return std::all_of(select.begin(), select.end(), [&](const KeyValue& wanted) {
    const std::string* value = attribute(host, wanted.key);
    if (value != nullptr) return *value == wanted.value;
    return (wanted.key == "name" || wanted.key == "hostname") && host.name == wanted.value;
  });
}

bool in_promised_domain(const GroupSpec& spec, std::string_view domain, const HostInfo& host) {
  if (domain.empty() || domain == "/") return true;
  if (spec.topology.required == "host") return host_path(host) == domain;
  return compare(host, split(domain)) == 0;
}

FoundOut::FoundOut() : cache_(std::make_unique<FitCache>()) {}
FoundOut::~FoundOut() = default;
FoundOut::FoundOut(const FoundOut&) : FoundOut() {}
FoundOut::FoundOut(FoundOut&&) noexcept = default;
FoundOut& FoundOut::operator=(FoundOut&&) noexcept = default;

CapacityView::CapacityView(const State& state, Capacity capacity) : CapacityView(state) {
  collect_hosts(capacity);
  collect_columns();
  collect_free(capacity);
  collect_pools(capacity);
  sum_up();
}

CapacityView CapacityView::following(const State& state, Capacity capacity) {
  CapacityView view(state, counts_use(capacity) ? Capacity::FreeIfUp : Capacity::All);
  view.follows_ = capacity;
  for (std::uint32_t row = 0; row < view.row_count(); ++row) view.open_[row] = view.host(row).usable();
  view.sum_up();
  view.position_ = state.indexes.host_journal.position();
  return view;
}

void CapacityView::follow() {
  const HostJournal& journal = state_->indexes.host_journal;
  const auto touched = journal.since(position_);
  if (!touched) {
    *this = following(*state_, follows_);
    return;
  }
  for (std::uint64_t change = followed_, end = change_count(); change < end; ++change) read_again(changed_row(change));
  for (const HostId host : *touched) read_again(row_of(host));
  collect_pools(follows_);
  position_ = journal.position();
  if (changes_.size() > std::size_t{4} * row_count() + 4096) {
    changes_begin_ += changes_.size();
    changes_.clear();
  }
  followed_ = change_count();
}

CapacityView CapacityView::restricted_to(std::span<const std::uint32_t> rows) const {
  CapacityView part(*state_);
  part.columns_ = columns_;
  part.places_ = places_;
  part.column_of_ = column_of_;
  part.columns_by_name_ = columns_by_name_;
  part.pools_ = pools_;
  part.hosts_.reserve(rows.size());
  part.free_.reserve(rows.size() * columns_);
  for (const std::uint32_t row : rows) {
    part.hosts_.push_back(hosts_[row]);
    part.open_.push_back(open_[row]);
    const auto free = free_.begin() + static_cast<std::ptrdiff_t>(std::size_t{row} * columns_);
    part.free_.insert(part.free_.end(), free, free + columns_);
  }
  part.number_rows();
  part.sum_up();
  return part;
}

void CapacityView::collect_hosts(Capacity capacity) {
  state_->hosts.for_each([&](const Host& host) {
    if (counts_all_hosts(capacity) || host.usable()) hosts_.push_back(&host);
  });
  std::sort(hosts_.begin(), hosts_.end(), path_before);
  open_.assign(hosts_.size(), true);
  number_rows();
}

void CapacityView::number_rows() {
  rows_.reserve(hosts_.size());
  for (std::uint32_t row = 0; row < row_count(); ++row) rows_.emplace_back(hosts_[row]->facts.id, row);
  std::sort(rows_.begin(), rows_.end());
}

// A column only for what some host has: a manifest may name any counter, and must not make every row longer.
void CapacityView::collect_columns() {
  std::vector<bool> seen(state_->resources.size(), false);
  for (const Host* host : hosts_) {
    for (std::uint32_t id = 0; id < host->capacity.size(); ++id) {
      if (host->capacity[id] == 0 || seen[id]) continue;
      seen[id] = true;
      const std::string& name = state_->resources[id];
      if (is_pool(*state_, name)) continue;
      places_[name] = CounterPlace{CounterPlace::Kind::Host, columns_};
      column_of_.emplace_back(ResourceId{id}, columns_++);
    }
  }
  for (const auto& [name, place] : places_) columns_by_name_.push_back(place.column);
}

void CapacityView::collect_free(Capacity capacity) {
  free_.assign(hosts_.size() * columns_, 0);
  for (std::size_t row = 0; row < hosts_.size(); ++row) {
    const Host& host = *hosts_[row];
    for (const auto& [id, column] : column_of_) {
      const std::int64_t used = counts_use(capacity) ? at_or_zero(host.used, id) : 0;
      free_[row * columns_ + column] = at_or_zero(host.capacity, id) - used;
    }
  }
}

void CapacityView::collect_pools(Capacity capacity) {
  pools_.clear();
  for (const auto& [name, pool] : state_->pools) {
    places_[name] = CounterPlace{CounterPlace::Kind::Pool, static_cast<std::uint32_t>(pools_.size())};
    const std::int64_t left = counts_use(capacity) ? lockstep::pool_free(*state_, name) : pool.total;
    pools_.push_back(left);
  }
}

// Totals, and sums of the domains.
void CapacityView::sum_up() {
  total_.assign(columns_, 0);
  for (std::uint32_t row = 0; row < row_count(); ++row) {
    for (std::uint32_t column = 0; column < columns_; ++column) {
      total_[column] = saturating_plus(total_[column], free(row, column));
    }
  }
  levels_.assign(state_->head.levels.size(), Level{});
  for (std::uint32_t depth = 1; depth <= levels_.size(); ++depth) {
    Level& level = levels_[depth - 1];
    level.domain_of.assign(hosts_.size(), kNoRow);
    for (std::uint32_t row = 0; row < row_count(); ++row) {
      const auto& at = hosts_[row]->facts.info.at;
      if (at.size() < depth) continue;
      const bool same = !level.domains.empty() && level.domains.back().after == row &&
                        std::equal(at.begin(), at.begin() + depth, hosts_[row - 1]->facts.info.at.begin());
      if (!same) {
        level.domains.push_back({row, row});
        level.sums.resize(level.domains.size() * columns_, 0);
        level.changed.resize(level.domains.size(), 0);
      }
      const std::size_t domain = level.domains.size() - 1;
      level.domains[domain].after = row + 1;
      level.domain_of[row] = static_cast<std::uint32_t>(domain);
      for (std::uint32_t column = 0; column < columns_; ++column) {
        auto& sum = level.sums[domain * columns_ + column];
        sum = saturating_plus(sum, free(row, column));
      }
    }
  }
}

CounterPlace CapacityView::place(std::string_view counter) const {
  const auto found = places_.find(counter);
  return found == places_.end() ? CounterPlace{} : found->second;
}

std::optional<std::uint32_t> CapacityView::depth_of(std::string_view level) const {
  if (level == "host") return kHostDepth;
  const auto& levels = state_->head.levels;
  const auto found = std::find(levels.begin(), levels.end(), level);
  if (found == levels.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - levels.begin()) + 1;
}

std::optional<Domain> CapacityView::find(std::string_view path, bool is_host_path) const {
  if (path.empty() || path == "/") return cluster();
  std::vector<std::string> pieces = split(path);
  std::string name;
  if (is_host_path) {
    name = std::move(pieces.back());
    pieces.pop_back();
  }
  const auto below = [&](const Host* host) { return compare(host->facts.info, pieces) < 0; };
  const auto inside = [&](const Host* host) { return compare(host->facts.info, pieces) <= 0; };
  const auto first = std::partition_point(hosts_.begin(), hosts_.end(), below);
  const auto after = std::partition_point(first, hosts_.end(), inside);
  const auto row = [&](auto place) { return static_cast<std::uint32_t>(place - hosts_.begin()); };
  if (!is_host_path) {
    if (first == after) return std::nullopt;
    return Domain{static_cast<std::uint32_t>(pieces.size()), {row(first), row(after)}};
  }
  for (auto host = first; host != after; ++host) {
    const HostInfo& info = (*host)->facts.info;
    if (info.at == pieces && info.name == name) return Domain{kHostDepth, {row(host), row(host) + 1}};
  }
  return std::nullopt;
}

std::vector<Domain> CapacityView::domains(std::uint32_t depth, const Domain& within) const {
  if (depth <= within.depth) {
    // A host may be in no domain of a level that is wider than itself.
    const bool named = depth == kHostDepth || depth <= hosts_[within.rows.first]->facts.info.at.size();
    return named ? std::vector<Domain>{within} : std::vector<Domain>{};
  }
  std::vector<Domain> found;
  if (depth == kHostDepth) {
    for (std::uint32_t row = within.rows.first; row < within.rows.after; ++row)
      found.push_back({depth, {row, row + 1}});
    return found;
  }
  const auto& all = levels_[depth - 1].domains;
  auto next = std::partition_point(all.begin(), all.end(),
                                   [&](const RowRange& rows) { return rows.first < within.rows.first; });
  for (; next != all.end() && next->after <= within.rows.after; ++next) found.push_back({depth, *next});
  return found;
}

std::string CapacityView::path(const Domain& domain) const {
  if (domain.depth == 0) return "/";
  const HostInfo& info = hosts_[domain.rows.first]->facts.info;
  return domain.depth == kHostDepth ? host_path(info) : domain_path(info.at, domain.depth);
}

std::int64_t CapacityView::sum(const Domain& domain, std::uint32_t column) const {
  if (domain.depth == 0) return total_[column];
  if (domain.rows.size() == 1) return free(domain.rows.first, column);
  if (domain.depth > levels_.size()) return kMost;
  const Level& level = levels_[domain.depth - 1];
  return level.sums[std::size_t{level.domain_of[domain.rows.first]} * columns_ + column];
}

std::uint32_t CapacityView::row_of(HostId host) const {
  const auto found = std::lower_bound(rows_.begin(), rows_.end(), std::pair{host, std::uint32_t{0}});
  return found != rows_.end() && found->first == host ? found->second : kNoRow;
}

// A sum that has reached the largest number says nothing exact, and stays.
void CapacityView::sums_changed(std::uint32_t row, std::uint32_t column, std::int64_t less) {
  if (total_[column] != kMost) total_[column] -= less;
  for (Level& level : levels_) {
    if (level.domain_of[row] == kNoRow) continue;
    auto& sum = level.sums[std::size_t{level.domain_of[row]} * columns_ + column];
    if (sum != kMost) sum -= less;
  }
}

void CapacityView::note_change(std::uint32_t row) {
  changes_.push_back(row);
  for (Level& level : levels_) {
    if (level.domain_of[row] != kNoRow) level.changed[level.domain_of[row]] = change_count();
  }
}

void CapacityView::subtract(std::uint32_t row, std::uint32_t column, std::int64_t amount) {
  const std::int64_t before = free(row, column);
  free_[std::size_t{row} * columns_ + column] -= amount;
  sums_changed(row, column, before - free(row, column));
  note_change(row);
}

void CapacityView::read_again(std::uint32_t row) {
  const Host& host = *hosts_[row];
  const auto now = [&](ResourceId id) {
    return at_or_zero(host.capacity, id) - (counts_use(follows_) ? at_or_zero(host.used, id) : 0);
  };
  bool differs = open_[row] != host.usable();
  for (const auto& [id, column] : column_of_)
    differs = differs || now(id) != free_[std::size_t{row} * columns_ + column];
  if (!differs) return;
  for (const auto& [id, column] : column_of_) sums_changed(row, column, free(row, column));
  open_[row] = host.usable();
  for (const auto& [id, column] : column_of_) {
    free_[std::size_t{row} * columns_ + column] = now(id);
    sums_changed(row, column, -free(row, column));
  }
  note_change(row);
}

bool CapacityView::shift(const GroupSpec& spec, RoleIndex role, std::span<const Slice> slices, int sign) {
  bool was_free = true;
  for (const Slice& slice : slices) {
    const std::uint32_t row = row_of(slice.host);
    for (const Counter& request : spec.roles.at(role).tasks.at(slice.term).requests) {
      if (request.amount <= 0) continue;
      const CounterPlace where = place(request.name);
      const std::int64_t total = sign * saturating_times(request.amount, slice.count);
      if (where.kind == CounterPlace::Kind::Pool) {
        was_free = was_free && total <= pools_[where.column];
        pools_[where.column] -= total;
      } else if (where.kind == CounterPlace::Kind::Host && row != kNoRow) {
        was_free = was_free && total <= free(row, where.column);
        subtract(row, where.column, total);
      } else {
        was_free = false;
      }
    }
  }
  return was_free;
}

std::vector<Piece> CapacityView::take_free(const GroupSpec& spec, RoleIndex role, std::span<const Slice> slices) {
  std::vector<Piece> taken;
  for (const Slice& slice : slices) {
    const std::uint32_t row = row_of(slice.host);
    for (const Counter& request : spec.roles.at(role).tasks.at(slice.term).requests) {
      const CounterPlace where = place(request.name);
      const bool pool = where.kind == CounterPlace::Kind::Pool;
      if (!pool && (where.kind == CounterPlace::Kind::Nowhere || row == kNoRow)) continue;
      const std::int64_t wanted = saturating_times(std::max<std::int64_t>(0, request.amount), slice.count);
      const std::int64_t amount = std::min(wanted, pool ? pool_free(where.column) : free(row, where.column));
      if (amount <= 0) continue;
      taken.push_back({pool ? kNoRow : row, where.column, amount});
      take(std::span(&taken.back(), 1));
    }
  }
  return taken;
}

void CapacityView::shift(std::span<const Piece> pieces, int sign) {
  for (const Piece& piece : pieces) {
    if (piece.row == kNoRow)
      pools_[piece.column] -= sign * piece.amount;
    else
      subtract(piece.row, piece.column, sign * piece.amount);
  }
}

void CapacityView::take(const GroupSpec& spec, std::span<const MemberPlacement> members,
                        std::span<const SparePlacement> spares) {
  bool fits = true;
  for (const MemberPlacement& member : members) fits = take(spec, member.member.role, member.slices) && fits;
  for (const SparePlacement& spare : spares) fits = take(spec, spare.role, spare.slices) && fits;
  LOCKSTEP_CHECK(fits, "a placement takes more than is free");
}

}  // namespace lockstep
