#pragma once
// Commands and events as one line of text, field by field, leaving out what has its default: for a failing step.

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "events/commands.h"
#include "events/walk.h"

namespace lockstep::model {

template <class T>
struct IsStrong : std::false_type {};
template <class Tag, class Rep>
struct IsStrong<Strong<Tag, Rep>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
[[nodiscard]] std::string say(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    const bool none = std::is_same_v<T, std::uint32_t> && value == static_cast<T>(kNoRole);
    return none ? "none" : std::to_string(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (IsStrong<T>::value) {
    return std::to_string(value.value);
  } else if constexpr (WalkShared<T>) {
    return say(*value);
  } else if constexpr (IsVector<T>::value) {
    std::string text = "[";
    for (const auto& item : value) text += (text.size() > 1 ? ", " : "") + say(item);
    return text + "]";
  } else {
    std::string text = "{";
    const T usual{};
    for_each_field(value, [&](std::string_view field, const auto& part) {
      bool is_usual = false;
      for_each_field(usual, [&](std::string_view other, const auto& usual_part) {
        if constexpr (std::is_same_v<decltype(part), decltype(usual_part)>) {
          if (field == other) is_usual = say(usual_part) == say(part);
        }
      });
      if (!is_usual) text += (text.size() > 1 ? " " : "") + std::string(field) + "=" + say(part);
    });
    return text + "}";
  }
}

[[nodiscard]] std::string say_command(const Command& command);
[[nodiscard]] std::string say_event(const Event& event);

}  // namespace lockstep::model
