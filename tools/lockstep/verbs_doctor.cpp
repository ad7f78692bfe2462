// doctor: what is wrong with a store or its place, and what to do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/lockstep/doctor.h"
#include "tools/lockstep/json.h"
#include "tools/lockstep/text.h"
#include "tools/lockstep/times.h"
#include "tools/lockstep/verbs.h"

namespace lockstep::cli {
namespace {

std::string doctor_text(const Json& findings) {
  std::string text;
  for (const Json& finding : findings) {
    text += printable(fmt::format("{:<8} {:<11} {}", finding.at("health").get<std::string>(),
                                  finding.at("about").get<std::string>(), finding.at("text").get<std::string>())) +
            "\n";
    const std::string advice = finding.at("advice").get<std::string>();
    if (!advice.empty()) text += printable(fmt::format("{:<20} -> {}", "", advice)) + "\n";
  }
  return text;
}

const char* word(Health health) {
  return health == Health::Good ? "good" : health == Health::Warning ? "warning" : "wrong";
}

Outcome<void> doctor(const Session& session, const std::string& directory) {
  std::vector<Finding> findings = examine_place(directory);
  const auto store = open_store(directory, OpenMode::ReadOnly);
  if (store) {
    auto more = examine_store(*store, wall_clock());
    std::move(more.begin(), more.end(), std::back_inserter(findings));
  }
  Json json = Json::array();
  bool wrong = false;
  for (const Finding& finding : findings) {
    wrong = wrong || finding.health == Health::Wrong;
    json.push_back({{"about", finding.about},
                    {"health", word(finding.health)},
                    {"text", finding.text},
                    {"advice", finding.advice}});
  }
  if (auto shown = show(session, json, doctor_text); !shown) return shown;
  if (!store) return refuse(store.error());
  if (!wrong) return {};
  return refuse(Failure{"Unhealthy", fmt::format("{}: something is wrong: do what is advised", directory)});
}

}  // namespace

void add_doctor_verbs(CLI::App& app, Session& session) {
  auto directory = std::make_shared<std::string>();
  CLI::App& verb = add_verb(app, session, "doctor", "What is wrong with a store or its place, and what to do",
                            [&session, directory] { return doctor(session, *directory); });
  add_store_option(verb, session, *directory);
}

}  // namespace lockstep::cli
