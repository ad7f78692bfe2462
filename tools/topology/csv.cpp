// CSV with a header: a column of hosts, and the levels from the widest to the narrowest. The hosts' column is the first
// that is called so, or else the first; columns called cpu, mem and gpu are counters; every other column is a level.
// When the only other one is called path, it holds all of a place (b1/r1), and the levels are level1, level2 and so on.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/manifest/text.h"
#include "tools/topology/readers.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 8> kHostColumns{"host",     "hostname",  "host_name", "node",
                                                       "nodename", "node_name", "name",      "ip"};
constexpr std::array<std::string_view, 3> kCounterColumns{"cpu", "mem", "gpu"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class CsvReader {
 public:
  CsvReader(std::string_view text, std::uint32_t file, Draft& draft) : left_(text), where_{file, 0}, draft_(draft) {}

  void read() {
    if (!draft_.claim("a table of paths", {where_.file, 0}, true) || !next_row()) return;
    if (!read_header()) return;
    while (!draft_.findings.full() && !draft_.placed.full() && next_row()) read_row();
    for (std::size_t level = 1; level <= depth_; ++level)
      (void)draft_.add_level(fmt::format("level{}", level), draft_.findings.text(where_));
  }

 private:
  // To the next line that is neither empty nor a comment.
  bool next_row() {
    while (!left_.empty()) {
      const std::size_t end = std::min(left_.find('\n'), left_.size());
      const std::string_view line = trim(left_.substr(0, end));
      left_.remove_prefix(std::min(end + 1, left_.size()));
      ++where_.line;
      if (line.empty() || line.starts_with('#')) continue;
      if (split(line)) return true;
      draft_.findings.problem(where_, "quotes that do not close, or that do not enclose all of a cell");
    }
    return false;
  }

  // Cells may be in quotes, "" inside of them is one.
  bool split(std::string_view line) {
    cells_.clear();
    while (true) {
      std::string& cell = cells_.emplace_back();
      line = trim(line);
      if (line.starts_with('"')) {
        std::size_t i = 1;
        for (; i < line.size(); ++i) {
          if (line[i] == '"' && !line.substr(i + 1).starts_with('"')) break;
          if (line[i] == '"') ++i;
          cell += line[i];
        }
        if (i >= line.size()) return false;
        line = trim(line.substr(i + 1));
        if (!line.empty() && line.front() != ',') return false;
      } else {
        const std::string_view text = line.substr(0, line.find(','));
        cell = trim(text);
        line.remove_prefix(text.size());
      }
      if (line.empty()) return true;
      line.remove_prefix(1);
    }
  }

  bool read_header() {
    host_ = 0;
    for (std::size_t i = cells_.size(); i-- > 0;) {
      if (is_one_of(kHostColumns, lower_case(cells_[i]))) host_ = i;
    }
    std::vector<std::size_t> levels;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      is_counter_.push_back(i != host_ && is_one_of(kCounterColumns, cells_[i]));
      if (i != host_ && !is_counter_[i]) levels.push_back(i);
    }
    has_paths_ = levels.size() == 1 && lower_case(cells_[levels.front()]) == "path";
    for (const std::size_t i : levels) {
      if (!has_paths_ && !draft_.add_level(cells_[i], draft_.findings.text(where_))) return false;
    }
    columns_ = cells_;
    return true;
  }

  void read_row() {
    if (cells_.size() != columns_.size()) {
      draft_.findings.problem(where_,
                              fmt::format("{} where {} are wanted", count_of(cells_.size(), "cell"), columns_.size()));
      return;
    }
    HostInfo host;
    host.name = cells_[host_];
    std::uint32_t domain = kNowhere;
    std::string_view gap;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (i == host_) continue;
      if (is_counter_[i]) {
        read_counter(i, host);
      } else if (has_paths_) {
        if (!read_path(cells_[i], domain)) return;
      } else if (cells_[i].empty()) {
        gap = columns_[i];
      } else if (!gap.empty()) {
        draft_.findings.problem(where_, fmt::format("{} {} is in no {}: a place has names down to its last",
                                                    columns_[i], in_quotes(cells_[i]), gap));
        return;
      } else if (draft_.check_domain(cells_[i], where_)) {
        domain = draft_.forest.child(domain, cells_[i]);
      } else {
        return;
      }
    }
    finish_host(host);
    draft_.place(std::move(host), where_, domain);
  }

  // "b1/r1", or "/b1/r1"; one that is shorter than others is in no domain of the levels that it does not name.
  bool read_path(std::string_view path, std::uint32_t& domain) {
    if (path.starts_with('/')) path.remove_prefix(1);
    std::size_t depth = 0;
    for (bool more = !path.empty(); more;) {
      const std::string_view name = path.substr(0, path.find('/'));
      more = name.size() < path.size();
      path.remove_prefix(std::min(name.size() + 1, path.size()));
      if (!draft_.check_domain(name, where_)) return false;
      if (++depth > kLevelsMax) {
        draft_.findings.problem(where_, fmt::format("a path of more than {} names", kLevelsMax));
        return false;
      }
      domain = draft_.forest.child(domain, name);
    }
    depth_ = std::max(depth_, depth);
    return true;
  }

  void read_counter(std::size_t column, HostInfo& host) {
    if (cells_[column].empty()) return;
    const auto amount = parse_quantity(cells_[column], columns_[column]);
    if (!amount) {
      draft_.findings.problem(where_, fmt::format("{}: {}", columns_[column], amount.error().message));
    } else {
      add_counter(host, columns_[column], *amount);
    }
  }

  std::string_view left_;
  Where where_;
  Draft& draft_;
  std::vector<std::string> cells_{};
  std::vector<std::string> columns_{};
  std::vector<bool> is_counter_{};
  std::size_t host_ = 0;
  bool has_paths_ = false;  // else a column for each level
  std::size_t depth_ = 0;   // of the longest path
};

}  // namespace

void read_csv(std::string_view text, std::uint32_t file, Draft& draft) { CsvReader(text, file, draft).read(); }

}  // namespace lockstep
