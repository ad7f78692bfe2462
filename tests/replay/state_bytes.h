#pragma once
// The facts of a state as bytes and back: a snapshot without a file, over the same list of tables (snapshot/facts.h)
// and the same field walk, quick enough for every cut of every history. What is derived is rebuilt, as after a load.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "events/walk.h"
#include "snapshot/facts.h"
#include "statemachine/state.h"

namespace lockstep::test {

using Bytes = std::vector<std::byte>;

inline Bytes facts_of(const State& state) {
  Bytes bytes;
  ByteSink sink{bytes};
  for_each_table([&](FactKind, auto table) {
    std::uint64_t count = 0;
    for_each_entity(state.*table, [&](std::uint64_t, const auto&, const auto&) { ++count; });
    walk_write(sink, count);
    for_each_entity(state.*table, [&](std::uint64_t, const auto& key, const auto& entity) {
      walk_write(sink, key);
      walk_write(sink, entity);
    });
  });
  return bytes;
}

namespace state_bytes_detail {
inline void put(StateHead& head, const OwnKey&, StateHead&& entity) { head = std::move(entity); }
template <class Id, class T>
void put(Table<Id, T>& table, const OwnKey&, T&& entity) {
  const Id id = id_of(entity);
  table.insert(id) = std::move(entity);
}
template <class K, class T>
void put(std::map<K, T>& table, const K& key, T&& entity) {
  table.emplace(key, std::move(entity));
}
inline void put(std::map<SpecHash, SpecEntry>& specs, const SpecHash& key, GroupSpec&& spec) {
  specs[key].spec = std::make_shared<const GroupSpec>(std::move(spec));
}
}  // namespace state_bytes_detail

// Nothing when the bytes are not those of facts_of().
inline std::optional<State> state_from(const Bytes& bytes) {
  State state;
  WalkReader reader(bytes);
  for_each_table([&](FactKind, auto table) {
    using Facts = FactTable<std::remove_reference_t<decltype(state.*table)>>;
    std::uint64_t count = 0;
    reader.read(count);
    for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
      typename Facts::Key key{};
      typename Facts::Entity entity{};
      if (reader.read(key) && reader.read(entity)) state_bytes_detail::put(state.*table, key, std::move(entity));
    }
  });
  if (!reader.ok() || reader.left() != 0) return {};
  rebuild_derived(state);
  return state;
}

// What an event is, for comparing two: all of it but Derived, which it has not.
inline Bytes bytes_of(const Event& event) {
  Bytes bytes;
  ByteSink sink{bytes};
  walk_write(sink, event.seq);
  walk_write(sink, event.prev);
  walk_write(sink, event.cause);
  walk_write(sink, event.time);
  walk_write(sink, event.actor);
  walk_write(sink, event.group);
  walk_write(sink, static_cast<std::uint16_t>(kind(event)));
  std::visit([&](const auto& body) { walk_write(sink, body); }, event.body);
  return bytes;
}

inline Bytes bytes_of(const std::vector<Event>& events) {
  Bytes bytes;
  for (const Event& event : events) {
    const Bytes one = bytes_of(event);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

}  // namespace lockstep::test
