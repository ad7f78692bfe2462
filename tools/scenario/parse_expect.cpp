// Expectations. Values are brought into one spelling here (25m and 1500s are one duration, n[2,1] and n[1-2] one set of
// hosts), so that the check compares texts and a message shows both sides alike.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"
#include "tools/scenario/facts.h"
#include "tools/scenario/lex.h"
#include "tools/scenario/parse.h"

namespace lockstep::scenario {
namespace {

using Expect = Result<Expectation>;
using Args = std::vector<std::string>;

Result<void> want(const Args& words, std::size_t count, std::string_view form) {
  if (words.size() != count) return bad(fmt::format("the form is: expect {}", form));
  return {};
}

template <class E>
Result<E> parse_name(std::string_view text, std::string_view what) {
  E value{};
  if (!from_name(text, value) || value == E{}) return bad(fmt::format("{} is not {}", in_quotes(text), what));
  return value;
}

// ---- of a group ---------------------------------------------------------------------------------------------------
template <class E>
Result<std::string> name_value(std::string_view text, std::string_view what) {
  if (text == kNone) return std::string(text);
  const auto value = parse_name<E>(text, what);
  LOCKSTEP_TRY(value);
  return std::string(name(*value));
}

Result<std::string> number_value(std::string_view text) {
  if (text == kNone) return std::string(text);
  const auto value = parse_signed(text);
  LOCKSTEP_TRY(value);
  return std::to_string(*value);
}

Result<std::string> duration_value(std::string_view text) {
  if (text == kNone) return std::string(text);
  const auto value = parse_duration(text);
  if (!value) return bad(value.error().message);
  return format_duration(*value);
}

Result<std::string> scope_value(std::string_view text) {
  if (text == kNone || text == "group" || text == "role" || text == "member") return std::string(text);
  return bad(fmt::format("{} is not a scope (group, role, member)", in_quotes(text)));
}

Result<std::string> group_value(const std::string& key, const std::string& value) {
  static constexpr std::array kTexts{"reason.role", "reason.resource", "reason.domain", "reason.blockers",
                                     "end.role",    "domain",          "reason.needed", "reason.free"};
  static constexpr std::array kNumbers{"attempt", "charged", "end.member", "end.exitCode", "end.signal"};
  static constexpr std::string_view kDeadline = "deadline.";
  if (key == "phase") return name_value<GroupPhase>(value, "a phase of groups");
  if (key == "reason") return name_value<ReasonCode>(value, "a reason");
  if (key == "end") return name_value<EndCode>(value, "the code of an end");
  if (key == "end.scope") return scope_value(value);
  if (std::ranges::find(kNumbers, key) != kNumbers.end()) return number_value(value);
  if (std::ranges::find(kTexts, key) != kTexts.end()) return value;
  if (key.starts_with(kDeadline) && timer_kind(std::string_view(key).substr(kDeadline.size()))) {
    return duration_value(value);
  }
  return bad(fmt::format("{} is nothing that a group has", in_quotes(key)));
}

Expect expect_group(const Args& words) {
  if (words.size() < 3) return bad("the form is: expect group GROUP WHAT VALUE");
  auto group = parse_group(words[1]);
  LOCKSTEP_TRY(group);
  if (words[2] == "held") {
    if (words.size() == 4 && words[3] == kNone) return ExpectHeld{std::move(*group), true, {}};
    auto counters = parse_counters(words, 3);
    LOCKSTEP_TRY(counters);
    return ExpectHeld{std::move(*group), false, std::move(*counters)};
  }
  LOCKSTEP_TRY(want(words, 4, "group GROUP WHAT VALUE"));
  auto value = group_value(words[2], words[3]);
  LOCKSTEP_TRY(value);
  return ExpectGroup{std::move(*group), words[2], std::move(*value)};
}

// ---- of members ---------------------------------------------------------------------------------------------------
Result<std::string> hosts_value(const std::string& text) {
  if (text == kNone) return text;
  auto names = expand_hostlist(text);
  if (!names) return bad(names.error().message);
  return hosts_text(std::move(*names));
}

Result<std::string> member_value(const std::string& key, const std::string& value) {
  if (key == "phase") return name_value<MemberPhase>(value, "a phase of members");
  if (key == "host") return hosts_value(value);
  if (key == "run" || key == "exitCode" || key == "signal") return number_value(value);
  return bad(fmt::format("{} is nothing that a member has", in_quotes(key)));
}

Expect expect_member(const Args& words) {
  LOCKSTEP_TRY(want(words, 4, "member MEMBER phase|host VALUE"));
  auto members = parse_members(words[1]);
  LOCKSTEP_TRY(members);
  auto value = member_value(words[2], words[3]);
  LOCKSTEP_TRY(value);
  return ExpectMember{std::move(*members), words[2], std::move(*value)};
}

Expect expect_members(const Args& words) {
  static constexpr std::string_view kForm = "members MEMBERS PHASE COUNT, or members MEMBERS on HOSTS COUNT";
  if (words.size() < 4) return bad(fmt::format("the form is: expect {}", kForm));
  auto members = parse_members(words[1]);
  LOCKSTEP_TRY(members);
  const auto count = parse_count(words.back());
  LOCKSTEP_TRY(count);
  if (words[2] == "on") {
    LOCKSTEP_TRY(want(words, 5, kForm));
    auto hosts = expand_hostlist(words[3]);
    if (!hosts) return bad(hosts.error().message);
    return ExpectMembersOn{std::move(*members), std::move(*hosts), *count};
  }
  LOCKSTEP_TRY(want(words, 4, kForm));
  const auto phase = parse_name<MemberPhase>(words[2], "a phase of members");
  LOCKSTEP_TRY(phase);
  return ExpectMembersIn{std::move(*members), *phase, *count};
}

// ---- of the cluster -----------------------------------------------------------------------------------------------
Expect expect_host(const Args& words) {
  if (words.size() < 4 || words[2] != "free") return bad("the form is: expect host HOSTS free COUNTER=QUANTITY...");
  auto hosts = expand_hostlist(words[1]);
  if (!hosts) return bad(hosts.error().message);
  auto counters = parse_counters(words, 3);
  LOCKSTEP_TRY(counters);
  return ExpectHostFree{std::move(*hosts), std::move(*counters)};
}

Expect expect_pool(const Args& words) {
  LOCKSTEP_TRY(want(words, 4, "pool NAME free QUANTITY"));
  if (words[2] != "free") return bad("the form is: expect pool NAME free QUANTITY");
  const auto amount = parse_amount(words[3], words[1]);
  if (!amount) return bad(amount.error().message);
  return ExpectPoolFree{words[1], *amount};
}

Expect expect_claim(const Args& words) {
  LOCKSTEP_TRY(want(words, 3, "claim CLAIM PHASE"));
  auto claim = parse_claim(words[1]);
  LOCKSTEP_TRY(claim);
  const auto phase = parse_name<ClaimPhase>(words[2], "a phase of claims");
  LOCKSTEP_TRY(phase);
  return ExpectClaim{std::move(*claim), *phase};
}

// ---- counts -------------------------------------------------------------------------------------------------------
Expect expect_intents(const Args& words) {
  LOCKSTEP_TRY(want(words, 4, "intents GROUP KIND COUNT"));
  auto group = parse_group(words[1]);
  LOCKSTEP_TRY(group);
  std::string spelled = words[2];
  if (spelled[0] >= 'a' && spelled[0] <= 'z') spelled[0] = static_cast<char>(spelled[0] - 'a' + 'A');
  IntentKind kind{};
  if (!from_name(spelled, kind)) {
    return bad(fmt::format("{} is no intent (arm, start, stop, kill, provision, release)", in_quotes(words[2])));
  }
  const auto count = parse_count(words[3]);
  LOCKSTEP_TRY(count);
  return ExpectIntents{std::move(*group), kind, *count};
}

struct CountOf {
  std::optional<GroupRef> group{};
  std::uint64_t count{};
};

// `group=g` and one number, in any order, from `first`.
Result<CountOf> parse_count_of(const Args& words, std::size_t first, std::string_view form) {
  static constexpr std::string_view kGroup = "group=";
  CountOf result{};
  bool has_count = false;
  for (std::size_t i = first; i < words.size(); ++i) {
    if (words[i].starts_with(kGroup) && !result.group) {
      auto group = parse_group(std::string_view(words[i]).substr(kGroup.size()));
      LOCKSTEP_TRY(group);
      result.group = std::move(*group);
    } else if (!has_count) {
      const auto count = parse_count(words[i]);
      LOCKSTEP_TRY(count);
      result.count = *count;
      has_count = true;
    } else {
      return bad(fmt::format("the form is: expect {}", form));
    }
  }
  if (!has_count) return bad(fmt::format("the form is: expect {}", form));
  return result;
}

Expect expect_events(const Args& words) {
  static constexpr std::string_view kForm = "events EVENT [group=GROUP] COUNT";
  if (words.size() < 3) return bad(fmt::format("the form is: expect {}", kForm));
  EventKind kind{};
  if (!from_name(words[1], kind)) return bad(fmt::format("{} is not the name of an event", in_quotes(words[1])));
  auto count = parse_count_of(words, 2, kForm);
  LOCKSTEP_TRY(count);
  return ExpectEvents{kind, std::move(count->group), count->count};
}

Expect expect_late(const Args& words) {
  auto count = parse_count_of(words, 1, "late COUNT [group=GROUP]");
  LOCKSTEP_TRY(count);
  return ExpectLate{std::move(count->group), count->count};
}

Expect expect_groups(const Args& words) {
  LOCKSTEP_TRY(want(words, 3, "groups PHASE COUNT"));
  const auto phase = parse_name<GroupPhase>(words[1], "a phase of groups");
  LOCKSTEP_TRY(phase);
  const auto count = parse_count(words[2]);
  LOCKSTEP_TRY(count);
  return ExpectGroups{*phase, *count};
}

Expect expect_rejected(const Args& words) {
  LOCKSTEP_TRY(want(words, 2, "rejected CODE"));
  const auto code = parse_name<AnswerCode>(words[1], "a code of refusals");
  LOCKSTEP_TRY(code);
  if (!is_rejection(*code)) return bad(fmt::format("{} is not a code of refusals", in_quotes(words[1])));
  return ExpectRejected{*code};
}

Expect expect_same_digest(const Args& words) {
  LOCKSTEP_TRY(want(words, 1, "same-digest"));
  return ExpectSameDigest{};
}

using ParseExpect = Expect (*)(const Args&);
constexpr std::pair<std::string_view, ParseExpect> kExpectations[] = {
    {"group", expect_group},     {"member", expect_member},     {"members", expect_members},
    {"host", expect_host},       {"pool", expect_pool},         {"claim", expect_claim},
    {"intents", expect_intents}, {"events", expect_events},     {"late", expect_late},
    {"groups", expect_groups},   {"rejected", expect_rejected}, {"same-digest", expect_same_digest},
};

}  // namespace

Result<Expectation> parse_expectation(const std::vector<std::string>& words) {
  if (words.empty()) return bad("what is expected is missing");
  for (const auto& [word, parse] : kExpectations) {
    if (words[0] == word) return parse(words);
  }
  return bad(fmt::format("{} cannot be expected", in_quotes(words[0])));
}

}  // namespace lockstep::scenario
