// Batches of events to and from bytes.
#include <fmt/format.h>

#include "events/codec.h"
#include "events/wire_events.h"

// Every kind, in the order of EventKind: plain and accessor name, name of the union's enumerator.
#define LOCKSTEP_EVENT_KINDS(X)                \
  X(HostAdded, HOST_ADDED)                     \
  X(HostChanged, HOST_CHANGED)                 \
  X(HostRemoved, HOST_REMOVED)                 \
  X(PoolSet, POOL_SET)                         \
  X(LevelsSet, LEVELS_SET)                     \
  X(ControllerStarted, CONTROLLER_STARTED)     \
  X(DigestRecorded, DIGEST_RECORDED)           \
  X(RequestAnswered, REQUEST_ANSWERED)         \
  X(GroupDefined, GROUP_DEFINED)               \
  X(GroupSubmitted, GROUP_SUBMITTED)           \
  X(ReservationOpened, RESERVATION_OPENED)     \
  X(ReservationExtended, RESERVATION_EXTENDED) \
  X(ReservationReleased, RESERVATION_RELEASED) \
  X(GroupPlaced, GROUP_PLACED)                 \
  X(ClaimRequested, CLAIM_REQUESTED)           \
  X(ClaimReady, CLAIM_READY)                   \
  X(ClaimFailed, CLAIM_FAILED)                 \
  X(ClaimReleased, CLAIM_RELEASED)             \
  X(MemberArmed, MEMBER_ARMED)                 \
  X(GroupStarted, GROUP_STARTED)               \
  X(MembersStarting, MEMBERS_STARTING)         \
  X(MemberStarted, MEMBER_STARTED)             \
  X(MemberEnded, MEMBER_ENDED)                 \
  X(MemberReplaced, MEMBER_REPLACED)           \
  X(GroupRunning, GROUP_RUNNING)               \
  X(GroupRecovering, GROUP_RECOVERING)         \
  X(GroupStopping, GROUP_STOPPING)             \
  X(MembersStopping, MEMBERS_STOPPING)         \
  X(MemberStopped, MEMBER_STOPPED)             \
  X(StopExpired, STOP_EXPIRED)                 \
  X(MemberGivenUp, MEMBER_GIVEN_UP)            \
  X(GroupRestarted, GROUP_RESTARTED)           \
  X(GroupRequeued, GROUP_REQUEUED)             \
  X(GroupPreempted, GROUP_PREEMPTED)           \
  X(KeptHostsReleased, KEPT_HOSTS_RELEASED)    \
  X(GroupSuspended, GROUP_SUSPENDED)           \
  X(GroupResumed, GROUP_RESUMED)               \
  X(ResizeRequested, RESIZE_REQUESTED)         \
  X(ResizeApplied, RESIZE_APPLIED)             \
  X(ResizeDropped, RESIZE_DROPPED)             \
  X(GroupSucceeded, GROUP_SUCCEEDED)           \
  X(GroupFailed, GROUP_FAILED)                 \
  X(GroupCancelled, GROUP_CANCELLED)           \
  X(GroupPurged, GROUP_PURGED)                 \
  X(LateReport, LATE_REPORT)                   \
  X(GroupSatisfied, GROUP_SATISFIED)           \
  X(IdleHostsReleased, IDLE_HOSTS_RELEASED)

namespace lockstep {

template <>
struct Wire<Event> : At<wire::Event> {};  // its size only: the rest is in the switches below
template <>
struct Wire<wire::EventBatch> : At<wire::EventBatch> {};

namespace {

// The number on disk is EventKind less one, for every kind, and the variant has the same order.
#define LOCKSTEP_CHECK_KIND(Name, NAME)                                                                        \
  static_assert(static_cast<std::size_t>(wire::Event::NAME) + 1 == static_cast<std::size_t>(EventKind::Name)); \
  static_assert(                                                                                               \
      std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(wire::Event::NAME), EventBody>, Name>);
LOCKSTEP_EVENT_KINDS(LOCKSTEP_CHECK_KIND)
#undef LOCKSTEP_CHECK_KIND

constexpr std::size_t kEventWords = capnp::_::structSize<wire::Event>().total();

std::size_t words_of(const Event& event) {
  return kEventWords + std::visit([](const auto& body) { return words_of_body(body); }, event.body);
}

template <class T, class W>
void encode_body(W wire, const T& plain) {
  Encode archive;
  Wire<T>::fields(archive, wire, plain);
}

// What cannot be read again must never be written.
void check_event(const Event& event, Seq expected) {
  LOCKSTEP_CHECK(event.seq == expected && event.seq, "event has a seq out of line");
  LOCKSTEP_CHECK(event.prev < event.seq && event.cause < event.seq, "event names one that is not before it");
}

void encode_event(wire::Event::Builder wire, const Event& event) {
  wire.setPrev(event.prev.value);
  wire.setCause(event.cause.value);
  wire.setTime(event.time.value);
  wire.setGroup(event.group.value);
  EncodeField<Actor>::number(event.actor, [&](std::uint8_t number) { wire.setActor(number); });
  switch (kind(event)) {
#define LOCKSTEP_ENCODE_KIND(Name, NAME) \
  case EventKind::Name:                  \
    return encode_body(wire.init##Name(), *std::get_if<Name>(&event.body));
    LOCKSTEP_EVENT_KINDS(LOCKSTEP_ENCODE_KIND)
#undef LOCKSTEP_ENCODE_KIND
  }
}

template <class T, class W>
void decode_body(Decode& decode, W wire, EventBody& body) {
  if constexpr (BehindPointer<T>) check_struct_size<T>(decode, wire);
  Wire<T>::fields(decode, wire, body.emplace<T>());
}

void decode_event(Decode& decode, wire::Event::Reader wire, Event& event) {
  event.prev = Seq{wire.getPrev()};
  event.cause = Seq{wire.getCause()};
  event.time = Time{wire.getTime()};
  event.group = GroupId{wire.getGroup()};
  DecodeField<Actor>::run(decode, event.actor, wire.getActor());
  if (event.prev >= event.seq) decode.wrong(ErrorCode::Damaged, "prev is not before it", event.prev.value);
  if (event.cause >= event.seq) decode.wrong(ErrorCode::Damaged, "cause is not before it", event.cause.value);
  switch (wire.which()) {
#define LOCKSTEP_DECODE_KIND(Name, NAME) \
  case wire::Event::NAME:                \
    return decode_body<Name>(decode, wire.get##Name(), event.body);
    LOCKSTEP_EVENT_KINDS(LOCKSTEP_DECODE_KIND)
#undef LOCKSTEP_DECODE_KIND
    default:
      decode.wrong(ErrorCode::NewerFormat, "a kind of event that this release does not know",
                   std::uint64_t{static_cast<std::uint16_t>(wire.which())} + 1);
  }
}

// `at` is always the seq that is being read, also when Cap'n Proto throws.
Result<void> decode_list(capnp::MessageReader& message, std::uint32_t count, const KnownSpec& known, Seq& at,
                         std::vector<Event>& events) {
  Decode decode{.known_specs = &known};
  const auto batch = message.getRoot<wire::EventBatch>();
  check_struct_size<wire::EventBatch>(decode, batch);
  if (decode.what != nullptr) return fail(decode.code, decode.text());
  const auto list = batch.getEvents();
  if (list.size() != count) {
    return fail(ErrorCode::Damaged, fmt::format("the message has {} events, {} are claimed", list.size(), count));
  }
  check_struct_size<Event>(decode, list[0]);  // of every element, so `count` is bounded by the message's length
  if (decode.what != nullptr) return fail(decode.code, decode.text());
  events.reserve(count);
  for (const auto wire : list) {
    Event& event = events.emplace_back();
    event.seq = at;
    decode_event(decode, wire, event);
    if (decode.what != nullptr) [[unlikely]]
      return fail(decode.code, decode.text());
    at = next(at);
  }
  return {};
}

}  // namespace

void encode_events(std::span<const Event> events, std::vector<std::byte>& out) {
  LOCKSTEP_CHECK(!events.empty(), "a batch without events");
  std::size_t words = 3;  // pointer to the root, the root's pointer to the list, the list's tag
  for (const Event& event : events) words += words_of(event);
  append_message(words, out, [&](capnp::MessageBuilder& message) {
    auto list = message.initRoot<wire::EventBatch>().initEvents(static_cast<unsigned>(events.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      check_event(events[i], Seq{events[0].seq.value + i});
      encode_event(list[i], events[i]);
    }
  });
}

Result<void> decode_events(std::span<const std::byte> payload, Seq first, std::uint32_t count,
                           std::vector<Event>& into, const KnownSpec& known) {
  into.clear();
  if (!first || count == 0 || first.value + (count - 1) < first.value) {
    return fail(ErrorCode::Damaged, fmt::format("no batch has {} events from seq {}", count, first.value), first);
  }
  Seq at = first;
  Result<void> done = with_message(
      payload, [&](capnp::MessageReader& message) { return decode_list(message, count, known, at, into); });
  if (done) return done;
  done.error().message = fmt::format("event {}: {}", at.value, done.error().message);
  done.error().seq = at;
  return done;
}

Result<std::vector<Event>> decode_events(std::span<const std::byte> payload, Seq first, std::uint32_t count) {
  std::vector<Event> events;
  LOCKSTEP_TRY(decode_events(payload, first, count, events));
  return events;
}

}  // namespace lockstep
