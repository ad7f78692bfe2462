// Volcano's HyperNodes: tiers as levels, the three ways in which members are selected, and what is no tree.

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string hyper_node(std::string_view name, std::string_view tier, std::string_view members) {
  return "---\nkind: HyperNode\nmetadata: {name: " + std::string(name) + "}\nspec: {tier: " + std::string(tier) +
         ", members: [" + std::string(members) + "]}\n";
}
std::string exact(std::string_view type, std::string_view name) {
  return "{type: " + std::string(type) + ", selector: {exactMatch: {name: " + std::string(name) + "}}}, ";
}
std::string regex(std::string_view type, std::string_view pattern) {
  return "{type: " + std::string(type) + ", selector: {regexMatch: {pattern: '" + std::string(pattern) + "'}}}, ";
}
std::string by_labels(std::string_view selector) {
  return "{type: Node, selector: {labelMatch: {" + std::string(selector) + "}}}, ";
}
std::string labelled(std::string_view name, std::string_view labels) {
  return "---\nkind: Node\nmetadata: {name: " + std::string(name) + ", labels: {" + std::string(labels) + "}}\n";
}

TEST(HyperNodes, AreDomainsOfALevelForEachTier) {
  const auto result =
      read_one("h.yaml", hyper_node("s0", "1", exact("Node", "n0") + exact("Node", "n1")) +
                             hyper_node("s1", "1", exact("Node", "n2")) +
                             hyper_node("s2", "2", exact("HyperNode", "s0") + exact("HyperNode", "s1")));
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("tier2", "tier1"));
  EXPECT_THAT(places_of(result), ElementsAre("n0 s2/s0", "n1 s2/s0", "n2 s2/s1"));
}

TEST(HyperNodes, StandForThemselvesInTiersThatTheySkip) {
  const auto result =
      read_one("h.yaml", hyper_node("low", "1", exact("Node", "n0")) + hyper_node("mid", "5", exact("Node", "n1")) +
                             hyper_node("top", "9", exact("HyperNode", "low")));
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("tier9", "tier5", "tier1"));
  EXPECT_THAT(places_of(result), ElementsAre("n0 top/low/low", "n1 mid/mid"));
}

TEST(HyperNodes, NameTheirLevelsWhenTheyAgree) {
  const std::string agree =
      "kind: HyperNode\nmetadata: {name: s0}\nspec: {tier: 1, tierName: volcano.sh/rack, members: [" +
      exact("Node", "n0") + "]}\n";
  EXPECT_THAT(read_one("h.yaml", agree + hyper_node("s1", "1", exact("Node", "n1"))).levels, ElementsAre("rack"));
  std::string other = agree;
  other.replace(other.find("s0"), 2, "s1").replace(other.find("sh/rack"), 7, "sh/tray");
  other.replace(other.find("n0"), 2, "n1");
  EXPECT_THAT(read_one("h.yaml", agree + "---\n" + other).levels, ElementsAre("tier1"));
}

TEST(HyperNodes, SelectNodesByNamePatternAndLabels) {
  const std::string nodes = labelled("a-1", "rack: r1, kubernetes.io/hostname: a-1") + labelled("a-2", "rack: r2") +
                            labelled("a-10", "rack: r3") + labelled("b-1", "gpu: yes1") + labelled("c-1", "");
  const auto result = read_one(
      "h.yaml", nodes + hyper_node("exact", "1", exact("Node", "a-1") + regex("Node", "^a-1$")) +
                    hyper_node("pattern", "1", regex("Node", "^a-[02]|0$")) +
                    hyper_node("labels", "1",
                               by_labels("matchExpressions: [{key: rack, operator: DoesNotExist}, {key: gpu, operator: "
                                         "In, values: [yes1, no1]}]")) +
                    hyper_node("all", "2", regex("HyperNode", "^(exact|pattern)$")));
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(places_of(result),
              ElementsAre("a-1 all/exact", "a-2 all/pattern", "a-10 all/pattern", "b-1 labels/labels", "c-1 "));
  EXPECT_THAT(result.not_carried, ElementsAre("1 host without a place in the topology: c-1"));
}

TEST(HyperNodes, SelectNodesByTheLabelOfTheirName) {
  const auto result =
      read_one("h.yaml", labelled("n1", "kubernetes.io/hostname: n1") + labelled("n2", "kubernetes.io/hostname: n2") +
                             hyper_node("s0", "1", by_labels("matchLabels: {kubernetes.io/hostname: n2}")));
  ASSERT_THAT(places_of(result), ElementsAre("n1 ", "n2 s0"));
  EXPECT_THAT(result.hosts[1].attributes, IsEmpty());
}

TEST(HyperNodes, MeetEachOperatorOfLabels) {
  struct Case {
    std::string_view requirement;
    std::vector<std::string> names;
  };
  for (const Case& c :
       {Case{"key: k, operator: In, values: [a, c]", {"n1"}},
        Case{"key: k, operator: NotIn, values: [a]", {"n2", "n3"}}, Case{"key: k, operator: Exists", {"n1", "n2"}},
        Case{"key: k, operator: DoesNotExist", {"n3"}}}) {
    const auto result = read_one(
        "h.yaml", labelled("n1", "k: a") + labelled("n2", "k: b") + labelled("n3", "") +
                      hyper_node("s0", "1", by_labels("matchExpressions: [{" + std::string(c.requirement) + "}]")));
    std::vector<std::string> placed;
    for (const HostInfo& host : result.hosts) {
      if (!host.at.empty()) placed.push_back(host.name);
    }
    EXPECT_EQ(placed, c.names) << c.requirement;
  }
}

TEST(HyperNodes, AreRefusedWithTheFieldOrTheLine) {
  struct Case {
    std::string text;
    std::string problem;
  };
  for (const Case& c : {
           Case{hyper_node("a", "1", exact("Node", "n")) + hyper_node("b", "1", exact("Node", "n")),
                "h.yaml:8: n is in a already (h.yaml:4); a host has one place"},
           Case{hyper_node("a", "1", exact("HyperNode", "b")) + hyper_node("b", "1", exact("HyperNode", "a")),
                "h.yaml:4: b of tier 1 is below a (h.yaml:2) of tier 1: tiers decrease downwards"},
           Case{hyper_node("a", "1", exact("Node", "n")) + hyper_node("b", "2", exact("HyperNode", "a")) +
                    hyper_node("c", "2", exact("HyperNode", "a")),
                "h.yaml:12: a is below b (h.yaml:6) and below c (h.yaml:10): a HyperNode is below one other"},
           Case{hyper_node("a", "1", exact("HyperNode", "b")), "h.yaml:4: there is no HyperNode \"b\""},
           Case{hyper_node("a", "1", exact("Node", "n")) + hyper_node("a", "2", exact("Node", "m")),
                "h.yaml:6: a (h.yaml:2) is a HyperNode already"},
           Case{hyper_node("a", "1", regex("Node", "n")),
                "h.yaml:4: what a pattern or labels select is not known without the Nodes; give 'kubectl get nodes -o "
                "yaml' too"},
           Case{labelled("n", "") + hyper_node("a", "1", regex("Node", "(")), "h.yaml:7: \"(\": a ( without its )"},
           Case{hyper_node("a", "high", exact("Node", "n")),
                "h.yaml: spec.tier: the text \"high\" is not a whole number"},
           Case{hyper_node("a", "1", "{type: Pod, selector: {exactMatch: {name: n}}}"),
                "h.yaml: spec.members[0].type: \"Pod\" is neither Node nor HyperNode"},
           Case{hyper_node("a", "1", "{type: Node, selector: {}}"),
                "h.yaml: spec.members[0].selector: one of exactMatch, regexMatch and labelMatch is wanted"},
           Case{hyper_node("a", "1", "{type: HyperNode, selector: {labelMatch: {matchLabels: {a: b}}}}"),
                "h.yaml: spec.members[0].selector.labelMatch: only Nodes are selected by their labels"},
           Case{hyper_node("a", "1", by_labels("matchExpressions: [{key: a, operator: Gt, values: ['1']}]")),
                "h.yaml: spec.members[0].selector.labelMatch.matchExpressions[0].operator: \"Gt\" is none "
                "of "
                "In, NotIn, Exists, DoesNotExist"},
       }) {
    const auto lines = lines_of(read_one("h.yaml", c.text).problems);
    ASSERT_FALSE(lines.empty()) << c.text;
    EXPECT_EQ(lines.front(), c.problem) << c.text;
  }
}

TEST(HyperNodes, OfMoreTiersThanThereMayBeLevelsAreRefused) {
  std::string text;
  for (std::uint32_t tier = 0; tier <= kLevelsMax; ++tier) {
    text += hyper_node("s" + std::to_string(tier), std::to_string(tier), exact("Node", "n" + std::to_string(tier)));
  }
  EXPECT_THAT(lines_of(read_one("h.yaml", text).problems), ElementsAre("HyperNodes: tiers: more than 16 levels"));
}

}  // namespace
}  // namespace lockstep
