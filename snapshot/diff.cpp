// What differs between two states, by one walk over the same field lists that make digest, snapshot and dump.

#include "snapshot/facts.h"
#include "snapshot/snapshot.h"
#include "snapshot/walk_json.h"

namespace lockstep {
namespace {

constexpr std::size_t kValueBytesMax = 200;  // of one value in a line

// Where the walk is: a list up the call stack, made text only when there is something to say.
struct Path {
  const Path* parent = nullptr;
  std::string_view name{};  // " / name", or the entity's own words at the top
  std::string suffix{};     // "[3]" or "{key}", for elements
};

std::string spoken(const Path& path) {
  std::string out = path.parent == nullptr ? "" : spoken(*path.parent);
  if (!out.empty() && !path.name.empty()) out += " / ";
  out += path.name;
  out += path.suffix;
  return out;
}

template <class T>
std::string value_text(const T& value) {
  std::string text;
  if constexpr (DescribedEnum<T>) {
    text = name(value);
  } else {
    text = to_text(walk_json(value));
  }
  if (text.size() > kValueBytesMax) text = text.substr(0, kValueBytesMax) + "...";
  return text;
}

class Differ {
 public:
  explicit Differ(std::size_t limit) : limit_(limit) {}
  [[nodiscard]] bool full() const { return lines_.size() >= limit_; }
  std::vector<std::string> take() && { return std::move(lines_); }

  template <class T>
  void compare(const Path& path, const T& a, const T& b) {
    if (full()) return;
    if constexpr (std::is_same_v<T, SpecHash> || WalkNumber<T> || WalkStrong<T> || std::is_same_v<T, std::string>) {
      if (a != b) say(path, value_text(a), value_text(b));
    } else if constexpr (WalkVector<T>) {
      compare_vectors(path, a, b);
    } else if constexpr (WalkMap<T>) {
      compare_maps(path, a, b);
    } else {
      static_assert(Described<T>, "diff: a type without LOCKSTEP_FIELDS");
      for_each_field(a, b, [&](std::string_view field, const auto& x, const auto& y) {
        using Field = std::remove_cvref_t<decltype(x)>;
        compare(is_part<Field>(field) ? path : Path{&path, field, {}}, x, y);
      });
    }
  }

  // A group's roles go by their names: worker[3] rather than roles[0] / members[3].
  void compare(const Path& path, const Group& a, const Group& b) {
    names_ = a.spec ? a.spec.get() : b.spec.get();
    for_each_field(a, b, [&](std::string_view field, const auto& x, const auto& y) {
      using Field = std::remove_cvref_t<decltype(x)>;
      if constexpr (std::is_same_v<Field, std::vector<Role>>) {
        compare_roles(path, x, y);
      } else {
        compare(is_part<Field>(field) ? path : Path{&path, field, {}}, x, y);
      }
    });
  }

  template <class T>
  void only_in_first(const Path& path, const T& value) {
    say(path, value_text(value), "nothing");
  }
  template <class T>
  void only_in_second(const Path& path, const T& value) {
    say(path, "nothing", value_text(value));
  }

 private:
  void say(const Path& path, const std::string& a, const std::string& b) {
    if (!full()) lines_.push_back(spoken(path) + ": " + a + " -> " + b);
  }

  template <class T>
  void compare_vectors(const Path& path, const std::vector<T>& a, const std::vector<T>& b) {
    for (std::size_t i = 0; i < std::max(a.size(), b.size()) && !full(); ++i) {
      const Path element{&path, {}, "[" + std::to_string(i) + "]"};
      if (i >= b.size()) {
        only_in_first(element, a[i]);
      } else if (i >= a.size()) {
        only_in_second(element, b[i]);
      } else {
        compare(element, a[i], b[i]);
      }
    }
  }

  template <class K, class T>
  void compare_maps(const Path& path, const std::map<K, T>& a, const std::map<K, T>& b) {
    const auto at = [&](const K& key) { return Path{&path, {}, "{" + value_text(key) + "}"}; };
    auto x = a.begin();
    auto y = b.begin();
    while ((x != a.end() || y != b.end()) && !full()) {
      if (y == b.end() || (x != a.end() && x->first < y->first)) {
        only_in_first(at(x->first), x->second);
        ++x;
      } else if (x == a.end() || y->first < x->first) {
        only_in_second(at(y->first), y->second);
        ++y;
      } else {
        compare(at(x->first), x->second, y->second);
        ++x;
        ++y;
      }
    }
  }

  void compare_roles(const Path& path, const std::vector<Role>& a, const std::vector<Role>& b) {
    for (std::size_t i = 0; i < std::max(a.size(), b.size()) && !full(); ++i) {
      const bool named = names_ != nullptr && i < names_->roles.size();
      const std::string role = named ? names_->roles[i].name : "roles[" + std::to_string(i) + "]";
      const Path at{&path, role, {}};
      if (i >= b.size()) {
        only_in_first(at, a[i]);
      } else if (i >= a.size()) {
        only_in_second(at, b[i]);
      } else {
        compare_role(at, a[i], b[i]);
      }
    }
  }

  void compare_role(const Path& path, const Role& a, const Role& b) {
    for_each_field(a, b, [&](std::string_view field, const auto& x, const auto& y) {
      using Field = std::remove_cvref_t<decltype(x)>;
      const bool own = is_part<Field>(field) || std::is_same_v<Field, std::vector<Member>>;
      compare(own ? path : Path{&path, field, {}}, x, y);
    });
  }

  std::size_t limit_;
  std::vector<std::string> lines_;
  const GroupSpec* names_ = nullptr;
};

// ---- the entities' own words -------------------------------------------------------------------------------------

std::string title(const OwnKey&, const StateHead&) { return "state"; }
std::string title(const OwnKey&, const Host& host) {
  return "host " + std::to_string(host.facts.id.value) + " (" + host.facts.info.name + ")";
}
std::string title(const OwnKey&, const Group& group) {
  return "group " + std::to_string(group.head.id.value) + " (" + group.head.identity.name + ")";
}
std::string title(const std::string& key, const Pool&) { return "pool " + key; }
std::string title(const std::string& key, const StandaloneClaim&) { return "claim " + key; }
std::string title(std::uint64_t key, const Client&) { return "client " + std::to_string(key); }
std::string title(const SpecHash& key, const GroupSpec&) { return "spec " + hex(key); }

template <class T>
void compare_tables(Differ& differ, const T& a, const T& b) {
  for_each_entity(a, [&](std::uint64_t, const auto& key, const auto& entity) {
    if (differ.full()) return;
    const auto* other = find_entity(b, key, entity);
    if (other == &entity) return;  // one spec shared by both
    const Path path{nullptr, {}, title(key, entity)};
    if (other == nullptr) {
      differ.only_in_first(path, entity);
    } else {
      differ.compare(path, entity, *other);
    }
  });
  for_each_entity(b, [&](std::uint64_t, const auto& key, const auto& entity) {
    if (differ.full() || find_entity(a, key, entity) != nullptr) return;
    differ.only_in_second(Path{nullptr, {}, title(key, entity)}, entity);
  });
}

}  // namespace

std::vector<std::string> diff_states(const State& a, const State& b, std::size_t limit) {
  Differ differ(limit);
  for_each_table([&](FactKind, auto table) { compare_tables(differ, a.*table, b.*table); });
  return std::move(differ).take();
}

}  // namespace lockstep
