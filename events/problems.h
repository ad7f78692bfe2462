#pragma once
// What validate() is written with: a bounded list of problems, and the checks that several fields share. Texts and
// paths are one line of printable text whatever was in the input. Private to events/.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/spec.h"

namespace lockstep {

inline constexpr std::size_t kProblemsMax = 1'000;

// Text of the input as it may stand in a message: control bytes and broken UTF-8 replaced, long text cut.
[[nodiscard]] std::string shown(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);
// A counter, attribute, label, level or variable: printable ASCII without spaces, 1 to kNameBytesMax bytes. Wider than
// is_name because other systems' keys are kept as they are (nvidia.com/gpu).
[[nodiscard]] bool is_key(std::string_view text);

class Problems {
 public:
  void add(std::string path, std::string text);
  [[nodiscard]] std::vector<Problem> take() { return std::move(problems_); }

  void name(const std::string& path, std::string_view text);
  void key(const std::string& path, std::string_view text);
  void key_or_empty(const std::string& path, std::string_view text);
  // UTF-8 without NUL, at most `bytes_max` long.
  void text(const std::string& path, std::string_view text, std::size_t bytes_max);
  void not_negative(const std::string& path, std::int64_t number);
  // False when the list is longer than `max`: the caller does not go into it.
  [[nodiscard]] bool list(const std::string& path, std::size_t size, std::size_t max);
  // Keys of a sorted list: each a key, in order, none twice.
  void sorted_keys(const std::string& path, const std::vector<KeyValue>& list);
  void sorted_keys(const std::string& path, const std::vector<Counter>& list);
  // Indexes of roles: in range, sorted, none twice.
  void sorted_roles(const std::string& path, const std::vector<RoleIndex>& roles, std::size_t role_count);
  void role(const std::string& path, RoleIndex role, std::size_t role_count);

  template <DescribedEnum E>
  void enumerator(const std::string& path, E value) {
    const auto number = static_cast<std::underlying_type_t<E>>(value);
    if (!is_enumerator<E>(number)) add(path, fmt::format("{} is not one of its values", number));
  }

 private:
  std::vector<Problem> problems_;
};

// spec.roles and what is in them (validate_roles.cpp).
void check_roles(Problems& problems, const std::vector<RoleSpec>& roles);
void check_topology(Problems& problems, const std::string& path, const Topology& topology);

}  // namespace lockstep
