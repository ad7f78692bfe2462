#include "tools/lockstep/manifest_files.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <vector>

#include "tools/lockstep/output.h"
#include "tools/lockstep/read_file.h"

namespace lockstep::cli {
namespace {

std::string joined(const std::vector<Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) {
    text += text.empty() ? "" : "; ";
    text += problem.path.empty() ? problem.text : problem.path + ": " + problem.text;
  }
  return text;
}

}  // namespace

std::string caller() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : fmt::format("{}", ::geteuid());
}

Outcome<ManifestResult> read_manifest_text(std::string_view text, std::string_view default_user,
                                           std::string_view origin) {
  auto manifest = read_manifest(text, default_user);
  if (manifest.problems.empty()) return manifest;
  const std::string where = origin.empty() ? std::string() : fmt::format("{}: ", origin);
  return refuse(Failure{std::string(name(AnswerCode::InvalidManifest)), where + joined(manifest.problems), kExitNo});
}

Outcome<ManifestResult> read_manifest_file(const std::string& file, std::string_view default_user) {
  const auto text = read_file(file, kManifestBytesMax);
  if (!text) return refuse(text.error());
  return read_manifest_text(*text, default_user, file);
}

Outcome<ManifestFiles> read_manifest_files(const std::vector<std::string>& files, std::string_view default_user) {
  ManifestFiles all;
  for (const auto& file : files) {
    auto read = read_manifest_file(file, default_user);
    if (!read) return refuse(std::move(read.error()));
    for (auto& group : read->groups) all.groups.push_back(std::move(group));
    for (const auto& line : read->not_carried) all.not_carried.push_back(fmt::format("{}: {}", file, line));
  }
  return all;
}

void tell_not_carried(const std::vector<std::string>& not_carried) {
  for (const auto& line : not_carried) note("NotCarried", line);
}

Outcome<InventoryResult> read_inventory_file(const std::string& file) {
  const auto text = read_file(file, kManifestBytesMax);
  if (!text) return refuse(text.error());
  auto inventory = read_inventory(*text);
  if (inventory.problems.empty()) return inventory;
  return refuse(Error{ErrorCode::InvalidInput, fmt::format("{}: {}", file, joined(inventory.problems))});
}

}  // namespace lockstep::cli
