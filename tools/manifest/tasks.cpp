#include "tools/manifest/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::size_t kTasksTextMax = 65'536;
constexpr std::size_t kParenthesesMax = 32;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' || c == '_' || c == '-' ||
         c == '/';
}

// What is left of the text, taken from the front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : left_(text) {}

  void skip_spaces() {
    while (!left_.empty() && is_space(left_.front())) left_.remove_prefix(1);
  }
  [[nodiscard]] bool done() {
    skip_spaces();
    return left_.empty();
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!left_.starts_with(token)) return false;
    left_.remove_prefix(token.size());
    return true;
  }
  template <class Wanted>
  std::string_view take_while(Wanted&& wanted) {
    skip_spaces();
    std::size_t size = 0;
    while (size < left_.size() && wanted(left_[size])) ++size;
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  // Up to `end`, which is taken too; false when it is not there.
  bool take_until(char end, std::string_view& taken) {
    const std::size_t at = left_.find(end);
    if (at == std::string_view::npos) return false;
    taken = left_.substr(0, at);
    left_.remove_prefix(at + 1);
    return true;
  }
  [[nodiscard]] std::string_view left() const { return left_; }

 private:
  std::string_view left_;
};

// ---- select[...]: equality conditions joined by && ----------------------------------------------------------------

// `name` alone is an LSF boolean resource: an attribute of that name with the value true.
Result<void> parse_condition(Cursor& cursor, TaskTerm& term) {
  const std::string_view key = cursor.take_while(is_word);
  if (key.empty()) return bad(fmt::format("no condition at {}", in_quotes(cursor.left())));
  if (key == "hname") return bad("the condition on hname is not supported: a host is not chosen by its name");
  if (!cursor.take("==")) return add_select(term, key, "true");
  std::string_view value;
  const bool has_quote = cursor.take("'");
  if (!has_quote) value = cursor.take_while(is_word);
  if (has_quote && !cursor.take_until('\'', value)) return bad("a quote that does not end");
  if (value.empty()) return bad(fmt::format("{} is compared with nothing", in_quotes(key)));
  if (key == "type" && value == "any") return {};  // LSF: no condition at all
  return add_select(term, key, value);
}

// Parentheses around conjunctions change nothing, so they are only balanced.
Result<void> parse_select(std::string_view text, TaskTerm& term) {
  Cursor cursor(text);
  std::size_t open = 0;
  while (true) {
    while (cursor.take("(")) {
      if (++open > kParenthesesMax) return bad("too many parentheses");
    }
    if (cursor.take("!")) return bad("the operator ! is not supported: only == and &&");
    LOCKSTEP_TRY(parse_condition(cursor, term));
    while (open > 0 && cursor.take(")")) --open;
    if (cursor.done()) break;
    if (cursor.take("&&")) continue;
    const std::string_view rest = cursor.left();
    const std::size_t width = rest.size() > 1 && !is_word(rest[1]) && !is_space(rest[1]) ? 2 : 1;
    return bad(fmt::format("the operator {} is not supported: only == and &&", rest.substr(0, width)));
  }
  if (open > 0) return bad("a ( without its )");
  return {};
}

// ---- rusage[name=value:...] and span[...] ------------------------------------------------------------------------

Result<void> parse_rusage(std::string_view text, TaskTerm& term) {
  while (true) {
    const std::size_t colon = text.find(':');
    const std::string_view item = text.substr(0, colon);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return bad(fmt::format("{} is not name=value", in_quotes(trim(item))));
    LOCKSTEP_TRY(add_request(term, trim(item.substr(0, equals)), trim(item.substr(equals + 1))));
    if (colon == std::string_view::npos) return {};
    text.remove_prefix(colon + 1);
  }
}

Result<std::uint32_t> parse_count(std::string_view text, std::string_view what, std::uint32_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && end == text.data() + text.size() && is_digit(text[0]);
  if (!whole) return bad(fmt::format("{} {} is not a whole number", what, in_quotes(text)));
  if (error != std::errc{} || value > max) return bad(fmt::format("{} {} is more than {}", what, text, max));
  if (value == 0) return bad(fmt::format("{} is 0", what));
  return static_cast<std::uint32_t>(value);
}

Result<void> parse_span(std::string_view text, TaskTerm& term) {
  const std::size_t equals = text.find('=');
  const std::string_view key = trim(text.substr(0, equals));
  const std::string_view value = equals == std::string_view::npos ? "" : trim(text.substr(equals + 1));
  if (key == "ptile") {
    auto ptile = parse_count(value, "ptile", kTasksPerMemberMax);
    if (!ptile) return tl::unexpected(std::move(ptile).error());
    term.span_ptile = *ptile;
    return {};
  }
  if (key == "hosts" && value == "1") {
    term.span_hosts = 1;
    return {};
  }
  return bad("only ptile=n and hosts=1 are supported");
}

// ---- one term
// --------------------------------------------------------------------------------------------------------

Result<void> parse_section(std::string_view name, std::string_view inside, TaskTerm& term) {
  if (name == "select") return parse_select(inside, term);
  if (name == "rusage") return parse_rusage(inside, term);
  if (name == "span") return parse_span(inside, term);
  return bad("this section is not supported: only select, rusage and span");
}

// `cpu=4` or `span[ptile=2]`.
Result<void> parse_item(Cursor& cursor, TaskTerm& term) {
  const std::string_view word = cursor.take_while(is_word);
  if (word.empty()) return bad(fmt::format("neither name=value nor section[...] at {}", in_quotes(cursor.left())));
  if (cursor.take("=")) {
    return add_request(term, word, cursor.take_while([](char c) { return !is_space(c); }));
  }
  if (!cursor.take("[")) return bad(fmt::format("{} is neither name=value nor section[...]", in_quotes(word)));
  std::string_view inside;
  if (!cursor.take_until(']', inside)) return bad(fmt::format("{}[ without its ]", word));
  auto parsed = parse_section(word, inside, term);
  if (!parsed) return bad(fmt::format("{}[{}]: {}", word, trim(inside), parsed.error().message));
  return {};
}

Result<TaskTerm> parse_term(Cursor& cursor) {
  TaskTerm term;
  if (!cursor.take("{")) {
    const std::string_view digits = cursor.take_while([](char c) { return c != '*' && c != '{' && c != '+'; });
    auto count = parse_count(trim(digits), "the count", kTasksPerMemberMax);
    if (!count && cursor.left().empty())
      return bad(fmt::format("{} is not of the form N*{{...}}", in_quotes(trim(digits))));
    if (!count) return tl::unexpected(std::move(count).error());
    term.count = *count;
    if (!cursor.take("*")) return bad(fmt::format("no * after the count {}", term.count));
    if (!cursor.take("{")) return bad(fmt::format("no {{ after {}*", term.count));
  }
  std::string_view inside;
  if (!cursor.take_until('}', inside)) return bad("a { without its }");
  Cursor body(inside);
  while (!body.done()) LOCKSTEP_TRY(parse_item(body, term));
  finish_term(term);
  return term;
}

}  // namespace

Result<void> add_request(TaskTerm& term, std::string_view counter, std::string_view quantity) {
  if (!is_plain_key(counter)) return bad(fmt::format("{} is not the name of a counter", in_quotes(counter)));
  const auto same = [&](const Counter& known) { return known.name == counter; };
  if (std::any_of(term.requests.begin(), term.requests.end(), same)) {
    return bad(fmt::format("{} is given twice", counter));
  }
  if (term.requests.size() == kCountersMax) return bad(fmt::format("more than {} counters", kCountersMax));
  auto amount = parse_quantity(quantity, counter);
  if (!amount) return bad(fmt::format("{}: {}", counter, amount.error().message));
  if (*amount == 0) return bad(fmt::format("{}: a request of 0, leave it out", counter));
  term.requests.push_back({std::string(counter), *amount});
  return {};
}

Result<void> add_select(TaskTerm& term, std::string_view key, std::string_view value) {
  const auto same = [&](const KeyValue& known) { return known.key == key; };
  if (std::any_of(term.select.begin(), term.select.end(), same)) {
    return bad(fmt::format("{} is compared twice", in_quotes(key)));
  }
  if (term.select.size() == kListMax) return bad(fmt::format("more than {} conditions", kListMax));
  term.select.push_back({std::string(key), std::string(value)});
  return {};
}

void finish_term(TaskTerm& term) {
  std::sort(term.requests.begin(), term.requests.end());
  std::sort(term.select.begin(), term.select.end());
}

Result<std::vector<TaskTerm>> parse_tasks(std::string_view text) {
  if (text.size() > kTasksTextMax) return bad(fmt::format("a task request of more than {} bytes", kTasksTextMax));
  Cursor cursor(text);
  std::vector<TaskTerm> terms;
  if (cursor.done()) return bad("an empty task request: write N*{cpu=4 mem=8Gi}");
  do {
    if (terms.size() == kTaskTermsMax) return bad(fmt::format("more than {} terms", kTaskTermsMax));
    auto term = parse_term(cursor);
    if (!term) return bad(fmt::format("term {}: {}", terms.size() + 1, term.error().message));
    terms.push_back(std::move(*term));
    if (cursor.done()) return terms;
  } while (cursor.take("+"));
  return bad(fmt::format("no + at {}", in_quotes(cursor.left())));
}

}  // namespace lockstep
