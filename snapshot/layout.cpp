#include "snapshot/layout.h"

#include <type_traits>

#include "events/walk.h"
#include "snapshot/checksum.h"
#include "snapshot/facts.h"

namespace lockstep {
namespace {

template <class T>
void put_number(std::string& out) {
  out += std::is_signed_v<T> ? 'i' : 'u';
  out += std::to_string(sizeof(T) * 8);
}

template <class T>
void put_type(std::string& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out += "bool";
  } else if constexpr (std::is_enum_v<T>) {
    put_number<std::underlying_type_t<T>>(out);
  } else if constexpr (std::is_integral_v<T>) {
    put_number<T>(out);
  } else if constexpr (WalkStrong<T>) {
    put_number<typename T::rep>(out);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out += "str";
  } else if constexpr (WalkVector<T>) {
    out += '[';
    put_type<typename T::value_type>(out);
    out += ']';
  } else if constexpr (WalkMap<T>) {
    out += '{';
    put_type<typename T::key_type>(out);
    out += ':';
    put_type<typename T::mapped_type>(out);
    out += '}';
  } else {
    static_assert(Described<T>, "snapshot: a type without LOCKSTEP_FIELDS");
    out += '(';
    const T object{};
    for_each_field(object, [&](std::string_view name, const auto& field) {
      if (out.back() != '(') out += ',';
      out += name;
      out += ':';
      put_type<std::remove_cvref_t<decltype(field)>>(out);
    });
    out += ')';
  }
}

template <class Member>
struct MemberType;
template <class T>
struct MemberType<T State::*> {
  using Type = T;
};

std::string make_layout() {
  std::string out;
  for_each_table([&](FactKind kind, auto member) {
    using Facts = FactTable<typename MemberType<decltype(member)>::Type>;
    out += name(kind);
    out += ' ';
    put_type<typename Facts::Key>(out);
    out += ' ';
    put_type<typename Facts::Entity>(out);
    out += '\n';
  });
  return out;
}

}  // namespace

const std::string& snapshot_layout() {
  static const std::string layout = make_layout();
  return layout;
}

std::uint64_t snapshot_fingerprint() {
  static const std::uint64_t fingerprint = checksum(std::as_bytes(std::span(snapshot_layout())));
  return fingerprint;
}

}  // namespace lockstep
