// Damage of every kind to the bytes: each byte changed, each length of file, each claim about a length, kind or order a
// lie with all checksums right. Always a refusal that names file and offset; never a crash, and never another state.
// Shows R13, R14.

#include <gtest/gtest.h>

#include <set>

#include "support.h"

namespace lockstep::test {
namespace {

class Damage : public testing::Test {
 protected:
  Damage() {
    const State state = small_state();
    const auto written = SnapshotStore(dir_.path(), "s").write(state, head_of(state));
    EXPECT_TRUE(written) << (written ? "" : written.error().message);
    path_ = written->path;
    bytes_ = read_bytes(path_);
    parts_ = take_apart(path_);
  }

  // What load says of these bytes; verify must say the same, and nobody may crash.
  Error refused(std::span<const std::byte> bytes) {
    write_bytes(path_, bytes);
    const auto loaded = load_snapshot(path_);
    const auto verified = verify_snapshot(path_);
    (void)load_group(path_, GroupId{1});
    (void)describe_snapshot(path_);
    if (loaded || verified) {
      ADD_FAILURE() << "passed for good";
      return {};
    }
    EXPECT_EQ(loaded.error().message, verified.error().message);
    EXPECT_NE(loaded.error().message.find(path_.string()), std::string::npos) << loaded.error().message;
    EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos);
    return loaded.error();
  }
  Error refused(const Parts& parts) { return refused(assemble(parts)); }
  void expect_damaged(const Error& error, const std::string& what) {
    EXPECT_EQ(error.code, ErrorCode::Damaged) << error.message;
    EXPECT_NE(error.message.find(what), std::string::npos) << error.message << "\nexpected: " << what;
    EXPECT_NE(error.message.find("offset"), std::string::npos) << error.message;
  }

  TempDir dir_;
  std::filesystem::path path_;
  Bytes bytes_;
  Parts parts_;
};

TEST_F(Damage, OfNothingAtAllIsRead) {
  write_bytes(path_, assemble(parts_));
  EXPECT_EQ(read_bytes(path_), bytes_);
  EXPECT_TRUE(load_snapshot(path_));
}

TEST_F(Damage, OfAnyOneByteIsRefused_P127) {
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    for (const std::byte flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      SCOPED_TRACE("byte " + std::to_string(at));
      Bytes bytes = bytes_;
      bytes[at] ^= flip;
      expect_damaged(refused(bytes), "");
      if (HasFailure()) return;
    }
  }
}

TEST_F(Damage, ByCuttingAtAnyLengthIsRefused) {
  for (std::size_t length = 0; length < bytes_.size(); ++length) {
    SCOPED_TRACE("length " + std::to_string(length));
    expect_damaged(refused(std::span(bytes_).first(length)), "");
    if (HasFailure()) return;
  }
}

TEST_F(Damage, ByBytesBehindTheEndIsRefused) {
  for (const std::size_t more : {1U, 7U, 8U, 4096U}) {
    Bytes bytes = bytes_;
    bytes.resize(bytes.size() + more);
    expect_damaged(refused(bytes), "");
  }
}

TEST_F(Damage, ByAZeroedSectorIsRefused) {
  for (std::size_t at = 0; at < bytes_.size(); at += 512) {
    Bytes bytes = bytes_;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(512, bytes.size() - at),
                std::byte{});
    expect_damaged(refused(bytes), "");
  }
}

TEST_F(Damage, ByTwoChunksThatChangedPlacesIsRefused) {
  std::swap(parts_.pieces[2], parts_.pieces[3]);
  expect_damaged(refused(parts_), "out of order");
}

TEST_F(Damage, ByAChunkThatIsMissingOrTwiceIsRefused_P53) {
  for (std::size_t i = 1; i < parts_.pieces.size(); ++i) {
    Parts without = parts_;
    without.pieces.erase(without.pieces.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(refused(without).code, ErrorCode::Damaged) << i;
    Parts twice = parts_;
    twice.pieces.insert(twice.pieces.begin() + static_cast<std::ptrdiff_t>(i), twice.pieces[i]);
    EXPECT_EQ(refused(twice).code, ErrorCode::Damaged) << i;
  }
}

TEST_F(Damage, ByCountsThatDoNotMatchWhatIsThereIsRefused_P53) {
  for_each_field(parts_.header.counts, [&](std::string_view name, std::uint64_t& count) {
    SCOPED_TRACE(name);
    ++count;
    expect_damaged(refused(parts_), "header and footer differ");
    Parts both = parts_;
    both.footer.counts = both.header.counts;
    expect_damaged(refused(both), "other numbers of entities");
    --count;
  });
}

TEST_F(Damage, ByAHeaderOfAnotherSeqOrDigestIsRefused) {
  Parts other = parts_;
  ++other.header.seq.value;
  expect_damaged(refused(other), "another seq");
  other = parts_;
  ++other.header.time.value;
  expect_damaged(refused(other), "another seq");
  other = parts_;
  ++other.header.digest_low;
  expect_damaged(refused(other), "digest");
}

TEST_F(Damage, ADigestOfAnotherVersionIsNotCompared_P80) {
  ++parts_.header.digest_low;
  ++parts_.header.digest_version;
  write_bytes(path_, assemble(parts_));
  const auto loaded = load_snapshot(path_);
  EXPECT_TRUE(loaded) << loaded.error().message;
}

// ---- what a newer release writes ----------------------------------------------------------------------------------

TEST_F(Damage, NotButNewerIsAnUnknownKindOfChunkInTheMiddle_P53) {
  Parts::Piece piece = parts_.pieces[3];
  piece.header.kind = 99;
  parts_.pieces.insert(parts_.pieces.begin() + 4, piece);
  const Error error = refused(parts_);
  EXPECT_EQ(error.code, ErrorCode::NewerFormat);
  EXPECT_NE(error.message.find("kind 99"), std::string::npos) << error.message;
}

TEST_F(Damage, NotButNewerIsAFileOfAnotherFormatOrWithOtherFields) {
  Parts newer = parts_;
  newer.header.format = kSnapshotFormat + 1;
  EXPECT_EQ(refused(newer).code, ErrorCode::NewerFormat);
  Parts other = parts_;
  ++other.header.fingerprint;
  EXPECT_EQ(refused(other).code, ErrorCode::NewerFormat);
  EXPECT_TRUE(describe_snapshot(path_)) << "the header can still be told";
  Parts zero = parts_;
  zero.header.format = 0;
  EXPECT_EQ(refused(zero).code, ErrorCode::Damaged);
}

// ---- lies about lengths -------------------------------------------------------------------------------------------

TEST_F(Damage, ClaimsOfRawLengthCostNothingAndAreRefused) {
  const std::uint64_t good = parts_.piece(FactKind::Group).header.raw_bytes;
  for (const std::uint64_t claim : {std::uint64_t{0}, good - 1, good + 1, std::uint64_t{1} << 29U,
                                    std::uint64_t{1} << 31U, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    SCOPED_TRACE(claim);
    Parts parts = parts_;
    parts.piece(FactKind::Group).header.raw_bytes = claim;
    expect_damaged(refused(parts), "");
  }
}

TEST_F(Damage, ClaimsOfPackedLengthCostNothingAndAreRefused) {
  for (const std::uint64_t claim :
       {std::uint64_t{1}, std::uint64_t{1} << 31U, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    SCOPED_TRACE(claim);
    Parts parts = parts_;
    parts.piece(FactKind::Group).packed_claim = claim;
    expect_damaged(refused(parts), "");
  }
}

TEST_F(Damage, ClaimsOfCountsAndIdsAreRefused) {
  using Edit = void (*)(ChunkHeader&);
  for (const Edit edit : std::initializer_list<Edit>{
           [](ChunkHeader& h) { h.count = 0; }, [](ChunkHeader& h) { ++h.count; },
           [](ChunkHeader& h) { h.count = ~std::uint64_t{0}; }, [](ChunkHeader& h) { h.count = h.raw_bytes; },
           [](ChunkHeader& h) { ++h.first; }, [](ChunkHeader& h) { ++h.last; }, [](ChunkHeader& h) { h.last = 0; }}) {
    Parts parts = parts_;
    edit(parts.piece(FactKind::Group).header);
    expect_damaged(refused(parts), "");
  }
}

TEST_F(Damage, ClaimsOfTheFooterAreRefused) {
  using Edit = void (*)(FileFooter&);
  const auto file = SnapshotFile::open(path_);
  ASSERT_TRUE(file);
  for (const Edit edit : std::initializer_list<Edit>{
           [](FileFooter& f) { ++f.chunks; }, [](FileFooter& f) { f.chunks = ~std::uint64_t{0}; },
           [](FileFooter& f) { f.index_offset = 0; }, [](FileFooter& f) { ++f.index_offset; },
           [](FileFooter& f) { f.index_offset = std::uint64_t{1} << 63U; },
           [](FileFooter& f) { f.index_offset = ~std::uint64_t{0}; }, [](FileFooter& f) { ++f.raw_bytes; },
           [](FileFooter& f) { ++f.file_checksum; }}) {
    FileFooter footer = file->footer();
    edit(footer);
    Bytes bytes(bytes_.begin(), bytes_.end() - static_cast<std::ptrdiff_t>(kFooterBytes));
    const Bytes tail = encode_footer(footer);
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    expect_damaged(refused(bytes), "");
  }
}

// A count of elements in the entities themselves: each run of four bytes becomes a huge number.
TEST_F(Damage, ClaimsOfElementCountsCostNothingAndAreRefused) {
  for (const FactKind kind : {FactKind::Head, FactKind::Host, FactKind::Spec, FactKind::Group}) {
    for (std::size_t at = 0; at + 4 <= parts_.piece(kind).raw.size(); ++at) {
      Parts parts = parts_;
      std::fill_n(parts.piece(kind).raw.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte{0xfe});
      SCOPED_TRACE(std::string(name(kind)) + " byte " + std::to_string(at));
      EXPECT_EQ(refused(parts).code, ErrorCode::Damaged);
      if (HasFailure()) return;
    }
  }
}

// ---- frames -------------------------------------------------------------------------------------------------------

TEST_F(Damage, FramesThatAreNotExactlyOursAreRefused) {
  Parts::Piece& piece = parts_.piece(FactKind::Group);
  Compressor compressor;
  const auto packed = compressor.pack(piece.raw);
  const Bytes good(packed.begin(), packed.end());
  const auto with = [&](Bytes frame) {
    piece.packed = std::move(frame);
    return refused(parts_);
  };
  Bytes twice = good;
  twice.insert(twice.end(), good.begin(), good.end());
  expect_damaged(with(twice), "exactly one frame");
  Bytes longer = good;
  longer.emplace_back();
  expect_damaged(with(longer), "exactly one frame");
  expect_damaged(with({good.begin(), good.end() - 1}), "exactly one frame");
  expect_damaged(with({good.begin(), good.begin() + 5}), "too short");
  Bytes unchecked = good;
  unchecked[4] &= ~std::byte{0x04};
  expect_damaged(with(unchecked), "no checksum");
  Bytes dictionary = good;
  dictionary[4] |= std::byte{0x01};
  expect_damaged(with(dictionary), "dictionary");
  Bytes wide = good;  // no single segment: the next byte is the window
  wide[4] &= ~std::byte{0x20};
  wide[5] = std::byte{0xa8};
  expect_damaged(with(wide), "window");
  Bytes skippable = good;
  skippable[0] = std::byte{0x50};
  skippable[1] = std::byte{0x2a};
  skippable[2] = std::byte{0x4d};
  skippable[3] = std::byte{0x18};
  expect_damaged(with(skippable), "no zstd frame");
}

TEST_F(Damage, ByAFlippedBitInsideAFrameIsFoundByZstdsOwnChecksumToo_P127) {
  const Bytes raw = parts_.piece(FactKind::Group).raw;
  Compressor compressor;
  const auto packed = compressor.pack(raw);
  Bytes same(raw.size());
  ASSERT_EQ(Decompressor().unpack(packed, same), "");
  ASSERT_EQ(same, raw);
  int passed = 0;
  for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
    Bytes flipped(packed.begin(), packed.end());
    flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    Bytes out(raw.size());
    if (Decompressor().unpack(flipped, out).empty() && out != raw) ++passed;  // a bit that means nothing may pass
  }
  EXPECT_EQ(passed, 0);
}

TEST(DamagedFile, ThatIsNoFileOrNotOursIsRefused) {
  const TempDir dir;
  const auto path = dir.path() / "snapshot-00000000000000000001.lks";
  for (const std::string& text : {std::string(), std::string("{}"), std::string(5000, 'x'), std::string(5000, '\0')}) {
    write_bytes(path, std::as_bytes(std::span(text)));
    const auto loaded = load_snapshot(path);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::Damaged) << loaded.error().message;
  }
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(load_snapshot(path).error().code, ErrorCode::Damaged);
  std::filesystem::remove(path);
  ASSERT_EQ(::system(("mkfifo '" + path.string() + "'").c_str()), 0);
  EXPECT_EQ(load_snapshot(path).error().code, ErrorCode::Damaged);  // and does not wait for a writer
}

}  // namespace
}  // namespace lockstep::test
