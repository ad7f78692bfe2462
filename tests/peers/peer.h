#pragma once
// Tables of other systems' tests, run through the product: each case is told as a scenario whose expectations are what
// the peer expects, and where Lockstep does something else a rule of its design has to say so. A difference that no
// rule explains fails the test, and so does a rule that explains nothing any more.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/scenario_fixture.h"

namespace lockstep {

using Json = nlohmann::json;

// The value at the end of a path of keys; null where one of them is absent, as the tables leave out what is zero.
template <class... Keys>
const Json& at(const Json& json, const Keys&... keys) {
  static const Json kNull;
  const Json* value = &json;
  const auto step = [&](const std::string& key) {
    if (!value->is_object() || !value->contains(key)) return value = &kNull;
    return value = &value->at(key);
  };
  (step(keys), ...);
  return *value;
}
std::string text_at(const Json& json, const std::string& key);
std::uint64_t number_at(const Json& json, const std::string& key, std::uint64_t absent = 0);

// One case in the language of scenarios, and what of it that language has no words for.
struct Story {
  std::string text{};
  std::vector<std::string> not_said{};
  // For what no expectation says: the events of the run, one a line, to what differs from the peer.
  std::function<std::vector<std::string>(const std::string& events)> look{};

  void line(std::string_view text_line) { (text += text_line) += '\n'; }
  void cannot_say(std::string_view what) { not_said.push_back("cannot say: " + std::string(what)); }
};

struct RoleLine {
  std::string name;
  std::uint64_t replicas{1};
  std::string more{};  // further keys, each after a comma
  std::string tasks{"cpu=1"};
};
// The manifest of a group as a block for `run` or `define`; `spec` is further lines, two spaces in.
std::string group_block(const std::vector<RoleLine>& roles, std::string_view spec, std::string_view name = "g");

// A rule of Lockstep that has it do something else than the peer. A `*` at the end stands for any rest.
struct Difference {
  std::string_view rule;
  std::string_view why;
  std::vector<std::string_view> cases;  // by name, or by test: all of its cases
  std::vector<std::string_view> seen;   // what differs: "expected ..., got ..." or "cannot say: ..."
};

class Peers : public Scenario {
 protected:
  void compare(std::string_view table, const std::function<Story(const Json& entry)>& tell,
               const std::vector<Difference>& differences);

 private:
  std::vector<std::string> differences_of(const Story& story, const std::string& name);
};

}  // namespace lockstep
