#include "tools/lockstep/init_store.h"

#include <algorithm>
#include <span>
#include <vector>

#include "events/log/store.h"
#include "replay/controller.h"
#include "tools/lockstep/times.h"
#include "tools/topology/inventory_files.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCommandsAtOnce = 4'096;

std::vector<Command> timed(std::vector<CommandBody> bodies) {
  std::vector<Command> commands;
  commands.reserve(bodies.size());
  for (CommandBody& body : bodies) {
    Command& command = commands.emplace_back();
    command.time = wall_clock();
    command.body = std::move(body);
  }
  return commands;
}

Outcome<void> fill(const fs::path& directory, const InventoryResult& inventory) {
  auto store = open_store(directory, OpenMode::Write);
  if (!store) return refuse(store.error());
  auto controller = Controller::start(*store->log, nullptr, ControllerOptions{}, wall_clock());
  if (!controller) return refuse(controller.error());
  const auto commands = timed(commands_of(inventory));
  for (std::size_t first = 0; first < commands.size(); first += kCommandsAtOnce) {
    const auto count = std::min(kCommandsAtOnce, commands.size() - first);
    const auto answers = (*controller)->execute(std::span(commands).subspan(first, count));
    if (!answers) return refuse(answers.error());
    for (const auto& answer : *answers) {
      if (is_rejection(answer.code)) return refuse(failure(answer));
    }
  }
  return {};
}

}  // namespace

Outcome<void> init_with_hosts(const fs::path& directory, const InventoryResult& inventory) {
  Outcome<void> filled;
  const auto fill_it = [&](const fs::path& built) -> Result<void> {
    filled = fill(built, inventory);
    if (filled) return {};
    return fail(ErrorCode::StorageFailed, filled.error().message);
  };
  const auto made = init_store(directory, {.fill = fill_it});
  if (made) return {};
  if (filled) return refuse(made.error());
  filled.error().message = made.error().message;  // which names the store as its owner does
  return filled;
}

}  // namespace lockstep::cli
