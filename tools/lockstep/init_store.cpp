#include "tools/lockstep/init_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>
#include <vector>

#include "events/log/store.h"
#include "replay/controller.h"
#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCommandsAtOnce = 4'096;
constexpr std::size_t kNameBytesKept = 200;  // of a store's name, in the temporary one

std::vector<Command> commands_of(const InventoryResult& inventory) {
  std::vector<Command> commands;
  const auto add = [&](CommandBody body) {
    Command& command = commands.emplace_back();
    command.time = wall_clock();
    command.body = std::move(body);
  };
  if (!inventory.levels.empty()) add(SetLevels{inventory.levels});
  for (const auto& pool : inventory.pools) add(SetPool{pool.name, pool.amount});
  for (const auto& host : inventory.hosts) add(SetHost{host, true});
  return commands;
}

Outcome<void> fill(const fs::path& directory, const InventoryResult& inventory) {
  auto store = open_store(directory, OpenMode::Write);
  if (!store) return refuse(store.error());
  auto controller = Controller::start(*store->log, nullptr, ControllerOptions{}, wall_clock());
  if (!controller) return refuse(controller.error());
  const auto commands = commands_of(inventory);
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

tl::unexpected<Failure> cannot(const fs::path& path, const char* what, int error) {
  return refuse(Error{ErrorCode::StorageFailed, fmt::format("{}: {}: {}", path.string(), what, std::strerror(error))});
}

// The name is there after a power cut, too.
Outcome<void> publish(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return cannot(to, "the new store cannot be put there", errno);
  const fs::path parent = to.parent_path().empty() ? fs::path(".") : to.parent_path();
  const int fd = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return cannot(parent, "cannot be opened", errno);
  const int flushed = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  if (flushed != 0) return cannot(parent, "cannot be flushed", error);
  return {};
}

}  // namespace

Outcome<void> init_with_hosts(const fs::path& directory, const InventoryResult& inventory) {
  if (auto vacant = check_new_store(directory); !vacant) return refuse(vacant.error());
  fs::path target = directory;
  if (!target.has_filename()) target = target.parent_path();  // DIR/
  const std::string name = target.filename().string().substr(0, kNameBytesKept);
  const fs::path building = target.parent_path() / fmt::format(".{}.init-{}", name, ::getpid());
  Outcome<void> outcome;
  if (auto made = init_store(building); !made) outcome = refuse(made.error());
  if (outcome) outcome = fill(building, inventory);
  if (outcome) outcome = publish(building, target);
  if (outcome) return {};
  std::error_code ignored;
  fs::remove_all(building, ignored);
  // People know it by the name that they gave it.
  std::string& text = outcome.error().message;
  for (auto at = text.find(building.string()); at != std::string::npos; at = text.find(building.string(), at)) {
    text.replace(at, building.string().size(), target.string());
    at += target.string().size();
  }
  return outcome;
}

}  // namespace lockstep::cli
