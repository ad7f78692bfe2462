#pragma once
// A scenario file as plain data: what each line asks for, before anything runs. parse.h makes it from text; runner.h
// carries it out. Nothing here knows a state: a name is only a name until a step meets the group it means.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "events/commands.h"
#include "events/ids.h"
#include "events/phases.h"
#include "events/spec.h"
#include "statemachine/explain.h"
#include "statemachine/intents.h"

namespace lockstep::scenario {

// ---- what a line names --------------------------------------------------------------------------------------------
struct GroupRef {  // `g`: the latest of that name; `g#7`: the group with id 7
  std::string name;
  std::uint64_t id{};  // 0: by name
};
[[nodiscard]] std::string to_string(const GroupRef& group);

// `g/*`, `g/worker[*]`, `g/worker[3]`, `g/worker[0-2,5]`.
struct MemberRef {
  GroupRef group{};
  std::string role;                    // empty: every role
  bool all{false};                       // a set: of those of which the report is due
  std::vector<std::uint32_t> indexes;  // when not `all`: each named singly
};
[[nodiscard]] std::string to_string(const MemberRef& members);

// `g/scratch`, `g/worker[3]/scratch`, `g/worker[*]/scratch`, `dataset`.
struct ClaimPath {
  bool standalone{false};
  MemberRef members{};  // `role` empty: of the group itself
  std::string name;
};
[[nodiscard]] std::string to_string(const ClaimPath& claim);

// ---- the cluster --------------------------------------------------------------------------------------------------
struct LevelsStep {
  std::vector<std::string> levels;
};
struct HostStep {  // one SetHost for each host of the list
  std::vector<SetHost> hosts;
};
struct PoolStep {
  std::string name;
  std::int64_t total{};
};
struct HostVerbStep {
  HostVerb verb{HostVerb::Down};
  std::vector<std::string> hosts;
};
struct InventoryStep {
  std::vector<std::pair<std::string, std::string>> files;  // their names and texts
};

// ---- groups -------------------------------------------------------------------------------------------------------
enum class Submit : std::uint8_t { No, Yes };
struct DefineStep {
  std::string text;
  Submit submit{Submit::No};  // `run`
};
struct GroupStep {
  GroupVerb verb{GroupVerb::Submit};
  GroupRef group{};
};
struct ResizeStep {
  GroupRef group{};
  std::string role;
  std::uint32_t replicas{};
};

// ---- the scheduler, agents and providers --------------------------------------------------------------------------
struct ScheduleStep {};
enum class Mode : std::uint8_t { Manual, Auto };
struct SchedulerModeStep {
  Mode mode{Mode::Manual};
};
struct AgentsModeStep {
  Mode mode{Mode::Manual};
};
struct ReportStep {
  ReportKind kind{ReportKind::Armed};
  MemberRef members{};
  std::optional<std::uint32_t> attempt;
  std::optional<std::uint32_t> run;
  std::optional<std::uint64_t> sequence;
  std::int32_t exit_code{};
  std::int32_t signal{};
  FailureReason reason{FailureReason::None};
};
struct ClaimStep {
  ClaimPath claim{};
  ClaimReportKind kind{ClaimReportKind::Ready};
};

// ---- time and the controller --------------------------------------------------------------------------------------
struct AdvanceStep {
  Duration by{};
};
struct SnapshotStep {};
struct CrashStep {
  Duration downtime{};  // 0: `crash`
};
struct PromoteStep {};
struct TrimStep {};

// ---- expectations -------------------------------------------------------------------------------------------------
struct ExpectGroup {  // key and value in one spelling: equal texts mean equal values
  GroupRef group{};
  std::string key;    // phase attempt charged reason reason.role .. end end.role .. domain deadline.reserve ..
  std::string value;  // `none` where nothing is there
};
struct ExpectHeld {
  GroupRef group{};
  bool none{false};
  std::vector<Counter> counters;
};
struct ExpectMember {
  MemberRef members{};  // of a set: each of them
  std::string key;    // phase host run exitCode signal reason
  std::string value;
};
struct ExpectMembersIn {
  MemberRef members{};
  MemberPhase phase{MemberPhase::None};
  std::uint64_t count{};
};
struct ExpectMembersOn {
  MemberRef members{};
  std::vector<std::string> hosts;
  std::uint64_t count{};
};
struct ExpectHostFree {
  std::vector<std::string> hosts;
  std::vector<Counter> counters;
};
struct ExpectPoolFree {
  std::string pool;
  std::int64_t free{};
};
struct ExpectClaim {
  ClaimPath claim{};
  ClaimPhase phase{ClaimPhase::None};
};
struct ExpectIntents {
  GroupRef group{};  // or the name of a standalone claim
  IntentKind kind{IntentKind::Arm};
  std::uint64_t count{};
};
struct ExpectEvents {
  EventKind kind{EventKind::HostAdded};
  std::optional<GroupRef> group;
  std::uint64_t count{};
};
struct ExpectGroups {
  GroupPhase phase{GroupPhase::None};
  std::uint64_t count{};
};
struct ExpectRejected {
  AnswerCode code{AnswerCode::Done};
};
struct ExpectLate {
  std::optional<GroupRef> group;
  std::uint64_t count{};
};
struct ExpectSameDigest {};

using Expectation = std::variant<ExpectGroup, ExpectHeld, ExpectMember, ExpectMembersIn, ExpectMembersOn,
                                 ExpectHostFree, ExpectPoolFree, ExpectClaim, ExpectIntents, ExpectEvents, ExpectGroups,
                                 ExpectRejected, ExpectLate, ExpectSameDigest>;

struct ExpectStep {
  bool negated{false};  // `not expect`
  Expectation what{};
};

// ---- the file -----------------------------------------------------------------------------------------------------
using StepBody = std::variant<LevelsStep, HostStep, PoolStep, HostVerbStep, InventoryStep, DefineStep, GroupStep,
                              ResizeStep, ScheduleStep, SchedulerModeStep, AgentsModeStep, ReportStep, ClaimStep,
                              AdvanceStep, SnapshotStep, CrashStep, PromoteStep, TrimStep, ExpectStep>;

// The lines after a `----`, up to the next empty one: the events that the step above causes.
struct Golden {
  std::size_t line{};  // of the `----`
  std::vector<std::string> events;
};

struct Step {
  std::size_t line{};  // from 1
  std::string text;  // as written, without comment
  StepBody body{};
  std::optional<Golden> golden;
};

[[nodiscard]] inline bool is_expectation(const Step& step) { return std::holds_alternative<ExpectStep>(step.body); }

struct ParseError {
  std::size_t line{};
  std::string what;
};

struct Script {
  std::vector<Step> steps;
  std::vector<ParseError> errors;  // not empty: nothing is run
};

}  // namespace lockstep::scenario
