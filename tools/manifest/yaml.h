#pragma once
// YAML (and so JSON) text as a plain tree, with bounds, and a typed reader over it. The tree knows where its nodes
// stand and which scalars were quoted. The reader knows the path of every value, collects everything that is wrong,
// and refuses keys that nobody asked for. For this folder and tools/topology; no yaml-cpp type is seen here.
//
//     MapReader map(value);                 // a problem when it is no map, or a key is there twice
//     map.number("replicas", role.replicas);
//     map.finish();                         // a problem for every key that nobody asked for

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/spec.h"

namespace lockstep {

inline constexpr std::size_t kYamlNodesMax = 2'000'000;  // of one text
inline constexpr std::size_t kYamlDepthMax = 64;
// Commas and brackets of one text. The parser keeps all tokens of a bracket until it is closed, at 140 bytes each.
inline constexpr std::size_t kYamlFlowMax = 1'000'000;
inline constexpr std::size_t kYamlDocumentsMax = 1'024;
// Nodes and bytes of scalars that may be looked at in one text. Aliases make a small text large: what they stand for is
// counted each time.
inline constexpr std::size_t kYamlVisitsMax = 64U << 20U;
inline constexpr std::size_t kManifestProblemsMax = 1'000;

struct YamlNode {
  enum class Kind : std::uint8_t { Null, Scalar, List, Map };
  Kind kind{Kind::Null};
  bool quoted{false};
  std::uint32_t line{};                // from 1
  std::uint32_t column{};              // from 1
  std::string text;                    // of a scalar
  std::vector<const YamlNode*> items;  // of a list; of a map key, value, key, value ...
};

struct YamlText {
  std::deque<YamlNode> nodes;  // owns them
  std::vector<const YamlNode*> documents;
  std::vector<Problem> problems;  // of syntax and bounds: "line 3, column 7"; the documents before it are there
};

[[nodiscard]] YamlText parse_yaml(std::string_view text);

// The problems of the documents of one text, a bounded number of them, and what was spent on reading it.
class ReadContext {
 public:
  // Before the paths of a document; of several, each has its own.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  void add(std::string path, std::string text);
  // False, and once a problem, when the document is larger than may be.
  bool spend(std::size_t amount);
  // No more problems are taken.
  [[nodiscard]] bool is_full() const { return problems_.size() > kManifestProblemsMax; }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  [[nodiscard]] std::vector<Problem> take() { return std::move(problems_); }
  // True when `path` of this document, or what it is in, has a problem already.
  [[nodiscard]] bool mentions(std::string_view path) const;
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  std::string prefix_{};
  std::vector<Problem> problems_{};
  std::size_t spent_ = 0;
};

// A node and the way to it. Lives on the stack of who reads; paths are made only when there is a problem.
class Value {
 public:
  Value(ReadContext& context, const YamlNode& node) : context_(&context), node_(&node) {}
  [[nodiscard]] Value key(std::string_view name, const YamlNode& node) const { return {*this, name, kNoIndex, node}; }
  [[nodiscard]] Value item(std::size_t index, const YamlNode& node) const { return {*this, {}, index, node}; }

  [[nodiscard]] const YamlNode& node() const { return *node_; }
  [[nodiscard]] ReadContext& context() const { return *context_; }
  [[nodiscard]] std::string path() const;
  void problem(std::string text) const { context_->add(path(), std::move(text)); }

  // Each leaves `out` alone and adds a problem when the value is of another kind or does not fit.
  bool read(bool& out) const;
  bool read_integer(std::int64_t& out, std::int64_t min, std::int64_t max) const;
  bool read(std::uint32_t& out) const;
  bool read(std::int32_t& out) const;
  // Text that is neither a number nor true, false or null, unless it is quoted.
  bool read_text(std::string& out) const;
  // Any scalar, as it is written: 8080, true and "x" alike.
  bool read_scalar(std::string& out) const;
  bool read(Duration& out) const;
  bool read_quantity(std::int64_t& out, std::string_view counter) const;
  template <class E>
  bool read_enum(E& out, std::size_t first = 0) const;

  // visit(item) for each; a problem when it is no list, or longer than `max`.
  template <class Visit>
  bool each(std::size_t max, Visit&& visit) const;
  // visit(key, value) for each pair of a map with free keys; a repeated key is a problem, and is visited once.
  template <class Visit>
  bool each_pair(std::size_t max, Visit&& visit) const;

 private:
  static constexpr std::size_t kNoIndex = ~std::size_t{0};
  Value(const Value& parent, std::string_view name, std::size_t index, const YamlNode& node)
      : context_(parent.context_), node_(&node), parent_(&parent), name_(name), index_(index) {}
  bool want(YamlNode::Kind kind, std::size_t max) const;
  bool want_scalar(std::string_view what) const;
  bool none_of(const std::vector<std::string>& names) const;
  bool unique_keys() const;

  ReadContext* context_;
  const YamlNode* node_;
  const Value* parent_ = nullptr;
  std::string_view name_{};
  std::size_t index_ = kNoIndex;
};

// A map with known keys. Those that are asked for are known; finish() complains of the others.
class MapReader {
 public:
  explicit MapReader(const Value& value);
  MapReader(const MapReader&) = delete;
  MapReader& operator=(const MapReader&) = delete;

  [[nodiscard]] bool is_map() const { return is_map_; }
  // Null stands for "left out".
  [[nodiscard]] std::optional<Value> find(std::string_view key);
  // A problem when the key is not there.
  [[nodiscard]] std::optional<Value> need(std::string_view key);
  void ignore(std::string_view key) { (void)find(key); }

  template <class T>
  bool read(std::string_view key, T& out) {
    const auto value = find(key);
    return !value || value->read(out);
  }
  template <class E>
  bool read_enum(std::string_view key, E& out, std::size_t first = 0) {
    const auto value = find(key);
    return !value || value->template read_enum<E>(out, first);
  }
  bool read_text(std::string_view key, std::string& out) {
    const auto value = find(key);
    return !value || value->read_text(out);
  }
  // Keys that were not asked for, with their values.
  template <class Visit>
  void each_other(Visit&& visit);
  void finish();

 private:
  Value value_;
  bool is_map_ = false;
  std::vector<bool> asked_;
};

// "FailGroup" -> "failGroup", as manifests spell it.
[[nodiscard]] std::string enum_text(std::string_view enumerator);

// ---- templates
// -------------------------------------------------------------------------------------------------------

// The enumerators from the `first` on: those before are not for manifests.
template <class E>
bool Value::read_enum(E& out, std::size_t first) const {
  if (!want_scalar("text")) return false;
  std::vector<std::string> names;
  bool found = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto entry) {
    if (first > 0) {
      --first;
      return;
    }
    names.push_back(enum_text(entry.name));
    if (names.back() != node_->text) return;
    out = entry.value;
    found = true;
  });
  return found || none_of(names);
}

template <class Visit>
bool Value::each(std::size_t max, Visit&& visit) const {
  if (!want(YamlNode::Kind::List, max)) return false;
  for (std::size_t i = 0; i < node_->items.size(); ++i) {
    if (!context_->spend(1)) return false;
    visit(item(i, *node_->items[i]));
  }
  return true;
}

template <class Visit>
bool Value::each_pair(std::size_t max, Visit&& visit) const {
  if (!want(YamlNode::Kind::Map, max)) return false;
  const bool unique = unique_keys();
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i + 1 < node_->items.size(); i += 2) {
    const std::string& name = node_->items[i]->text;
    if (!unique && !seen.insert(name).second) continue;
    if (!context_->spend(name.size() + 1)) return false;
    visit(name, key(name, *node_->items[i + 1]));
  }
  return true;
}

template <class Visit>
void MapReader::each_other(Visit&& visit) {
  if (!is_map_) return;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i]) continue;
    asked_[i] = true;
    const std::string& name = value_.node().items[2 * i]->text;
    if (!value_.context().spend(name.size() + 1)) return;
    visit(name, value_.key(name, *value_.node().items[2 * i + 1]));
  }
}

}  // namespace lockstep
