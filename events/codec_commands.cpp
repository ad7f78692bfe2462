// Commands to and from bytes.
#include <fmt/format.h>

#include "events/codec.h"
#include "events/wire_spec.h"

namespace lockstep {

template <>
struct Wire<PlaceAction> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(domain, Domain);
    LOCKSTEP_WIRE(members, Members);
    LOCKSTEP_WIRE(spares, Spares);
  }
};

template <>
struct Wire<ReplaceAction> {
  LOCKSTEP_WIRE_FIELDS { LOCKSTEP_WIRE(members, Members); }
};

template <>
struct Wire<GrowAction> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(members, Members);
  }
};

template <>
struct Wire<ReserveAction> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(domain, Domain);
    LOCKSTEP_WIRE(members, Members);
    LOCKSTEP_WIRE(spares, Spares);
    LOCKSTEP_WIRE(lost, Lost);
    LOCKSTEP_WIRE(projected, Projected);
  }
};

template <>
struct Wire<ReleaseAction> {
  LOCKSTEP_WIRE_FIELDS { LOCKSTEP_WIRE(why, Why); }
};

template <>
struct Wire<EvictAction> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(by, By);
    LOCKSTEP_WIRE(members, Members);
  }
};

template <>
struct Wire<DefineGroup> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(identity, Identity);
    LOCKSTEP_WIRE(spec, Spec);
    LOCKSTEP_WIRE(hold, Hold);
  }
};

template <>
struct Wire<GroupCommand> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(verb, Verb);
    LOCKSTEP_WIRE(group, Group);
  }
};

template <>
struct Wire<ResizeGroup> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(group, Group);
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(replicas, Replicas);
  }
};

template <>
struct Wire<SetHost> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(info, Info);
    LOCKSTEP_WIRE(set_at, SetAt);
  }
};

template <>
struct Wire<HostCommand> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(verb, Verb);
    LOCKSTEP_WIRE(name, Name);
  }
};

template <>
struct Wire<SetPool> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(total, Total);
  }
};

template <>
struct Wire<SetLevels> {
  LOCKSTEP_WIRE_FIELDS { LOCKSTEP_WIRE(levels, Levels); }
};

template <>
struct Wire<ReportMember> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(group, Group);
    LOCKSTEP_WIRE(report, Report);
  }
};

template <>
struct Wire<ReportClaim> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(group, Group);
    claim_key_fields(archive, wire, plain.claim);
    LOCKSTEP_WIRE(kind, Kind);
  }
};

template <>
struct Wire<AdvanceTime> {
  LOCKSTEP_WIRE_FIELDS {}
};

template <>
struct Wire<StartController> {
  LOCKSTEP_WIRE_FIELDS { LOCKSTEP_WIRE(feature_level, FeatureLevel); }
};

template <>
struct Wire<RecordDigest> {
  LOCKSTEP_WIRE_FIELDS {}
};

template <>
struct Wire<PlanAction> : At<wire::PlanAction> {};  // their sizes only: the rest is in the switches below
template <>
struct Wire<Command> : At<wire::Command> {};

namespace {

// The kinds in the order of their variant: plain name, accessor name, name of the union's enumerator.
#define LOCKSTEP_ACTIONS(X)          \
  X(PlaceAction, Place, PLACE)       \
  X(ReplaceAction, Replace, REPLACE) \
  X(GrowAction, Grow, GROW)          \
  X(ReserveAction, Reserve, RESERVE) \
  X(ReleaseAction, Release, RELEASE) \
  X(EvictAction, Evict, EVICT)

// ApplyPlan is written by hand: its actions are a variant.
#define LOCKSTEP_COMMANDS(X)                            \
  X(DefineGroup, DefineGroup, DEFINE_GROUP)             \
  X(GroupCommand, GroupCommand, GROUP_COMMAND)          \
  X(ResizeGroup, ResizeGroup, RESIZE_GROUP)             \
  X(SetHost, SetHost, SET_HOST)                         \
  X(HostCommand, HostCommand, HOST_COMMAND)             \
  X(SetPool, SetPool, SET_POOL)                         \
  X(SetLevels, SetLevels, SET_LEVELS)                   \
  X(ReportMember, ReportMember, REPORT_MEMBER)          \
  X(ReportClaim, ReportClaim, REPORT_CLAIM)             \
  X(ApplyPlan, ApplyPlan, APPLY_PLAN)                   \
  X(AdvanceTime, AdvanceTime, ADVANCE_TIME)             \
  X(StartController, StartController, START_CONTROLLER) \
  X(RecordDigest, RecordDigest, RECORD_DIGEST)

#define LOCKSTEP_CHECK_ORDER(Plain, Name, NAME) \
  static_assert(                                \
      std::is_same_v<                           \
          std::variant_alternative_t<static_cast<std::size_t>(wire::PlanAction::NAME), lockstep::PlanAction>, Plain>);
LOCKSTEP_ACTIONS(LOCKSTEP_CHECK_ORDER)
#undef LOCKSTEP_CHECK_ORDER
#define LOCKSTEP_CHECK_ORDER(Plain, Name, NAME) \
  static_assert(                                \
      std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(wire::Command::NAME), CommandBody>, Plain>);
LOCKSTEP_COMMANDS(LOCKSTEP_CHECK_ORDER)
#undef LOCKSTEP_CHECK_ORDER

template <class T, class W>
void encode_fields(W wire, const T& plain) {
  Encode archive;
  Wire<T>::fields(archive, wire, plain);
}

void encode_action(wire::PlanAction::Builder wire, const PlanAction& action) {
  std::visit([&](const auto& body) { wire.setGroup(body.group.value); }, action);
#define LOCKSTEP_ENCODE(Plain, Name, NAME) \
  if (const auto* body = std::get_if<Plain>(&action)) encode_fields(wire.init##Name(), *body);
  LOCKSTEP_ACTIONS(LOCKSTEP_ENCODE)
#undef LOCKSTEP_ENCODE
}

template <>
void encode_fields(wire::Command::ApplyPlan::Builder wire, const ApplyPlan& plain) {
  wire.setMadeFor(plain.plan.made_for.value);
  auto list = wire.initActions(static_cast<unsigned>(plain.plan.actions.size()));
  for (unsigned i = 0; i < list.size(); ++i) encode_action(list[i], plain.plan.actions[i]);
}

template <class T, class W>
void decode_fields(Decode& decode, W wire, T& plain) {
  Wire<T>::fields(decode, wire, plain);
}

void decode_action(Decode& decode, wire::PlanAction::Reader wire, PlanAction& action) {
  switch (wire.which()) {
#define LOCKSTEP_DECODE(Plain, Name, NAME)                            \
  case wire::PlanAction::NAME:                                        \
    decode_fields(decode, wire.get##Name(), action.emplace<Plain>()); \
    break;
    LOCKSTEP_ACTIONS(LOCKSTEP_DECODE)
#undef LOCKSTEP_DECODE
    default:
      return decode.wrong(ErrorCode::NewerFormat, "a kind of action that this release does not know",
                          static_cast<std::uint16_t>(wire.which()));
  }
  std::visit([&](auto& body) { body.group = GroupId{wire.getGroup()}; }, action);
}

template <>
void decode_fields(Decode& decode, wire::Command::ApplyPlan::Reader wire, ApplyPlan& plain) {
  plain.plan.made_for = Seq{wire.getMadeFor()};
  const auto list = wire.getActions();
  if (list.size() == 0) return;
  check_struct_size<PlanAction>(decode, list[0]);
  if (decode.what != nullptr) return;
  plain.plan.actions.resize(list.size());
  for (unsigned i = 0; i < list.size() && decode.what == nullptr; ++i) {
    decode_action(decode, list[i], plain.plan.actions[i]);
  }
}

void decode_body(Decode& decode, wire::Command::Reader wire, CommandBody& body) {
  switch (wire.which()) {
#define LOCKSTEP_DECODE(Plain, Name, NAME) \
  case wire::Command::NAME:                \
    return decode_fields(decode, wire.get##Name(), body.emplace<Plain>());
    LOCKSTEP_COMMANDS(LOCKSTEP_DECODE)
#undef LOCKSTEP_DECODE
    default:
      decode.wrong(ErrorCode::NewerFormat, "a kind of command that this release does not know",
                   static_cast<std::uint16_t>(wire.which()));
  }
}

// Upper bound of what the body's pointers lead to.
std::size_t words_of(const CommandBody& body) {
  const auto* apply = std::get_if<ApplyPlan>(&body);
  if (apply == nullptr) return std::visit([](const auto& plain) { return words_of_body(plain); }, body);
  std::size_t words = 1;  // the list's tag
  for (const PlanAction& action : apply->plan.actions) {
    words += capnp::_::structSize<wire::PlanAction>().total();
    words += std::visit([](const auto& plain) { return words_below(plain); }, action);
  }
  return words;
}

}  // namespace

void encode_command(const Command& command, std::vector<std::byte>& out) {
  const std::size_t words = 1 + capnp::_::structSize<wire::Command>().total() + words_of(command.body);
  append_message(words, out, [&](capnp::MessageBuilder& message) {
    auto wire = message.initRoot<wire::Command>();
    wire.setClient(command.client);
    wire.setRequest(command.request);
    wire.setTime(command.time.value);
    EncodeField<Actor>::number(command.actor, [&](std::uint8_t number) { wire.setActor(number); });
#define LOCKSTEP_ENCODE(Plain, Name, NAME) \
  if (const auto* body = std::get_if<Plain>(&command.body)) encode_fields(wire.init##Name(), *body);
    LOCKSTEP_COMMANDS(LOCKSTEP_ENCODE)
#undef LOCKSTEP_ENCODE
  });
}

Result<Command> decode_command(std::span<const std::byte> message) {
  Command command;
  const Result<void> done = with_message(message, [&](capnp::MessageReader& reader) -> Result<void> {
    Decode decode;
    const auto wire = reader.getRoot<wire::Command>();
    check_struct_size<Command>(decode, wire);
    if (decode.what == nullptr) {
      command.client = wire.getClient();
      command.request = wire.getRequest();
      command.time = Time{wire.getTime()};
      DecodeField<Actor>::run(decode, command.actor, wire.getActor());
      decode_body(decode, wire, command.body);
    }
    if (decode.what != nullptr) return fail(decode.code, decode.text());
    return {};
  });
  if (done) return command;
  return fail(done.error().code, "command: " + done.error().message);
}

}  // namespace lockstep
