// submit and convert: manifests come in.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tools/lockstep/client.h"
#include "tools/lockstep/manifest_files.h"
#include "tools/lockstep/verbs.h"
#include "tools/manifest/manifest.h"
#include "tools/topology/inventory_files.h"

namespace lockstep::cli {
namespace {

struct SubmitOptions {
  std::string store;
  std::vector<std::string> files;
};

// A name of a group that waits, held, for a submit, is no file; what cannot be looked at may be one.
bool is_file(const std::string& key) {
  if (key == "-" || key.find('/') != std::string::npos) return true;
  return ::access(key.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// One thing to do, and the word for it when it is done.
struct Wanted {
  std::string name;
  std::string word;
  CommandBody body;
};

// `submit NAME` of a held group: what SCENARIO.md calls submit.
Outcome<Wanted> find_held(Client& client, const std::string& key) {
  const auto group = client.get(group_target(key));
  if (!group) {
    Failure failure = group.error();
    if (failure.code == name(AnswerCode::UnknownGroup)) {
      failure.message = key + ": no such file, and no group of this name; see 'lockstep list'";
    }
    return refuse(std::move(failure));
  }
  return Wanted{group->at("name").get<std::string>(), "submitted",
                GroupCommand{GroupVerb::Submit, GroupId{group->at("id").get<std::uint64_t>()}}};
}

// A running controller takes one command after the other: what it would refuse for its name, among several, is looked
// for before the first is sent.
Outcome<void> check_names(Client& client, const std::vector<DefineGroup>& groups) {
  std::set<std::string> names;
  for (const auto& group : groups) {
    const std::string& name = group.identity.name;
    if (!names.insert(name).second) {
      return refuse(Failure{std::string(lockstep::name(AnswerCode::DuplicateName)),
                            name + ": the manifests have two groups of this name; rename one", kExitNo});
    }
    if (groups.size() == 1) continue;
    const auto known = client.get(group_target(name));
    if (!known && known.error().code != lockstep::name(AnswerCode::UnknownGroup)) return refuse(known.error());
    if (!known || known->at("name") != name || !known->at("end").is_null()) continue;
    return refuse(Failure{
        std::string(lockstep::name(AnswerCode::DuplicateName)),
        fmt::format("{}: lives as #{}; cancel it first, or take it out of the manifests: nothing of them was done",
                    name, known->at("id").dump()),
        kExitNo});
  }
  return {};
}

// Every manifest is read and every name looked up before the first command is sent.
Outcome<void> submit(const Session& session, const SubmitOptions& options) {
  std::vector<std::string> files;
  std::vector<std::string> names;
  for (const auto& key : options.files) (is_file(key) ? files : names).push_back(key);
  auto manifests = read_manifest_files(files, caller());
  if (!manifests) return refuse(std::move(manifests.error()));
  Client client(options.store);
  if (auto checked = check_names(client, manifests->groups); !checked) return checked;
  std::vector<Wanted> wanted;
  std::vector<CommandBody> bodies;
  for (auto& group : manifests->groups) {
    wanted.push_back({group.identity.name, group.hold ? "defined, held" : "submitted", std::move(group)});
  }
  for (const auto& key : names) {
    auto held = find_held(client, key);
    if (!held) return refuse(std::move(held.error()));
    wanted.push_back(std::move(*held));
  }
  for (const auto& each : wanted) bodies.push_back(each.body);
  if (auto rehearsed = client.rehearse(bodies); !rehearsed) return rehearsed;

  Json rows = Json::array();
  std::string text;
  std::vector<std::string> done;
  Outcome<void> outcome;
  for (auto& each : wanted) {
    auto answer = client.command(std::move(each.body));
    if (!answer) {
      Failure failure = std::move(answer.error());
      failure.message = each.name + ": " + failure.message;
      outcome = refuse(after_part(std::move(failure), done));
      break;
    }
    const std::string id = answer->at("group").dump();
    text += fmt::format("{} (id {}): {} at seq {}\n", each.name, id, each.word, answer->at("seq").dump());
    done.push_back(fmt::format("{} (#{})", each.name, id));
    Json row = {{"name", each.name}};
    row.update(*answer);
    rows.push_back(std::move(row));
  }
  if (done.empty()) return outcome;
  tell_not_carried(manifests->not_carried);
  print(session.json() ? to_text(rows, 2) + "\n" : text);
  return outcome;
}

constexpr std::string_view kWhatIsConverted =
    "; what is read are manifests (GangGroup, JobSet) and hosts with their topology (Slurm's files, Kueue's Topology, "
    "Volcano's HyperNodes, Kubernetes' Nodes, topograph's models, CSV, Inventory)";

// What reads as manifests is not asked whether it is about hosts too.
bool is_about_hosts(const std::string& text) {
  return describes_hosts(text) && !read_manifest(text, "").problems.empty();
}

Outcome<void> convert_hosts(const NamedTexts& files) {
  const auto hosts = read_hosts(files);
  if (!hosts) return refuse(hosts.error());
  tell_not_carried(hosts->not_carried);
  print(write_inventory(*hosts));
  return {};
}

Outcome<void> convert(const SubmitOptions& options) {
  const auto files = read_texts(options.files);
  if (!files) return refuse(files.error());
  std::vector<std::string> of_hosts;
  std::vector<std::string> of_groups;
  for (const auto& [file, text] : *files) (is_about_hosts(text) ? of_hosts : of_groups).push_back(file);
  if (of_groups.empty()) return convert_hosts(*files);
  if (!of_hosts.empty()) {
    return usage(fmt::format("{} is about hosts, {} is not: convert them one after the other", of_hosts.front(),
                             of_groups.front()));
  }
  auto manifests = read_manifest_texts(*files, "");  // the same output whoever converts
  if (!manifests) {
    const bool is_foreign = std::none_of(files->begin(), files->end(), [](const auto& file) {
      return file.second.find("GangGroup") != std::string::npos || file.second.find("JobSet") != std::string::npos;
    });
    if (is_foreign && manifests.error().code == name(AnswerCode::InvalidManifest))
      manifests.error().message += kWhatIsConverted;
    return refuse(std::move(manifests.error()));
  }
  std::string text;
  for (const auto& group : manifests->groups) text += (text.empty() ? "" : "---\n") + write_manifest(group);
  tell_not_carried(manifests->not_carried);
  print(text);
  return {};
}

}  // namespace

void add_submit_verbs(CLI::App& app, Session& session) {
  auto submitted = std::make_shared<SubmitOptions>();
  CLI::App& submit_verb = add_verb(
      app, session, "submit", "Define the groups of manifests (native, JobSet); what was not carried goes to stderr",
      [&session, submitted] { return submit(session, *submitted); });
  add_store_option(submit_verb, session, submitted->store);
  submit_verb.add_option("MANIFEST", submitted->files, "Files, - for standard input; or held groups, by name or '#ID'")
      ->required();

  auto converted = std::make_shared<SubmitOptions>();
  CLI::App& convert_verb = add_verb(
      app, session, "convert",
      "Print manifests, or the files of a cluster's topology, as native ones; what was not carried goes to stderr",
      [converted] { return convert(*converted); });
  convert_verb.add_option("FILE", converted->files, "Files, - for standard input")->required();
}

}  // namespace lockstep::cli
