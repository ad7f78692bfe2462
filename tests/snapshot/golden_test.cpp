// Files written once and kept: those in valid/ are read back, with the digest that was recorded beside them; those in
// invalid/ are refused with the code that begins their name. LOCKSTEP_WRITE_GOLDEN=1 writes the ones that are missing,
// never one that is there.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "support.h"

namespace lockstep::test {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/golden/snapshot";

bool writes_golden() { return std::getenv("LOCKSTEP_WRITE_GOLDEN") != nullptr; }

void write_if_missing(const fs::path& path, std::span<const std::byte> bytes) {
  if (fs::exists(path)) return;
  fs::create_directories(path.parent_path());
  write_bytes(path, bytes);
}
void write_if_missing(const fs::path& path, const std::string& text) {
  write_if_missing(path, std::as_bytes(std::span(text)));
}

// What is recorded of a valid file.
std::string record_of(const SnapshotInfo& info) {
  return "seq " + std::to_string(info.head.seq.value) + "\nepoch " + std::to_string(info.head.epoch.value) + "\nhash " +
         hex(info.head.hash).substr(0, 16) + "\nstore " + info.store_id + "\ndigest-version " +
         std::to_string(info.digest_version) + "\ndigest " + hex(info.digest) + "\ngroups " +
         std::to_string(info.groups) + "\nmembers " + std::to_string(info.members) + "\nhosts " +
         std::to_string(info.hosts) + "\n";
}

void write_valid(const std::string& name, const State& state) {
  const TempDir dir;
  const auto written = SnapshotStore(dir.path(), "golden-store").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  write_if_missing(kGolden / "valid" / (name + ".lks"), read_bytes(written->path));
  write_if_missing(kGolden / "valid" / (name + ".txt"), record_of(*written));
}

// name -> bytes. Each damages the small state's file in its own way.
std::map<std::string, Bytes> invalid_files() {
  const TempDir dir;
  const State state = small_state();
  const auto written = SnapshotStore(dir.path(), "golden-store").write(state, head_of(state));
  EXPECT_TRUE(written);
  const Bytes good = read_bytes(written->path);
  const Parts parts = take_apart(written->path);
  std::map<std::string, Bytes> files;
  files["Damaged-empty.lks"] = {};
  files["Damaged-cut-in-the-middle.lks"] = {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(good.size() / 2)};
  files["Damaged-last-byte-missing.lks"] = {good.begin(), good.end() - 1};
  Bytes flipped = good;
  flipped[good.size() / 2] ^= std::byte{1};
  files["Damaged-one-bit.lks"] = flipped;
  Parts huge = parts;
  huge.piece(FactKind::Group).header.raw_bytes = std::uint64_t{1} << 62U;
  files["Damaged-huge-length.lks"] = assemble(huge);
  Parts missing = parts;
  missing.pieces.pop_back();
  files["Damaged-last-chunk-missing.lks"] = assemble(missing);
  Parts nowhere = parts;
  auto& group = nowhere.piece(FactKind::Group).raw;
  const Slice slice{HostId{1}, 0, 1};
  Bytes pattern;
  ByteSink sink{pattern};
  walk_write(sink, slice);
  const auto found = std::search(group.begin(), group.end(), pattern.begin(), pattern.end());
  EXPECT_NE(found, group.end());
  *found = std::byte{9};
  files["Damaged-host-that-is-not-there.lks"] = assemble(nowhere);
  Parts newer = parts;
  newer.header.format = 1000;
  files["NewerFormat-format-1000.lks"] = assemble(newer);
  Parts kind = parts;
  kind.pieces.insert(kind.pieces.begin() + 3, kind.pieces[2]);
  kind.pieces[3].header.kind = 1000;
  files["NewerFormat-kind-1000.lks"] = assemble(kind);
  return files;
}

TEST(Golden, FilesAreAllThereAndAreWrittenWhenMissingOnlyIfAsked) {
  const auto invalid = invalid_files();
  if (writes_golden()) {
    write_valid("format-1-every-field", filled_state());
    write_valid("format-1-small", small_state());
    for (const auto& [name, bytes] : invalid) write_if_missing(kGolden / "invalid" / name, bytes);
  }
  for (const char* name : {"format-1-every-field.lks", "format-1-small.lks"}) {
    EXPECT_TRUE(fs::exists(kGolden / "valid" / name)) << name << " is missing; set LOCKSTEP_WRITE_GOLDEN=1";
  }
  for (const auto& [name, bytes] : invalid) {
    EXPECT_TRUE(fs::exists(kGolden / "invalid" / name)) << name << " is missing; set LOCKSTEP_WRITE_GOLDEN=1";
  }
}

TEST(Golden, ValidSnapshotsAreReadBackWithTheirRecordedDigest) {
  std::size_t checked = 0;
  for (const std::string& name : names_in(kGolden / "valid")) {
    if (!name.ends_with(".lks")) continue;
    const fs::path path = kGolden / "valid" / name;
    const auto loaded = load_snapshot(path);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto info = describe_snapshot(path);
    ASSERT_TRUE(info);
    const Bytes recorded = read_bytes(fs::path(path).replace_extension(".txt"));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(recorded.data()), recorded.size()), record_of(*info)) << name;
    if (info->digest_version == kDigestVersion) {
      EXPECT_EQ(compute_digest(*loaded), info->digest) << name;
    }
    ++checked;
  }
  EXPECT_GE(checked, 2U);
}

TEST(Golden, InvalidSnapshotsAreRefusedWithTheCodeOfTheirName) {
  std::size_t checked = 0;
  for (const std::string& file : names_in(kGolden / "invalid")) {
    const auto loaded = load_snapshot(kGolden / "invalid" / file);
    ASSERT_FALSE(loaded) << file;
    EXPECT_EQ(file.substr(0, file.find('-')), name(loaded.error().code)) << loaded.error().message;
    ++checked;
  }
  EXPECT_GE(checked, 9U);
}

// "    @1508  04 00 00 00    words": the bytes at that offset of the small file.
TEST(Golden, TheWorkedExampleOfTheFormatPageIsTheSmallFile) {
  const Bytes file = read_bytes(kGolden / "valid/format-1-small.lks");
  std::ifstream page(fs::path(LOCKSTEP_SOURCE_DIR) / "snapshot/FORMAT.md");
  std::size_t compared = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("    @")) continue;
    constexpr std::size_t kBytesColumn = 11;  // up to three blanks, then come the words
    std::size_t at = std::stoul(line.substr(5));
    std::istringstream bytes(line.substr(kBytesColumn, line.find("   ", kBytesColumn) - kBytesColumn));
    for (std::string byte; bytes >> byte; ++at) {
      ASSERT_LT(at, file.size()) << line;
      EXPECT_EQ(std::to_integer<unsigned long>(file[at]), std::stoul(byte, nullptr, 16)) << line << "\nat " << at;
      ++compared;
    }
  }
  EXPECT_GT(compared, 150U);
}

// The bytes of today's writer are those of the golden file, as far as nothing about them may change unnoticed.
TEST(Golden, TodaysWriterMakesTheSameEntitiesBytes) {
  const TempDir dir;
  const State state = filled_state();
  const auto written = SnapshotStore(dir.path(), "golden-store").write(state, head_of(state));
  ASSERT_TRUE(written) << written.error().message;
  const Parts now = take_apart(written->path);
  const Parts golden = take_apart(kGolden / "valid/format-1-every-field.lks");
  ASSERT_EQ(now.pieces.size(), golden.pieces.size());
  for (std::size_t i = 0; i < now.pieces.size(); ++i) {
    EXPECT_TRUE(now.pieces[i].raw == golden.pieces[i].raw)
        << "chunk " << i << " (kind " << now.pieces[i].header.kind << ") changed: a new format, or a mistake";
  }
}

}  // namespace
}  // namespace lockstep::test
