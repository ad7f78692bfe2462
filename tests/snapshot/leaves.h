#pragma once
// Every single value of a state, one after the other, with the path by which a person would name it. Written apart from
// diff.cpp on purpose: the tests compare the two.

#include <functional>
#include <string>
#include <type_traits>

#include "filler.h"

namespace lockstep::test {

template <class T>
concept Leaf = WalkNumber<T> || WalkStrong<T> || std::is_same_v<T, std::string> || std::is_same_v<T, SpecHash>;

// visit(path, leaf&), in walk order.
template <class T, class Visit>
void for_each_leaf(const std::string& path, T& value, Visit& visit) {
  using Plain = std::remove_const_t<T>;
  if constexpr (Leaf<Plain>) {
    visit(path, value);
  } else if constexpr (WalkShared<Plain>) {
    for_each_leaf(path, *value, visit);  // for reading: nobody changes what is shared
  } else if constexpr (WalkVector<Plain>) {
    for (std::size_t i = 0; i < value.size(); ++i) for_each_leaf(path + "[" + std::to_string(i) + "]", value[i], visit);
  } else if constexpr (WalkMap<Plain>) {
    std::size_t i = 0;
    for (auto& [key, element] : value) for_each_leaf(path + "{" + std::to_string(i++) + "}", element, visit);
  } else {
    for_each_field(value, [&](std::string_view name, auto& field) {
      const bool part = name == "head" || name == "facts";
      for_each_leaf(part ? path : path + " / " + std::string(name), field, visit);
    });
  }
}

template <class Visit>
void for_each_leaf_of_group(const std::string& path, Group& group, const GroupSpec& spec, Visit& visit) {
  for_each_leaf(path, group.head, visit);
  for (std::size_t i = 0; i < group.roles.size(); ++i) {
    const std::string role = path + " / " + spec.roles[i].name;
    for_each_leaf(role, group.roles[i].head, visit);
    for_each_leaf(role, group.roles[i].members, visit);
    for_each_leaf(role + " / spares", group.roles[i].spares, visit);
  }
  for_each_leaf(path + " / claims", group.claims, visit);
  for_each_leaf(path + " / member_charges", group.member_charges, visit);
}

// Something else of the same type; what it was comes back by assignment.
template <Leaf T>
void change(T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = !value;
  } else if constexpr (DescribedEnum<T>) {
    value = Filler::another(value);
  } else if constexpr (WalkNumber<T>) {
    value = static_cast<T>(value + 1);
  } else if constexpr (WalkStrong<T>) {
    ++value.value;
  } else if constexpr (std::is_same_v<T, SpecHash>) {
    ++value.low;
  } else {
    value += "x";
  }
}

}  // namespace lockstep::test
