#include "snapshot/writer.h"

#include "events/walk.h"
#include "snapshot/compress.h"
#include "snapshot/facts.h"
#include "snapshot/layout.h"
#include "statemachine/digest.h"

namespace lockstep {
namespace {

// Collects entities of one kind and closes a chunk when it is full. After an error it does nothing more.
class ChunkWriter {
 public:
  explicit ChunkWriter(FileWriter& file) : file_(file) { raw_.reserve(2 * kChunkRawBytes); }

  template <class Key, class Entity>
  void add(FactKind kind, std::uint64_t id, const Key& key, const Entity& entity) {
    if (!status_) return;
    if (kind != kind_) close();
    kind_ = kind;
    const std::size_t before = raw_.size();
    ByteSink sink{raw_};
    walk_write(sink, key);
    walk_write(sink, entity);
    add_written(id, before);
  }
  void add_text(FactKind kind, const std::string& text) {
    kind_ = kind;
    ByteSink{raw_}.put(text.data(), text.size());
    add_written(1, 0);
  }
  void close() {
    if (count_ > 0) close_with(raw_);
    raw_.clear();
  }

  [[nodiscard]] const Result<void>& status() const { return status_; }
  [[nodiscard]] const FileIndex& index() const { return index_; }
  [[nodiscard]] std::uint64_t raw_bytes() const { return raw_bytes_; }

 private:
  // The entity `id` stands in raw_ from `before` on. One that is bigger than a chunk gets a chunk of its own.
  void add_written(std::uint64_t id, std::size_t before) {
    if (before > 0 && raw_.size() - before > kChunkRawBytes) {
      close_with(std::span(raw_).first(before));
      raw_.erase(raw_.begin(), raw_.begin() + static_cast<std::ptrdiff_t>(before));
    }
    if (count_ == 0) first_ = id;
    last_ = id;
    ++count_;
    if (raw_.size() >= kChunkRawBytes) close();
    if (raw_.empty() && raw_.capacity() > 64 * kChunkRawBytes) raw_ = {};  // one giant group's buffer is not kept
  }

  void close_with(std::span<const std::byte> raw) {
    ChunkHeader header{static_cast<std::uint32_t>(kind_), first_, last_, count_, raw.size(), 0, 0};
    count_ = 0;
    if (raw.size() > kChunkRawBytesMax) {
      status_ =
          fail(ErrorCode::StorageFailed, std::string(name(kind_)) + " " + std::to_string(header.first) + " is " +
                                             std::to_string(raw.size()) + " bytes, more than a snapshot can hold");
    }
    if (!status_) return;
    const auto packed = compressor_.pack(raw);
    header.packed_bytes = packed.size();
    header.checksum = chunk_checksum(header, packed);
    index_.chunks.push_back({header.kind, header.first, header.last, file_.size()});
    raw_bytes_ += raw.size();
    status_ = file_.put(encode_chunk_header(header));
    if (status_) status_ = file_.put(packed);
  }

  FileWriter& file_;
  Compressor compressor_;
  std::vector<std::byte> raw_;
  FactKind kind_{FactKind::Layout};
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t count_ = 0;
  FileIndex index_;
  std::uint64_t raw_bytes_ = 0;
  Result<void> status_;
};

FileHeader make_header(const State& state, const Head& head, const std::string& store_id) {
  FileHeader header;
  header.digest_version = kDigestVersion;
  header.fingerprint = snapshot_fingerprint();
  header.seq = head.seq;
  header.epoch = head.epoch;
  header.time = state.head.time;
  header.record_hash = to_words(head.hash);
  const Digest digest = state.digest();
  header.digest_high = digest.high;
  header.digest_low = digest.low;
  header.counts = count_facts(state);
  header.store_id = store_id;
  return header;
}

}  // namespace

Result<void> write_snapshot(FileWriter& file, const State& state, const Head& head, const std::string& store_id) {
  LOCKSTEP_CHECK(head.seq == state.head.seq, "a snapshot is the state at the log's head: head " +
                                                 std::to_string(head.seq.value) + ", state " +
                                                 std::to_string(state.head.seq.value));
  LOCKSTEP_CHECK(store_id.size() <= kStoreIdBytesMax, "store id too long");
  const Digest digest = compute_digest(state);
  LOCKSTEP_CHECK(digest == state.digest(), "the kept digest is not that of the state at seq " +
                                             std::to_string(state.head.seq.value) + ": kept " + hex(state.digest()) +
                                             ", computed " + hex(digest));
  const FileHeader header = make_header(state, head, store_id);
  LOCKSTEP_TRY(file.put(encode_header(header)));
  ChunkWriter chunks(file);
  chunks.add_text(FactKind::Layout, snapshot_layout());
  for_each_table([&](FactKind kind, auto table) {
    for_each_entity(state.*table,
                    [&](std::uint64_t id, const auto& key, const auto& entity) { chunks.add(kind, id, key, entity); });
  });
  chunks.close();
  LOCKSTEP_TRY(chunks.status());

  FileFooter footer;
  footer.counts = header.counts;
  footer.chunks = chunks.index().chunks.size();
  footer.raw_bytes = chunks.raw_bytes();
  footer.index_offset = file.size();
  LOCKSTEP_TRY(file.put(encode_index(chunks.index())));
  footer.file_checksum = file.checksum_so_far();
  return file.put(encode_footer(footer));
}

}  // namespace lockstep
