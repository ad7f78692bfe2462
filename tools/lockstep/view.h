#pragma once
// The state as JSON, in the names of DESIGN.md section 7: what `-o json` prints, what the socket answers, and what the
// text tables are made from. Every key is always there; what is not known or does not apply is null. Amounts are in the
// unit of manifests (cpu in cores), times are RFC 3339 in UTC with nanoseconds, blockers are group names.

#include <optional>

#include "replay/recovery.h"
#include "snapshot/snapshot.h"
#include "statemachine/state.h"
#include "tools/lockstep/json.h"

namespace lockstep::cli {

enum class Members { Show, Hide };

// In the unit of manifests.
[[nodiscard]] Json amount_json(std::int64_t amount, std::string_view counter);

[[nodiscard]] Json group_json(const State& state, const Group& group, Members members);
[[nodiscard]] Json groups_json(const State& state, Members members);     // by id
[[nodiscard]] Json reason_json(const State& state, const Group& group);  // null when nothing is waited for
[[nodiscard]] Json why_json(const State& state, const Group& group);
// `groups` are all that hold something there, `reserved` those of them that hold it for a reservation.
[[nodiscard]] Json host_json(const State& state, const Host& host);
[[nodiscard]] Json hosts_json(const State& state);
[[nodiscard]] Json claims_json(const State& state);  // standalone ones first, then by group
[[nodiscard]] Json state_json(const State& state);
[[nodiscard]] Json snapshot_json(const SnapshotInfo& info);

// The group that `key` names: `#7`, `name#7`, `g#7` as messages write it, the latest group of that name, or an id
// written in digits.
[[nodiscard]] const Group* find_group(const State& state, std::string_view key);
// The id in `#7`, `name#7` or `7`.
[[nodiscard]] std::optional<GroupId> group_id_in(std::string_view key);

}  // namespace lockstep::cli
