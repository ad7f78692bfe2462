#pragma once
// How a plain struct and its Cap'n Proto struct correspond: one list per pair, read by Encode and by
// Decode, so that writing and reading cannot disagree. Private to the codec: no other file may include it.
//
//     template <>
//     struct Wire<MemberPlacement> : At<wire::MemberPlacement> {
//       template <class A, class W, class P>
//       static void fields(A& archive, W& wire, P& plain) {
//         LOCKSTEP_WIRE(member.role, Role);        // plain.member.role <-> wire.getRole() / setRole()
//         LOCKSTEP_WIRE(slices, Slices);
//       }
//     };
//
// That no field is forgotten is shown by tests/events/round_trip_test.cpp, which fills whatever LOCKSTEP_FIELDS names.

#include <capnp/any.h>
#include <capnp/message.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "events/codec.h"
#include "events/error.h"
#include "events/fields.h"
#include "events/lockstep.capnp.h"
#include "events/walk.h"

namespace lockstep {

// Correspondence of a plain struct; specialised in wire_spec.h and in the codec files.
template <class Plain>
struct Wire;

// Words of the struct's data and its pointers, as the first release that had the struct wrote them. When a struct
// grows, its Wire gets the old numbers here instead of those of the current schema: smaller ones were written by
// nobody.
template <class WireStruct>
struct At {
  using Struct = WireStruct;
  static constexpr std::size_t kDataWordsMin = capnp::_::structSize<WireStruct>().data;
  static constexpr std::size_t kPointersMin = capnp::_::structSize<WireStruct>().pointers;
};

// ---- size
// ------------------------------------------------------------------------------------------------------------

// Words that the pointers of `value` lead to in a message. An upper bound: sizeof of a plain struct is never less than
// the size of its Cap'n Proto struct (checked at each use), and everything else is counted as it is written.
template <class T>
std::size_t words_below(const T& value);

template <class T>
constexpr std::size_t kWordsOf = (sizeof(T) + 7) / 8 + 1;  // sizeof looks through references

// A plain struct with a Cap'n Proto struct of its own; the others are groups inside Event or Command.
template <class T>
concept BehindPointer = requires {
  typename Wire<T>::Struct;
};

template <class T>
std::size_t words_of_list(const std::vector<T>& list) {
  if constexpr (std::is_same_v<T, std::string> || Described<T>) {
    std::size_t words = 1 + list.size() * kWordsOf<T>;
    for (const T& element : list) words += words_below(element);
    return words;
  } else {
    return (list.size() * sizeof(T) + 7) / 8;
  }
}

template <class T>
std::size_t words_below(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.size() / 8 + 1;
  } else if constexpr (WalkShared<T>) {
    return kWordsOf<decltype(*value)> + words_below(*value);
  } else if constexpr (WalkVector<T>) {
    return words_of_list(value);
  } else if constexpr (Described<T>) {
    std::size_t words = 0;
    for_each_field(value, [&](std::string_view, const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (Described<Field>) words += kWordsOf<Field>;  // it may stand behind a pointer
      words += words_below(field);
    });
    return words;
  } else {
    return 0;
  }
}

// The same of a kind of a union, which may itself stand behind a pointer.
template <class T>
std::size_t words_of_body(const T& body) {
  return words_below(body) + (BehindPointer<T> ? kWordsOf<T> : 0);
}

// ---- messages (codec.cpp)
// --------------------------------------------------------------------------------------------

using Bytes = std::vector<std::byte>;

// Appends the segment table and one segment of at most `words_max` words, which `build` fills, to `out`.
void append_message(std::size_t words_max, Bytes& out, const std::function<void(capnp::MessageBuilder&)>& build);

// Calls `read` with the message in `bytes`; the error, if anything is wrong with its frame or with any pointer in it.
[[nodiscard]] Result<void> with_message(std::span<const std::byte> bytes,
                                        const std::function<Result<void>(capnp::MessageReader&)>& read);

// ---- archives
// --------------------------------------------------------------------------------------------------------

struct Encode {
  static constexpr bool kDecodes = false;
};

// Collects the first thing that is wrong; reading goes on, bounded by the message.
struct Decode {
  static constexpr bool kDecodes = true;
  const KnownSpec* known_specs{nullptr};
  ErrorCode code{ErrorCode::Damaged};
  const char* what{nullptr};  // nullptr: all is well
  std::uint64_t number{};     // the one that was found
  void wrong(ErrorCode error, const char* text, std::uint64_t found) {
    if (what != nullptr) return;
    code = error;
    what = text;
    number = found;
  }
  [[nodiscard]] std::string text() const { return std::string(what) + " (" + std::to_string(number) + ")"; }
};

template <class Plain, class Reader>
void check_struct_size(Decode& decode, const Reader& reader) {
  using Kind = Wire<Plain>;
  constexpr auto kSize = capnp::_::structSize<typename Kind::Struct>();
  const capnp::AnyStruct::Reader any(reader);
  const std::size_t data = any.getDataSection().size() / sizeof(capnp::word);
  const std::size_t pointers = any.getPointerSection().size();
  if (data < Kind::kDataWordsMin || pointers < Kind::kPointersMin) {
    decode.wrong(ErrorCode::Damaged, "a struct is missing or smaller than any release wrote it; its words", data);
  } else if (data > kSize.data || pointers > kSize.pointers) {
    decode.wrong(ErrorCode::NewerFormat, "a struct has fields that this release does not know; its words", data);
  }
}

template <class T>
struct EncodeField {
  // A code that the decoder would refuse must never be written.
  template <class Set>
  static void number(T plain, Set set) {
    const auto value = static_cast<std::underlying_type_t<T>>(plain);
    LOCKSTEP_CHECK(is_enumerator<T>(value), "no such code: " + std::to_string(value));
    set(value);
  }

  template <class W, class Set, class Init>
  static void run(W& wire, const T& plain, Set set, Init init) {
    if constexpr (std::is_enum_v<T>) {
      number(plain, [&](auto value) { set(wire, value); });
    } else if constexpr (std::is_integral_v<T>) {
      set(wire, plain);
    } else if constexpr (WalkStrong<T>) {
      set(wire, plain.value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!plain.empty()) set(wire, capnp::Text::Reader(plain.data(), plain.size()));
    } else if constexpr (WalkShared<T>) {
      EncodeField<std::remove_cvref_t<decltype(*plain)>>::run(wire, *plain, set, init);
    } else if constexpr (WalkVector<T>) {
      if (!plain.empty()) list(init(wire, static_cast<unsigned>(plain.size())), plain);
    } else {
      auto inner = init(wire);
      static_assert(capnp::_::structSize<typename Wire<T>::Struct>().total() <= kWordsOf<T>);
      Encode archive;
      Wire<T>::fields(archive, inner, plain);
    }
  }

  template <class L>
  static void list(L builder, const T& plain) {
    using Element = typename T::value_type;
    for (unsigned i = 0; i < builder.size(); ++i) {
      const Element& element = plain[i];
      if constexpr (std::is_enum_v<Element>) {
        EncodeField<Element>::number(element, [&](auto value) { builder.set(i, value); });
      } else if constexpr (std::is_integral_v<Element>) {
        builder.set(i, element);
      } else if constexpr (WalkStrong<Element>) {
        builder.set(i, element.value);
      } else if constexpr (std::is_same_v<Element, std::string>) {
        builder.set(i, capnp::Text::Reader(element.data(), element.size()));
      } else {
        static_assert(capnp::_::structSize<typename Wire<Element>::Struct>().total() <= kWordsOf<Element>);
        auto inner = builder[i];
        Encode archive;
        Wire<Element>::fields(archive, inner, element);
      }
    }
  }
};

template <class T>
struct DecodeField {
  template <class Value>
  static void run(Decode& decode, T& plain, Value&& value) {
    if constexpr (std::is_enum_v<T>) {
      if (!is_enumerator<T>(value))
        decode.wrong(ErrorCode::NewerFormat, "a code that this release does not know", value);
      plain = static_cast<T>(value);
    } else if constexpr (std::is_integral_v<T>) {
      plain = value;
    } else if constexpr (WalkStrong<T>) {
      plain.value = value;
    } else if constexpr (std::is_same_v<T, std::string>) {
      plain.assign(value.begin(), value.size());
    } else if constexpr (WalkShared<T>) {
      std::remove_cvref_t<decltype(*plain)> inner;
      DecodeField<decltype(inner)>::run(decode, inner, value);
      plain = T(std::move(inner));
    } else if constexpr (WalkVector<T>) {
      list(decode, plain, value);
    } else {
      check_struct_size<T>(decode, value);
      Wire<T>::fields(decode, value, plain);
    }
  }

  template <class L>
  static void list(Decode& decode, T& plain, const L& reader) {
    using Element = typename T::value_type;
    const unsigned size = reader.size();
    if (size == 0 || decode.what != nullptr) return;
    // One size for all elements of a list. Looked at before memory is asked for: an element of no bytes costs none.
    if constexpr (Described<Element>) check_struct_size<Element>(decode, reader[0]);
    if (decode.what != nullptr) return;
    plain.resize(size);
    for (unsigned i = 0; i < size; ++i) {
      if constexpr (Described<Element>) {
        const auto element = reader[i];
        Wire<Element>::fields(decode, element, plain[i]);
      } else {
        DecodeField<Element>::run(decode, plain[i], reader[i]);
      }
    }
  }
};

template <class A, class W, class P, class Get, class Set, class Init>
void wire_field(A& archive, W& wire, P& plain, Get get, Set set, Init init) {
  using T = std::remove_const_t<P>;
  if constexpr (A::kDecodes) {
    DecodeField<T>::run(archive, plain, get(wire));
  } else {
    EncodeField<T>::run(wire, plain, set, init);
  }
}

}  // namespace lockstep

// The accessors of field Name, as generic functions: only the one that is asked for is ever compiled.
#define LOCKSTEP_WIRE(field, Name)                                       \
  ::lockstep::wire_field(                                                \
      archive, wire, plain.field, [](auto& w) { return w.get##Name(); }, \
      [](auto& w, auto value) { w.set##Name(value); }, [](auto& w, auto... count) { return w.init##Name(count...); })
