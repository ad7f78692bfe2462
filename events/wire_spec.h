#pragma once
// Wire lists (wire.h) of what events and commands share: specs, hosts, members. Private to the codec.

#include "events/events.h"
#include "events/spec.h"
#include "events/wire.h"

namespace lockstep {

// Opens the definition of the list of one pair; `archive`, `wire` and `plain` are what LOCKSTEP_WIRE goes by.
#define LOCKSTEP_WIRE_FIELDS           \
  template <class A, class W, class P> \
  static void fields([[maybe_unused]] A& archive, [[maybe_unused]] W& wire, [[maybe_unused]] P& plain)

template <>
struct Wire<Counter> : At<wire::Counter> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(amount, Amount);
  }
};

template <>
struct Wire<KeyValue> : At<wire::KeyValue> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(key, Key);
    LOCKSTEP_WIRE(value, Value);
  }
};

template <>
struct Wire<TaskTerm> : At<wire::TaskTerm> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(count, Count);
    LOCKSTEP_WIRE(requests, Requests);
    LOCKSTEP_WIRE(select, Select);
    LOCKSTEP_WIRE(span_ptile, SpanPtile);
    LOCKSTEP_WIRE(span_hosts, SpanHosts);
  }
};

template <>
struct Wire<Topology> : At<wire::Topology> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(required, Required);
    LOCKSTEP_WIRE(preferred, Preferred);
  }
};

template <>
struct Wire<After> : At<wire::After> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(what, What);
  }
};

template <>
struct Wire<RoleSpec> : At<wire::RoleSpec> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(replicas, Replicas);
    LOCKSTEP_WIRE(min, Min);
    LOCKSTEP_WIRE(max, Max);
    LOCKSTEP_WIRE(tasks, Tasks);
    LOCKSTEP_WIRE(topology, Topology);
    LOCKSTEP_WIRE(spares, Spares);
    LOCKSTEP_WIRE(after, After);
    LOCKSTEP_WIRE(command, Command);
    LOCKSTEP_WIRE(env, Env);
  }
};

template <>
struct Wire<ClaimSpec> : At<wire::ClaimSpec> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(kind, Kind);
    LOCKSTEP_WIRE(per, Per);
    LOCKSTEP_WIRE(roles, Roles);
    LOCKSTEP_WIRE(size, Size);
  }
};

template <>
struct Wire<ExitRange> : At<wire::ExitRange> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(first, First);
    LOCKSTEP_WIRE(last, Last);
  }
};

template <>
struct Wire<FailureRule> : At<wire::FailureRule> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(roles, Roles);
    LOCKSTEP_WIRE(reasons, Reasons);
    LOCKSTEP_WIRE(exit_codes, ExitCodes);
    LOCKSTEP_WIRE(signals, Signals);
    LOCKSTEP_WIRE(action, Action);
    LOCKSTEP_WIRE(charge, Charge);
  }
};

template <>
struct Wire<RoleBudget> : At<wire::RoleBudget> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(max_restarts, MaxRestarts);
  }
};

template <>
struct Wire<FailurePolicy> : At<wire::FailurePolicy> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(rules, Rules);
    LOCKSTEP_WIRE(default_action, DefaultAction);
    LOCKSTEP_WIRE(below_min, BelowMin);
    LOCKSTEP_WIRE(max_restarts, MaxRestarts);
    LOCKSTEP_WIRE(max_restarts_per_role, MaxRestartsPerRole);
    LOCKSTEP_WIRE(max_restarts_per_member, MaxRestartsPerMember);
    LOCKSTEP_WIRE(window, Window);
    LOCKSTEP_WIRE(backoff.base, BackoffBase);
    LOCKSTEP_WIRE(backoff.factor, BackoffFactor);
    LOCKSTEP_WIRE(backoff.cap, BackoffCap);
    LOCKSTEP_WIRE(restart_on, RestartOn);
  }
};

template <>
struct Wire<GroupSpec> : At<wire::GroupSpec> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(priority, Priority);
    LOCKSTEP_WIRE(preemptible, Preemptible);
    LOCKSTEP_WIRE(mode, Mode);
    LOCKSTEP_WIRE(partial, Partial);
    LOCKSTEP_WIRE(topology, Topology);
    LOCKSTEP_WIRE(roles, Roles);
    LOCKSTEP_WIRE(claims, Claims);
    LOCKSTEP_WIRE(failure, Failure);
    LOCKSTEP_WIRE(success.op, SuccessOperator);
    LOCKSTEP_WIRE(success.roles, SuccessRoles);
    LOCKSTEP_WIRE(success.rest, SuccessRest);
    LOCKSTEP_WIRE(resume, Resume);
    LOCKSTEP_WIRE(timeouts.pend, TimeoutPend);
    LOCKSTEP_WIRE(timeouts.reserve, TimeoutReserve);
    LOCKSTEP_WIRE(timeouts.start, TimeoutStart);
    LOCKSTEP_WIRE(timeouts.recover, TimeoutRecover);
    LOCKSTEP_WIRE(timeouts.run, TimeoutRun);
    LOCKSTEP_WIRE(timeouts.stop, TimeoutStop);
    LOCKSTEP_WIRE(run_limit, RunLimit);
    LOCKSTEP_WIRE(ttl_after_finished, TtlAfterFinished);
  }
};

template <>
struct Wire<GroupIdentity> : At<wire::GroupIdentity> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(user, User);
    LOCKSTEP_WIRE(queue, Queue);
    LOCKSTEP_WIRE(labels, Labels);
  }
};

template <>
struct Wire<HostInfo> : At<wire::HostInfo> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(name, Name);
    LOCKSTEP_WIRE(counters, Counters);
    LOCKSTEP_WIRE(at, At);
    LOCKSTEP_WIRE(attributes, Attributes);
    LOCKSTEP_WIRE(down, Down);
    LOCKSTEP_WIRE(drained, Drained);
  }
};

template <>
struct Wire<MemberKey> : At<wire::MemberKey> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(index, Index);
  }
};

template <>
struct Wire<Slice> : At<wire::Slice> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(host, Host);
    LOCKSTEP_WIRE(term, Term);
    LOCKSTEP_WIRE(count, Count);
  }
};

template <>
struct Wire<MemberPlacement> : At<wire::MemberPlacement> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(member.role, Role);
    LOCKSTEP_WIRE(member.index, Index);
    LOCKSTEP_WIRE(slices, Slices);
  }
};

template <>
struct Wire<SparePlacement> : At<wire::SparePlacement> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(role, Role);
    LOCKSTEP_WIRE(slices, Slices);
  }
};

template <>
struct Wire<Report> : At<wire::Report> {
  LOCKSTEP_WIRE_FIELDS {
    LOCKSTEP_WIRE(kind, Kind);
    LOCKSTEP_WIRE(member.role, Role);
    LOCKSTEP_WIRE(member.index, Index);
    LOCKSTEP_WIRE(attempt, Attempt);
    LOCKSTEP_WIRE(run, Run);
    LOCKSTEP_WIRE(sequence, Sequence);
    LOCKSTEP_WIRE(exit_code, ExitCode);
    LOCKSTEP_WIRE(signal, Signal);
    LOCKSTEP_WIRE(reason, Reason);
  }
};

// Parts of groups: laid flat into whatever holds them.
template <class A, class W, class P>
void claim_key_fields(A& archive, W& wire, P& plain) {
  LOCKSTEP_WIRE(name, Name);
  LOCKSTEP_WIRE(key.claim, Claim);
  LOCKSTEP_WIRE(key.member.role, Role);
  LOCKSTEP_WIRE(key.member.index, Index);
}

template <class A, class W, class P>
void end_fields(A& archive, W& wire, P& plain) {
  LOCKSTEP_WIRE(code, EndCode);
  LOCKSTEP_WIRE(scope, EndScope);
  LOCKSTEP_WIRE(role, EndRole);
  LOCKSTEP_WIRE(member, EndMember);
  LOCKSTEP_WIRE(exit_code, EndExitCode);
  LOCKSTEP_WIRE(signal, EndSignal);
}

}  // namespace lockstep
