// A Scheduler that is kept makes the plans of plan() whatever happened to its state. Shows R49.

#include "tests/scheduler/passes.h"

namespace lockstep::testing {
namespace {

// ---- a scheduler that is kept -------------------------------------------------------------------------------------

// A state driven by commands, as a controller drives it.
class KeptCluster {
 public:
  explicit KeptCluster(std::uint64_t seed) : dice_(seed) {
    (void)run(SetLevels{{"block", "rack"}});
    for (int i = 0; i < 8; ++i) set_host();
  }
  State state;

  void step() {
    now_.value += seconds(dice_.between(0, 30)).value;
    something();
    (void)run(AdvanceTime{});  // no deadline is left between the plan and its taking
  }
  // Empty: the plan was taken.
  std::string take(Plan made) { return run(ApplyPlan{std::move(made)}).text; }

 private:
  Answer run(CommandBody body) { return execute(state, {.time = now_, .body = std::move(body)}).answer; }
  void something() {
    switch (dice_.between(1, 20)) {
      case 1:
        return set_host();
      case 2:
        return (void)run(HostCommand{HostVerb::Remove, a_host()});
      case 3:
        return (void)run(HostCommand{HostVerb::Down, a_host()});
      case 4:
        return (void)run(HostCommand{HostVerb::Drain, a_host()});
      case 5:
      case 6:
      case 7:
        return (void)run(HostCommand{HostVerb::Up, a_host()});
      case 8:
        return (void)run(SetPool{dice_.one_in(2) ? "license.x" : "token", dice_.between(0, 6)});
      case 9:
        return set_levels();
      case 10:
        return (void)run(GroupCommand{GroupVerb::Cancel, a_group()});
      case 11:
        return (void)run(ResizeGroup{a_group(), 0, dice_.count(1, 5)});
      case 12:
      case 13:
      case 14:
        return report();
      default:
        return define();
    }
  }
  std::string a_host() { return "n" + std::to_string(dice_.between(1, 12)); }
  // One of the latest: most of the others have ended.
  GroupId a_group() {
    return GroupId{static_cast<std::uint64_t>(dice_.between(std::max(1, defined_ - 9), std::max(1, defined_)))};
  }

  void set_host() {
    HostInfo info{.name = a_host(), .counters = {{"cpu", dice_.between(1, 4)}, {"gpu", dice_.between(0, 2)}}};
    if (dice_.one_in(3)) info.counters.push_back({"token", 3});
    if (!dice_.one_in(6))
      info.at = {"b" + std::to_string(dice_.between(1, 2)), "r" + std::to_string(dice_.between(1, 2))};
    if (dice_.one_in(3)) info.attributes.push_back({"kind", "new"});
    (void)run(SetHost{info, !dice_.one_in(3)});
  }

  void set_levels() { (void)run(SetLevels{{dice_.one_in(2) ? "rack" : "row", dice_.one_in(2) ? "block" : "shelf"}}); }

  void define() {
    Amounts requests{{"cpu", dice_.between(1, 2)}};
    if (dice_.one_in(4)) requests.emplace_back("gpu", 1);
    if (dice_.one_in(4)) requests.emplace_back(dice_.one_in(2) ? "license.x" : "token", 1);
    Attributes select;
    if (dice_.one_in(5)) select.emplace_back("kind", "new");
    GroupSpec group = spec({role("w", dice_.count(1, 4), {term(1, requests, select)})});
    group.priority = static_cast<std::int32_t>(dice_.between(0, 2));
    if (dice_.one_in(2)) group.mode = PlacementMode::Reserve;
    if (dice_.one_in(2)) group.run_limit = seconds(dice_.between(10, 300));
    if (dice_.one_in(3)) group.topology.required = dice_.one_in(2) ? "rack" : "block";
    if (dice_.one_in(4)) group.topology.preferred = "rack";
    group.roles[0].min = dice_.count(1, group.roles[0].replicas);
    group.roles[0].max = group.roles[0].replicas + 2;
    group.partial = dice_.one_in(3);
    group.failure.default_action = FailureAction::RestartMember;
    DefineGroup define{.identity = {.name = "g" + std::to_string(defined_ + 1)}, .spec = group};
    if (run(define).code == AnswerCode::Done) ++defined_;
  }

  // Whatever some member may say next.
  void report() {
    const Group* group = state.group(a_group());
    if (group == nullptr) return;
    for (std::uint32_t index = 0; index < group->roles[0].members.size(); ++index) {
      const Member& member = group->roles[0].members[index];
      if (!is_live(member.phase)) continue;
      const ReportKind kind = member.phase == MemberPhase::Placed     ? ReportKind::Armed
                              : member.phase == MemberPhase::Stopping ? ReportKind::Stopped
                              : member.phase == MemberPhase::Running
                                  ? (dice_.one_in(3) ? ReportKind::Lost : ReportKind::Exit)
                                  : ReportKind::Started;
      (void)run(ReportMember{group->head.id,
                             {.kind = kind,
                              .member = {0, index},
                              .attempt = group->head.attempt,
                              .run = member.run,
                              .sequence = member.sequence + 1}});
    }
  }

  Dice dice_;
  Time now_ = kMorning;
  int defined_ = 0;
};

// What it has kept from hosts that came, went, drained, changed counters or places, from pools and levels that changed,
// and from states that were copied or assigned is never seen in a plan. Every plan is taken as it is.
TEST(KeptScheduler, MakesTheSamePlansAsAFreshOneWhateverHappens) {
  const std::uint64_t seed = seed_or(11);
  std::map<std::size_t, int> kinds;
  for (std::uint64_t run = 0; run < count_or("LOCKSTEP_RUNS", 40); ++run) {
    KeptCluster cluster(seed + run);
    Scheduler kept;
    State saved = cluster.state;
    Scheduler of_saved;
    for (int step = 0; step < 150; ++step) {
      cluster.step();
      if (step % 3 != 0) continue;  // several things happen between two passes
      const std::string where = "LOCKSTEP_SEED=" + std::to_string(seed + run) + " step " + std::to_string(step);
      const Plan made = plan(cluster.state);
      ASSERT_EQ(shown(cluster.state, kept.plan(cluster.state)), shown(cluster.state, made)) << where;
      ASSERT_EQ(shown(cluster.state, kept.plan(cluster.state)), shown(cluster.state, made)) << where << ", once more";
      for (const PlanAction& action : made.actions) ++kinds[action.index()];
      if (step % 10 == 0) {
        saved = cluster.state;
        ASSERT_EQ(shown(saved, of_saved.plan(saved)), shown(saved, made)) << where << ", of an assigned state";
      }
      if (step % 4 != 0) {
        ASSERT_EQ(cluster.take(made), "") << where << "\n" << shown(cluster.state, made);
      }
    }
    const State later = cluster.state;
    ASSERT_EQ(shown(later, kept.plan(later)), shown(later, plan(later))) << "of another state";
    cluster.state = saved;  // the same object, another state
    ASSERT_EQ(shown(saved, kept.plan(cluster.state)), shown(saved, plan(saved)));
    ASSERT_EQ(shown(saved, of_saved.plan(saved)), shown(saved, plan(saved)));
    cluster.state = State(later);
    ASSERT_EQ(shown(later, kept.plan(cluster.state)), shown(later, plan(later)));
  }
  EXPECT_GE(kinds.size(), 6U) << "too tame";
}

// Each by itself, between two passes of one scheduler.
TEST(KeptScheduler, SeesWhatChangedSinceItsLastPass) {
  State state;
  const auto run = [&](CommandBody body) {
    const Answer answer = execute(state, {.time = kMorning, .body = std::move(body)}).answer;
    EXPECT_EQ(answer.code, AnswerCode::Done) << answer.text;
  };
  const auto host = [&](const std::string& name, std::int64_t cpu, std::vector<std::string> at) {
    run(SetHost{{.name = name, .counters = {{"cpu", cpu}, {"gpu", 1}}, .at = std::move(at)}});
  };
  run(SetLevels{{"rack"}});
  run(SetPool{"token", 1});
  host("n1", 2, {"r1"});
  host("n2", 2, {"r2"});
  run(DefineGroup{.identity = {.name = "g1"},
                  .spec = spec({role("w", 2, {{"cpu", 2}}), role("t", 1, {{"gpu", 1}, {"token", 1}})}, "rack"),
                  .hold = true});
  host("n3", 2, {"r2"});
  run(GroupCommand{GroupVerb::Submit, GroupId{1}});
  Scheduler kept;
  const auto pass = [&] { return shown(state, kept.plan(state)); };
  const std::string there = "place g1 in r2: w[0]: n2; w[1]: n3; t[0]: n2";
  EXPECT_EQ(pass(), there);
  EXPECT_EQ(pass(), there) << "nothing is taken yet";
  run(HostCommand{HostVerb::Drain, "n2"});
  EXPECT_EQ(pass(), "");
  run(HostCommand{HostVerb::Up, "n2"});
  EXPECT_EQ(pass(), there);
  run(HostCommand{HostVerb::Down, "n3"});
  EXPECT_EQ(pass(), "");
  run(HostCommand{HostVerb::Up, "n3"});
  host("n3", 1, {"r2"});
  EXPECT_EQ(pass(), "");
  host("n3", 2, {"r1"});
  EXPECT_EQ(pass(), "place g1 in r1: w[0]: n1; w[1]: n3; t[0]: n1");
  run(SetPool{"token", 0});
  EXPECT_EQ(pass(), "");
  run(SetPool{"token", 1});
  run(HostCommand{HostVerb::Remove, "n1"});
  EXPECT_EQ(pass(), "");
  host("n0", 2, {"r1"});
  EXPECT_EQ(pass(), "place g1 in r1: w[0]: n0; w[1]: n3; t[0]: n0");
  run(ApplyPlan{kept.plan(state)});
  EXPECT_EQ(pass(), "");
}

}  // namespace
}  // namespace lockstep::testing
