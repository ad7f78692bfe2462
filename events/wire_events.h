#pragma once
// Wire lists (wire.h) of the event kinds. Private to the codec.

#include "events/wire_spec.h"

namespace lockstep {

template <>
struct Wire<HostAdded> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(host, Host);
    LOCKSTEP_WIRE(info, Info);
  }
};
template <>
struct Wire<HostChanged> : Wire<HostAdded> {};

template <>
struct Wire<HostRemoved> {
  LOCKSTEP_WIRE_FIELDS { LOCKSTEP_WIRE(host, Host); }
};

template <>
struct Wire<PoolSet> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(total, Total);
  }
};

template <>
struct Wire<LevelsSet> {
  LOCKSTEP_WIRE_FIELDS { LOCKSTEP_WIRE(levels, Levels); }
};

template <>
struct Wire<ControllerStarted> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(epoch, Epoch);
    LOCKSTEP_WIRE(feature_level, FeatureLevel);
  }
};

template <>
struct Wire<DigestRecorded> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(version, Version);
    LOCKSTEP_WIRE(high, High);
    LOCKSTEP_WIRE(low, Low);
  }
};

template <>
struct Wire<RequestAnswered> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(client, Client);
    LOCKSTEP_WIRE(request, Request);
    LOCKSTEP_WIRE(code, Code);
    LOCKSTEP_WIRE(about, About);
    LOCKSTEP_WIRE(text, Text);
  }
};

// Takes the spec of that hash from whoever reads, if he has it.
inline bool is_known(const Decode& decode, GroupDefined& event) {
  if (decode.known_specs == nullptr || !*decode.known_specs) return false;
  auto spec = (*decode.known_specs)(event.spec_hash);
  if (spec == nullptr) return false;
  event.spec = Shared<GroupSpec>(std::move(spec));
  return true;
}
inline bool is_known(const Encode&, const GroupDefined&) { return false; }

template <>
struct Wire<GroupDefined> : At<wire::GroupDefined> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(identity, Identity);
    LOCKSTEP_WIRE(spec_hash.high, SpecHigh);
    LOCKSTEP_WIRE(spec_hash.low, SpecLow);
    if (!is_known(archive, plain)) LOCKSTEP_WIRE(spec, Spec);
    LOCKSTEP_WIRE(hold, Hold);
  }
};

// A kind without fields: a group of one Void, so that there is something to call init on.
struct NoFields {
  LOCKSTEP_WIRE_FIELDS {}
};
template <>
struct Wire<GroupSubmitted> : NoFields {};
template <>
struct Wire<GroupRunning> : NoFields {};
template <>
struct Wire<GroupRecovering> : NoFields {};
template <>
struct Wire<GroupRequeued> : NoFields {};
template <>
struct Wire<KeptHostsReleased> : NoFields {};
template <>
struct Wire<GroupSuspended> : NoFields {};
template <>
struct Wire<GroupResumed> : NoFields {};
template <>
struct Wire<GroupSatisfied> : NoFields {};

template <>
struct Wire<ReservationOpened> : At<wire::ReservationOpened> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(domain, Domain);
    LOCKSTEP_WIRE(members, Members);
    LOCKSTEP_WIRE(spares, Spares);
    LOCKSTEP_WIRE(victims, Victims);
    LOCKSTEP_WIRE(deadline, Deadline);
    LOCKSTEP_WIRE(projected, Projected);
  }
};

template <>
struct Wire<ReservationExtended> : At<wire::ReservationExtended> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(members, Members);
    LOCKSTEP_WIRE(spares, Spares);
    LOCKSTEP_WIRE(lost, Lost);
    LOCKSTEP_WIRE(projected, Projected);
  }
};

template <>
struct Wire<ReservationReleased> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(why, Why);
    LOCKSTEP_WIRE(keeps_place, KeepsPlace);
  }
};

template <>
struct Wire<GroupPlaced> : At<wire::GroupPlaced> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(attempt, Attempt);
    LOCKSTEP_WIRE(domain, Domain);
    LOCKSTEP_WIRE(members, Members);
    LOCKSTEP_WIRE(spares, Spares);
  }
};

template <>
struct Wire<IdleHostsReleased> : At<wire::IdleHostsReleased> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(members, Members);
    LOCKSTEP_WIRE(spares, Spares);
  }
};

struct ClaimFields {
  LOCKSTEP_WIRE_FIELDS { claim_key_fields(archive, wire, plain.claim); }
};
template <>
struct Wire<ClaimRequested> {
  LOCKSTEP_WIRE_FIELDS {
    claim_key_fields(archive, wire, plain.claim);
    LOCKSTEP_WIRE(charged, Charged);
    LOCKSTEP_WIRE(charged_scope, ChargedScope);
  }
};
template <>
struct Wire<ClaimReady> : ClaimFields {};
template <>
struct Wire<ClaimFailed> : ClaimFields {};
template <>
struct Wire<ClaimReleased> : ClaimFields {};

struct MemberSequenceFields {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(member.role, Role);
    LOCKSTEP_WIRE(member.index, Index);
    LOCKSTEP_WIRE(sequence, Sequence);
  }
};
template <>
struct Wire<MemberArmed> : MemberSequenceFields {};
template <>
struct Wire<MemberStarted> : MemberSequenceFields {};

template <>
struct Wire<GroupStarted> {
  LOCKSTEP_WIRE_FIELDS { LOCKSTEP_WIRE(roles, Roles); }
};

template <>
struct Wire<MembersStarting> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(indexes, Indexes);
  }
};

template <>
struct Wire<MemberEnded> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(member.role, Role);
    LOCKSTEP_WIRE(member.index, Index);
    LOCKSTEP_WIRE(phase, Phase);
    LOCKSTEP_WIRE(reason, Reason);
    LOCKSTEP_WIRE(exit_code, ExitCode);
    LOCKSTEP_WIRE(signal, Signal);
    LOCKSTEP_WIRE(sequence, Sequence);
    LOCKSTEP_WIRE(fate, Fate);
    LOCKSTEP_WIRE(charged, Charged);
    LOCKSTEP_WIRE(charged_scope, ChargedScope);
  }
};

template <>
struct Wire<MemberReplaced> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(placement.member.role, Role);
    LOCKSTEP_WIRE(placement.member.index, Index);
    LOCKSTEP_WIRE(placement.slices, Slices);
    LOCKSTEP_WIRE(from_spare, FromSpare);
  }
};

template <>
struct Wire<GroupStopping> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(next, Next);
    end_fields(archive, wire, plain.end);
    LOCKSTEP_WIRE(charged, Charged);
    LOCKSTEP_WIRE(keep_hosts, KeepHosts);
  }
};

template <>
struct Wire<MembersStopping> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(indexes, Indexes);
    LOCKSTEP_WIRE(fate, Fate);
    LOCKSTEP_WIRE(reason, Reason);
    LOCKSTEP_WIRE(charged, Charged);
    LOCKSTEP_WIRE(charged_scope, ChargedScope);
  }
};

template <>
struct Wire<MemberStopped> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(member.role, Role);
    LOCKSTEP_WIRE(member.index, Index);
    LOCKSTEP_WIRE(exit_code, ExitCode);
    LOCKSTEP_WIRE(signal, Signal);
    LOCKSTEP_WIRE(sequence, Sequence);
  }
};

template <>
struct Wire<StopExpired> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(member.role, Role);
    LOCKSTEP_WIRE(member.index, Index);
    LOCKSTEP_WIRE(fence, Fence);
  }
};

template <>
struct Wire<MemberGivenUp> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(member.role, Role);
    LOCKSTEP_WIRE(member.index, Index);
  }
};

template <>
struct Wire<GroupRestarted> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(to, To);
    LOCKSTEP_WIRE(backoff_until, BackoffUntil);
  }
};

template <>
struct Wire<GroupPreempted> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(by, By);
    LOCKSTEP_WIRE(members, Members);
  }
};

template <>
struct Wire<ResizeRequested> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(replicas, Replicas);
    LOCKSTEP_WIRE(pending, Pending);
    LOCKSTEP_WIRE(deadline, Deadline);
  }
};

template <>
struct Wire<ResizeApplied> : At<wire::ResizeApplied> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(replicas, Replicas);
    LOCKSTEP_WIRE(grown, Grown);
    LOCKSTEP_WIRE(shrunk, Shrunk);
  }
};

template <>
struct Wire<ResizeDropped> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(why, Why);
  }
};

struct OnlyEnd {
  LOCKSTEP_WIRE_FIELDS { end_fields(archive, wire, plain.end); }
};
template <>
struct Wire<GroupSucceeded> : OnlyEnd {};
template <>
struct Wire<GroupFailed> : OnlyEnd {};
template <>
struct Wire<GroupCancelled> : OnlyEnd {};

template <>
struct Wire<GroupPurged> : At<wire::GroupPurged> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(user, User);
    LOCKSTEP_WIRE(phase, Phase);
    end_fields(archive, wire, plain.end);
    LOCKSTEP_WIRE(attempt, Attempt);
    LOCKSTEP_WIRE(charged, Charged);
  }
};

template <>
struct Wire<LateReport> : At<wire::LateReport> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(about, About);
    LOCKSTEP_WIRE(report, Report);
    claim_key_fields(archive, wire, plain.claim);
    LOCKSTEP_WIRE(claim_kind, ClaimKind);
  }
};

}  // namespace lockstep
