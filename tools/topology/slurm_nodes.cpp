#include "tools/topology/slurm_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "tools/manifest/host_line.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 12> kCarriedKeys{
    "nodename",       "cpus",           "procs",      "boards", "socketsperboard", "sockets",
    "corespersocket", "threadspercore", "realmemory", "gres",   "feature",         "features"};
constexpr std::int64_t kMebi = std::int64_t{1} << 20;
constexpr std::size_t kSkippedKeysMax = 100;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) return {};
  return value;
}

// Up to the next of `separators` that is outside of parentheses, which Gres have: gpu:a100:4(S:0,1),shard:8.
std::string_view take_item(std::string_view& list, std::string_view separators) {
  std::size_t size = 0;
  for (std::size_t open = 0; size < list.size(); ++size) {
    if (list[size] == '(') ++open;
    if (list[size] == ')' && open > 0) --open;
    if (open == 0 && separators.find(list[size]) != std::string_view::npos) break;
  }
  const std::string_view item = list.substr(0, size);
  list.remove_prefix(std::min(size + 1, list.size()));
  return trim(item);
}

// 4, 4K, 2G: in powers of 1024.
std::optional<std::int64_t> gres_count(std::string_view text) {
  constexpr std::string_view kUnits = "kmgtp";
  std::int64_t factor = 1;
  const std::size_t unit =
      text.empty() ? std::string_view::npos : kUnits.find(lower_case(text.substr(text.size() - 1)));
  if (unit != std::string_view::npos) {
    factor = std::int64_t{1} << (10 * (unit + 1));
    text.remove_suffix(1);
  }
  const auto count = whole_number(text);
  std::int64_t amount = 0;
  if (!count || __builtin_mul_overflow(*count, factor, &amount) || amount > kQuantityMax) return {};
  return amount;
}

// A host with two types of one Gres is not selected by either: its counter does not tell them apart.
void add_type(HostInfo& host, std::string_view key, std::string_view type) {
  for (KeyValue& pair : host.attributes) {
    if (pair.key != key) continue;
    if (pair.value != type && pair.value.size() < kTextBytesMax) pair.value += fmt::format(",{}", type);
    return;
  }
  host.attributes.push_back({std::string(key), std::string(type)});
}

}  // namespace

void SlurmNodes::read(const std::vector<ConfPair>& pairs, Where where) {
  if (draft_.nodes.full() || draft_.node_lists.spent()) return;
  where_ = where;
  const bool is_default = lower_case(pairs.front().value) == "default";
  line_.clear();
  for (const ConfPair& pair : pairs) {
    (is_default ? defaults_ : line_).insert_or_assign(lower_case(pair.key), std::string(pair.value));
  }
  name_others(pairs);
  if (is_default) return;
  auto names = draft_.node_lists.expand(pairs.front().value);
  if (!names) {
    draft_.findings.problem(where, fmt::format("NodeName: {}", names.error().message));
    return;
  }
  // A long DEFAULT is read again for each line.
  if (!draft_.nodes.spend(where, value("gres").size() + value("feature").size() + value("features").size())) return;
  HostInfo same;
  read_counts(same);
  read_gres(same);
  read_features("feature", same);
  read_features("features", same);
  finish_host(same);
  add_hosts(std::move(*names), same);
}

void SlurmNodes::add_hosts(std::vector<std::string> names, const HostInfo& same) {
  if (!draft_.nodes.has_room(where_, names.size() * bytes_of(same))) return;
  for (std::string& name : names) {
    HostInfo host = same;
    host.name = std::move(name);
    const HostTable::Added added = draft_.nodes.add(std::move(host), where_);
    if (added.is_new) continue;
    if (added.record != nullptr) {
      draft_.findings.problem(where_, fmt::format("NodeName: {} is at {} already", added.record->info.name,
                                                  draft_.findings.text(added.record->where)));
    }
    return;
  }
}

std::string_view SlurmNodes::value(std::string_view key) const {
  if (const auto found = line_.find(key); found != line_.end()) return found->second;
  const auto found = defaults_.find(key);
  return found == defaults_.end() ? std::string_view{} : std::string_view(found->second);
}

std::optional<std::int64_t> SlurmNodes::number(std::string_view key) const {
  const std::string_view text = value(lower_case(key));
  if (text.empty()) return {};
  const auto number = whole_number(text);
  if (number && *number <= kQuantityMax / kMebi) return *number;
  draft_.findings.problem(where_,
                          fmt::format("{}: {} is not a whole number that a host can have", key, in_quotes(text)));
  return {};
}

void SlurmNodes::read_counts(HostInfo& host) const {
  if (const auto memory = number("RealMemory")) add_counter(host, "mem", *memory * kMebi);
  auto cpus = number("CPUs");
  if (!cpus) cpus = number("Procs");
  if (!cpus) {
    const auto per_board = number("SocketsPerBoard");
    const auto boards = per_board ? number("Boards") : std::nullopt;
    const auto sockets = per_board ? per_board : number("Sockets");
    const auto cores = number("CoresPerSocket");
    const auto threads = number("ThreadsPerCore");
    if (!sockets && !cores && !threads) return;
    cpus = 1;
    for (const auto& factor : {boards, sockets, cores, threads}) {
      if (__builtin_mul_overflow(*cpus, factor.value_or(1), &*cpus)) cpus = kQuantityMax;
    }
  }
  add_counter(host, "cpu", std::min(*cpus, kQuantityMax / kThousandths) * kThousandths);
}

// name[:type][:no_consume][:count]; the count may also stand before the type.
void SlurmNodes::read_gres(HostInfo& host) const {
  std::string_view text = value("gres");
  while (!text.empty()) {
    const std::string_view whole = take_item(text, ",");
    if (whole.empty() || lower_case(whole) == "(null)" || lower_case(whole) == "none") continue;
    std::string_view item = whole.substr(0, whole.find('('));
    const std::string_view name = take_item(item, ":");
    std::int64_t count = 1;
    std::string_view type;
    bool counts = true;
    while (!item.empty()) {
      const std::string_view part = take_item(item, ":");
      if (const auto number = gres_count(part)) {
        count = *number;
      } else if (lower_case(part) == "no_consume") {
        counts = false;
      } else {
        type = part;
      }
    }
    const bool of_host = name == "cpu" || name == "mem";  // said by CPUs and RealMemory
    if (!counts || of_host || !add_counter(host, name, count)) {
      draft_.findings.not_carried(where_, fmt::format("Gres {}", in_quotes(whole)));
    } else if (!type.empty()) {
      add_type(host, fmt::format("{}.type", name), type);
    }
  }
}

void SlurmNodes::read_features(std::string_view key, HostInfo& host) const {
  std::string_view text = value(key);
  while (!text.empty()) {
    const std::string_view feature = take_item(text, ",&");
    if (feature.empty()) continue;
    if (is_plain_key(feature)) {
      host.attributes.push_back({std::string(feature), "true"});
    } else {
      draft_.findings.not_carried(where_, fmt::format("the feature {}", in_quotes(feature)));
    }
  }
}

void SlurmNodes::read_licenses(std::string_view text, Where where) {
  while (!text.empty() && !draft_.findings.full()) {
    const std::string_view item = take_item(text, ",;");
    if (item.empty() || lower_case(item) == "(null)") continue;
    const std::size_t colon = item.rfind(':');
    const auto count = colon == std::string_view::npos ? 1 : whole_number(item.substr(colon + 1));
    std::string name = fmt::format("license.{}", item.substr(0, colon));
    const auto same = [&](const Counter& pool) { return pool.name == name; };
    if (!count || *count > kQuantityMax || !is_plain_key(name) ||
        std::any_of(draft_.pools.begin(), draft_.pools.end(), same)) {
      draft_.findings.problem(where, fmt::format("Licenses: {} is not name:count, each name once", in_quotes(item)));
    } else if (draft_.pools.size() == kListMax) {
      draft_.findings.problem(where, fmt::format("Licenses: more than {}", kListMax));
      return;
    } else {
      draft_.pools.push_back({std::move(name), *count});
    }
  }
}

void SlurmNodes::name_others(const std::vector<ConfPair>& pairs) {
  for (const ConfPair& pair : pairs) {
    const std::string key = lower_case(pair.key);
    if (std::find(kCarriedKeys.begin(), kCarriedKeys.end(), key) != kCarriedKeys.end()) continue;
    if (skipped_.size() == kSkippedKeysMax || !skipped_.insert(key).second) continue;
    draft_.findings.not_carried(where_, fmt::format("{} of hosts", printable(pair.key)));
  }
}

}  // namespace lockstep
