#pragma once
// JSON with its keys in the order they were written.

#include <nlohmann/json_fwd.hpp>

namespace lockstep::cli {
using Json = nlohmann::ordered_json;
}
