// Every message about a text is one printable line, whatever bytes the text holds: raw, after a backslash, as an escape
// of YAML, in keys, names, values, tags, anchors and directives.

#include <gmock/gmock.h>

#include "tests/manifest/support.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

// @ stands for the bytes.
constexpr std::string_view kManifests[] = {
    "@",
    "kind: @",
    "kind: \"@\"",
    "kind: \"\\@\"",
    "kind: \"\\\xc3\xa9\"",
    "kind: &@ x",
    "kind: *@",
    "kind: !@ x",
    "kind: !<@> x",
    "%YAML @\n---\nkind: x",
    "%YAML 1.@\n---\nkind: x",
    "%TAG @ @\n---\nkind: x",
    "kind: GangGroup\nmetadata: {name: \"@\", \"@\": 1}",
    "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, tasks: \"1*{c@pu=1}\"}]}",
    "kind: GangGroup\nmetadata: {name: g}\nspec: {roles: [{name: w, tasks: \"1*{select[@]} + @\"}], \"@\": {\"@\": 1}}",
    "kind: GangGroup\nmetadata: {name: g}\nspec: {runLimit: \"@\", resume: \"@\", failure: {exitCodes: \"@\"}}",
    "kind: JobSet\nmetadata: {name: j, \"@\": 1}\nspec: {\"@\": 1, replicatedJobs: [{name: \"@\", \"@\": 1}]}",
    "kind: Inventory\nlevels: [\"@\"]\npools: {\"@\": x}\nhosts: [{name: \"n[@]\", at: \"@\", \"@\": 1}]",
};

void expect_printable(const std::vector<Problem>& problems, const std::string& text) {
  for (const std::string& line : lines_of(problems)) EXPECT_TRUE(is_printable_line(line)) << line << "\nof " << text;
}

void expect_printable_of(const std::string& text) {
  const auto manifest = read_manifest(text, "ana");
  expect_printable(manifest.problems, text);
  for (const std::string& line : manifest.not_carried) EXPECT_TRUE(is_printable_line(line)) << line << "\nof " << text;
  expect_printable(read_inventory(text).problems, text);
}

TEST(Messages, AreOnePrintableLineWhateverTheTextHolds) {
  for (const std::string& bytes : hostile_bytes()) {
    std::string escaped;
    for (const char c : bytes) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
    for (const std::string_view text : kManifests) {
      expect_printable_of(with_bytes(text, bytes));
      expect_printable_of(with_bytes(text, escaped));
    }
  }
}

TEST(Messages, NameTheByteThatIsNotPrinted) {
  const auto message = [](std::string_view text) { return lines_of(read_manifest(text, "ana").problems).at(0); };
  EXPECT_EQ(message("kind: \"\\\r\""), "line 1, column 10: unknown escape character: \\x0d");
  EXPECT_EQ(message("kind: \"\\\xc3\xa9\""), "line 1, column 10: unknown escape character: \\xc3");
  EXPECT_EQ(one_line("a\x1b[0m\x7f\n\xff\xc3\xa9"), "a\\x1b[0m\\x7f\\x0a\\xff\xc3\xa9");
  EXPECT_EQ(one_line("\xc2\x9b\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xc2\xa0"),
            "\\xc2\\x9b\\xc2\\x85\\xe2\\x80\\xa8\\xe2\\x80\\xa9\xc2\xa0")
      << "controls and line ends of Unicode";
  EXPECT_EQ(one_line(one_line("\\\x01")), one_line("\\\x01"));
}

}  // namespace
}  // namespace lockstep
