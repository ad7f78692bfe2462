#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// 1.5, 1e3, .inf, 0x1F, 0o17: what YAML takes for a number, wherever text is wanted.
bool is_number(std::string_view text) {
  if (is_integer(text)) return true;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == ".inf" || text == ".nan" || text == ".Inf" || text == ".NaN") return true;
  const bool based = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o');
  if (based) {
    return std::all_of(text.begin() + 2, text.end(),
                       [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && end == text.data() + text.size() &&
         (is_digit(text[0]) || text[0] == '.');
}

bool is_bool(std::string_view text) {
  return text == "true" || text == "false" || text == "True" || text == "False" || text == "TRUE" || text == "FALSE";
}

std::string_view kind_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::Null:
      return "nothing";
    case YamlNode::Kind::List:
      return "a list";
    case YamlNode::Kind::Map:
      return "a map";
    case YamlNode::Kind::Scalar:
      break;
  }
  if (node.quoted) return "text";
  return is_bool(node.text) ? "true or false" : is_number(node.text) ? "a number" : "text";
}

bool covers(std::string_view outer, std::string_view inner) {
  if (!inner.starts_with(outer)) return false;
  return inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[';
}

}  // namespace

std::string enum_text(std::string_view enumerator) {
  std::string text(enumerator);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

// ---- ReadContext
// -------------------------------------------------------------------------------------------------------

void ReadContext::add(std::string path, std::string text) {
  if (path.empty()) path = "document";
  if (is_full()) return;
  if (problems_.size() == kManifestProblemsMax) {
    problems_.push_back(
        {prefix_ + "document", fmt::format("more than {} problems; the rest is not shown", kManifestProblemsMax)});
    return;
  }
  problems_.push_back({one_line(prefix_ + path), one_line(text)});
}

bool ReadContext::spend(std::size_t amount) {
  if (spent_ > kYamlVisitsMax) return false;
  spent_ += std::min(amount, kYamlVisitsMax + 1);
  if (spent_ <= kYamlVisitsMax) return true;
  add("document", fmt::format("with its aliases it is larger than {} values and bytes of text", kYamlVisitsMax));
  return false;
}

bool ReadContext::mentions(std::string_view path) const {
  return std::any_of(problems_.begin(), problems_.end(), [&](const Problem& problem) {
    if (!problem.path.starts_with(prefix_)) return false;
    const std::string_view known = std::string_view(problem.path).substr(prefix_.size());
    return covers(known, path);
  });
}

// ---- Value
// -------------------------------------------------------------------------------------------------------------

std::string Value::path() const {
  if (parent_ == nullptr) return std::string(printable(name_));
  const std::string before = parent_->path();
  if (index_ != kNoIndex) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? printable(name_) : fmt::format("{}.{}", before, printable(name_));
}

bool Value::want(YamlNode::Kind kind, std::size_t max) const {
  if (node_->kind != kind) {
    problem(fmt::format("{} where {} is wanted", kind_text(*node_), kind == YamlNode::Kind::List ? "a list" : "a map"));
    return false;
  }
  const std::size_t size = kind == YamlNode::Kind::Map ? node_->items.size() / 2 : node_->items.size();
  if (size > max) {
    problem(fmt::format("{} entries are more than {}", size, max));
    return false;
  }
  return context_->spend(1);
}

bool Value::want_scalar(std::string_view what) const {
  if (node_->kind != YamlNode::Kind::Scalar) {
    problem(fmt::format("{} where {} is wanted", kind_text(*node_), what));
    return false;
  }
  return context_->spend(node_->text.size() + 1);
}

bool Value::none_of(const std::vector<std::string>& names) const {
  problem(fmt::format("{} is none of {}", in_quotes(node_->text), fmt::join(names, ", ")));
  return false;
}

bool Value::unique_keys() const {
  std::vector<std::string_view> names;
  names.reserve(node_->items.size() / 2);
  for (std::size_t i = 0; i + 1 < node_->items.size(); i += 2) names.push_back(node_->items[i]->text);
  std::sort(names.begin(), names.end());
  bool unique = true;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const bool first_repeat = names[i] == names[i - 1] && (i < 2 || names[i - 2] != names[i]);
    if (!first_repeat) continue;
    key(names[i], *node_).problem("the key is there twice");
    unique = false;
  }
  return unique;
}

bool Value::read(bool& out) const {
  if (!want_scalar("true or false")) return false;
  if (!node_->quoted && (node_->text == "true" || node_->text == "false")) {
    out = node_->text == "true";
    return true;
  }
  problem(fmt::format("{} is neither true nor false", in_quotes(node_->text)));
  return false;
}

bool Value::read_integer(std::int64_t& out, std::int64_t min, std::int64_t max) const {
  if (!want_scalar("a whole number")) return false;
  const std::string& text = node_->text;
  if (node_->quoted || !is_integer(text) || text[0] == '+') {
    problem(fmt::format("{}{} is not a whole number", kind_text(*node_) == "text" ? "the text " : "", in_quotes(text)));
    return false;
  }
  const std::string_view digits = text[0] == '-' ? std::string_view(text).substr(1) : std::string_view(text);
  if (digits.size() > 1 && digits[0] == '0') {
    problem(fmt::format("{} begins with 0; write it without", printable(text)));
    return false;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool overflow = error != std::errc{} || end != text.data() + text.size();
  if (text[0] == '-' && (overflow || value < min)) {
    problem(min >= 0 ? fmt::format("{} is negative", printable(text))
                     : fmt::format("{} is less than {}", printable(text), min));
    return false;
  }
  if (overflow || value > max || value < min) {
    problem(value < min && !overflow ? fmt::format("{} is less than {}", printable(text), min)
                                     : fmt::format("{} is more than {}", printable(text), max));
    return false;
  }
  out = value;
  return true;
}

bool Value::read(std::uint32_t& out) const {
  std::int64_t value = 0;
  // The largest value stands for "not set" where a limit may be left out.
  if (!read_integer(value, 0, std::int64_t{std::numeric_limits<std::uint32_t>::max()} - 1)) return false;
  out = static_cast<std::uint32_t>(value);
  return true;
}

bool Value::read(std::int32_t& out) const {
  std::int64_t value = 0;
  if (!read_integer(value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())) {
    return false;
  }
  out = static_cast<std::int32_t>(value);
  return true;
}

bool Value::read_text(std::string& out) const {
  if (!want_scalar("text")) return false;
  if (const std::string_view kind = kind_text(*node_); kind != "text") {
    problem(fmt::format("{} is {} where text is wanted; put it in quotes", printable(node_->text), kind));
    return false;
  }
  out = node_->text;
  return true;
}

bool Value::read_scalar(std::string& out) const {
  if (!want_scalar("text")) return false;
  out = node_->text;
  return true;
}

bool Value::read(Duration& out) const {
  if (!want_scalar("a duration")) return false;
  if (node_->text.starts_with('-')) {
    problem(fmt::format("{} is negative", in_quotes(node_->text)));
    return false;
  }
  auto duration = parse_duration(node_->text);
  if (!duration) {
    problem(std::move(duration).error().message);
    return false;
  }
  out = *duration;
  return true;
}

bool Value::read_quantity(std::int64_t& out, std::string_view counter) const {
  if (!want_scalar("a quantity")) return false;
  auto amount = parse_quantity(node_->text, counter);
  if (!amount) {
    problem(std::move(amount).error().message);
    return false;
  }
  out = *amount;
  return true;
}

// ---- MapReader
// ---------------------------------------------------------------------------------------------------------

MapReader::MapReader(const Value& value) : value_(value) {
  // More keys than any list may have entries are never read one by one.
  std::set<std::string_view> seen;
  is_map_ = value.each_pair(kListMax, [&](std::string_view key, const Value&) { seen.insert(key); });
  if (!is_map_) return;
  for (std::size_t i = 0; i < value.node().items.size(); i += 2) {
    asked_.push_back(seen.erase(value.node().items[i]->text) == 0);  // a repeated key has been complained of
  }
}

std::optional<Value> MapReader::find(std::string_view key) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (value_.node().items[2 * i]->text != key) continue;
    asked_[i] = true;
    const YamlNode& node = *value_.node().items[2 * i + 1];
    if (node.kind == YamlNode::Kind::Null) return {};
    return value_.key(value_.node().items[2 * i]->text, node);
  }
  return {};
}

std::optional<Value> MapReader::need(std::string_view key) {
  auto value = find(key);
  if (!value && is_map_) value_.key(key, value_.node()).problem("is missing");
  return value;
}

void MapReader::finish() {
  each_other([](std::string_view, const Value& value) { value.problem("unknown key"); });
}

}  // namespace lockstep
