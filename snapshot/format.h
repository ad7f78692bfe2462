#pragma once
// The pieces of a snapshot file that are not entities, and their bytes. snapshot/FORMAT.md draws them:
//
//     header   chunk header + zstd frame, ...   index   footer
//
// Whatever is no zstd frame stands in a zstd skippable frame, so `zstd -d` makes the raw chunks of a whole file.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/fields.h"
#include "events/ids.h"
#include "events/record.h"
#include "snapshot/facts.h"
#include "snapshot/file.h"
#include "snapshot/snapshot.h"

namespace lockstep {

inline constexpr std::uint32_t kSnapshotFormat = 1;
inline constexpr std::uint32_t kHeaderFrame = 0x184D2A50;  // magics of skippable frames
inline constexpr std::uint32_t kChunkFrame = 0x184D2A51;
inline constexpr std::uint32_t kIndexFrame = 0x184D2A52;
inline constexpr std::uint32_t kFooterFrame = 0x184D2A53;
inline constexpr std::size_t kFrameHeadBytes = 8;  // magic, length

inline constexpr std::size_t kHeaderBytesMax = 4'096;
inline constexpr std::size_t kStoreIdBytesMax = 256;
inline constexpr std::size_t kChunkRawBytes = std::size_t{256} << 10U;  // a chunk is closed at this size
inline constexpr std::size_t kChunkRawBytesMax = std::size_t{1}
                                                 << 30U;  // one group of 1,000,000 members: 100 to 300 MB
inline constexpr std::uint32_t kWindowLogMax = 23;

struct HashWords {
  std::uint64_t a{}, b{}, c{}, d{};
};
LOCKSTEP_FIELDS(HashWords, a, b, c, d)
[[nodiscard]] HashWords to_words(const Hash& hash);
[[nodiscard]] Hash from_words(const HashWords& words);

struct SnapshotCounts {
  std::uint64_t groups{};
  std::uint64_t members{};
  std::uint64_t hosts{};
  std::uint64_t pools{};
  std::uint64_t claims{};
  std::uint64_t clients{};
  std::uint64_t specs{};
  friend bool operator==(const SnapshotCounts&, const SnapshotCounts&) = default;
};
LOCKSTEP_FIELDS(SnapshotCounts, groups, members, hosts, pools, claims, clients, specs)
[[nodiscard]] SnapshotCounts count_facts(const State& state);

struct FileHeader {
  std::uint32_t format{kSnapshotFormat};  // first in every format there will be
  std::uint32_t digest_version{};
  std::uint64_t fingerprint{};  // of the field lists: snapshot/layout.h
  Seq seq{};
  Epoch epoch{};
  Time time{};
  HashWords record_hash{};
  std::uint64_t digest_high{};
  std::uint64_t digest_low{};
  SnapshotCounts counts{};
  std::string store_id;
};
LOCKSTEP_FIELDS(FileHeader, format, digest_version, fingerprint, seq, epoch, time, record_hash, digest_high, digest_low,
                counts, store_id)

struct ChunkHeader {
  std::uint32_t kind{};  // FactKind
  std::uint64_t first{};
  std::uint64_t last{};
  std::uint64_t count{};
  std::uint64_t raw_bytes{};
  std::uint64_t packed_bytes{};
  std::uint64_t checksum{};  // of the fields before and of the packed bytes
};
LOCKSTEP_FIELDS(ChunkHeader, kind, first, last, count, raw_bytes, packed_bytes, checksum)
inline constexpr std::size_t kChunkHeaderBytes = kFrameHeadBytes + 4 + 6 * 8;
[[nodiscard]] std::uint64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> packed);

struct IndexEntry {
  std::uint32_t kind{};
  std::uint64_t first{};
  std::uint64_t last{};
  std::uint64_t offset{};  // of the chunk header
};
LOCKSTEP_FIELDS(IndexEntry, kind, first, last, offset)
struct FileIndex {
  std::vector<IndexEntry> chunks;
};
LOCKSTEP_FIELDS(FileIndex, chunks)

struct FileFooter {
  SnapshotCounts counts{};  // as written: equal to the header's
  std::uint64_t chunks{};
  std::uint64_t raw_bytes{};
  std::uint64_t index_offset{};
  std::uint64_t file_checksum{};  // of every byte before the footer
};
LOCKSTEP_FIELDS(FileFooter, counts, chunks, raw_bytes, index_offset, file_checksum)
inline constexpr std::size_t kFooterBytes = kFrameHeadBytes + 8 + 7 * 8 + 4 * 8 + 8;

[[nodiscard]] std::vector<std::byte> encode_header(const FileHeader& header);
[[nodiscard]] std::vector<std::byte> encode_chunk_header(const ChunkHeader& header);
[[nodiscard]] std::vector<std::byte> encode_index(const FileIndex& index);
[[nodiscard]] std::vector<std::byte> encode_footer(const FileFooter& footer);

// Each checks magics, lengths and checksums, and that nothing is left over. Damaged, or NewerFormat (the header alone).
[[nodiscard]] Result<FileHeader> read_header(const FileReader& file, std::uint64_t& after);  // offset behind it
[[nodiscard]] Result<FileFooter> read_footer(const FileReader& file);
[[nodiscard]] Result<FileIndex> read_index(const FileReader& file, const FileFooter& footer);
// Lengths are checked against the caps and against `end`, where the packed bytes must end at the latest.
[[nodiscard]] Result<ChunkHeader> read_chunk_header(const FileReader& file, std::uint64_t offset, std::uint64_t end);

// NewerFormat when the fields it was written with are not ours.
[[nodiscard]] Result<void> check_layout(const std::filesystem::path& path, const FileHeader& header);
[[nodiscard]] SnapshotInfo to_info(const FileReader& file, const FileHeader& header, const FileFooter& footer);
// Damaged, naming file and offset.
[[nodiscard]] tl::unexpected<Error> damaged(const FileReader& file, std::uint64_t offset, const std::string& what,
                                            Seq seq = {});

}  // namespace lockstep
