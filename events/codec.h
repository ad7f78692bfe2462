#pragma once
// Between plain structs and Cap'n Proto messages (events/lockstep.capnp). No Cap'n Proto type leaves codec.cpp; its
// exceptions become Error{Damaged} (bytes that are not a message, bounds, unknown kind without a newer format) or
// Error{NewerFormat} (an event kind or enumerant that this release does not know: never skipped).

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "events/commands.h"
#include "events/error.h"
#include "events/events.h"

namespace lockstep {

// Appends one message holding all `events`, a multiple of 8 bytes long, to `out`.
void encode_events(std::span<const Event> events, std::vector<std::byte>& out);

// What the reader has already, by its content's hash; null: nothing of that hash. Its bytes are then not read again.
using KnownSpec = std::function<std::shared_ptr<const GroupSpec>(const SpecHash& hash)>;

// `payload` must be 8-byte aligned (codec copies when it is not). `first` is the seq of the first event; `count` what the
// frame claims. Exactly `count` events or an error naming the seq. The second form fills `into`, whose memory is used
// again.
[[nodiscard]] Result<std::vector<Event>> decode_events(std::span<const std::byte> payload, Seq first,
                                                       std::uint32_t count);
[[nodiscard]] Result<void> decode_events(std::span<const std::byte> payload, Seq first, std::uint32_t count,
                                         std::vector<Event>& into, const KnownSpec& known = {});

void encode_command(const Command& command, std::vector<std::byte>& out);
[[nodiscard]] Result<Command> decode_command(std::span<const std::byte> message);

}  // namespace lockstep
