// A record of the log, its payload without the frame, and a command from a socket: decoded, or refused with words.

#include "events/record.h"

#include <cstdint>

#include "events/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto record = decode_record(bytes, "fuzz");
  if (!record) LOCKSTEP_CHECK(!record.error().message.empty(), "a refusal without words");
  const auto events = decode_events(bytes, Seq{1}, 1);
  if (events) {
    // What was taken can be written, and is read again as the same.
    std::vector<std::byte> written;
    encode_events(*events, written);
    const auto again = decode_events(written, Seq{1}, 1);
    LOCKSTEP_CHECK(again.has_value(), "an event that was read cannot be read again");
    std::vector<std::byte> same;
    encode_events(*again, same);
    LOCKSTEP_CHECK(same == written, "an event that was read does not come back");
  }
  (void)decode_command(bytes);
  return 0;
}
