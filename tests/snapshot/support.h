#pragma once
// Fresh directories, files as bytes, and snapshot files put together by hand with whatever lies a test wants to tell,
// all checksums right.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "filler.h"
#include "snapshot/compress.h"
#include "snapshot/format.h"
#include "snapshot/reader.h"
#include "snapshot/snapshot.h"

namespace lockstep::test {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "lockstep-snapshot-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using Bytes = std::vector<std::byte>;

inline Bytes read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// In place, without emptying the file first: ext4 takes that for a replacement and flushes it.
inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_TRUE(fd) << path;
  ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes.size())), 0);
}

inline std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// The state under this digest: what a hand-made state needs before it can be written.
inline State sealed(State state) {
  state.sum = compute_sum(state);
  return state;
}

// A file taken apart. assemble() puts it together again and fills in every length, offset and checksum, except what a
// test has set in a chunk's `claims`.
struct Parts {
  struct Piece {
    ChunkHeader header{};  // kind, first, last, count; raw_bytes as claimed
    Bytes raw{};
    Bytes packed{};                // empty: from raw
    std::uint64_t packed_claim{};  // 0: the true one
  };
  FileHeader header{};
  std::vector<Piece> pieces;
  FileFooter footer{};

  [[nodiscard]] Piece& piece(FactKind kind) {
    for (Piece& piece : pieces) {
      if (piece.header.kind == static_cast<std::uint32_t>(kind)) return piece;
    }
    ADD_FAILURE() << "no chunk of " << name(kind);
    return pieces.front();
  }
};

inline Parts take_apart(const std::filesystem::path& path) {
  auto file = SnapshotFile::open(path);
  EXPECT_TRUE(file) << file.error().message;
  Parts parts{file->header(), {}, file->footer()};
  const auto read = file->for_each_chunk([&](const Chunk& chunk) -> Result<void> {
    parts.pieces.push_back({chunk.header, {chunk.raw.begin(), chunk.raw.end()}, {}, 0});
    return {};
  });
  EXPECT_TRUE(read) << read.error().message;
  return parts;
}

inline Bytes assemble(const Parts& parts) {
  Bytes out = encode_header(parts.header);
  const auto append = [&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  FileIndex index;
  FileFooter footer = parts.footer;
  footer.raw_bytes = 0;
  Compressor compressor;
  for (const Parts::Piece& piece : parts.pieces) {
    const auto fresh = compressor.pack(piece.raw);
    const auto packed = piece.packed.empty() ? fresh : std::span<const std::byte>(piece.packed);
    ChunkHeader header = piece.header;
    header.packed_bytes = piece.packed_claim != 0 ? piece.packed_claim : packed.size();
    header.checksum = chunk_checksum(header, packed);
    index.chunks.push_back({header.kind, header.first, header.last, out.size()});
    footer.raw_bytes += header.raw_bytes;
    append(encode_chunk_header(header));
    append(packed);
  }
  footer.chunks = index.chunks.size();
  footer.index_offset = out.size();
  append(encode_index(index));
  footer.file_checksum = checksum(out);
  append(encode_footer(footer));
  return out;
}

// The seed of this run: LOCKSTEP_SEED, or the given one. Printed first.
inline std::uint64_t seed_of_run(std::uint64_t otherwise) {
  const char* text = std::getenv("LOCKSTEP_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
  std::cout << "LOCKSTEP_SEED=" << seed << "\n";
  return seed;
}

}  // namespace lockstep::test
