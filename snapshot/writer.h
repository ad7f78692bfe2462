#pragma once
// A state into the bytes of a snapshot file, chunk by chunk: memory is that of one chunk, whatever the state's size.

#include <string>

#include "snapshot/file.h"
#include "snapshot/format.h"

namespace lockstep {

// Everything up to the footer, not synced. The state must not change meanwhile, its kept digest must be that of its
// facts and head.seq its seq (else we are wrong, and the process stops before a wrong state has a name).
[[nodiscard]] Result<void> write_snapshot(FileWriter& file, const State& state, const Head& head,
                                          const std::string& store_id);

}  // namespace lockstep
