#pragma once
// Guards through which apply changes the state. A guard takes the entity out of everything derived from it (digest,
// counts, timers) and puts it back, as it is then, at the end of its life; so no field can be changed behind the back
// of the digest or an index, and there is one place that keeps each. Guards of different entities may overlap in time;
// two of the same entity must not. Private to statemachine/.

#include <utility>
#include <vector>

#include "events/error.h"
#include "statemachine/derived.h"
#include "statemachine/digest_detail.h"
#include "statemachine/state.h"

namespace lockstep::edit {

using digest_detail::EntityKind;
using digest_detail::hash_entity;

// Any entity whose only derived datum is the digest.
template <class Value, class... Key>
class Plain {
 public:
  Plain(State& state, EntityKind kind, Value& value, Key... key)
      : state_(state), kind_(kind), value_(value), key_(std::move(key)...) {
    digest_detail::subtract(state_.sum, hash());
  }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  ~Plain() { digest_detail::add(state_.sum, hash()); }
  Value* operator->() { return &value_; }
  Value& operator*() { return value_; }

 private:
  Digest hash() const {
    return std::apply([&](const auto&... key) { return hash_entity(kind_, value_, key...); }, key_);
  }
  State& state_;
  EntityKind kind_;
  Value& value_;
  std::tuple<Key...> key_;
};

// A group's head and role heads: their clocks and the group's phase.
class EditGroup {
 public:
  EditGroup(State& state, Group& group);
  EditGroup(const EditGroup&) = delete;
  EditGroup& operator=(const EditGroup&) = delete;
  ~EditGroup();
  GroupHead* operator->() { return &group_.head; }
  RoleHead& role(RoleIndex role);
  [[nodiscard]] const Group& group() const { return group_; }

 private:
  State& state_;
  Group& group_;
  struct EditedRole {
    RoleIndex role;
    Time resize_deadline;  // as it was
  };
  std::vector<EditedRole> roles_;  // whose heads are out of the digest
  derived::GroupClocks clocks_;    // as they were
  GroupPhase phase_;
};

// Where the group's history ends.
void set_last_event(State& state, Group& group, Seq seq);

// One member: its phase counts, clocks, whether it can start, and what its claims mean to the barrier.
class EditMember {
 public:
  EditMember(State& state, Group& group, MemberKey key);
  EditMember(const EditMember&) = delete;
  EditMember& operator=(const EditMember&) = delete;
  ~EditMember();
  Member* operator->() { return &member_; }
  // Gives back what it holds, then holds `slices`.
  void set_hosts(std::vector<Slice> slices);

 private:
  void count(int sign);
  State& state_;
  Group& group_;
  MemberKey key_;
  Member& member_;
  Time recover_deadline_;
  Time stop_deadline_;
  bool required_;
  bool armed_;
};

// Containers whose elements are entities.
void add_member(State& state, Group& group, RoleIndex role);
void set_spares(State& state, Group& group, RoleIndex role, std::vector<Spare> spares);
void set_claim(State& state, Group& group, const ClaimKey& key, ClaimPhase phase);
void set_standalone_claim(State& state, const std::string& name, ClaimPhase phase);
void set_charges(State& state, Group& group, const MemberKey& key, std::vector<Time> times);

}  // namespace lockstep::edit
