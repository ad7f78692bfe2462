#pragma once
// The repository's own files, for tests about the repository.

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct SourceFile {
  std::string path;  // relative to the repository
  std::vector<std::string> lines;
};

// Every file below `folder` whose name ends in one of `endings`, sorted by path.
std::vector<SourceFile> read_sources(const std::string& folder, const std::vector<std::string>& endings);

}  // namespace lockstep
