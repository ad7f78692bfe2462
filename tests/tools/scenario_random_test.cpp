// Stories made at random out of every verb and most of what a manifest can say, run with the invariants checked after
// every event and every state compared with what its events say; then again with the process dropped after every step,
// which must tell the same story. Nothing is expected of the outcome but that it is lawful.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "tests/tools/scenario_fixture.h"

namespace lockstep {
namespace {

class Story {
 public:
  explicit Story(std::uint64_t number) : random_(number) {}

  std::string tell(int steps) {
    cluster();
    for (int i = 0; i < 3; ++i) define();
    for (int i = 0; i < steps; ++i) step();
    line("expect same-digest");
    return std::move(text_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::string number(std::uint64_t bound) { return std::to_string(below(bound)); }
  template <std::size_t N>
  std::string pick(const std::array<const char*, N>& from) {
    return from[below(N)];
  }
  void line(const std::string& text) { text_ += text + '\n'; }

  void cluster() {
    line("levels block rack");
    line("host a[1-4] cpu=8 gpu=2 at=A/r[1-2] kind=x");
    line("host b[1-4] cpu=8 at=B/r[1-2] kind=y");
    line("host c[1-2] cpu=4");
    line("pool license.lic 4");
  }

  std::string host() { return pick(std::array{"a", "b"}) + std::to_string(1 + below(4)); }
  std::string group() {
    static constexpr std::array kNames{"g", "h", "k"};
    return one_in(8) ? "g#" + std::to_string(1 + below(6)) : pick(kNames);
  }
  std::string member() {
    switch (below(4)) {
      case 0:
        return group() + "/*";
      case 1:
        return group() + "/w[*]";
      case 2:
        return group() + "/head[0]";
      default:
        return group() + "/w[" + number(4) + "]";
    }
  }
  std::string claim() {
    switch (below(4)) {
      case 0:
        return group() + "/data";
      case 1:
        return group() + "/w[*]/scratch";
      case 2:
        return group() + "/w[" + number(4) + "]/scratch";
      default:
        return "dataset";
    }
  }

  std::string failure() {
    static constexpr std::array kActions{"failGroup", "restartGroup", "restartRole", "restartMember", "tolerate"};
    std::string text = "{default: " + pick(kActions) + ", maxRestarts: " + number(4);
    if (one_in(2)) text += ", restartOn: anywhere";
    if (one_in(2)) text += ", belowMin: restartGroup";
    if (one_in(3)) text += ", maxRestartsPerMember: " + number(3);
    if (one_in(3)) text += ", maxRestartsPerRole: {w: " + number(4) + "}";
    if (one_in(3)) text += ", window: 1m";
    if (one_in(2)) text += ", backoff: {base: " + number(3) + "s}";
    text += ", rules: [{reasons: [hostLost], action: " + pick(kActions) +
            ", charge: " + (one_in(2) ? "false" : "true") + "}, {exitCodes: [\"2-3\"], action: " + pick(kActions) +
            "}]";
    return text + "}";
  }

  void define() {
    const auto replicas = 1 + below(4);
    const auto min = 1 + below(replicas);
    line(one_in(4) ? "define <<END" : "run <<END");
    line("kind: GangGroup");
    line("metadata: {name: " + pick(std::array{"g", "h", "k"}) + "}");
    line("spec:");
    line("  priority: " + number(3));
    if (one_in(6)) line("  hold: true");
    if (one_in(3)) line("  resume: unfinished");
    if (one_in(3)) line("  placement: {topology: {required: " + pick(std::array{"block", "rack", "host"}) + "}}");
    if (one_in(4)) line("  placement: {partial: true}");
    line("  roles:");
    line("    - {name: head, tasks: \"1*{cpu=" + std::to_string(1 + below(2)) + (one_in(3) ? " license.lic=1" : "") +
         "}\"}");
    line("    - {name: w, replicas: " + std::to_string(replicas) + ", min: " + std::to_string(min) +
         ", max: 5, tasks: " +
         pick(std::array{"\"1*{cpu=4}\"", "\"1*{cpu=8}\"", "\"2*{cpu=2}\"", "[{count: 2, cpu: 3, span: {ptile: 1}}]",
                         "[{cpu: 2, select: {kind: x}}]"}) +
         (one_in(3) ? ", spares: 1" : "") +
         (one_in(3) ? ", after: {head: " + pick(std::array{"started", "succeeded"}) + "}" : "") + "}");
    if (one_in(2)) {
      line("  claims: [{name: data}, {name: scratch, per: member, roles: [w]}, {name: dataset, kind: standalone}]");
    }
    line("  failure: " + failure());
    line("  success: {operator: " + pick(std::array{"all", "all", "any"}) +
         ", rest: " + pick(std::array{"wait", "kill"}) + (one_in(4) ? ", roles: [head]" : "") + "}");
    line("  timeouts: {start: 40s, recover: 20s, stop: 5s, run: " + pick(std::array{"0s", "50s"}) +
         ", pend: " + pick(std::array{"0s", "60s"}) + "}");
    line("  ttlAfterFinished: 90s");
    line("END");
  }

  std::string options() {
    std::string text;
    if (one_in(12)) text += " attempt=" + number(3);
    if (one_in(12)) text += " run=" + number(3);
    if (one_in(12)) text += " seq=" + number(60);
    return text;
  }

  void step() {
    switch (below(20)) {
      case 0:
      case 1:
        return line("schedule");
      case 2:
      case 3:
        return line("armed " + member() + options());
      case 4:
      case 5:
        return line("started " + member() + options());
      case 6:
        return line("stopped " + member() + options());
      case 7:
        return line("exit " + member() + " code=" + number(4) + options());
      case 8:
        return line("exit " + member() + (one_in(2) ? " code=0" : " signal=9") + options());
      case 9:
        return line((one_in(2) ? "lost " : "launch-failed ") + member() + options());
      case 10:
        return line("claim " + claim() + " " + pick(std::array{"ready", "ready", "failed", "released"}));
      case 11:
        return line(pick(std::array{"cancel ", "suspend ", "resume ", "purge ", "evict ", "submit "}) + group());
      case 12:
        return line("resize " + group() + " w " + std::to_string(1 + below(5)));
      case 13:
        return line(pick(std::array{"host-down ", "drain "}) + host());
      case 14:
        return line("host-up " + host());
      case 15:
        return line("advance " + number(30) + "s");
      case 16:
        return line(one_in(3) ? "snapshot" : one_in(2) ? "crash" : "downtime " + number(30) + "s");
      case 17:
        return line(one_in(2) ? "agents auto" : "agents manual");
      case 18:
        return rarely();
      default:
        return one_in(3) ? define() : line("schedule");
    }
  }

  void rarely() {
    switch (below(6)) {
      case 0:
        return line("scheduler auto");
      case 1:
        return line("scheduler manual");
      case 2:
        return line("host " + host() + " cpu=" + std::to_string(4 + below(8)));
      case 3:
        return line("remove-host " + host());
      case 4:
        return line("pool license.lic " + number(5));
      default:
        return line("trim");
    }
  }

  std::mt19937_64 random_;
  std::string text_;
};

// What must never be told, whatever the story is.
bool is_unlawful(const std::string& failure) {
  for (const char* sign :
       {"invariant", "a difference", "to come to rest", "the plan to be taken", "carried out", "replay to reach"}) {
    if (failure.find(sign) != std::string::npos) return true;
  }
  return false;
}

class Stories : public Scenario {
 protected:
  // The unlawful failures; empty: it is a story that can be.
  std::string unlawful(const std::string& text, const ScenarioOptions& options) {
    const auto result = run(text, options);
    EXPECT_NE(result.status, 2) << lines(result.failures) << "\n" << text;
    std::string found;
    for (const auto& failure : result.failures) found += is_unlawful(failure) ? failure + "\n" : "";
    return found;
  }
};

constexpr int kStories = 60;
constexpr int kSteps = 150;

TEST_F(Stories, MadeAtRandomAreLawful) {
  const auto first = seed();
  for (std::uint64_t i = 0; i < kStories; ++i) {
    const auto text = Story(first + i).tell(kSteps);
    EXPECT_EQ(unlawful(text, {}), "") << "LOCKSTEP_SEED=" << first + i << "\n" << text;
    if (HasFailure()) return;
  }
}

TEST_F(Stories, MadeAtRandomAreTheSameWithACrashAfterEveryStep) {
  const auto first = seed();
  for (std::uint64_t i = 0; i < kStories / 3; ++i) {
    const auto text = Story(first + i).tell(kSteps);
    ScenarioOptions options;
    options.trace = true;
    options.check = false;
    EXPECT_EQ(unlawful(text, options), "") << "LOCKSTEP_SEED=" << first + i << "\n" << text;
    const auto plain = trace_.str();
    options.crash_everywhere = true;
    EXPECT_EQ(unlawful(text, options), "") << "LOCKSTEP_SEED=" << first + i << "\n" << text;
    EXPECT_EQ(plain, trace_.str()) << "LOCKSTEP_SEED=" << first + i << "\n" << text;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace lockstep
