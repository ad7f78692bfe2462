// scenario: the executable specification.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "tools/lockstep/text.h"
#include "tools/lockstep/verbs.h"
#include "tools/scenario/scenario.h"

namespace lockstep::cli {
namespace {

struct Asked {
  std::vector<std::string> files;
  std::string store{"memory"};
  std::string directory;
  bool standby{false};
  ScenarioOptions options{};
};

// What did not hold has been printed line by line; the exit status of the worst file is what is left to say.
Outcome<void> run(const Asked& asked) {
  if (asked.standby) return refuse(not_yet("scenario --standby"));
  ScenarioOptions options = asked.options;
  options.store = asked.store == "lmdb" ? ScenarioStore::Lmdb : ScenarioStore::Memory;
  if (!asked.directory.empty() && asked.store != "lmdb") return usage("--dir needs --store lmdb");
  int status = 0;
  std::optional<ErrorCode> code;
  std::uint64_t failed = 0;
  std::uint64_t expectations = 0;
  std::uint64_t events = 0;
  for (const auto& file : asked.files) {
    if (!asked.directory.empty()) {
      const std::filesystem::path kept(asked.directory);
      options.directory = asked.files.size() == 1 ? kept : kept / std::filesystem::path(file).stem();
    }
    const auto result = run_scenario(file, options, std::cout);
    std::cout.flush();
    for (const auto& failure : result.failures) print(failure + "\n");
    if (result.status > status) {
      status = result.status;
      code = result.code;
    }
    failed += result.status != 0 ? 1U : 0U;
    expectations += result.expectations;
    events += result.events;
  }
  if (status == 0) {
    print(fmt::format("{}, {}, {}: all held\n", counted(asked.files.size(), "scenario"),
                      counted(expectations, "expectation"), counted(events, "event")));
    return {};
  }
  const std::string_view what = status == kExitUsage ? "some cannot be read or do not parse"
                                : code               ? "some could not be run"
                                : status == kExitNo  ? "some expectations did not hold"
                                                     : "the store could not be used";
  const std::string_view word = code ? name(*code) : status == kExitNo ? "Violated" : name(ErrorCode::StorageFailed);
  return refuse(Failure{std::string(word),
                        fmt::format("{} of {} scenarios: {}, see above", failed, asked.files.size(), what), status});
}

}  // namespace

void add_scenario_verbs(CLI::App& app, Session& session) {
  auto asked = std::make_shared<Asked>();
  CLI::App& verb = add_verb(app, session, "scenario", "Run scenario files against the controller core",
                            [asked] { return run(*asked); });
  verb.add_option("FILE", asked->files, "Scenario files")->required();
  verb.add_option("--store", asked->store, "Where the log is kept")->check(CLI::IsMember({"memory", "lmdb"}));
  verb.add_option("--dir", asked->directory, "Keep the LMDB store there")->type_name("DIR");
  verb.add_flag("--crash-everywhere", asked->options.crash_everywhere, "Crash and recover after every step");
  verb.add_flag("--standby", asked->standby, "A standby follows (not yet)");
  verb.add_flag("--check,!--no-check", asked->options.check, "Check the invariants after every event (default on)");
  verb.add_flag("--trace", asked->options.trace, "Print the events of each step");
  verb.add_flag("--rewrite", asked->options.rewrite, "Replace the expected traces by what happened");
}

}  // namespace lockstep::cli
