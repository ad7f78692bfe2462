#include "tools/scenario/parse.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "tools/manifest/host_line.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"
#include "tools/scenario/lex.h"

namespace lockstep::scenario {
namespace {

using Body = Result<StepBody>;

Result<void> want_words(const Words& line, std::size_t count, std::string_view form) {
  if (line.size() != count || line.has_block) return bad(fmt::format("the form is: {}", form));
  return {};
}

Result<std::vector<std::string>> hosts_of(const std::string& word) {
  auto hosts = expand_hostlist(word);
  if (!hosts) return bad(hosts.error().message);
  return hosts;
}

// The YAML of `verb <<EOF` or `verb FILE`.
Result<std::string> document_of(const Words& line, const LoadFile& load) {
  if (line.has_block && line.size() == 1) return line.block;
  if (line.has_block || line.size() != 2) return bad(fmt::format("the form is: {0} <<EOF, or {0} FILE", line[0]));
  return load(line[1]);
}

// ---- the cluster --------------------------------------------------------------------------------------------------
Body parse_levels(const Words& line, const LoadFile&) {
  if (line.has_block) return bad("the form is: levels NAME...");
  return LevelsStep{{line.words.begin() + 1, line.words.end()}};
}

// On a known name only the keys given are changed, so a place that is not given stays.
Body parse_hosts(const Words& line, const LoadFile&) {
  if (line.size() < 2 || line.has_block) return bad("the form is: host HOSTS [KEY=VALUE...] [at=PLACE]");
  std::vector<KeyValue> keys;
  bool has_place = false;
  for (std::size_t i = 2; i < line.size(); ++i) {
    auto pair = parse_pair(line[i]);
    LOCKSTEP_TRY(pair);
    has_place = has_place || pair->key == "at";
    keys.push_back(std::move(*pair));
  }
  auto hosts = read_host_line(line[1], keys);
  if (!hosts) return bad(hosts.error().message);
  HostStep step{};
  for (HostInfo& info : *hosts) step.hosts.push_back({std::move(info), has_place});
  return step;
}

Body parse_pool(const Words& line, const LoadFile&) {
  LOCKSTEP_TRY(want_words(line, 3, "pool NAME TOTAL"));
  const auto total = parse_quantity(line[2], line[1]);
  if (!total) return bad(total.error().message);
  return PoolStep{line[1], *total};
}

Body parse_host_verb(const Words& line, const LoadFile&) {
  static constexpr std::array kVerbs{std::pair{"host-down", HostVerb::Down}, std::pair{"host-up", HostVerb::Up},
                                     std::pair{"drain", HostVerb::Drain}, std::pair{"remove-host", HostVerb::Remove}};
  LOCKSTEP_TRY(want_words(line, 2, fmt::format("{} HOSTS", line[0])));
  auto hosts = hosts_of(line[1]);
  LOCKSTEP_TRY(hosts);
  HostVerbStep step{HostVerb::Down, std::move(*hosts)};
  for (const auto& [word, verb] : kVerbs) {
    if (line[0] == word) step.verb = verb;
  }
  return step;
}

Body parse_inventory(const Words& line, const LoadFile& load) {
  if (line.has_block && line.size() == 1) return InventoryStep{{{"inventory", line.block}}};
  if (line.has_block || line.size() < 2) return bad("the form is: inventory <<EOF, or inventory FILE...");
  InventoryStep step{};
  for (std::size_t i = 1; i < line.size(); ++i) {
    auto text = load(line[i]);
    LOCKSTEP_TRY(text);
    step.files.emplace_back(line[i], std::move(*text));
  }
  return step;
}

// ---- groups -------------------------------------------------------------------------------------------------------
Body parse_define(const Words& line, const LoadFile& load) {
  auto text = document_of(line, load);
  LOCKSTEP_TRY(text);
  return DefineStep{std::move(*text), line[0] == "run" ? Submit::Yes : Submit::No};
}

Body parse_group_verb(const Words& line, const LoadFile&) {
  static constexpr std::array kVerbs{std::pair{"submit", GroupVerb::Submit},   std::pair{"cancel", GroupVerb::Cancel},
                                     std::pair{"suspend", GroupVerb::Suspend}, std::pair{"resume", GroupVerb::Resume},
                                     std::pair{"evict", GroupVerb::Evict},     std::pair{"purge", GroupVerb::Purge}};
  LOCKSTEP_TRY(want_words(line, 2, fmt::format("{} GROUP", line[0])));
  auto group = parse_group(line[1]);
  LOCKSTEP_TRY(group);
  GroupStep step{GroupVerb::Submit, std::move(*group)};
  for (const auto& [word, verb] : kVerbs) {
    if (line[0] == word) step.verb = verb;
  }
  return step;
}

Body parse_resize(const Words& line, const LoadFile&) {
  LOCKSTEP_TRY(want_words(line, 4, "resize GROUP ROLE REPLICAS"));
  auto group = parse_group(line[1]);
  LOCKSTEP_TRY(group);
  const auto replicas = parse_small(line[3]);
  LOCKSTEP_TRY(replicas);
  return ResizeStep{std::move(*group), line[2], *replicas};
}

// ---- modes --------------------------------------------------------------------------------------------------------
Result<Mode> parse_mode(const Words& line) {
  const auto form = fmt::format("{} auto|manual", line[0]);
  LOCKSTEP_TRY(want_words(line, 2, form));
  if (line[1] == "auto") return Mode::Auto;
  if (line[1] == "manual") return Mode::Manual;
  return bad(fmt::format("the form is: {}", form));
}

Body parse_scheduler(const Words& line, const LoadFile&) {
  const auto mode = parse_mode(line);
  LOCKSTEP_TRY(mode);
  return SchedulerModeStep{*mode};
}

Body parse_agents(const Words& line, const LoadFile&) {
  const auto mode = parse_mode(line);
  LOCKSTEP_TRY(mode);
  return AgentsModeStep{*mode};
}

// ---- reports ------------------------------------------------------------------------------------------------------
Result<FailureReason> parse_reason(std::string_view text) {
  std::string spelled(text);
  FailureReason reason{};
  if (!spelled.empty() && spelled[0] >= 'a' && spelled[0] <= 'z')
    spelled[0] = static_cast<char>(spelled[0] - 'a' + 'A');
  if (!from_name(spelled, reason) || reason == FailureReason::None) {
    return bad(fmt::format("{} is not a reason (exited, signaled, outOfMemory ...)", in_quotes(text)));
  }
  return reason;
}

template <class T, class U>
Result<void> store(const Result<T>& parsed, U& into) {
  if (!parsed) return tl::unexpected(parsed.error());
  into = *parsed;
  return {};
}

Result<void> parse_report_option(const KeyValue& option, ReportStep& step) {
  if (option.key == "attempt") return store(parse_small(option.value), step.attempt);
  if (option.key == "run") return store(parse_small(option.value), step.run);
  if (option.key == "seq") return store(parse_count(option.value), step.sequence);
  if (step.kind == ReportKind::Exit) {
    if (option.key == "code") return store(parse_signed(option.value), step.exit_code);
    if (option.key == "signal") return store(parse_signed(option.value), step.signal);
    if (option.key == "reason") return store(parse_reason(option.value), step.reason);
  }
  return bad(fmt::format("{} is not an option of this report", in_quotes(option.key)));
}

Body parse_report(const Words& line, const LoadFile&) {
  static constexpr std::array kKinds{
      std::pair{"armed", ReportKind::Armed}, std::pair{"started", ReportKind::Started},
      std::pair{"exit", ReportKind::Exit},   std::pair{"stopped", ReportKind::Stopped},
      std::pair{"lost", ReportKind::Lost},   std::pair{"launch-failed", ReportKind::LaunchFailed}};
  if (line.size() < 2 || line.has_block) return bad(fmt::format("the form is: {} MEMBERS [attempt=N]", line[0]));
  auto members = parse_members(line[1]);
  LOCKSTEP_TRY(members);
  ReportStep step{};
  step.members = std::move(*members);
  for (const auto& [word, kind] : kKinds) {
    if (line[0] == word) step.kind = kind;
  }
  bool has_end = step.kind != ReportKind::Exit;
  for (std::size_t i = 2; i < line.size(); ++i) {
    const auto option = parse_pair(line[i]);
    LOCKSTEP_TRY(option);
    LOCKSTEP_TRY(parse_report_option(*option, step));
    has_end = has_end || option->key == "code" || option->key == "signal";
  }
  if (!has_end) return bad("an exit needs code=N or signal=N");
  return step;
}

Body parse_claim_report(const Words& line, const LoadFile&) {
  static constexpr std::string_view kForm = "the form is: claim CLAIM ready|failed|released";
  if (line.size() < 3 || line.has_block) return bad(std::string(kForm));
  auto claim = parse_claim(line[1]);
  LOCKSTEP_TRY(claim);
  ClaimStep step{std::move(*claim), ClaimReportKind::Ready};
  if (line[2] == "failed") {
    step.kind = ClaimReportKind::Failed;
  } else if (line[2] == "released") {
    step.kind = ClaimReportKind::Released;
  } else if (line[2] != "ready") {
    return bad(std::string(kForm));
  }
  ReportStep ignored{};  // attempt, run and seq are taken, but a claim belongs to no attempt: they say nothing about it
  for (std::size_t i = 3; i < line.size(); ++i) {
    const auto option = parse_pair(line[i]);
    LOCKSTEP_TRY(option);
    LOCKSTEP_TRY(parse_report_option(*option, ignored));
  }
  return step;
}

// ---- time and the controller --------------------------------------------------------------------------------------
Body parse_time(const Words& line, const LoadFile&) {
  LOCKSTEP_TRY(want_words(line, 2, fmt::format("{} DURATION (30s, 5m, 2h)", line[0])));
  const auto by = parse_duration(line[1]);
  if (!by) return bad(by.error().message);
  if (line[0] == "downtime") return CrashStep{*by};
  return AdvanceStep{*by};
}

template <class StepType>
Body parse_bare(const Words& line, const LoadFile&) {
  LOCKSTEP_TRY(want_words(line, 1, line[0]));
  return StepType{};
}

Body parse_expect(const Words& line, const LoadFile&) {
  const bool negated = line[0] == "not";
  if (line.has_block || (negated && (line.size() < 2 || line[1] != "expect")))
    return bad("the form is: not expect ...");
  const auto skip = static_cast<std::ptrdiff_t>(negated ? 2 : 1);
  auto what = parse_expectation({line.words.begin() + skip, line.words.end()});
  LOCKSTEP_TRY(what);
  return ExpectStep{negated, std::move(*what)};
}

using ParseVerb = Body (*)(const Words&, const LoadFile&);
constexpr std::pair<std::string_view, ParseVerb> kSteps[] = {
    {"levels", parse_levels},
    {"host", parse_hosts},
    {"pool", parse_pool},
    {"host-down", parse_host_verb},
    {"host-up", parse_host_verb},
    {"drain", parse_host_verb},
    {"remove-host", parse_host_verb},
    {"inventory", parse_inventory},
    {"define", parse_define},
    {"run", parse_define},
    {"submit", parse_group_verb},
    {"cancel", parse_group_verb},
    {"suspend", parse_group_verb},
    {"resume", parse_group_verb},
    {"purge", parse_group_verb},
    {"evict", parse_group_verb},
    {"resize", parse_resize},
    {"schedule", parse_bare<ScheduleStep>},
    {"scheduler", parse_scheduler},
    {"agents", parse_agents},
    {"claim", parse_claim_report},
    {"armed", parse_report},
    {"started", parse_report},
    {"exit", parse_report},
    {"stopped", parse_report},
    {"lost", parse_report},
    {"launch-failed", parse_report},
    {"advance", parse_time},
    {"downtime", parse_time},
    {"snapshot", parse_bare<SnapshotStep>},
    {"crash", parse_bare<CrashStep>},
    {"promote", parse_bare<PromoteStep>},
    {"trim", parse_bare<TrimStep>},
    {"expect", parse_expect},
    {"not", parse_expect},
};

Body parse_step(const Words& line, const LoadFile& load) {
  for (const auto& [verb, parse] : kSteps) {
    if (line[0] == verb) return parse(line, load);
  }
  return bad(fmt::format("{} is not a verb", in_quotes(line[0])));
}

// ---- the file -----------------------------------------------------------------------------------------------------
class ScriptParser {
 public:
  ScriptParser(std::string_view text, const LoadFile& load) : lines_(split_lines(text)), load_(load) {}

  Script parse() {
    while (next_ < lines_.size()) {
      if (without_comment(lines_[next_]) == kTraceMark) {
        take_trace();
      } else {
        take_step();
      }
    }
    return std::move(script_);
  }

 private:
  void take_trace() {
    Golden golden{next_ + 1, {}};
    for (++next_; next_ < lines_.size() && !split_words(lines_[next_]).empty(); ++next_) {
      golden.events.push_back(lines_[next_]);
    }
    Step* above = last_cause();
    if (above == nullptr) {
      script_.errors.push_back({golden.line, "a trace without a step above it"});
    } else if (above->golden) {
      script_.errors.push_back({golden.line, "a second trace of the same step"});
    } else {
      above->golden = std::move(golden);
    }
  }

  void take_step() {
    const std::size_t line = ++next_;
    const std::string text(without_comment(lines_[line - 1]));
    Words words{split_words(text), false, {}};
    if (words.words.empty()) return;
    if (words.words.back().starts_with("<<") && !take_block(words, line)) return;
    auto body = words.words.empty() ? Body(bad("a block without a verb")) : parse_step(words, load_);
    if (!body) {
      script_.errors.push_back({line, body.error().message});
    } else {
      script_.steps.push_back({line, text, std::move(*body), {}});
    }
  }

  bool take_block(Words& words, std::size_t line) {
    const std::string mark = words.words.back().substr(2);
    words.words.pop_back();
    words.has_block = true;
    if (mark.empty()) {
      script_.errors.push_back({line, "a block needs a mark: <<EOF"});
      return false;
    }
    for (; next_ < lines_.size(); ++next_) {
      const auto content = split_words(lines_[next_]);
      if (content.size() == 1 && content[0] == mark) {
        ++next_;
        return true;
      }
      words.block += lines_[next_];
      words.block += '\n';
    }
    script_.errors.push_back({line, fmt::format("the block <<{0} has no line {0} at its end", mark)});
    return false;
  }

  // What a trace tells the events of: the last step that is no expectation.
  Step* last_cause() {
    for (auto step = script_.steps.rbegin(); step != script_.steps.rend(); ++step) {
      if (!is_expectation(*step)) return &*step;
    }
    return nullptr;
  }

  std::vector<std::string> lines_;
  const LoadFile& load_;
  std::size_t next_ = 0;
  Script script_;
};

}  // namespace

Script parse_script(std::string_view text, const LoadFile& load) { return ScriptParser(text, load).parse(); }

}  // namespace lockstep::scenario
