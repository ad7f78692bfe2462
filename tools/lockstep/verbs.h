#pragma once
// The verbs of the command, one file per family. Each registers its subcommands with CLI11; parsing one sets what
// main() is to do.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/lockstep/json.h"
#include "tools/lockstep/outcome.h"
#include "tools/lockstep/output.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep::cli {

struct Session {
  std::string output{"text"};       // -o
  std::vector<std::string> stores;  // every --store of the line
  std::map<const CLI::App*, std::string*> wants_store;
  const CLI::App* verb = nullptr;  // the one on the command line
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
void add_doctor_verbs(CLI::App& app, Session& session);    // doctor
void add_bench_verbs(CLI::App& app, Session& session);     // bench
void add_later_verbs(CLI::App& app, Session& session);     // known, not there yet

// ---- what they share ----
// A subcommand that does `action` when it is the one on the command line.
CLI::App& add_verb(CLI::App& parent, Session& session, const std::string& name, const std::string& help,
                   std::function<Outcome<void>()> action);
// Does what the line asks for, once it is parsed.
[[nodiscard]] Outcome<void> perform(Session& session);
// --store, which may stand at any place of the line, or LOCKSTEP_STORE.
void add_store_option(CLI::App& app, Session& session);
// The same; `store` is set before the verb's action, which is not called without.
void add_store_option(CLI::App& verb, Session& session, std::string& store);

// A whole number; anything else is refused with what was given and what is wanted: "--at 'x': is no seq; ...".
struct NumberRange {
  std::string what;  // "a seq"
  std::uint64_t least{};
  std::uint64_t most{UINT64_MAX};
};
[[nodiscard]] Outcome<std::uint64_t> parse_number_of(const std::string& name, const std::string& text,
                                                     const NumberRange& range);
CLI::Option* add_number(CLI::App& verb, const std::string& name, std::uint64_t& number, const NumberRange& range,
                        const std::string& help);
[[nodiscard]] NumberRange seqs();

[[nodiscard]] Failure not_yet(const std::string& what);

// JSON as asked for with -o json, else `text` of it.
[[nodiscard]] Outcome<void> show(const Session& session, const Outcome<Json>& json, std::string (*text)(const Json&));

}  // namespace lockstep::cli
