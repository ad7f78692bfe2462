// The directory of snapshots: published whole or not at all, listed, pruned.

#include "snapshot/snapshot.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "snapshot/file.h"
#include "snapshot/format.h"
#include "snapshot/reader.h"
#include "snapshot/writer.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "snapshot-";
constexpr std::string_view kSuffix = ".lks";
constexpr std::string_view kTemporary = ".tmp-";
constexpr std::size_t kSeqDigits = 20;
constexpr std::size_t kKeepMin = 2;

std::string snapshot_name(Seq seq) {
  const std::string digits = std::to_string(seq.value);
  return std::string(kPrefix) + std::string(kSeqDigits - digits.size(), '0') + digits + std::string(kSuffix);
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// "snapshot-<20 digits>.lks"
bool is_snapshot_name(std::string_view name, Seq& seq) {
  if (name.size() != kPrefix.size() + kSeqDigits + kSuffix.size()) return false;
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  return parse_whole(name.substr(kPrefix.size(), kSeqDigits), seq.value);
}

// ".tmp-<pid>-<anything>"
bool is_temporary_name(std::string_view name, pid_t& pid) {
  if (!name.starts_with(kTemporary)) return false;
  name.remove_prefix(kTemporary.size());
  const std::size_t dash = name.find('-');
  return dash != std::string_view::npos && parse_whole(name.substr(0, dash), pid) && pid > 0;
}

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

// Names in the directory, sorted. An error when it cannot be read.
Result<std::vector<std::string>> names_in(const fs::path& directory) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator{}; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return errno_failure(error.value(), "read directory", directory);
  std::sort(names.begin(), names.end());
  return names;
}

// Removes the file again unless it was published.
class Temporary {
 public:
  Temporary(const fs::path& directory, Seq seq) {
    static std::atomic<std::uint64_t> count{0};
    do {  // a dead writer may have had our pid
      path_ = directory / (std::string(kTemporary) + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-" +
                           snapshot_name(seq));
    } while (fs::exists(fs::symlink_status(path_)));
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!published_) ::unlink(path_.c_str());
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  Result<void> publish(const fs::path& as) {
    if (::rename(path_.c_str(), as.c_str()) != 0) return errno_failure(errno, "rename to", as);
    published_ = true;
    return {};
  }

 private:
  fs::path path_;
  bool published_ = false;
};

// What the disk has, not what we remember: every frame unpacked, every checksum compared.
Result<SnapshotInfo> read_back(const fs::path& path) {
  auto file = SnapshotFile::open(path);
  LOCKSTEP_TRY(file);
  file->file().drop_cache();
  LOCKSTEP_TRY(file->for_each_chunk([](const Chunk&) -> Result<void> { return {}; }));
  return file->info();
}

// By header and footer alone: may recovery think of this file at all?
Result<SnapshotInfo> look(const fs::path& path, Seq named, const std::string& store_id) {
  const auto file = SnapshotFile::open(path);
  LOCKSTEP_TRY(file);
  LOCKSTEP_TRY(check_layout(path, file->header()));
  if (file->header().store_id != store_id) {
    return fail(ErrorCode::Damaged,
                path.string() + ": of store " + file->header().store_id + ", not of this one (" + store_id +
                    "); move it back to where it belongs",
                file->header().seq);
  }
  if (file->header().seq != named) {
    return fail(ErrorCode::Damaged,
                path.string() + ": holds seq " + std::to_string(file->header().seq.value) +
                    ", not the one of its name; somebody renamed it",
                file->header().seq);
  }
  return file->info();
}

std::string cannot_remove(const fs::path& path, int error_number) {
  return path.string() + " cannot be removed: " + std::generic_category().message(error_number) +
         "; remove it by hand, new snapshots go on";
}

void remove_file(const fs::path& path, std::vector<std::string>& warnings) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) warnings.push_back(cannot_remove(path, errno));
}

}  // namespace

SnapshotStore::SnapshotStore(std::filesystem::path directory, std::string store_id)
    : directory_(std::move(directory)), store_id_(std::move(store_id)) {}

Result<SnapshotInfo> SnapshotStore::write(const State& state, const Head& head) const {
  Temporary temporary(directory_, head.seq);
  auto file = FileWriter::create(temporary.path());  // open, and so locked, until it is published
  LOCKSTEP_TRY(file);
  LOCKSTEP_TRY(write_snapshot(*file, state, head, store_id_));
  LOCKSTEP_TRY(file->sync());
  auto info = read_back(temporary.path());
  LOCKSTEP_TRY(info);
  info->path = directory_ / snapshot_name(head.seq);
  LOCKSTEP_TRY(temporary.publish(info->path));
  LOCKSTEP_TRY(sync_directory(directory_));
  return info;
}

Result<SnapshotStore::Listing> SnapshotStore::list() const {
  const auto names = names_in(directory_);
  LOCKSTEP_TRY(names);
  Listing listing;
  for (auto name = names->rbegin(); name != names->rend(); ++name) {
    Seq seq;
    if (!is_snapshot_name(*name, seq)) continue;
    auto info = look(directory_ / *name, seq, store_id_);
    if (info) {
      listing.snapshots.push_back(std::move(*info));
    } else if (info.error().code != ErrorCode::NotFound) {  // pruned meanwhile
      listing.damaged.push_back(std::move(info).error());
    }
  }
  return listing;
}

std::vector<std::string> SnapshotStore::prune(std::size_t keep) const {
  std::vector<std::string> warnings;
  const auto names = names_in(directory_);
  auto listing = list();
  if (!names || !listing) {
    warnings.push_back("nothing was removed: " + (names ? listing.error() : names.error()).message);
    return warnings;
  }
  // Oldest first. What cannot be read is not counted, and not removed: somebody has to look at it.
  auto& snapshots = listing->snapshots;
  const std::size_t kept = std::max(keep, kKeepMin);
  for (; snapshots.size() > kept; snapshots.pop_back()) remove_file(snapshots.back().path, warnings);
  for (const std::string& name : *names) {
    pid_t pid = 0;
    if (!is_temporary_name(name, pid) || is_alive(pid) || is_being_written(directory_ / name)) continue;
    remove_file(directory_ / name, warnings);
  }
  return warnings;
}

}  // namespace lockstep
