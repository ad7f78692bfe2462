#include "scheduler/partial.h"

namespace lockstep::scheduler_detail {

namespace {

// Work (Fit::work) for one group's optional members in a pass: some tenths of a second on a machine of 2024.
constexpr std::uint64_t kRefineWorkMax = 200'000;

}  // namespace

Fit as_many_as_fit(const CapacityView& view, const GroupSpec& spec, std::vector<RoleDemand> least,
                   const std::vector<RoleDemand>& wanted, std::string_view inside, Joining joining, Fit best) {
  std::uint64_t work = 0;
  for (std::size_t i = 0; i < wanted.size() && work < kRefineWorkMax; ++i) {
    std::size_t fits = least[i].indexes.size();
    std::size_t fails = wanted[i].indexes.size() + 1;
    while (fails - fits > 1 && work < kRefineWorkMax) {
      // All of them first: where another role was short, this one need not be.
      const bool first = fails == wanted[i].indexes.size() + 1;
      const std::size_t count = first ? wanted[i].indexes.size() : fits + (fails - fits) / 2;
      least[i].indexes.assign(wanted[i].indexes.begin(),
                              wanted[i].indexes.begin() + static_cast<std::ptrdiff_t>(count));
      Fit found = best_fit(view, spec, least, inside, joining);
      work += found.work + 1;
      (found.fits ? fits : fails) = count;
      if (found.fits) best = std::move(found);
    }
    least[i].indexes.assign(wanted[i].indexes.begin(), wanted[i].indexes.begin() + static_cast<std::ptrdiff_t>(fits));
  }
  return best;
}

Fit as_many_as_fit(const CapacityView& view, const GroupSpec& spec, const std::vector<RoleDemand>& wanted,
                   std::string_view inside) {
  std::vector<RoleDemand> nobody = wanted;
  for (RoleDemand& each : nobody) each.indexes.clear();
  return as_many_as_fit(view, spec, std::move(nobody), wanted, inside, Joining::Yes, {});
}

}  // namespace lockstep::scheduler_detail
