#pragma once
// The verbs of the command, one file per family. Each registers its subcommands with CLI11; parsing one sets what
// main() is to do.

#include <functional>
#include <string>

#include "tools/lockstep/json.h"
#include "tools/lockstep/outcome.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

struct Session {
  std::string output{"text"};  // -o
  std::function<Outcome<void>()> action{};
  [[nodiscard]] bool json() const { return output == "json"; }
};

void add_group_verbs(CLI::App& app, Session& session);     // list show why history cancel suspend resume ...
void add_submit_verbs(CLI::App& app, Session& session);    // submit convert
void add_cluster_verbs(CLI::App& app, Session& session);   // hosts claims
void add_store_verbs(CLI::App& app, Session& session);     // init state snapshot recover
void add_log_verbs(CLI::App& app, Session& session);       // log
void add_scenario_verbs(CLI::App& app, Session& session);  // scenario
void add_run_verbs(CLI::App& app, Session& session);       // run
void add_later_verbs(CLI::App& app, Session& session);     // known, not there yet

// ---- what they share ----
// A subcommand that does `action` when it is the one on the command line.
CLI::App& add_verb(CLI::App& parent, Session& session, const std::string& name, const std::string& help,
                   std::function<Outcome<void>()> action);
void add_store_option(CLI::App& verb, std::string& store);
[[nodiscard]] Failure not_yet(const std::string& what);

void print(const std::string& text);
// JSON as asked for with -o json, else `text` of it.
[[nodiscard]] Outcome<void> show(const Session& session, const Outcome<Json>& json, std::string (*text)(const Json&));

}  // namespace lockstep::cli
