#pragma once
// What people read: tables and paragraphs made from the JSON of view.h and log_view.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lockstep/json.h"

namespace lockstep::cli {

// Columns as wide as their widest cell, two spaces between, no trailing spaces. Bytes that are no printable text become
// '?', so that a name can neither break the table nor the terminal.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool empty() const { return rows_.size() == 1; }

 private:
  std::vector<std::vector<std::string>> rows_;
};

[[nodiscard]] std::string printable(std::string_view text);
// "1 event", "2 events".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view what);
// An amount of JSON in base units: cpu in thousandths.
[[nodiscard]] std::int64_t base_amount(const Json& amount, std::string_view counter);
// "cpu=64 gpu=8 mem=512Gi" from {cpu: 64, ...}; "-" when empty.
[[nodiscard]] std::string counters_text(const Json& counters);

[[nodiscard]] std::string groups_text(const Json& groups);
[[nodiscard]] std::string group_text(const Json& group);
[[nodiscard]] std::string why_text(const Json& why);
[[nodiscard]] std::string history_text(const Json& events);
[[nodiscard]] std::string hosts_text(const Json& hosts);
[[nodiscard]] std::string claims_text(const Json& claims);
[[nodiscard]] std::string state_text(const Json& state);
[[nodiscard]] std::string log_stat_text(const Json& stat);
[[nodiscard]] std::string snapshots_text(const Json& listing);
[[nodiscard]] std::string snapshot_text(const Json& info);

}  // namespace lockstep::cli
