#pragma once
// Files under tests/golden/events that only ever grow. LOCKSTEP_WRITE_GOLDEN=1 writes those that do not exist yet; what
// exists is never written again, since logs with the same bytes are out there.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace lockstep::golden {

[[nodiscard]] inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline std::filesystem::path folder() { return std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/golden/events"; }

inline bool writes() {
  const char* given = std::getenv("LOCKSTEP_WRITE_GOLDEN");
  return given != nullptr && std::string(given) == "1";
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void write_new(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  if (std::filesystem::exists(path)) return;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline void write_new(const std::filesystem::path& path, const std::string& text) {
  write_new(path, std::as_bytes(std::span(text)));
}

// Lines of `path` without empty ones and those that begin with '#'.
inline std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

// What `now` lacks of `recorded`, or has in another order: nothing once written may change or go.
inline std::vector<std::string> missing(const std::vector<std::string>& recorded, const std::vector<std::string>& now) {
  std::vector<std::string> lost;
  auto at = now.begin();
  for (const std::string& line : recorded) {
    const auto found = std::find(at, now.end(), line);
    if (found == now.end()) {
      lost.push_back(line);
    } else {
      at = found + 1;
    }
  }
  return lost;
}

}  // namespace lockstep::golden
