#include "tools/topology/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::uint32_t kRepeatMax = 1'000;  // as Go has it
constexpr std::uint32_t kNoEnd = 0xffffffffU;

bool is_word_byte(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// {2}, {2,} or {2,4}; kNoEnd as `last` is no end.
struct Repeat {
  std::uint32_t first{};
  std::uint32_t last{};
};

std::optional<std::uint32_t> take_count(std::string_view& text) {
  std::uint32_t count = 0;
  std::size_t size = 0;
  for (; size < text.size() && is_digit(text[size]) && count <= kRepeatMax; ++size) {
    count = count * 10 + static_cast<std::uint32_t>(text[size] - '0');
  }
  text.remove_prefix(size);
  if (size == 0 || count > kRepeatMax) return {};
  return count;
}

// What follows the `{`.
std::optional<Repeat> take_repeat(std::string_view& text) {
  const auto first = take_count(text);
  if (!first) return {};
  Repeat repeat{*first, *first};
  if (text.starts_with(',')) {
    text.remove_prefix(1);
    repeat.last = kNoEnd;
    if (!text.starts_with('}')) {
      const auto last = take_count(text);
      if (!last || *last < *first) return {};
      repeat.last = *last;
    }
  }
  if (!text.starts_with('}')) return {};
  text.remove_prefix(1);
  return repeat;
}

}  // namespace

// First the pattern becomes operations in postfix order, with a stack for its parentheses; then, with a stack for their
// operands, states.
class PatternBuilder {
 public:
  explicit PatternBuilder(std::string_view text) : left_(text) {}

  Result<Pattern> build() {
    if (left_.size() > kPatternBytesMax) return bad(fmt::format("a pattern of more than {} bytes", kPatternBytesMax));
    prefix(left_);
    groups_.emplace_back();
    while (!left_.empty()) {
      LOCKSTEP_TRY(read_item());
      if (ops_.size() > kPatternStatesMax / 2) return bad("the pattern is too large");
    }
    if (groups_.size() > 1) return bad("a ( without its )");
    close_group();
    link();
    return std::move(pattern_);
  }

 private:
  using Kind = Pattern::Kind;
  using Bytes = Pattern::Bytes;
  enum class Do : std::uint8_t { Set, Begin, End, Nothing, Join, Either, Star, Plus, Maybe };
  struct Op {
    Do what;
    std::uint32_t set{};
  };
  // Operands since the last | of a group: those before the last one are joined already.
  struct Group {
    std::size_t operands{};
    std::size_t last{};          // where the last operand's operations begin
    std::size_t alternatives{};  // before this one
  };
  struct Part {  // states from `first` to a Jump that leads on
    std::uint32_t first;
    std::uint32_t last;
  };

  // Of ^text at the begin, when nothing can follow that makes the text optional.
  void prefix(std::string_view text) {
    if (!text.starts_with('^') || text.find('|') != std::string_view::npos) return;
    std::string& found = pattern_.prefix_;
    for (std::size_t i = 1; i < text.size() && (is_word_byte(text[i]) || text[i] == '-'); ++i) found += text[i];
    const std::size_t after = found.size() + 1;
    const bool is_repeated =
        after < text.size() && std::string_view("*?{+").find(text[after]) != std::string_view::npos;
    if (is_repeated && !found.empty()) found.pop_back();
  }

  Result<void> read_item() {
    const char c = left_.front();
    left_.remove_prefix(1);
    switch (c) {
      case '(':
        return open_group();
      case ')':
        if (groups_.size() == 1) return bad("a ) without its (");
        close_group();
        return {};
      case '|':
        end_alternative();
        return {};
      case '*':
      case '+':
      case '?':
      case '{':
        return repeat(c);
      case '^':
        begin_operand({Do::Begin});
        return {};
      case '$':
        begin_operand({Do::End});
        return {};
      case '[':
        return read_class();
      case '\\':
        return read_escape();
      default:
        return read_byte(c);
    }
  }

  Result<void> read_byte(char c) {
    if (static_cast<unsigned char>(c) >= 0x80) return bad("a byte that no name holds");
    Bytes bytes;
    if (c == '.') {
      bytes.set();
    } else {
      bytes.set(static_cast<unsigned char>(c));
    }
    add_set(bytes);
    return {};
  }

  Result<void> read_escape() {
    if (left_.starts_with('A') || left_.starts_with('z')) {
      begin_operand({left_.front() == 'A' ? Do::Begin : Do::End});
      left_.remove_prefix(1);
      return {};
    }
    auto bytes = take_escape();
    if (!bytes) return tl::unexpected(std::move(bytes).error());
    add_set(*bytes);
    return {};
  }

  // What follows a backslash: a class, or itself.
  Result<Bytes> take_escape() {
    if (left_.empty()) return bad("a \\ at the end");
    const char c = left_.front();
    left_.remove_prefix(1);
    Bytes bytes;
    const auto all_of = [&](auto&& is) {
      for (std::size_t i = 0; i < 128; ++i) bytes.set(i, is(static_cast<char>(i)));
    };
    switch (c) {
      case 'd':
      case 'D':
        all_of(is_digit);
        break;
      case 'w':
      case 'W':
        all_of(is_word_byte);
        break;
      case 's':
      case 'S':
        all_of(is_space);
        break;
      default:
        if (is_word_byte(c) || static_cast<unsigned char>(c) >= 0x80) {
          return bad(fmt::format("\\{} is not supported", printable(std::string_view(&c, 1))));
        }
        bytes.set(static_cast<unsigned char>(c));
        return bytes;
    }
    if (c >= 'A' && c <= 'Z') bytes.flip();
    return bytes;
  }

  Result<void> read_class() {
    Bytes bytes;
    const bool inverse = left_.starts_with('^');
    if (inverse) left_.remove_prefix(1);
    for (bool is_first = true; is_first || !left_.starts_with(']'); is_first = false) {
      LOCKSTEP_TRY(read_class_item(bytes));
      if (left_.empty()) return bad("a [ without its ]");
    }
    left_.remove_prefix(1);
    if (inverse) bytes.flip();
    add_set(bytes);
    return {};
  }

  // One byte, a range of them, or an escape.
  Result<void> read_class_item(Bytes& bytes) {
    if (left_.empty()) return bad("a [ without its ]");
    if (left_.starts_with("[:")) return bad("[: is not supported");
    const char first = left_.front();
    left_.remove_prefix(1);
    if (first == '\\') {
      auto escaped = take_escape();
      if (!escaped) return tl::unexpected(std::move(escaped).error());
      bytes |= *escaped;
      return {};
    }
    char last = first;
    if (left_.size() > 1 && left_[0] == '-' && left_[1] != ']') {
      last = left_[1];
      left_.remove_prefix(2);
    }
    const auto low = static_cast<unsigned char>(first);
    const auto high = static_cast<unsigned char>(last);
    if (low >= 0x80 || high >= 0x80 || last == '\\') return bad("a range of bytes that no name holds");
    if (high < low) return bad(fmt::format("the range {}-{} runs backwards", first, last));
    for (std::size_t i = low; i <= high; ++i) bytes.set(i);
    return {};
  }

  // ---- operations ----
  void begin_operand(Op op) {
    Group& group = groups_.back();
    if (group.operands == 2) ops_.push_back({Do::Join});
    group.operands = std::min<std::size_t>(group.operands + 1, 2);
    group.last = ops_.size();
    ops_.push_back(op);
  }
  void add_set(const Bytes& bytes) {
    begin_operand({Do::Set, static_cast<std::uint32_t>(pattern_.sets_.size())});
    pattern_.sets_.push_back(bytes);
  }

  Result<void> open_group() {
    if (left_.starts_with("?:")) {
      left_.remove_prefix(2);
    } else if (left_.starts_with('?')) {
      return bad("(? is not supported, but for (?:");
    }
    Group& group = groups_.back();
    if (group.operands == 2) ops_.push_back({Do::Join});
    group.operands = std::min<std::size_t>(group.operands + 1, 2);
    group.last = ops_.size();
    groups_.emplace_back();
    return {};
  }

  void end_alternative() {
    Group& group = groups_.back();
    if (group.operands == 2) ops_.push_back({Do::Join});
    if (group.operands == 0) ops_.push_back({Do::Nothing});
    group.operands = 0;
    ++group.alternatives;
  }
  void close_group() {
    end_alternative();
    for (std::size_t i = 1; i < groups_.back().alternatives; ++i) ops_.push_back({Do::Either});
    groups_.pop_back();
  }

  Result<void> repeat(char c) {
    const Group& group = groups_.back();
    if (group.operands == 0) return bad(fmt::format("nothing before the {} to repeat", c));
    if (c == '{') {
      const auto count = take_repeat(left_);
      if (!count) return bad(fmt::format("no count of at most {} after a {{", kRepeatMax));
      LOCKSTEP_TRY(repeat(*count, group.last));
    } else {
      ops_.push_back({c == '*' ? Do::Star : c == '+' ? Do::Plus : Do::Maybe});
    }
    if (left_.starts_with('?')) left_.remove_prefix(1);  // fewest first: no matter here
    return {};
  }

  Result<void> repeat(Repeat count, std::size_t begin) {
    const std::vector<Op> operand(ops_.begin() + static_cast<std::ptrdiff_t>(begin), ops_.end());
    const std::size_t copies = std::max<std::size_t>(count.last == kNoEnd ? count.first + 1 : count.last, 1);
    if (copies * (operand.size() + 2) > kPatternStatesMax / 2) return bad("the pattern is too large");
    ops_.resize(begin);
    for (std::size_t i = 0; i < copies; ++i) {
      if (count.last == 0) {
        ops_.push_back({Do::Nothing});
        continue;
      }
      ops_.insert(ops_.end(), operand.begin(), operand.end());
      if (i >= count.first) ops_.push_back({count.last == kNoEnd ? Do::Star : Do::Maybe});
      if (i > 0) ops_.push_back({Do::Join});
    }
    return {};
  }

  // ---- states ----
  std::uint32_t add(Kind kind, std::uint32_t next = 0, std::uint32_t other = 0) {
    pattern_.states_.push_back({.kind = kind, .next = next, .other = other});
    return static_cast<std::uint32_t>(pattern_.states_.size() - 1);
  }
  Part single(Kind kind) {
    const std::uint32_t last = add(Kind::Jump);
    return {kind == Kind::Jump ? last : add(kind, last), last};
  }
  Part take() {
    const Part part = parts_.back();
    parts_.pop_back();
    return part;
  }

  void link() {
    for (const Op& op : ops_) parts_.push_back(link(op));
    const Part whole = take();
    pattern_.states_[whole.last].next = add(Kind::Match);
    pattern_.start_ = whole.first;
  }

  Part link(const Op& op) {
    switch (op.what) {
      case Do::Set: {
        const Part part = single(Kind::Byte);
        pattern_.states_[part.first].bytes = op.set;
        return part;
      }
      case Do::Begin:
        return single(Kind::Begin);
      case Do::End:
        return single(Kind::End);
      case Do::Nothing:
        return single(Kind::Jump);
      case Do::Join: {
        const Part second = take();
        const Part first = take();
        pattern_.states_[first.last].next = second.first;
        return {first.first, second.last};
      }
      case Do::Either: {
        const Part second = take();
        const Part first = take();
        const std::uint32_t last = add(Kind::Jump);
        pattern_.states_[first.last].next = last;
        pattern_.states_[second.last].next = last;
        return {add(Kind::Fork, first.first, second.first), last};
      }
      case Do::Star:
      case Do::Plus:
      case Do::Maybe: {
        const Part part = take();
        const std::uint32_t last = add(Kind::Jump);
        const std::uint32_t fork = add(Kind::Fork, part.first, last);
        pattern_.states_[part.last].next = op.what == Do::Maybe ? last : fork;
        return {op.what == Do::Plus ? part.first : fork, last};
      }
    }
    return single(Kind::Jump);
  }

  std::string_view left_;
  std::vector<Group> groups_{};
  std::vector<Op> ops_{};
  std::vector<Part> parts_{};
  Pattern pattern_{};
};

Result<Pattern> Pattern::parse(std::string_view text) { return PatternBuilder(text).build(); }

// All states that the bytes so far may have led to, each once.
class Pattern::Run {
 public:
  Run(const Pattern& pattern, std::size_t name_size)
      : pattern_(pattern), name_size_(name_size), seen_(pattern.states_.size(), 0) {}

  // Adds the state and where it leads without a byte.
  void add(std::uint32_t state, std::size_t at) {
    todo_.push_back(state);
    while (!todo_.empty()) {
      state = todo_.back();
      todo_.pop_back();
      if (seen_[state] == round_) continue;
      ++steps_;
      seen_[state] = round_;
      const State& found = pattern_.states_[state];
      if (found.kind == Kind::Match) is_match_ = true;
      if (found.kind == Kind::Byte) next_.push_back(state);
      const bool leads_on = found.kind == Kind::Jump || found.kind == Kind::Fork ||
                            (found.kind == Kind::Begin && at == 0) || (found.kind == Kind::End && at == name_size_);
      if (leads_on) todo_.push_back(found.next);
      if (found.kind == Kind::Fork) todo_.push_back(found.other);
    }
  }

  // Over the byte before position `at`.
  void step(char byte, std::size_t at) {
    now_.swap(next_);
    next_.clear();
    ++round_;
    for (const std::uint32_t state : now_) {
      const State& found = pattern_.states_[state];
      if (pattern_.sets_[found.bytes].test(static_cast<unsigned char>(byte))) add(found.next, at);
    }
  }
  [[nodiscard]] bool is_match() const { return is_match_; }
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  const Pattern& pattern_;
  std::size_t name_size_;
  std::vector<std::uint32_t> seen_;
  std::vector<std::uint32_t> now_{};
  std::vector<std::uint32_t> next_{};
  std::vector<std::uint32_t> todo_{};
  std::uint32_t round_ = 1;
  std::size_t steps_ = 0;
  bool is_match_ = false;
};

bool Pattern::matches(std::string_view name) const {
  std::size_t steps = 0;
  return matches(name, steps);
}

bool Pattern::matches(std::string_view name, std::size_t& steps) const {
  Run run(*this, name.size());
  run.add(start_, 0);
  for (std::size_t i = 0; i < name.size() && !run.is_match(); ++i) {
    run.step(name[i], i + 1);
    run.add(start_, i + 1);
  }
  steps += run.steps();
  return run.is_match();
}

}  // namespace lockstep
