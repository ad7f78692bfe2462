// The `lockstep` command: parses the line, does the one thing it asks for, and ends with the status and the one error
// line that scripts rely on (DESIGN.md section 7).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>

#include "tools/lockstep/output.h"
#include "tools/lockstep/verbs.h"

namespace lockstep::cli {
namespace {

int complain(const Failure& failure) {
  std::fputs((error_line(failure) + "\n").c_str(), stderr);
  return failure.exit;
}

constexpr const char* kSeeHelp = "; see 'lockstep --help' or 'lockstep VERB --help'";

// What was printed counts only when it is written.
int end(const Outcome<void>& outcome) {
  const auto written = finish_output();
  if (!outcome) return complain(outcome.error());
  return written ? 0 : complain(written.error());
}

tl::unexpected<Failure> unknown(const CLI::App& app) {
  std::string words;
  for (const auto& word : app.remaining(true)) words += (words.empty() ? "" : " ") + word;
  return usage(words + ": not known here" + kSeeHelp);
}

// What nobody knows makes no sense also when it is followed by --help.
Outcome<void> help(const CLI::App& app, const CLI::Success& asked) {
  if (app.remaining_size(true) > 0) return unknown(app);
  (void)app.exit(asked);
  return {};
}

int run(int argc, char** argv) {
  CLI::App app("Gang groups: placed together or not at all, started behind a barrier, failed by a policy", "lockstep");
  app.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION);
  app.footer(
      "A GROUP is given by its name (the latest of that name) or by its id, as '#4' or 4. Options may stand before or "
      "after the verb.\n"
      "Exit status: 0 done, 1 the answer is no, 2 usage, 3 damaged data, 4 storage failed or outcome unknown, 5 not "
      "the "
      "leader.");
  Session session;
  app.add_option("-o,--output", session.output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORM");
  app.fallthrough();
  add_store_option(app, session);
  add_submit_verbs(app, session);
  add_group_verbs(app, session);
  add_cluster_verbs(app, session);
  add_store_verbs(app, session);
  add_log_verbs(app, session);
  add_scenario_verbs(app, session);
  add_run_verbs(app, session);
  add_doctor_verbs(app, session);
  add_bench_verbs(app, session);
  add_later_verbs(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return end(help(app, asked));
  } catch (const CLI::ExtrasError&) {
    return end(unknown(app));
  } catch (const CLI::ParseError& error) {
    return complain({"Usage", std::string(error.what()) + kSeeHelp, kExitUsage});
  }
  return end(perform(session));
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  lockstep::cli::prepare_standard_files();
  try {
    return lockstep::cli::run(argc, argv);
  } catch (const nlohmann::json::exception&) {
    return lockstep::cli::complain(
        {"StorageFailed", "the controller's answer has not the form that this release knows: use one release for both",
         4});
  } catch (const std::bad_alloc&) {
    return lockstep::cli::complain({"StorageFailed", "no memory is left for this: free some and try again", 4});
  } catch (const std::exception& error) {
    return lockstep::cli::complain({"StorageFailed", error.what(), 4});
  }
}
