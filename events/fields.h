#pragma once
// One list of fields per struct, checked by the compiler. Everything that goes over the fields of a struct (snapshot
// codec, digest, equality, dump, diff) asks for_each_field, so a field cannot be in one and missing in another: a
// member that LOCKSTEP_FIELDS does not name fails to compile (Boost.PFR counts the members of the aggregate).
//
//     struct Pool { std::string name{}; std::int64_t total{}; };
//     LOCKSTEP_FIELDS(Pool, name, total)
//
// Fields that are rebuilt from others are named apart and never walked:
//     LOCKSTEP_FIELDS_AND_DERIVED(Host, (id, info), (used))

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <boost/preprocessor/tuple/size.hpp>
#include <string_view>
#include <type_traits>

namespace lockstep {

template <class T>
using FieldList = boost::describe::describe_members<T, boost::describe::mod_public>;

template <class T>
inline constexpr std::size_t kFieldCount = boost::mp11::mp_size<FieldList<T>>::value;

template <class T>
concept Described = boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;

template <class E>
concept DescribedEnum = boost::describe::has_describe_enumerators<E>::value;

// visit(name, field) for every field in the order of the list. `object` may be const.
template <class T, class Visit>
constexpr void for_each_field(T& object, Visit&& visit) {
  boost::mp11::mp_for_each<FieldList<std::remove_const_t<T>>>(
      [&](auto field) { visit(std::string_view(field.name), object.*field.pointer); });
}

// visit(name, field of a, field of b), for comparing two objects of one type.
template <class T, class Visit>
constexpr void for_each_field(T& a, T& b, Visit&& visit) {
  boost::mp11::mp_for_each<FieldList<std::remove_const_t<T>>>(
      [&](auto field) { visit(std::string_view(field.name), a.*field.pointer, b.*field.pointer); });
}

template <DescribedEnum E>
[[nodiscard]] constexpr std::string_view name(E value) {
  std::string_view found = "?";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto entry) {
    if (entry.value == value) found = entry.name;
  });
  return found;
}

template <DescribedEnum E>
[[nodiscard]] constexpr bool from_name(std::string_view text, E& value) {
  bool found = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto entry) {
    if (text == entry.name) {
      value = entry.value;
      found = true;
    }
  });
  return found;
}

// True for a number that is one of E's enumerators: what a decoder asks before it casts.
template <DescribedEnum E>
[[nodiscard]] constexpr bool is_enumerator(std::underlying_type_t<E> number) {
  bool found = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto entry) { found = found || static_cast<std::underlying_type_t<E>>(entry.value) == number; });
  return found;
}

}  // namespace lockstep

// The check counts members with Boost.PFR, which costs the compiler seconds per file: it is made once per folder, in
// the file that defines LOCKSTEP_CHECK_FIELDS before its includes (fields_check.cpp).
#ifdef LOCKSTEP_CHECK_FIELDS
#include <boost/pfr.hpp>
#define LOCKSTEP_COUNT_FIELDS(Type, count)                \
  static_assert(boost::pfr::tuple_size_v<Type> == (count), \
                #Type " has a field that its LOCKSTEP_FIELDS does not name");
#else
#define LOCKSTEP_COUNT_FIELDS(Type, count)
#endif

#define LOCKSTEP_FIELDS(Type, ...)               \
  BOOST_DESCRIBE_STRUCT(Type, (), (__VA_ARGS__)) \
  LOCKSTEP_COUNT_FIELDS(Type, ::lockstep::kFieldCount<Type>)

#define LOCKSTEP_FIELDS_AND_DERIVED(Type, Fields, Derived) \
  BOOST_DESCRIBE_STRUCT(Type, (), Fields)                  \
  LOCKSTEP_COUNT_FIELDS(Type, ::lockstep::kFieldCount<Type> + BOOST_PP_TUPLE_SIZE(Derived))

#define LOCKSTEP_ENUM(Type, ...) BOOST_DESCRIBE_ENUM(Type, __VA_ARGS__)
