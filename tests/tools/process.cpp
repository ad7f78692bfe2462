#include "tests/tools/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace lockstep::testing {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

// After fork: `in`, `out` and `err` become the standard three.
[[noreturn]] void become(const std::vector<std::string>& arguments, int in, int out, int err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) die("pipe2");
    read = ends[0];
    write = ends[1];
  }
};

// Feeds `input` and collects both outputs until they end.
void pump(const std::string& input, int in, int out, int err, Ran& ran) {
  std::size_t written = 0;
  std::array<pollfd, 3> fds{{{in, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}}};
  while (fds[1].fd >= 0 || fds[2].fd >= 0) {
    if (fds[0].fd >= 0 && written == input.size()) {
      ::close(fds[0].fd);
      fds[0].fd = -1;
    }
    ::poll(fds.data(), fds.size(), -1);
    if (fds[0].fd >= 0 && fds[0].revents != 0) {
      const ssize_t count = ::write(fds[0].fd, input.data() + written, input.size() - written);
      written = count < 0 ? input.size() : written + static_cast<std::size_t>(count);
    }
    for (std::size_t i = 1; i < 3; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 65'536> buffer{};
      const ssize_t count = ::read(fds[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        (i == 1 ? ran.out : ran.err).append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        ::close(fds[i].fd);
        fds[i].fd = -1;
      }
    }
  }
  if (fds[0].fd >= 0) ::close(fds[0].fd);
}

}  // namespace

std::string lockstep_binary() { return LOCKSTEP_BINARY_DIR "/bin/lockstep"; }

Ran run(const std::vector<std::string>& arguments, const std::string& input) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe in;
  Pipe out;
  Pipe err;
  const pid_t pid = ::fork();
  if (pid < 0) die("fork");
  if (pid == 0) become(arguments, in.read, out.write, err.write);
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  Ran ran;
  pump(input, in.write, out.read, err.read, ran);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ran.status = status_of(status);
  return ran;
}

Ran lockstep(std::vector<std::string> arguments, const std::string& input) {
  arguments.insert(arguments.begin(), lockstep_binary());
  return run(arguments, input);
}

Child::Child(const std::vector<std::string>& arguments, const std::filesystem::path& out,
             const std::filesystem::path& err) {
  const int in_fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int err_fd = ::open(err.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (in_fd < 0 || out_fd < 0 || err_fd < 0) die("open");
  pid_ = ::fork();
  if (pid_ < 0) die("fork");
  if (pid_ == 0) become(arguments, in_fd, out_fd, err_fd);
  ::close(in_fd);
  ::close(out_fd);
  ::close(err_fd);
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::signal(int number) const { ::kill(pid_, number); }

int Child::wait() {
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) die("waitpid");
  pid_ = -1;
  return status_of(status);
}

bool Child::running() {
  siginfo_t info{};
  return pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-test.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) die("mkdtemp");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::file(const std::string& name, const std::string& text) const {
  const auto path = path_ / name;
  std::ofstream(path) << text;
  return path.string();
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lockstep::testing
