#pragma once
// What a group manifest says, as plain data (GroupSpec), and what an inventory says of one host (HostInfo).
// Text forms are read by tools/manifest; here roles are named by their index, quantities are base units
// (cpu in thousandths of a core, memory in bytes, all other counters in ones) and durations are nanoseconds.
// A GroupSpec is immutable once defined and is shared by content: content_hash() is its identity.

#include <cstdint>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/fields.h"
#include "events/ids.h"
#include "events/phases.h"

namespace lockstep {

// Bounds on what anybody may define. Every one is checked by validate().
inline constexpr std::uint32_t kRolesMax = 256;
inline constexpr std::uint32_t kMembersMax = 1'000'000;        // of one group, spares and `max` included
inline constexpr std::uint32_t kTaskTermsMax = 16;             // of one role
inline constexpr std::uint32_t kTasksPerMemberMax = 100'000;   // of one member
inline constexpr std::uint32_t kCountersMax = 64;              // of one task, one host
inline constexpr std::uint32_t kRulesMax = 1'024;
inline constexpr std::uint32_t kRestartsMax = 100'000;        // of one budget: the times of what was charged to it are kept
inline constexpr std::uint32_t kListMax = 1'024;               // any other list of a manifest
inline constexpr std::uint32_t kNameBytesMax = 253;
inline constexpr std::uint32_t kTextBytesMax = 65'536;         // one command word, env value, label value
inline constexpr std::int64_t kQuantityMax = std::int64_t{1} << 60;
inline constexpr std::uint32_t kLevelsMax = 16;
inline constexpr std::size_t kSpecBytesMax = 16U << 20U;        // of one group: identity and spec, as walk_write writes them

using RoleIndex = std::uint32_t;
inline constexpr RoleIndex kNoRole = 0xffffffffU;
inline constexpr std::uint32_t kNoMember = 0xffffffffU;

struct Counter {
  std::string name;
  std::int64_t amount{};
  friend auto operator<=>(const Counter&, const Counter&) = default;
};
LOCKSTEP_FIELDS(Counter, name, amount)

// An attribute of a host, a label of a group, one `select` condition, one environment variable.
struct KeyValue {
  std::string key;
  std::string value;
  friend auto operator<=>(const KeyValue&, const KeyValue&) = default;
};
LOCKSTEP_FIELDS(KeyValue, key, value)

// `count` equal tasks of a member. span_ptile: tasks per host (the last host may have fewer), 0 = free.
// span_hosts: 1 = all of this term's tasks on one host, 0 = free.
struct TaskTerm {
  std::uint32_t count{1};
  std::vector<Counter> requests;  // per task; sorted by name, no duplicates, amounts > 0
  std::vector<KeyValue> select;   // attributes that a host must have; sorted by key
  std::uint32_t span_ptile{};
  std::uint32_t span_hosts{};
  friend auto operator<=>(const TaskTerm&, const TaskTerm&) = default;
};
LOCKSTEP_FIELDS(TaskTerm, count, requests, select, span_ptile, span_hosts)

// Names of inventory levels, or "host"; empty = none.
struct Topology {
  std::string required;
  std::string preferred;
  friend auto operator<=>(const Topology&, const Topology&) = default;
};
LOCKSTEP_FIELDS(Topology, required, preferred)

enum class AfterWhat : std::uint8_t { Started = 1, Succeeded = 2 };
LOCKSTEP_ENUM(AfterWhat, Started, Succeeded)

struct After {
  RoleIndex role{};
  AfterWhat what{AfterWhat::Started};
  friend auto operator<=>(const After&, const After&) = default;
};
LOCKSTEP_FIELDS(After, role, what)

struct RoleSpec {
  std::string name;
  std::uint32_t replicas{1};
  std::uint32_t min{1};
  std::uint32_t max{1};
  std::vector<TaskTerm> tasks;  // one member's; at least one
  Topology topology{};
  std::uint32_t spares{};
  std::vector<After> after;  // sorted by role
  std::vector<std::string> command;
  std::vector<KeyValue> env;
  friend auto operator<=>(const RoleSpec&, const RoleSpec&) = default;
};
LOCKSTEP_FIELDS(RoleSpec, name, replicas, min, max, tasks, topology, spares, after, command, env)

enum class ClaimKind : std::uint8_t { Template = 1, Standalone = 2 };
LOCKSTEP_ENUM(ClaimKind, Template, Standalone)
enum class ClaimPer : std::uint8_t { Group = 1, Member = 2 };
LOCKSTEP_ENUM(ClaimPer, Group, Member)

struct ClaimSpec {
  std::string name;
  ClaimKind kind{ClaimKind::Template};
  ClaimPer per{ClaimPer::Group};
  std::vector<RoleIndex> roles;  // sorted; empty = all
  std::int64_t size{};             // bytes; 0 = not said
  friend auto operator<=>(const ClaimSpec&, const ClaimSpec&) = default;
};
LOCKSTEP_FIELDS(ClaimSpec, name, kind, per, roles, size)

enum class FailureAction : std::uint8_t {
  FailGroup = 1,
  RestartGroup = 2,
  RestartRole = 3,
  RestartMember = 4,
  Tolerate = 5,
};
LOCKSTEP_ENUM(FailureAction, FailGroup, RestartGroup, RestartRole, RestartMember, Tolerate)

// Closed range of exit codes.
struct ExitRange {
  std::int32_t first{};
  std::int32_t last{};
  friend auto operator<=>(const ExitRange&, const ExitRange&) = default;
};
LOCKSTEP_FIELDS(ExitRange, first, last)

// Matches when every filter that is not empty matches.
struct FailureRule {
  std::vector<RoleIndex> roles;
  std::vector<FailureReason> reasons;
  std::vector<ExitRange> exit_codes;
  std::vector<std::int32_t> signals;
  FailureAction action{FailureAction::FailGroup};
  bool charge{true};
  friend auto operator<=>(const FailureRule&, const FailureRule&) = default;
};
LOCKSTEP_FIELDS(FailureRule, roles, reasons, exit_codes, signals, action, charge)

struct RoleBudget {
  RoleIndex role{};
  std::uint32_t max_restarts{};
  friend auto operator<=>(const RoleBudget&, const RoleBudget&) = default;
};
LOCKSTEP_FIELDS(RoleBudget, role, max_restarts)

inline constexpr std::uint32_t kNoBudget = 0xffffffffU;

struct BackoffPolicy {
  Duration base{seconds(10)};
  std::uint32_t factor{2};
  Duration cap{minutes(10)};
  friend auto operator<=>(const BackoffPolicy&, const BackoffPolicy&) = default;
};
LOCKSTEP_FIELDS(BackoffPolicy, base, factor, cap)

enum class RestartOn : std::uint8_t { Same = 1, Anywhere = 2 };
LOCKSTEP_ENUM(RestartOn, Same, Anywhere)

struct FailurePolicy {
  std::vector<FailureRule> rules;
  FailureAction default_action{FailureAction::FailGroup};
  FailureAction below_min{FailureAction::FailGroup};  // FailGroup or RestartGroup
  std::uint32_t max_restarts{3};
  std::vector<RoleBudget> max_restarts_per_role;  // sorted by role
  std::uint32_t max_restarts_per_member{kNoBudget};
  Duration window{};
  BackoffPolicy backoff{};
  RestartOn restart_on{RestartOn::Same};
  friend auto operator<=>(const FailurePolicy&, const FailurePolicy&) = default;
};
LOCKSTEP_FIELDS(FailurePolicy, rules, default_action, below_min, max_restarts, max_restarts_per_role,
                max_restarts_per_member, window, backoff, restart_on)

enum class SuccessOperator : std::uint8_t { All = 1, Any = 2 };
LOCKSTEP_ENUM(SuccessOperator, All, Any)
enum class SuccessRest : std::uint8_t { Wait = 1, Kill = 2 };
LOCKSTEP_ENUM(SuccessRest, Wait, Kill)

struct SuccessPolicy {
  SuccessOperator op{SuccessOperator::All};
  std::vector<RoleIndex> roles;  // sorted; empty = every role
  SuccessRest rest{SuccessRest::Wait};
  friend auto operator<=>(const SuccessPolicy&, const SuccessPolicy&) = default;
};
LOCKSTEP_FIELDS(SuccessPolicy, op, roles, rest)

struct Timeouts {  // 0 = none
  Duration pend{};
  Duration reserve{minutes(30)};
  Duration start{minutes(30)};
  Duration recover{minutes(15)};
  Duration run{};
  Duration stop{seconds(60)};
  friend auto operator<=>(const Timeouts&, const Timeouts&) = default;
};
LOCKSTEP_FIELDS(Timeouts, pend, reserve, start, recover, run, stop)

enum class PlacementMode : std::uint8_t { Atomic = 1, Reserve = 2 };
LOCKSTEP_ENUM(PlacementMode, Atomic, Reserve)
enum class ResumeWhat : std::uint8_t { All = 1, Unfinished = 2 };
LOCKSTEP_ENUM(ResumeWhat, All, Unfinished)

struct GroupSpec {
  std::int32_t priority{};
  bool preemptible{true};
  PlacementMode mode{PlacementMode::Atomic};
  bool partial{false};
  Topology topology{};
  std::vector<RoleSpec> roles;
  std::vector<ClaimSpec> claims;
  FailurePolicy failure{};
  SuccessPolicy success{};
  ResumeWhat resume{ResumeWhat::All};
  Timeouts timeouts{};
  Duration run_limit{};
  Duration ttl_after_finished{hours(24)};
  friend auto operator<=>(const GroupSpec&, const GroupSpec&) = default;
};
LOCKSTEP_FIELDS(GroupSpec, priority, preemptible, mode, partial, topology, roles, claims, failure, success, resume,
                timeouts, run_limit, ttl_after_finished)

// Who a group is. The name is unique among live groups only; its identity is the id given at define.
struct GroupIdentity {
  std::string name;
  std::string user;
  std::string queue{"default"};
  std::vector<KeyValue> labels;  // sorted by key
  friend auto operator<=>(const GroupIdentity&, const GroupIdentity&) = default;
};
LOCKSTEP_FIELDS(GroupIdentity, name, user, queue, labels)

// One host of the cluster. `at` is its path in the topology, widest level first; a host with fewer names than
// levels is in no domain of the levels it does not name.
struct HostInfo {
  std::string name;
  std::vector<Counter> counters;     // sorted by name
  std::vector<std::string> at;
  std::vector<KeyValue> attributes;  // sorted by key
  bool down{false};
  bool drained{false};
  friend auto operator<=>(const HostInfo&, const HostInfo&) = default;
};
LOCKSTEP_FIELDS(HostInfo, name, counters, at, attributes, down, drained)

// One thing wrong with a manifest: the path of the field as its author wrote it, and what is wrong with it.
struct Problem {
  std::string path;
  std::string text;
};

// All problems at once; empty = valid. The core asks this of every spec it is given, whoever made it.
[[nodiscard]] std::vector<Problem> validate(const GroupIdentity& identity, const GroupSpec& spec);
[[nodiscard]] std::vector<Problem> validate(const HostInfo& host);

// Lowercase letters, digits, '-', '.'; 1 to kNameBytesMax bytes.
[[nodiscard]] bool is_name(std::string_view text);

// A level of the topology as an inventory names it: printable ASCII without spaces and '/', 1 to kNameBytesMax bytes.
// Wider than is_name because other systems' levels are kept as they are (DC_name). `host`, the last one, is always there.
[[nodiscard]] bool is_level_name(std::string_view text);
// Of a cluster, widest first.
[[nodiscard]] std::vector<Problem> validate_levels(const std::vector<std::string>& levels);

// First 128 bits of the SHA-256 of the spec's field walk (events/FORMAT.md).
[[nodiscard]] SpecHash content_hash(const GroupSpec& spec);

}  // namespace lockstep
