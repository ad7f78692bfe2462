// hosts and claims.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/lockstep/client.h"
#include "tools/lockstep/text.h"
#include "tools/lockstep/verbs.h"
#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

struct HostOptions {
  std::string store;
  std::vector<std::string> hosts;  // hostlists
};

Outcome<void> change_hosts(const Session& session, const HostOptions& options, HostVerb verb, const std::string& word) {
  std::vector<std::string> hosts;
  for (const auto& list : options.hosts) {
    const auto expanded = expand_hostlist(list);
    if (!expanded) return refuse(expanded.error());
    hosts.insert(hosts.end(), expanded->begin(), expanded->end());
  }
  Client client(options.store, Access::Write);
  Json rows = Json::array();
  Outcome<void> outcome;
  for (const auto& host : hosts) {
    auto answer = client.command(HostCommand{verb, host});
    if (!answer) {
      outcome = refuse(answer.error());
      break;
    }
    Json row = {{"host", host}};
    row.update(*answer);
    rows.push_back(std::move(row));
  }
  if (session.json()) {
    if (outcome || !rows.empty()) print(to_text(rows, 2) + "\n");
  } else {
    for (const auto& row : rows) {
      print(fmt::format("{}: {} recorded at seq {}\n", row.at("host").get<std::string>(), word,
                        row.at("seq").get<std::uint64_t>()));
    }
  }
  return outcome;
}

void add_host_verb(CLI::App& hosts, Session& session, HostVerb verb, const std::string& word, const std::string& help) {
  auto options = std::make_shared<HostOptions>();
  CLI::App& added = add_verb(hosts, session, word, help,
                             [&session, options, verb, word] { return change_hosts(session, *options, verb, word); });
  add_store_option(added, options->store);
  added.add_option("HOST", options->hosts, "Hostlists, as in n[1-4]")->required();
}

}  // namespace

void add_cluster_verbs(CLI::App& app, Session& session) {
  auto listed = std::make_shared<HostOptions>();
  CLI::App& hosts = add_verb(app, session, "hosts", "All hosts; or change some: down, up, drain, remove",
                             [&session, listed]() -> Outcome<void> {
                               if (listed->store.empty()) return usage("hosts: --store is required");
                               Client client(listed->store, Access::Read);
                               return show(session, client.get("/v1/hosts"), hosts_text);
                             });
  hosts.add_option("--store", listed->store, "Store directory")->envname("LOCKSTEP_STORE")->type_name("DIR");
  add_host_verb(hosts, session, HostVerb::Down, "down", "Declare that nothing runs there any more");
  add_host_verb(hosts, session, HostVerb::Up, "up", "Let it be used again, also after a drain");
  add_host_verb(hosts, session, HostVerb::Drain, "drain", "Place nothing there any more");
  add_host_verb(hosts, session, HostVerb::Remove, "remove", "Forget a host where nothing is held");

  auto options = std::make_shared<HostOptions>();
  CLI::App& claims = add_verb(app, session, "claims", "All claims and their users", [&session, options] {
    Client client(options->store, Access::Read);
    return show(session, client.get("/v1/claims"), claims_text);
  });
  add_store_option(claims, options->store);
}

}  // namespace lockstep::cli
