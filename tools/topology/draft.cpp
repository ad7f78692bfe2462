#include "tools/topology/draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/manifest/host_line.h"
#include "tools/manifest/hostlist.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::size_t kShortListMax = 1'000;  // names that are cheap to make for nothing

// Keys of a host's entry in an inventory.
bool is_entry_key(std::string_view name) { return name == "name" || name == "at" || name == "attributes"; }

}  // namespace

// ---- HostTable
// ---------------------------------------------------------------------------------------------------------

HostTable::Added HostTable::add(HostInfo info, Where where) {
  if (full_) return {nullptr, false};
  if (!is_name(info.name)) {
    std::string name = lower_case(info.name);
    if (!is_name(name)) {
      findings_.problem(where,
                        fmt::format("{} is not the name of a host: letters, digits, '-' and '.', at most {} bytes",
                                    in_quotes(info.name), kNameBytesMax));
      return {nullptr, false};
    }
    renamed_.add(info.name);
    info.name = std::move(name);
  }
  HostRecord& record = records_.emplace_back(HostRecord{std::move(info), where, kNowhere});
  const auto [same, is_new] = by_name_.emplace(record.info.name, &record);
  if (!is_new) {
    records_.pop_back();
    return {same->second, false};
  }
  if (records_.size() > kInventoryHostsMax) {
    full_ = true;
    findings_.problem(where, fmt::format("more than {} hosts", kInventoryHostsMax));
  }
  if (!spend(where, bytes_of(record.info))) return {nullptr, false};
  return {&record, true};
}

bool HostTable::has_room(Where where, std::size_t bytes) {
  if (full_ || bytes <= kInventoryBytesMax - bytes_) return !full_;
  full_ = true;
  findings_.problem(where, fmt::format("the hosts up to this one take more than {} bytes", kInventoryBytesMax));
  return false;
}

bool HostTable::spend(Where where, std::size_t bytes) {
  if (!has_room(where, bytes)) return false;
  bytes_ += bytes;
  return true;
}

HostRecord* HostTable::find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

// ---- Hostlists
// ---------------------------------------------------------------------------------------------------------

// expand_names() says that a list is too long before it makes its names, but that a name is there twice only after. So
// a list gets a short bound first, and a list that is bad only behind it counts as one of few that may be.
Result<std::vector<std::string>> Hostlists::expand(std::string_view text) {
  auto names = expand_names(text, std::min(left_, kShortListMax));
  if (!names && left_ > kShortListMax && !spent()) {
    auto again = expand_names(text, left_);
    if (!again && again.error().message != names.error().message) ++wasted_;
    names = std::move(again);
  }
  if (names) {
    left_ -= names->size();
  } else if (left_ < names_max_ && names.error().message.ends_with(fmt::format("more than {} names", left_))) {
    return bad(fmt::format("the lists up to this one make more than {} names", names_max_));
  }
  return names;
}

// ---- Forest
// ------------------------------------------------------------------------------------------------------------

std::uint32_t Forest::child(std::uint32_t parent, std::string_view name) {
  std::string key = fmt::format("{} {}", parent, name);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) return found->second;
  if (full()) return parent;  // a problem, once everything has been read
  const auto id = static_cast<std::uint32_t>(domains_.size());
  domains_.push_back({std::string(name), parent});
  by_key_.emplace(std::move(key), id);
  return id;
}

std::vector<std::string> Forest::path(std::uint32_t domain) const {
  std::size_t depth = 0;
  for (std::uint32_t up = domain; up != kNowhere; up = domains_[up].parent) ++depth;
  std::vector<std::string> names(depth);
  for (; domain != kNowhere; domain = domains_[domain].parent) names[--depth] = domains_[domain].name;
  return names;
}

std::string Forest::path_text(std::uint32_t domain) const { return fmt::format("{}", fmt::join(path(domain), "/")); }

// ---- Draft
// -------------------------------------------------------------------------------------------------------------

bool Draft::claim(std::string_view kind, Where where, bool single) {
  if (kind_.empty()) {
    kind_ = kind;
    kind_where_ = where;
    return true;
  }
  if (kind_ == kind && !single) return true;
  findings.problem(
      where, fmt::format("{} beside {} ({}); one topology is read at a time", kind, kind_, findings.text(kind_where_)));
  return false;
}

bool Draft::add_level(std::string name, std::string_view path) {
  const bool is_there = std::find(levels.begin(), levels.end(), name) != levels.end();
  if (levels.size() == kLevelsMax) {
    findings.problem(path, fmt::format("more than {} levels", kLevelsMax));
  } else if (name == "host") {
    findings.problem(path, "host is always the last level; it cannot be another");
  } else if (!is_level_name(name)) {
    findings.problem(path, fmt::format("{} is not the name of a level: printable, no space, no /", in_quotes(name)));
  } else if (is_there) {
    findings.problem(path, fmt::format("{} is a level already", in_quotes(name)));
  } else {
    levels.push_back(std::move(name));
    return true;
  }
  return false;
}

bool Draft::check_domain(std::string_view name, Where where) {
  if (is_plain_key(name) && name.find_first_of("/,[]") == std::string_view::npos) return true;
  findings.problem(
      where, fmt::format("{} is not the name of a domain: printable, no space, none of / , [ ]", in_quotes(name)));
  return false;
}

void Draft::place(HostInfo info, Where where, std::uint32_t domain) {
  const HostTable::Added added = placed.add(std::move(info), where);
  if (added.record == nullptr) return;
  if (added.is_new) {
    added.record->domain = domain;
    return;
  }
  const HostRecord& record = *added.record;
  findings.problem(where, fmt::format("{} is in {} already ({}); a host has one place", record.info.name,
                                      record.domain == kNowhere ? "no domain" : forest.path_text(record.domain),
                                      findings.text(record.where)));
}

// ---- what hosts have
// ---------------------------------------------------------------------------------------------------

bool add_counter(HostInfo& host, std::string_view name, std::int64_t amount) {
  if (!is_plain_key(name) || is_entry_key(name) || host.counters.size() > kCountersMax) return false;
  for (Counter& counter : host.counters) {
    if (counter.name != name) continue;
    counter.amount = std::min(counter.amount + amount, kQuantityMax);  // both are at most 2^60
    return true;
  }
  host.counters.push_back({std::string(name), amount});
  return true;
}

void finish_host(HostInfo& host) {
  std::sort(host.counters.begin(), host.counters.end());
  const auto is_before = [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; };
  const auto is_same = [](const KeyValue& a, const KeyValue& b) { return a.key == b.key; };
  std::stable_sort(host.attributes.begin(), host.attributes.end(), is_before);
  host.attributes.erase(std::unique(host.attributes.begin(), host.attributes.end(), is_same), host.attributes.end());
}

const std::string* attribute_of(const HostInfo& finished, std::string_view key) {
  const auto is_before = [](const KeyValue& pair, std::string_view wanted) { return pair.key < wanted; };
  const auto found = std::lower_bound(finished.attributes.begin(), finished.attributes.end(), key, is_before);
  return found != finished.attributes.end() && found->key == key ? &found->value : nullptr;
}

}  // namespace lockstep
