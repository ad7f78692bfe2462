#include "tools/lockstep/address.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep::cli {
namespace {
constexpr std::size_t kSocketPathMax = sizeof(sockaddr_un::sun_path) - 1;
}

Outcome<ControlAddress> ControlAddress::of(const std::filesystem::path& store) {
  const std::string plain = (store / "control.sock").string();
  if (plain.size() <= kSocketPathMax) return ControlAddress(plain, -1);
  const int directory = ::open(store.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    const int error = errno;
    if (error != ENOENT && error != ENOTDIR) {
      return refuse(Error{ErrorCode::StorageFailed, fmt::format("{}: {}", store.string(), std::strerror(error))});
    }
    return refuse(Error{ErrorCode::NotAStore,
                        fmt::format("{}: {}; make it with 'lockstep init'", store.string(), std::strerror(error))});
  }
  return ControlAddress(fmt::format("/proc/self/fd/{}/control.sock", directory), directory);
}

ControlAddress::ControlAddress(ControlAddress&& other) noexcept
    : path_(std::move(other.path_)), directory_(std::exchange(other.directory_, -1)) {}

ControlAddress::~ControlAddress() {
  if (directory_ >= 0) ::close(directory_);
}

}  // namespace lockstep::cli
