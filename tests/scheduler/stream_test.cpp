// Random streams of commands through the real core with passes in between. After each: the invariants hold, a plan is
// never stale for the state it was made for, passes come to an end, one that keeps what it found out plans the same.
// Every so often, on a copy in which nothing new arrives: what waits is placed when the others end, so no two
// reservations wait for each other. And what is decided does not depend on the order in which hosts were added.
// LOCKSTEP_STREAM_STEPS=2000000 gives the long form, with the invariants after every command.

#include "tests/scheduler/stream.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>

#include "scheduler/plan.h"
#include "statemachine/decide.h"
#include "statemachine/invariants.h"
#include "tests/model/say.h"
#include "tests/scheduler/cluster.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kStreamSeedUsual = 4;  // one with which few steps show all kinds
constexpr std::uint64_t kStreamStepsUsual = 3'000;
constexpr std::uint64_t kStreamStepsForAllKinds = 30'000;  // with any other seed
constexpr std::uint64_t kStreamStepsOfAHistory = 1'500;
constexpr std::uint64_t kStreamInvariantsEvery = 5;  // in the short form
constexpr int kPassesMax = 12;
constexpr std::int64_t kWhatIfEvery = 60;

// Any fact as text, with hosts by name.
template <class T>
std::string spelled(const State& state, const T& value) {
  if constexpr (std::is_same_v<T, HostId>) {
    const Host* host = state.host(value);
    return host == nullptr ? "gone" : host->facts.info.name;
  } else if constexpr (WalkShared<T>) {
    return spelled(state, *value);
  } else if constexpr (model::IsVector<T>::value) {
    std::string text = "[";
    for (const auto& item : value) text += spelled(state, item) + " ";
    return text + "]";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (requires { value.index(); }) {
    return std::to_string(value.index()) + std::visit([&](const auto& each) { return spelled(state, each); }, value);
  } else if constexpr (std::is_class_v<T> && !model::IsStrong<T>::value) {
    std::string text = "{";
    for_each_field(value, [&](std::string_view field, const auto& part) {
      text += std::string(field) + "=" + spelled(state, part) + " ";
    });
    return text + "}";
  } else {
    return model::say(value);
  }
}

std::string spelled(const State& state, const Plan& plan) {
  std::string text = "for " + std::to_string(plan.made_for.value);
  for (const PlanAction& action : plan.actions) {
    text += "\n  " + std::to_string(action.index()) +
            std::visit([&](const auto& each) { return spelled(state, each); }, action);
  }
  return text;
}

std::string spelled(const State& state, const Decision& decision) {
  std::string text(name(decision.answer.code));
  for (const Event& event : decision.events) {
    text += "\n  " + std::to_string(event.seq.value) + " after " + std::to_string(event.cause.value) + " g#" +
            std::to_string(event.group.value) + " " + std::string(name(kind(event))) + " " +
            std::visit([&](const auto& each) { return spelled(state, each); }, event.body);
  }
  return text;
}

std::string stood(const State& state, const Group& group) {
  std::string text = "g#" + std::to_string(group.head.id.value) + " " + std::string(name(group.head.phase)) +
                     " priority " + std::to_string(group.spec->priority) + ":";
  for (const Role& role : group.roles) {
    text += " [";
    for (const Member& member : role.members) {
      text += std::string(name(member.phase)) + (member.required ? "!" : "");
      for (const Slice& slice : member.hosts) text += spelled(state, slice);
      text += " ";
    }
    text += "]";
  }
  return text + " in " + group.head.domain + " victims " + spelled(state, group.head.victims);
}

struct StreamCounts {
  std::uint64_t steps{}, plans{}, what_ifs{}, waited{}, waited_reserving{}, what_ifs_of_several{};
  int passes_most{};
  int rounds_most{};
  std::map<std::string, std::uint64_t> kinds;

  void add(const Event& event) {
    if (std::holds_alternative<GroupPlaced>(event.body)) ++kinds["placed"];
    if (const auto* opened = std::get_if<ReservationOpened>(&event.body))
      ++kinds[opened->victims.empty() ? "opened" : "opened by a preemptor"];
    if (std::holds_alternative<ReservationExtended>(event.body)) ++kinds["extended"];
    if (const auto* released = std::get_if<ReservationReleased>(&event.body))
      ++kinds["released " + std::string(name(released->why))];
    if (const auto* replaced = std::get_if<MemberReplaced>(&event.body))
      ++kinds[replaced->from_spare ? "replaced by a spare" : "replaced"];
    if (const auto* resized = std::get_if<ResizeApplied>(&event.body))
      ++kinds[resized->grown.empty() ? "shrunk" : "grown"];
  }
  void add(const Plan& plan) {
    for (const PlanAction& action : plan.actions) {
      if (const auto* evict = std::get_if<EvictAction>(&action))
        ++kinds[evict->members.empty() ? "evicted groups" : "evicted members"];
      const auto* reserve = std::get_if<ReserveAction>(&action);
      if (reserve != nullptr && !reserve->lost.empty()) ++kinds["lent"];
    }
  }
};

// The passes of one state, by one scheduler that is kept.
class StreamPasses {
 public:
  explicit StreamPasses(StreamCounts& counts) : counts_(counts) {}

  // Until nothing is left to do. Empty, or what is wrong.
  std::string run(State& state, Time now, bool against_fresh, bool& changed) {
    for (int passes = 0;; ++passes) {
      Plan made = scheduler_.plan(state);
      ++counts_.plans;
      if (against_fresh) {
        const std::string fresh = spelled(state, plan(state));
        if (spelled(state, made) != fresh) {
          return "kept: " + spelled(state, made) + "\nfresh: " + fresh;
        }
      }
      counts_.passes_most = std::max(counts_.passes_most, passes);
      if (made.actions.empty()) return {};
      if (passes == kPassesMax) return "passes do not come to an end: " + spelled(state, made);
      counts_.add(made);
      changed = true;
      std::string text = spelled(state, made);
      for (const PlanAction& action : made.actions) {
        const GroupId id = std::visit([](const auto& each) { return each.group; }, action);
        text += "\n  before: " + stood(state, *state.group(id));
      }
      const Decision decision = execute(state, Command{0, 0, now, Actor::Scheduler, ApplyPlan{std::move(made)}});
      ++counts_.steps;
      for (const Event& event : decision.events) counts_.add(event);
      if (decision.answer.code != AnswerCode::Done) return "the plan is refused: " + decision.answer.text + "\n" + text;
      if (decision.events.empty()) return "a plan that means nothing: " + text;
    }
  }

 private:
  StreamCounts& counts_;
  Scheduler scheduler_;
};

// What happens to who waits in `state` when all others end and nothing new arrives. Time stands still, so that no
// clock helps. `state` is a copy.
class StreamWhatIf {
 public:
  StreamWhatIf(const State& state, StreamCounts& counts) : state_(state), counts_(counts), passes_(uncounted_) {}

  std::string run() {
    ++counts_.what_ifs;
    std::vector<GroupId> others;
    std::uint64_t reserving = 0;
    state_.groups.for_each([&](const Group& group) {
      const GroupPhase phase = group.head.phase;
      const bool waits = phase == GroupPhase::Pending || phase == GroupPhase::Reserving;
      if (is_active(phase) || phase == GroupPhase::Stopping || phase == GroupPhase::Backoff)
        others.push_back(group.head.id);
      if (!waits) return;
      const std::vector<RoleDemand> wanted = whole_demand(group, group.spec->partial);
      if (!fit(state_, *group.spec, wanted, Capacity::Up).fits) return;
      waiting_.push_back(group.head.id);
      if (phase == GroupPhase::Reserving) ++reserving;
    });
    counts_.waited += waiting_.size();
    counts_.waited_reserving += reserving;
    if (reserving > 1) ++counts_.what_ifs_of_several;
    for (const GroupId id : others) (void)tell(Actor::User, GroupCommand{GroupVerb::Cancel, id});
    const int rounds_max = 4 + 3 * static_cast<int>(waiting_.size());
    for (int round = 0;; ++round) {
      if (round == rounds_max) return "still going on after " + std::to_string(round) + " rounds";
      counts_.rounds_most = std::max(counts_.rounds_most, round);
      bool changed = false;
      if (std::string wrong = passes_.run(state_, state_.head.time, false, changed); !wrong.empty()) return wrong;
      while (do_as_asked()) changed = true;
      for (const auto& [id, key] : members_running(state_)) {
        const Group& group = *state_.group(id);
        if (group.roles[key.role].members[key.index].phase != MemberPhase::Running) continue;
        changed = tell(Actor::Agent, report_about(group, key, ReportKind::Exit)) || changed;
      }
      if (!changed) break;
    }
    return stuck();
  }

 private:
  bool tell(Actor actor, CommandBody body) {
    return !execute(state_, Command{0, 0, state_.head.time, actor, std::move(body)}).events.empty();
  }

  bool do_as_asked() {
    bool changed = false;
    for (const Intent& intent : all_intents(state_))
      changed = tell(Actor::Agent, done_as_asked(state_, intent)) || changed;
    return changed;
  }

  std::string stuck() {
    std::string text;
    for (const GroupId id : waiting_) {
      const Group& group = *state_.group(id);
      if (group.head.phase == GroupPhase::Succeeded) continue;
      text += "\n  g#" + std::to_string(id.value) + " is " + std::string(name(group.head.phase)) + " in '" +
              group.head.domain + "' in the end: " + spelled(state_, *group.spec);
    }
    if (text.empty()) return text;
    text += "\nall that did not end:" + left();
    return "would wait for ever:" + text;
  }

  std::string left() const {
    std::string text;
    state_.groups.for_each([&](const Group& group) {
      if (!is_terminal(group.head.phase)) text += "\n  " + stood(state_, group);
    });
    state_.hosts.for_each([&](const Host& host) {
      text += "\n  " + spelled(state_, host.facts.info) + " cpu free " + std::to_string(host_free(state_, host, "cpu"));
    });
    return text;
  }

  State state_;
  StreamCounts& counts_;
  StreamCounts uncounted_;
  StreamPasses passes_;
  std::vector<GroupId> waiting_;
};

class StreamHistory {
 public:
  StreamHistory(std::uint64_t seed, StreamCounts& counts, std::uint64_t invariants_every)
      : seed_(seed), counts_(counts), every_(invariants_every), stream_(seed), dice_(seed + 1), passes_(counts) {}

  std::string run(std::uint64_t steps) {
    for (const auto& commands : {stream_.levels_and_pools(), stream_.hosts()}) {
      for (const Command& command : commands) (void)execute(state_, command);
    }
    const std::uint64_t last = counts_.steps + steps;
    for (std::uint64_t step = 0; counts_.steps < last; ++step) {
      const std::string wrong = one(step);
      if (!wrong.empty())
        return "seed " + std::to_string(seed_) + ", command " + std::to_string(step) + ": " + said_ + "\n" + wrong;
    }
    return {};
  }

 private:
  std::string one(std::uint64_t step) {
    const Command command = stream_.next(state_);
    said_ = std::visit([&](const auto& body) { return spelled(state_, body); }, command.body);
    const Decision decision = execute(state_, command);
    ++counts_.steps;
    ++counts_.kinds["answers " + std::string(name(decision.answer.code))];
    for (const Event& event : decision.events) counts_.add(event);
    if (decision.answer.code == AnswerCode::InvalidManifest) return decision.answer.text;
    if (step % every_ == 0) {
      if (std::string wrong = check_invariants(state_); !wrong.empty()) return wrong;
    }
    if (dice_.chance(30)) return {};  // several commands between passes
    bool changed = false;
    if (std::string wrong = passes_.run(state_, stream_.now(), true, changed); !wrong.empty()) return wrong;
    if (changed && step % every_ == 0) {
      if (std::string wrong = check_invariants(state_); !wrong.empty()) return wrong;
    }
    return dice_.one_in(kWhatIfEvery) ? StreamWhatIf(state_, counts_).run() : std::string{};
  }

  std::uint64_t seed_;
  StreamCounts& counts_;
  std::uint64_t every_;
  GangStream stream_;
  Dice dice_;
  State state_;
  StreamPasses passes_;
  std::string said_;
};

TEST(Stream, IsSafeAndEverybodyGetsItsTurn) {
  const std::uint64_t seed = seed_or(kStreamSeedUsual);
  const std::uint64_t steps = count_or("LOCKSTEP_STREAM_STEPS", kStreamStepsUsual);
  const bool is_long = steps > kStreamStepsUsual;
  StreamCounts counts;
  for (std::uint64_t history = 0; counts.steps < steps; ++history) {
    StreamHistory one(seed + history, counts, is_long ? 1 : kStreamInvariantsEvery);
    const std::string wrong = one.run(std::min(kStreamStepsOfAHistory, steps - counts.steps));
    ASSERT_TRUE(wrong.empty()) << wrong;
  }
  std::printf(
      "%llu steps, %llu plans, most passes %d; %llu copies, %llu groups waited there, %llu of them Reserving, "
      "%llu copies with several of these, most rounds %d\n",
      static_cast<unsigned long long>(counts.steps), static_cast<unsigned long long>(counts.plans), counts.passes_most,
      static_cast<unsigned long long>(counts.what_ifs), static_cast<unsigned long long>(counts.waited),
      static_cast<unsigned long long>(counts.waited_reserving),
      static_cast<unsigned long long>(counts.what_ifs_of_several), counts.rounds_most);
  for (const auto& [kind, count] : counts.kinds)
    std::printf("%s %llu, ", kind.c_str(), static_cast<unsigned long long>(count));
  std::printf("\n");
  if (steps < (seed == kStreamSeedUsual ? kStreamStepsUsual : kStreamStepsForAllKinds)) return;
  for (const char* kind : {"placed",
                           "opened",
                           "opened by a preemptor",
                           "extended",
                           "lent",
                           "released Deadline",
                           "released Evicted",
                           "released Taken",
                           "released HostsLost",
                           "released Resized",
                           "released Stopped",
                           "evicted groups",
                           "evicted members",
                           "replaced",
                           "replaced by a spare",
                           "grown",
                           "shrunk",
                           "answers Done",
                           "answers NeverFits",
                           "answers WrongPhase",
                           "answers Late"})
    EXPECT_GT(counts.kinds[kind], 0U) << kind;
  EXPECT_GT(counts.what_ifs_of_several, 0U);
}

// ---- the order in which hosts were added ------------------------------------------------------------------------

TEST(Stream, C58DecidesTheSameWhateverTheOrderInWhichHostsWereAdded) {
  const std::uint64_t seed = seed_or(58);
  const std::uint64_t shuffles = count_or("LOCKSTEP_SHUFFLES", 5);
  constexpr int kCommands = 150;
  StreamCounts counts;
  for (std::uint64_t shuffle = 0; shuffle < shuffles; ++shuffle) {
    GangStream stream(seed + shuffle);
    Dice dice(seed + shuffle);
    State as_listed;
    State shuffled;
    for (const Command& command : stream.levels_and_pools()) {
      (void)execute(as_listed, command);
      (void)execute(shuffled, command);
    }
    std::vector<Command> hosts = stream.hosts();
    for (const Command& command : hosts) (void)execute(as_listed, command);
    dice.shuffle(hosts);
    for (const Command& command : hosts) (void)execute(shuffled, command);
    Scheduler scheduler;
    Scheduler other_scheduler;
    for (int step = 0; step < kCommands; ++step) {
      const Command command = stream.next(as_listed);
      for (int passes = -1;; ++passes) {
        Command here = command;
        Command there = command;
        if (passes >= 0) {
          Plan made = scheduler.plan(as_listed);
          Plan other = other_scheduler.plan(shuffled);
          ASSERT_EQ(spelled(as_listed, made), spelled(shuffled, other)) << "seed " << seed + shuffle << ", " << step;
          if (made.actions.empty()) break;
          here.actor = there.actor = Actor::Scheduler;
          here.body = ApplyPlan{std::move(made)};
          there.body = ApplyPlan{std::move(other)};
        }
        const Decision decision = execute(as_listed, here);
        const Decision other = execute(shuffled, there);
        ASSERT_EQ(spelled(as_listed, decision), spelled(shuffled, other)) << "seed " << seed + shuffle << ", " << step;
        for (const Event& event : decision.events) counts.add(event);
      }
    }
  }
  for (const char* kind : {"placed", "opened", "opened by a preemptor", "extended", "replaced", "grown"}) {
    std::printf("%s %llu, ", kind, static_cast<unsigned long long>(counts.kinds[kind]));
    EXPECT_GT(counts.kinds[kind], 0U) << kind;
  }
  std::printf("\n");
}

}  // namespace
}  // namespace lockstep::testing
