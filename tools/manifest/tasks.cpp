#include "tools/manifest/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::size_t kTasksTextMax = 65'536;
constexpr std::size_t kParenthesesMax = 32;

// Sections of LSF that Lockstep has no field for, and what to use instead.
struct Section {
  std::string_view name;
  std::string_view instead;
};
constexpr std::array kNotCarriedSections{
    Section{"order", ""},
    Section{"same", "use select with the value wanted"},
    Section{"cu", "use topology"},
    Section{"affinity", "ask for cores with cpu"},
};

// A term, and what it says besides: "cu[maxcus=1] is not carried: use topology".
struct ParsedTerm {
  TaskTerm task{};
  std::vector<std::string> not_carried{};
};

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

void leave_out(ParsedTerm& term, std::string_view section, std::string_view inside, std::string_view instead) {
  term.not_carried.push_back(
      fmt::format("{}[{}] is not carried{}{}", section, printable(trim(inside)), instead.empty() ? "" : ": ", instead));
}

// `${cores}` or `$cores`, outside of quotes: a script as it stands before the shell has read it.
Result<void> refuse_variables(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (quoted || text[i] != '$') continue;
    Cursor cursor(text.substr(i + 1));
    cursor.take("{");
    return bad(fmt::format("the shell variable ${} is not known here: write its value",
                           printable(cursor.take_while(is_word))));
  }
  return {};
}

// ---- select[...]: conditions joined by && -------------------------------------------------------------------------

Result<std::string_view> parse_value(Cursor& cursor, std::string_view key) {
  std::string_view value;
  const bool has_quote = cursor.take("'");
  if (!has_quote) value = cursor.take_while(is_word);
  if (has_quote && !cursor.take_until('\'', value)) return bad("a quote that does not end");
  if (value.empty()) return bad(fmt::format("{} is compared with nothing", in_quotes(key)));
  return value;
}

// `name` alone is an LSF boolean resource: an attribute of that name with the value true. A host is selected by what it
// has: conditions on its name and on what it has not are left out.
Result<void> parse_condition(Cursor& cursor, ParsedTerm& term) {
  const std::string_view from = cursor.left();
  const bool is_not = cursor.take("!");
  const std::string_view key = cursor.take_while(is_word);
  const bool is_other = cursor.take("!=");
  const bool is_compared = is_other || cursor.take("==");
  if (is_not && (key.empty() || is_compared)) return bad("the operator ! is not supported: only before a name alone");
  if (key.empty()) return bad(fmt::format("no condition at {}", in_quotes(trim(from))));
  Result<std::string_view> value = "true";
  if (is_compared) value = parse_value(cursor, key);
  LOCKSTEP_TRY(value);
  if (is_not || is_other || key == "hname") {
    leave_out(term, "select", from.substr(0, from.size() - cursor.left().size()),
              "use an attribute of the hosts wanted");
    return {};
  }
  if (key == "type" && *value == "any") return {};  // LSF: no condition at all
  return add_select(term.task, key, *value);
}

// Parentheses around conjunctions change nothing, so they are only balanced.
Result<void> parse_select(std::string_view text, ParsedTerm& term) {
  Cursor cursor(text);
  std::size_t open = 0;
  while (true) {
    while (cursor.take("(")) {
      if (++open > kParenthesesMax) return bad("too many parentheses");
    }
    LOCKSTEP_TRY(parse_condition(cursor, term));
    while (open > 0 && cursor.take(")")) --open;
    if (cursor.done()) break;
    if (cursor.take("&&")) continue;
    return bad(fmt::format("the operator at {} is not supported: only ==, !=, ! and &&", in_quotes(cursor.left())));
  }
  if (open > 0) return bad("a ( without its )");
  return {};
}

// ---- rusage[name=value:...] and span[...] ------------------------------------------------------------------------

Result<void> parse_rusage(std::string_view text, TaskTerm& term) {
  Cursor cursor(text);
  do {
    const std::string_view item = trim(cursor.left());
    const std::string_view name = cursor.take_while(is_word);
    if (name.empty() || !cursor.take("=")) return bad(fmt::format("{} is not name=value", in_quotes(item)));
    LOCKSTEP_TRY(add_request(term, name, trim(cursor.take_while([](char c) { return c != ':'; }))));
  } while (cursor.take(":"));
  return {};
}

Result<std::uint32_t> parse_count(std::string_view text, std::string_view what, std::uint32_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && end == text.data() + text.size() && is_digit(text[0]);
  if (!whole) return bad(fmt::format("{} {} is not a whole number", what, in_quotes(text)));
  if (error != std::errc{} || value > max) return bad(fmt::format("{} {} is more than {}", what, printable(text), max));
  if (value == 0) return bad(fmt::format("{} is 0", what));
  return static_cast<std::uint32_t>(value);
}

Result<void> parse_span(std::string_view text, TaskTerm& term) {
  const std::size_t equals = text.find('=');
  const std::string_view key = trim(text.substr(0, equals));
  const std::string_view value = equals == std::string_view::npos ? "" : trim(text.substr(equals + 1));
  if (key == "ptile") {
    if (term.span_ptile != 0) return bad("ptile is given twice");
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

Result<void> parse_inside(std::string_view name, std::string_view inside, ParsedTerm& term) {
  if (name == "select") return parse_select(inside, term);
  if (name == "rusage") return parse_rusage(inside, term.task);
  if (name == "span") return parse_span(inside, term.task);
  for (const Section& section : kNotCarriedSections) {
    if (section.name != name) continue;
    leave_out(term, name, inside, section.instead);
    return {};
  }
  return bad("no section has this name: only select, order, rusage, span, same, cu and affinity");
}

// `[ptile=2]`, after its name.
Result<void> parse_section(Cursor& cursor, std::string_view name, ParsedTerm& term) {
  if (name.empty()) return bad(fmt::format("neither name=value nor section[...] at {}", in_quotes(cursor.left())));
  if (!cursor.take("[")) return bad(fmt::format("{} is neither name=value nor section[...]", in_quotes(name)));
  std::string_view inside;
  if (!cursor.take_until(']', inside)) return bad(fmt::format("{}[ without its ]", printable(name)));
  auto parsed = parse_inside(name, inside, term);
  if (!parsed) return bad(fmt::format("{}[{}]: {}", printable(name), printable(trim(inside)), parsed.error().message));
  return {};
}

// `cpu=4` or `span[ptile=2]`.
Result<void> parse_item(Cursor& cursor, ParsedTerm& term) {
  const std::string_view word = cursor.take_while(is_word);
  if (word.empty() || !cursor.take("=")) return parse_section(cursor, word, term);
  return add_request(term.task, word, cursor.take_while([](char c) { return !is_space(c); }));
}

// `N*` and `{...}`.
Result<ParsedTerm> parse_term(Cursor& cursor) {
  ParsedTerm term;
  if (!cursor.take("{")) {
    const std::string_view digits = cursor.take_while([](char c) { return c != '*' && c != '{' && c != '+'; });
    auto count = parse_count(trim(digits), "the count", kTasksPerMemberMax);
    if (!count && cursor.left().empty())
      return bad(fmt::format("{} is not of the form N*{{...}}", in_quotes(trim(digits))));
    if (!count) return tl::unexpected(std::move(count).error());
    term.task.count = *count;
    if (!cursor.take("*")) return bad(fmt::format("no * after the count {}", *count));
    if (!cursor.take("{")) return bad(fmt::format("no {{ after {}*", *count));
  }
  std::string_view inside;
  if (!cursor.take_until('}', inside)) return bad("a { without its }");
  Cursor body(inside);
  while (!body.done()) LOCKSTEP_TRY(parse_item(body, term));
  return term;
}

// LSF's `span[ptile=1]` without braces: the whole text is one term.
bool begins_with_section(Cursor cursor) { return !cursor.take_while(is_word).empty() && cursor.take("["); }

Result<ParsedTerm> parse_sections(Cursor& cursor) {
  ParsedTerm term;
  while (!cursor.done()) LOCKSTEP_TRY(parse_section(cursor, cursor.take_while(is_word), term));
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

Result<TasksResult> parse_tasks(std::string_view text) {
  if (text.size() > kTasksTextMax) return bad(fmt::format("a task request of more than {} bytes", kTasksTextMax));
  LOCKSTEP_TRY(refuse_variables(text));
  Cursor cursor(text);
  TasksResult result;
  if (cursor.done()) return bad("an empty task request: write N*{cpu=4 mem=8Gi}");
  const bool has_braces = !begins_with_section(cursor);
  do {
    if (result.terms.size() == kTaskTermsMax) return bad(fmt::format("more than {} terms", kTaskTermsMax));
    auto term = has_braces ? parse_term(cursor) : parse_sections(cursor);
    const std::size_t number = result.terms.size() + 1;
    if (!term) return bad(fmt::format("term {}: {}", number, term.error().message));
    finish_term(term->task);
    result.terms.push_back(std::move(term->task));
    for (const std::string& what : term->not_carried) {
      result.not_carried.push_back(fmt::format("term {}: {}", number, what));
    }
    if (cursor.done()) return result;
  } while (cursor.take("+"));
  return bad(fmt::format("no + at {}", in_quotes(cursor.left())));
}

}  // namespace lockstep
