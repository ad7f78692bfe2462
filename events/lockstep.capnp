# The wire form of everything that Lockstep writes to its log or sends as a command. The plain structs are in events.h,
# commands.h and spec.h; codec.h goes between; FORMAT.md describes the message and the rules.
#
# Written to disk. Only ever add: a field at the next number of its struct, an event kind at the end of Event's union (in
# the order of EventKind), a command at the end of Command's. Never change a type, default or number, never move or remove
# a field; one that is no longer used keeps its place. tests/golden/events/schema.txt is compared with this file.
#
# Enumerations are plain numbers, those of the enums in phases.h, events.h, commands.h and spec.h, so that the decoder
# sees a number it does not know and can refuse it. Defaults are all zero: the encoder sets every field.
#
# Small kinds are groups inside the union: no pointer to follow. A kind without fields is a group of one Void, so that
# fields may be added to it. Kinds with more than one list are structs of their own, to keep Event at one pointer.
@0xa6f2d6c1b5e94d17;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("lockstep::wire");

# ---- what a group wants --------------------------------------------------------------------------------------------

struct Counter {
  name @0 :Text;
  amount @1 :Int64;
}

struct KeyValue {
  key @0 :Text;
  value @1 :Text;
}

struct TaskTerm {
  count @0 :UInt32;
  spanPtile @1 :UInt32;
  spanHosts @2 :UInt32;
  requests @3 :List(Counter);
  select @4 :List(KeyValue);
}

struct Topology {
  required @0 :Text;
  preferred @1 :Text;
}

struct After {
  role @0 :UInt32;
  what @1 :UInt8;  # AfterWhat
}

struct RoleSpec {
  name @0 :Text;
  replicas @1 :UInt32;
  min @2 :UInt32;
  max @3 :UInt32;
  spares @4 :UInt32;
  tasks @5 :List(TaskTerm);
  topology @6 :Topology;
  after @7 :List(After);
  command @8 :List(Text);
  env @9 :List(KeyValue);
}

struct ClaimSpec {
  name @0 :Text;
  kind @1 :UInt8;  # ClaimKind
  per @2 :UInt8;   # ClaimPer
  roles @3 :List(UInt32);
  size @4 :Int64;
}

struct ExitRange {
  first @0 :Int32;
  last @1 :Int32;
}

struct FailureRule {
  roles @0 :List(UInt32);
  reasons @1 :List(UInt8);  # FailureReason
  exitCodes @2 :List(ExitRange);
  signals @3 :List(Int32);
  action @4 :UInt8;  # FailureAction
  charge @5 :Bool;
}

struct RoleBudget {
  role @0 :UInt32;
  maxRestarts @1 :UInt32;
}

struct FailurePolicy {
  rules @0 :List(FailureRule);
  defaultAction @1 :UInt8;  # FailureAction
  belowMin @2 :UInt8;       # FailureAction
  restartOn @3 :UInt8;      # RestartOn
  maxRestarts @4 :UInt32;
  maxRestartsPerRole @5 :List(RoleBudget);
  maxRestartsPerMember @6 :UInt32;
  window @7 :Int64;
  backoffBase @8 :Int64;
  backoffFactor @9 :UInt32;
  backoffCap @10 :Int64;
}

struct GroupSpec {
  priority @0 :Int32;
  preemptible @1 :Bool;
  partial @2 :Bool;
  mode @3 :UInt8;             # PlacementMode
  resume @4 :UInt8;           # ResumeWhat
  successOperator @5 :UInt8;  # SuccessOperator
  successRest @6 :UInt8;      # SuccessRest
  successRoles @7 :List(UInt32);
  topology @8 :Topology;
  roles @9 :List(RoleSpec);
  claims @10 :List(ClaimSpec);
  failure @11 :FailurePolicy;
  timeoutPend @12 :Int64;
  timeoutReserve @13 :Int64;
  timeoutStart @14 :Int64;
  timeoutRecover @15 :Int64;
  timeoutRun @16 :Int64;
  timeoutStop @17 :Int64;
  runLimit @18 :Int64;
  ttlAfterFinished @19 :Int64;
}

struct GroupIdentity {
  name @0 :Text;
  user @1 :Text;
  queue @2 :Text;
  labels @3 :List(KeyValue);
}

struct HostInfo {
  name @0 :Text;
  counters @1 :List(Counter);
  at @2 :List(Text);
  attributes @3 :List(KeyValue);
  down @4 :Bool;
  drained @5 :Bool;
}

# ---- members and hosts ---------------------------------------------------------------------------------------------

struct MemberKey {
  role @0 :UInt32;
  index @1 :UInt32;
}

struct Slice {
  host @0 :UInt32;
  term @1 :UInt32;
  count @2 :UInt32;
}

struct MemberPlacement {
  role @0 :UInt32;
  index @1 :UInt32;
  slices @2 :List(Slice);
}

struct SparePlacement {
  role @0 :UInt32;
  slices @1 :List(Slice);
}

struct Report {
  kind @0 :UInt8;    # ReportKind
  reason @1 :UInt8;  # FailureReason
  role @2 :UInt32;
  index @3 :UInt32;
  attempt @4 :UInt32;
  run @5 :UInt32;
  exitCode @6 :Int32;
  signal @7 :Int32;
  sequence @8 :UInt64;
}

# ---- events --------------------------------------------------------------------------------------------------------

struct GroupDefined {
  specHigh @0 :UInt64;  # SpecHash
  specLow @1 :UInt64;
  hold @2 :Bool;
  identity @3 :GroupIdentity;
  spec @4 :GroupSpec;
}

struct ReservationOpened {
  domain @0 :Text;
  members @1 :List(MemberPlacement);
  spares @2 :List(SparePlacement);
  victims @3 :List(UInt64);
  deadline @4 :Int64;
  projected @5 :Int64;
}

struct ReservationExtended {
  members @0 :List(MemberPlacement);
  spares @1 :List(SparePlacement);
  lost @2 :List(MemberKey);
  projected @3 :Int64;
}

struct GroupPlaced {
  attempt @0 :UInt32;
  domain @1 :Text;
  members @2 :List(MemberPlacement);
  spares @3 :List(SparePlacement);
}

struct ResizeApplied {
  role @0 :UInt32;
  replicas @1 :UInt32;
  grown @2 :List(MemberPlacement);
  shrunk @3 :List(UInt32);
}

struct IdleHostsReleased {
  members @0 :List(MemberKey);
  spares @1 :List(SparePlacement);
}

struct GroupPurged {
  name @0 :Text;
  user @1 :Text;
  phase @2 :UInt8;  # GroupPhase
  attempt @3 :UInt32;
  charged @4 :UInt32;
  endCode @5 :UInt8;   # EndCode
  endScope @6 :UInt8;  # Scope
  endRole @7 :UInt32;
  endMember @8 :UInt32;
  endExitCode @9 :Int32;
  endSignal @10 :Int32;
}

struct LateReport {
  about @0 :UInt64;
  report @1 :Report;
  name @2 :Text;
  claim @3 :UInt32;
  role @4 :UInt32;
  index @5 :UInt32;
  claimKind @6 :UInt8;  # ClaimReportKind
}

struct Event {
  prev @0 :UInt64;
  cause @1 :UInt64;
  time @2 :Int64;
  group @3 :UInt64;
  actor @4 :UInt8;  # Actor

  union {  # the discriminant is EventKind less one
    hostAdded :group {
      host @5 :UInt32;
      info @6 :HostInfo;
    }
    hostChanged :group {
      host @7 :UInt32;
      info @8 :HostInfo;
    }
    hostRemoved :group {
      host @9 :UInt32;
    }
    poolSet :group {
      name @10 :Text;
      total @11 :Int64;
    }
    levelsSet :group {
      levels @12 :List(Text);
    }
    controllerStarted :group {
      epoch @13 :UInt64;
      featureLevel @14 :UInt32;
    }
    digestRecorded :group {
      version @15 :UInt32;
      high @16 :UInt64;
      low @17 :UInt64;
    }
    requestAnswered :group {
      client @18 :UInt64;
      request @19 :UInt64;
      about @20 :UInt64;
      code @21 :UInt8;  # AnswerCode
      text @22 :Text;
    }
    groupDefined @23 :GroupDefined;
    groupSubmitted :group {
      none @24 :Void;
    }
    reservationOpened @25 :ReservationOpened;
    reservationExtended @26 :ReservationExtended;
    reservationReleased :group {
      why @27 :UInt8;  # ReservationEnd
      keepsPlace @28 :Bool;
    }
    groupPlaced @29 :GroupPlaced;
    claimRequested :group {
      name @30 :Text;
      claim @31 :UInt32;
      role @32 :UInt32;
      index @33 :UInt32;
      chargedScope @34 :UInt8;  # Scope
      charged @35 :Bool;
    }
    claimReady :group {
      name @36 :Text;
      claim @37 :UInt32;
      role @38 :UInt32;
      index @39 :UInt32;
    }
    claimFailed :group {
      name @40 :Text;
      claim @41 :UInt32;
      role @42 :UInt32;
      index @43 :UInt32;
    }
    claimReleased :group {
      name @44 :Text;
      claim @45 :UInt32;
      role @46 :UInt32;
      index @47 :UInt32;
    }
    memberArmed :group {
      role @48 :UInt32;
      index @49 :UInt32;
      sequence @50 :UInt64;
    }
    groupStarted :group {
      roles @51 :List(UInt32);
    }
    membersStarting :group {
      role @52 :UInt32;
      indexes @53 :List(UInt32);
    }
    memberStarted :group {
      role @54 :UInt32;
      index @55 :UInt32;
      sequence @56 :UInt64;
    }
    memberEnded :group {
      role @57 :UInt32;
      index @58 :UInt32;
      sequence @59 :UInt64;
      exitCode @60 :Int32;
      signal @61 :Int32;
      phase @62 :UInt8;         # MemberPhase
      reason @63 :UInt8;        # FailureReason
      fate @64 :UInt8;          # MemberFate
      chargedScope @65 :UInt8;  # Scope
      charged @66 :Bool;
    }
    memberReplaced :group {
      role @67 :UInt32;
      index @68 :UInt32;
      slices @69 :List(Slice);
      fromSpare @70 :Bool;
    }
    groupRunning :group {
      none @71 :Void;
    }
    groupRecovering :group {
      none @72 :Void;
    }
    groupStopping :group {
      next @73 :UInt8;      # StopNext
      endCode @74 :UInt8;   # EndCode
      endScope @75 :UInt8;  # Scope
      endRole @76 :UInt32;
      endMember @77 :UInt32;
      endExitCode @78 :Int32;
      endSignal @79 :Int32;
      charged @80 :Bool;
      keepHosts @81 :Bool;
    }
    membersStopping :group {
      role @82 :UInt32;
      indexes @83 :List(UInt32);
      fate @84 :UInt8;          # MemberFate
      reason @85 :UInt8;        # FailureReason
      chargedScope @86 :UInt8;  # Scope
      charged @87 :Bool;
    }
    memberStopped :group {
      role @88 :UInt32;
      index @89 :UInt32;
      sequence @90 :UInt64;
      exitCode @91 :Int32;
      signal @92 :Int32;
    }
    stopExpired :group {
      role @93 :UInt32;
      index @94 :UInt32;
      fence @95 :Bool;
    }
    memberGivenUp :group {
      role @96 :UInt32;
      index @97 :UInt32;
    }
    groupRestarted :group {
      backoffUntil @98 :Int64;
      to @99 :UInt8;  # GroupPhase
    }
    groupRequeued :group {
      none @100 :Void;
    }
    groupPreempted :group {
      by @101 :UInt64;
      members @102 :List(MemberKey);
    }
    keptHostsReleased :group {
      none @103 :Void;
    }
    groupSuspended :group {
      none @104 :Void;
    }
    groupResumed :group {
      none @105 :Void;
    }
    resizeRequested :group {
      role @106 :UInt32;
      replicas @107 :UInt32;
      deadline @108 :Int64;
      pending @109 :Bool;
    }
    resizeApplied @110 :ResizeApplied;
    resizeDropped :group {
      role @111 :UInt32;
      why @112 :UInt8;  # ResizeDropReason
    }
    groupSucceeded :group {
      endCode @113 :UInt8;   # EndCode
      endScope @114 :UInt8;  # Scope
      endRole @115 :UInt32;
      endMember @116 :UInt32;
      endExitCode @117 :Int32;
      endSignal @118 :Int32;
    }
    groupFailed :group {
      endCode @119 :UInt8;   # EndCode
      endScope @120 :UInt8;  # Scope
      endRole @121 :UInt32;
      endMember @122 :UInt32;
      endExitCode @123 :Int32;
      endSignal @124 :Int32;
    }
    groupCancelled :group {
      endCode @125 :UInt8;   # EndCode
      endScope @126 :UInt8;  # Scope
      endRole @127 :UInt32;
      endMember @128 :UInt32;
      endExitCode @129 :Int32;
      endSignal @130 :Int32;
    }
    groupPurged @131 :GroupPurged;
    lateReport @132 :LateReport;
    groupSatisfied :group {
      none @133 :Void;
    }
    idleHostsReleased @134 :IdleHostsReleased;
  }
}

# Root of the message in a record. The seq of an event is the record's first seq plus its place in the list.
struct EventBatch {
  events @0 :List(Event);
}

# ---- commands ------------------------------------------------------------------------------------------------------

struct PlanAction {
  group @0 :UInt64;

  union {
    place :group {
      domain @1 :Text;
      members @2 :List(MemberPlacement);
      spares @3 :List(SparePlacement);
    }
    replace :group {
      members @4 :List(MemberPlacement);
    }
    grow :group {
      role @5 :UInt32;
      members @6 :List(MemberPlacement);
    }
    reserve :group {
      domain @7 :Text;
      members @8 :List(MemberPlacement);
      spares @9 :List(SparePlacement);
      lost @10 :List(MemberKey);
      projected @11 :Int64;
    }
    release :group {
      why @12 :UInt8;  # ReservationEnd
    }
    evict :group {
      by @13 :UInt64;
      members @14 :List(MemberKey);
    }
  }
}

# Root of the message of a command.
struct Command {
  client @0 :UInt64;
  request @1 :UInt64;
  time @2 :Int64;
  actor @3 :UInt8;  # Actor

  union {  # in the order of CommandBody
    defineGroup :group {
      identity @4 :GroupIdentity;
      spec @5 :GroupSpec;
      hold @6 :Bool;
    }
    groupCommand :group {
      verb @7 :UInt8;  # GroupVerb
      group @8 :UInt64;
    }
    resizeGroup :group {
      group @9 :UInt64;
      role @10 :UInt32;
      replicas @11 :UInt32;
    }
    setHost :group {
      info @12 :HostInfo;
      setAt @13 :Bool;
    }
    hostCommand :group {
      verb @14 :UInt8;  # HostVerb
      name @15 :Text;
    }
    setPool :group {
      name @16 :Text;
      total @17 :Int64;
    }
    setLevels :group {
      levels @18 :List(Text);
    }
    reportMember :group {
      group @19 :UInt64;
      report @20 :Report;
    }
    reportClaim :group {
      group @21 :UInt64;
      name @22 :Text;
      claim @23 :UInt32;
      role @24 :UInt32;
      index @25 :UInt32;
      kind @26 :UInt8;  # ClaimReportKind
    }
    applyPlan :group {
      madeFor @27 :UInt64;
      actions @28 :List(PlanAction);
    }
    advanceTime :group {
      none @29 :Void;
    }
    startController :group {
      featureLevel @30 :UInt32;
    }
    recordDigest :group {
      none @31 :Void;
    }
  }
}
