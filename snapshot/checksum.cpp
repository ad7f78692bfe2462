#include "snapshot/checksum.h"

#include <xxhash.h>

#include "events/error.h"

namespace lockstep {

std::uint64_t checksum(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct Checksum::State {
  XXH3_state_t* xxh = XXH3_createState();
};

void Checksum::Free::operator()(State* state) const {
  XXH3_freeState(state->xxh);
  delete state;
}

Checksum::Checksum() : state_(new State) {
  LOCKSTEP_CHECK(state_->xxh != nullptr && XXH3_64bits_reset(state_->xxh) == XXH_OK, "no memory for a checksum");
}

void Checksum::add(std::span<const std::byte> bytes) { XXH3_64bits_update(state_->xxh, bytes.data(), bytes.size()); }

std::uint64_t Checksum::value() const { return XXH3_64bits_digest(state_->xxh); }

}  // namespace lockstep
