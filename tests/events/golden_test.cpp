// Bytes that a release has written stay readable with the same meaning. Each valid/NN_Kind.bin is a whole record with
// one event; the .txt beside it says, field by field, what it means. Fields that later releases add may be more than
// the text names, never fewer or different. Each invalid/*.bin is a whole record with a right checksum that must be
// refused; its .txt holds how the error begins. A new kind gets its files by LOCKSTEP_WRITE_GOLDEN=1 (golden.h).
// Shows R16.

#include "tests/events/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "events/codec.h"
#include "events/record.h"
#include "tests/events/filler.h"

namespace lockstep {
namespace {

constexpr Head kHead{Seq{100}, {}, {}};  // so that prev and cause can be something
constexpr Epoch kEpoch{3};

template <class T>
void describe(const T& value, const std::string& path, std::vector<std::string>& lines) {
  if constexpr (std::is_enum_v<T>) {
    lines.push_back(fmt::format("{} = {} {}", path, static_cast<unsigned>(value), name(value)));
  } else if constexpr (std::is_integral_v<T>) {
    lines.push_back(fmt::format("{} = {}", path, value));
  } else if constexpr (WalkStrong<T>) {
    lines.push_back(fmt::format("{} = {}", path, value.value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    lines.push_back(fmt::format("{} = '{}'", path, value));
  } else if constexpr (WalkShared<T>) {
    describe(*value, path, lines);
  } else if constexpr (WalkVector<T>) {
    lines.push_back(fmt::format("{} has {}", path, value.size()));
    for (std::size_t i = 0; i < value.size(); ++i) describe(value[i], fmt::format("{}[{}]", path, i), lines);
  } else {
    for_each_field(value, [&](std::string_view field, const auto& inner) {
      describe(inner, path.empty() ? std::string(field) : fmt::format("{}.{}", path, field), lines);
    });
  }
}

std::vector<std::string> describe(const Event& event) {
  std::vector<std::string> lines;
  describe(kind(event), "kind", lines);
  describe(event.seq, "seq", lines);
  describe(event.prev, "prev", lines);
  describe(event.cause, "cause", lines);
  describe(event.time, "time", lines);
  describe(event.actor, "actor", lines);
  describe(event.group, "group", lines);
  std::visit([&](const auto& body) { describe(body, "", lines); }, event.body);
  // By name: a field that is added in the middle of a list moves no other line.
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string file_of(EventKind kind) { return fmt::format("{:02}_{}", static_cast<unsigned>(kind), name(kind)); }

void write_valid(const std::filesystem::path& folder) {
  for (std::size_t i = 0; i < kEventKindCount; ++i) {
    const Event event = filler::counting_event(i, next(kHead.seq));
    const std::filesystem::path path = folder / file_of(kind(event));
    if (std::filesystem::exists(path.string() + ".bin")) continue;
    golden::write_new(path.string() + ".bin", encode_record(kHead, kEpoch, {&event, 1}));
    golden::write_new(path.string() + ".txt", golden::joined(describe(event)));
  }
}

TEST(Golden, EveryRecordEverWrittenMeansWhatItMeantThen) {
  const std::filesystem::path folder = golden::folder() / "valid";
  if (golden::writes()) write_valid(folder);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".bin") continue;
    SCOPED_TRACE(entry.path().string());
    const auto record = golden::read_bytes(entry.path());
    const auto header = read_header(record, entry.path().string());
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->epoch, kEpoch);
    const auto events = decode_record(record, entry.path().string());
    ASSERT_TRUE(events) << events.error().message;
    ASSERT_EQ(events->size(), 1U);
    EXPECT_EQ(header->time, events->front().time);
    const auto text = golden::read_lines(std::filesystem::path(entry.path()).replace_extension(".txt"));
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(golden::missing(text, describe(events->front())), std::vector<std::string>{})
        << "logs with these bytes are out there: give the codec back the meaning they had";
  }
}

TEST(Golden, EveryKindOfEventHasARecord) {
  for (const EventKind kind : filler::enumerators<EventKind>()) {
    EXPECT_TRUE(std::filesystem::exists(golden::folder() / "valid" / (file_of(kind) + ".bin")))
        << file_of(kind) << ": record it by running this test with LOCKSTEP_WRITE_GOLDEN=1, and commit the new files";
  }
}

// ---- records that must be refused ---------------------------------------------------------------------------------

using Bytes = std::vector<std::byte>;
constexpr std::size_t kEventInRecordAt = kRecordHeaderBytes + 8 + 3 * 8;  // behind table, root, list pointer and tag

template <class T>
Bytes with(std::size_t offset, T value) {
  const Event event = filler::counting_event(2, next(kHead.seq));  // HostRemoved
  Bytes record = encode_record(kHead, kEpoch, {&event, 1});
  std::memcpy(record.data() + offset, &value, sizeof value);
  seal_record(record, kHead, kEpoch, event.time, 1);
  return record;
}

Bytes null_root() {
  Bytes record(kRecordHeaderBytes + 16);
  record[kRecordHeaderBytes + 4] = std::byte{1};  // one segment of one word, a null pointer
  seal_record(record, kHead, kEpoch, Time{1}, 1);
  return record;
}

Bytes two_events_claimed() {
  const Event event = filler::counting_event(2, next(kHead.seq));
  Bytes record = encode_record(kHead, kEpoch, {&event, 1});
  seal_record(record, kHead, kEpoch, event.time, 2);
  return record;
}

void write_invalid(const std::filesystem::path& folder) {
  const auto write = [&](const std::string& file, const Bytes& record) {
    if (std::filesystem::exists(folder / (file + ".bin"))) return;
    const auto events = decode_record(record, file + ".bin");
    ASSERT_FALSE(events) << file;
    golden::write_new(folder / (file + ".bin"), record);
    // Ours are the words up to "not a sound message"; what follows is Cap'n Proto's.
    const std::string message = events.error().message.substr(0, events.error().message.find(": expected"));
    golden::write_new(folder / (file + ".txt"), fmt::format("{}: {}\n", name(events.error().code), message));
  };
  write("null_root", null_root());
  write("unknown_kind", with(kEventInRecordAt + 34, std::uint16_t{59'999}));
  write("unknown_actor", with(kEventInRecordAt + 32, std::uint8_t{99}));
  write("prev_not_before", with(kEventInRecordAt, std::uint64_t{101}));
  write("cause_not_before", with(kEventInRecordAt + 8, std::uint64_t{102}));
  write("two_segments", with(kRecordHeaderBytes, std::uint32_t{1}));
  write("list_outside", with(kRecordHeaderBytes + 16, std::uint64_t{0x0000005700001001}));
  write("count_not_the_messages", two_events_claimed());
}

TEST(Golden, RecordsThatMustBeRefusedAreRefusedWithTheSameWords) {
  const std::filesystem::path folder = golden::folder() / "invalid";
  if (golden::writes()) write_invalid(folder);
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".bin") continue;
    SCOPED_TRACE(entry.path().string());
    ++count;
    const auto record = golden::read_bytes(entry.path());
    EXPECT_TRUE(read_header(record, "the frame is sound"));
    const auto events = decode_record(record, entry.path().filename().string());
    ASSERT_FALSE(events);
    const auto said = fmt::format("{}: {}", name(events.error().code), events.error().message);
    const auto text = golden::read_lines(std::filesystem::path(entry.path()).replace_extension(".txt"));
    ASSERT_EQ(text.size(), 1U);
    EXPECT_TRUE(said.starts_with(text[0])) << said << "\nshould begin with\n" << text[0];
  }
  EXPECT_GE(count, 8U);
}

}  // namespace
}  // namespace lockstep
