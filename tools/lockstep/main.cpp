// The `lockstep` command: parses the line, does the one thing it asks for, and ends with the status and the one error
// line that scripts rely on (DESIGN.md section 7).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/lockstep/verbs.h"

namespace lockstep::cli {
namespace {

int complain(const Failure& failure) {
  std::fputs((error_line(failure) + "\n").c_str(), stderr);
  return failure.exit;
}

int run(int argc, char** argv) {
  CLI::App app("Gang groups: placed together or not at all, started behind a barrier, failed by a policy", "lockstep");
  app.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION);
  Session session;
  app.add_option("-o,--output", session.output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORM");
  app.require_subcommand(1);
  app.fallthrough();
  add_submit_verbs(app, session);
  add_group_verbs(app, session);
  add_cluster_verbs(app, session);
  add_store_verbs(app, session);
  add_log_verbs(app, session);
  add_scenario_verbs(app, session);
  add_run_verbs(app, session);
  add_later_verbs(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(
        {"Usage", std::string(error.what()) + "; see 'lockstep --help' or 'lockstep VERB --help'", kExitUsage});
  }
  const auto outcome = session.action();
  return outcome ? 0 : complain(outcome.error());
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  try {
    return lockstep::cli::run(argc, argv);
  } catch (const std::exception& error) {  // no memory, for one
    return lockstep::cli::complain({"StorageFailed", error.what(), 4});
  }
}
