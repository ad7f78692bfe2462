#pragma once
// Fills every field that LOCKSTEP_FIELDS names, whatever the struct, so that no author of a field has to remember the
// tests of the codec. Counting fills with values that differ from the default and from each other; Random fills with
// anything, edges and empty lists included.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "events/commands.h"
#include "events/events.h"
#include "events/walk.h"

namespace lockstep::filler {

template <class E>
std::vector<E> enumerators() {
  std::vector<E> all;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto entry) { all.push_back(entry.value); });
  return all;
}

class Counting {
 public:
  // Not the value that is there, and (as far as the type has room) not one given before.
  template <class T>
  void number(T& value) {
    const T before = value;
    do value = static_cast<T>(++count_);
    while (value == before || value == T{});
  }
  template <class E>
  void code(E& value) {
    const std::vector<E> all = enumerators<E>();
    const E before = value;
    do value = all[++count_ % all.size()];
    while (value == before || static_cast<std::underlying_type_t<E>>(value) == 0);
  }
  void flag(bool& value) { value = !value; }
  void text(std::string& value) { value = "text-" + std::to_string(++count_); }
  std::size_t list_size() { return 2; }
  std::size_t pick(std::size_t count) { return ++count_ % count; }

 private:
  std::uint64_t count_ = 0;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  template <class T>
  void number(T& value) {
    switch (engine_() % 8) {
      case 0:
        value = 0;
        return;
      case 1:
        value = std::numeric_limits<T>::max();
        return;
      case 2:
        value = std::numeric_limits<T>::min();
        return;
      default:
        value = static_cast<T>(engine_());
    }
  }
  template <class E>
  void code(E& value) {
    const std::vector<E> all = enumerators<E>();
    value = all[engine_() % all.size()];
  }
  void flag(bool& value) { value = engine_() % 2 == 0; }
  void text(std::string& value) {
    value.resize(engine_() % 4 == 0 ? 0 : engine_() % 40);
    for (char& c : value) c = static_cast<char>(engine_());
  }
  std::size_t list_size() { return engine_() % 3 == 0 ? 0 : engine_() % 4; }
  std::size_t pick(std::size_t count) { return engine_() % count; }

 private:
  std::mt19937_64 engine_;
};

template <class T>
inline constexpr bool kIsVariant = false;
template <class... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;

template <class F, class T>
void fill(F& filler, T& value);

template <class F, class V, std::size_t... I>
void fill_alternative(F& filler, V& value, std::size_t index, std::index_sequence<I...>) {
  ((I == index ? fill(filler, value.template emplace<I>()) : void()), ...);
}

template <class F, class V>
void fill_variant(F& filler, V& value, std::size_t index) {
  fill_alternative(filler, value, index, std::make_index_sequence<std::variant_size_v<V>>{});
}

template <class F, class T>
void fill(F& filler, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    filler.flag(value);
  } else if constexpr (std::is_enum_v<T>) {
    filler.code(value);
  } else if constexpr (std::is_integral_v<T>) {
    filler.number(value);
  } else if constexpr (WalkStrong<T>) {
    filler.number(value.value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    filler.text(value);
  } else if constexpr (WalkShared<T>) {
    std::remove_cvref_t<decltype(*value)> inner;
    fill(filler, inner);
    value = T(std::move(inner));
  } else if constexpr (WalkVector<T>) {
    value.clear();
    value.resize(filler.list_size());
    for (auto& element : value) fill(filler, element);
  } else if constexpr (kIsVariant<T>) {
    fill_variant(filler, value, filler.pick(std::variant_size_v<T>));
  } else {
    static_assert(Described<T>);
    for_each_field(value, [&](std::string_view, auto& field) { fill(filler, field); });
  }
}

// The walk of walk.h, through variants too.
template <class T>
void put(ByteSink& sink, const T& value) {
  if constexpr (kIsVariant<T>) {
    const auto index = static_cast<std::uint32_t>(value.index());
    sink.put(&index, sizeof index);
    std::visit([&](const auto& body) { put(sink, body); }, value);
  } else if constexpr (WalkShared<T>) {
    put(sink, *value);
  } else if constexpr (WalkVector<T>) {
    const auto size = static_cast<std::uint32_t>(value.size());
    sink.put(&size, sizeof size);
    for (const auto& element : value) put(sink, element);
  } else if constexpr (Described<T>) {
    for_each_field(value, [&](std::string_view, const auto& field) { put(sink, field); });
  } else {
    walk_write(sink, value);
  }
}

// Event and Command have no field list (their bodies are variants); round_trip_test.cpp counts their fields.
inline std::vector<std::byte> bytes_of(const Event& event) {
  std::vector<std::byte> bytes;
  ByteSink sink{bytes};
  walk_write(sink, event.seq);
  walk_write(sink, event.prev);
  walk_write(sink, event.cause);
  walk_write(sink, event.time);
  walk_write(sink, event.actor);
  walk_write(sink, event.group);
  put(sink, event.body);
  return bytes;
}

inline std::vector<std::byte> bytes_of(const Command& command) {
  std::vector<std::byte> bytes;
  ByteSink sink{bytes};
  walk_write(sink, command.client);
  walk_write(sink, command.request);
  walk_write(sink, command.time);
  walk_write(sink, command.actor);
  put(sink, command.body);
  return bytes;
}

// `kind` counts from 0. Every field differs from its default.
inline Event counting_event(std::size_t kind, Seq seq) {
  Counting filler;
  Event event;
  event.seq = seq;
  event.prev = Seq{seq.value / 2};
  event.cause = Seq{seq.value - 1};
  fill(filler, event.time);
  fill(filler, event.actor);
  fill(filler, event.group);
  fill_variant(filler, event.body, kind);
  return event;
}

inline Command counting_command(std::size_t kind) {
  Counting filler;
  Command command;
  fill(filler, command.client);
  fill(filler, command.request);
  fill(filler, command.time);
  fill(filler, command.actor);
  fill_variant(filler, command.body, kind);
  return command;
}

inline std::uint64_t seed() {
  const char* given = std::getenv("LOCKSTEP_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "LOCKSTEP_SEED=" << seed << "\n";
  return seed;
}

}  // namespace lockstep::filler
