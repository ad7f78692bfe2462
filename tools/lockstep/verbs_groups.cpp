// list show why history, and the verbs that change a group: cancel suspend resume resize evict purge.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tools/lockstep/client.h"
#include "tools/lockstep/text.h"
#include "tools/lockstep/verbs.h"

namespace lockstep::cli {
namespace {

struct GroupOptions {
  std::string store;
  std::vector<std::string> groups;
  std::string role;
  std::uint64_t replicas{};
};

CLI::Option* add_group(CLI::App& verb, std::string& group) {
  return verb.add_option("GROUP", group, "Its name (the latest of that name), or its id as '#ID'")->required();
}

void add_reader(CLI::App& app, Session& session, const std::string& verb, const std::string& help,
                const std::string& below, std::string (*text)(const Json&)) {
  auto options = std::make_shared<GroupOptions>();
  options->groups.resize(1);
  CLI::App& added = add_verb(app, session, verb, help, [&session, options, below, text]() -> Outcome<void> {
    Client client(options->store);
    return show(session, client.get(group_target(options->groups[0], below)), text);
  });
  add_store_option(added, session, options->store);
  add_group(added, options->groups[0]);
}

struct Found {
  GroupId id{};
  std::string name;
  std::vector<std::string> roles;
};

Outcome<Found> find(Client& client, const std::string& key) {
  const auto group = client.get(group_target(key));
  if (!group) return refuse(group.error());
  Found found{GroupId{group->at("id").get<std::uint64_t>()}, group->at("name").get<std::string>(), {}};
  for (const auto& role : group->at("roles")) found.roles.push_back(role.at("name").get<std::string>());
  return found;
}

// Tells what was answered: a row of JSON, or a line.
Outcome<void> tell(const Session& session, const std::string& verb, const std::vector<std::pair<Found, Json>>& done) {
  Json rows = Json::array();
  std::string text;
  for (const auto& [group, answer] : done) {
    Json row = {{"name", group.name}};
    row.update(answer);
    text += fmt::format("{} (id {}): {} recorded at seq {}\n", group.name, group.id.value, verb,
                        answer.at("seq").get<std::uint64_t>());
    rows.push_back(std::move(row));
  }
  print(session.json() ? to_text(rows, 2) + "\n" : text);
  return {};
}

using MakeBody = std::function<Outcome<CommandBody>(const Found&)>;

// All groups are looked up before the first is changed.
Outcome<void> change(const Session& session, const GroupOptions& options, const std::string& verb,
                     const MakeBody& make_body) {
  Client client(options.store);
  std::vector<Found> groups;
  std::vector<CommandBody> bodies;
  std::set<GroupId> seen;
  for (const auto& key : options.groups) {
    auto group = find(client, key);
    if (!group) return refuse(group.error());
    if (!seen.insert(group->id).second) continue;
    auto body = make_body(*group);
    if (!body) return refuse(body.error());
    groups.push_back(std::move(*group));
    bodies.push_back(std::move(*body));
  }
  if (auto rehearsed = client.rehearse(bodies); !rehearsed) return rehearsed;
  std::vector<std::pair<Found, Json>> answered;
  std::vector<std::string> done;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto answer = client.command(std::move(bodies[i]));
    if (!answer) {
      if (!done.empty()) (void)tell(session, verb, answered);
      return refuse(after_part(std::move(answer.error()), done));
    }
    done.push_back(fmt::format("{} (#{})", groups[i].name, groups[i].id.value));
    answered.emplace_back(std::move(groups[i]), std::move(*answer));
  }
  return tell(session, verb, answered);
}

void add_changer(CLI::App& app, Session& session, GroupVerb verb, const std::string& name, const std::string& help) {
  auto options = std::make_shared<GroupOptions>();
  CLI::App& added = add_verb(app, session, name, help, [&session, options, verb, name] {
    return change(session, *options, name, [verb](const Found& group) -> Outcome<CommandBody> {
      return GroupCommand{verb, group.id};
    });
  });
  add_store_option(added, session, options->store);
  added.add_option("GROUP", options->groups, "Names (the latest of that name), or ids as '#ID'")->required();
}

void add_resize(CLI::App& app, Session& session) {
  auto options = std::make_shared<GroupOptions>();
  options->groups.resize(1);
  CLI::App& added =
      add_verb(app, session, "resize", "Ask for another number of members of a role", [&session, options] {
        return change(session, *options, "resize", [&options](const Found& group) -> Outcome<CommandBody> {
          for (RoleIndex role = 0; role < group.roles.size(); ++role) {
            if (group.roles[role] == options->role)
              return ResizeGroup{group.id, role, static_cast<std::uint32_t>(options->replicas)};
          }
          return refuse(Failure{"UnknownRole",
                                fmt::format("{}: group {} has no such role, only {}", options->role, group.name,
                                            fmt::join(group.roles, ", ")),
                                kExitNo});
        });
      });
  add_store_option(added, session, options->store);
  add_group(added, options->groups[0]);
  added.add_option("ROLE", options->role, "The role")->required();
  add_number(added, "REPLICAS", options->replicas, {"a number of members", 0, UINT32_MAX}, "Members wanted")
      ->required();
}

}  // namespace

void add_group_verbs(CLI::App& app, Session& session) {
  auto options = std::make_shared<GroupOptions>();
  CLI::App& list = add_verb(app, session, "list", "All groups, one a line", [&session, options] {
    Client client(options->store);
    return show(session, client.get("/v1/groups"), groups_text);
  });
  add_store_option(list, session, options->store);
  add_reader(app, session, "show", "One group with its members and claims", "", group_text);
  add_reader(app, session, "why", "Why a group does not run", "why", why_text);
  add_reader(app, session, "history", "Everything that happened to a group, also to a purged one", "history",
             history_text);
  add_changer(app, session, GroupVerb::Cancel, "cancel", "End a group");
  add_changer(app, session, GroupVerb::Suspend, "suspend", "Stop a group until it is resumed");
  add_changer(app, session, GroupVerb::Resume, "resume", "Let a suspended group wait for hosts again");
  add_resize(app, session);
  add_changer(app, session, GroupVerb::Evict, "evict", "Take a group's hosts; it waits for others");
  add_changer(app, session, GroupVerb::Purge, "purge", "Forget a group that has ended");
}

}  // namespace lockstep::cli
