#pragma once
// A snapshot file, opened: header and footer checked. The body is read chunk by chunk, each checked before anybody sees
// it; memory is that of one chunk.

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "snapshot/checksum.h"
#include "snapshot/compress.h"
#include "snapshot/file.h"
#include "snapshot/format.h"

namespace lockstep {

// The raw bytes of one chunk and where it stands.
struct Chunk {
  ChunkHeader header{};
  std::uint64_t offset{};
  std::span<const std::byte> raw{};  // valid until the next chunk is read
};

class SnapshotFile {
 public:
  [[nodiscard]] static Result<SnapshotFile> open(const std::filesystem::path& path);

  [[nodiscard]] const FileReader& file() const { return file_; }
  [[nodiscard]] const FileHeader& header() const { return header_; }
  [[nodiscard]] const FileFooter& footer() const { return footer_; }
  [[nodiscard]] SnapshotInfo info() const { return to_info(file_, header_, footer_); }

  // Every chunk in order, then that nothing stands between them, and the checksum of the whole file. Stops at the
  // first error of its own or of `visit`.
  using Visit = std::function<Result<void>(const Chunk&)>;
  [[nodiscard]] Result<void> for_each_chunk(const Visit& visit);
  // The chunk of the entity `id` alone, by the index. NotFound.
  [[nodiscard]] Result<Chunk> find_chunk(FactKind kind, std::uint64_t id);

 private:
  explicit SnapshotFile(FileReader file) : file_(std::move(file)) {}
  Result<Chunk> read_chunk(const IndexEntry& entry, Checksum& sum);
  Result<void> add_range(Checksum& sum, std::uint64_t offset, std::uint64_t end);

  FileReader file_;
  FileHeader header_{};
  FileFooter footer_{};
  std::uint64_t body_offset_ = 0;
  Decompressor decompressor_;
  std::vector<std::byte> packed_;
  std::unique_ptr<std::byte[]> raw_;  // not a vector: what is not unpacked is not touched
  std::size_t raw_capacity_ = 0;
};

}  // namespace lockstep
