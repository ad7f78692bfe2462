#pragma once
// Files that people name on the command line: "-" is standard input, and nothing larger than a limit is read.

#include <string>

#include "tools/lockstep/outcome.h"

namespace lockstep::cli {

[[nodiscard]] Outcome<std::string> read_file(const std::string& path, std::size_t bytes_max);

}  // namespace lockstep::cli
