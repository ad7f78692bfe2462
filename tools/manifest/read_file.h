#pragma once
// Files that people name: one that is not there is NotFound, a folder and a file that is larger than a limit
// InvalidInput, one that the system does not let us read StorageFailed; all of them name the path.

#include <string>
#include <string_view>

#include "events/error.h"

namespace lockstep {

// "-" is standard input.
[[nodiscard]] Result<std::string> read_named_file(const std::string& path, std::size_t bytes_max);
// InvalidInput, with the line, when it is not UTF-8, as manifests and scenarios are in whole.
[[nodiscard]] Result<void> check_utf8(const std::string& path, std::string_view text);

}  // namespace lockstep
