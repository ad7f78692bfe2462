#pragma once
// One decision under way: the command, the state that runs along, and the events so far. The files decide_*.cpp hold
// its parts by subject; every one of them reads the state and emits events, and only emit() changes anything, through
// apply(). A rejection comes before the first emit of the command itself. Private to statemachine/.

#include <optional>
#include <string>
#include <utility>

#include "events/commands.h"
#include "statemachine/decide.h"
#include "statemachine/state.h"

namespace lockstep {

// A failure that the policy judges. Of the group as a whole: member is none.
struct Failure {
  FailureReason reason{FailureReason::None};
  MemberKey member{kNoRole, kNoMember};
  std::int32_t exit_code{};
  std::int32_t signal{};
};

// How the failed member ended, when it did: it may go on (its claim failed) or not be gone yet (it lost one of several
// hosts).
struct MemberEnding {
  MemberPhase phase{MemberPhase::Failed};
  std::uint64_t sequence{};
  ClaimRef claim{};  // StaysLive: the claim that failed
};
enum class Gone : std::uint8_t { Yes, NotYet, StaysLive };

class Decider {
 public:
  Decider(State& state, const Command& command) : state_(state), command_(command) {}
  Decision run();

 private:
  // ---- decide.cpp
  void emit(GroupId group, EventBody body);
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const Group& group(GroupId id) const { return *state_.groups.find(id); }
  static Answer reject(AnswerCode code, std::string text, GroupId group = {});
  Answer repeated_or_run();
  void record_answer(const Answer& answer);

  // ---- one per command
  Answer on(const DefineGroup& command);
  Answer on(const GroupCommand& command);
  Answer on(const ResizeGroup& command);
  Answer on(const SetHost& command);
  Answer on(const HostCommand& command);
  Answer on(const SetPool& command);
  Answer on(const SetLevels& command);
  Answer on(const ReportMember& command);
  Answer on(const ReportClaim& command);
  Answer on(const ApplyPlan& command);
  Answer on(const AdvanceTime& command);
  Answer on(const StartController& command);
  Answer on(const RecordDigest& command);

  // ---- decide_group.cpp: verbs
  Answer submit(const Group& group);
  Answer cancel(const Group& group);
  Answer suspend(const Group& group);
  Answer resume(const Group& group);
  Answer evict(const Group& group, GroupId by = {});
  Answer purge(const Group& group);
  Answer wrong_phase(const Group& group, std::string_view verb) const;

  // ---- settle.cpp: what follows from the state by itself
  void settle(GroupId id);
  bool settle_step(GroupId id);
  bool settle_placed(const Group& group);
  bool settle_started(const Group& group);
  bool start_ready_members(const Group& group);
  bool settle_success(const Group& group);
  bool settle_resize(const Group& group);
  void finish_stop(const Group& group);
  void finish_restart(const Group& group);
  void place_kept(GroupId id);
  void request_claims(GroupId id, const std::vector<MemberPlacement>& placed);
  void end_succeeded(GroupId id);

  // ---- stopping.cpp
  void stop_group(GroupId id, StopNext next, const End& end, bool charged = false, bool keep_hosts = false);
  void drop_resizes(GroupId id, ResizeDropReason why);
  void release_kept_if_lost(GroupId id);
  void release_idle(GroupId id);
  [[nodiscard]] bool can_keep_hosts(const Group& group) const;
  [[nodiscard]] bool usable(const std::vector<Slice>& slices) const;

  // ---- policy.cpp: the failure policy
  void member_failed(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone);
  void group_failed(GroupId id, const Failure& failure);
  void end_member(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone, MemberFate fate,
                  Scope charged = Scope::None);
  void restart_group(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone, bool charge);
  void restart_member(GroupId id, const Failure& failure, const MemberEnding& ending, Gone gone, bool charge);
  void restart_rest_of_role(GroupId id, const MemberKey& failed);
  void fall_below_min(GroupId id, const End& end);
  void check_min(GroupId id, const Failure& failure, EndCode code);
  void replace_in_place(GroupId id, const MemberKey& member, const std::vector<Slice>& own);
  void recover_if_short(GroupId id);

  // ---- decide_clock.cpp
  void fire_deadlines();
  void fire(const TimerKey& timer);
  void recover_expired(GroupId id, const MemberKey& member);
  void stop_expired(GroupId id, const MemberKey& member);

  // ---- decide_report.cpp
  Answer late(LateReport report);
  void member_reported_gone(GroupId id, const Report& report);
  void member_stopped(GroupId id, const MemberKey& member, std::int32_t exit_code, std::int32_t signal,
                      std::uint64_t sequence);
  void claim_failed(GroupId id, const ClaimRef& claim);

  // ---- decide_cluster.cpp
  void change_host(HostId id, const HostInfo& info);
  void shrink_reservation(GroupId id);
  void host_lost(HostId id);
  void member_lost_host(GroupId id, const MemberKey& member, HostId host);

  // ---- decide_plan.cpp
  void take(const PlaceAction& action);
  void take(const ReplaceAction& action);
  void take(const GrowAction& action);
  void take(const ReserveAction& action, const Plan& plan);
  void take(const ReleaseAction& action);
  void take(const EvictAction& action);

  State& state_;
  const Command& command_;
  Time now_{};
  Actor actor_{Actor::None};
  Seq cause_{};
  Decision decision_{};
};

}  // namespace lockstep
