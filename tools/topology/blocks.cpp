// Blocks of nodes, and the larger blocks that Slurm makes of so many that follow one another. BlockSizes=4,8,16 of
// blocks b1, b2, ... makes the levels block16, block8 and block; b1+3 is b1 and the three after it.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/manifest/text.h"
#include "tools/topology/draft.h"

namespace lockstep {
namespace {

class Blocks {
 public:
  explicit Blocks(Draft& draft) : draft_(draft) {}

  void build() {
    check_names();
    read_sizes();
    for (auto size = sizes_.rbegin(); size != sizes_.rend(); ++size) add_level(fmt::format("block{}", size->nodes));
    add_level("block");
    for (std::size_t i = 0; i < draft_.blocks.size(); ++i) place(i);
  }

 private:
  struct Size {
    std::int64_t nodes;
    std::size_t blocks;
  };

  void add_level(std::string name) {
    draft_.add_level(std::move(name), draft_.findings.text(draft_.block_sizes_where));
  }

  void check_names() {
    std::set<std::string_view> names;
    if (draft_.blocks.empty()) draft_.findings.problem(draft_.block_sizes_where, "BlockSizes without a block");
    for (const BlockEntry& block : draft_.blocks) {
      draft_.check_domain(block.name, block.where);
      if (names.insert(block.name).second) continue;
      draft_.findings.problem(block.where, fmt::format("{} is a block already", in_quotes(block.name)));
    }
  }

  // Those larger than one block, up to the first that holds all of them.
  void read_sizes() {
    if (draft_.block_sizes.empty()) return;
    const std::int64_t base = draft_.block_sizes.front();
    std::int64_t last = base;
    bool is_whole = false;  // a size holds all blocks
    Sample left_out;
    for (std::size_t i = 1; i < draft_.block_sizes.size(); ++i) {
      const std::int64_t size = draft_.block_sizes[i];
      const std::int64_t blocks = size / base;
      if (size <= last || size % base != 0 || (blocks & (blocks - 1)) != 0) {
        draft_.findings.problem(
            draft_.block_sizes_where,
            fmt::format("BlockSizes: {} is not {} times a power of two, larger than {}", size, base, last));
        return;
      }
      last = size;
      if (is_whole) {
        left_out.add(fmt::format("{}", size));
      } else {
        sizes_.push_back({size, static_cast<std::size_t>(blocks)});
        is_whole = sizes_.back().blocks >= draft_.blocks.size();
      }
    }
    if (!left_out.empty()) {
      draft_.findings.not_carried(draft_.block_sizes_where,
                                  fmt::format("BlockSizes {}: more than all blocks", left_out.text()));
    }
    const auto differs = [&](const BlockEntry& block) { return std::cmp_not_equal(block.hosts.size(), base); };
    if (std::any_of(draft_.blocks.begin(), draft_.blocks.end(), differs)) {
      draft_.findings.not_carried(draft_.block_sizes_where,
                                  fmt::format("BlockSizes {}: that it is planned with so many nodes of a block", base));
    }
  }

  void place(std::size_t index) {
    BlockEntry& block = draft_.blocks[index];
    std::uint32_t domain = kNowhere;
    for (auto size = sizes_.rbegin(); size != sizes_.rend(); ++size) {
      const std::size_t first = index / size->blocks * size->blocks;
      const std::size_t others = std::min(size->blocks, draft_.blocks.size() - first) - 1;
      const std::string name = fmt::format("{}+{}", draft_.blocks[first].name, others);
      if (index == first && !draft_.check_domain(name, block.where)) return;
      domain = draft_.forest.child(domain, name);
    }
    domain = draft_.forest.child(domain, block.name);
    for (std::string& name : block.hosts) draft_.place({.name = std::move(name)}, block.where, domain);
  }

  Draft& draft_;
  std::vector<Size> sizes_{};
};

}  // namespace

void finish_blocks(Draft& draft) {
  if (!draft.blocks.empty() || !draft.block_sizes.empty()) Blocks(draft).build();
}

}  // namespace lockstep
