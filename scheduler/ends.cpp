#include "scheduler/ends.h"

#include <algorithm>
#include <iterator>

namespace lockstep::scheduler_detail {

namespace {

std::vector<Ending> endings(const State& state, Time now) {
  std::vector<Ending> found;
  state.groups.for_each([&](const Group& group) {
    const bool runs = is_active(group.head.phase) && group.spec->run_limit.value > 0;
    if (!runs) return;
    Time started{};
    for (const Role& role : group.roles) {
      for (const Member& member : role.members) {
        if (member.started_at && (!started || member.started_at < started)) started = member.started_at;
      }
    }
    const Time end = (started ? started : now) + group.spec->run_limit;
    if (end > now) found.push_back({end, group.head.id, staying(group)});
  });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

void Ends::placed(const Group& group, const PlaceAction& action) {
  if (group.spec->run_limit.value <= 0) return;
  Ending ending{now_ + group.spec->run_limit, group.head.id, {}};
  for (const MemberPlacement& each : action.members)
    ending.holdings.push_back({group.spec.get(), each.member.role, &each.slices});
  for (const SparePlacement& each : action.spares)
    ending.holdings.push_back({group.spec.get(), each.role, &each.slices});
  placed_.push_back(std::move(ending));
}

const std::vector<Ending>& Ends::in_order() {
  if (!ends_) ends_ = endings(state_, now_);
  if (!evicted_.empty()) std::erase_if(*ends_, [&](const Ending& each) { return evicted_.contains(each.group); });
  if (!placed_.empty()) {
    std::move(placed_.begin(), placed_.end(), std::back_inserter(*ends_));
    placed_.clear();
    std::sort(ends_->begin(), ends_->end());
  }
  return *ends_;
}

}  // namespace lockstep::scheduler_detail
