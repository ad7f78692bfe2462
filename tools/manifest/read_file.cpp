#include "tools/manifest/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/manifest/text.h"

namespace lockstep {
namespace {

tl::unexpected<Error> cannot_read(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG ? ErrorCode::NotFound
                         : error == EISDIR                                            ? ErrorCode::InvalidInput
                                                                                      : ErrorCode::StorageFailed;
  return fail(code, fmt::format("{}: cannot be read: {}", path, std::strerror(error)));
}

}  // namespace

Result<std::string> read_named_file(const std::string& path, std::size_t bytes_max) {
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
  if (text.size() > bytes_max) return bad(fmt::format("{}: is larger than {} bytes; split it", path, bytes_max));
  return text;
}

Result<void> check_utf8(const std::string& path, std::string_view text) {
  for (std::string_view left = text; !left.empty();) {
    const std::size_t length = utf8_length(left);
    if (length == 0) {
      const auto line = 1 + std::count(text.begin(), left.begin(), '\n');
      return bad(fmt::format("{}: line {}: a byte that is not UTF-8", path, line));
    }
    left.remove_prefix(length);
  }
  return {};
}

}  // namespace lockstep
