// Random commands against the product and a naive model of its rules, compared after each. LOCKSTEP_MODEL_STEPS=5000000
// gives the long form, LOCKSTEP_SEED repeats a run; the seed of a history that failed begins with that history.
// Shows R31, R32, R33, R34, R35, R36, R37, R38, R49.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "statemachine/invariants.h"
#include "tests/model/compare.h"
#include "tests/model/say.h"
#include "tests/model/stream.h"

namespace lockstep::model {
namespace {

constexpr std::uint64_t kStepsUsual = 150'000;
constexpr std::uint64_t kStepsOfAHistory = 600;
constexpr std::uint64_t kInvariantsEvery = 64;
constexpr std::size_t kToldMax = 40;

struct Coverage {
  std::map<std::pair<GroupPhase, std::string>, std::uint64_t> commands;  // by the phase that the group was in
  std::map<EndCode, std::uint64_t> ends;
  std::map<FailureAction, std::uint64_t> histories_with;
  std::map<AnswerCode, std::uint64_t> answers;
  std::map<EventKind, std::uint64_t> events;
  std::uint64_t steps{};
};

GroupId group_of(const Command& command) {
  if (const auto* verb = std::get_if<GroupCommand>(&command.body)) return verb->group;
  if (const auto* resize = std::get_if<ResizeGroup>(&command.body)) return resize->group;
  if (const auto* report = std::get_if<ReportMember>(&command.body)) return report->group;
  if (const auto* claim = std::get_if<ReportClaim>(&command.body)) return claim->group;
  return {};
}

std::string kind_of(const Command& command) {
  if (const auto* verb = std::get_if<GroupCommand>(&command.body)) return std::string(name(verb->verb));
  if (const auto* report = std::get_if<ReportMember>(&command.body)) return std::string(name(report->report.kind));
  if (const auto* claim = std::get_if<ReportClaim>(&command.body)) return "claim " + std::string(name(claim->kind));
  return "Resize";
}

Choices choices_of(Seq before, const Command& command, const Decision& decision) {
  Choices choices;
  choices.code = decision.answer.code;
  for (const Event& event : decision.events) {
    const auto* released = std::get_if<ReservationReleased>(&event.body);
    if (released != nullptr && released->why == ReservationEnd::HostsLost)
      choices.reservations_given_up.insert(event.group);
  }
  if (const auto* apply = std::get_if<ApplyPlan>(&command.body)) {
    choices.plan_is_old = apply->plan.made_for != before;
    for (const PlanAction& action : apply->plan.actions) {  // those of a plan that was taken are said by the plan
      const auto* released = std::get_if<ReleaseAction>(&action);
      if (released != nullptr && decision.answer.code == AnswerCode::Done)
        choices.reservations_given_up.erase(released->group);
    }
  }
  return choices;
}

// One history: a product, a model, and what was said to both.
class Pair {
 public:
  Pair(std::uint64_t seed, Coverage& coverage) : seed_(seed), coverage_(coverage), stream_(seed) {}

  // Empty, or the seed, the step and what differs.
  std::string run(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::string difference = one(step);
      if (!difference.empty()) return difference;
    }
    for (const FailureAction action : model_.actions_taken) ++coverage_.histories_with[action];
    return {};
  }

 private:
  struct Said {
    Command command{};
    std::vector<Event> events;
  };

  std::string one(std::uint64_t step) {
    const Command command = stream_.next(state_);
    const Group* about = state_.group(group_of(command));
    if (about != nullptr) ++coverage_.commands[{about->head.phase, kind_of(command)}];
    const Seq before = state_.head.seq;
    const std::string kept = plan_by_one_that_keeps(command);
    const Decision decision = execute(state_, command);
    const AnswerCode answer = model_.execute(command, choices_of(before, command, decision));
    count(decision);
    said_.push_back({command, decision.events});
    std::string difference = kept.empty() ? model_.complaint() : kept;
    if (difference.empty() && answer != decision.answer.code) {
      difference = "answer: product " + std::string(name(decision.answer.code)) + " (" + decision.answer.text +
                   "), model " + std::string(name(answer));
    }
    if (difference.empty()) difference = first_difference(state_, model_);
    if (difference.empty() && step % kInvariantsEvery == 0) difference = check_invariants(state_);
    return difference.empty() ? difference : report(step, difference);
  }

  // A scheduler that has seen all of this history makes the plan that one without memory makes.
  std::string plan_by_one_that_keeps(const Command& command) {
    const auto* apply = std::get_if<ApplyPlan>(&command.body);
    if (apply == nullptr || apply->plan.made_for != state_.head.seq) return {};
    Command other = command;
    other.body = ApplyPlan{scheduler_.plan(state_)};
    if (say_command(other) == say_command(command)) return {};
    return "the plan of a scheduler that keeps what it found out: " + say_command(other);
  }

  void count(const Decision& decision) {
    ++coverage_.steps;
    ++coverage_.answers[decision.answer.code];
    for (const Event& event : decision.events) {
      ++coverage_.events[kind(event)];
      if (const auto* end = std::get_if<GroupSucceeded>(&event.body)) ++coverage_.ends[end->end.code];
      if (const auto* end = std::get_if<GroupFailed>(&event.body)) ++coverage_.ends[end->end.code];
      if (const auto* end = std::get_if<GroupCancelled>(&event.body)) ++coverage_.ends[end->end.code];
    }
  }

  // With the last steps that were about the same group, if the difference is of a group.
  std::string report(std::uint64_t step, const std::string& difference) {
    GroupId id = group_of(said_.back().command);
    if (difference.starts_with("g#")) id = GroupId{std::strtoull(difference.c_str() + 2, nullptr, 10)};
    std::vector<std::string> lines;
    for (const Said& said : said_) {
      bool of_it = group_of(said.command) == id || &said == &said_.back();
      for (const Event& event : said.events) of_it = of_it || (id.value != 0 && event.group == id);
      if (!of_it) continue;
      std::string text = "\n  " + say_command(said.command);
      for (const Event& event : said.events) text += "\n      " + say_event(event);
      lines.push_back(std::move(text));
    }
    std::string text = "seed " + std::to_string(seed_) + ", step " + std::to_string(step) + ": " +
                       say_command(said_.back().command) + "\n  " + difference + "\nwhat led there:";
    const std::size_t first = lines.size() > kToldMax ? lines.size() - kToldMax : 0;
    if (first > 0) text += lines.front();
    for (std::size_t i = first; i < lines.size(); ++i) text += lines[i];
    if (const Group* group = state_.group(id); group != nullptr) text += "\n  spec " + say(*group->spec);
    return text;
  }

  std::uint64_t seed_;
  Coverage& coverage_;
  Stream stream_;
  State state_;
  Scheduler scheduler_;
  NaiveModel model_;
  std::vector<Said> said_;
};

void print(const Coverage& coverage) {
  std::printf("%llu steps\n", static_cast<unsigned long long>(coverage.steps));
  const auto list = [](const char* what, const auto& counts) {
    std::printf("%s:", what);
    for (const auto& [key, count] : counts)
      std::printf(" %s %llu", std::string(name(key)).c_str(), static_cast<unsigned long long>(count));
    std::printf("\n");
  };
  list("answers", coverage.answers);
  list("ends", coverage.ends);
  list("histories with", coverage.histories_with);
  list("events", coverage.events);
  std::printf("commands by phase:");
  for (const auto& [key, count] : coverage.commands)
    std::printf(" %s/%s %llu", std::string(name(key.first)).c_str(), key.second.c_str(),
                static_cast<unsigned long long>(count));
  std::printf("\n");
}

// The slice reached every kind that matters.
void expect_reached(const Coverage& coverage) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<EventKind>>([&](auto kind) {
    const bool of_controllers = kind.value == EventKind::RequestAnswered;
    EXPECT_TRUE(of_controllers || coverage.events.contains(kind.value)) << kind.name;
  });
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<EndCode>>(
      [&](auto code) { EXPECT_TRUE(code.value == EndCode::None || coverage.ends.contains(code.value)) << code.name; });
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<FailureAction>>(
      [&](auto action) { EXPECT_TRUE(coverage.histories_with.contains(action.value)) << action.name; });
  for (const AnswerCode code :
       {AnswerCode::Done, AnswerCode::Late, AnswerCode::Duplicate, AnswerCode::DuplicateName, AnswerCode::UnknownGroup,
        AnswerCode::UnknownRole, AnswerCode::WrongPhase, AnswerCode::NeverFits, AnswerCode::OutOfBounds,
        AnswerCode::HostInUse, AnswerCode::StalePlan})
    EXPECT_TRUE(coverage.answers.contains(code)) << name(code);
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<GroupPhase>>([&](auto phase) {
    if (phase.value == GroupPhase::None) return;
    for (const char* kind : {"Submit", "Cancel", "Suspend", "Resume", "Evict", "Purge", "Resize", "Armed", "Started",
                             "Exit", "Stopped", "Lost", "LaunchFailed"})
      EXPECT_TRUE(coverage.commands.contains({phase.value, kind})) << phase.name << " " << kind;
  });
}

TEST(Model, SaysTheSameOfRandomCommands) {
  const char* given = std::getenv("LOCKSTEP_MODEL_STEPS");
  const std::uint64_t steps = given != nullptr ? std::strtoull(given, nullptr, 0) : kStepsUsual;
  const std::uint64_t seed = test::seed_of_run(1);
  Coverage coverage;
  for (std::uint64_t history = 0; coverage.steps < steps; ++history) {
    Pair pair(seed + history, coverage);
    const std::string difference = pair.run(std::min(kStepsOfAHistory, steps - coverage.steps));
    ASSERT_TRUE(difference.empty()) << difference;
  }
  print(coverage);
  if (steps >= kStepsUsual) expect_reached(coverage);
}

}  // namespace
}  // namespace lockstep::model
