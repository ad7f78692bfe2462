// Names, and the hash by which specs are shared: it changes with every field, and never between releases or machines.

#include "events/spec.h"

#include <set>

#include "tests/events/filler.h"

namespace lockstep {
namespace {

TEST(Names, AreLowercaseLettersDigitsHyphensAndDots) {
  EXPECT_TRUE(is_name("llama-pretrain"));
  EXPECT_TRUE(is_name("n001.cluster-2"));
  EXPECT_TRUE(is_name("-"));
  EXPECT_TRUE(is_name(std::string(253, 'a')));
  EXPECT_FALSE(is_name(""));
  EXPECT_FALSE(is_name(std::string(254, 'a')));
  for (const char* text : {"A", "a b", "a/b", "a_b", "a\n", "\xc3\xa4", "a*", "[1]"})
    EXPECT_FALSE(is_name(text)) << text;
  EXPECT_FALSE(is_name(std::string_view("a\0b", 3)));
}

TEST(Names, OfLevelsAreAsOtherSystemsHaveThem) {
  for (const char* text : {"DSW", "rack_1", "example.com:block", "a,b"}) EXPECT_TRUE(is_level_name(text)) << text;
  for (const char* text : {"", "a/b", "a b", "\xc3\xa9"}) EXPECT_FALSE(is_level_name(text)) << text;
  const auto said = [](const std::vector<std::string>& levels) {
    const auto problems = validate_levels(levels);
    return problems.empty() ? std::string{} : problems.front().path + ": " + problems.front().text;
  };
  EXPECT_EQ(said({"DSW", "rack_1"}), "");
  EXPECT_EQ(said({"DSW", "a/b"}), "levels[1]: 'a/b' is not the name of a level: printable, no space, no /");
  EXPECT_EQ(said({"host"}), "levels[0]: host is always the last level; leave it out");
  EXPECT_EQ(said({"a", "a"}), "levels[1]: 'a' is there twice");
  EXPECT_EQ(said(std::vector<std::string>(17, "a")), "levels: 17 entries are more than 16");
}

TEST(ContentHash, IsTheOneThatLogsInTheFieldHold) {
  // The first was also computed apart, from the table in FORMAT.md: sha256sum of the byte 01 and the field walk.
  EXPECT_EQ(content_hash(GroupSpec{}), (SpecHash{0x7b2e51a4cb318596, 0x9f3ab5f7b0cabd96}));
  GroupSpec filled;
  filler::Counting counting;
  filler::fill(counting, filled);
  EXPECT_EQ(content_hash(filled), (SpecHash{0x5183c55b50289d3c, 0xa56626a23090ba87}));
}

// Changes one leaf after the other, and back.
template <class T, class Visit>
void each_leaf(T& value, const Visit& visit) {
  if constexpr (WalkVector<T>) {
    visit([&] { value.emplace_back(); }, [&] { value.pop_back(); });
    for (auto& element : value) each_leaf(element, visit);
  } else if constexpr (Described<T>) {
    for_each_field(value, [&](std::string_view, auto& field) { each_leaf(field, visit); });
  } else {
    const T before = value;
    visit(
        [&] {
          filler::Counting counting;
          filler::fill(counting, value);
        },
        [&] { value = before; });
  }
}

TEST(ContentHash, ChangesWithEveryField) {
  GroupSpec spec;
  filler::Counting counting;
  filler::fill(counting, spec);
  std::set<SpecHash> seen{content_hash(spec)};
  std::size_t leaves = 0;
  each_leaf(spec, [&](const auto& change, const auto& back) {
    change();
    EXPECT_TRUE(seen.insert(content_hash(spec)).second) << "leaf " << leaves;
    back();
    ++leaves;
  });
  EXPECT_GT(leaves, 100U);
  EXPECT_TRUE(seen.contains(content_hash(spec)));
}

}  // namespace
}  // namespace lockstep
