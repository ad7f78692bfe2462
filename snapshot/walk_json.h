#pragma once
// Any described struct (events/fields.h) as JSON, by its field list. For .cpp files: the JSON library stays out of
// public headers.
//
//     names       lowerCamelCase of the field's; `head` and `facts` are parts of their entity, not levels of their own
//     numbers     as numbers, ids and times too; enums by name; 128-bit hashes as 32 hexadecimal digits
//     maps        keyed by text or number: an object; keyed by a struct: an array of objects, the key's fields first

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "events/walk.h"
#include "statemachine/digest.h"

namespace lockstep {

using Json = nlohmann::ordered_json;

// exit_code -> exitCode
[[nodiscard]] inline std::string camel(std::string_view snake) {
  std::string out;
  bool upper = false;
  for (const char c : snake) {
    if (c != '_') out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return out;
}

// A struct that only groups the plain fields of its entity for the digest: people need not see it.
template <class T>
[[nodiscard]] constexpr bool is_part(std::string_view field) {
  return Described<T> && (field == "head" || field == "facts");
}

[[nodiscard]] inline std::string hex(const SpecHash& hash) { return hex(Digest{hash.high, hash.low}); }

template <class T>
[[nodiscard]] Json walk_json(const T& value);

// The fields of `value` as members of `object`.
template <Described T>
void walk_json_into(Json& object, const T& value) {
  for_each_field(value, [&](std::string_view name, const auto& field) {
    if constexpr (Described<std::remove_cvref_t<decltype(field)>>) {
      if (is_part<std::remove_cvref_t<decltype(field)>>(name)) return walk_json_into(object, field);
    }
    object.push_back({camel(name), walk_json(field)});
  });
}

template <WalkMap T>
[[nodiscard]] Json walk_json_map(const T& map) {
  using Key = typename T::key_type;
  constexpr bool kStruct = Described<Key> && !std::is_same_v<Key, SpecHash>;
  Json out = kStruct ? Json::array() : Json::object();
  for (const auto& [key, value] : map) {
    if constexpr (kStruct) {
      Json& entry = out.emplace_back(Json::object());
      walk_json_into(entry, key);
      walk_json_into(entry, value);
    } else if constexpr (std::is_same_v<Key, std::string>) {
      out.push_back({key, walk_json(value)});
    } else {
      out.push_back({walk_json(key).dump(), walk_json(value)});
    }
  }
  return out;
}

template <class T>
Json walk_json(const T& value) {
  if constexpr (std::is_same_v<T, SpecHash> || std::is_same_v<T, Digest>) {
    return hex(value);
  } else if constexpr (DescribedEnum<T>) {
    return std::string(name(value));
  } else if constexpr (WalkStrong<T>) {
    return value.value;
  } else if constexpr (WalkNumber<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (WalkShared<T>) {
    return walk_json(*value);
  } else if constexpr (WalkVector<T>) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(walk_json(element));
    return array;
  } else if constexpr (WalkMap<T>) {
    return walk_json_map(value);
  } else {
    static_assert(Described<T>, "walk_json: a type without LOCKSTEP_FIELDS");
    Json object = Json::object();
    walk_json_into(object, value);
    return object;
  }
}

// One line. Bytes that are no UTF-8 become U+FFFD rather than an exception.
[[nodiscard]] inline std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lockstep
