#pragma once
// The whole state of a controller, as plain data. It is what the log means: State + apply(Event) is the only way to
// change it. Fields named by LOCKSTEP_FIELDS are facts: digested, snapshotted, compared. Derived ones (counts, use,
// indexes) are rebuilt from the facts by rebuild_derived() and checked against a rebuild by the invariants.
//
// Readers take what they like by const reference. Writers are apply*.cpp alone, through the guards of edit.h.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/commands.h"
#include "events/events.h"
#include "events/ids.h"
#include "events/phases.h"
#include "events/spec.h"
#include "statemachine/host_journal.h"
#include "statemachine/index_set.h"
#include "statemachine/table.h"

namespace lockstep {

// ---- a member ---------------------------------------------------------------------------------------------------
// It holds what `hosts` says, from its placement until it is gone; also while it waits, when its hosts are kept.
// While its group goes on, a member in Stopping runs again once it is gone if it is required, else it was given up.
struct Member {
  MemberPhase phase{MemberPhase::Waiting};
  bool required{false};  // of this attempt: placed for it or grown in, and not given up, shrunk away or evicted
  bool kill{false};      // its stop clock ended once: the intent is `kill`
  bool fenced{false};    // it ended twice: its hosts were drained
  FailureReason reason{FailureReason::None};
  std::uint32_t run{};       // how often it was given hosts
  std::uint64_t sequence{};  // highest report of this run
  std::int32_t exit_code{};
  std::int32_t signal{};
  Seq placed_seq{};  // last placed first
  Time started_at{};
  Time recover_deadline{};
  Time stop_deadline{};
  std::vector<Slice> hosts;
  friend bool operator==(const Member&, const Member&) = default;
};
LOCKSTEP_FIELDS(Member, phase, required, kill, fenced, reason, run, sequence, exit_code, signal, placed_seq, started_at,
                recover_deadline, stop_deadline, hosts)

// Restarts charged to one scope: their times, oldest first, no more than its budget can compare.
struct Charges {
  std::vector<Time> times;
  friend bool operator==(const Charges&, const Charges&) = default;
};
LOCKSTEP_FIELDS(Charges, times)

// ---- a role -------------------------------------------------------------------------------------------------------
struct RoleHead {
  std::uint32_t wanted{};  // replicas, as resized
  bool resize_pending{false};
  std::uint32_t resize_to{};
  Time resize_deadline{};
  std::vector<Time> charges;  // restarts charged to the role
  friend bool operator==(const RoleHead&, const RoleHead&) = default;
};
LOCKSTEP_FIELDS(RoleHead, wanted, resize_pending, resize_to, resize_deadline, charges)

struct Spare {
  std::vector<Slice> hosts;
  friend bool operator==(const Spare&, const Spare&) = default;
};
LOCKSTEP_FIELDS(Spare, hosts)

// Members by phase, of all and of the required ones. Derived.
struct PhaseCounts {
  std::array<std::uint32_t, kMemberPhaseCount> all{};
  std::array<std::uint32_t, kMemberPhaseCount> of_required{};
  std::uint32_t required{};
  [[nodiscard]] std::uint32_t in(MemberPhase phase) const { return all[static_cast<std::size_t>(phase)]; }
  [[nodiscard]] std::uint32_t required_in(MemberPhase phase) const {
    return of_required[static_cast<std::size_t>(phase)];
  }
  [[nodiscard]] std::uint32_t live() const {
    return in(MemberPhase::Placed) + in(MemberPhase::Armed) + in(MemberPhase::Starting) + in(MemberPhase::Running) +
           in(MemberPhase::Stopping);
  }
  friend bool operator==(const PhaseCounts&, const PhaseCounts&) = default;
};

struct Role {
  RoleHead head{};
  std::vector<Member> members;  // by index; one beyond `wanted` that is not required is a free number
  std::vector<Spare> spares;
  PhaseCounts counts{};
  IndexSet startable;  // derived: indexes of required members that are Armed with their own claims Ready
};
LOCKSTEP_FIELDS_AND_DERIVED(Role, (head, members, spares), (counts, startable))

// ---- a group ------------------------------------------------------------------------------------------------------
struct GroupHead {
  GroupId id{};
  GroupIdentity identity{};
  SpecHash spec{};
  GroupPhase phase{GroupPhase::None};
  std::uint32_t attempt{};  // one more each time it enters Placed
  std::uint32_t charged{};  // restarts charged to maxRestarts, never reset
  Seq last_event{};         // where its history ends in the log; each event names the one before
  Seq order{};              // its place among equals: seq of submit, or of what sent it behind others
  Time submitted_at{};
  Time phase_since{};
  std::string domain;             // promised while it is placed or reserving; "/" is the whole cluster
  StopNext next{StopNext::None};  // what Stopping becomes
  bool stop_charged{false};       // the restart it stops for was charged: a backoff follows
  bool keep_hosts{false};         // it restarts on its own hosts, held through Stopping and Backoff
  bool has_run{false};            // it has been Running in this attempt
  bool satisfied{false};          // the success policy is: nothing is replaced, charged or timed out any more
  bool claims_asked{false};       // it has been placed once: it uses its standalone claims until it ends
  End end{};                      // terminal: how. Stopping: what decided it
  Time pend_deadline{};
  Time reserve_deadline{};
  Time start_deadline{};
  Time run_deadline{};
  Time backoff_deadline{};
  Time ttl_deadline{};
  Time projected{};              // of its reservation
  std::vector<GroupId> victims;  // evicted for its reservation
  std::vector<Time> charges;     // restarts charged to the group
  std::uint64_t late_reports{};
  friend bool operator==(const GroupHead&, const GroupHead&) = default;
};
LOCKSTEP_FIELDS(GroupHead, id, identity, spec, phase, attempt, charged, last_event, order, submitted_at, phase_since,
                domain, next, stop_charged, keep_hosts, has_run, satisfied, claims_asked, end, pend_deadline,
                reserve_deadline, start_deadline, run_deadline, backoff_deadline, ttl_deadline, projected, victims,
                charges, late_reports)

struct GroupClaim {
  ClaimPhase phase{ClaimPhase::Wanted};
  friend bool operator==(const GroupClaim&, const GroupClaim&) = default;
};
LOCKSTEP_FIELDS(GroupClaim, phase)

// Amounts of one task, by [role][term], in the order of the term's requests. Shared by all groups of a spec.
using SpecRequests = std::vector<std::vector<std::vector<std::pair<ResourceId, std::int64_t>>>>;

// The total order of SCHEDULING.md over groups that want hosts.
struct OrderKey {
  bool waits_to_run{true};  // false first: it runs, and a member of it waits for hosts
  std::int64_t priority_negated{};
  Seq order{};
  GroupId group{};
  friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
};

// Sum over all entities of the 128-bit hash of their key and fields; see digest.h.
struct Digest {
  std::uint64_t high{};
  std::uint64_t low{};
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// Pending groups that are alike in all that a scheduling pass looks at, but for their order: what holds of one holds of
// the others.
struct WaitShape {
  Digest spec{};                                                 // of what placement reads of it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members;  // by role: wanted, and fewest
  std::string queue;                                             // in reserve mode
  friend auto operator<=>(const WaitShape&, const WaitShape&) = default;
};

// Where a group stands in State::indexes, so that an event moves it only when that changed.
struct Indexed {
  bool owing{false};
  bool goes_on{false};
  bool preemptible{false};
  OrderKey order{};
  std::shared_ptr<const WaitShape> waits_as;  // while it is Pending
};

struct Group {
  GroupHead head{};
  std::vector<Role> roles;
  std::map<ClaimKey, GroupClaim> claims;         // template claims only; standalone ones are State::claims
  std::map<MemberKey, Charges> member_charges;   // restarts charged to single members
  std::shared_ptr<const GroupSpec> spec;         // derived: State::specs[head.spec]
  std::shared_ptr<const SpecRequests> requests;  // derived: the same
  std::uint32_t claims_not_ready{};              // derived: of its own and of the standalone ones it names
  std::uint32_t claims_owed{};                   // derived: own claims Provisioning or Releasing
  Indexed indexed{};                             // derived
};
LOCKSTEP_FIELDS_AND_DERIVED(Group, (head, roles, claims, member_charges),
                            (spec, requests, claims_not_ready, claims_owed, indexed))

// ---- the cluster ----------------------------------------------------------------------------------------------------
struct HostFacts {
  HostId id{};
  HostInfo info{};
  friend bool operator==(const HostFacts&, const HostFacts&) = default;
};
LOCKSTEP_FIELDS(HostFacts, id, info)

struct Host {
  HostFacts facts{};
  std::vector<std::int64_t> capacity;       // derived: by ResourceId; may be shorter than State::resources
  std::vector<std::int64_t> used;           // derived: by ResourceId
  std::vector<std::pair<GroupId, std::uint32_t>> groups;  // derived: that hold something here, by id, with their slices
  [[nodiscard]] bool usable() const { return !facts.info.down && !facts.info.drained; }
};
LOCKSTEP_FIELDS_AND_DERIVED(Host, (facts), (capacity, used, groups))

struct Pool {
  std::int64_t total{};
  friend bool operator==(const Pool&, const Pool&) = default;
};
LOCKSTEP_FIELDS(Pool, total)

struct StandaloneClaim {
  ClaimPhase phase{ClaimPhase::Wanted};
  friend bool operator==(const StandaloneClaim&, const StandaloneClaim&) = default;
};
LOCKSTEP_FIELDS(StandaloneClaim, phase)

// ---- clients --------------------------------------------------------------------------------------------------------
inline constexpr std::size_t kAnswersKept = 1024;  // per client
inline constexpr std::size_t kClientsKept = 4096;  // the one that asked longest ago is forgotten first

struct KeptAnswer {
  std::uint8_t code{};
  GroupId about{};
  Seq seq{};
  std::string text;
  friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};
LOCKSTEP_FIELDS(KeptAnswer, code, about, seq, text)

struct ClientHead {
  Seq last_seen{};
  std::uint64_t forgotten{};  // requests up to this number are no longer known
  friend bool operator==(const ClientHead&, const ClientHead&) = default;
};
LOCKSTEP_FIELDS(ClientHead, last_seen, forgotten)

struct Client {
  ClientHead head{};
  std::map<std::uint64_t, KeptAnswer> answers;  // by request
};
LOCKSTEP_FIELDS(Client, head, answers)

// ---- the state
// --------------------------------------------------------------------------------------------------------
struct StateHead {
  Seq seq{};  // of the last event applied
  Epoch epoch{};
  Time time{};  // of the last event applied
  std::uint32_t feature_level{};
  GroupId group_last{};
  HostId host_last{};
  std::vector<std::string> levels;  // widest first, without `host`
  std::uint64_t late_unknown{};     // late reports of groups nobody knows
  Seq digest_seq{};                 // of the last DigestRecorded
  friend bool operator==(const StateHead&, const StateHead&) = default;
};
LOCKSTEP_FIELDS(StateHead, seq, epoch, time, feature_level, group_last, host_last, levels, late_unknown, digest_seq)

struct TimerKey {
  Time deadline{};
  GroupId group{};
  TimerKind kind{TimerKind::Pend};
  MemberKey member{kNoRole, kNoMember};  // of a resize: the role alone
  friend auto operator<=>(const TimerKey&, const TimerKey&) = default;
};

struct SpecEntry {
  std::shared_ptr<const GroupSpec> spec;
  std::uint64_t users{};  // groups that refer to it
  std::shared_ptr<const SpecRequests> requests;
  Digest placement{};  // of what placement reads of it
};

class CapacityView;  // statemachine/capacity.h
struct State;

// The cluster as if every host were up and empty: made when could_ever_fit() first asks, forgotten when hosts, pools or
// levels change. A copy of the state makes its own.
class EmptyCluster {
 public:
  EmptyCluster() = default;
  EmptyCluster(const EmptyCluster&) {}
  EmptyCluster& operator=(const EmptyCluster&) {
    forget();
    return *this;
  }
  [[nodiscard]] const CapacityView& of(const State& state);
  void forget() { view_.reset(); }

 private:
  std::shared_ptr<const CapacityView> view_;
};

struct Indexes {
  bool kept{true};  // false: those of groups are out of date (IndexesOff)
  std::set<TimerKey> timers;
  std::map<WaitShape, std::set<OrderKey>> pending;        // Pending groups
  std::set<OrderKey> goes_on;                             // Reserving, active with a member that waits, or to grow
  std::map<std::int32_t, std::set<GroupId>> preemptible;  // that hold hosts and may be evicted, by priority
  std::set<std::pair<std::string, GroupId>> names;        // the latest of a name is the last of its range
  std::set<GroupId> owing;                                // groups with at least one intent outstanding
  std::map<std::string, std::set<GroupId>> standalone_users;
  std::map<std::string, HostId> hosts_by_name;
  std::array<std::uint64_t, kGroupPhaseCount> groups_in{};
  EmptyCluster empty_cluster;
  HostJournal host_journal;
};

struct State {
  StateHead head{};
  Table<HostId, Host> hosts{};
  std::map<std::string, Pool> pools;
  std::map<std::string, StandaloneClaim> claims;
  std::map<std::uint64_t, Client> clients;
  std::map<SpecHash, SpecEntry> specs;
  Table<GroupId, Group> groups{};

  // Derived.
  Digest sum{};                        // of all entities but the head (digest.h)
  std::vector<std::string> resources;  // ResourceId -> name; their order means nothing
  std::map<std::string, ResourceId, std::less<>> resource_ids;
  std::vector<std::int64_t> used;  // by ResourceId, over all hosts: what pools are checked against
  Indexes indexes{};

  [[nodiscard]] Digest digest() const;
  [[nodiscard]] const Group* group(GroupId id) const { return groups.find(id); }
  [[nodiscard]] const Group* group_named(std::string_view name) const;  // the latest of that name
  [[nodiscard]] const Host* host(HostId id) const { return hosts.find(id); }
  [[nodiscard]] const Host* host_named(std::string_view name) const;
  // Is there anything for a scheduling pass to do?
  [[nodiscard]] bool anyone_waits() const { return !indexes.pending.empty() || !indexes.goes_on.empty(); }
  [[nodiscard]] std::uint64_t groups_in(GroupPhase phase) const {
    return indexes.groups_in[static_cast<std::size_t>(phase)];
  }
};

// Shared by the whole cluster and checked against the sum: in State::pools, or named `license.*`.
[[nodiscard]] bool is_pool(const State& state, std::string_view resource);
// Total of a pool less what is used; 0 for one that was never set.
[[nodiscard]] std::int64_t pool_free(const State& state, std::string_view name);
// "b1/r1" for a path, "/" for none.
[[nodiscard]] std::string domain_path(const std::vector<std::string>& at, std::size_t depth);

// What a group holds, by counter name, sorted; empty when nothing.
[[nodiscard]] std::vector<Counter> held(const State& state, const Group& group);
// A host's capacity of a counter less what is used of it (negative when the host shrank).
[[nodiscard]] std::int64_t host_free(const State& state, const Host& host, std::string_view resource);

// Computes everything derived from the facts: after loading a snapshot.
void rebuild_derived(State& state);

// While it lives apply() keeps no index of groups, which replay does not read; they are made again at its end. Nobody
// may decide, plan or look groups up by name meanwhile.
class IndexesOff {
 public:
  explicit IndexesOff(State& state);
  IndexesOff(const IndexesOff&) = delete;
  IndexesOff& operator=(const IndexesOff&) = delete;
  ~IndexesOff();

 private:
  State& state_;
};

}  // namespace lockstep
