// -R strings that LSF users wrote: each is read, term by term, and what is left out of it is said. The strings are read
// where they are and skipped, with a message, where they are not.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

struct LsfTasks {
  std::vector<std::string> terms;        // as written by term_text
  std::vector<std::string> not_carried;  // after "term "
};

// As the file has them, with a number where the shell would have put one.
const std::map<std::string, LsfTasks, std::less<>> kLsfExamples{
    {"64*{select[clx2s8260hdr] span[ptile=2]}", {{"64: clx2s8260hdr=true ptile=2"}, {}}},
    {"1*{select[LN]} + 1344*{select[CN&&(hname!=c699c250)&&(type==any)]span[ptile=42]}",
     {{"1: LN=true", "1344: CN=true ptile=42"},
      {"2: select[hname!=c699c250] is not carried: use an attribute of the hosts wanted"}}},
    {"1*{select[LN]}+1*{select[CN]span[ptile=1]cu[maxcus=1]}",
     {{"1: LN=true", "1: CN=true ptile=1"}, {"2: cu[maxcus=1] is not carried: use topology"}}},
    {"span[ptile=1]", {{"1: ptile=1"}, {}}},
    {"affinity[core(24):cpubind=core:distribute=pack]",
     {{"1:"}, {"1: affinity[core(24):cpubind=core:distribute=pack] is not carried: ask for cores with cpu"}}},
    {"same[type:model]", {{"1:"}, {"1: same[type:model] is not carried: use select with the value wanted"}}},
    {"order[hosts]", {{"1:"}, {"1: order[hosts] is not carried"}}},
    {"cu[type=rack]", {{"1:"}, {"1: cu[type=rack] is not carried: use topology"}}},
    {"cu[maxcus=1]", {{"1:"}, {"1: cu[maxcus=1] is not carried: use topology"}}},
    {"1*{select[LN]} + 168*{select[CN&&(hname==sierra2837)&&(type==any)]span[ptile=42]}",
     {{"1: LN=true", "168: CN=true ptile=42"},
      {"2: select[hname==sierra2837] is not carried: use an attribute of the hosts wanted"}}},
    {"1*{select[LN]span[hosts=1]} + 42*{select[CN && (hname != 'e28n10') && (hname != 'b35n11') && (hname != 'b08n02') "
     "&& (hname != 'e01n04') && (hname != 'b18n09')]span[ptile=42]}",
     {{"1: LN=true hosts=1", "42: CN=true ptile=42"},
      {"2: select[hname != 'e28n10'] is not carried: use an attribute of the hosts wanted",
       "2: select[hname != 'b35n11'] is not carried: use an attribute of the hosts wanted",
       "2: select[hname != 'b08n02'] is not carried: use an attribute of the hosts wanted",
       "2: select[hname != 'e01n04'] is not carried: use an attribute of the hosts wanted",
       "2: select[hname != 'b18n09'] is not carried: use an attribute of the hosts wanted"}}},
    {"1*{select[LN]span[hosts=1]} + 43008*{select[CN &&  (hname !='c35n15') && (hname "
     "!='d04n05')]order[!-slots:maxslots]span[ptile=42] }",
     {{"1: LN=true hosts=1", "43008: CN=true ptile=42"},
      {"2: select[hname !='c35n15'] is not carried: use an attribute of the hosts wanted",
       "2: select[hname !='d04n05'] is not carried: use an attribute of the hosts wanted",
       "2: order[!-slots:maxslots] is not carried"}}},
    {"1*{select[((LN) && (type == any))] order[r15s:pg] span[hosts=1] cu[type=rack:pref=config]}+6048*{select[((CN) && "
     "(type == any))] order[r15s:pg] span[ptile=42] cu[type=rack:maxcus=8]}",
     {{"1: LN=true hosts=1", "6048: CN=true ptile=42"},
      {"1: order[r15s:pg] is not carried", "1: cu[type=rack:pref=config] is not carried: use topology",
       "2: order[r15s:pg] is not carried", "2: cu[type=rack:maxcus=8] is not carried: use topology"}}},
    {"1*{select[craylinux && !vnode]} + 1920*{select[craylinux && vnode]span[ptile=24]}",
     {{"1: craylinux=true", "1920: craylinux=true vnode=true ptile=24"},
      {"1: select[!vnode] is not carried: use an attribute of the hosts wanted"}}},
    {"1*{select[craylinux && !vnode]} + 8*{select[craylinux && vnode]span[ptile=8] cu[type=cabinet]}",
     {{"1: craylinux=true", "8: craylinux=true vnode=true ptile=8"},
      {"1: select[!vnode] is not carried: use an attribute of the hosts wanted",
       "2: cu[type=cabinet] is not carried: use topology"}}},
    {"1*{select[craylinux && !vnode]} + 4*{select[craylinux && vnode]span[ptile=1] cu[type=cabinet]}",
     {{"1: craylinux=true", "4: craylinux=true vnode=true ptile=1"},
      {"1: select[!vnode] is not carried: use an attribute of the hosts wanted",
       "2: cu[type=cabinet] is not carried: use topology"}}},
    {"1*{select[craylinux && !vnode]} + 576*{select[craylinux && vnode] span [ptile=24]}",
     {{"1: craylinux=true", "576: craylinux=true vnode=true ptile=24"},
      {"1: select[!vnode] is not carried: use an attribute of the hosts wanted"}}},
    {"1*{order[slots] select[craylinux && !vnode]} + 168*{select[craylinux && vnode]span[ptile=24] cu[type=cabinet]}",
     {{"1: craylinux=true", "168: craylinux=true vnode=true ptile=24"},
      {"1: order[slots] is not carried", "1: select[!vnode] is not carried: use an attribute of the hosts wanted",
       "2: cu[type=cabinet] is not carried: use topology"}}},
};

// "42: CN=true ptile=42"
std::string term_text(const TaskTerm& term) {
  std::string text = fmt::format("{}:", term.count);
  for (const Counter& counter : term.requests) text += fmt::format(" {}:{}", counter.name, counter.amount);
  for (const KeyValue& pair : term.select) text += fmt::format(" {}={}", pair.key, pair.value);
  if (term.span_ptile != 0) text += fmt::format(" ptile={}", term.span_ptile);
  if (term.span_hosts != 0) text += fmt::format(" hosts={}", term.span_hosts);
  return text;
}

class LsfExamples : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(file_)) GTEST_SKIP() << "no -R strings of LSF: " << file_ << " is not there";
  }
  // Every value of a key `resreq`.
  [[nodiscard]] std::vector<std::string> read_all() const {
    std::vector<std::string> texts;
    const YamlText file = parse_yaml(read_file(file_.string()));
    EXPECT_TRUE(file.problems.empty());
    for (const YamlNode& map : file.nodes) {
      if (map.kind != YamlNode::Kind::Map) continue;
      for (std::size_t i = 0; i < map.items.size(); i += 2) {
        if (map.items[i]->text == "resreq") texts.push_back(map.items[i + 1]->text);
      }
    }
    return texts;
  }

  std::filesystem::path file_ = kShared / "inputs" / "manifests" / "lsf" / "compound-resreq.json";
};

TEST_F(LsfExamples, AreReadAndSayWhatIsNotCarried) {
  constexpr std::string_view kVariable = "${cores}";
  std::map<std::string, int, std::less<>> seen;
  for (std::string text : read_all()) {
    if (const auto at = text.find(kVariable); at != std::string::npos) {
      const auto refused = parse_tasks(text);
      ASSERT_FALSE(refused) << text;
      EXPECT_EQ(refused.error().message, "the shell variable $cores is not known here: write its value");
      text.replace(at, kVariable.size(), "168");
    }
    ++seen[text];
    const auto known = kLsfExamples.find(text);
    ASSERT_NE(known, kLsfExamples.end()) << text << " is not in the table";
    const auto tasks = parse_tasks(text);
    ASSERT_TRUE(tasks) << text << ": " << tasks.error().message;
    std::vector<std::string> terms;
    for (const TaskTerm& term : tasks->terms) terms.push_back(term_text(term));
    EXPECT_EQ(terms, known->second.terms) << text;
    std::vector<std::string> not_carried;
    for (const std::string& line : known->second.not_carried) not_carried.push_back("term " + line);
    EXPECT_EQ(tasks->not_carried, not_carried) << text;
  }
  EXPECT_EQ(seen.size(), 18U);
  for (const auto& [text, known] : kLsfExamples) EXPECT_EQ(seen[text], 1) << text;
}

// As `tasks` of a role: the group is taken, and its notes name the field.
TEST(LsfStrings, AreTasksOfARole) {
  for (const auto& [text, known] : kLsfExamples) {
    const ManifestResult result = read_manifest(
        "kind: GangGroup\nmetadata: {name: g}\nspec:\n  roles:\n  - name: w\n    tasks: >-\n      " + text, "caller");
    ASSERT_THAT(lines_of(result.problems), testing::IsEmpty()) << text;
    std::vector<std::string> lines;
    for (const std::string& line : known.not_carried) lines.push_back("spec.roles[0].tasks: term " + line);
    EXPECT_EQ(result.not_carried, lines) << text;
    const ManifestResult again = read_manifest(write_manifest(result.groups.at(0)), "caller");
    EXPECT_THAT(lines_of(again.problems), testing::IsEmpty()) << text;
    EXPECT_THAT(again.not_carried, testing::IsEmpty()) << text;
    EXPECT_TRUE(again.groups.at(0).spec == result.groups.at(0).spec) << text;
  }
}

}  // namespace
}  // namespace lockstep
