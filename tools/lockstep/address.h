#pragma once
// A store directory is the address of the controller that runs on it: DIR/control.sock. The kernel takes paths of at
// most 107 bytes for a socket; a longer one is reached through the directory's descriptor in /proc/self/fd.

#include <filesystem>
#include <string>

#include "tools/lockstep/outcome.h"

namespace lockstep::cli {

class ControlAddress {
 public:
  // Keeps the directory open as long as it lives when its path is long. NotAStore when there is no such directory.
  [[nodiscard]] static Outcome<ControlAddress> of(const std::filesystem::path& store);
  ControlAddress(ControlAddress&& other) noexcept;
  ControlAddress& operator=(ControlAddress&&) = delete;
  ~ControlAddress();

  // What to bind or connect to: short enough.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  ControlAddress(std::string path, int directory) : path_(std::move(path)), directory_(directory) {}
  std::string path_;
  int directory_;  // -1: the plain path is short enough
};

}  // namespace lockstep::cli
