// What a manifest must not ask for: counts and amounts at their bounds and beyond, lists as long as they may be, names
// that overlap, orders that go in a circle, budgets and exit codes out of range; and that answers stay small whatever
// the manifest holds. Shows R44.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/manifest/jobset_text.h"
#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

std::vector<std::string> refusals(std::string_view text) { return lines_of(read_manifest(text, "caller").problems); }

// A group of the roles a and b, with `more` in its spec and in its role b.
std::string group_text(std::string_view more_spec, std::string_view more_role = "") {
  return fmt::format(
      "kind: GangGroup\nmetadata: {{name: g}}\nspec: {{roles: [{{name: a, tasks: '{{cpu=1}}'}}, {{name: b, tasks: "
      "'{{cpu=1}}'{}{}}}]{}{}}}",
      more_role.empty() ? "" : ", ", more_role, more_spec.empty() ? "" : ", ", more_spec);
}

// "x0, x1, ..."
std::string repeated(std::size_t count, std::string_view text) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i)
    list += fmt::format("{}{}", i == 0 ? "" : ", ", fmt::format(fmt::runtime(text), i));
  return list;
}

struct Refused {
  std::string text;
  std::vector<std::string> problems;
};

void expect_refusals(std::string_view path, const std::vector<Refused>& cases,
                     const std::function<std::string(const std::string&)>& manifest) {
  for (const Refused& c : cases) {
    std::vector<std::string> wanted;
    for (const std::string& problem : c.problems) wanted.push_back(std::string(path) + problem);
    EXPECT_THAT(refusals(manifest(c.text)), UnorderedElementsAreArray(wanted)) << c.text;
  }
}

TEST(Validation, OfCountsBlamesTheOneThatIsWrong) {
  expect_refusals(
      "spec.roles[1].",
      {
          {"replicas: 1, min: 1, max: 1, spares: 0", {}},
          {"replicas: 999999", {}},  // a is one more
          {"replicas: 0", {"replicas: 0 is less than 1"}},
          {"replicas: 0, max: 4", {"replicas: 0 is less than 1"}},
          {"replicas: 0, min: 0", {"replicas: 0 is less than 1", "min: 0 is less than 1"}},
          {"replicas: -1", {"replicas: -1 is negative"}},
          {"replicas: -99999999999999999999", {"replicas: -99999999999999999999 is negative"}},
          {"replicas: 4, max: 0", {"max: 0 is less than 1"}},
          {"replicas: 4, min: 0, max: -1", {"min: 0 is less than 1", "max: -1 is negative"}},
          {"replicas: 4, min: 5, max: 3", {"min: 5 is more than replicas 4", "max: 3 is less than replicas 4"}},
          {"min: 2", {"min: 2 is more than replicas 1"}},
          {"spares: -1", {"spares: -1 is negative"}},
          {"replicas: 1000001", {"replicas: 1000001 is more than 1000000"}},
          {"max: 4294967296", {"max: 4294967296 is more than 1000000"}},
          {"spares: 1000001", {"spares: 1000001 is more than 1000000"}},
          {"replicas: 1000000", {"max: the members of the group, `max` and spares counted, are more than 1000000"}},
          {"spares: 999999", {"max: the members of the group, `max` and spares counted, are more than 1000000"}},
      },
      [](const std::string& role) { return group_text("", role); });
}

TEST(Validation, OfAmountsCountsEveryTaskOfEveryMember) {
  const std::string too_much =
      ": the group as a whole, `max` and spares counted, asks for more than 1152921504606846976";
  const auto role = [](std::string_view more, std::string_view tasks) {
    return fmt::format("{{name: r{}, tasks: {}, {}}}", tasks.size(), tasks, more);
  };
  expect_refusals(
      "spec.roles",
      {
          // 10^6 members x 10^5 tasks x 11529215 = 2^60 - 4606846976
          {role("replicas: 1000000", "'100000*{gpu=11529215}'"), {}},
          {role("replicas: 1000000", "'100000*{gpu=11529216}'"), {"[0].tasks[0].gpu" + too_much}},
          {role("replicas: 1000000", "'100000*{gpu=1152921504606846976}'"), {"[0].tasks[0].gpu" + too_much}},
          {role("max: 1000000", "[{count: 100000, mem: 1048576Ti}]"), {"[0].tasks[0].mem" + too_much}},
          {role("spares: 999999", "[{license.x: 1152921504607}]"), {"[0].tasks[0].license.x" + too_much}},
          {role("replicas: 2", "'{cpu=1152921504606846}'"), {"[0].tasks[0].cpu" + too_much}},
          {role("replicas: 1", "'{gpu=1152921504606846976} + {gpu=1}'"), {"[0].tasks[1].gpu" + too_much}},
          {role("replicas: 1", "'{gpu=1152921504606846976}'") + ", " + role("replicas: 1", "'{gpu=1}'"),
           {"[1].tasks[0].gpu" + too_much}},
          {role("replicas: 1", "'{gpu=1152921504606846976 mem=1}'") + ", " + role("replicas: 1", "'{mem=1048575Ti}'"),
           {}},
          {role("replicas: 2", "'{gpu=1152921504606846976 mem=1048576Ti}'"),
           {"[0].tasks[0].gpu" + too_much, "[0].tasks[0].mem" + too_much}},
          {role("replicas: 1", "'100000*{} + 1*{}'"), {"[0].tasks: 100001 tasks of one member are more than 100000"}},
          {role("replicas: 1", "[{count: 4294967294}, {count: 4294967294}]"),
           {"[0].tasks: 8589934588 tasks of one member are more than 100000"}},
          {role("replicas: 1", "'{gpu=1152921504606846977}'"),
           {"[0].tasks: term 1: gpu: \"1152921504606846977\" is more than a counter holds, 1152921504606846976"}},
          {role("replicas: 1", "[{cpu: 9223372036854775807}]"),
           {"[0].tasks[0].cpu: \"9223372036854775807\" is more than a counter holds, 1152921504606846"}},
          {role("replicas: 1", "[{mem: 99999999999999999999Ti}]"),
           {"[0].tasks[0].mem: \"99999999999999999999Ti\" is more than a counter holds, 1048576Ti"}},
      },
      [](const std::string& roles) { return "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [" + roles + "]}"; });
}

TEST(Validation, OfQuantitiesKnowsNoExponents) {
  for (const std::string_view text : {"1e3", "1E400", "1e-400", "1e99999999999999999999", "1.0", ".5", "1e", "0x1p9"}) {
    const std::string wanted = fmt::format(
        "spec.roles[0].tasks[0].gpu: \"{}\" is not a quantity: an integer, alone or with Ki Mi Gi Ti or K M G T (cpu "
        "also 500m)",
        text);
    EXPECT_THAT(
        refusals(fmt::format(
            "kind: GangGroup\nmetadata: {{name: g}}\nspec: {{roles: [{{name: a, tasks: [{{gpu: {}}}]}}]}}", text)),
        ElementsAre(wanted));
  }
}

// Kubernetes writes them, and its fractions are rounded up.
TEST(Validation, OfQuantitiesOfAJobSetBoundsTheirExponents) {
  const auto refused_for = [](std::string_view containers) {
    const auto lines = refusals(jobset_text(job_text("a", "", "", fmt::format("containers: [{}]", containers))));
    return lines.empty() ? "" : lines.size() > 1 ? "more than one problem" : lines[0].substr(lines[0].rfind(": ") + 2);
  };
  const auto container = [](std::string_view amount) {
    return fmt::format("{{resources: {{requests: {{x: {}}}}}}}", amount);
  };
  for (const std::string_view text : {"1e18", "1E", "1Ei", "0e99", "1e-99", "1000000000000000000000000e-20"}) {
    EXPECT_EQ(refused_for(container(text)), "") << text;
  }
  for (const std::string_view text : {"2e18", "1e99", "2Ei", "1153P"}) {
    EXPECT_EQ(refused_for(container(text)), fmt::format("\"{}\" is more than a counter holds (2^60)", text));
  }
  for (const std::string_view text : {"1e100", "1e-100", "1e999999999999999999999", "1e", "1e--5", "1e1.5", "e3"}) {
    EXPECT_THAT(refused_for(container(text)), HasSubstr("500m, 1.5 or 64Gi")) << text;
  }
  EXPECT_EQ(refused_for(container("123456789012345678901")), "\"123456789012345678901\" has too many digits");
  // Of several containers together.
  const std::string too_much = "1152921504606846977 is not between 1 and 1152921504606846976";
  EXPECT_EQ(refused_for(container("1Ei") + ", " + container("1")), too_much);
  EXPECT_EQ(refused_for(container("1Ei") + ", " + container("1Ei") + ", " + container("1Ei")), too_much);
  EXPECT_EQ(refused_for("{resources: {limits: {nvidia.com/gpu: 1Ei, amd.com/gpu: 1}}}"), too_much);
}

TEST(Validation, OfListsTakesAsManyAsTheirBoundAndNotOneMore) {
  const auto rules = [](std::size_t count) {
    return group_text(
        fmt::format("failure: {{rules: [{}]}}", repeated(count, "{{exitCodes: [{}], action: restartRole}}")));
  };
  const ManifestResult thousand = read_manifest(rules(1'000), "x");
  ASSERT_THAT(lines_of(thousand.problems), IsEmpty());
  ASSERT_EQ(thousand.groups.at(0).spec.failure.rules.size(), 1'000U);
  EXPECT_EQ(thousand.groups[0].spec.failure.rules[999].exit_codes, (std::vector<ExitRange>{{999, 999}}));
  EXPECT_TRUE(read_manifest(write_manifest(thousand.groups[0]), "x").groups.at(0).spec == thousand.groups[0].spec);
  EXPECT_THAT(refusals(rules(kRulesMax)), IsEmpty());
  EXPECT_THAT(refusals(rules(kRulesMax + 1)), ElementsAre("spec.failure.rules: 1025 entries are more than 1024"));

  struct Case {
    std::string_view before, each, after;
    std::size_t max;
    std::string_view path;
  };
  for (const Case& c : {
           Case{"failure: {rules: [{exitCodes: [", "{}", "]}]}", kListMax, "spec.failure.rules[0].exitCodes"},
           Case{"failure: {rules: [{signals: [", "9", "]}]}", kListMax, "spec.failure.rules[0].signals"},
           Case{"failure: {rules: [{reasons: [", "exited", "]}]}", kListMax, "spec.failure.rules[0].reasons"},
           Case{"claims: [", "{{name: c{}}}", "]", kListMax, "spec.claims"},
       }) {
    const auto text = [&](std::size_t count) {
      return group_text(std::string(c.before) + repeated(count, c.each) + std::string(c.after));
    };
    EXPECT_THAT(refusals(text(c.max)), IsEmpty()) << c.path;
    EXPECT_THAT(refusals(text(c.max + 1)),
                ElementsAre(fmt::format("{}: {} entries are more than {}", c.path, c.max + 1, c.max)));
  }
}

TEST(Validation, OfNamesRefusesThoseThatOverlap) {
  const std::string long_name(254, 'n');
  const std::string no_name = " is not a name; use lowercase letters, digits, '-' and '.', at most 253 characters";
  const std::string shown_long_name = "'" + std::string(80, 'n') + "...'" + no_name;
  const std::string longest_name(253, 'n');
  const std::string head = "kind: GangGroup\nmetadata: {name: g}\nspec: ";
  const std::string roles = "roles: [{name: a, tasks: '{}'}]";
  expect_refusals(
      "",
      {
          {"kind: GangGroup\nmetadata: {name: " + longest_name + ", queue: " + longest_name + "}\nspec: {" + roles +
               "}",
           {}},
          {"kind: GangGroup\nmetadata: {name: " + long_name + "}\nspec: {" + roles + "}",
           {"metadata.name: " + shown_long_name}},
          {"kind: GangGroup\nmetadata: {name: g, queue: Train}\nspec: {" + roles + "}",
           {"metadata.queue: 'Train'" + no_name}},
          {"kind: GangGroup\nmetadata: {name: g, queue: " + long_name + ", user: " + long_name + "}\nspec: {" + roles +
               "}",
           {"metadata.queue: " + shown_long_name, "metadata.user: 254 bytes are more than 253"}},
          {"kind: GangGroup\nmetadata: {name: g, labels: {a: 1, a: 2}}\nspec: {" + roles + "}",
           {"metadata.labels.a: the key is there twice"}},
          {"kind: GangGroup\nmetadata: {name: g, labels: {'a b': 1, '': 2}}\nspec: {" + roles + "}",
           {"metadata.labels.: is empty; a key is needed",
            "metadata.labels.a b: 'a b' is not a key; use printable ASCII without spaces, at most 253 characters"}},
          {"kind: GangGroup\nmetadata: {name: g, labels: {a: " + std::string(65'537, 'x') + "}}\nspec: {" + roles + "}",
           {"metadata.labels.a: 65537 bytes are more than 65536"}},
          {head + "{roles: [{name: Worker, tasks: '{}'}, {name: " + long_name + ", tasks: '{}'}]}",
           {"spec.roles[0].name: 'Worker'" + no_name, "spec.roles[1].name: " + shown_long_name}},
          {head + "{roles: [{name: a, tasks: '{}'}, {name: a, tasks: '{}'}, {name: a, tasks: '{}'}]}",
           {"spec.roles[1].name: 'a' is the name of another role",
            "spec.roles[2].name: 'a' is the name of another role"}},
          {head + "{" + roles + ", claims: [{name: Data}, {name: " + long_name + "}, {name: ''}]}",
           {"spec.claims[0].name: 'Data'" + no_name, "spec.claims[1].name: " + shown_long_name,
            "spec.claims[2].name: is missing; a name is needed"}},
          {head + "{" + roles + ", claims: [{name: a}, {name: c}, {name: c}, {name: c}]}",  // a role may be named alike
           {"spec.claims[2].name: 'c' is the name of another claim",
            "spec.claims[3].name: 'c' is the name of another claim"}},
      },
      [](const std::string& text) { return text; });
  // One role in two lists is no overlap, twice in one list is.
  EXPECT_THAT(refusals(group_text("success: {roles: [a]}, claims: [{name: c, roles: [a]}, {name: d, roles: [a, b]}], "
                                  "failure: {rules: [{roles: [a, b]}, {roles: [a]}], maxRestartsPerRole: {a: 1}}")),
              IsEmpty());
  EXPECT_THAT(
      refusals(group_text("success: {roles: [a, b, a]}, claims: [{name: c, roles: [b, b]}], failure: {rules: [{}, "
                          "{roles: [a, a]}], maxRestartsPerRole: {a: 1, a: 2}}")),
      UnorderedElementsAreArray({"spec.success.roles[2]: \"a\" is there twice",
                                 "spec.claims[0].roles[1]: \"b\" is there twice",
                                 "spec.failure.rules[1].roles[1]: \"a\" is there twice",
                                 "spec.failure.maxRestartsPerRole.a: the key is there twice"}));
}

TEST(Validation, OfTheOrderOfStartRefusesCircles) {
  const std::string circle = ".after: these roles wait for each other in a circle and could never start: ";
  expect_refusals(
      "spec.roles",
      {
          {"{name: a}, {name: b, after: {a: started}}, {name: c, after: {a: started, b: succeeded}}", {}},
          {"{name: a, after: {a: started}}", {"[0].after.a: a role cannot start after itself"}},
          {"{name: a, after: {c: started}}, {name: b, after: {a: succeeded}}, {name: c, after: {b: started}}",
           {"[0]" + circle + "a, b, c"}},
          {"{name: z}, {name: a, after: {b: started, z: started}}, {name: b, after: {a: started}}",
           {"[1]" + circle + "a, b"}},
          {"{name: a, after: {a: started, c: started, z: started}}, {name: b, after: {a: succeeded}}, {name: c, after: "
           "{b: started}}",
           {"[0].after.a: a role cannot start after itself", "[0].after.z: no role is named \"z\"",
            "[0]" + circle + "a, b, c"}},
      },
      [](std::string roles) {
        for (std::size_t at = 0; (at = roles.find("{name", at)) != std::string::npos; at += 18)
          roles.insert(at + 1, "tasks: '{cpu=1}', ");
        return "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [" + roles + "]}";
      });
}

TEST(Validation, OfAFailurePolicyRefusesWhatNoFailureCanBe) {
  const std::string code = " is neither an exit code nor a range of them, as 13 or \"64-78\"";
  const std::string path = "rules[0].exitCodes[";
  expect_refusals(
      "spec.failure.",
      {
          {"rules: [{exitCodes: [0, 2147483647, '0-2147483647', '5-5', 13, 13, '1-5', '3-7']}]",
           {}},  // they may overlap
          {"rules: [{exitCodes: ['78-64', 2147483648, '1-2147483648', -1, '-5-5', '5-', '1-2-3', '1 - 2', '01', 0x1]}]",
           {path + "0]: \"78-64\"" + code, path + "1]: \"2147483648\"" + code, path + "2]: \"1-2147483648\"" + code,
            path + "3]: \"-1\"" + code, path + "4]: \"-5-5\"" + code, path + "5]: \"5-\"" + code,
            path + "6]: \"1-2-3\"" + code, path + "7]: \"1 - 2\"" + code, path + "8]: \"01\"" + code,
            path + "9]: \"0x1\"" + code}},
          {"rules: [{signals: [1, 64, 9, 9]}]", {}},
          {"rules: [{signals: [0, 65, -1, 4294967305, '9']}]",
           {"rules[0].signals[0]: 0 is less than 1", "rules[0].signals[1]: 65 is more than 64",
            "rules[0].signals[2]: -1 is negative", "rules[0].signals[3]: 4294967305 is more than 64",
            "rules[0].signals[4]: the text \"9\" is not a whole number"}},
          {"rules: [{roles: [a, y], action: tolerate}, {roles: [z]}]",
           {"rules[0].roles[1]: no role is named \"y\"", "rules[1].roles[0]: no role is named \"z\""}},
          {"maxRestarts: 100000, maxRestartsPerRole: {a: 100000, b: 0}, maxRestartsPerMember: 100000", {}},
          {"maxRestarts: 100001, maxRestartsPerRole: {a: 100001, b: -1, z: 1}, maxRestartsPerMember: 4294967295",
           {"maxRestarts: 100001 is more than 100000", "maxRestartsPerRole.a: 100001 is more than 100000",
            "maxRestartsPerRole.b: -1 is negative", "maxRestartsPerRole.z: no role is named \"z\"",
            "maxRestartsPerMember: 4294967295 is more than 100000"}},
          {"window: 106751d, backoff: {base: 106751d, factor: 4294967294, cap: 106751d}", {}},
          {"window: 106752d, backoff: {base: -1s, factor: 4294967295, cap: 99999999999999999999s}",
           {"window: \"106752d\" is longer than a duration holds (292 years)", "backoff.base: \"-1s\" is negative",
            "backoff.factor: 4294967295 is more than 4294967294",
            "backoff.cap: \"99999999999999999999s\" is longer than a duration holds (292 years)"}},
      },
      [](const std::string& failure) { return group_text("failure: {" + failure + "}"); });
}

// ---- answers stay small

TEST(Validation, ShowsAThousandProblemsAndSaysThatThereAreMore) {
  const auto bad_signals = [](std::size_t count) {
    return group_text("failure: {rules: [" + repeated(count / 2, "{{signals: [0, 65]}}") + "]}");
  };
  EXPECT_EQ(refusals(bad_signals(1'000)).size(), 1'000U);
  const auto more = refusals(bad_signals(1'002));
  ASSERT_EQ(more.size(), 1'001U);
  EXPECT_EQ(more.front(), "spec.failure.rules[0].signals[0]: 0 is less than 1");
  EXPECT_EQ(more[999], "spec.failure.rules[499].signals[1]: 65 is more than 64");
  EXPECT_EQ(more.back(), "document: more than 1000 problems; the rest is not shown");
}

TEST(Validation, ShowsAThousandProblemsOfAllDocumentsTogether) {
  const std::string one = group_text("failure: {rules: [" + repeated(400, "{{signals: [0]}}") + "]}");
  std::string text;
  for (int i = 0; i < 100; ++i) text += one + "\n---\n";
  const auto lines = refusals(text);
  ASSERT_EQ(lines.size(), 1'001U);
  EXPECT_EQ(lines[400], "document 2: spec.failure.rules[0].signals[0]: 0 is less than 1");
  EXPECT_EQ(lines.back(), "document 3: document: more than 1000 problems; the rest is not shown");
}

// What one document has wrong hides nothing of another.
TEST(Validation, OfEachDocumentStandsForItself) {
  const std::string bad = "kind: GangGroup\nmetadata: {name: [g]}\nspec: {roles: [{name: a, tasks: '{}', min: x}]}\n";
  const std::string worse = "kind: GangGroup\nmetadata: {name: G}\nspec: {roles: [{name: a, tasks: '{}', min: 2}]}\n";
  EXPECT_THAT(refusals(bad + "---\n" + worse),
              ElementsAre("document 1: metadata.name: a list where text is wanted",
                          "document 1: spec.roles[0].min: the text \"x\" is not a whole number",
                          HasSubstr("document 2: metadata.name: 'G' is not a name"),
                          "document 2: spec.roles[0].min: 2 is more than replicas 1"));
}

TEST(Validation, QuotesNoMoreThanTheBeginningOfALongValue) {
  const std::string digits(5'000, '9');
  const std::string letters(5'000, 'x');
  for (const std::string& value : {digits, "-" + digits, "0" + digits, digits + ".5", letters, letters + digits}) {
    for (const std::string_view spec :
         {"priority: {0}", "hold: {0}", "runLimit: {0}", "resume: {0}", "placement: {{topology: {{required: {0}}}}}",
          "claims: [{{name: {0}}}]", "claims: [{{name: c, size: {0}}}]", "success: {{roles: [{0}]}}", "{0}: 1",
          "failure: {{belowMin: {0}, rules: [{{exitCodes: [{0}, 1], signals: [{0}], reasons: [{0}]}}]}}",
          "failure: {{maxRestartsPerRole: {{a: {0}, {0}: 1}}}}"}) {
      const auto lines = refusals(group_text(fmt::format(fmt::runtime(spec), value)));
      EXPECT_FALSE(lines.empty()) << spec;
      for (const std::string& line : lines) EXPECT_LE(line.size(), 400U) << line.substr(0, 400);
    }
    for (const std::string_view role :
         {"replicas: {0}", "min: {0}", "after: {{{0}: {0}}}", "topology: {{required: {0} }}"}) {
      const auto lines = refusals(group_text("", fmt::format(fmt::runtime(role), value)));
      EXPECT_FALSE(lines.empty()) << role;
      for (const std::string& line : lines) EXPECT_LE(line.size(), 400U) << line.substr(0, 400);
    }
  }
}

TEST(Validation, NamesAThousandFieldsThatAreNotCarriedAndSaysThatThereAreMore) {
  std::string text = group_text("");
  for (int i = 0; i < 400; ++i) {
    text += "\n---\nkind: ConfigMap\n---\n" + jobset_text(job_text("a"), "network: {}, managedBy: me");
  }
  const ManifestResult result = read_manifest(text, "x");
  ASSERT_THAT(lines_of(result.problems), IsEmpty());
  ASSERT_EQ(result.not_carried.size(), 1'001U);
  EXPECT_EQ(result.not_carried[0], "document 2: kind: ConfigMap without a name, not carried");
  EXPECT_EQ(result.not_carried[1], "document 3: spec.network: not carried");
  EXPECT_EQ(result.not_carried.back(), "more than that is not carried and not listed");
}

}  // namespace
}  // namespace lockstep
