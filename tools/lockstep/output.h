#pragma once
// Standard output and standard error of the command. Nothing printed is lost in silence: what could not be written is
// remembered, and main() asks once at the end.

#include <string>

#include "tools/lockstep/outcome.h"

namespace lockstep::cli {

// First thing of all. A closed standard file would be the number of the next file that is opened, of the store's, say;
// and a file that may not grow any more (ulimit -f) is an error to tell, not one to die of.
void prepare_standard_files();

void print(const std::string& text);
// Everything printed is out. After a failure nothing more can be.
bool flush_output();
// Whether something could not be written already.
[[nodiscard]] bool output_lost();
// StorageFailed when something printed could not be written.
[[nodiscard]] Outcome<void> finish_output();

// "lockstep: CODE: MESSAGE" on standard error, for what is to be known and is no error.
void note(const std::string& code, const std::string& message);
// The same for somebody who sits there and waits: only on a terminal.
void note_on_terminal(const std::string& code, const std::string& message);

}  // namespace lockstep::cli
