// submit and convert: manifests come in.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/lockstep/client.h"
#include "tools/lockstep/manifest_files.h"
#include "tools/lockstep/verbs.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

struct SubmitOptions {
  std::string store;
  std::vector<std::string> files;
};

// A name of a group that waits, held, for a submit; `key` is no file then.
bool is_file(const std::string& key) { return key == "-" || ::access(key.c_str(), F_OK) == 0; }

Outcome<Json> define(Client& client, const DefineGroup& group) {
  auto answer = client.command(group);
  if (!answer) {
    Failure failure = answer.error();
    failure.message = group.identity.name + ": " + failure.message;
    return refuse(std::move(failure));
  }
  Json row = {{"name", group.identity.name}};
  row.update(*answer);
  return row;
}

// `submit NAME` of a held group: what SCENARIO.md calls submit.
Outcome<Json> submit_held(Client& client, const std::string& key) {
  const auto group = client.get(group_target(key));
  if (!group) {
    return refuse(Failure{group.error().code, key + ": no such file, and no group of this name", group.error().exit});
  }
  auto answer = client.command(GroupCommand{GroupVerb::Submit, GroupId{group->at("id").get<std::uint64_t>()}});
  if (!answer) return answer;
  Json row = {{"name", group->at("name")}};
  row.update(*answer);
  return row;
}

void tell(const Session& session, const Json& rows) {
  if (session.json()) return print(to_text(rows, 2) + "\n");
  for (const auto& row : rows) {
    print(fmt::format("{} (id {}): submitted at seq {}\n", row.at("name").get<std::string>(),
                      row.at("group").get<std::uint64_t>(), row.at("seq").get<std::uint64_t>()));
  }
}

// Every manifest is read before the first is sent.
Outcome<void> submit(const Session& session, const SubmitOptions& options) {
  std::vector<DefineGroup> groups;
  std::vector<std::string> held;
  for (const auto& file : options.files) {
    if (!is_file(file)) {
      held.push_back(file);
      continue;
    }
    auto read = read_manifest_file(file, caller());
    if (!read) return refuse(read.error());
    for (auto& group : read->groups) groups.push_back(std::move(group));
  }
  Client client(options.store, Access::Write);
  Json rows = Json::array();
  Outcome<Json> last;
  for (std::size_t i = 0; last && i < groups.size() + held.size(); ++i) {
    last = i < groups.size() ? define(client, groups[i]) : submit_held(client, held[i - groups.size()]);
    if (last) rows.push_back(*last);
  }
  if (last || !rows.empty()) tell(session, rows);
  if (!last) return refuse(last.error());
  return {};
}

Outcome<void> convert(const SubmitOptions& options) {
  std::string text;
  for (const auto& file : options.files) {
    const auto read = read_manifest_file(file, "");  // the same output whoever converts
    if (!read) return refuse(read.error());
    for (const auto& group : read->groups) text += (text.empty() ? "" : "---\n") + write_manifest(group);
    for (const auto& line : read->not_carried) {
      std::fputs(error_line(Failure{"NotCarried", file + ": " + line, 0}).c_str(), stderr);
      std::fputs("\n", stderr);
    }
  }
  print(text);
  return {};
}

}  // namespace

void add_submit_verbs(CLI::App& app, Session& session) {
  auto submitted = std::make_shared<SubmitOptions>();
  CLI::App& submit_verb = add_verb(app, session, "submit", "Define the groups of manifests (native, JobSet)",
                                   [&session, submitted] { return submit(session, *submitted); });
  add_store_option(submit_verb, submitted->store);
  submit_verb.add_option("MANIFEST", submitted->files, "Files, - for standard input; or names of held groups")
      ->required();

  auto converted = std::make_shared<SubmitOptions>();
  CLI::App& convert_verb =
      add_verb(app, session, "convert", "Print manifests as native ones; what was not carried goes to stderr",
               [converted] { return convert(*converted); });
  convert_verb.add_option("MANIFEST", converted->files, "Files, - for standard input")->required();
}

}  // namespace lockstep::cli
