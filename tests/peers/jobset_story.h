#pragma once
// JobSets in the words of Lockstep, for both of their tables. A Job is a member, a replicatedJob a role. The reason of
// which a Job fails stands as an exit code of its own, so that a rule that names reasons names exit codes.

#include "tests/peers/peer.h"

namespace lockstep {

std::string role_name(std::string name);  // names of roles are in small letters
int exit_code_of(std::string_view reason);
// `action: ..., charge: ...` of one of JobSet's actions; restarting a Job restarts its member.
std::string action_text(std::string_view action);
// The filters of a rule, each followed by a comma; what a rule of Lockstep does not look at goes to the story.
std::string filter_text(const Json& rule, Story& story);

}  // namespace lockstep
