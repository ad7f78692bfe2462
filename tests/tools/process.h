#pragma once
// Other processes, for tests that see the command as a script does. A child never outlives the test.

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::testing {

// The built command.
[[nodiscard]] std::string lockstep_binary();

struct Ran {
  int status{};  // exit status; 128 + signal when one ended it
  std::string out;
  std::string err;
};

// Runs it to its end. `input` goes to its standard input.
[[nodiscard]] Ran run(const std::vector<std::string>& arguments, const std::string& input = {});
// The same of `lockstep ARGUMENTS...`.
[[nodiscard]] Ran lockstep(std::vector<std::string> arguments, const std::string& input = {});

// A process that goes on beside the test, its output in files.
class Child {
 public:
  Child() = default;
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& out, const std::filesystem::path& err);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // kills

  void signal(int number) const;
  // Until it ends; its status as in Ran.
  int wait();
  [[nodiscard]] bool running();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

// A fresh directory, removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes a file in it; its path.
  std::string file(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string read_text(const std::filesystem::path& path);

}  // namespace lockstep::testing
