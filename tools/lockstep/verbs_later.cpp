// Verbs that DESIGN.md section 7 promises and that come with later issues: known, so that a script learns "not yet"
// rather than "no such thing".
#include <CLI/CLI.hpp>

#include "tools/lockstep/verbs.h"

namespace lockstep::cli {

void add_later_verbs(CLI::App& app, Session& session) {
  for (const char* name : {"sim", "diff", "bisect", "whatif", "trace", "report", "agent"}) {
    CLI::App& verb = add_verb(app, session, name, "Not yet in this release",
                              [name]() -> Outcome<void> { return refuse(not_yet(name)); });
    verb.allow_extras();
    verb.fallthrough(false);
    verb.prefix_command();
  }
}

}  // namespace lockstep::cli
