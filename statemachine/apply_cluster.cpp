// Events of the cluster, the controller and its clients.

#include <algorithm>

#include "events/error.h"
#include "statemachine/apply_detail.h"

namespace lockstep::apply_detail {

namespace {

using edit::EntityKind;
using edit::hash_entity;

Host& host_of(const Context& context, HostId id) {
  Host* host = context.state.hosts.find(id);
  LOCKSTEP_CHECK(host != nullptr, "event " + std::to_string(context.event.seq.value) + " names host " +
                                      std::to_string(id.value) + ", which is not there");
  return *host;
}

// What is kept about all hosts together is of no use any more.
void cluster_changed(State& state) {
  state.indexes.empty_cluster.forget();
  state.indexes.host_journal.restart();
}

// Forgets the client that asked longest ago.
void forget_a_client(State& state) {
  const auto oldest = std::min_element(state.clients.begin(), state.clients.end(), [](const auto& a, const auto& b) {
    return a.second.head.last_seen < b.second.head.last_seen;
  });
  for (const auto& [request, answer] : oldest->second.answers) {
    digest_detail::subtract(state.sum, hash_entity(EntityKind::Answer, answer, oldest->first, request));
  }
  digest_detail::subtract(state.sum, hash_entity(EntityKind::ClientHead, oldest->second.head, oldest->first));
  state.clients.erase(oldest);
}

}  // namespace

void on(const Context& context, const HostAdded& event) {
  State& state = context.state;
  LOCKSTEP_CHECK(event.host.value == state.head.host_last.value + 1, "host ids are given out in order");
  state.head.host_last = event.host;
  cluster_changed(state);
  Host& host = state.hosts.insert(event.host);
  host.facts = {event.host, event.info};
  derived::measure(state, host);
  state.indexes.hosts_by_name[event.info.name] = event.host;
  digest_detail::add(state.sum, hash_entity(EntityKind::Host, host.facts));
}

void on(const Context& context, const HostChanged& event) {
  Host& host = host_of(context, event.host);
  edit::Plain<HostFacts> facts(context.state, EntityKind::Host, host.facts);
  HostInfo same_but_for_use = event.info;
  same_but_for_use.down = facts->info.down;
  same_but_for_use.drained = facts->info.drained;
  if (same_but_for_use == facts->info)
    context.state.indexes.host_journal.touch(event.host);
  else
    cluster_changed(context.state);
  facts->info = event.info;
  derived::measure(context.state, host);
}

void on(const Context& context, const HostRemoved& event) {
  State& state = context.state;
  const Host& host = host_of(context, event.host);
  LOCKSTEP_CHECK(host.groups.empty(), "a host that is in use cannot be removed");
  digest_detail::subtract(state.sum, hash_entity(EntityKind::Host, host.facts));
  state.indexes.hosts_by_name.erase(host.facts.info.name);
  cluster_changed(state);
  state.hosts.erase(event.host);
}

void on(const Context& context, const PoolSet& event) {
  State& state = context.state;
  cluster_changed(state);
  (void)derived::intern(state, event.name);
  const auto [pool, fresh] = state.pools.try_emplace(event.name);
  if (!fresh) digest_detail::subtract(state.sum, hash_entity(EntityKind::Pool, pool->second, event.name));
  pool->second.total = event.total;
  digest_detail::add(state.sum, hash_entity(EntityKind::Pool, pool->second, event.name));
}

void on(const Context& context, const LevelsSet& event) {
  cluster_changed(context.state);
  context.state.head.levels = event.levels;
}

void on(const Context& context, const ControllerStarted& event) {
  StateHead& head = context.state.head;
  head.epoch = event.epoch;
  head.feature_level = std::max(head.feature_level, event.feature_level);
}

void on(const Context& context, const DigestRecorded&) { context.state.head.digest_seq = context.event.seq; }

void on(const Context& context, const RequestAnswered& event) {
  State& state = context.state;
  if (!state.clients.contains(event.client) && state.clients.size() >= kClientsKept) forget_a_client(state);
  const auto [found, fresh] = state.clients.try_emplace(event.client);
  Client& client = found->second;
  if (fresh) digest_detail::add(state.sum, hash_entity(EntityKind::ClientHead, client.head, event.client));
  edit::Plain<ClientHead, std::uint64_t> head(state, EntityKind::ClientHead, client.head, event.client);
  head->last_seen = context.event.seq;
  const auto [answer, added] = client.answers.try_emplace(event.request);
  LOCKSTEP_CHECK(added, "a request was answered twice");
  answer->second = {event.code, event.about, context.event.seq, event.text};
  digest_detail::add(state.sum, hash_entity(EntityKind::Answer, answer->second, event.client, event.request));
  if (client.answers.size() <= kAnswersKept) return;
  const auto oldest = client.answers.begin();
  head->forgotten = std::max(head->forgotten, oldest->first);
  digest_detail::subtract(state.sum, hash_entity(EntityKind::Answer, oldest->second, event.client, oldest->first));
  client.answers.erase(oldest);
}

}  // namespace lockstep::apply_detail
