// The directory of snapshots: what has its name is whole, whatever happened while it was written; two are kept; what
// cannot be removed or read stops nobody; and nothing is ever removed to recover.
// Shows R19, R20.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support.h"

namespace lockstep::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

State at_seq(std::uint64_t seq) {
  State state = small_state();
  state.head.seq = Seq{seq};
  rebuild_derived(state);
  return state;
}

std::string name_of(std::uint64_t seq) {
  const std::string digits = std::to_string(seq);
  return "snapshot-" + std::string(20 - digits.size(), '0') + digits + ".lks";
}

class Store : public testing::Test {
 protected:
  void write(std::uint64_t seq) {
    const State state = at_seq(seq);
    const auto written = store_.write(state, head_of(state));
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->path, dir_.path() / name_of(seq));
  }
  [[nodiscard]] std::vector<std::uint64_t> listed() const {
    const auto listing = store_.list();
    EXPECT_TRUE(listing);
    std::vector<std::uint64_t> seqs;
    for (const SnapshotInfo& info : listing->snapshots) seqs.push_back(info.head.seq.value);
    return seqs;
  }
  void flip(const fs::path& path, std::size_t at) {
    Bytes bytes = read_bytes(path);
    bytes[at] ^= std::byte{0x40};
    write_bytes(path, bytes);
  }

  TempDir dir_;
  SnapshotStore store_{dir_.path(), "store-1"};
};

using Seqs = std::vector<std::uint64_t>;

TEST_F(Store, ListsTheNewestFirstAndLeavesNothingElseBehind) {
  EXPECT_EQ(listed(), Seqs{});
  for (const std::uint64_t seq : {7U, 100U, 20U}) write(seq);
  EXPECT_EQ(listed(), (Seqs{100, 20, 7}));
  EXPECT_EQ(names_in(dir_.path()), (Names{name_of(7), name_of(20), name_of(100)}));
  write(20);  // again: the new one takes its place
  EXPECT_EQ(listed(), (Seqs{100, 20, 7}));
}

TEST_F(Store, IgnoresNamesThatAreNotItsOwn) {
  write(7);
  for (const char* name : {"snapshot-7.lks", "snapshot-0000000000000000000x.lks", "README", ".tmp-x", "snapshot-.lks",
                           "snapshot-99999999999999999999.lks"}) {  // the last is no 64-bit number
    write_bytes(dir_.path() / name, {});
  }
  const auto listing = store_.list();
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->snapshots.size(), 1U);
  EXPECT_EQ(listing->damaged.size(), 0U);
  EXPECT_EQ(store_.prune(), Names{});
  EXPECT_EQ(names_in(dir_.path()).size(), 7U);
}

TEST_F(Store, ListsDamagedOnesApartWithWhatIsWrong_P17_P74) {
  for (const std::uint64_t seq : {1U, 2U, 3U, 4U, 5U}) write(seq);
  flip(dir_.path() / name_of(5), 60);              // header
  fs::resize_file(dir_.path() / name_of(4), 500);  // cut
  fs::rename(dir_.path() / name_of(3), dir_.path() / name_of(9));
  const Names before = names_in(dir_.path());
  const auto listing = store_.list();
  ASSERT_TRUE(listing);
  EXPECT_EQ(listed(), (Seqs{2, 1}));
  ASSERT_EQ(listing->damaged.size(), 3U);
  for (const Error& error : listing->damaged) EXPECT_EQ(error.code, ErrorCode::Damaged) << error.message;
  EXPECT_NE(listing->damaged[0].message.find("seq 3"), std::string::npos) << listing->damaged[0].message;
  EXPECT_NE(listing->damaged[1].message.find(name_of(5)), std::string::npos) << listing->damaged[1].message;
  EXPECT_NE(listing->damaged[2].message.find(name_of(4)), std::string::npos) << listing->damaged[2].message;
  EXPECT_EQ(names_in(dir_.path()), before) << "looking never removes";
}

TEST_F(Store, ABodyThatIsDamagedIsFoundByLoadingAndTheOneBeforeIsStillThere_P17) {
  write(1);
  write(2);
  flip(dir_.path() / name_of(2), fs::file_size(dir_.path() / name_of(2)) / 2);
  const auto loaded = load_snapshot(dir_.path() / name_of(2));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::Damaged);
  EXPECT_TRUE(load_snapshot(dir_.path() / name_of(1)));
  EXPECT_EQ(names_in(dir_.path()), (Names{name_of(1), name_of(2)}));
}

TEST_F(Store, RefusesASnapshotOfAnotherStore) {
  const State state = at_seq(3);
  ASSERT_TRUE(SnapshotStore(dir_.path(), "store-2").write(state, head_of(state)));
  const auto listing = store_.list();
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->snapshots.size(), 0U);
  ASSERT_EQ(listing->damaged.size(), 1U);
  EXPECT_NE(listing->damaged[0].message.find("store-2"), std::string::npos) << listing->damaged[0].message;
}

TEST_F(Store, ListsASnapshotOfANewerReleaseAsSuch) {
  write(3);
  Parts parts = take_apart(dir_.path() / name_of(3));
  for (const bool other_fields : {false, true}) {
    Parts newer = parts;
    if (other_fields) {
      ++newer.header.fingerprint;
    } else {
      ++newer.header.format;
    }
    write_bytes(dir_.path() / name_of(3), assemble(newer));
    const auto listing = store_.list();
    ASSERT_TRUE(listing);
    EXPECT_EQ(listing->snapshots.size(), 0U);
    ASSERT_EQ(listing->damaged.size(), 1U);
    EXPECT_EQ(listing->damaged[0].code, ErrorCode::NewerFormat) << listing->damaged[0].message;
  }
}

TEST_F(Store, AMissingDirectoryIsAnErrorNotAnEmptyStore_P73) {
  const SnapshotStore nowhere(dir_.path() / "gone", "store-1");
  const auto listing = nowhere.list();
  ASSERT_FALSE(listing);
  EXPECT_EQ(listing.error().code, ErrorCode::StorageFailed);
  EXPECT_EQ(nowhere.prune().size(), 1U);
  const State state = at_seq(1);
  const auto written = nowhere.write(state, head_of(state));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::StorageFailed);
}

TEST_F(Store, AFileThatGoesAwayIsNotFoundAndTheOthersStay_P73) {
  for (const std::uint64_t seq : {1U, 2U}) write(seq);
  fs::remove(dir_.path() / name_of(2));
  EXPECT_EQ(load_snapshot(dir_.path() / name_of(2)).error().code, ErrorCode::NotFound);
  EXPECT_EQ(listed(), (Seqs{1}));
}

// ---- pruning --------------------------------------------------------------------------------------------------------

TEST_F(Store, KeepsTheNewestAndNeverFewerThanTwo_P71) {
  for (std::uint64_t seq = 1; seq <= 6; ++seq) write(seq);
  EXPECT_EQ(store_.prune(4), Names{});
  EXPECT_EQ(listed(), (Seqs{6, 5, 4, 3}));
  EXPECT_EQ(store_.prune(0), Names{});
  EXPECT_EQ(listed(), (Seqs{6, 5}));
  EXPECT_EQ(store_.prune(), Names{});
  EXPECT_EQ(listed(), (Seqs{6, 5}));
}

TEST_F(Store, DoesNotCountWhatCannotBeReadAndDoesNotRemoveIt_P71) {
  for (std::uint64_t seq = 1; seq <= 5; ++seq) write(seq);
  flip(dir_.path() / name_of(5), 60);
  flip(dir_.path() / name_of(1), 60);
  EXPECT_EQ(store_.prune(), Names{});
  EXPECT_EQ(names_in(dir_.path()), (Names{name_of(1), name_of(3), name_of(4), name_of(5)}));
}

// A directory with the sticky bit: only the owner of a file may remove it there.
TEST_F(Store, OneThatCannotBeRemovedIsAWarningAndStopsNobody_P70) {
  if (::geteuid() != 0) GTEST_SKIP() << "NOT SHOWN: needs root, to act as a user who may not remove a file";
  constexpr uid_t kNobody = 65'534;
  for (std::uint64_t seq = 1; seq <= 4; ++seq) write(seq);
  ASSERT_EQ(::chmod(dir_.path().c_str(), 01777), 0);
  ASSERT_EQ(::chown((dir_.path() / name_of(2)).c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::seteuid(kNobody), 0);
  const Names warnings = store_.prune();
  const State state = at_seq(5);
  const auto written = store_.write(state, head_of(state));
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find(name_of(1)), std::string::npos) << warnings[0];
  EXPECT_TRUE(written) << written.error().message;
  EXPECT_EQ(listed(), (Seqs{5, 4, 3, 1})) << "2 went although 1 could not";
}

TEST_F(Store, RemovesTheTemporaryFilesOfDeadWritersOnly_P71) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const std::string of_dead = ".tmp-" + std::to_string(dead) + "-1-" + name_of(9);
  const std::string of_live = ".tmp-" + std::to_string(::getpid()) + "-999-" + name_of(9);
  const std::string locked = ".tmp-" + std::to_string(dead) + "-2-" + name_of(9);  // another pid namespace
  write_bytes(dir_.path() / of_dead, {});
  write_bytes(dir_.path() / of_live, {});
  {
    const auto writer = FileWriter::create(dir_.path() / locked);
    ASSERT_TRUE(writer);
    EXPECT_EQ(store_.prune(), Names{});
    EXPECT_FALSE(fs::exists(dir_.path() / of_dead));
    EXPECT_TRUE(fs::exists(dir_.path() / of_live));
    EXPECT_TRUE(fs::exists(dir_.path() / locked));
  }
  EXPECT_EQ(store_.prune(), Names{});
  EXPECT_FALSE(fs::exists(dir_.path() / locked));
}

// ---- a write that does not come to its end
// -----------------------------------------------------------------------------

// In a child: the file size limit is `bytes`, and passing it kills, or is an error, as `handler` says.
int write_with_limit(const fs::path& directory, std::size_t bytes, void (*handler)(int)) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{bytes, bytes};
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(SIGXFSZ, handler);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const State state = at_seq(2);
    const auto written = SnapshotStore(directory, "store-1").write(state, head_of(state));
    ::_exit(written ? 0 : 10 + static_cast<int>(written.error().code));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST_F(Store, AWriterKilledAtAnyByteLeavesTheOneBeforeAndNothingNew_P71) {
  write(1);
  const std::size_t size = fs::file_size(dir_.path() / name_of(1));
  for (std::size_t bytes = 0; bytes < size; bytes += 97) {
    const int status = write_with_limit(dir_.path(), bytes, SIG_DFL);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << bytes;
    EXPECT_EQ(listed(), (Seqs{1})) << bytes;
    EXPECT_TRUE(verify_snapshot(dir_.path() / name_of(1)));
    EXPECT_EQ(names_in(dir_.path()).size(), 2U) << "and its temporary file";
    EXPECT_EQ(store_.prune(), Names{});
    EXPECT_EQ(names_in(dir_.path()), Names{name_of(1)});
  }
  write(2);
  EXPECT_EQ(listed(), (Seqs{2, 1}));
}

TEST_F(Store, AFailingWriteIsAnErrorAndLeavesNothingBehind_P71) {
  write(1);
  const int status = write_with_limit(dir_.path(), 100, SIG_IGN);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 10 + static_cast<int>(ErrorCode::StorageFailed));
  EXPECT_EQ(names_in(dir_.path()), Names{name_of(1)});
}

TEST(StoreErrors, AFullDiskHasItsOwnCode) {
  const auto full = errno_failure(ENOSPC, "write", "/x/y");
  EXPECT_EQ(full.value().code, ErrorCode::DiskFull);
  EXPECT_NE(full.value().message.find("/x/y"), std::string::npos);

  EXPECT_EQ(errno_failure(EIO, "write", "/x/y").value().code, ErrorCode::StorageFailed);
}

}  // namespace
}  // namespace lockstep::test
