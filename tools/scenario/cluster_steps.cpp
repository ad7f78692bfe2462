// Hosts, pools, levels, inventories.

#include <fmt/format.h>

#include "tools/scenario/run.h"
#include "tools/topology/inventory_files.h"

namespace lockstep::scenario {

Refusal refuse(AnswerCode code, std::string text) { return Refusal{code, std::move(text), false}; }

Outcome send(Run& run, Actor actor, std::vector<CommandBody> bodies) {
  std::vector<Command> commands;
  commands.reserve(bodies.size());
  for (CommandBody& body : bodies) {
    Command& command = commands.emplace_back();
    command.actor = actor;
    command.body = std::move(body);
  }
  const auto answers = run.world.execute(std::move(commands));
  LOCKSTEP_TRY(answers);
  for (const Answer& answer : *answers) {
    if (is_rejection(answer.code)) return refuse(answer.code, answer.text);
  }
  return Refusal{};
}

Outcome send(Run& run, Actor actor, CommandBody body) {
  return send(run, actor, std::vector<CommandBody>{std::move(body)});
}

Outcome run_step(Run& run, const LevelsStep& step) { return send(run, Actor::User, SetLevels{step.levels}); }

Outcome run_step(Run& run, const HostStep& step) {
  return send(run, Actor::User, std::vector<CommandBody>(step.hosts.begin(), step.hosts.end()));
}

Outcome run_step(Run& run, const PoolStep& step) { return send(run, Actor::User, SetPool{step.name, step.total}); }

Outcome run_step(Run& run, const HostVerbStep& step) {
  std::vector<CommandBody> bodies;
  for (const auto& host : step.hosts) bodies.emplace_back(HostCommand{step.verb, host});
  return send(run, Actor::User, std::move(bodies));
}

Outcome run_step(Run& run, const InventoryStep& step) {
  const InventoryResult inventory = read_inventory_files(step.files);
  if (!inventory.problems.empty()) {
    const Problem& first = inventory.problems.front();
    return refuse(AnswerCode::InvalidManifest, fmt::format("{}: {}", first.path, first.text));
  }
  return send(run, Actor::User, commands_of(inventory));
}

}  // namespace lockstep::scenario
