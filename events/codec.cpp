// The outside of a message: one segment behind an 8-byte table, and Cap'n Proto's exceptions turned into Error.
#include "events/codec.h"

#include <capnp/message.h>
#include <fmt/format.h>
#include <kj/exception.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "events/wire.h"

namespace lockstep {
namespace {

constexpr std::size_t kWord = sizeof(capnp::word);
constexpr std::size_t kTableBytes = 8;  // {segments less one, words of the segment}
// Structs within structs within lists; ours go eight deep.
constexpr int kNestingMax = 32;

// Builds into memory that the caller gives, all zero. Never asks for more: the caller knows an upper bound.
class OneSegmentBuilder final : public capnp::MessageBuilder {
 public:
  explicit OneSegmentBuilder(kj::ArrayPtr<capnp::word> space) : space_(space) {}
  kj::ArrayPtr<capnp::word> allocateSegment(unsigned int words) override {
    LOCKSTEP_CHECK(!given_ && words <= space_.size(), "a message is larger than its upper bound");
    given_ = true;
    return space_;
  }

 private:
  kj::ArrayPtr<capnp::word> space_;
  bool given_ = false;
};

// Words of the segment, or why `bytes` are not a message.
Result<std::size_t> segment_words(std::span<const std::byte> bytes) {
  if (bytes.size() < kTableBytes || bytes.size() % kWord != 0) {
    return fail(ErrorCode::Damaged, fmt::format("{} bytes are no message", bytes.size()));
  }
  std::uint32_t more_segments = 0;
  std::uint32_t words = 0;
  std::memcpy(&more_segments, bytes.data(), sizeof more_segments);
  std::memcpy(&words, bytes.data() + sizeof more_segments, sizeof words);
  if (more_segments != 0) return fail(ErrorCode::Damaged, "the message claims more than one segment");
  if (words != bytes.size() / kWord - 1) {
    return fail(ErrorCode::Damaged,
                fmt::format("the message claims {} words and has {}", words, bytes.size() / kWord - 1));
  }
  return words;
}

std::string first_line(const kj::Exception& exception) {
  const std::string_view text(exception.getDescription().cStr());
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

void append_message(std::size_t words_max, Bytes& out, const std::function<void(capnp::MessageBuilder&)>& build) {
  const std::size_t before = out.size();
  out.resize(before + kTableBytes + words_max * kWord);
  std::byte* space = out.data() + before + kTableBytes;
  // Cap'n Proto writes whole words in place; behind an odd length it gets memory of its own.
  std::vector<std::uint64_t> own;
  if (reinterpret_cast<std::uintptr_t>(space) % kWord != 0) {
    own.resize(words_max);
    space = reinterpret_cast<std::byte*>(own.data());
  }
  OneSegmentBuilder builder(kj::ArrayPtr<capnp::word>(reinterpret_cast<capnp::word*>(space), words_max));
  build(builder);
  const auto segments = builder.getSegmentsForOutput();
  LOCKSTEP_CHECK(segments.size() == 1, "a message has one segment");
  const auto words = static_cast<std::uint32_t>(segments[0].size());
  const std::uint32_t more_segments = 0;
  std::memcpy(out.data() + before, &more_segments, sizeof more_segments);
  std::memcpy(out.data() + before + sizeof more_segments, &words, sizeof words);
  if (!own.empty()) std::memcpy(out.data() + before + kTableBytes, own.data(), words * kWord);
  out.resize(before + kTableBytes + words * kWord);
}

Result<void> with_message(std::span<const std::byte> bytes,
                          const std::function<Result<void>(capnp::MessageReader&)>& read) {
  const Result<std::size_t> words = segment_words(bytes);
  LOCKSTEP_TRY(words);
  std::vector<std::uint64_t> aligned;
  const std::byte* segment = bytes.data() + kTableBytes;
  if (reinterpret_cast<std::uintptr_t>(segment) % kWord != 0) {
    aligned.resize(*words);
    std::memcpy(aligned.data(), segment, *words * kWord);
    segment = reinterpret_cast<const std::byte*>(aligned.data());
  }
  const kj::ArrayPtr<const capnp::word> only(reinterpret_cast<const capnp::word*>(segment), *words);
  // Each pointer of an honest message is followed once, so its own length is budget enough; a message whose pointers
  // share what they lead to, or lists of nothing, runs out.
  capnp::ReaderOptions options;
  options.traversalLimitInWords = *words + 8;
  options.nestingLimit = kNestingMax;
  try {
    capnp::SegmentArrayMessageReader reader(kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>(&only, 1), options);
    return read(reader);
  } catch (const kj::Exception& exception) {
    return fail(ErrorCode::Damaged, "not a sound message: " + first_line(exception));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::Damaged, "the message asks for more memory than there is");
  }
}

}  // namespace lockstep
