#include "tools/lockstep/verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/lockstep/service.h"

namespace lockstep::cli {

CLI::App& add_verb(CLI::App& parent, Session& session, const std::string& name, const std::string& help,
                   std::function<Outcome<void>()> action) {
  CLI::App* verb = parent.add_subcommand(name, help);
  verb->callback([verb, &session, action = std::move(action)] {
    if (verb->get_subcommands().empty()) session.action = action;
  });
  return *verb;
}

void add_store_option(CLI::App& verb, std::string& store) {
  verb.add_option("--store", store, "Store directory, which is also the address of the controller that runs on it")
      ->required()
      ->envname("LOCKSTEP_STORE")
      ->type_name("DIR");
}

Failure not_yet(const std::string& what) {
  return Failure{"NotYet", what + ": is known, and not there yet in this release", kExitUsage};
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Outcome<void> show(const Session& session, const Outcome<Json>& json, std::string (*text)(const Json&)) {
  if (!json) return refuse(json.error());
  print(session.json() ? to_text(*json, 2) + "\n" : text(*json));
  return {};
}

}  // namespace lockstep::cli
