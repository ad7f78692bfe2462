// Regular expressions over names: what they match, what is refused, and that std::regex agrees with them where both
// know a pattern, on random ones.

#include "tools/topology/pattern.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

TEST(Pattern, MatchesAnywhereUnlessItSaysOtherwise) {
  struct Case {
    std::string_view pattern;
    std::string_view name;
    bool matches;
  };
  for (const Case& c : {
           Case{"node", "my-node-1", true},
           Case{"^node", "my-node-1", false},
           Case{"node-[01]$", "node-1", true},
           Case{"node-[01]$", "node-2", false},
           Case{"^node-[0-9]+$", "node-42", true},
           Case{"^node-[0-9]+$", "node-", false},
           Case{"^(a|bc)*$", "abcbca", true},
           Case{"^(a|bc)*$", "abcb", false},
           Case{"^a.c$", "abc", true},
           Case{"^a\\.c$", "abc", false},
           Case{"^\\w{2,3}\\d$", "ab1", true},
           Case{"^\\w{2,3}\\d$", "a1", false},
           Case{"^a{2}$", "aa", true},
           Case{"^a{2}$", "aaa", false},
           Case{"^a{2,}$", "aaaaa", true},
           Case{"^(?:ab){0}c$", "c", true},
           Case{"^[^a-c]+$", "xyz", true},
           Case{"^[^a-c]+$", "xbz", false},
           Case{"^[]x-]+$", "x-", true},
           Case{"a+?b??$", "xaab", true},
           Case{"", "anything", true},
           Case{"^$", "", true},
           Case{"^$", "a", false},
           Case{"a|^$", "", true},
           Case{"(|a)b", "b", true},
           Case{"\\Aab\\z", "ab", true},
           Case{"^x$|^y$", "y", true},
           Case{"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
           Case{"^ab?", "a", true},
           Case{"^ab*c", "ac", true},
       }) {
    const auto pattern = Pattern::parse(c.pattern);
    ASSERT_TRUE(pattern) << c.pattern << ": " << pattern.error().message;
    EXPECT_EQ(pattern->matches(c.name), c.matches) << c.pattern << " " << c.name;
    EXPECT_TRUE(!c.matches || c.name.starts_with(pattern->prefix())) << c.pattern << " " << pattern->prefix();
  }
}

TEST(Pattern, KnowsWhatNamesBeginWith) {
  struct Case {
    std::string_view pattern;
    std::string_view prefix;
  };
  for (const Case& c : {Case{"^rack-1-n[0-9]", "rack-1-n"}, Case{"^rack", "rack"}, Case{"rack", ""},
                        Case{"^racks?", "rack"}, Case{"^a{0}b", ""}, Case{"^a|b", ""}, Case{"^(a)", ""}}) {
    EXPECT_EQ(Pattern::parse(c.pattern)->prefix(), c.prefix) << c.pattern;
  }
}

TEST(Pattern, IsRefusedWithTheReason) {
  struct Case {
    std::string pattern;
    std::string_view message;
  };
  for (const Case& c : {
           Case{"(a", "a ( without its )"},
           Case{"a)", "a ) without its ("},
           Case{"[a", "a [ without its ]"},
           Case{"[", "a [ without its ]"},
           Case{"*a", "nothing before the * to repeat"},
           Case{"a|*", "nothing before the * to repeat"},
           Case{"a{", "no count of at most 1000 after a {"},
           Case{"a{2,1}", "no count of at most 1000 after a {"},
           Case{"a{1001}", "no count of at most 1000 after a {"},
           Case{"((a{1000}){1000}){1000}", "the pattern is too large"},
           Case{"(?i)a", "(? is not supported, but for (?:"},
           Case{"\\bx", "\\b is not supported"},
           Case{"a\\", "a \\ at the end"},
           Case{"[z-a]", "the range z-a runs backwards"},
           Case{"[[:alpha:]]", "[: is not supported"},
           Case{"\xc3\xa9", "a byte that no name holds"},
           Case{std::string(2'000, 'a'), "a pattern of more than 1024 bytes"},
       }) {
    const auto pattern = Pattern::parse(c.pattern);
    ASSERT_FALSE(pattern) << c.pattern;
    EXPECT_EQ(pattern.error().message, c.message) << c.pattern;
  }
}

// Where in a name a pattern may have got to, from where it may have begun.
using Positions = std::set<std::size_t>;
using Matcher = std::function<Positions(const std::string&, const Positions&)>;
struct Known {
  std::string text;
  Matcher matcher;
};

Matcher byte_of(std::string_view bytes) {
  return [bytes](const std::string& name, const Positions& from) {
    Positions to;
    for (const std::size_t at : from) {
      if (at < name.size() && bytes.find(name[at]) != std::string_view::npos) to.insert(at + 1);
    }
    return to;
  };
}

Matcher repeated(Matcher one, std::size_t first, std::size_t last) {
  return [=](const std::string& name, Positions from) {
    for (std::size_t i = 0; i < first; ++i) from = one(name, from);
    Positions all = from;
    for (std::size_t i = first; i < last; ++i) {
      from = one(name, from);
      all.insert(from.begin(), from.end());
    }
    return all;
  };
}

Known random_pattern(Random& random, std::size_t depth);

Known random_atom(Random& random, std::size_t depth) {
  switch (random.upto(depth > 0 ? 6 : 4)) {
    case 0:
      return {"a", byte_of("a")};
    case 1:
      return {"b", byte_of("b")};
    case 2:
      return {"[^a]", byte_of("b1c")};
    case 3:
      return {".", byte_of("ab1c")};
    case 4:
      return {"\\d", byte_of("1")};
    default: {
      const Known left = random_pattern(random, depth - 1);
      const Known right = random_pattern(random, depth - 1);
      return {"(" + left.text + "|" + right.text + ")", [=](const std::string& name, const Positions& from) {
                Positions to = left.matcher(name, from);
                to.merge(right.matcher(name, from));
                return to;
              }};
    }
  }
}

Known random_pattern(Random& random, std::size_t depth) {
  struct Repeat {
    std::string_view text;
    std::size_t first;
    std::size_t last;
  };
  constexpr std::size_t kAlways = 8;  // longer than any name here
  static constexpr Repeat kRepeats[] = {{"", 1, 1},    {"*", 0, kAlways}, {"+", 1, kAlways}, {"?", 0, 1},
                                        {"{2}", 2, 2}, {"{1,2}", 1, 2},   {"{0}", 0, 0},     {"{2,}", 2, kAlways}};
  Known all{"", [](const std::string&, const Positions& from) { return from; }};
  for (std::uint64_t parts = random.upto(3); parts-- > 0;) {
    const Known atom = random_atom(random, depth);
    const Repeat& repeat = kRepeats[random.upto(7)];
    const Matcher before = all.matcher;
    const Matcher after = repeated(atom.matcher, repeat.first, repeat.last);
    all.text += atom.text + std::string(repeat.text);
    all.matcher = [=](const std::string& name, const Positions& from) { return after(name, before(name, from)); };
  }
  return all;
}

TEST(Pattern, MatchesWhatItsPartsMatch) {
  Random random;
  std::size_t matches = 0;
  for (int round = 0; round < 5'000; ++round) {
    const Known known = random_pattern(random, 2);
    const bool at_begin = random.chance();
    const bool at_end = random.chance();
    const std::string text = (at_begin ? "^(" : "(") + known.text + (at_end ? ")$" : ")");
    std::string name;
    for (std::uint64_t size = random.upto(6); size-- > 0;) name += "ab1c"[random.upto(3)];
    Positions from = {0};
    for (std::size_t at = 1; at <= name.size() && !at_begin; ++at) from.insert(at);
    const Positions to = known.matcher(name, from);
    const auto pattern = Pattern::parse(text);
    ASSERT_TRUE(pattern) << text << ": " << pattern.error().message;
    const bool wanted = at_end ? to.contains(name.size()) : !to.empty();
    ASSERT_EQ(pattern->matches(name), wanted) << text << " " << name;
    matches += wanted ? 1 : 0;
  }
  EXPECT_GT(matches, 500U);
}

}  // namespace
}  // namespace lockstep
