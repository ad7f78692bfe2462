#pragma once
// The names and types of every field that a snapshot holds, as text, and a number made of it. A file whose number is
// not ours was written with other fields: its bytes would be read as something they are not. The text stands in the
// file, so that a person, or a later release, can still tell what is what.
//
//     Pool str (total:i64)           one line per table: its name, the key, the entity
//     bool u8 i32 str                numbers by width (enums and ids as their number), strings
//     [T]  {K:V}  (name:T,...)       vectors, maps, structs

#include <cstdint>
#include <string>

namespace lockstep {

[[nodiscard]] const std::string& snapshot_layout();
[[nodiscard]] std::uint64_t snapshot_fingerprint();  // XXH3-64 of the text

}  // namespace lockstep
