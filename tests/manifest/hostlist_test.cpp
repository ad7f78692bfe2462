// Hostlists as Slurm writes them: expansion, its bounds, what is refused, and that compressing what was expanded (or
// any list of names) gives a hostlist that expands to the same names in the same order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> expanded(std::string_view text) {
  auto names = expand_hostlist(text);
  EXPECT_TRUE(names) << text << ": " << names.error().message;
  return names ? *names : std::vector<std::string>{};
}

TEST(Hostlist, ExpandsAsSlurmDoes) {
  EXPECT_THAT(expanded("n1"), ElementsAre("n1"));
  EXPECT_THAT(expanded("n[1-3]"), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(expanded("n[08-11]"), ElementsAre("n08", "n09", "n10", "n11"));
  EXPECT_THAT(expanded("n[8-11]"), ElementsAre("n8", "n9", "n10", "n11"));
  EXPECT_THAT(expanded("n[99-101]"), ElementsAre("n99", "n100", "n101"));
  EXPECT_THAT(expanded("n[001-002,200]"), ElementsAre("n001", "n002", "n200"));
  EXPECT_THAT(expanded("n[3,1]"), ElementsAre("n3", "n1"));
  EXPECT_THAT(expanded("a,b[1-2],c"), ElementsAre("a", "b1", "b2", "c"));
  EXPECT_THAT(expanded("a , b"), ElementsAre("a", "b"));
  EXPECT_THAT(expanded("r[1-2]n[3-4]-ib"), ElementsAre("r1n3-ib", "r1n4-ib", "r2n3-ib", "r2n4-ib"));
  EXPECT_THAT(expanded("[1-2]"), ElementsAre("1", "2"));
  EXPECT_EQ(expanded("n[001-128]").size(), 128U);
  EXPECT_EQ(expanded("n[00000-99999]").size(), 100'000U);
}

TEST(Hostlist, IsRefusedWithTheReason) {
  struct Case {
    std::string_view text;
    std::string_view message;
  };
  for (const Case& c : {
           Case{"", "an empty name"},
           Case{"a,,b", "an empty name"},
           Case{"a,", "an empty name"},
           Case{"n[1-2", "a [ without its ]"},
           Case{"n1]", "a ] without its ["},
           Case{"n[]", "is not a number or a range"},
           Case{"n[1-]", "is not a number or a range"},
           Case{"n[a-b]", "is not a number or a range"},
           Case{"n[1-2-3]", "is not a number or a range"},
           Case{"n[[1-2]]", "is not a number or a range"},
           Case{"n[-1]", "is not a number or a range"},
           Case{"n[1, 2]", "a space in"},
           Case{"n[3-1]", "runs backwards"},
           Case{"n[8-010]", "different zero padding"},
           Case{"n1,n1", "\"n1\" is named twice"},
           Case{"n[1-3],n2", "\"n2\" is named twice"},
           Case{"n[0-1000000]", "more than 1000000 names"},
           Case{"n[1-999999999999999999]", "more than 1000000 names"},
           Case{"n[1-99999999999999999999]", "is not a number or a range"},
           Case{"a[1-1001]b[1-1000]", "more than 1000000 names"},
           Case{"a[1-999999]b[1-999999]c[1-999999]d[1-999999]", "more than 1000000 names"},
           Case{"a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]i[1]", "more than 8 brackets"},
       }) {
    const auto names = expand_hostlist(c.text);
    ASSERT_FALSE(names) << c.text;
    EXPECT_THAT(names.error().message, HasSubstr(c.message));
  }
}

TEST(Hostlist, WithALongNameIsRefusedBeforeItIsCopiedForEachHost) {
  const auto names = expand_hostlist(std::string(1'000'000, 'n') + "[1-1000000]");
  ASSERT_FALSE(names);
  EXPECT_THAT(names.error().message, HasSubstr("more than 253 bytes"));
  EXPECT_LT(names.error().message.size(), 200U);
  EXPECT_TRUE(expand_hostlist(std::string(250, 'n') + "[1-999]"));
  EXPECT_FALSE(expand_hostlist(std::string(250, 'n') + "[1-1000]"));
}

TEST(Hostlist, CompressesToTheShortForm) {
  EXPECT_EQ(compress_hostlist({}), "");
  EXPECT_EQ(compress_hostlist({"n1"}), "n1");
  EXPECT_EQ(compress_hostlist({"n1", "n2", "n3"}), "n[1-3]");
  EXPECT_EQ(compress_hostlist({"n001", "n002", "n200"}), "n[001-002,200]");
  EXPECT_EQ(compress_hostlist({"n9", "n10"}), "n[9-10]");
  EXPECT_EQ(compress_hostlist({"n09", "n10"}), "n[09-10]");
  EXPECT_EQ(compress_hostlist({"n3", "n1"}), "n[3,1]");
  EXPECT_EQ(compress_hostlist({"a", "n1", "n2", "b"}), "a,n[1-2],b");
  EXPECT_EQ(compress_hostlist({"n1-ib", "n2-ib", "n3"}), "n[1-2]-ib,n3");
}

// Names with shared prefixes, paddings and gaps, in any order.
TEST(Hostlist, OfAnyNamesExpandsToTheSameNames) {
  Random random;
  const std::vector<std::string> prefixes{"n", "n0", "gpu-", "r1n", ""};
  const std::vector<std::string> suffixes{"", "-ib", "x"};
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    std::uint64_t number = random.upto(120);
    for (std::uint64_t i = random.upto(12) + 1; i > 0; --i) {
      number = random.upto(3) == 0 ? random.upto(1100) : number + 1;
      std::string digits = std::to_string(number);
      if (random.upto(2) == 0) digits.insert(0, random.upto(3), '0');
      std::string name = prefixes[random.upto(4)] + digits + suffixes[random.upto(2)];
      if (seen.insert(name).second) names.push_back(std::move(name));
    }
    const auto again = expand_hostlist(compress_hostlist(names));
    ASSERT_TRUE(again) << compress_hostlist(names) << ": " << again.error().message;
    ASSERT_EQ(*again, names) << compress_hostlist(names);
  }
}

}  // namespace
}  // namespace lockstep
