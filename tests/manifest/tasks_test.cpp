// The short form of `tasks`: what each term becomes, what is refused with which words, and the compound -R strings of
// LSF users: each either reads, or the message names the section (or the condition) that we do not carry.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<TaskTerm> tasks_of(std::string_view text) {
  auto terms = parse_tasks(text);
  EXPECT_TRUE(terms) << text << ": " << terms.error().message;
  return terms ? *terms : std::vector<TaskTerm>{};
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
           Case{"${cores}*{cpu=1}", "term 1: the count \"$\" is not a whole number"},
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
           Case{"{cu[type=rack]}", "cu[type=rack]: this section is not supported: only select, rusage and span"},
           Case{"{order[-slots] select[a==b]}", "order[-slots]: this section is not supported"},
           Case{"{select[a==b}", "select[ without its ]"},
           Case{"{select[a!=b]}", "select[a!=b]: the operator != is not supported: only == and &&"},
           Case{"{select[a==b || c==d]}", "the operator || is not supported"},
           Case{"{select[mem>4]}", "the operator > is not supported"},
           Case{"{select[!vnode]}", "the operator ! is not supported"},
           Case{"{select[hname==n1]}", "the condition on hname is not supported"},
           Case{"{select[(a==b]}", "a ( without its )"},
           Case{"{select[a==b)]}", "the operator ) is not supported"},
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

// The strings come from batch scripts of LSF sites; the table says what becomes of each.
TEST(Tasks, OfLsfSitesReadOrNameWhatIsNotCarried) {
  struct Case {
    std::string_view text;
    std::string_view refused_for;  // "" = it reads
  };
  for (const Case& c : {
           Case{"64*{select[clx2s8260hdr] span[ptile=2]}", ""},
           Case{"1*{select[LN]} + 1344*{select[CN&&(hname!=c699c250)&&(type==any)]span[ptile=42]}", "hname"},
           Case{"1*{select[LN]}+1*{select[CN]span[ptile=1]cu[maxcus=1]}", "cu[maxcus=1]"},
           Case{"span[ptile=1]", "\"span[ptile=1]\" is not of the form N*{...}"},
           Case{"affinity[core(24):cpubind=core:distribute=pack]", "\"affinity[core(24)"},
           Case{"same[type:model]", "\"same[type:model]\""},
           Case{"order[hosts]", "\"order[hosts]\""},
           Case{"cu[type=rack]", "\"cu[type=rack]\""},
           Case{"1*{select[LN]} + ${cores}*{select[CN&&(type==any)]span[ptile=42]}", "the count \"$\""},
           Case{"1*{select[LN]span[hosts=1]} + 42*{select[CN]span[ptile=42]}", ""},
           Case{"1*{select[LN]span[hosts=1]} + 43008*{select[CN]order[!-slots:maxslots]span[ptile=42] }",
                "order[!-slots:maxslots]"},
           Case{"1*{select[((LN) && (type == any))] order[r15s:pg] span[hosts=1]}", "order[r15s:pg]"},
           Case{"1*{select[craylinux && !vnode]} + 1920*{select[craylinux && vnode]span[ptile=24]}",
                "select[craylinux && !vnode]: the operator !"},
           Case{"576*{select[craylinux && vnode] span [ptile=24]}", ""},
       }) {
    const auto terms = parse_tasks(c.text);
    EXPECT_EQ(terms.has_value(), c.refused_for.empty()) << c.text;
    if (!terms) {
      EXPECT_THAT(terms.error().message, HasSubstr(c.refused_for)) << c.text;
    }
  }
}

}  // namespace
}  // namespace lockstep
