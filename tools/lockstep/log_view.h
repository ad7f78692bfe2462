#pragma once
// What can be read off a log: one group's history, single events, counts.

#include <functional>
#include <vector>

#include "events/log/log.h"
#include "statemachine/state.h"
#include "tools/lockstep/json.h"
#include "tools/lockstep/names.h"
#include "tools/lockstep/outcome.h"

namespace lockstep::cli {

// Every event of the log from `from` on, in order, until the visitor says No.
using VisitEvent = std::function<Result<Continue>(const Event&)>;
[[nodiscard]] Result<void> for_each_event(const Log& log, Seq from, const VisitEvent& visit);

// The events of a group, oldest first, found by walking back from its `last`; a trimmed log ends the walk.
[[nodiscard]] Result<std::vector<Event>> walk_back(const Log& log, Seq last);

// Of the group that `key` names; a purged one is looked for from the front of the log.
[[nodiscard]] Result<std::vector<Event>> group_history(const Log& log, const State& state, std::string_view key);

// {seq prev cause time actor group event text facts}
[[nodiscard]] Json event_json(const Event& event, const Names& names);

// {first seq epoch hash records events bytes time kinds{}}: reads the whole log.
[[nodiscard]] Result<Json> log_stat(const Log& log);

}  // namespace lockstep::cli
