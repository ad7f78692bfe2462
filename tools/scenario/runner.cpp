#include "tools/scenario/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/scenario/expect.h"
#include "tools/scenario/lex.h"
#include "tools/scenario/parse.h"
#include "tools/scenario/run.h"

namespace lockstep::scenario {
namespace {

class Runner {
 public:
  Runner(const std::string& file, Script& script, const ScenarioOptions& options, std::ostream& trace)
      : file_(file), script_(script), options_(options), trace_(trace) {}

  ScenarioResult run() {
    auto world = World::open(options_);
    if (!world) {
      result_.status = exit_status(world.error().code);
      result_.code = world.error().code;
      result_.failures.push_back(fmt::format("{}: {}: {}", file_, name(world.error().code), world.error().message));
      return std::move(result_);
    }
    Run run{**world, options_.instants_max};
    run.world.set_tracing(options_.trace ||
                          std::ranges::any_of(script_.steps, [](const Step& step) { return step.golden.has_value(); }));
    for (std::size_t i = 0; i < script_.steps.size(); ++i) {
      Step& step = script_.steps[i];
      if (auto done = take(run, step, i); !done) {
        const std::string error = fmt::format("{}: {}", name(done.error().code), done.error().message);
        report(step.line, "the step to be carried out", error);
        break;  // the store or the controller is gone: nothing after this means anything
      }
    }
    result_.events = run.world.book().total();
    if (!result_.failures.empty()) result_.status = 1;
    return std::move(result_);
  }

 private:
  void report(std::size_t line, const std::string& expected, const std::string& got) {
    result_.failures.push_back(fmt::format("{}:{}: expected {}, got {}", file_, line, expected, got));
  }

  Result<void> take(Run& run, Step& step, std::size_t index) {
    if (const auto* expect = std::get_if<ExpectStep>(&step.body)) return take_expectation(run, step.line, *expect);
    ++result_.steps;
    last_ = Refusal{};
    auto done = carry_out(run, step, index);
    run.world.end_step();
    for (const Unmet& problem : run.world.take_unmet()) report(step.line, problem.expected, problem.got);
    return done;
  }

  Result<void> carry_out(Run& run, Step& step, std::size_t index) {
    auto outcome = dispatch(run, step.body);
    LOCKSTEP_TRY(outcome);
    last_ = std::move(*outcome);
    if (last_.refused() && !last_.tolerated && !is_refusal_expected(index)) {
      report(step.line, "the step to be accepted", fmt::format("{}: {}", name(last_.code), last_.text));
    }
    LOCKSTEP_TRY(settle(run));
    take_trace(step, run.world.take_trace());
    if (options_.crash_everywhere) LOCKSTEP_TRY(run.world.restart(Duration{}, Count::No));
    return {};
  }

  bool is_refusal_expected(std::size_t index) const {
    if (index + 1 >= script_.steps.size()) return false;
    const auto* next = std::get_if<ExpectStep>(&script_.steps[index + 1].body);
    return next != nullptr && !next->negated && std::holds_alternative<ExpectRejected>(next->what);
  }

  Result<void> take_expectation(const Run& run, std::size_t line, const ExpectStep& step) {
    ++result_.expectations;
    const auto verdict = evaluate(run, step.what, last_);
    LOCKSTEP_TRY(verdict);
    if (verdict->holds == step.negated) {
      report(line, (step.negated ? "not " : "") + verdict->expected, verdict->got);
    }
    return {};
  }

  // ---- dispatch
  // -------------------------------------------------------------------------------------------------------
  Outcome dispatch(Run& run, const StepBody& body) {
    return std::visit([this, &run](const auto& step) { return act(run, step); }, body);
  }
  template <class StepType>
  Outcome act(Run& run, const StepType& step) {
    return run_step(run, step);
  }
  Outcome act(Run& run, const SchedulerModeStep& step) {
    run.scheduler = step.mode;
    return Refusal{};
  }
  Outcome act(Run& run, const AgentsModeStep& step) {
    run.agents = step.mode;
    return Refusal{};
  }
  Outcome act(Run& run, const SnapshotStep&) { return done(run.world.snapshot()); }
  Outcome act(Run& run, const TrimStep&) { return done(run.world.trim()); }
  Outcome act(Run&, const PromoteStep&) { return fail(ErrorCode::Usage, "promote: not yet"); }  // see not_yet()
  Outcome act(Run&, const ExpectStep&) { return Refusal{}; }                                    // see take()

  static Outcome done(const Result<void>& result) {
    LOCKSTEP_TRY(result);
    return Refusal{};
  }

  // ---- traces
  // ---------------------------------------------------------------------------------------------------------
  void take_trace(Step& step, std::vector<std::string> events) {
    if (options_.trace) {
      trace_ << step.line << ' ' << step.text << '\n';
      for (const auto& event : events) trace_ << "  " << event << '\n';
    }
    if (!step.golden) return;
    if (options_.rewrite) {
      step.golden->events = std::move(events);
    } else {
      compare_trace(*step.golden, events);
    }
  }

  void compare_trace(const Golden& golden, const std::vector<std::string>& events) {
    const std::string none = "no more events";
    for (std::size_t i = 0; i < std::max(golden.events.size(), events.size()); ++i) {
      const auto expected = i < golden.events.size() ? fmt::format("\"{}\"", without_comment(golden.events[i])) : none;
      const auto got = i < events.size() ? fmt::format("\"{}\"", events[i]) : none;
      if (expected == got) continue;
      report(golden.line + std::min(i, golden.events.size()) + 1, expected, got);
      return;  // what follows is shifted
    }
  }

  const std::string& file_;
  Script& script_;
  const ScenarioOptions& options_;
  std::ostream& trace_;
  ScenarioResult result_;
  Refusal last_;
};

}  // namespace

std::vector<ParseError> not_yet(const Script& script) {
  std::vector<ParseError> errors;
  for (const Step& step : script.steps) {
    if (std::holds_alternative<PromoteStep>(step.body)) {
      errors.push_back({step.line, "promote: not yet, this release has no standby"});
    }
  }
  return errors;
}

ScenarioResult run_script(const std::string& file, Script& script, const ScenarioOptions& options,
                          std::ostream& trace) {
  return Runner(file, script, options, trace).run();
}

std::string rewrite_traces(const std::string& text, const Script& original, const Script& script) {
  const auto lines = split_lines(text);
  std::string out;
  std::size_t next = 0;  // of `lines`, not yet copied
  const auto copy = [&](std::size_t until) {
    for (; next < until; ++next) out += lines[next] + '\n';
  };
  for (std::size_t i = 0; i < original.steps.size(); ++i) {
    const auto& before = original.steps[i].golden;
    if (!before) continue;
    copy(before->line);
    for (const auto& event : script.steps[i].golden->events) out += event + '\n';
    next = before->line + before->events.size();
    if (next == lines.size()) out += '\n';  // a trace ends with an empty line, also at the end of the file
  }
  copy(lines.size());
  return out;
}

}  // namespace lockstep::scenario
