#include "tools/lockstep/doctor.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <fstream>
#include <sstream>

#include "events/file.h"
#include "events/log/redo_log.h"
#include "replay/recovery.h"
#include "snapshot/snapshot.h"
#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kRoomWrong = 256 * kMiB;  // the log's own reserve and a snapshot of some size
constexpr std::uint64_t kRoomWarning = 2'048 * kMiB;
constexpr std::uint64_t kTailWarning = 10'000'000;  // events that a start would replay: seconds
constexpr Duration kClockWarning = seconds(5);

Finding good(std::string about, std::string text) { return {std::move(about), Health::Good, std::move(text), {}}; }

Finding of_error(std::string about, const Error& error) {
  return {std::move(about), Health::Wrong, fmt::format("{}: {}", name(error.code), error.message), {}};
}

Finding examine_filesystem(const std::filesystem::path& directory) {
  if (const auto local = check_filesystem(directory); !local) return of_error("filesystem", local.error());
  return good("filesystem", "local");
}

std::string read_mountinfo() {
  std::ifstream file("/proc/self/mountinfo");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Finding examine_space(const std::filesystem::path& directory) {
  struct statvfs info {};
  if (::statvfs(directory.c_str(), &info) != 0) return of_error("space", io_error(errno, "statvfs", directory));
  const std::uint64_t bytes = info.f_bavail * info.f_frsize;
  const std::string text = fmt::format("{} MiB and {} files are free", bytes / kMiB, info.f_favail);
  const bool no_files = info.f_files != 0 && info.f_favail < 16;
  if (bytes < kRoomWrong || no_files)
    return {"space", Health::Wrong, text, "make room on this disk before the log is refused it"};
  if (bytes < kRoomWarning) return {"space", Health::Warning, text, "make room on this disk, or trim the log"};
  return good("space", text);
}

Finding examine_lock(const std::filesystem::path& directory) {
  const auto owner = store_owner(directory);
  if (!owner) return of_error("lock", owner.error());
  return good("lock", *owner == 0 ? "no controller runs" : fmt::format("held by the controller with pid {}", *owner));
}

Finding examine_log(const Store& store) {
  const auto head = store.log->head();
  if (!head) return of_error("log", head.error());
  const auto first = store.log->first();
  if (!first) return of_error("log", first.error());
  const std::string text = fmt::format("seq {} to {}, epoch {}", first->value, head->seq.value, head->epoch.value);
  const std::string cut = store.log->cut();
  if (cut.empty()) return good("log", text);
  return {"log", Health::Warning, fmt::format("{}; left out, for it was never acknowledged: {}", text, cut),
          "nothing: the next controller goes on before it"};
}

Finding examine_readers(const Store& store) {
  const auto* log = dynamic_cast<const RedoLog*>(store.log.get());
  const std::string readers = log == nullptr ? std::string() : log->pinning_readers();
  if (readers.empty()) return good("readers", "nobody holds old pages of data.mdb back");
  return {"readers", Health::Warning, "old pages of data.mdb are not used again" + readers,
          "end those readers, or the file grows"};
}

Finding examine_snapshots(const Store& store) {
  const SnapshotStore snapshots(store.snapshots(), store.id);
  const auto listed = snapshots.list();
  if (!listed) return of_error("snapshots", listed.error());
  if (!listed->damaged.empty()) {
    return {"snapshots", Health::Warning, listed->damaged.front().message,
            "move that file away; recovery passes it over"};
  }
  const auto plan = plan_recovery(*store.log, &snapshots);
  if (!plan) return of_error("snapshots", plan.error());
  const std::uint64_t tail = plan->replay_last.value + 1 - plan->replay_first.value;
  const std::string text = fmt::format("{} whole, a start replays {} events", listed->snapshots.size(), tail);
  if (tail < kTailWarning) return good("snapshots", text);
  return {"snapshots", Health::Warning, text, "take one: lockstep snapshot create"};
}

// Time never runs backwards in the log: with a clock that is behind it, deadlines stand still until it has caught up.
Finding examine_clock(const Store& store, Time now) {
  const auto head = store.log->head();
  if (!head) return of_error("clock", head.error());
  Time last{};
  const auto read = store.log->read(head->seq, [&](const RecordHeader& header, auto) -> Result<Continue> {
    last = header.time;
    return Continue::Yes;
  });
  if (!read) return of_error("clock", read.error());
  const Duration behind = last - now;
  if (behind <= kClockWarning)
    return good("clock", fmt::format("{}, the log's last record is of {}", date_time(now), date_time(last)));
  return {"clock", Health::Warning, fmt::format("{} is {} behind the log's last record", date_time(now), rough(behind)),
          "set this machine's clock: deadlines wait until it has caught up"};
}

}  // namespace

// A line: "36 35 98:0 /root /mount/point rw,noatime - ext4 /dev/sda rw,barrier=0".
Finding examine_mount(const std::string& mountinfo, const std::filesystem::path& path) {
  std::string best;
  std::string type;
  std::string options;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id;
    std::string parent;
    std::string device;
    std::string root;
    std::string point;
    std::string flags;
    words >> id >> parent >> device >> root >> point >> flags;
    std::string word;
    while (words >> word && word != "-") continue;
    std::string of_type;
    std::string source;
    std::string super;
    words >> of_type >> source >> super;
    const bool holds = point == "/" || path == point || path.string().starts_with(point + "/");
    if (!holds || point.size() < best.size()) continue;
    best = point;
    type = of_type;
    options = flags + "," + super;
  }
  if (best.empty()) return {"mount", Health::Warning, "not found in /proc/self/mountinfo", "look at it yourself"};
  const std::string text = fmt::format("{} on {} ({})", type, best, options);
  const std::string list = "," + options + ",";
  const auto has = [&](const char* option) { return list.find(fmt::format(",{},", option)) != std::string::npos; };
  if (has("ro")) return {"mount", Health::Wrong, text, "mount it for writing, or only read the store"};
  if (has("nobarrier") || has("barrier=0"))
    return {"mount", Health::Wrong, text, "mount it with barriers: without, a power cut loses what was acknowledged"};
  if (type == "tmpfs") return {"mount", Health::Warning, text, "it is gone when the machine is: use a disk"};
  if (type == "btrfs" || type == "zfs") {
    return {"mount", Health::Warning, text,
            "it writes old blocks to new places, so an append may meet a full disk: ext4 or xfs does not"};
  }
  return good("mount", text);
}

std::vector<Finding> examine_place(const std::filesystem::path& directory) {
  std::error_code error;
  const auto path = std::filesystem::canonical(directory, error);
  std::vector<Finding> findings{good("versions", store_versions())};
  if (error) return findings;
  findings.push_back(examine_filesystem(path));
  findings.push_back(examine_mount(read_mountinfo(), path));
  findings.push_back(examine_space(path));
  return findings;
}

std::vector<Finding> examine_store(const Store& store, Time now) {
  return {examine_lock(store.directory), examine_log(store), examine_readers(store), examine_snapshots(store),
          examine_clock(store, now)};
}

}  // namespace lockstep::cli
