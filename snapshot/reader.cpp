#include "snapshot/reader.h"

#include <algorithm>

namespace lockstep {

Result<SnapshotFile> SnapshotFile::open(const std::filesystem::path& path) {
  auto file = FileReader::open(path);
  LOCKSTEP_TRY(file);
  SnapshotFile snapshot(std::move(*file));
  auto header = read_header(snapshot.file_, snapshot.body_offset_);
  LOCKSTEP_TRY(header);
  auto footer = read_footer(snapshot.file_);
  LOCKSTEP_TRY(footer);
  snapshot.header_ = std::move(*header);
  snapshot.footer_ = *footer;
  if (snapshot.header_.counts != snapshot.footer_.counts) {
    return damaged(snapshot.file_, snapshot.file_.size() - kFooterBytes, "header and footer differ in what they count",
                   snapshot.header_.seq);
  }
  return snapshot;
}

Result<void> SnapshotFile::add_range(Checksum& sum, std::uint64_t offset, std::uint64_t end) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20U;
  while (offset < end) {
    packed_.resize(static_cast<std::size_t>(std::min(end - offset, kPieceBytes)));
    LOCKSTEP_TRY(file_.read(offset, packed_));
    sum.add(packed_);
    offset += packed_.size();
  }
  return {};
}

Result<Chunk> SnapshotFile::read_chunk(const IndexEntry& entry, Checksum& sum) {
  const auto header = read_chunk_header(file_, entry.offset, footer_.index_offset);
  LOCKSTEP_TRY(header);
  if (header->kind != entry.kind || header->first != entry.first || header->last != entry.last) {
    return damaged(file_, entry.offset, "chunk and index differ", header_.seq);
  }
  const auto raw_bytes = static_cast<std::size_t>(header->raw_bytes);
  packed_.resize(kChunkHeaderBytes + static_cast<std::size_t>(header->packed_bytes));
  LOCKSTEP_TRY(file_.read(entry.offset, packed_));
  sum.add(packed_);
  const auto packed = std::span<const std::byte>(packed_).subspan(kChunkHeaderBytes);
  if (chunk_checksum(*header, packed) != header->checksum) {
    return damaged(file_, entry.offset, "the chunk's checksum differs", header_.seq);
  }
  if (raw_bytes > raw_capacity_) {
    raw_.reset();
    raw_ = std::make_unique_for_overwrite<std::byte[]>(raw_bytes);
    raw_capacity_ = raw_bytes;
  }
  const std::span<std::byte> raw(raw_.get(), raw_bytes);
  if (const std::string wrong = decompressor_.unpack(packed, raw); !wrong.empty()) {
    return damaged(file_, entry.offset + kChunkHeaderBytes, wrong, header_.seq);
  }
  return Chunk{*header, entry.offset, raw};
}

Result<void> SnapshotFile::for_each_chunk(const Visit& visit) {
  const auto index = read_index(file_, footer_);
  LOCKSTEP_TRY(index);
  Checksum sum;
  LOCKSTEP_TRY(add_range(sum, 0, body_offset_));
  std::uint64_t offset = body_offset_;
  std::uint64_t raw_bytes = 0;
  for (const IndexEntry& entry : index->chunks) {
    if (entry.offset != offset) return damaged(file_, offset, "the index names another offset", header_.seq);
    const auto chunk = read_chunk(entry, sum);
    LOCKSTEP_TRY(chunk);
    LOCKSTEP_TRY(visit(*chunk));
    offset += kChunkHeaderBytes + chunk->header.packed_bytes;
    raw_bytes += chunk->header.raw_bytes;
  }
  if (offset != footer_.index_offset) return damaged(file_, offset, "bytes that no chunk owns", header_.seq);
  if (raw_bytes != footer_.raw_bytes)
    return damaged(file_, offset, "the chunks' sizes differ from the footer", header_.seq);
  LOCKSTEP_TRY(add_range(sum, offset, file_.size() - kFooterBytes));
  if (sum.value() != footer_.file_checksum) {
    return damaged(file_, 0, "the checksum of the whole file differs", header_.seq);
  }
  return {};
}

Result<Chunk> SnapshotFile::find_chunk(FactKind kind, std::uint64_t id) {
  const auto index = read_index(file_, footer_);
  LOCKSTEP_TRY(index);
  Checksum unused;
  for (const IndexEntry& entry : index->chunks) {
    if (entry.kind == static_cast<std::uint32_t>(kind) && entry.first <= id && id <= entry.last) {
      return read_chunk(entry, unused);
    }
  }
  return fail(ErrorCode::NotFound,
              std::string(name(kind)) + " " + std::to_string(id) + " is not in " + file_.path().string() +
                  "; take another snapshot or replay",
              header_.seq);
}

}  // namespace lockstep
