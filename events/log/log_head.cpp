#include "events/log/log_head.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <optional>

namespace lockstep {
namespace {

// Written to disk; events/log/FORMAT.md has the picture. Both end in the XXH3-64 of what stands before it.
struct WireLogHead {
  std::array<char, 8> magic;
  std::uint32_t format;
  std::uint32_t reserved0;
  StoreId store;
  std::uint64_t seq;
  std::uint64_t epoch;
  std::uint64_t first;
  std::uint64_t records;
  Hash hash;
  std::array<std::uint64_t, 3> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(WireLogHead) == kLogHeadBytes);

struct WireSlot {
  std::array<char, 8> magic;
  std::uint32_t format;
  std::uint32_t reserved0;
  std::uint64_t generation;
  StoreId store;
  std::uint64_t seq;
  std::uint64_t epoch;
  Hash hash;
  std::array<std::byte, 416> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(WireSlot) == 512);

constexpr std::array<char, 8> kHeadMagic{'L', 'K', 'S', 'T', 'H', 'E', 'A', 'D'};
constexpr std::array<char, 8> kSlotMagic{'L', 'K', 'S', 'T', 'S', 'L', 'O', 'T'};
constexpr std::uint32_t kHeadFormat = 1;

template <class Wire>
std::uint64_t checksum_of(const Wire& wire) {
  return XXH3_64bits(&wire, sizeof wire - sizeof wire.checksum);
}

template <class Wire>
Result<void> check_wire(const Wire& wire, const std::array<char, 8>& magic, std::string_view where) {
  if (wire.magic != magic || wire.checksum != checksum_of(wire)) {
    return fail(ErrorCode::Damaged, fmt::format("{}: the head written there fails its checksum", where));
  }
  if (wire.format > kHeadFormat) {
    return fail(ErrorCode::NewerFormat, fmt::format("{}: head of format {}, this release knows up to {}: use a newer "
                                                    "lockstep",
                                                    where, wire.format, kHeadFormat));
  }
  return {};
}

Result<WireSlot> read_slot(const Fd& file, std::uint64_t index, const std::filesystem::path& path) {
  WireSlot slot{};
  auto size = read_at(file, std::as_writable_bytes(std::span(&slot, 1)), index * sizeof slot, path);
  LOCKSTEP_TRY(size);
  LOCKSTEP_TRY(check_wire(slot, kSlotMagic, fmt::format("{} at offset {}", path.string(), index * sizeof slot)));
  if (slot.generation % 2 != index) {
    return fail(ErrorCode::Damaged, fmt::format("{}: slot {} stands in the wrong place", path.string(), index));
  }
  return slot;
}

WireSlot make_slot(const StoreId& store, const Head& head, std::uint64_t generation) {
  WireSlot slot{};
  slot.magic = kSlotMagic;
  slot.format = kHeadFormat;
  slot.generation = generation;
  slot.store = store;
  slot.seq = head.seq.value;
  slot.epoch = head.epoch.value;
  slot.hash = head.hash;
  slot.checksum = checksum_of(slot);
  return slot;
}

}  // namespace

std::array<std::byte, kLogHeadBytes> encode_log_head(const LogHead& head) {
  WireLogHead wire{};
  wire.magic = kHeadMagic;
  wire.format = kHeadFormat;
  wire.store = head.store;
  wire.seq = head.head.seq.value;
  wire.epoch = head.head.epoch.value;
  wire.first = head.first.value;
  wire.records = head.records;
  wire.hash = head.head.hash;
  wire.checksum = checksum_of(wire);
  return std::bit_cast<std::array<std::byte, kLogHeadBytes>>(wire);
}

Result<LogHead> decode_log_head(std::span<const std::byte> bytes, std::string_view where) {
  WireLogHead wire{};
  if (bytes.size() != sizeof wire) {
    return fail(ErrorCode::Damaged, fmt::format("{}: the head has {} bytes", where, bytes.size()));
  }
  std::memcpy(&wire, bytes.data(), sizeof wire);
  LOCKSTEP_TRY(check_wire(wire, kHeadMagic, where));
  return LogHead{wire.store, Head{Seq{wire.seq}, wire.hash, Epoch{wire.epoch}}, Seq{wire.first}, wire.records};
}

Result<void> HeadFile::create(const std::filesystem::path& path, const StoreId& store) {
  const std::array slots{make_slot(store, Head{}, 0), make_slot(store, Head{}, 1)};
  return write_new_file(path, std::as_bytes(std::span(slots)));
}

Result<HeadFile> HeadFile::open(const std::filesystem::path& path, bool writable) {
  HeadFile head;
  head.path_ = path;
  auto file = open_file(path, writable ? O_RDWR : O_RDONLY);
  LOCKSTEP_TRY(file);
  head.file_ = std::move(*file);
  auto even = read_slot(head.file_, 0, path);
  auto odd = read_slot(head.file_, 1, path);
  if (!even && !odd) return tl::unexpected(std::move(even).error());
  // A whole slot of a later format outranks one of ours.
  for (auto* slot : {&even, &odd}) {
    if (!*slot && slot->error().code != ErrorCode::Damaged) return tl::unexpected(std::move(*slot).error());
  }
  const WireSlot& newer = !odd || (even && even->generation > odd->generation) ? *even : *odd;
  head.store_ = newer.store;
  head.bound_ = Head{Seq{newer.seq}, newer.hash, Epoch{newer.epoch}};
  head.generation_ = newer.generation;
  return head;
}

Result<void> HeadFile::write(const Head& head) {
  const WireSlot slot = make_slot(store_, head, generation_ + 1);
  LOCKSTEP_TRY(write_at(file_, std::as_bytes(std::span(&slot, 1)), (slot.generation % 2) * sizeof slot, path_));
  LOCKSTEP_TRY(sync_data(file_, path_));
  generation_ = slot.generation;
  bound_ = head;
  return {};
}

}  // namespace lockstep
