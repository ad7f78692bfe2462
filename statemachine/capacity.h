#pragma once
// Free capacity of the cluster as one question, or one scheduling pass, sees it: the hosts that count in path order, a
// row of counters each, sums per domain, and the shared pools. Built once from a state; take() lets later questions see
// what earlier answers use, so that what-if needs no copy of the state.
//
// Path order is that of the pieces of `at`, bytewise, then of the host's name. All hosts of a domain follow each other
// in it, so a domain is a range of rows. Nothing here depends on host ids or on the order in which hosts were added.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/spec.h"
#include "statemachine/fit.h"
#include "statemachine/state.h"

namespace lockstep {

struct RowRange {  // rows [first, after)
  std::uint32_t first{};
  std::uint32_t after{};
  [[nodiscard]] std::uint32_t size() const { return after - first; }
  [[nodiscard]] bool contains(const RowRange& other) const { return first <= other.first && other.after <= after; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

inline constexpr std::uint32_t kHostDepth = 0xffffffffU;  // the level `host`, below all others
inline constexpr std::uint32_t kNoRow = 0xffffffffU;

struct Domain {
  std::uint32_t depth{};  // pieces of its path; 0 = the whole cluster, kHostDepth = one host
  RowRange rows{};
  friend bool operator==(const Domain&, const Domain&) = default;
};

// Where the amounts of a counter are kept.
struct CounterPlace {
  enum class Kind : std::uint8_t { Nowhere, Host, Pool };  // Nowhere: no host that counts has it
  Kind kind{Kind::Nowhere};
  std::uint32_t column{};  // of Host or Pool
};

// An amount of one counter of a host, or of a pool (kNoRow).
struct Piece {
  std::uint32_t row{};
  std::uint32_t column{};
  std::int64_t amount{};
};

class FitCache;  // statemachine/fit_cache.h

// What has been found out about one view; a copy of the view begins with nothing.
class FoundOut {
 public:
  FoundOut();
  ~FoundOut();
  FoundOut(const FoundOut&);
  FoundOut(FoundOut&&) noexcept;
  FoundOut& operator=(FoundOut&&) noexcept;
  [[nodiscard]] FitCache& operator*() const { return *cache_; }

 private:
  std::unique_ptr<FitCache> cache_;
};

// Items that are alike as far as room for them goes.
struct RoomKey {
  std::vector<std::pair<std::uint32_t, std::int64_t>> size;  // column of the view, amount of one item
  std::vector<KeyValue> select;
  std::int64_t host_max{};  // at most so many on one host
  friend auto operator<=>(const RoomKey&, const RoomKey&) = default;
};

class CapacityView {
 public:
  // `state` must outlive the view and stay as it is.
  CapacityView(const State& state, Capacity capacity);

  // What every host has, Free or Up, those that are down or drained as hosts with nothing: for one that follows its
  // state.
  [[nodiscard]] static CapacityView following(const State& state, Capacity capacity = Capacity::Free);
  // As if made anew, whatever was taken and given since, and whatever happened in the state, which must be the same
  // one.
  void follow();

  // As if there were no hosts but these rows (ascending) of this view.
  [[nodiscard]] CapacityView restricted_to(std::span<const std::uint32_t> rows) const;

  [[nodiscard]] std::uint32_t row_count() const { return static_cast<std::uint32_t>(hosts_.size()); }
  [[nodiscard]] const Host& host(std::uint32_t row) const { return *hosts_[row]; }
  [[nodiscard]] CounterPlace place(std::string_view counter) const;
  // Can anything be placed there at all?
  [[nodiscard]] bool open(std::uint32_t row) const { return open_[row]; }
  [[nodiscard]] std::int64_t free(std::uint32_t row, std::uint32_t column) const {
    return open_[row] ? std::max<std::int64_t>(0, free_[std::size_t{row} * columns_ + column]) : 0;
  }
  [[nodiscard]] std::int64_t pool_free(std::uint32_t pool) const { return std::max<std::int64_t>(0, pools_[pool]); }
  [[nodiscard]] std::uint32_t pool_count() const { return static_cast<std::uint32_t>(pools_.size()); }
  // The same of a host (or, with kNoRow, of a pool), below zero where more is taken than there is.
  [[nodiscard]] std::int64_t balance(std::uint32_t row, std::uint32_t column) const {
    return row == kNoRow ? pools_[column] : free_[std::size_t{row} * columns_ + column];
  }

  [[nodiscard]] Domain cluster() const { return Domain{0, {0, row_count()}}; }
  // Depth of a level by name; `host` is kHostDepth. Nothing for an unknown name.
  [[nodiscard]] std::optional<std::uint32_t> depth_of(std::string_view level) const;
  [[nodiscard]] std::uint32_t depth_above(std::uint32_t depth) const {
    return depth == kHostDepth ? level_count() : depth - 1;
  }
  [[nodiscard]] std::string_view level_name(std::uint32_t depth) const {
    return depth == kHostDepth ? std::string_view("host") : state_->head.levels[depth - 1];
  }
  [[nodiscard]] std::uint32_t row_of(HostId host) const;  // kNoRow: a host that does not count
  // The domain of a stored path; `host_path`: its last piece is a host's name. Nothing when no host that counts is in
  // it.
  [[nodiscard]] std::optional<Domain> find(std::string_view path, bool host_path) const;
  // Domains of one level inside `within`, in path order; `within` itself where that level is as wide as it, or wider
  // (nothing if it is in no domain of that level).
  [[nodiscard]] std::vector<Domain> domains(std::uint32_t depth, const Domain& within) const;
  [[nodiscard]] std::string path(const Domain& domain) const;
  // Never less than what is free there; exact for the cluster, the domains of the levels, and hosts.
  [[nodiscard]] std::int64_t sum(const Domain& domain, std::uint32_t column) const;

  // Domains of levels by number, in path order; kNoRow: the row is in none of that level. depth: 1 to level_count().
  [[nodiscard]] std::uint32_t level_count() const { return static_cast<std::uint32_t>(levels_.size()); }
  [[nodiscard]] std::uint32_t domain_count(std::uint32_t depth) const {
    return static_cast<std::uint32_t>(levels_[depth - 1].domains.size());
  }
  [[nodiscard]] std::uint32_t domain_index(std::uint32_t depth, std::uint32_t row) const {
    return levels_[depth - 1].domain_of[row];
  }
  [[nodiscard]] Domain domain_at(std::uint32_t depth, std::uint32_t index) const {
    return {depth, levels_[depth - 1].domains[index]};
  }
  // Columns in the order of their counters' names.
  [[nodiscard]] const std::vector<std::uint32_t>& columns_by_name() const { return columns_by_name_; }

  // What has been found out about this view.
  [[nodiscard]] FitCache& cache() const { return *cache_; }
  // Rows that changed, one after the other: numbers from changes_begin() to change_count() are still known.
  [[nodiscard]] std::uint64_t changes_begin() const { return changes_begin_; }
  [[nodiscard]] std::uint64_t change_count() const { return changes_begin_ + changes_.size(); }
  [[nodiscard]] std::uint32_t changed_row(std::uint64_t change) const { return changes_[change - changes_begin_]; }
  // change_count() after the last change inside a domain.
  [[nodiscard]] std::uint64_t last_change(std::uint32_t depth, std::uint32_t index) const {
    return levels_[depth - 1].changed[index];
  }

  // Uses up what a placement takes. It must fit.
  void take(const GroupSpec& spec, std::span<const MemberPlacement> members, std::span<const SparePlacement> spares);
  // Takes what `slices` of a member of `role` stand for, or gives it back; on hosts that do not count nothing changes.
  // True when all of it was free.
  bool take(const GroupSpec& spec, RoleIndex role, std::span<const Slice> slices) {
    return shift(spec, role, slices, 1);
  }
  void give(const GroupSpec& spec, RoleIndex role, std::span<const Slice> slices) { shift(spec, role, slices, -1); }
  // Of what `slices` stand for, what is free; it is taken.
  [[nodiscard]] std::vector<Piece> take_free(const GroupSpec& spec, RoleIndex role, std::span<const Slice> slices);
  void take(std::span<const Piece> pieces) { shift(pieces, 1); }
  void give(std::span<const Piece> pieces) { shift(pieces, -1); }

 private:
  struct Level {
    std::vector<RowRange> domains;         // in path order
    std::vector<std::uint32_t> domain_of;  // by row; kNoRow: in no domain of this level
    std::vector<std::int64_t> sums;        // [domain][column]
    std::vector<std::uint64_t> changed;    // [domain]
  };

  explicit CapacityView(const State& state) : state_(&state) {}
  void collect_hosts(Capacity capacity);
  void number_rows();
  void sum_up();
  void collect_columns();
  void collect_free(Capacity capacity);
  void collect_pools(Capacity capacity);
  void read_again(std::uint32_t row);
  void sums_changed(std::uint32_t row, std::uint32_t column, std::int64_t less);
  void note_change(std::uint32_t row);
  bool shift(const GroupSpec& spec, RoleIndex role, std::span<const Slice> slices, int sign);
  void shift(std::span<const Piece> pieces, int sign);
  void subtract(std::uint32_t row, std::uint32_t column, std::int64_t amount);

  const State* state_;
  std::vector<const Host*> hosts_;                      // by row
  std::vector<std::pair<HostId, std::uint32_t>> rows_;  // sorted by id
  std::uint32_t columns_ = 0;
  std::map<std::string, CounterPlace, std::less<>> places_;
  std::vector<std::pair<ResourceId, std::uint32_t>> column_of_;  // counters of hosts
  std::vector<std::int64_t> free_;   // [row][column]; negative where more is held than there is
  std::vector<std::int64_t> pools_;  // by column of the pool
  std::vector<std::int64_t> total_;  // by column
  std::vector<Level> levels_;        // widest first: depth less one
  std::vector<std::uint32_t> columns_by_name_;
  std::vector<bool> open_;              // by row
  std::vector<std::uint32_t> changes_;  // rows
  std::uint64_t changes_begin_ = 0;
  std::uint64_t followed_ = 0;        // changes up to here came from the state, later ones were tried
  Capacity follows_{Capacity::Free};  // what follow() reads again
  HostJournal::Position position_{};  // of the state's journal
  FoundOut cache_;
};

// "b1/r1/n1": where `required: host` promises a host.
[[nodiscard]] std::string host_path(const HostInfo& host);
// True when the host's attributes are those of `select`; `name` and `hostname` also mean the host's own name where it
// has no such attribute.
[[nodiscard]] bool matches(const std::vector<KeyValue>& select, const HostInfo& host);
// Is the host in the domain promised to a group of this spec ("/" or empty: the whole cluster)?
[[nodiscard]] bool in_promised_domain(const GroupSpec& spec, std::string_view domain, const HostInfo& host);

// Counts and quantities of a million members multiply past 64 bits; they stop at the largest number instead.
[[nodiscard]] std::int64_t saturating_times(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t saturating_plus(std::int64_t a, std::int64_t b);

// fit() on a view already made. `shortage` is computed only on request: it costs more than the answer itself.
enum class Explain : std::uint8_t { No, Yes };
// The answer of fit_in() without a placement.
[[nodiscard]] bool fits_in(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                           std::string_view inside);
// Where fit_in() says that it fits, the best placement (SCHEDULING.md, Topology). Joining::Yes: of members that join
// those that the group has; the `preferred` of roles does not bind them.
enum class Joining : std::uint8_t { No, Yes };
[[nodiscard]] Fit best_fit(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                           std::string_view inside, Joining joining);
[[nodiscard]] Fit fit_in(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& demand,
                         Require require, std::string_view inside, Explain explain);

}  // namespace lockstep
