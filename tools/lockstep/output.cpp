#include "tools/lockstep/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace lockstep::cli {
namespace {

int write_error = 0;  // of the first write that failed

void remember(int error) {
  if (write_error == 0) write_error = error != 0 ? error : EIO;
}

}  // namespace

void prepare_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Opened for the wrong direction, so that using it fails as it would have; nobody hears of standard error.
    (void)::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

void print(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) remember(errno);
}

bool flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0) remember(errno);
  if (std::ferror(stdout) != 0) remember(EIO);
  return write_error == 0;
}

bool output_lost() { return write_error != 0; }

Outcome<void> finish_output() {
  if (flush_output()) return {};
  return refuse(Error{
      ErrorCode::StorageFailed,
      fmt::format("standard output: {}: the answer is not all written, though what was asked for is done; make room, "
                  "or write elsewhere",
                  std::strerror(write_error))});
}

void note(const std::string& code, const std::string& message) {
  std::fputs((error_line(Failure{code, message, 0}) + "\n").c_str(), stderr);
}

void note_on_terminal(const std::string& code, const std::string& message) {
  if (::isatty(STDERR_FILENO) == 1) note(code, message);
}

}  // namespace lockstep::cli
