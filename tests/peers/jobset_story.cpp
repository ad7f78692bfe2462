#include "tests/peers/jobset_story.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace lockstep {

std::string role_name(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return name;
}

int exit_code_of(std::string_view reason) {
  static constexpr std::array<std::string_view, 6> kReasons{
      "", "BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"};
  const auto* found = std::ranges::find(kReasons, reason);
  if (found == kReasons.end()) throw std::invalid_argument("no reason of JobSet: " + std::string(reason));
  return 10 + static_cast<int>(found - kReasons.begin());
}

std::string action_text(std::string_view action) {
  static constexpr std::string_view kUncharged = "AndIgnoreMaxRestarts";
  const bool charge = !action.ends_with(kUncharged);
  if (!charge) action.remove_suffix(kUncharged.size());
  if (action == "FailJobSet") return "action: failGroup";
  const std::string ours = action == "RestartJob" ? "restartMember" : "restartGroup";
  return "action: " + ours + (charge ? "" : ", charge: false");
}

std::string filter_text(const Json& rule, Story& story) {
  std::string roles;
  for (const Json& job : at(rule, "TargetReplicatedJobs")) {
    roles += (roles.empty() ? "" : ", ") + role_name(job.get<std::string>());
  }
  std::string codes;
  for (const Json& reason : at(rule, "OnJobFailureReasons")) {
    codes += (codes.empty() ? "" : ", ") + std::to_string(exit_code_of(reason.get<std::string>()));
  }
  if (!at(rule, "OnJobFailureMessagePatterns").empty()) story.cannot_say("a rule about the text of a message");
  return (roles.empty() ? "" : "roles: [" + roles + "], ") + (codes.empty() ? "" : "exitCodes: [" + codes + "], ");
}

}  // namespace lockstep
