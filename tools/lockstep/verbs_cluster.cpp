// hosts and claims.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tools/lockstep/client.h"
#include "tools/lockstep/hosts_tree.h"
#include "tools/lockstep/text.h"
#include "tools/lockstep/verbs.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

struct HostOptions {
  std::string store;
  std::vector<std::string> hosts;  // hostlists
  bool tree{false};
};

Draw draw_of_output() { return ::isatty(STDOUT_FILENO) == 1 ? Draw::Terminal : Draw::Plain; }

// The tree before the table, where there is one to see.
std::string cluster_text(const Json& hosts) {
  return has_domains(hosts) ? domains_text(hosts, draw_of_output()) + "\n" + hosts_text(hosts) : hosts_text(hosts);
}

Outcome<void> show_hosts(const Session& session, const HostOptions& options) {
  const auto hosts = Client(options.store).get("/v1/hosts");
  if (!hosts || !options.tree) return show(session, hosts, cluster_text);
  print(session.json() ? to_text(domains_json(*hosts), 2) + "\n" : domains_text(*hosts, draw_of_output()));
  return {};
}

Outcome<std::vector<std::string>> expand(const std::vector<std::string>& lists) {
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  for (const auto& list : lists) {
    const auto expanded = expand_hostlist(list);
    if (!expanded) return refuse(expanded.error());
    for (const auto& host : *expanded) {
      if (seen.insert(host).second) hosts.push_back(host);
    }
  }
  return hosts;
}

// All hosts are looked up before the first is changed.
Outcome<void> check_hosts(Client& client, const std::vector<std::string>& hosts, HostVerb verb) {
  std::vector<CommandBody> commands;
  for (const auto& host : hosts) {
    const auto known = client.get(host_target(host));
    if (!known) return refuse(known.error());
    if (verb == HostVerb::Remove && !known->at("groups").empty()) {
      return refuse(Failure{
          std::string(name(AnswerCode::HostInUse)),
          fmt::format("{}: is held by group {}; drain it and wait", host, known->at("groups")[0].get<std::string>()),
          kExitNo});
    }
    commands.push_back(HostCommand{verb, host});
  }
  return client.rehearse(commands);
}

Outcome<void> change_hosts(const Session& session, const HostOptions& options, HostVerb verb, const std::string& word) {
  const auto hosts = expand(options.hosts);
  if (!hosts) return refuse(hosts.error());
  Client client(options.store);
  if (auto checked = check_hosts(client, *hosts, verb); !checked) return checked;
  Json rows = Json::array();
  std::string text;
  std::vector<std::string> done;
  Outcome<void> outcome;
  for (const auto& host : *hosts) {
    auto answer = client.command(HostCommand{verb, host});
    if (!answer) {
      outcome = refuse(after_part(std::move(answer.error()), done));
      break;
    }
    Json row = {{"host", host}};
    row.update(*answer);
    rows.push_back(std::move(row));
    text += fmt::format("{}: {} recorded at seq {}\n", host, word, answer->at("seq").dump());
    done.push_back(host);
  }
  if (outcome || !done.empty()) print(session.json() ? to_text(rows, 2) + "\n" : text);
  return outcome;
}

void add_host_verb(CLI::App& hosts, Session& session, HostVerb verb, const std::string& word, const std::string& help) {
  auto options = std::make_shared<HostOptions>();
  CLI::App& added = add_verb(hosts, session, word, help,
                             [&session, options, verb, word] { return change_hosts(session, *options, verb, word); });
  add_store_option(added, session, options->store);
  added.add_option("HOST", options->hosts, "Hostlists, as in n[1-4]")->required();
}

}  // namespace

void add_cluster_verbs(CLI::App& app, Session& session) {
  auto listed = std::make_shared<HostOptions>();
  CLI::App& hosts = add_verb(app, session, "hosts", "All domains and hosts; or change some: down, up, drain, remove",
                             [&session, listed] { return show_hosts(session, *listed); });
  add_store_option(hosts, session, listed->store);
  hosts.add_flag("--tree", listed->tree,
                 "Only the domains; with -o json nested, as one object for the whole cluster with `domains` in it");
  add_host_verb(hosts, session, HostVerb::Down, "down", "Declare that nothing runs there any more");
  add_host_verb(hosts, session, HostVerb::Up, "up", "Let it be used again, also after a drain");
  add_host_verb(hosts, session, HostVerb::Drain, "drain", "Place nothing there any more");
  add_host_verb(hosts, session, HostVerb::Remove, "remove", "Forget a host where nothing is held");

  auto options = std::make_shared<HostOptions>();
  CLI::App& claims = add_verb(app, session, "claims", "All claims and their users", [&session, options] {
    Client client(options->store);
    return show(session, client.get("/v1/claims"), claims_text);
  });
  add_store_option(claims, session, options->store);
}

}  // namespace lockstep::cli
