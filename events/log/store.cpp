#include "events/log/store.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "events/file.h"
#include "events/log/redo_log.h"
#include "events/log/redo_ring.h"
#include "events/log/writer_lock.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kStoreFileBytesMax = 4096;
constexpr std::size_t kLeftoversMax = 64;
constexpr std::size_t kNameBytesKept = 200;  // of a store's name, in the temporary one

// ---- store.json ----------------------------------------------------------------------------------------------------

std::string to_hex(const StoreId& id) {
  std::string text;
  for (const std::byte byte : id) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

std::optional<StoreId> parse_id(std::string_view text) {
  StoreId id{};
  if (text.size() != 2 * id.size()) return std::nullopt;
  for (std::size_t i = 0; i < id.size(); ++i) {
    unsigned value = 0;
    const char* begin = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc{} || end != begin + 2) return std::nullopt;
    id[i] = static_cast<std::byte>(value);
  }
  return id;
}

// Over the members in the order of their names, without white space and without "checksum" itself.
std::string checksum_of(json members) {
  members.erase("checksum");
  const std::string text = members.dump();
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string store_file_text(const StoreId& id) {
  json members{{"format", kStoreFormat}, {"storeId", to_hex(id)}, {"createdBy", "lockstep " LOCKSTEP_VERSION}};
  members["checksum"] = checksum_of(members);
  return members.dump(2) + "\n";
}

struct StoreFile {
  StoreId id{};
  std::uint64_t format{};
};

Result<StoreFile> parse_store_file(const std::string& text, const fs::path& path) {
  const auto damaged = [&](std::string_view what) {
    return fail(ErrorCode::Damaged, fmt::format("{}: {}: bring it back from a backup", path.string(), what));
  };
  try {
    const json members = json::parse(text);
    if (!members.is_object() || !members.contains("checksum")) return damaged("not a description of a store");
    if (members.at("checksum") != checksum_of(members)) return damaged("it fails its checksum");
    const auto format = members.at("format").get<std::uint64_t>();
    if (format > kStoreFormat) {
      return fail(ErrorCode::NewerFormat,
                  fmt::format("{}: store format {}, this release knows up to {}: use a newer lockstep", path.string(),
                              format, kStoreFormat));
    }
    const auto id = parse_id(members.at("storeId").get_ref<const std::string&>());
    if (!id) return damaged("its storeId is not 32 hex digits");
    return StoreFile{*id, format};
  } catch (const json::exception&) {
    return damaged("it is not JSON of the form that describes a store");
  }
}

Error cannot_reach(int code, const fs::path& path) {
  Error error = io_error(code, "open", path);
  if (code == EACCES || code == EPERM) error.message += ": run this as a user who may";
  return error;
}

// Whether there is something; an error when that cannot be known.
Result<bool> is_there(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return false;
  if (error) return tl::unexpected(cannot_reach(error.value(), path));
  return true;
}

Result<StoreFile> read_store_file(const fs::path& directory) {
  const fs::path path = directory / "store.json";
  std::error_code ignored;
  auto there = is_there(directory);
  LOCKSTEP_TRY(there);
  if (!*there || !fs::is_directory(directory, ignored)) {
    return fail(ErrorCode::NotAStore,
                fmt::format("{} is no directory: make a store there with `lockstep init`", directory.string()));
  }
  there = is_there(path);
  LOCKSTEP_TRY(there);
  if (!*there) {
    return fail(
        ErrorCode::NotAStore,
        fmt::format("{} holds no store (store.json is missing): make one with `lockstep init`", directory.string()));
  }
  auto text = read_small_file(path, kStoreFileBytesMax);
  if (!text && (text.error().code == ErrorCode::StorageFailed && ::access(path.c_str(), R_OK) != 0)) {
    return tl::unexpected(cannot_reach(errno, path));
  }
  LOCKSTEP_TRY(text);
  return parse_store_file(*text, path);
}

// ---- init ----------------------------------------------------------------------------------------------------------

Result<void> make_directory(const fs::path& path) {
  if (::mkdir(path.c_str(), 0777) != 0) return tl::unexpected(io_error(errno, "make", path));
  return {};
}

// What an init that was killed has left beside `directory`; its name ends in its pid.
void remove_leftovers(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || dead.size() == kLeftoversMax) continue;
    const int pid = std::atoi(name.c_str() + prefix.size());
    if (pid > 0 && (pid == ::getpid() || (::kill(pid, 0) != 0 && errno == ESRCH))) dead.push_back(entry.path());
  }
  for (const auto& path : dead) fs::remove_all(path, ignored);
}

Result<void> build_store(const fs::path& directory, std::uint64_t slots) {
  StoreId id{};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(id.data()), static_cast<int>(id.size())) != 1) {
    return fail(ErrorCode::StorageFailed, "no random bytes for a store id");
  }
  LOCKSTEP_TRY(make_directory(directory));
  for (const char* name : {"log", "snapshots", "archive"}) LOCKSTEP_TRY(make_directory(directory / name));
  LOCKSTEP_TRY(RedoLog::create(directory / "log", id, slots));
  LOCKSTEP_TRY(write_new_file(directory / "store.json", bytes_of(store_file_text(id))));
  return sync_directory(directory);
}

Result<void> check_vacant(const fs::path& directory) {
  std::error_code error;
  const auto status = fs::symlink_status(directory, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (error.value() == ENAMETOOLONG) {
    return fail(ErrorCode::Usage, fmt::format("{}: {}: choose a shorter name", directory.string(), error.message()));
  }
  if (error) return tl::unexpected(cannot_reach(error.value(), directory));
  const bool empty = fs::is_directory(status) && fs::is_empty(directory, error);
  if (error) return tl::unexpected(cannot_reach(error.value(), directory));
  if (empty) return {};
  return fail(
      ErrorCode::Usage,
      fmt::format("{} exists and is not an empty directory: init makes a store in a new place", directory.string()));
}

Result<void> check_parent(const fs::path& parent) {
  std::error_code error;
  const auto status = fs::status(parent, error);
  if (status.type() == fs::file_type::not_found) {
    return fail(ErrorCode::Usage, fmt::format("{} does not exist: make that directory first", parent.string()));
  }
  if (error) return tl::unexpected(cannot_reach(error.value(), parent));
  if (fs::is_directory(status)) return {};
  return fail(ErrorCode::Usage, fmt::format("{} is no directory: a store cannot be made in it", parent.string()));
}

// People know the store by the name that they gave it.
Error in_words_of(Error error, const fs::path& built, const fs::path& target) {
  for (auto at = error.message.find(built.string()); at != std::string::npos;
       at = error.message.find(built.string(), at + target.string().size())) {
    error.message.replace(at, built.string().size(), target.string());
  }
  return error;
}

Result<void> publish(const fs::path& built, const fs::path& directory) {
  if (::rename(built.c_str(), directory.c_str()) == 0) return sync_directory(directory.parent_path());
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return check_vacant(directory);
  return tl::unexpected(io_error(errno, "rename the new store to", directory));
}

// Absolute, without a slash at the end, so that it has a parent and a name.
fs::path clean(const fs::path& directory) {
  std::error_code ignored;
  fs::path path = fs::absolute(directory, ignored).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

Result<void> check_new_store(const fs::path& directory) {
  if (directory.empty()) return fail(ErrorCode::Usage, "no directory is named: say where the store is to be");
  const fs::path target = clean(directory);
  LOCKSTEP_TRY(check_vacant(target));
  return check_parent(target.parent_path());
}

Result<void> init_store(const fs::path& directory, const NewStore& options) {
  LOCKSTEP_TRY(check_new_store(directory));
  const fs::path target = clean(directory);
  const fs::path parent = target.parent_path();
  LOCKSTEP_TRY(check_filesystem(parent));
  const std::string prefix = fmt::format(".{}.init-", target.filename().string().substr(0, kNameBytesKept));
  remove_leftovers(parent, prefix);
  const fs::path built = parent / fmt::format("{}{}", prefix, ::getpid());
  auto done = build_store(built, options.ring_slots == 0 ? ring_slots() : options.ring_slots);
  if (done && options.fill) done = options.fill(built);
  if (done) done = publish(built, target);
  if (!done) {
    std::error_code ignored;
    fs::remove_all(built, ignored);
    return tl::unexpected(in_words_of(std::move(done).error(), built, target));
  }
  return done;
}

// ---- open ----------------------------------------------------------------------------------------------------------

namespace {

Result<std::optional<LockOwner>> find_owner(const fs::path& directory) {
  const fs::path path = directory / "log" / "redo";
  const auto there = is_there(path);
  LOCKSTEP_TRY(there);
  if (!*there) {
    return fail(ErrorCode::NotAStore, fmt::format("{} is missing: an incomplete store", path.string()));
  }
  return WriterLock::owner(path);
}

// LMDB's reader table names processes by their pid, which says nothing in another pid namespace.
Result<void> check_namespace(const fs::path& directory) {
  auto owner = find_owner(directory);
  LOCKSTEP_TRY(owner);
  if (!*owner || (*owner)->pid_namespace == this_process().pid_namespace) return {};
  return fail(ErrorCode::StorageFailed,
              fmt::format("{} is held by a controller in another container (pid namespace): run there, or read a copy",
                          directory.string()));
}

Result<void> replace_file(const fs::path& path, const fs::path& by) {
  if (::rename(by.c_str(), path.c_str()) != 0) return tl::unexpected(io_error(errno, "replace", path));
  return sync_directory(path.parent_path());
}

// Format 1 had no ring: its records were all in LMDB, and its lock was on a file of its own. Cut anywhere, the next
// open begins again.
Result<void> bring_up_to_date(const fs::path& directory, const StoreId& id, OpenMode mode) {
  if (mode == OpenMode::ReadOnly) {
    return fail(ErrorCode::Usage, fmt::format("{} is a store of format 1: start a controller on it once, which brings "
                                              "it up to date",
                                              directory.string()));
  }
  const fs::path old_lock = directory / "log" / "writer.lock";
  auto held = WriterLock::acquire(old_lock);
  LOCKSTEP_TRY(held);
  const auto now = read_store_file(directory);
  LOCKSTEP_TRY(now);
  if (now->format == kStoreFormat) return {};  // another process was quicker: the ring that is there is in use
  const fs::path log = directory / "log";
  std::error_code ignored;
  fs::remove(log / "redo.new", ignored);
  if (auto made = RedoRing::create(log / "redo.new", id, ring_slots()); !made) {
    fs::remove(log / "redo.new", ignored);  // its room is what was missing, perhaps
    return made;
  }
  LOCKSTEP_TRY(replace_file(log / "redo", log / "redo.new"));
  fs::remove(directory / "store.json.new", ignored);
  LOCKSTEP_TRY(write_new_file(directory / "store.json.new", bytes_of(store_file_text(id))));
  LOCKSTEP_TRY(replace_file(directory / "store.json", directory / "store.json.new"));
  fs::remove(log / "head", ignored);
  fs::remove(old_lock, ignored);
  return {};
}

// Whatever they held can be made again from the log, or was not needed.
void remake_directories(const fs::path& directory) {
  std::error_code ignored;
  for (const char* name : {"snapshots", "archive"}) fs::create_directory(directory / name, ignored);
}

}  // namespace

Result<Store> open_store(const fs::path& directory, OpenMode mode) {
  auto file = read_store_file(directory);
  LOCKSTEP_TRY(file);
  LOCKSTEP_TRY(check_filesystem(directory));
  if (file->format < kStoreFormat) LOCKSTEP_TRY(bring_up_to_date(directory, file->id, mode));
  std::optional<WriterLock> lock;
  if (mode == OpenMode::Write) {
    LOCKSTEP_TRY(find_owner(directory));
    auto acquired = WriterLock::acquire(directory / "log" / "redo");
    LOCKSTEP_TRY(acquired);
    lock = std::move(*acquired);
    remake_directories(directory);
  } else {
    LOCKSTEP_TRY(check_namespace(directory));
  }
  auto log = RedoLog::open(directory / "log", file->id, std::move(lock));
  LOCKSTEP_TRY(log);
  return Store{directory, to_hex(file->id), std::move(*log)};
}

std::string store_versions() {
  return fmt::format("lockstep {}, store format {}, {}", LOCKSTEP_VERSION, kStoreFormat, lmdb_version());
}

Result<int> store_owner(const fs::path& directory) {
  auto file = read_store_file(directory);
  LOCKSTEP_TRY(file);
  auto owner = find_owner(directory);
  LOCKSTEP_TRY(owner);
  return *owner ? (*owner)->pid : 0;
}

}  // namespace lockstep
