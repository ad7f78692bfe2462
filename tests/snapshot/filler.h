#pragma once
// A state in which every field of every entity differs from its default, made by one walk over the field lists: a field
// that is added to any of them is filled without anybody remembering it. What the walk cannot know, that a slice names
// a host that is there and a role index one of the spec's roles, is set afterwards, still to something that is no
// default.

#include <memory>
#include <type_traits>

#include "events/record.h"
#include "events/walk.h"
#include "snapshot/facts.h"
#include "statemachine/digest.h"
#include "statemachine/state.h"

namespace lockstep::test {

class Filler {
 public:
  template <class T>
  void fill(T& value) {
    ++counter_;
    if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (DescribedEnum<T>) {
      value = another(value);
    } else if constexpr (WalkNumber<T>) {
      const auto fresh = static_cast<T>(2 + counter_ % 90);
      value = value == fresh ? static_cast<T>(fresh + 1) : fresh;
    } else if constexpr (WalkStrong<T>) {
      fill(value.value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = "text-" + std::to_string(counter_);
    } else if constexpr (WalkShared<T>) {
      std::remove_cvref_t<decltype(*value)> inner;
      fill(inner);
      value = T(std::move(inner));
    } else if constexpr (WalkVector<T>) {
      value.clear();
      fill(value.emplace_back());
      fill(value.emplace_back());
    } else if constexpr (WalkMap<T>) {
      for (int i = 0; i < 2; ++i) {
        typename T::key_type key{};
        fill(key);
        fill(value[key]);
      }
    } else {
      static_assert(Described<T>, "the filler: a type without LOCKSTEP_FIELDS");
      for_each_field(value, [&](std::string_view, auto& field) { fill(field); });
    }
  }

  // An enumerator that is neither `value` nor None.
  template <class E>
  static E another(E value) {
    E found = value;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto entry) {
      const bool none = std::string_view(entry.name) == "None";
      if (!none && entry.value != value && found == value) found = entry.value;
    });
    return found;
  }

 private:
  std::uint64_t counter_ = 0;
};

inline GroupSpec filled_spec(Filler& filler) {
  GroupSpec spec;
  filler.fill(spec);
  for (RoleSpec& role : spec.roles) {
    for (After& after : role.after) after.role = 1;
  }
  for (ClaimSpec& claim : spec.claims) claim.roles = {1};
  for (FailureRule& rule : spec.failure.rules) rule.roles = {1};
  for (RoleBudget& budget : spec.failure.max_restarts_per_role) budget.role = 1;
  spec.success.roles = {1};
  return spec;
}

inline void place_on_hosts(std::vector<Slice>& slices) {
  for (std::size_t i = 0; i < slices.size(); ++i) {
    slices[i].host = HostId{static_cast<std::uint32_t>(1 + i % 2)};
    slices[i].term = 1;
  }
}

inline Group filled_group(Filler& filler, GroupId id, const SpecHash& spec) {
  Group group;
  filler.fill(group);
  group.head.id = id;
  group.head.spec = spec;
  group.head.end.role = 1;
  for (Role& role : group.roles) {
    role.head.wanted = 1;
    for (Member& member : role.members) place_on_hosts(member.hosts);
    for (Spare& spare : role.spares) place_on_hosts(spare.hosts);
  }
  std::map<ClaimKey, GroupClaim> claims;
  for (auto& [key, claim] : group.claims) claims[{static_cast<std::uint32_t>(claims.size()), {1, 1}}] = claim;
  group.claims = std::move(claims);
  std::map<MemberKey, Charges> charges;
  for (auto& [key, each] : group.member_charges) charges[{1, static_cast<std::uint32_t>(charges.size())}] = each;
  group.member_charges = std::move(charges);
  return group;
}

// At least two of everything; derived data in place.
inline State filled_state(std::uint64_t groups = 3) {
  Filler filler;
  State state;
  filler.fill(state.head);
  state.head.group_last = GroupId{groups + 5};
  state.head.host_last = HostId{7};
  for (std::uint32_t id : {1U, 2U, 6U}) {
    Host& host = state.hosts.insert(HostId{id});
    filler.fill(host);
    host.facts.id = HostId{id};
  }
  for (const char* name : {"bandwidth", "license.sim"}) filler.fill(state.pools[name]);
  for (const char* name : {"data-a", "data-b"}) filler.fill(state.claims[name]);
  for (std::uint64_t client : {3U, 77U}) filler.fill(state.clients[client]);
  std::vector<SpecHash> hashes;
  for (int i = 0; i < 2; ++i) {
    const GroupSpec spec = filled_spec(filler);
    hashes.push_back(content_hash(spec));
    state.specs[hashes.back()].spec = std::make_shared<const GroupSpec>(spec);
    for (const ClaimSpec& claim : spec.claims)
      filler.fill(state.claims[claim.name]);  // standalone, as "another" of two
  }
  for (std::uint64_t id = 2; id < 2 + groups; ++id) {  // 1 is forgotten already
    state.groups.insert(GroupId{id}) = filled_group(filler, GroupId{id}, hashes[id % 2]);
  }
  rebuild_derived(state);
  return state;
}

// One of most things: small enough to damage in every byte.
inline State small_state() {
  State state;
  state.head.seq = Seq{42};
  state.head.time = Time{1'000'000'000};
  state.head.group_last = GroupId{1};
  state.head.host_last = HostId{1};
  Host& host = state.hosts.insert(HostId{1});
  host.facts = {HostId{1}, {"n1", {{"cpu", 8000}}, {}, {}, false, false}};
  state.pools["licenses"].total = 3;
  GroupSpec spec;
  spec.roles.push_back({"worker", 1, 1, 1, {{1, {{"cpu", 1000}}, {}, 0, 0}}, {}, 0, {}, {}, {}});
  const SpecHash hash = content_hash(spec);
  state.specs[hash].spec = std::make_shared<const GroupSpec>(spec);
  Group& group = state.groups.insert(GroupId{1});
  group.head.id = GroupId{1};
  group.head.identity.name = "train";
  group.head.spec = hash;
  group.head.phase = GroupPhase::Running;
  group.roles.emplace_back().members.emplace_back().hosts = {{HostId{1}, 0, 1}};
  group.roles[0].members[0].phase = MemberPhase::Running;
  group.roles[0].head.wanted = 1;
  rebuild_derived(state);
  return state;
}

// Every fact of a state as the canonical bytes: equal bytes are equal states.
inline std::vector<std::byte> fact_bytes(const State& state) {
  std::vector<std::byte> bytes;
  ByteSink sink{bytes};
  for_each_table([&](FactKind, auto table) {
    for_each_entity(state.*table, [&](std::uint64_t id, const auto& key, const auto& entity) {
      walk_write(sink, id);
      walk_write(sink, key);
      walk_write(sink, entity);
    });
  });
  return bytes;
}

// A head that fits the state.
inline Head head_of(const State& state) {
  Head head{state.head.seq, {}, Epoch{5}};
  for (std::size_t i = 0; i < head.hash.size(); ++i) head.hash[i] = static_cast<std::byte>(i + 1);
  return head;
}

}  // namespace lockstep::test
