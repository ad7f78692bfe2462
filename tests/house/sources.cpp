#include "tests/house/sources.h"

#include <algorithm>
#include <fstream>

namespace lockstep {

std::vector<SourceFile> read_sources(const std::string& folder, const std::vector<std::string>& endings) {
  const std::filesystem::path root = LOCKSTEP_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const std::string path = std::filesystem::relative(entry.path(), root).string();
    const bool wanted =
        std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) { return path.ends_with(ending); });
    if (!entry.is_regular_file() || !wanted) continue;
    SourceFile& file = files.emplace_back(SourceFile{path, {}});
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace lockstep
