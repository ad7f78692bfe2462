#include "snapshot/format.h"

#include <cstring>

#include "events/walk.h"
#include "snapshot/layout.h"

namespace lockstep {
namespace {

using Magic = std::array<char, 8>;
constexpr Magic kHeaderMagic{'L', 'K', 'S', 'S', 'N', 'A', 'P', '\n'};
constexpr Magic kFooterMagic{'\n', 'L', 'K', 'S', 'D', 'O', 'N', 'E'};

template <class T>
void put(std::vector<std::byte>& out, const T& value) {
  ByteSink sink{out};
  walk_write(sink, value);
}

void put_frame_head(std::vector<std::byte>& out, std::uint32_t magic) {
  put(out, magic);
  put(out, std::uint32_t{0});
}
// Length of the payload, once it is known.
void close_frame(std::vector<std::byte>& out) {
  const auto length = static_cast<std::uint32_t>(out.size() - kFrameHeadBytes);
  std::memcpy(out.data() + 4, &length, sizeof length);
}
void put_magic(std::vector<std::byte>& out, const Magic& magic) { ByteSink{out}.put(magic.data(), magic.size()); }

std::span<const std::byte> payload(const std::vector<std::byte>& frame) {
  return std::span(frame).subspan(kFrameHeadBytes);
}
// Of the payload so far.
void seal(std::vector<std::byte>& frame) { put(frame, checksum(payload(frame))); }

// A skippable frame's payload of a known length, read and its magic and length checked.
Result<std::vector<std::byte>> read_frame(const FileReader& file, std::uint64_t offset, std::uint32_t magic,
                                          std::size_t length, std::string_view what) {
  if (offset > file.size() || file.size() - offset < kFrameHeadBytes + length) {
    return damaged(file, offset, "the file is too short for its " + std::string(what));
  }
  std::array<std::uint32_t, 2> head{};
  LOCKSTEP_TRY(file.read(offset, std::as_writable_bytes(std::span(head))));
  if (head[0] != magic || head[1] != length)
    return damaged(file, offset, "no " + std::string(what) + " where it should be");
  std::vector<std::byte> bytes(length);
  LOCKSTEP_TRY(file.read(offset + kFrameHeadBytes, bytes));
  return bytes;
}

// The last 8 bytes are the checksum of those before; they are taken off.
bool unseal(std::span<const std::byte>& bytes) {
  std::uint64_t claimed = 0;
  if (bytes.size() < sizeof claimed) return false;
  std::memcpy(&claimed, bytes.data() + bytes.size() - sizeof claimed, sizeof claimed);
  bytes = bytes.first(bytes.size() - sizeof claimed);
  return checksum(bytes) == claimed;
}

template <class T>
bool decode_whole(std::span<const std::byte> bytes, T& value) {
  WalkReader reader(bytes);
  return reader.read(value) && reader.left() == 0;
}

}  // namespace

tl::unexpected<Error> damaged(const FileReader& file, std::uint64_t offset, const std::string& what, Seq seq) {
  return fail(ErrorCode::Damaged,
              file.path().string() + " at offset " + std::to_string(offset) + ": " + what + "; use an older snapshot",
              seq);
}

HashWords to_words(const Hash& hash) {
  static_assert(sizeof(HashWords) == sizeof(Hash));
  HashWords words;
  std::memcpy(&words, hash.data(), sizeof words);
  return words;
}

Hash from_words(const HashWords& words) {
  Hash hash{};
  std::memcpy(hash.data(), &words, sizeof words);
  return hash;
}

SnapshotCounts count_facts(const State& state) {
  SnapshotCounts counts{
      state.groups.size(), 0, state.hosts.size(), state.pools.size(), state.claims.size(), state.clients.size(),
      state.specs.size()};
  state.groups.for_each([&](const Group& group) {
    for (const Role& role : group.roles) counts.members += role.members.size();
  });
  return counts;
}

std::uint64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> packed) {
  std::vector<std::byte> bytes;
  put(bytes, header);
  bytes.resize(bytes.size() - sizeof header.checksum);
  Checksum sum;
  sum.add(bytes);
  sum.add(packed);
  return sum.value();
}

// ---- writing ------------------------------------------------------------------------------------------------------

std::vector<std::byte> encode_header(const FileHeader& header) {
  std::vector<std::byte> out;
  put_frame_head(out, kHeaderFrame);
  put_magic(out, kHeaderMagic);
  put(out, header);
  seal(out);
  close_frame(out);
  return out;
}

std::vector<std::byte> encode_chunk_header(const ChunkHeader& header) {
  std::vector<std::byte> out;
  put_frame_head(out, kChunkFrame);
  put(out, header);
  close_frame(out);
  return out;
}

std::vector<std::byte> encode_index(const FileIndex& index) {
  std::vector<std::byte> out;
  put_frame_head(out, kIndexFrame);
  put(out, index);
  seal(out);
  close_frame(out);
  return out;
}

std::vector<std::byte> encode_footer(const FileFooter& footer) {
  std::vector<std::byte> out;
  put_frame_head(out, kFooterFrame);
  put(out, footer);
  seal(out);
  put_magic(out, kFooterMagic);
  close_frame(out);
  return out;
}

// ---- reading ------------------------------------------------------------------------------------------------------

Result<FileHeader> read_header(const FileReader& file, std::uint64_t& after) {
  std::array<std::byte, kFrameHeadBytes> head{};
  if (file.size() < head.size()) return damaged(file, 0, "too short to be a snapshot");
  LOCKSTEP_TRY(file.read(0, head));
  std::uint32_t length = 0;
  std::memcpy(&length, head.data() + 4, sizeof length);
  if (length < kHeaderMagic.size() || length > kHeaderBytesMax) return damaged(file, 4, "not a snapshot's header");
  auto bytes = read_frame(file, 0, kHeaderFrame, length, "header");
  LOCKSTEP_TRY(bytes);
  std::span<const std::byte> left(*bytes);
  if (std::memcmp(left.data(), kHeaderMagic.data(), kHeaderMagic.size()) != 0) {
    return damaged(file, kFrameHeadBytes, "not a snapshot of Lockstep");
  }
  if (!unseal(left)) return damaged(file, 0, "the header's checksum differs");
  left = left.subspan(std::min(left.size(), kHeaderMagic.size()));
  std::uint32_t format = 0;
  if (left.size() < sizeof format) return damaged(file, 0, "the header is too short");
  std::memcpy(&format, left.data(), sizeof format);
  if (format > kSnapshotFormat) {
    return fail(ErrorCode::NewerFormat, file.path().string() + ": snapshot format " + std::to_string(format) +
                                            ", this release reads up to " + std::to_string(kSnapshotFormat) +
                                            "; use the release that wrote it");
  }
  FileHeader header;
  if (format == 0 || !decode_whole(left, header) || header.store_id.size() > kStoreIdBytesMax) {
    return damaged(file, 0, "the header does not decode");
  }
  after = kFrameHeadBytes + length;
  return header;
}

Result<FileFooter> read_footer(const FileReader& file) {
  if (file.size() < kFooterBytes) return damaged(file, 0, "too short to have a footer");
  const std::uint64_t offset = file.size() - kFooterBytes;
  auto bytes = read_frame(file, offset, kFooterFrame, kFooterBytes - kFrameHeadBytes, "footer (cut short?)");
  LOCKSTEP_TRY(bytes);
  std::span<const std::byte> left(*bytes);
  if (std::memcmp(left.data() + left.size() - kFooterMagic.size(), kFooterMagic.data(), kFooterMagic.size()) != 0) {
    return damaged(file, file.size() - kFooterMagic.size(), "the footer does not end as it should");
  }
  left = left.first(left.size() - kFooterMagic.size());
  FileFooter footer;
  if (!unseal(left) || !decode_whole(left, footer)) return damaged(file, offset, "the footer's checksum differs");
  return footer;
}

Result<FileIndex> read_index(const FileReader& file, const FileFooter& footer) {
  const std::uint64_t end = file.size() - kFooterBytes;
  const std::uint64_t offset = footer.index_offset;
  if (offset > end || end - offset < kFrameHeadBytes) return damaged(file, offset, "no room for the index");
  if (footer.chunks > offset / kChunkHeaderBytes)
    return damaged(file, offset, "more chunks than the file has room for");
  auto bytes = read_frame(file, offset, kIndexFrame, end - offset - kFrameHeadBytes, "index");
  LOCKSTEP_TRY(bytes);
  std::span<const std::byte> left(*bytes);
  FileIndex index;
  if (!unseal(left) || !decode_whole(left, index)) return damaged(file, offset, "the index's checksum differs");
  if (index.chunks.size() != footer.chunks) return damaged(file, offset, "index and footer differ in their chunks");
  return index;
}

Result<ChunkHeader> read_chunk_header(const FileReader& file, std::uint64_t offset, std::uint64_t end) {
  if (offset > end || end - offset < kChunkHeaderBytes) return damaged(file, offset, "no room for a chunk");
  auto bytes = read_frame(file, offset, kChunkFrame, kChunkHeaderBytes - kFrameHeadBytes, "chunk");
  LOCKSTEP_TRY(bytes);
  ChunkHeader header;
  if (!decode_whole(*bytes, header)) return damaged(file, offset, "the chunk's header does not decode");
  if (header.packed_bytes > end - offset - kChunkHeaderBytes) {
    return damaged(file, offset, "a chunk of " + std::to_string(header.packed_bytes) + " bytes does not fit the file");
  }
  if (header.raw_bytes > kChunkRawBytesMax || header.packed_bytes > kChunkRawBytesMax + (kChunkRawBytesMax >> 7U) ||
      header.count == 0 || header.count > header.raw_bytes) {
    return damaged(file, offset,
                   "a chunk claims " + std::to_string(header.count) + " entities in " +
                       std::to_string(header.raw_bytes) + " bytes");
  }
  return header;
}

Result<void> check_layout(const std::filesystem::path& path, const FileHeader& header) {
  if (header.fingerprint == snapshot_fingerprint()) return {};
  return fail(ErrorCode::NewerFormat,
              path.string() + ": written by a release with other fields; use that release, or replay the log",
              header.seq);
}

SnapshotInfo to_info(const FileReader& file, const FileHeader& header, const FileFooter& footer) {
  SnapshotInfo info;
  info.path = file.path();
  info.store_id = header.store_id;
  info.head = Head{header.seq, from_words(header.record_hash), header.epoch};
  info.digest = Digest{header.digest_high, header.digest_low};
  info.digest_version = header.digest_version;
  info.time = header.time;
  info.groups = header.counts.groups;
  info.members = header.counts.members;
  info.hosts = header.counts.hosts;
  info.raw_bytes = footer.raw_bytes;
  info.file_bytes = file.size();
  return info;
}

}  // namespace lockstep
