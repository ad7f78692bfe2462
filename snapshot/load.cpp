// Reading snapshots back: a whole state, one group, or only to see that it could be.

#include <new>
#include <stdexcept>

#include "events/walk.h"
#include "snapshot/check_facts.h"
#include "snapshot/facts.h"
#include "snapshot/reader.h"
#include "snapshot/snapshot.h"
#include "statemachine/digest.h"

namespace lockstep {
namespace {

constexpr std::string_view kNoWalk = "does not decode";

// ---- one entity into its table: empty, or what is wrong. `id` as in for_each_entity
// ----------------------------------

std::string take(WalkReader& reader, State& state, StateHead& head, std::uint64_t& id) {
  id = 1;
  if (!reader.read(head)) return std::string(kNoWalk);
  return check_fact(state, head);
}

template <class Id, class T>
std::string take(WalkReader& reader, State& state, Table<Id, T>& table, std::uint64_t& id) {
  T entity;
  if (!reader.read(entity)) return std::string(kNoWalk);
  id = id_of(entity).value;
  if (std::string wrong = check_fact(state, std::as_const(entity)); !wrong.empty()) return wrong;
  table.insert(id_of(entity)) = std::move(entity);
  return {};
}

template <class K, class T>
std::string take(WalkReader& reader, State& state, std::map<K, T>& table, std::uint64_t& id) {
  typename FactTable<std::map<K, T>>::Key key{};
  T entity{};
  if (!reader.read(key) || !reader.read(entity)) return std::string(kNoWalk);
  if constexpr (std::is_same_v<K, std::uint64_t>) {
    id = key;
  } else {
    id = table.size() + 1;
  }
  if (!table.empty() && !(table.rbegin()->first < key)) return "not in order";
  if (std::string wrong = check_fact(state, entity); !wrong.empty()) return wrong;
  table.emplace_hint(table.end(), std::move(key), std::move(entity));
  return {};
}

std::string take(WalkReader& reader, State& state, std::map<SpecHash, SpecEntry>& specs, std::uint64_t& id) {
  SpecHash key;
  GroupSpec spec;
  if (!reader.read(key) || !reader.read(spec)) return std::string(kNoWalk);
  id = specs.size() + 1;
  if (!specs.empty() && !(specs.rbegin()->first < key)) return "not in order";
  if (content_hash(spec) != key) return "its content is not what its hash says";
  if (std::string wrong = check_fact(state, std::as_const(spec)); !wrong.empty()) return wrong;
  SpecEntry entry;
  entry.spec = std::make_shared<const GroupSpec>(std::move(spec));
  specs.emplace_hint(specs.end(), key, std::move(entry));
  return {};
}

// ---- a whole state ------------------------------------------------------------------------------------------------

class Loader {
 public:
  explicit Loader(SnapshotFile& file) : file_(file) {}

  Result<State> load() {
    LOCKSTEP_TRY(file_.for_each_chunk([this](const Chunk& chunk) { return take_chunk(chunk); }));
    LOCKSTEP_TRY(check_whole());
    rebuild_derived(state_);
    LOCKSTEP_TRY(check_digest());
    return std::move(state_);
  }

 private:
  Result<void> take_chunk(const Chunk& chunk) {
    const std::uint32_t kind = chunk.header.kind;
    if (kind == static_cast<std::uint32_t>(FactKind::Layout)) return {};  // for people: the fingerprint stands for it
    if (kind < kind_) return damage(chunk, "chunks out of order");
    if (kind != kind_) last_id_ = 0;
    kind_ = kind;
    Result<void> result = unknown_kind(kind);
    for_each_table([&](FactKind table_kind, auto table) {
      if (static_cast<std::uint32_t>(table_kind) == kind) result = take_entities(chunk, state_.*table);
    });
    return result;
  }

  template <class T>
  Result<void> take_entities(const Chunk& chunk, T& table) {
    WalkReader reader(chunk.raw);
    std::uint64_t id = 0;
    for (std::uint64_t i = 0; i < chunk.header.count; ++i) {
      const std::string wrong = take(reader, state_, table, id);
      if (!wrong.empty())
        return damage(chunk, "entity " + std::to_string(i + 1) + " (" + std::to_string(id) + "): " + wrong);
      if (id <= last_id_) return damage(chunk, "id " + std::to_string(id) + " comes twice or out of order");
      if (i == 0 && id != chunk.header.first) return damage(chunk, "does not begin as its header says");
      last_id_ = id;
    }
    if (id != chunk.header.last || reader.left() != 0) return damage(chunk, "does not end as its header says");
    return {};
  }

  Result<void> check_whole() {
    const FileHeader& header = file_.header();
    if (count_facts(state_) != header.counts) return damage("holds other numbers of entities than its header says");
    if (state_.head.seq != header.seq || state_.head.time != header.time)
      return damage("is of another seq than its header says");
    if (const std::string wrong = check_sums(state_); !wrong.empty()) return damage(wrong);
    return {};
  }

  // A digest of another version says nothing about this one (P80).
  Result<void> check_digest() {
    const FileHeader& header = file_.header();
    const Digest expected{header.digest_high, header.digest_low};
    if (header.digest_version != kDigestVersion || state_.digest() == expected) return {};
    return damage("its state has the digest " + hex(state_.digest()) + ", its header says " + hex(expected));
  }

  Result<void> unknown_kind(std::uint32_t kind) const {
    return fail(ErrorCode::NewerFormat,
                file_.file().path().string() + ": holds entities of kind " + std::to_string(kind) +
                    ", which this release does not know; use the release that wrote it",
                file_.header().seq);
  }
  tl::unexpected<Error> damage(const Chunk& chunk, const std::string& what) const {
    return damaged(file_.file(), chunk.offset, std::string(name(FactKind{chunk.header.kind})) + " chunk: " + what,
                   file_.header().seq);
  }
  tl::unexpected<Error> damage(const std::string& what) const {
    return damaged(file_.file(), 0, what, file_.header().seq);
  }

  SnapshotFile& file_;
  State state_;
  std::uint32_t kind_ = 0;
  std::uint64_t last_id_ = 0;
};

Result<SnapshotFile> open_readable(const std::filesystem::path& path) {
  auto file = SnapshotFile::open(path);
  LOCKSTEP_TRY(file);
  LOCKSTEP_TRY(check_layout(file->info().path, file->header()));
  return file;
}

// A file that passes its checksums may still claim more than there is memory for.
template <class T, class Work>
Result<T> within_memory(const std::filesystem::path& path, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return fail(ErrorCode::StorageFailed, path.string() + ": not enough memory to read it; use a machine with more");
}

}  // namespace

Result<SnapshotInfo> describe_snapshot(const std::filesystem::path& path) {
  auto file = SnapshotFile::open(path);
  LOCKSTEP_TRY(file);
  return file->info();
}

Result<State> load_snapshot(const std::filesystem::path& path) {
  return within_memory<State>(path, [&]() -> Result<State> {
    auto file = open_readable(path);
    LOCKSTEP_TRY(file);
    return Loader(*file).load();
  });
}

Result<SnapshotInfo> verify_snapshot(const std::filesystem::path& path) {
  return within_memory<SnapshotInfo>(path, [&]() -> Result<SnapshotInfo> {
    auto file = open_readable(path);
    LOCKSTEP_TRY(file);
    LOCKSTEP_TRY(Loader(*file).load());
    return file->info();
  });
}

Result<void> read_through_snapshot(const std::filesystem::path& path) {
  return within_memory<void>(path, [&]() -> Result<void> {
    auto file = open_readable(path);
    LOCKSTEP_TRY(file);
    return file->for_each_chunk([](const Chunk&) { return Result<void>{}; });
  });
}

Result<Group> load_group(const std::filesystem::path& path, GroupId id) {
  return within_memory<Group>(path, [&]() -> Result<Group> {
    auto file = open_readable(path);
    LOCKSTEP_TRY(file);
    const auto chunk = file->find_chunk(FactKind::Group, id.value);
    LOCKSTEP_TRY(chunk);
    WalkReader reader(chunk->raw);
    for (std::uint64_t i = 0; i < chunk->header.count; ++i) {
      Group group;
      if (!reader.read(group)) return damaged(file->file(), chunk->offset, std::string(kNoWalk), file->header().seq);
      if (group.head.id == id) return group;
    }
    return fail(ErrorCode::NotFound,
                "group " + std::to_string(id.value) + " is not in " + path.string() +
                    "; it was not yet defined, or already purged",
                file->header().seq);
  });
}

}  // namespace lockstep
