#include "tools/lockstep/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lockstep::cli {
namespace {

tl::unexpected<Failure> cannot_read(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG ? ErrorCode::NotFound
                         : error == EISDIR                                            ? ErrorCode::InvalidInput
                                                                                      : ErrorCode::StorageFailed;
  return refuse(Error{code, fmt::format("{}: cannot be read: {}", path, std::strerror(error))});
}

}  // namespace

Outcome<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const bool standard_input = path == "-";
  const int fd = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_read(path, errno);
  std::string text;
  int error = 0;
  for (bool more = true; more && text.size() <= bytes_max;) {
    char buffer[65'536];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) error = errno;
    more = error == 0 && got != 0;
  }
  if (!standard_input) ::close(fd);
  if (error != 0) return cannot_read(path, error);
  if (text.size() > bytes_max) {
    return refuse(
        Failure{"InvalidInput", fmt::format("{}: is larger than {} bytes; split it", path, bytes_max), kExitUsage});
  }
  return text;
}

}  // namespace lockstep::cli
