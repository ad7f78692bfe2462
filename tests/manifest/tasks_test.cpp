// The short form of `tasks`: what each term becomes, what of LSF's is named as not carried, what is refused with which
// words, and that a message stays one short printable line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<TaskTerm> tasks_of(std::string_view text) {
  auto tasks = parse_tasks(text);
  EXPECT_TRUE(tasks) << text << ": " << tasks.error().message;
  EXPECT_TRUE(!tasks || tasks->not_carried.empty()) << text << ": " << tasks->not_carried.front();
  return tasks ? tasks->terms : std::vector<TaskTerm>{};
}

TEST(Tasks, OfTheShortFormAreRead) {
  EXPECT_THAT(tasks_of("1*{cpu=4 mem=8Gi}"), ElementsAre(TaskTerm{1, {{"cpu", 4000}, {"mem", 8 * kGi}}, {}, 0, 0}));
  EXPECT_THAT(tasks_of("{cpu=500m}"), ElementsAre(TaskTerm{1, {{"cpu", 500}}, {}, 0, 0}));
  EXPECT_THAT(tasks_of("{}"), ElementsAre(TaskTerm{}));
  EXPECT_THAT(tasks_of(" 2 * { mem = 1Gi  cpu= 1 }+{gpu=1 license.matlab=1} "),
              ElementsAre(TaskTerm{2, {{"cpu", 1000}, {"mem", kGi}}, {}, 0, 0},
                          TaskTerm{1, {{"gpu", 1}, {"license.matlab", 1}}, {}, 0, 0}));
  EXPECT_THAT(tasks_of("1*{cpu=4} + 4*{select[model==h100] rusage[gpu=1:mem=4Gi] span[ptile=2]}"),
              ElementsAre(TaskTerm{1, {{"cpu", 4000}}, {}, 0, 0},
                          TaskTerm{4, {{"gpu", 1}, {"mem", 4 * kGi}}, {{"model", "h100"}}, 2, 0}));
  EXPECT_THAT(tasks_of("8*{cpu=1 span[hosts=1]}"), ElementsAre(TaskTerm{8, {{"cpu", 1000}}, {}, 0, 1}));
  EXPECT_THAT(tasks_of("{select[((b==2) && (a=='x y'))]}"),
              ElementsAre(TaskTerm{1, {}, {{"a", "x y"}, {"b", "2"}}, 0, 0}));
  EXPECT_THAT(tasks_of("{select[LN && type==any] span [ptile = 3]}"),
              ElementsAre(TaskTerm{1, {}, {{"LN", "true"}}, 3, 0}));
}

TEST(Tasks, OfLsfMayStandWithoutBraces) {
  EXPECT_THAT(tasks_of("span[ptile=1]"), ElementsAre(TaskTerm{1, {}, {}, 1, 0}));
  EXPECT_THAT(tasks_of(" select[LN] rusage [ mem = 4Gi : cpu = 2 ]span[hosts=1]\n"),
              ElementsAre(TaskTerm{1, {{"cpu", 2000}, {"mem", 4 * kGi}}, {{"LN", "true"}}, 0, 1}));
}

TEST(Tasks, NameWhatIsNotCarried) {
  const std::string instead = ": use an attribute of the hosts wanted";
  struct Case {
    std::string_view text;
    std::vector<std::string> lines;
  };
  for (const Case& c : {
           Case{"{order[-slots:r1m]}", {"term 1: order[-slots:r1m] is not carried"}},
           Case{"{same[model]}", {"term 1: same[model] is not carried: use select with the value wanted"}},
           Case{"{cu[ type=rack ]}", {"term 1: cu[type=rack] is not carried: use topology"}},
           Case{"affinity[core(2)]", {"term 1: affinity[core(2)] is not carried: ask for cores with cpu"}},
           Case{"{select[hname == n1]}", {"term 1: select[hname == n1] is not carried" + instead}},
           Case{"{select[hname=='n $1']}", {"term 1: select[hname=='n $1'] is not carried" + instead}},
           Case{"{select[(a != b)&& ! c &&d]}",
                {"term 1: select[a != b] is not carried" + instead, "term 1: select[! c] is not carried" + instead}},
           Case{"{cpu=1} + {cu[a=b] order[slots] cpu=2} + {order[mem]}",
                {"term 2: cu[a=b] is not carried: use topology", "term 2: order[slots] is not carried",
                 "term 3: order[mem] is not carried"}},
       }) {
    const auto tasks = parse_tasks(c.text);
    ASSERT_TRUE(tasks) << c.text << ": " << tasks.error().message;
    EXPECT_EQ(tasks->not_carried, c.lines) << c.text;
  }
  EXPECT_THAT(parse_tasks("4*{cpu=2 select[a==b && c!=d && hname!=n1 && e] order[mem] span[ptile=2]}")->terms,
              ElementsAre(TaskTerm{4, {{"cpu", 2000}}, {{"a", "b"}, {"e", "true"}}, 2, 0}));
}

TEST(Tasks, AreRefusedWithTheReason) {
  struct Case {
    std::string_view text;
    std::string_view message;
  };
  for (const Case& c : {
           Case{"", "an empty task request"},
           Case{"  ", "an empty task request"},
           Case{"cpu=4", "term 1: \"cpu=4\" is not of the form N*{...}"},
           Case{"2{cpu=4}", "term 1: no * after the count 2"},
           Case{"2*cpu", "term 1: no { after 2*"},
           Case{"2*", "term 1: no { after 2*"},
           Case{"{cpu=1", "term 1: a { without its }"},
           Case{"{cpu=1}}", "no + at \"}\""},
           Case{"{cpu=1} {cpu=1}", "no + at \"{cpu=1}\""},
           Case{"{cpu=1}+", "term 2: \"\" is not of the form N*{...}"},
           Case{"0*{cpu=1}", "term 1: the count is 0"},
           Case{"-1*{cpu=1}", "term 1: the count \"-1\" is not a whole number"},
           Case{"1.5*{cpu=1}", "term 1: the count \"1.5\" is not a whole number"},
           Case{"100001*{cpu=1}", "term 1: the count 100001 is more than 100000"},
           Case{"99999999999999999999*{cpu=1}", "term 1: the count 99999999999999999999 is more than 100000"},
           Case{"{cpu=1} + ${cores}*{cpu=1}", "the shell variable $cores is not known here: write its value"},
           Case{"$n*{cpu=1}", "the shell variable $n is not known"},
           Case{"{span[ptile=${n}]}", "the shell variable $n is not known"},
           Case{"{select[model=='a b' && rack==$rack]}", "the shell variable $rack is not known"},
           Case{"$((2*3))*{cpu=1}", "the shell variable $ is not known"},
           Case{"{cpu}", "\"cpu\" is neither name=value nor section[...]"},
           Case{"{=4}", "neither name=value nor section[...] at \"=4\""},
           Case{"{cpu=}", "cpu: \"\" is not a quantity"},
           Case{"{cpu=1 cpu=2}", "cpu is given twice"},
           Case{"{cpu=1 rusage[cpu=2]}", "rusage[cpu=2]: cpu is given twice"},
           Case{"{gpu=0}", "gpu: a request of 0, leave it out"},
           Case{"{gpu=-1}", "gpu: \"-1\" is negative"},
           Case{"{gpu=9999999999999999999}", "gpu: \"9999999999999999999\" is more than a counter holds"},
           Case{"{span[ptile=0]}", "span[ptile=0]: ptile is 0"},
           Case{"{span[ptile=x]}", "span[ptile=x]: ptile \"x\" is not a whole number"},
           Case{"{span[hosts=2]}", "span[hosts=2]: only ptile=n and hosts=1 are supported"},
           Case{"{span[block=4]}", "span[block=4]: only ptile=n and hosts=1 are supported"},
           Case{"{rusage[mem]}", "rusage[mem]: \"mem\" is not name=value"},
           Case{"{span[ptile=2] span[ptile=3]}", "span[ptile=3]: ptile is given twice"},
           Case{"{rusage[=4]}", "rusage[=4]: \"=4\" is not name=value"},
           Case{"{rusage[m{m=4]}", "rusage[m{m=4]: \"m{m=4\" is not name=value"},
           Case{"{rusage[mem=4:]}", "rusage[mem=4:]: \"\" is not name=value"},
           Case{"{rusage[mem=4,gpu=1]}", "mem: \"4,gpu=1\" is not a quantity"},
           Case{"{cus[type=rack]}",
                "cus[type=rack]: no section has this name: only select, order, rusage, span, same, cu and affinity"},
           Case{"{cu}", "\"cu\" is neither name=value nor section[...]"},
           Case{"{cu[type=rack}", "cu[ without its ]"},
           Case{"span[ptile=1", "term 1: span[ without its ]"},
           Case{"span[ptile=1] cpu=4", "term 1: \"cpu\" is neither name=value nor section[...]"},
           Case{"span[ptile=1] + {cpu=4}", "term 1: neither name=value nor section[...] at \"+ {cpu=4}\""},
           Case{"{cpu=4} + span[ptile=1]", "term 2: \"span[ptile=1]\" is not of the form N*{...}"},
           Case{"2*span[ptile=1]", "term 1: no { after 2*"},
           Case{"{select[a==b}", "select[ without its ]"},
           Case{"{select[a==b || c==d]}",
                "select[a==b || c==d]: the operator at \"|| c==d\" is not supported: only ==, !=, ! and &&"},
           Case{"{select[hname!=n1 || a]}", "the operator at \"|| a\" is not supported"},
           Case{"{select[mem>4]}", "the operator at \">4\" is not supported"},
           Case{"{select[a \xe2\x89\xa0 b]}", "the operator at \"\xe2\x89\xa0 b\" is not supported"},
           Case{"{select[!(a && b)]}", "the operator ! is not supported: only before a name alone"},
           Case{"{select[!!a]}", "the operator ! is not supported: only before a name alone"},
           Case{"{select[!a==b]}", "the operator ! is not supported: only before a name alone"},
           Case{"{select[a!=]}", "\"a\" is compared with nothing"},
           Case{"{select[hname==]}", "\"hname\" is compared with nothing"},
           Case{"{select[(a==b]}", "a ( without its )"},
           Case{"{select[a==b)]}", "the operator at \")\" is not supported"},
           Case{"{select[a==]}", "\"a\" is compared with nothing"},
           Case{"{select[a=='b]}", "a quote that does not end"},
           Case{"{select[a==b && a==c]}", "\"a\" is compared twice"},
           Case{"{select[]}", "no condition at \"\""},
       }) {
    const auto terms = parse_tasks(c.text);
    ASSERT_FALSE(terms) << c.text;
    EXPECT_THAT(terms.error().message, HasSubstr(c.message)) << c.text;
  }
}

TEST(Tasks, OfAnyLengthAreSpokenOfInOneShortLine) {
  const std::string words(60'000, 'w');
  const std::string digits(60'000, '9');
  for (const std::string& text : {
           words,
           "{" + words,
           "{" + words + "}",
           "{" + words + "=}",
           "{" + words + "=1}",
           "{" + words + "[x]}",
           "{" + words + "[}",
           digits + "*{}",
           "{gpu=" + digits + "}",
           "{gpu=" + words + "}",
           "{span[ptile=" + digits + "]}",
           "{span[" + words + "]}",
           "{rusage[" + words + "]}",
           "{rusage[" + words + "=1]}",
           "{select[" + words + " " + words + "]}",
           "{select[" + words + "==]}",
           "{select[a<" + words + "]}",
           std::string("{select[\n\n\na\n>\nb]}"),
           "${" + words + "}*{}",
           "{}" + words,
           "{select[" + words + " && " + words + "]}",
       }) {
    const auto tasks = parse_tasks(text);
    ASSERT_FALSE(tasks) << text.substr(0, 20);
    const std::string& message = tasks.error().message;
    EXPECT_LE(message.size(), 300U) << text.substr(0, 20);
    EXPECT_TRUE(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; })) << message;
  }
  for (const std::string& text : {"{cu[\n" + words + "]}", "{select[hname!=\n" + words + "]}"}) {
    const auto tasks = parse_tasks(text);
    ASSERT_TRUE(tasks) << tasks.error().message;
    const std::string& line = tasks->not_carried.at(0);
    EXPECT_LE(line.size(), 300U);
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; })) << line;
  }
}

TEST(Tasks, AreBounded) {
  std::string terms = "{}";
  for (int i = 1; i < 16; ++i) terms += "+{}";
  EXPECT_EQ(tasks_of(terms).size(), 16U);
  EXPECT_FALSE(parse_tasks(terms + "+{}"));
  std::string counters = "{";
  for (int i = 0; i < 65; ++i) counters += "c" + std::to_string(i) + "=1 ";
  EXPECT_THAT(parse_tasks(counters + "}").error().message, HasSubstr("more than 64 counters"));
  EXPECT_THAT(parse_tasks("{select[" + std::string(10'000, '(') + "]}").error().message,
              HasSubstr("too many parentheses"));
  EXPECT_THAT(parse_tasks(std::string(70'000, ' ')).error().message, HasSubstr("more than 65536 bytes"));
}

}  // namespace
}  // namespace lockstep
