#pragma once
// A second program beside the test: started with its standard input and output on pipes, killed and reaped at the end.

#include <sys/types.h>

#include <string>
#include <vector>

namespace lockstep::testing {

class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string read_line();  // waits for it; "" at the end of the output
  void kill();                            // SIGKILL, and waits
  [[nodiscard]] int finish();             // ends its input, and waits; its exit status

 private:
  [[nodiscard]] int reap();
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
};

}  // namespace lockstep::testing
