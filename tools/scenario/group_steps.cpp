// Defining groups, and the verbs on them.

#include <fmt/format.h>

#include "tools/manifest/manifest.h"
#include "tools/scenario/run.h"

namespace lockstep::scenario {
namespace {

constexpr std::string_view kUser = "scenario";  // the caller, where a manifest names nobody

Refusal unknown_group(const GroupRef& group) {
  return refuse(AnswerCode::UnknownGroup, fmt::format("there never was a group {}", to_string(group)));
}

std::string all_problems(const std::vector<lockstep::Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) {
    if (!text.empty()) text += "; ";
    text += problem.path.empty() ? problem.text : fmt::format("{}: {}", problem.path, problem.text);
  }
  return text;
}

}  // namespace

Outcome run_step(Run& run, const DefineStep& step) {
  const ManifestResult manifest = read_manifest(step.text, kUser);
  if (!manifest.problems.empty()) return refuse(AnswerCode::InvalidManifest, all_problems(manifest.problems));
  for (const DefineGroup& group : manifest.groups) {
    const auto defined = run.world.execute(Actor::User, group);
    LOCKSTEP_TRY(defined);
    if (is_rejection(defined->code)) return refuse(defined->code, defined->text);
    if (step.submit == Submit::No || !group.hold) continue;
    const auto submitted = send(run, Actor::User, GroupCommand{GroupVerb::Submit, defined->group});
    LOCKSTEP_TRY(submitted);
    if (submitted->refused()) return submitted;
  }
  return Refusal{};
}

Outcome run_step(Run& run, const GroupStep& step) {
  const GroupId group = resolve(run.world, step.group);
  if (!group) return unknown_group(step.group);
  return send(run, Actor::User, GroupCommand{step.verb, group});
}

Outcome run_step(Run& run, const ResizeStep& step) {
  const GroupId group = resolve(run.world, step.group);
  if (!group) return unknown_group(step.group);
  const auto role = run.world.book().role(group, step.role);
  if (!role) {
    return refuse(AnswerCode::UnknownRole, fmt::format("group {} has no role {}", to_string(step.group), step.role));
  }
  return send(run, Actor::User, ResizeGroup{group, *role, step.replicas});
}

}  // namespace lockstep::scenario
