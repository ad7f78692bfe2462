#include "tests/peers/peer.h"

#include <algorithm>
#include <set>

namespace lockstep {
namespace {

const fs::path kTables = fs::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared" / "peer-tests";

bool fits(std::string_view pattern, std::string_view text) {
  if (!pattern.ends_with('*')) return pattern == text;
  pattern.remove_suffix(1);
  return text.starts_with(pattern);
}

bool names_case(std::string_view pattern, const Json& entry) {
  return fits(pattern, text_at(entry, "name")) || pattern == text_at(entry, "test");
}

// What the rules were needed for: which case, which difference.
class Account {
 public:
  explicit Account(const std::vector<Difference>& rules) : rules_(rules), cases_(rules.size()), seen_(rules.size()) {}

  bool explain(const Json& entry, std::size_t number, std::string_view difference) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (!any_names(rules_[i].cases, entry)) continue;
      for (const auto pattern : rules_[i].seen) {
        if (!fits(pattern, difference)) continue;
        cases_[i].insert(number);
        seen_[i].insert(pattern);
        return true;
      }
    }
    return false;
  }

  void check_all_needed(const Json& cases) const {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      for (const auto pattern : rules_[i].seen) {
        EXPECT_TRUE(seen_[i].contains(pattern)) << rules_[i].rule << "\n  explains nothing any more: " << pattern;
      }
      for (const auto pattern : rules_[i].cases) check_needed(i, pattern, cases);
    }
  }

  void print(std::string_view table, std::size_t cases, std::size_t same) const {
    std::cout << table << ": " << cases << " cases, " << same << " the same, " << cases - same << " explained\n";
    for (std::size_t i = 0; i < rules_.size(); ++i)
      std::cout << "  " << cases_[i].size() << "  " << rules_[i].rule << '\n';
  }

 private:
  static bool any_names(const std::vector<std::string_view>& patterns, const Json& entry) {
    return std::ranges::any_of(patterns, [&](std::string_view pattern) { return names_case(pattern, entry); });
  }

  void check_needed(std::size_t rule, std::string_view pattern, const Json& cases) const {
    bool found = false;
    for (std::size_t number = 0; number < cases.size(); ++number) {
      if (!names_case(pattern, cases[number])) continue;
      found = true;
      EXPECT_TRUE(cases_[rule].contains(number))
          << rules_[rule].rule << "\n  is not needed any more for " << cases[number].at("name");
    }
    EXPECT_TRUE(found) << rules_[rule].rule << "\n  there is no case " << pattern;
  }

  const std::vector<Difference>& rules_;
  std::vector<std::set<std::size_t>> cases_;
  std::vector<std::set<std::string_view>> seen_;
};

}  // namespace

std::string text_at(const Json& json, const std::string& key) {
  const Json& value = at(json, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::uint64_t number_at(const Json& json, const std::string& key, std::uint64_t absent) {
  const Json& value = at(json, key);
  return value.is_number() ? value.get<std::uint64_t>() : absent;
}

std::string group_block(const std::vector<RoleLine>& roles, std::string_view spec, std::string_view name) {
  std::string text = "<<EOF\nkind: GangGroup\nmetadata: {name: " + std::string(name) + "}\nspec:\n  roles:\n";
  for (const auto& role : roles) {
    text += "    - {name: " + role.name + ", replicas: " + std::to_string(role.replicas) + ", tasks: \"1*{" +
            role.tasks + "}\"" + role.more + "}\n";
  }
  return text + std::string(spec) + "EOF";
}

// Each once: a difference that a later step only meets again is the same one.
std::vector<std::string> Peers::differences_of(const Story& story, const std::string& name) {
  std::set<std::string> all(story.not_said.begin(), story.not_said.end());
  ScenarioOptions options;
  options.trace = story.look != nullptr;
  const auto result = run(story.text, options);
  EXPECT_NE(result.status, 2) << name << lines(result.failures) << '\n' << story.text;
  if (story.look) {
    for (const auto& difference : story.look(trace_.str())) all.insert(difference);
  }
  for (const auto& failure : result.failures) all.insert(failure.substr(failure.find(": ") + 2));
  return {all.begin(), all.end()};
}

void Peers::compare(std::string_view table, const std::function<Story(const Json& entry)>& tell,
                    const std::vector<Difference>& differences) {
  const fs::path path = kTables / (std::string(table) + ".json");
  if (!fs::exists(path)) GTEST_SKIP() << "no tests of a peer: " << path << " is not there";
  const Json cases = Json::parse(read_all(path)).at("cases");
  Account account(differences);
  std::size_t same = 0;
  for (std::size_t number = 0; number < cases.size(); ++number) {
    const Story story = tell(cases[number]);
    const std::string name = text_at(cases[number], "test") + ": " + text_at(cases[number], "name");
    const auto found = differences_of(story, name);
    if (found.empty()) ++same;
    for (const auto& difference : found) {
      EXPECT_TRUE(account.explain(cases[number], number, difference))
          << name << "\n  no rule explains: " << difference << '\n'
          << story.text;
    }
  }
  account.check_all_needed(cases);
  account.print(table, cases.size(), same);
}

}  // namespace lockstep
