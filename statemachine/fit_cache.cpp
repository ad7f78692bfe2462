#include "statemachine/fit_cache.h"

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::int64_t kRoomMax = std::int64_t{1} << 40U;  // of a host: sums over a million of them stay exact
constexpr std::size_t kRoomsKeptMax = 256;                 // sizes; 8 bytes a host each
constexpr std::size_t kChoicesKeptMax = 16;                // sizes and numbers; some 200 bytes a domain each

}  // namespace

Rooms::Rooms(const CapacityView& view, RoomKey key) : key_(std::move(key)) {
  eligible_.resize(view.row_count());
  for (std::uint32_t row = 0; row < view.row_count(); ++row) {
    eligible_[row] = matches(key_.select, view.host(row).facts.info);
  }
  read_all(view);
}

std::int64_t Rooms::read(const CapacityView& view, std::uint32_t row) const {
  if (!eligible_[row] || !view.open(row)) return 0;
  std::int64_t room = std::min(key_.host_max, kRoomMax);
  for (const auto& [column, amount] : key_.size) room = std::min(room, view.free(row, column) / amount);
  return room;
}

void Rooms::read_all(const CapacityView& view) {
  room_.assign(view.row_count(), 0);
  total_ = 0;
  sums_.clear();
  for (std::uint32_t depth = 1; depth <= view.level_count(); ++depth) {
    sums_.emplace_back(view.domain_count(depth), std::int64_t{0});
  }
  for (std::uint32_t row = 0; row < view.row_count(); ++row) set(view, row, read(view, row));
  seen_ = view.change_count();
}

void Rooms::set(const CapacityView& view, std::uint32_t row, std::int64_t room) {
  const std::int64_t more = room - room_[row];
  if (more == 0) return;
  room_[row] = room;
  total_ += more;
  for (std::uint32_t depth = 1; depth <= sums_.size(); ++depth) {
    const std::uint32_t domain = view.domain_index(depth, row);
    if (domain != kNoRow) sums_[depth - 1][domain] += more;
  }
}

void Rooms::refresh(const CapacityView& view) {
  if (seen_ < view.changes_begin() || view.change_count() - seen_ > view.row_count()) {
    read_all(view);
    return;
  }
  for (; seen_ < view.change_count(); ++seen_) {
    const std::uint32_t row = view.changed_row(seen_);
    set(view, row, read(view, row));
  }
}

std::int64_t Rooms::in(const CapacityView& view, const Domain& domain) const {
  if (domain.depth == 0) return total_;
  if (domain.rows.size() == 1) return room_[domain.rows.first];
  return sums_[domain.depth - 1][view.domain_index(domain.depth, domain.rows.first)];
}

const HostChoice* ChoicesKept::find(const CapacityView& view, const Domain& domain) const {
  if (domain.depth == 0 || domain.depth > kept_.size()) return nullptr;
  const auto& level = kept_[domain.depth - 1];
  if (level.empty()) return nullptr;
  const std::uint32_t index = view.domain_index(domain.depth, domain.rows.first);
  if (!level[index] || level[index]->seen < view.last_change(domain.depth, index)) return nullptr;
  return &level[index]->choice;
}

const HostChoice& ChoicesKept::keep(const CapacityView& view, const Domain& domain, HostChoice choice) {
  if (kept_.empty()) kept_.resize(view.level_count());
  auto& level = kept_[domain.depth - 1];
  if (level.empty()) level.resize(view.domain_count(domain.depth));
  auto& place = level[view.domain_index(domain.depth, domain.rows.first)];
  place = std::make_unique<Kept>(Kept{view.change_count(), std::move(choice)});
  return place->choice;
}

std::shared_ptr<const Rooms> FitCache::rooms(const CapacityView& view, const RoomKey& key) {
  const auto found = rooms_.find(key);
  if (found != rooms_.end()) {
    found->second->refresh(view);
    return found->second;
  }
  if (rooms_.size() == kRoomsKeptMax) rooms_.clear();
  return rooms_.emplace(key, std::make_shared<Rooms>(view, key)).first->second;
}

std::shared_ptr<ChoicesKept> FitCache::choices(const RoomKey& key, std::int64_t items) {
  const auto found = choices_.find({key, items});
  if (found != choices_.end()) return found->second;
  if (choices_.size() == kChoicesKeptMax) choices_.clear();
  return choices_.emplace(std::pair{key, items}, std::make_shared<ChoicesKept>()).first->second;
}

}  // namespace lockstep
