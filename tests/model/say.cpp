#include "tests/model/say.h"

#include <array>
#include <string_view>

namespace lockstep::model {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<CommandBody>> kCommandNames{
    "DefineGroup",  "GroupCommand", "ResizeGroup", "SetHost",     "HostCommand",     "SetPool",     "SetLevels",
    "ReportMember", "ReportClaim",  "ApplyPlan",   "AdvanceTime", "StartController", "RecordDigest"};
constexpr std::array<std::string_view, std::variant_size_v<PlanAction>> kActionNames{"Place",   "Replace", "Grow",
                                                                                     "Reserve", "Release", "Evict"};

}  // namespace

std::string say_command(const Command& command) {
  std::string text = std::to_string(command.time.value) + " " + std::string(kCommandNames[command.body.index()]) + " ";
  if (const auto* apply = std::get_if<ApplyPlan>(&command.body)) {
    text += "made_for=" + say(apply->plan.made_for);
    for (const PlanAction& action : apply->plan.actions) {
      text += " " + std::string(kActionNames[action.index()]);
      text += std::visit([](const auto& one) { return say(one); }, action);
    }
    return text;
  }
  std::visit(
      [&](const auto& body) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(body)>, ApplyPlan>) text += say(body);
      },
      command.body);
  return text;
}

std::string say_event(const Event& event) {
  std::string text = std::string(name(kind(event))) + " at " + say(event.time) + " g#" + say(event.group) + " ";
  if (kind(event) == EventKind::GroupDefined) return text;
  return text + std::visit([](const auto& body) { return say(body); }, event.body);
}

}  // namespace lockstep::model
