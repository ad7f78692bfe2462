#include "tools/topology/findings.h"

#include <fmt/format.h>

#include "tools/manifest/foreign.h"
#include "tools/manifest/text.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

constexpr std::size_t kSampleMax = 5;

}  // namespace

std::string Findings::text(Where where) const {
  return where.line == 0 ? files_[where.file] : fmt::format("{}:{}", files_[where.file], where.line);
}

void Findings::problem(std::string_view path, std::string_view what) {
  if (problems_.size() > kManifestProblemsMax) return;
  if (full()) {
    problems_.push_back({"files", fmt::format("more than {} problems; the rest is not shown", kManifestProblemsMax)});
    return;
  }
  problems_.push_back({one_line(path), one_line(what)});
}

bool Findings::full() const { return problems_.size() >= kManifestProblemsMax; }

void Findings::not_carried(Where where, std::string_view what) { note(where, fmt::format("{}, not carried", what)); }

void Findings::note(Where where, std::string_view what) { add_note(text(where) + ": ", what); }

void Findings::add_note(std::string_view before, std::string_view what) {
  if (notes_.size() > kNotCarriedMax) return;
  notes_.push_back(notes_.size() == kNotCarriedMax ? "more than that is not carried and not listed"
                                                   : one_line(before) + one_line(what));
}

void Sample::add(std::string_view name) {
  if (size_++ >= kSampleMax) return;
  if (!shown_.empty()) shown_ += ", ";
  shown_ += printable(name);
}

std::string Sample::text() const {
  return size_ > kSampleMax ? fmt::format("{} and {} more", shown_, size_ - kSampleMax) : shown_;
}

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace lockstep
