// The native manifest: every key and every default, every kind of problem with the path and the words its author sees,
// all problems of a text at once, JSON, several documents, and overflow of what a million members ask for.
// Shows R44.

#include "tools/manifest/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/manifest/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

DefineGroup group_of(std::string_view text) {
  ManifestResult result = read_manifest(text, "caller");
  EXPECT_THAT(lines_of(result.problems), IsEmpty()) << text;
  EXPECT_EQ(result.groups.size(), 1U);
  return result.groups.empty() ? DefineGroup{} : result.groups.front();
}

std::vector<std::string> problems_of(std::string_view text) { return lines_of(read_manifest(text, "caller").problems); }

TEST(Manifest, OfEveryKeyIsReadAsWritten) {
  const DefineGroup group = group_of(read_file(LOCKSTEP_SOURCE_DIR "/tests/manifest/data/full.yaml"));
  DefineGroup want;
  want.identity = {"llama-pretrain", "ana", "train", {{"team", "nlp"}, {"tier", "3"}}};
  want.hold = true;
  GroupSpec& spec = want.spec;
  spec.priority = 7;
  spec.preemptible = false;
  spec.mode = PlacementMode::Reserve;
  spec.partial = true;
  spec.topology = {"block", "rack"};
  RoleSpec launcher;
  launcher.name = "launcher";
  launcher.tasks = {{1, {{"cpu", 4000}, {"mem", 8 * kGi}}, {}, 0, 0}};
  RoleSpec worker{"worker",
                  8,
                  6,
                  12,
                  {{8, {{"cpu", 8000}, {"gpu", 1}, {"mem", 64 * kGi}}, {{"model", "h100"}}, 8, 0}},
                  {"nvlink", ""},
                  1,
                  {{0, AfterWhat::Started}},
                  {"python", "train.py", "3"},
                  {{"NCCL_DEBUG", "WARN"}, {"RANKS", "64"}}};
  spec.roles = {launcher, worker};
  spec.claims = {{"dataset", ClaimKind::Standalone, ClaimPer::Group, {}, 0},
                 {"scratch", ClaimKind::Template, ClaimPer::Member, {1}, 2048 * kGi}};
  spec.failure.rules = {{{0}, {}, {{13, 13}, {64, 78}}, {}, FailureAction::FailGroup, true},
                        {{}, {FailureReason::HostLost}, {}, {}, FailureAction::RestartMember, false},
                        {{}, {}, {}, {9}, FailureAction::RestartRole, true}};
  spec.failure.default_action = FailureAction::RestartGroup;
  spec.failure.below_min = FailureAction::RestartGroup;
  spec.failure.max_restarts = 4;
  spec.failure.max_restarts_per_role = {{1, 10}};
  spec.failure.max_restarts_per_member = 2;
  spec.failure.window = hours(1);
  spec.failure.backoff = {seconds(20), 3, minutes(11)};
  spec.failure.restart_on = RestartOn::Anywhere;
  spec.success = {SuccessOperator::Any, {0}, SuccessRest::Kill};
  spec.resume = ResumeWhat::Unfinished;
  spec.timeouts = {seconds(1), seconds(2), seconds(3), seconds(4), seconds(5), seconds(6)};
  spec.run_limit = seconds(7);
  spec.ttl_after_finished = seconds(8);
  EXPECT_TRUE(group.identity == want.identity);
  EXPECT_TRUE(group.spec == want.spec);
  EXPECT_TRUE(group.hold);
}

TEST(Manifest, LeftOutKeysHaveTheDefaultsOfTheContract) {
  const DefineGroup group =
      group_of("kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, replicas: 5, tasks: '{cpu=1}'}]}");
  EXPECT_EQ(group.identity.user, "caller");
  EXPECT_EQ(group.identity.queue, "default");
  EXPECT_FALSE(group.hold);
  DefineGroup want;
  want.spec.roles.resize(1);
  want.spec.roles[0].name = "w";
  want.spec.roles[0].replicas = want.spec.roles[0].min = want.spec.roles[0].max = 5;
  want.spec.roles[0].tasks = {{1, {{"cpu", 1000}}, {}, 0, 0}};
  EXPECT_TRUE(group.spec == want.spec);
}

TEST(Manifest, MayHaveNullForWhatIsLeftOut) {
  const DefineGroup group = group_of(
      "kind: GangGroup\nmetadata: {name: g, labels: }\nspec: {priority: ~, roles: [{name: w, min: null, tasks: "
      "'{}'}]}");
  EXPECT_EQ(group.spec.priority, 0);
}

TEST(Manifest, MayReferToARoleFurtherDown) {
  const DefineGroup group = group_of(
      "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: a, tasks: '{cpu=1}', after: {c: succeeded, b: "
      "started}}, {name: b, tasks: '{cpu=1}'}, {name: c, tasks: '{cpu=1}'}]}");
  EXPECT_THAT(group.spec.roles[0].after, ElementsAre(After{1, AfterWhat::Started}, After{2, AfterWhat::Succeeded}));
}

TEST(Manifest, MayBeJson) {
  const DefineGroup group = group_of(R"({
	"kind": "GangGroup", "metadata": {"name": "g", "labels": {"a\/b": "\u00e4\n"}},
	"spec": {"priority": -3, "preemptible": false, "roles": [{"name": "w", "tasks": [{"cpu": "500m", "mem": "8Gi", "gpu": 2}]}]}})");
  EXPECT_EQ(group.spec.priority, -3);
  EXPECT_FALSE(group.spec.preemptible);
  EXPECT_THAT(group.identity.labels, ElementsAre(KeyValue{"a/b", "\xc3\xa4\n"}));
  EXPECT_THAT(group.spec.roles[0].tasks[0].requests,
              ElementsAre(Counter{"cpu", 500}, Counter{"gpu", 2}, Counter{"mem", 8 * kGi}));
}

TEST(Manifest, MayUseAnchors) {
  const DefineGroup group = group_of(
      "kind: GangGroup\nmetadata: {name: g}\nspec:\n  roles:\n  - {name: a, tasks: &t [{cpu: 2}], env: &e {X: 1}}\n"
      "  - {name: b, tasks: *t, env: *e}");
  EXPECT_EQ(group.spec.roles[0].tasks, group.spec.roles[1].tasks);
  EXPECT_EQ(group.spec.roles[0].env, group.spec.roles[1].env);
}

TEST(Manifest, MayHoldSeveralGroups) {
  const std::string one = "kind: GangGroup\nmetadata: {name: a}\nspec: {roles: [{name: w, tasks: '{cpu=1}'}]}\n";
  const std::string two =
      "kind: GangGroup\nmetadata: {name: b}\nspec: {roles: [{name: w, tasks: '{cpu=1}', min: 2}]}\n";
  EXPECT_EQ(read_manifest("---\n" + one + "---\n---\n" + one + "...\n", "x").groups.size(), 2U);
  EXPECT_THAT(problems_of(one + "---\n" + two),
              ElementsAre("document 2: spec.roles[0].min: 2 is more than replicas 1"));
  const ManifestResult mixed =
      read_manifest(one + "---\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n", "x");
  EXPECT_THAT(mixed.problems, IsEmpty());
  EXPECT_EQ(mixed.groups.size(), 1U);
  EXPECT_THAT(mixed.not_carried, ElementsAre("document 2: kind: ConfigMap settings, not carried"));
}

// ---- one problem at a time
// ---------------------------------------------------------------------------------------------

// `role` goes into a role that is valid without it, `spec` into the spec.
std::string with(std::string_view spec, std::string_view role = "") {
  return "kind: GangGroup\nmetadata: {name: g}\nspec: {" + std::string(spec) + (spec.empty() ? "" : ", ") +
         "roles: [{name: a, tasks: '{cpu=1}'}, {name: b, tasks: '{cpu=1}', replicas: 4" + (role.empty() ? "" : ", ") +
         std::string(role) + "}]}";
}

TEST(Manifest, NamesThePathOfAProblemInASpec) {
  struct Case {
    std::string_view spec;
    std::string_view problem;
  };
  for (
      const Case& c : {
          Case{"prio: 1", "spec.prio: unknown key"},
          Case{"priority: high", "spec.priority: the text \"high\" is not a whole number"},
          Case{"priority: '1'", "spec.priority: the text \"1\" is not a whole number"},
          Case{"priority: 1.5", "spec.priority: \"1.5\" is not a whole number"},
          Case{"priority: 1e3", "spec.priority: \"1e3\" is not a whole number"},
          Case{"priority: 010", "spec.priority: 010 begins with 0; write it without"},
          Case{"priority: 0x10", "spec.priority: \"0x10\" is not a whole number"},
          Case{"priority: [1]", "spec.priority: a list where a whole number is wanted"},
          Case{"priority: 2147483648", "spec.priority: 2147483648 is more than 2147483647"},
          Case{"priority: -2147483649", "spec.priority: -2147483649 is less than -2147483648"},
          Case{"priority: 99999999999999999999999", "spec.priority: 99999999999999999999999 is more than 2147483647"},
          Case{"preemptible: yes", "spec.preemptible: \"yes\" is neither true nor false"},
          Case{"preemptible: 'true'", "spec.preemptible: \"true\" is neither true nor false"},
          Case{"preemptible: 1", "spec.preemptible: \"1\" is neither true nor false"},
          Case{"hold: {}", "spec.hold: a map where true or false is wanted"},
          Case{"hold: true, hold: true", "spec.hold: the key is there twice"},
          Case{"placement: atomic", "spec.placement: text where a map is wanted"},
          Case{"placement: {mode: Atomic}", "spec.placement.mode: \"Atomic\" is none of atomic, reserve"},
          Case{"placement: {topology: {requires: rack}}", "spec.placement.topology.requires: unknown key"},
          Case{"placement: {topology: {required: 3}}",
               "spec.placement.topology.required: 3 is a number where text is wanted; put it in quotes"},
          Case{"placement: {topology: {required: a b}}",
               "spec.placement.topology.required: 'a b' is not a key; use printable ASCII without spaces, at most 253 "
               "characters"},
          Case{"claims: {name: c}", "spec.claims: a map where a list is wanted"},
          Case{"claims: [{name: c}, {name: c}]", "spec.claims[1].name: 'c' is the name of another claim"},
          Case{"claims: [{kind: template}]", "spec.claims[0].name: is missing"},
          Case{"claims: [{name: c, kind: shared}]", "spec.claims[0].kind: \"shared\" is none of template, standalone"},
          Case{"claims: [{name: c, per: role}]", "spec.claims[0].per: \"role\" is none of group, member"},
          Case{"claims: [{name: c, roles: [x]}]", "spec.claims[0].roles[0]: no role is named \"x\""},
          Case{"claims: [{name: c, roles: [a, a]}]", "spec.claims[0].roles[1]: \"a\" is there twice"},
          Case{"claims: [{name: c, size: -2Ti}]", "spec.claims[0].size: \"-2Ti\" is negative"},
          Case{
              "claims: [{name: c, size: 2.5Ti}]",
              "spec.claims[0].size: \"2.5Ti\" is not a quantity: an integer, alone or with Ki Mi Gi Ti or K M G T (cpu "
              "also 500m)"},
          Case{
              "claims: [{name: c, kind: standalone, per: member}]",
              "spec.claims[0].per: a standalone claim is shared and cannot be per member; use group, or kind template"},
          Case{"failure: {rule: []}", "spec.failure.rule: unknown key"},
          Case{"failure: {rules: [{action: fail}]}",
               "spec.failure.rules[0].action: \"fail\" is none of failGroup, restartGroup, restartRole, restartMember, "
               "tolerate"},
          Case{"failure: {rules: [{roles: [z]}]}", "spec.failure.rules[0].roles[0]: no role is named \"z\""},
          Case{"failure: {rules: [{reasons: [none]}]}",
               "spec.failure.rules[0].reasons[0]: \"none\" is none of exited, signaled, outOfMemory, hostLost, "
               "launchFailed, claimFailed, startTimeout, runTimeout"},
          Case{"failure: {rules: [{exitCodes: [5-3]}]}",
               "spec.failure.rules[0].exitCodes[0]: \"5-3\" is neither an exit code nor a range of them, as 13 or "
               "\"64-78\""},
          Case{"failure: {rules: [{exitCodes: [1, -1]}]}",
               "spec.failure.rules[0].exitCodes[1]: \"-1\" is neither an exit code nor a range of them, as 13 or "
               "\"64-78\""},
          Case{"failure: {rules: [{signals: [0]}]}", "spec.failure.rules[0].signals[0]: 0 is less than 1"},
          Case{"failure: {rules: [{signals: [65]}]}", "spec.failure.rules[0].signals[0]: 65 is more than 64"},
          Case{"failure: {rules: [{charge: 0}]}", "spec.failure.rules[0].charge: \"0\" is neither true nor false"},
          Case{"failure: {default: retry}",
               "spec.failure.default: \"retry\" is none of failGroup, restartGroup, restartRole, restartMember, "
               "tolerate"},
          Case{"failure: {belowMin: tolerate}",
               "spec.failure.belowMin: \"tolerate\" is none of failGroup, restartGroup"},
          Case{"failure: {maxRestarts: -1}", "spec.failure.maxRestarts: -1 is negative"},
          Case{"failure: {maxRestarts: 4294967295}", "spec.failure.maxRestarts: 4294967295 is more than 100000"},
          Case{"failure: {maxRestartsPerRole: {z: 1}}", "spec.failure.maxRestartsPerRole.z: no role is named \"z\""},
          Case{"failure: {maxRestartsPerRole: {a: -1}}", "spec.failure.maxRestartsPerRole.a: -1 is negative"},
          Case{"failure: {window: 60}",
               "spec.failure.window: \"60\" is not a duration: one integer and one of ns us ms s m h d"},
          Case{"failure: {window: -1s}", "spec.failure.window: \"-1s\" is negative"},
          Case{"failure: {backoff: {base: 200000d}}",
               "spec.failure.backoff.base: \"200000d\" is longer than a duration holds (292 years)"},
          Case{"failure: {backoff: {factor: 0}}", "spec.failure.backoff.factor: 0 is less than 1"},
          Case{"failure: {restartOn: other}", "spec.failure.restartOn: \"other\" is none of same, anywhere"},
          Case{"success: {operator: most}", "spec.success.operator: \"most\" is none of all, any"},
          Case{"success: {roles: [a, z]}", "spec.success.roles[1]: no role is named \"z\""},
          Case{"success: {roles: a}", "spec.success.roles: text where a list is wanted"},
          Case{"success: {rest: stop}", "spec.success.rest: \"stop\" is none of wait, kill"},
          Case{"resume: some", "spec.resume: \"some\" is none of all, unfinished"},
          Case{"timeouts: {pending: 1s}", "spec.timeouts.pending: unknown key"},
          Case{"timeouts: {pend: 1h30m}",
               "spec.timeouts.pend: \"1h30m\" is not a duration: one integer and one of ns us ms s m h d"},
          Case{"runLimit: [1s]", "spec.runLimit: a list where a duration is wanted"},
          Case{"\"a\\nb\": 1", "spec.a\\x0ab: unknown key"},
      }) {
    EXPECT_THAT(problems_of(with(c.spec)), ElementsAre(c.problem));
  }
}

TEST(Manifest, NamesThePathOfAProblemInARole) {
  struct Case {
    std::string_view role;
    std::string_view problem;
  };
  for (const Case& c : {
           Case{"min: 6", "spec.roles[1].min: 6 is more than replicas 4"},
           Case{"min: 0", "spec.roles[1].min: 0 is less than 1"},
           Case{"min: -1", "spec.roles[1].min: -1 is negative"},
           Case{"max: 3", "spec.roles[1].max: 3 is less than replicas 4"},
           Case{"max: 4294967296", "spec.roles[1].max: 4294967296 is more than 1000000"},
           Case{"max: 1000000",
                "spec.roles[1].max: the members of the group, `max` and spares counted, are more than 1000000"},
           Case{"spares: some", "spec.roles[1].spares: the text \"some\" is not a whole number"},
           Case{"replica: 3", "spec.roles[1].replica: unknown key"},
           Case{"topology: {required: [x]}", "spec.roles[1].topology.required: a list where text is wanted"},
           Case{"after: [a]", "spec.roles[1].after: a list where a map is wanted"},
           Case{"after: {z: started}", "spec.roles[1].after.z: no role is named \"z\""},
           Case{"after: {a: done}", "spec.roles[1].after.a: \"done\" is none of started, succeeded"},
           Case{"after: {b: started}", "spec.roles[1].after.b: a role cannot start after itself"},
           Case{"after: {a: started, a: started}", "spec.roles[1].after.a: the key is there twice"},
           Case{"command: python", "spec.roles[1].command: text where a list is wanted"},
           Case{"command: [[x]]", "spec.roles[1].command[0]: a list where text is wanted"},
           Case{"env: [X=1]", "spec.roles[1].env: a list where a map is wanted"},
           Case{"env: {X: [1]}", "spec.roles[1].env.X: a list where text is wanted"},
           Case{"env: {X=: 1}", "spec.roles[1].env.X=: a variable's name holds no '='"},
       }) {
    EXPECT_THAT(problems_of(with("", c.role)), ElementsAre(c.problem));
  }
}

TEST(Manifest, NamesThePathOfAProblemInTasks) {
  struct Case {
    std::string_view tasks;
    std::string_view problem;
  };
  for (const Case& c : {
           Case{"4", ": 4 is a number where text is wanted; put it in quotes"},
           Case{"{cpu: 1}", ": a map where text is wanted"},
           Case{"[]", ": is missing; say what one member needs"},
           Case{"'cpu=1'", ": term 1: \"cpu=1\" is not of the form N*{...}"},
           Case{"'{cpu=1x}'",
                ": term 1: cpu: \"1x\" is not a quantity: an integer, alone or with Ki Mi Gi Ti or K M G T (cpu also "
                "500m)"},
           Case{"[{cpu: 1}, {cpu: -1}]", "[1].cpu: \"-1\" is negative"},
           Case{"[{cpu: 0}]", "[0].cpu: a request of 0, leave it out"},
           Case{"[{gpu: 1, gpu: 2}]", "[0].gpu: the key is there twice"},
           Case{
               "[{gpu: many}]",
               "[0].gpu: \"many\" is not a quantity: an integer, alone or with Ki Mi Gi Ti or K M G T (cpu also 500m)"},
           Case{"[{gpu: 1.5}]",
                "[0].gpu: \"1.5\" is not a quantity: an integer, alone or with Ki Mi Gi Ti or K M G T (cpu also 500m)"},
           Case{"[{gpu: [1]}]", "[0].gpu: a list where text is wanted"},
           Case{"[{'g u': 1}]", "[0].g u: \"g u\" is not the name of a counter"},
           Case{"[{count: 0, cpu: 1}]", "[0].count: 0 is less than 1"},
           Case{"[{count: 100001, cpu: 1}]", ": 100001 tasks of one member are more than 100000"},
           Case{"[{cpu: 1, span: {tiles: 1}}]", "[0].span.tiles: unknown key"},
           Case{"[{cpu: 1, span: {hosts: 2}}]", "[0].span.hosts: 2 is not supported; use 1, or span.ptile"},
           Case{"[{cpu: 1, select: [a]}]", "[0].select: a list where a map is wanted"},
           Case{"[{cpu: 1, select: {model: [a]}}]", "[0].select.model: a list where text is wanted"},
       }) {
    const std::string text =
        "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: a, tasks: " + std::string(c.tasks) + "}]}";
    EXPECT_THAT(problems_of(text), ElementsAre("spec.roles[0].tasks" + std::string(c.problem))) << c.tasks;
  }
}

TEST(Manifest, OfMoreCommasAndBracketsThanMayBeIsNotParsed) {
  std::string text = "[";
  for (int i = 0; i < 1'000'000; ++i) text += "a,";
  EXPECT_THAT(problems_of(text + "a]"), ElementsAre("line 1, column 2000001: more than 1000000 commas and brackets"));
}

TEST(Manifest, NamesThePathOfAProblemOutsideTheSpec) {
  struct Case {
    std::string text;
    std::vector<std::string> problems;
  };
  const std::string roles = "\nspec: {roles: [{name: a, tasks: '{cpu=1}'}]}";
  for (const Case& c : {
           Case{"", {"document: is empty; a GangGroup or a JobSet is wanted"}},
           Case{"---\n...\n", {"document: is empty; a GangGroup or a JobSet is wanted"}},
           Case{"just text", {"document: text where a map is wanted"}},
           Case{"- a", {"document: a list where a map is wanted"}},
           Case{"metadata: {name: g}" + roles, {"kind: is missing"}},
           Case{"kind: [GangGroup]", {"kind: a list where text is wanted"}},
           Case{"kind: Gang\nmetadata: {name: g}" + roles, {"kind: Gang is neither GangGroup nor JobSet"}},
           Case{"kind: GangGroup",
                {"metadata.name: is missing; a name is needed",
                 "spec.roles: is missing; a group has at least one role"}},
           Case{"kind: GangGroup\napiVersion: v1\nmetadata: {name: g}" + roles,
                {"apiVersion: \"v1\" is not lockstep/v1"}},
           Case{"kind: GangGroup\nmetadata: {}" + roles, {"metadata.name: is missing"}},
           Case{"kind: GangGroup\nmetadata: {name: 5}" + roles,
                {"metadata.name: 5 is a number where text is wanted; put it in quotes"}},
           Case{"kind: GangGroup\nmetadata: {name: true}" + roles,
                {"metadata.name: true is true or false where text is wanted; put it in quotes"}},
           Case{"kind: GangGroup\nmetadata: {name: Gang_1}" + roles,
                {"metadata.name: 'Gang_1' is not a name; use lowercase letters, digits, '-' and '.', at most 253 "
                 "characters"}},
           Case{"kind: GangGroup\nmetadata: {name: g, namespace: x}" + roles, {"metadata.namespace: unknown key"}},
           Case{"kind: GangGroup\nmetadata: {name: g, labels: [a]}" + roles,
                {"metadata.labels: a list where a map is wanted"}},
           Case{"kind: GangGroup\nmetadata: {name: g, labels: {a: {}}}" + roles,
                {"metadata.labels.a: a map where text is wanted"}},
           Case{"kind: GangGroup\nkind: GangGroup\nmetadata: {name: g}" + roles, {"kind: the key is there twice"}},
           Case{"kind: GangGroup\nmetadata: {name: g}\nstatus: {}" + roles, {"status: unknown key"}},
           Case{"kind: GangGroup\nmetadata: {name: g}\nspec: {roles: {}}",
                {"spec.roles: a map where a list is wanted"}},
           Case{"kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [worker]}",
                {"spec.roles[0]: text where a map is wanted"}},
           Case{"kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{replicas: x}]}",
                {"spec.roles[0].name: is missing", "spec.roles[0].replicas: the text \"x\" is not a whole number",
                 "spec.roles[0].tasks: is missing"}},
           Case{"kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: a, tasks: '{}'}, {name: a, tasks: '{}'}]}",
                {"spec.roles[1].name: 'a' is the name of another role"}},
           Case{"kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: a, tasks: '{}', after: {b: started}}, "
                "{name: b, tasks: '{}', after: {a: started}}]}",
                {"spec.roles[0].after: these roles wait for each other in a circle and could never start: a, b"}},
       }) {
    const auto problems = problems_of(c.text);
    if (c.text.find("roles: [{replicas") != std::string::npos) {
      EXPECT_THAT(problems, testing::UnorderedElementsAreArray(c.problems)) << c.text;
    } else {
      EXPECT_EQ(problems, c.problems) << c.text;
    }
  }
}

TEST(Manifest, WithARefusedCountIsNotBlamedForTheOthers) {
  const std::string text = "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: a, tasks: '{}', ";
  EXPECT_THAT(problems_of(text + "replicas: -8, min: 6, max: 12}]}"),
              ElementsAre("spec.roles[0].replicas: -8 is negative"));
  EXPECT_THAT(problems_of(text + "replicas: 8, min: x, max: 12}]}"),
              ElementsAre("spec.roles[0].min: the text \"x\" is not a whole number"));
}

TEST(Manifest, ReportsAllProblemsAtOnce) {
  EXPECT_THAT(
      problems_of(read_file(LOCKSTEP_SOURCE_DIR "/tests/manifest/data/broken.yaml")),
      UnorderedElementsAre(
          "metadata.name: is missing", "metadata.owner: unknown key",
          "spec.priority: the text \"high\" is not a whole number",
          "spec.roles[0].tasks: term 1: mem: \"-8Gi\" is negative", "spec.roles[1].min: 6 is more than replicas 4",
          "spec.roles[1].after.launchr: no role is named \"launchr\"",
          "spec.roles[2].name: 'worker' is the name of another role", "spec.roles[2].tasks: is missing",
          "spec.claims[0].per: a standalone claim is shared and cannot be per member; use group, or kind template",
          "spec.failure.rules[0].exitCodes[1]: \"78-64\" is neither an exit code nor a range of them, as 13 or "
          "\"64-78\"",
          "spec.timeouts.stop: \"60\" is not a duration: one integer and one of ns us ms s m h d"));
}

TEST(Manifest, RefusesWhatAMillionMembersTogetherCannotAskFor) {
  const std::string role = "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: a, replicas: 1000000, tasks: ";
  EXPECT_THAT(problems_of(role + "[{gpu: 1152921504606}]}]}"), IsEmpty());
  EXPECT_THAT(
      problems_of(role + "[{gpu: 1152921504607}]}]}"),
      ElementsAre("spec.roles[0].tasks[0].gpu: the group as a whole, `max` and spares counted, asks for more than "
                  "1152921504606846976"));
  EXPECT_THAT(problems_of(role + "[{count: 100000, gpu: 1152921504606846976}]}]}"),
              ElementsAre(HasSubstr("spec.roles[0].tasks[0].gpu: the group as a whole")));
  EXPECT_THAT(
      problems_of("kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: a, replicas: 1000001, tasks: '{}'}]}"),
      ElementsAre("spec.roles[0].replicas: 1000001 is more than 1000000"));
}

TEST(Manifest, RefusesListsThatAreTooLong) {
  std::string roles = "kind: GangGroup\nmetadata: {name: g}\nspec:\n  roles:\n";
  for (int i = 0; i < 257; ++i) roles += "  - {name: r" + std::to_string(i) + ", tasks: '{}'}\n";
  EXPECT_THAT(problems_of(roles), ElementsAre("spec.roles: 257 entries are more than 256"));
  std::string labels = "kind: GangGroup\nmetadata:\n  name: g\n  labels:\n";
  for (int i = 0; i < 1025; ++i) labels += "    l" + std::to_string(i) + ": x\n";
  EXPECT_THAT(problems_of(labels + "spec: {roles: [{name: a, tasks: '{}'}]}"),
              ElementsAre("metadata.labels: 1025 entries are more than 1024"));
}

}  // namespace
}  // namespace lockstep
