#include "tools/lockstep/manifest_files.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <vector>

#include "tools/lockstep/output.h"
#include "tools/manifest/read_file.h"
#include "tools/topology/inventory_files.h"

namespace lockstep::cli {
namespace {

std::string to_line(const Problem& problem) {
  return problem.path.empty() ? problem.text : problem.path + ": " + problem.text;
}

std::string joined(const std::vector<Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) {
    text += text.empty() ? "" : "; ";
    text += to_line(problem);
  }
  return text;
}

Outcome<void> add_manifest(const std::string& file, std::string_view text, std::string_view default_user,
                           ManifestFiles& all) {
  if (const auto sound = check_utf8(file, text); !sound) return refuse(sound.error());
  auto read = read_manifest_text(text, default_user, file);
  if (!read) return refuse(std::move(read.error()));
  for (auto& group : read->groups) all.groups.push_back(std::move(group));
  for (const auto& line : read->not_carried) all.not_carried.push_back(fmt::format("{}: {}", file, line));
  return {};
}

// Of a cluster or of groups: there is something to say.
Outcome<std::string> read_what_is_said(const std::string& file, std::size_t bytes_max) {
  auto text = read_named_file(file, bytes_max);
  if (!text) return refuse(text.error());
  if (text->empty()) return refuse(Error{ErrorCode::InvalidInput, file + ": is empty"});
  return std::move(*text);
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

Outcome<ManifestFiles> read_manifest_files(const std::vector<std::string>& files, std::string_view default_user) {
  ManifestFiles all;
  for (const auto& file : files) {
    const auto text = read_what_is_said(file, kManifestBytesMax);
    if (!text) return refuse(text.error());
    if (auto added = add_manifest(file, *text, default_user, all); !added) return refuse(std::move(added.error()));
  }
  return all;
}

Outcome<ManifestFiles> read_manifest_texts(const NamedTexts& files, std::string_view default_user) {
  ManifestFiles all;
  for (const auto& [file, text] : files) {
    if (auto added = add_manifest(file, text, default_user, all); !added) return refuse(std::move(added.error()));
  }
  return all;
}

void tell_not_carried(const std::vector<std::string>& not_carried) {
  for (const auto& line : not_carried) note("NotCarried", line);
}

Outcome<NamedTexts> read_texts(const std::vector<std::string>& files) {
  NamedTexts texts;
  for (const auto& file : files) {
    auto text = read_what_is_said(file, kTopologyBytesMax);
    if (!text) return refuse(std::move(text.error()));
    texts.emplace_back(file, std::move(*text));
  }
  return texts;
}

Outcome<TopologyResult> read_hosts(const NamedTexts& files) {
  auto hosts = read_inventory_files(files);
  if (hosts.problems.empty()) return hosts;
  const std::string code(name(ErrorCode::InvalidInput));
  const std::string last = to_line(hosts.problems.back());
  hosts.problems.pop_back();
  for (const auto& problem : hosts.problems) note(code, to_line(problem));
  return refuse(Error{ErrorCode::InvalidInput, last});
}

Outcome<TopologyResult> read_hosts(const std::vector<std::string>& files) {
  const auto texts = read_texts(files);
  if (!texts) return refuse(texts.error());
  return read_hosts(*texts);
}

}  // namespace lockstep::cli
