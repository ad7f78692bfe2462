#include "statemachine/digest.h"

// Inlined: most of what is hashed is shorter than a call is worth.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "statemachine/digest_detail.h"

namespace lockstep {

namespace digest_detail {

void HashSink::put_more(const void* data, std::size_t size) {
  if (more_.empty()) more_.assign(small_.begin(), small_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ = small_.size();
  const auto* first = static_cast<const std::byte*>(data);
  more_.insert(more_.end(), first, first + size);
}

Digest HashSink::hash() const {
  const auto hash = more_.empty() ? XXH3_128bits(small_.data(), used_) : XXH3_128bits(more_.data(), more_.size());
  return Digest{hash.high64, hash.low64};
}

Digest hash_head(const GroupHead& head) {
  HashSink sink;
  walk_write(sink, EntityKind::GroupHead);
  for_each_field(head, [&](std::string_view, const auto& field) {
    const bool is_last_event = static_cast<const void*>(&field) == &head.last_event;
    if (!is_last_event) walk_write(sink, field);
  });
  return sink.hash();
}

Digest hash_last_event(const GroupHead& head) {
  return hash_entity(EntityKind::LastEvent, head.last_event, head.id);
}

Digest hash_group(const Group& group) {
  Digest sum;
  const GroupId id = group.head.id;
  add(sum, hash_head(group.head));
  add(sum, hash_last_event(group.head));
  for (RoleIndex role = 0; role < group.roles.size(); ++role) {
    const Role& each = group.roles[role];
    add(sum, hash_entity(EntityKind::RoleHead, each.head, id, role));
    for (std::uint32_t index = 0; index < each.members.size(); ++index) {
      add(sum, hash_entity(EntityKind::Member, each.members[index], id, MemberKey{role, index}));
    }
    for (std::uint32_t index = 0; index < each.spares.size(); ++index) {
      add(sum, hash_entity(EntityKind::Spare, each.spares[index], id, MemberKey{role, index}));
    }
  }
  for (const auto& [key, claim] : group.claims) add(sum, hash_entity(EntityKind::GroupClaim, claim, id, key));
  for (const auto& [key, charges] : group.member_charges) {
    add(sum, hash_entity(EntityKind::MemberCharges, charges, id, key));
  }
  return sum;
}

}  // namespace digest_detail

Digest compute_sum(const State& state) {
  using digest_detail::add;
  using digest_detail::EntityKind;
  using digest_detail::hash_entity;
  Digest sum;
  state.hosts.for_each([&](const Host& host) { add(sum, hash_entity(EntityKind::Host, host.facts)); });
  for (const auto& [name, pool] : state.pools) add(sum, hash_entity(EntityKind::Pool, pool, name));
  for (const auto& [name, claim] : state.claims) add(sum, hash_entity(EntityKind::StandaloneClaim, claim, name));
  for (const auto& [id, client] : state.clients) {
    add(sum, hash_entity(EntityKind::ClientHead, client.head, id));
    for (const auto& [request, answer] : client.answers) add(sum, hash_entity(EntityKind::Answer, answer, id, request));
  }
  // A spec's hash stands for its content.
  for (const auto& [hash, entry] : state.specs) add(sum, hash_entity(EntityKind::Spec, hash));
  state.groups.for_each([&](const Group& group) { add(sum, digest_detail::hash_group(group)); });
  return sum;
}

namespace {

// Less that of an empty head, so that an empty state has digest 0.
Digest with_head(Digest sum, const StateHead& head) {
  digest_detail::add(sum, digest_detail::hash_entity(digest_detail::EntityKind::StateHead, head));
  digest_detail::subtract(sum, digest_detail::hash_entity(digest_detail::EntityKind::StateHead, StateHead{}));
  return sum;
}

}  // namespace

Digest compute_digest(const State& state) { return with_head(compute_sum(state), state.head); }

Digest State::digest() const { return with_head(sum, head); }

std::string hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {digest.high, digest.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 0xfU];
  }
  return text;
}

}  // namespace lockstep
