// Slurm's topology.conf and slurm.conf. Both are lines of Key=Value, so a text may be either, or both in one.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "tools/manifest/text.h"
#include "tools/topology/conf_lines.h"
#include "tools/topology/readers.h"
#include "tools/topology/slurm_nodes.h"

namespace lockstep {
namespace {

class SlurmConfReader {
 public:
  SlurmConfReader(std::string_view text, std::uint32_t file, Draft& draft)
      : lines_(text), file_(file), draft_(draft), nodes_(draft) {}

  void read() {
    while (lines_.next() && !draft_.findings.full()) {
      where_ = {file_, lines_.line()};
      if (lines_.fault().empty()) {
        if (each_key_is_there_once()) read_line(lower_case(lines_.pairs().front().key));
      } else if (lower_case(lines_.fault().substr(0, 8)) == "include ") {
        draft_.findings.not_carried(where_, fmt::format("{}: give that file too", printable(lines_.fault())));
      } else {
        draft_.findings.problem(where_, fmt::format("{} is not Key=Value", in_quotes(lines_.fault())));
      }
    }
    if (others_ > 0) draft_.findings.not_carried({file_, 0}, count_of(others_, "other setting"));
  }

 private:
  void read_line(const std::string& key) {
    if (key == "switchname") {
      read_switch();
    } else if (key == "blockname") {
      read_block();
    } else if (key == "blocksizes") {
      read_block_sizes();
    } else if (key == "nodename") {
      nodes_.read(lines_.pairs(), where_);
    } else if (key == "licenses") {
      nodes_.read_licenses(lines_.pairs().front().value, where_);
    } else if (key == "ringname" || key == "torusname") {
      refuse(key.substr(0, key.size() - 4));
    } else {
      ++others_;
    }
  }

  // What is meant by two is not known, and a part of the hosts would be lost or moved without a word.
  bool each_key_is_there_once() {
    const std::string first = lower_case(lines_.pairs().front().key);
    if (first != "switchname" && first != "blockname" && first != "nodename") return true;
    std::set<std::string> keys;
    for (const ConfPair& pair : lines_.pairs()) {
      if (keys.insert(lower_case(pair.key)).second) continue;
      draft_.findings.problem(where_, fmt::format("{}: is there twice in one line", printable(pair.key)));
      return false;
    }
    return true;
  }

  void read_switch() {
    if (!draft_.claim("a tree of switches", where_, false)) return;
    SwitchEntry entry;
    entry.name = lines_.pairs().front().value;
    entry.where = where_;
    LeafEntry leaf;
    leaf.switch_name = entry.name;
    leaf.where = where_;
    for (const ConfPair& pair : others_of_line()) {
      const std::string key = lower_case(pair.key);
      if (key == "switches") {
        read_names(pair, draft_.switch_lists, entry.switches);
      } else if (key == "nodes") {
        read_names(pair, draft_.host_lists, leaf.hosts);
      } else if (key != "linkspeed") {
        unknown(pair);
      }
    }
    if (draft_.switches.size() == kSwitchesMax) return too_many("switches");
    draft_.switches.push_back(std::move(entry));
    if (!leaf.hosts.empty()) draft_.leaves.push_back(std::move(leaf));
  }

  void read_block() {
    if (!draft_.claim("blocks", where_, false)) return;
    BlockEntry block;
    block.name = lines_.pairs().front().value;
    block.where = where_;
    for (const ConfPair& pair : others_of_line()) {
      if (lower_case(pair.key) == "nodes") {
        read_names(pair, draft_.host_lists, block.hosts);
      } else {
        unknown(pair);
      }
    }
    if (draft_.blocks.size() == kSwitchesMax) return too_many("blocks");
    draft_.blocks.push_back(std::move(block));
  }

  void read_block_sizes() {
    if (!draft_.claim("blocks", where_, false)) return;
    if (!draft_.block_sizes.empty()) {
      draft_.findings.problem(
          where_, fmt::format("BlockSizes: is at {} already", draft_.findings.text(draft_.block_sizes_where)));
      return;
    }
    draft_.block_sizes_where = where_;
    std::string_view left = lines_.pairs().front().value;
    for (std::size_t comma = 0; comma != std::string_view::npos; left.remove_prefix(std::min(comma + 1, left.size()))) {
      comma = left.find(',');
      const std::string_view item = trim(left.substr(0, comma));
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), size);
      if (item.empty() || error != std::errc{} || end != item.data() + item.size() || size <= 0) {
        draft_.findings.problem(where_, fmt::format("BlockSizes: {} is not a number of nodes", in_quotes(item)));
        return;
      }
      if (draft_.block_sizes.size() == kLevelsMax) {
        draft_.findings.problem(where_, fmt::format("BlockSizes: more than {}", kLevelsMax));
        return;
      }
      draft_.block_sizes.push_back(size);
    }
  }

  [[nodiscard]] std::vector<ConfPair> others_of_line() const {
    return {lines_.pairs().begin() + 1, lines_.pairs().end()};
  }

  void read_names(const ConfPair& pair, Hostlists& lists, std::vector<std::string>& names) {
    if (lists.spent()) return;
    auto expanded = lists.expand(pair.value);
    if (!expanded) {
      draft_.findings.problem(where_, fmt::format("{}: {}", pair.key, expanded.error().message));
    } else {
      for (std::string& name : *expanded) names.push_back(std::move(name));
    }
  }

  void unknown(const ConfPair& pair) {
    draft_.findings.problem(where_, fmt::format("{}: unknown key", printable(pair.key)));
  }
  void too_many(std::string_view what) {
    draft_.findings.problem(where_, fmt::format("more than {} {}", kSwitchesMax, what));
  }

  void refuse(std::string_view kind) {
    if (!std::exchange(refused_, true)) draft_.findings.problem(where_, unsupported_topology(kind));
  }

  ConfLines lines_;
  std::uint32_t file_;
  Draft& draft_;
  SlurmNodes nodes_;
  Where where_{};
  std::size_t others_ = 0;
  bool refused_ = false;
};

}  // namespace

std::string unsupported_topology(std::string_view kind) {
  return fmt::format("a topology of the kind {} is not supported: only tree and block are", printable(kind));
}

void read_slurm_conf(std::string_view text, std::uint32_t file, Draft& draft) {
  SlurmConfReader(text, file, draft).read();
}

}  // namespace lockstep
