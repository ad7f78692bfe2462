#pragma once
// A second model of the lifecycle, written from the rules' text alone and sharing nothing with the product but the
// plain structs of commands and specs: maps, full scans, one function a rule. What both say of the same commands is
// compared after every one of them (compare.h); a difference means that one of the two, or the text, is wrong.
//
// What is not a rule of the lifecycle is taken from the product and checked: which hosts a plan uses (that the
// placement is legal), whether a group could ever fit, and whether a reservation that lost hosts could still complete
// (Choices).
//
// Modelled: define, all verbs, resize, hosts, pools, reports of members and claims, plans, all clocks, and the
// controller's start, reservations and evictions by a plan. Not modelled, so not generated: request ids, manifests that
// are refused.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "events/commands.h"

namespace lockstep::model {

using Slices = std::vector<Slice>;

struct NaiveMember {
  MemberPhase phase{MemberPhase::Waiting};
  bool required{false};
  bool kill{false};
  bool fenced{false};
  std::uint32_t run{};
  std::uint64_t sequence{};
  std::int32_t exit_code{};
  Time recover_deadline{};
  Time stop_deadline{};
  Slices hosts;
};

struct NaiveRole {
  std::uint32_t wanted{};
  std::optional<std::uint32_t> resize_to;
  Time resize_deadline{};
  std::vector<Time> charges;
  std::vector<Slices> spares;
};

struct NaiveGroup {
  GroupId id{};
  std::string name;
  GroupSpec spec;
  GroupPhase phase{GroupPhase::None};
  std::uint32_t attempt{};
  std::uint32_t charged{};
  StopNext next{StopNext::None};
  bool stop_charged{false};
  std::uint32_t backoff_step{};  // the n of the nth charged restart, as compared when it was charged
  bool keep_hosts{false};
  bool has_run{false};
  bool satisfied{false};
  bool uses_claims{false};
  End end{};
  std::string domain;
  Time pend_deadline{};
  Time reserve_deadline{};
  Time start_deadline{};
  Time run_deadline{};
  Time backoff_deadline{};
  Time ttl_deadline{};
  std::vector<Time> charges;
  std::uint64_t late_reports{};
  std::vector<NaiveRole> roles;
  std::map<MemberKey, NaiveMember> members;
  std::map<ClaimKey, ClaimPhase> claims;  // asked for at least once
  std::map<MemberKey, std::vector<Time>> member_charges;
};

struct NaiveHost {
  HostId id{};
  HostInfo info{};
};

// What the product decided where the lifecycle leaves it to the placement.
struct Choices {
  AnswerCode code{AnswerCode::Done};        // NeverFits and StalePlan are believed where they may be answered
  std::set<GroupId> reservations_given_up;  // host lost, and what is left could not complete
  bool plan_is_old{false};                  // something happened since it was made
};

// One failure that is to be judged. Of a member, or of the group as a whole (no member).
struct Failure {
  FailureReason reason{FailureReason::None};
  std::optional<MemberKey> member;
  std::int32_t exit_code{};
  std::int32_t signal{};
  // What there still is of the member: nothing; a part on other hosts, which must be stopped; or all, a claim failed.
  enum class Left { Nothing, Part, All } left{Left::Nothing};
  std::optional<ClaimKey> claim;
};

class NaiveModel {
 public:
  [[nodiscard]] AnswerCode execute(const Command& command, const Choices& choices);

  // Empty, or what was not legal about the last command's placement.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  // What is used of each counter, by host; and over the cluster.
  [[nodiscard]] std::map<HostId, std::map<std::string, std::int64_t>> used() const;

  std::map<GroupId, NaiveGroup> groups;
  std::map<HostId, NaiveHost> hosts;
  std::map<std::string, std::int64_t> pools;
  std::map<std::string, ClaimPhase> claims;  // standalone
  std::vector<std::string> levels;
  std::uint64_t late_unknown{};
  Time now{};
  std::set<FailureAction> actions_taken;  // for coverage

 private:
  using Group = NaiveGroup;
  using Member = NaiveMember;
  using Timer = std::tuple<Time, GroupId, TimerKind, RoleIndex, std::uint32_t>;

  // naive_model.cpp: users, operators, hosts
  AnswerCode on(const DefineGroup& command);
  AnswerCode on(const GroupCommand& command);
  AnswerCode on(const ResizeGroup& command);
  AnswerCode on(const SetHost& command);
  AnswerCode on(const HostCommand& command);
  AnswerCode on(const SetPool& command);
  AnswerCode on(const SetLevels& command);
  AnswerCode on(const AdvanceTime&) { return AnswerCode::Done; }
  AnswerCode on(const StartController&) { return AnswerCode::Done; }
  AnswerCode on(const RecordDigest&) { return AnswerCode::Done; }
  AnswerCode verb(GroupVerb verb, Group& group);
  AnswerCode stop_for(Group& group, StopNext next);
  AnswerCode evict(Group& group);
  void become_pending(Group& group);
  Group* find(GroupId id);
  NaiveHost* host_named(const std::string& name);

  // naive_report.cpp: agents, and hosts that are lost
  AnswerCode on(const ReportMember& command);
  AnswerCode late(Group& group);
  void member_ended(Group& group, MemberKey key, const Report& report);
  void member_confirmed_gone(Group& group, MemberKey key);
  void host_down(HostId host);
  void host_not_usable(HostId host);

  // naive_claims.cpp
  AnswerCode on(const ReportClaim& command);
  AnswerCode report_standalone(const ReportClaim& command);
  void claim_failed(Group& group, ClaimKey key);
  void request_claims(Group& group);
  void request_claim(Group& group, ClaimKey key);
  void release_claims(Group& group);
  [[nodiscard]] std::vector<ClaimKey> claims_of_group(const Group& group) const;
  [[nodiscard]] std::vector<ClaimKey> claims_of_member(const Group& group, MemberKey key) const;
  [[nodiscard]] bool ready(const Group& group, ClaimKey key) const;
  [[nodiscard]] bool group_claims_ready(const Group& group) const;
  [[nodiscard]] bool member_claims_ready(const Group& group, MemberKey key) const;
  [[nodiscard]] static bool owes_release(const Group& group);

  // naive_policy.cpp
  void judge(Group& group, const Failure& failure);
  void restart_some(Group& group, const Failure& failure, FailureAction action, bool charge);
  void restart_group(Group& group, const Failure& failure, bool charge);
  void below_min(Group& group, const Failure& failure, EndCode code);
  void fail_group(Group& group, const Failure& failure, EndCode code, Scope scope);
  [[nodiscard]] Scope charge_some(Group& group, MemberKey key);
  [[nodiscard]] std::uint32_t counted(const Group& group, const std::vector<Time>& charges) const;
  void give_up(Group& group, const Failure& failure, EndCode code);
  void run_again(Group& group, MemberKey key);
  void ask_to_stop(Group& group, Member& member);
  void start_recover_clock(Group& group, Member& member);

  // naive_settle.cpp: what follows by itself
  void settle(Group& group);
  bool settle_once(Group& group);
  bool settle_success(Group& group);
  bool settle_barrier(Group& group);
  bool settle_starts(Group& group);
  bool settle_running(Group& group);
  bool settle_resize(Group& group);
  void stop_group(Group& group, StopNext next, const End& end, bool charged, bool keep);
  void stop_finished(Group& group);
  void restarted(Group& group);
  void reset_members(Group& group, bool keep_successes);
  void end_group(Group& group, GroupPhase phase, const End& end);
  void enter_placed(Group& group);
  void place_on_kept_hosts(Group& group);
  void release_kept_hosts(Group& group);
  void give_back_where_nobody_runs(Group& group);
  void end_clocks(Group& group);
  [[nodiscard]] bool success_satisfied(const Group& group) const;
  [[nodiscard]] bool after_holds(const Group& group, RoleIndex role) const;
  [[nodiscard]] bool can_keep_hosts(const Group& group) const;

  // naive_placement.cpp
  AnswerCode on(const ApplyPlan& command);
  void act(const PlaceAction& action);
  void act(const ReplaceAction& action);
  void act(const GrowAction& action);
  void act(const ReserveAction& action);
  void act(const ReleaseAction& action);
  void act(const EvictAction& action);
  void release_reservation(Group& group);
  void reserved_host_lost(Group& group, HostId host);
  void give_run(Member& member, const Slices& hosts);
  bool complain(bool wrong, const std::string& what);
  void check_slices(const Group& group, RoleIndex role, const Slices& slices, const std::string& domain);
  void check_role_domain(const Group& group, RoleIndex role);
  void check_room();
  [[nodiscard]] bool usable(const Slices& slices) const;
  [[nodiscard]] bool inside(HostId host, const std::string& domain) const;

  // naive_clock.cpp
  void fire_deadlines();
  [[nodiscard]] std::set<Timer> timers() const;
  void fire(Group& group, TimerKind kind, MemberKey key);
  void fire_stop(Group& group, Member& member);

  [[nodiscard]] Time deadline(Duration after) const { return after.value == 0 ? Time{} : now + after; }
  [[nodiscard]] static std::uint32_t live(const Group& group);
  [[nodiscard]] static std::uint32_t required(const Group& group, RoleIndex role);

  std::uint64_t groups_defined_ = 0;
  std::uint32_t hosts_added_ = 0;
  Choices choices_;
  bool clock_fired_ = false;
  std::set<std::pair<HostId, std::string>> touched_;  // by the plan: of these there must be room
  std::set<std::string> pool_was_over_;               // it had been made smaller before the plan
  std::string complaint_;
};

}  // namespace lockstep::model
