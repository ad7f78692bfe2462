#include "tests/log/support.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

namespace lockstep::testing {

namespace {

std::filesystem::path parent_directory() {
  if (const char* given = std::getenv("LOCKSTEP_TEST_DIR"); given != nullptr) return given;
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
}

}  // namespace

TempDir::TempDir() {
  ::setenv("LOCKSTEP_RING_SLOTS", std::to_string(kTestRingSlots).c_str(), 0);
  std::string name = (parent_directory() / "lockstep-log-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ScopedEnv::ScopedEnv(const char* name, const std::string& value) : name_(name) {
  if (const char* given = std::getenv(name); given != nullptr) before_ = given;
  ::setenv(name, value.c_str(), 1);
}
ScopedEnv::~ScopedEnv() {
  if (before_) ::setenv(name_, before_->c_str(), 1);
  if (!before_) ::unsetenv(name_);
}

Bytes make_record(const Head& head, std::size_t payload_bytes, std::uint32_t count, Epoch epoch) {
  Bytes record(kRecordHeaderBytes + (payload_bytes + 7) / 8 * 8);
  for (std::size_t i = kRecordHeaderBytes; i < record.size(); ++i) {
    record[i] = static_cast<std::byte>(i * 31 + head.seq.value * 7);
  }
  seal_record(record, head, epoch, Time{static_cast<std::int64_t>(head.seq.value) * 1000}, count);
  return record;
}

Result<Head> append_records(Log& log, int n, std::size_t payload_bytes, std::uint32_t count) {
  for (int i = 0; i < n; ++i) {
    const auto head = log.head();
    LOCKSTEP_TRY(head);
    LOCKSTEP_TRY(log.append(make_record(*head, payload_bytes, count)));
  }
  return log.head();
}

Result<std::vector<Bytes>> read_all(const Log& log, Seq from) {
  std::vector<Bytes> records;
  LOCKSTEP_TRY(log.read(from, [&](const RecordHeader&, std::span<const std::byte> record) -> Result<Continue> {
    records.emplace_back(record.begin(), record.end());
    return Continue::Yes;
  }));
  return records;
}

StoreId store_id(const std::filesystem::path& store) {
  const std::string text = file_bytes(store / "store.json");
  const std::string name = "\"storeId\": \"";
  const auto at = text.find(name);
  StoreId id{};
  if (at == std::string::npos) return id;
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<std::byte>(std::stoul(text.substr(at + name.size() + 2 * i, 2), nullptr, 16));
  }
  return id;
}

std::unique_ptr<LmdbLog> open_lmdb(const std::filesystem::path& store, OpenMode mode) {
  auto log = LmdbLog::open(store / "log", store_id(store), mode, false);
  EXPECT_TRUE(log) << log.error().message;
  return log ? std::move(*log) : nullptr;
}

void lose_newer_meta_page(const std::filesystem::path& store) {
  constexpr std::size_t kTxnAt = 144;  // in each meta page (lmdb_pages.h)
  const std::filesystem::path path = store / "log" / "data.mdb";
  const std::string bytes = file_bytes(path);
  std::uint64_t txns[2];
  for (std::size_t i = 0; i < 2; ++i) std::memcpy(&txns[i], bytes.data() + i * 4096 + kTxnAt, sizeof txns[i]);
  const std::size_t newer = txns[1] > txns[0] ? 1 : 0;
  const std::uint64_t before = txns[newer] - 2;
  overwrite(path, newer * 4096 + kTxnAt, {reinterpret_cast<const char*>(&before), sizeof before});
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void overwrite(const std::filesystem::path& path, std::uint64_t offset, std::string_view bytes) {
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(offset));
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::uint64_t test_seed() {
  const char* given = std::getenv("LOCKSTEP_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "LOCKSTEP_SEED=" << seed << std::endl;
  return seed;
}

std::string in_child(const std::function<std::string()>& part) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return "no pipe";
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe_ends[0]);
    const std::string text = part();
    const ssize_t put = ::write(pipe_ends[1], text.data(), text.size());
    ::_exit(put == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(pipe_ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(pipe_ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == kCrashStatus) return "crashed";
  if (WEXITSTATUS(status) != 0) return "left with status " + std::to_string(WEXITSTATUS(status)) + " " + text;
  return text;
}

}  // namespace lockstep::testing
