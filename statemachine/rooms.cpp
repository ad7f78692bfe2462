#include "statemachine/rooms.h"

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::int64_t kRoomMax = std::int64_t{1} << 40U;  // of a host: sums over a million of them stay exact

}  // namespace

Rooms::Rooms(const CapacityView& view, RoomKey key) : key_(std::move(key)) {
  eligible_.resize(view.row_count());
  for (std::uint32_t row = 0; row < view.row_count(); ++row) {
    eligible_[row] = matches(key_.select, view.host(row).facts.info);
  }
  read_all(view);
}

std::int64_t Rooms::read(const CapacityView& view, std::uint32_t row) const {
  if (!eligible_[row]) return 0;
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
  if (view.change_count() - seen_ > view.row_count() / 4 + 16) {
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

}  // namespace lockstep
