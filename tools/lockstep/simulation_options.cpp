#include "tools/lockstep/simulation_options.h"

#include <fmt/format.h>

#include <charconv>

#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// Splits "a@b" into "a" and "b"; false when there is no `at`.
bool cut(std::string_view& text, char at, std::string_view& before) {
  const auto mark = text.find(at);
  if (mark == std::string_view::npos) return false;
  before = text.substr(0, mark);
  text.remove_prefix(mark + 1);
  return true;
}

tl::unexpected<Failure> wrong(std::string_view text, std::string_view what) {
  return usage(
      fmt::format("--fail '{}': {}; as in 'worker[2]@1s:code=1' or 'train/worker[*]@1s:signal=9,every'", text, what));
}

// "train/worker[2]" or "worker[*]".
bool parse_member(std::string_view text, ScriptedFailure& failure) {
  std::string_view group;
  if (cut(text, '/', group)) failure.group = group;
  std::string_view role;
  if (!cut(text, '[', role) || text.empty() || text.back() != ']') return false;
  failure.role = role;
  text.remove_suffix(1);
  if (text == "*") return is_name(role);
  std::uint32_t index = 0;
  if (!parse_number(text, index)) return false;
  failure.index = index;
  return is_name(role);
}

bool parse_what(std::string_view word, ScriptedFailure& failure) {
  if (word == "every") {
    failure.every = true;
  } else if (word == "lost") {
    failure.how = ReportKind::Lost;
  } else if (word == "launch-failed") {
    failure.how = ReportKind::LaunchFailed;
  } else if (word == "oom") {
    failure.reason = FailureReason::OutOfMemory;
    failure.signal = 9;
  } else if (word.substr(0, 5) == "code=") {
    return parse_number(word.substr(5), failure.exit_code);
  } else if (word.substr(0, 7) == "signal=") {
    return parse_number(word.substr(7), failure.signal) && failure.signal > 0;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Outcome<void> add_runtime(std::string_view text, SimulationOptions& options) {
  std::string_view rest = text;
  std::string_view role;
  const bool of_role = cut(rest, '=', role);
  const auto duration = parse_duration(rest);
  if (!duration || (of_role && !is_name(role))) {
    return usage(fmt::format("--runtime '{}': say a duration, or role=duration, as in worker=3s", text));
  }
  if (of_role) {
    options.runtime_of_role[std::string(role)] = *duration;
  } else {
    options.runtime = *duration;
  }
  return {};
}

Outcome<ScriptedFailure> parse_failure(std::string_view text) {
  ScriptedFailure failure;
  std::string_view rest = text;
  std::string_view member;
  std::string_view after;
  if (!cut(rest, '@', member) || !parse_member(member, failure)) return wrong(text, "names no member before the @");
  if (!cut(rest, ':', after)) return wrong(text, "says nothing after the time");
  const auto duration = parse_duration(after);
  if (!duration) return wrong(text, duration.error().message);
  failure.after = *duration;
  std::string_view word;
  while (cut(rest, ',', word)) {
    if (!parse_what(word, failure)) return wrong(text, fmt::format("'{}' is not known", word));
  }
  if (!parse_what(rest, failure)) return wrong(text, fmt::format("'{}' is not known", rest));
  if (failure.how == ReportKind::Exit && failure.exit_code == 0 && failure.signal == 0) {
    return wrong(text, "exit code 0 is no failure; say code=N, signal=N, oom, lost or launch-failed");
  }
  return failure;
}

}  // namespace lockstep::cli
