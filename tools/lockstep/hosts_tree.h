#pragma once
// The domains of a cluster as a tree, with what each has and what of it is free. It is made from the hosts as
// `hosts -o json` gives them, so that a controller that runs and a store that is only read show the same. A domain is
// its whole path: `r1` in two blocks is two domains. Capacity is that of all hosts; free is what could be placed on,
// so hosts that are down or drained have none.

#include <cstdint>
#include <string>

#include "tools/lockstep/json.h"

namespace lockstep::cli {

// Plain: two spaces a level, for programs. Terminal: branches, and a bar of the counter that is scarcest.
enum class Draw : std::uint8_t { Plain, Terminal };

// Whether any host has a place.
[[nodiscard]] bool has_domains(const Json& hosts);
// The root "/", in the form of all: {name path hostCount down drained capacity{} free{} hosts[] domains[]}; `hosts` are
// the names of those that stand in it and in none of its domains, `drained` counts those that are not down.
[[nodiscard]] Json domains_json(const Json& hosts);
[[nodiscard]] std::string domains_text(const Json& hosts, Draw draw);

}  // namespace lockstep::cli
