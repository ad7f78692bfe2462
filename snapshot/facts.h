#pragma once
// The tables of State that hold facts, named once: whoever writes, reads, compares or shows a whole state goes over
// this list, so a table cannot be in one and missing in another. Inside an entity the field lists (events/fields.h) do
// the same; what is derived is in neither.

#include <boost/pfr.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "events/fields.h"
#include "events/walk.h"
#include "statemachine/state.h"

namespace lockstep {

// Written to disk: never reuse a number, only add. A reader that meets one it does not know refuses the file.
enum class FactKind : std::uint32_t {
  Layout = 1,
  Head = 2,
  Host = 3,
  Pool = 4,
  Claim = 5,
  Client = 6,
  Spec = 7,
  Group = 8
};
LOCKSTEP_ENUM(FactKind, Layout, Head, Host, Pool, Claim, Client, Spec, Group)

// visit(kind, pointer to member), in the order of the file: what is referred to comes before what refers to it.
template <class Visit>
void for_each_table(Visit&& visit) {
  visit(FactKind::Head, &State::head);
  visit(FactKind::Host, &State::hosts);
  visit(FactKind::Pool, &State::pools);
  visit(FactKind::Claim, &State::claims);
  visit(FactKind::Client, &State::clients);
  visit(FactKind::Spec, &State::specs);
  visit(FactKind::Group, &State::groups);
}
inline constexpr std::size_t kTables = 7;
inline constexpr std::size_t kDerivedMembers = 5;  // digest, resources, resource_ids, used, indexes
static_assert(boost::pfr::tuple_size_v<State> == kTables + kDerivedMembers,
              "State has a member that is neither in for_each_table nor counted as derived");

// The key of an entity that holds its own key.
struct OwnKey {
  friend auto operator<=>(const OwnKey&, const OwnKey&) = default;
};
LOCKSTEP_FIELDS(OwnKey)

// What is written of one entity: its key, then its fields.
template <class Table>
struct FactTable;
template <>
struct FactTable<StateHead> {
  using Key = OwnKey;
  using Entity = StateHead;
};
template <class Id, class T>
struct FactTable<Table<Id, T>> {
  using Key = OwnKey;
  using Entity = T;
};
template <class K, class T>
struct FactTable<std::map<K, T>> {
  using Key = K;
  using Entity = T;
};
template <>
struct FactTable<std::map<SpecHash, SpecEntry>> {
  using Key = SpecHash;
  using Entity = GroupSpec;
};

[[nodiscard]] inline HostId id_of(const Host& host) { return host.facts.id; }
[[nodiscard]] inline GroupId id_of(const Group& group) { return group.head.id; }

// visit(id, key, entity) in order. `id` grows within the table: the entity's own number, or its place from 1.
template <class Visit>
void for_each_entity(const StateHead& head, Visit&& visit) {
  visit(std::uint64_t{1}, OwnKey{}, head);
}
template <class Id, class T, class Visit>
void for_each_entity(const Table<Id, T>& table, Visit&& visit) {
  table.for_each([&](const T& entity) { visit(std::uint64_t{id_of(entity).value}, OwnKey{}, entity); });
}
template <class Visit>
void for_each_entity(const std::map<std::uint64_t, Client>& clients, Visit&& visit) {
  for (const auto& [key, client] : clients) visit(key, key, client);
}
template <class T, class Visit>
void for_each_entity(const std::map<std::string, T>& table, Visit&& visit) {
  std::uint64_t place = 0;
  for (const auto& [key, entity] : table) visit(++place, key, entity);
}
template <class Visit>
void for_each_entity(const std::map<SpecHash, SpecEntry>& specs, Visit&& visit) {
  std::uint64_t place = 0;
  for (const auto& [key, entry] : specs) visit(++place, key, *entry.spec);
}

// The entity of the other state that has the key of this one; null when there is none.
[[nodiscard]] inline const StateHead* find_entity(const StateHead& head, const OwnKey&, const StateHead&) {
  return &head;
}
template <class Id, class T>
[[nodiscard]] const T* find_entity(const Table<Id, T>& table, const OwnKey&, const T& like) {
  return table.find(id_of(like));
}
template <class K, class T>
[[nodiscard]] const T* find_entity(const std::map<K, T>& table, const K& key, const T&) {
  const auto found = table.find(key);
  return found == table.end() ? nullptr : &found->second;
}
[[nodiscard]] inline const GroupSpec* find_entity(const std::map<SpecHash, SpecEntry>& specs, const SpecHash& key,
                                                  const GroupSpec&) {
  const auto found = specs.find(key);
  return found == specs.end() ? nullptr : found->second.spec.get();
}

}  // namespace lockstep
