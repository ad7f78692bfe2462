#include "events/log/lmdb_check.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/log/lmdb_pages.h"

namespace lockstep {
namespace {

using namespace lmdb;

constexpr std::uint64_t kMapBytesMax = std::uint64_t{1} << 47U;
constexpr std::size_t kWindowBytes = 64U << 10U;
constexpr int kMetaLooks = 16;

struct MetaPair {
  std::array<Meta, 2> metas;
  std::uint64_t page_size;
  [[nodiscard]] const Meta& newer() const { return metas[metas[0].txn < metas[1].txn ? 1 : 0]; }
};

tl::unexpected<Error> damaged(const std::filesystem::path& path, std::uint64_t offset, const std::string& what) {
  return fail(ErrorCode::Damaged, fmt::format("{}: offset {}: {}", path.string(), offset, what));
}

Result<Meta> read_meta(const Fd& file, const std::filesystem::path& path, std::uint64_t number, std::uint64_t offset) {
  std::array<std::byte, kPageHeader + sizeof(Meta)> bytes{};
  auto size = read_at(file, bytes, offset, path);
  LOCKSTEP_TRY(size);
  if (*size != bytes.size()) return damaged(path, offset, "the file ends before its meta pages do");
  const auto page = load<PageHeader>(bytes, 0);
  const auto meta = load<Meta>(bytes, kPageHeader);
  if (page.number != number || page.flags != kMetaPage || meta.magic != kMagic) {
    return damaged(path, offset, "not a meta page of LMDB");
  }
  const std::uint64_t page_size = meta.free_list.pad;
  if (page_size < 512 || page_size > 0x8000 || (page_size & (page_size - 1)) != 0) {
    return damaged(path, offset, fmt::format("meta page with a page size of {}", page_size));
  }
  if (meta.free_list.flags != kIntegerKey || meta.main.flags != 0 || meta.address != 0 ||
      meta.map_size > kMapBytesMax || meta.last_page >= meta.map_size / page_size || meta.last_page < 1) {
    return damaged(path, offset, "meta page with impossible fields");
  }
  return meta;
}

Result<MetaPair> read_metas_once(const Fd& file, const std::filesystem::path& path) {
  auto zero = read_meta(file, path, 0, 0);
  LOCKSTEP_TRY(zero);
  const std::uint64_t page_size = zero->free_list.pad;
  auto one = read_meta(file, path, 1, page_size);
  LOCKSTEP_TRY(one);
  const MetaPair pair{{*zero, *one}, page_size};
  if (one->free_list.pad != page_size || zero->version != one->version) {
    return damaged(path, page_size, "the two meta pages disagree");
  }
  if (zero->version != kVersion) {
    return fail(ErrorCode::NewerFormat,
                fmt::format("{}: LMDB data version {}, this release knows {}: use a newer lockstep", path.string(),
                            zero->version, kVersion));
  }
  // Commit n goes to page n % 2, so a sound file holds n and n - 1 (or 0 twice, when nothing was ever committed).
  const bool fresh = zero->txn == 0 && one->txn == 0;
  const bool consecutive = std::max(zero->txn, one->txn) - std::min(zero->txn, one->txn) == 1;
  if (!fresh && (!consecutive || zero->txn % 2 != 0)) {
    return damaged(path, 0,
                   fmt::format("meta pages of commits {} and {}, which cannot stand together", zero->txn, one->txn));
  }
  return pair;
}

Result<MetaPair> read_metas(const Fd& file, const std::filesystem::path& path) {
  auto pair = read_metas_once(file, path);
  for (int i = 1; i < kMetaLooks && !pair; ++i) pair = read_metas_once(file, path);
  return pair;
}

// One page in memory, its header and offsets found sound.
struct Page {
  std::uint64_t number{};
  PageHeader header{};
  std::vector<std::byte> bytes;
  [[nodiscard]] std::size_t nodes() const { return (header.lower - kPageHeader) / 2; }
  [[nodiscard]] std::size_t node_at(std::size_t index) const {
    return load<std::uint16_t>(bytes, kPageHeader + 2 * index);
  }
  [[nodiscard]] Node node(std::size_t index) const { return load<Node>(bytes, node_at(index)); }
  [[nodiscard]] std::span<const std::byte> key(std::size_t index) const {
    return std::span(bytes).subspan(node_at(index) + kNodeHeader, node(index).key_size);
  }
  [[nodiscard]] std::size_t data_at(std::size_t index) const {
    return node_at(index) + kNodeHeader + node(index).key_size;
  }
  [[nodiscard]] std::uint64_t integer_key(std::size_t index) const { return load<std::uint64_t>(key(index), 0); }
};

class Pages {
 public:
  Pages(const Fd& file, const std::filesystem::path& path, const MetaPair& pair, const Meta& meta)
      : file_(file), path_(path), page_size_(pair.page_size), meta_(meta), used_(meta.last_page + 1) {}

  [[nodiscard]] std::uint64_t offset(std::uint64_t number) const { return number * page_size_; }
  [[nodiscard]] tl::unexpected<Error> wrong(std::uint64_t number, const std::string& what) const {
    return damaged(path_, offset(number), fmt::format("page {}: {}", number, what));
  }

  // Marks [number, number + count) as in use; each page once.
  Result<void> claim(std::uint64_t number, std::uint64_t count = 1) {
    if (number < 2 || number > meta_.last_page || count > meta_.last_page + 1 - number) {
      return damaged(path_, 0, fmt::format("a reference to page {} of {}", number, meta_.last_page + 1));
    }
    for (std::uint64_t i = number; i < number + count; ++i) {
      if (used_[i]) return wrong(i, "is used twice, or used and free");
      used_[i] = true;
    }
    return {};
  }

  // Reads a branch or leaf page.
  Result<Page> read(std::uint64_t number) {
    if (number < 2 || number > meta_.last_page) return damaged(path_, 0, fmt::format("a reference to page {}", number));
    Page page{number, {}, std::vector<std::byte>(page_size_)};
    LOCKSTEP_TRY(fetch(page.bytes, offset(number)));
    page.header = load<PageHeader>(page.bytes, 0);
    const auto& header = page.header;
    if (header.number != number) return wrong(number, fmt::format("calls itself {}", header.number));
    if (header.flags != kBranchPage && header.flags != kLeafPage) {
      return wrong(number, fmt::format("has flags {:#x}", header.flags));
    }
    if (header.lower < kPageHeader || header.lower % 2 != 0 || header.lower > header.upper ||
        header.upper > page_size_) {
      return wrong(number, "has impossible bounds");
    }
    LOCKSTEP_TRY(check_nodes(page));
    return page;
  }

  // The data of node `index`, its overflow pages checked; `bytes_max` of it at most are read.
  Result<std::vector<std::byte>> data(const Page& page, std::size_t index, std::size_t bytes_max) {
    const Node node = page.node(index);
    const std::size_t size = std::min<std::size_t>(node.data_size(), bytes_max);
    if ((node.flags & kBigData) == 0) {
      const auto begin = page.bytes.begin() + static_cast<std::ptrdiff_t>(page.data_at(index));
      return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    const auto first = load<std::uint64_t>(page.bytes, page.data_at(index));
    LOCKSTEP_TRY(claim_overflow(first, node.data_size()));
    std::vector<std::byte> bytes(size);
    LOCKSTEP_TRY(fetch(bytes, offset(first) + kPageHeader));
    return bytes;
  }

 private:
  // Nodes fill the page from `upper` to its end, without gaps or overlaps.
  Result<void> check_nodes(const Page& page) const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < page.nodes(); ++i) {
      const std::size_t at = page.node_at(i);
      if (at < page.header.upper || at % 2 != 0 || at + kNodeHeader > page_size_) {
        return wrong(page.number, fmt::format("node {} is out of bounds", i));
      }
      const Node node = page.node(i);
      std::size_t size = kNodeHeader + node.key_size;
      if (page.header.flags == kLeafPage) {
        size += (node.flags & kBigData) != 0 ? sizeof(std::uint64_t) : std::size_t{node.data_size()};
      }
      if (size > page_size_ - at) return wrong(page.number, fmt::format("node {} is longer than its page", i));
      total += size + size % 2;
    }
    if (total != page_size_ - page.header.upper) return wrong(page.number, "its nodes do not fill it");
    return {};
  }

  Result<void> claim_overflow(std::uint64_t first, std::uint64_t size) {
    if (first < 2 || first > meta_.last_page) return damaged(path_, 0, fmt::format("a reference to page {}", first));
    std::array<std::byte, kPageHeader> bytes{};
    LOCKSTEP_TRY(fetch(bytes, offset(first)));
    const auto header = load<PageHeader>(bytes, 0);
    const std::uint64_t needed = (kPageHeader - 1 + size) / page_size_ + 1;
    if (header.number != first || header.flags != kOverflowPage || header.overflow_pages() < needed) {
      return wrong(first, "is not the overflow page it should be");
    }
    auto end = file_size(file_, path_);
    LOCKSTEP_TRY(end);
    if (*end < offset(first) + kPageHeader + size) return wrong(first, "the file ends inside its data");
    return claim(first, header.overflow_pages());
  }

  // Through a window, because neighbours are mostly asked for one after another.
  Result<void> fetch(std::span<std::byte> into, std::uint64_t from) {
    if (into.size() > kWindowBytes) return fetch_direct(into, from);
    if (from < window_at_ || from + into.size() > window_at_ + window_size_) {
      window_.resize(kWindowBytes);
      auto size = read_at(file_, window_, from, path_);
      LOCKSTEP_TRY(size);
      window_at_ = from;
      window_size_ = *size;
    }
    if (from + into.size() > window_at_ + window_size_)
      return damaged(path_, from, "the file ends before this page does");
    std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(from - window_at_), into.size(), into.begin());
    return {};
  }

  Result<void> fetch_direct(std::span<std::byte> into, std::uint64_t from) {
    auto size = read_at(file_, into, from, path_);
    LOCKSTEP_TRY(size);
    if (*size != into.size()) return damaged(path_, from, "the file ends inside this data");
    return {};
  }

  const Fd& file_;
  const std::filesystem::path& path_;
  std::uint64_t page_size_;
  const Meta& meta_;
  std::vector<bool> used_;
  std::vector<std::byte> window_;
  std::uint64_t window_at_ = 0;
  std::size_t window_size_ = 0;
};

// One tree with 8-byte integer keys. `leaf` is called for each leaf node in key order.
class TreeWalk {
 public:
  using Leaf = std::function<Result<void>(const Page& page, std::size_t index)>;
  TreeWalk(Pages& pages, const Table& table, Walk walk, Leaf leaf)
      : pages_(pages), table_(table), walk_(walk), leaf_(std::move(leaf)) {}

  Result<void> run() {
    if (table_.root == kNoPage) {
      if (table_.depth == 0 && table_.entries == 0) return {};
      return pages_.wrong(0, "a table without a root has entries");
    }
    if (table_.depth == 0 || table_.depth > kDepthMax)
      return pages_.wrong(table_.root, "is the root of a tree without depth");
    LOCKSTEP_TRY(visit(table_.root, 1, 0, std::numeric_limits<std::uint64_t>::max()));
    if (walk_ == Walk::Pages && entries_ != table_.entries) {
      return pages_.wrong(table_.root, fmt::format("its tree has {} entries, not {}", entries_, table_.entries));
    }
    return {};
  }

 private:
  // Keys of the subtree lie in [low, high]; `high` is not one of them except at the right edge.
  Result<void> visit(std::uint64_t number, unsigned depth, std::uint64_t low, std::uint64_t high) {
    LOCKSTEP_TRY(pages_.claim(number));
    auto page = pages_.read(number);
    LOCKSTEP_TRY(page);
    const bool leaf = page->header.flags == kLeafPage;
    if (leaf != (depth == table_.depth)) return pages_.wrong(number, "stands at the wrong depth of its tree");
    if (page->nodes() < (leaf ? 1 : 2)) return pages_.wrong(number, "has too few nodes");
    LOCKSTEP_TRY(check_keys(*page, leaf ? 0 : 1, low, high));
    return leaf ? visit_leaf(*page) : visit_children(*page, depth, low, high);
  }

  Result<void> check_keys(const Page& page, std::size_t from, std::uint64_t low, std::uint64_t high) {
    for (std::size_t i = from; i < page.nodes(); ++i) {
      if (page.node(i).key_size != sizeof(std::uint64_t))
        return pages_.wrong(page.number, "has a key that is no integer");
      const std::uint64_t key = page.integer_key(i);
      if (key < low || key >= high || (i > from && key <= page.integer_key(i - 1))) {
        return pages_.wrong(page.number, fmt::format("key {} is out of order", key));
      }
    }
    return {};
  }

  Result<void> visit_children(const Page& page, unsigned depth, std::uint64_t low, std::uint64_t high) {
    const bool leaves_below = depth + 1 == table_.depth;
    const std::size_t begin = walk_ == Walk::Spine && leaves_below ? page.nodes() - 1 : 0;
    for (std::size_t i = begin; i < page.nodes(); ++i) {
      const std::uint64_t child_low = i == 0 ? low : page.integer_key(i);
      const std::uint64_t child_high = i + 1 == page.nodes() ? high : page.integer_key(i + 1);
      LOCKSTEP_TRY(visit(page.node(i).child(), depth + 1, child_low, child_high));
    }
    return {};
  }

  Result<void> visit_leaf(const Page& page) {
    entries_ += page.nodes();
    for (std::size_t i = 0; i < page.nodes(); ++i) {
      if ((page.node(i).flags & ~kBigData) != 0) return pages_.wrong(page.number, "has a node of another kind");
      LOCKSTEP_TRY(leaf_(page, i));
    }
    return {};
  }

  Pages& pages_;
  const Table& table_;
  Walk walk_;
  Leaf leaf_;
  std::uint64_t entries_ = 0;
};

// The free list: commit number -> count, page numbers in falling order.
Result<void> check_free_list(Pages& pages, const Meta& meta) {
  const auto leaf = [&](const Page& page, std::size_t index) -> Result<void> {
    auto data = pages.data(page, index, std::numeric_limits<std::size_t>::max());
    LOCKSTEP_TRY(data);
    const std::size_t words = data->size() / sizeof(std::uint64_t);
    const std::uint64_t count = words == 0 ? 0 : load<std::uint64_t>(*data, 0);
    if (words == 0 || count >= words || page.integer_key(index) > meta.txn) {
      return pages.wrong(page.number, "is a page of the free list that makes no sense");
    }
    std::uint64_t before = kNoPage;
    for (std::size_t i = 1; i <= count; ++i) {
      const auto number = load<std::uint64_t>(*data, i * sizeof(std::uint64_t));
      if (number >= before) return pages.wrong(page.number, "is a page of the free list that is out of order");
      LOCKSTEP_TRY(pages.claim(number));
      before = number;
    }
    return {};
  };
  return TreeWalk(pages, meta.free_list, Walk::Pages, leaf).run();
}

struct LogTables {
  Table meta;
  Table records;
};

// The main tree is one leaf with two named tables.
Result<LogTables> read_tables(Pages& pages, const Meta& meta) {
  const std::uint64_t root = meta.main.root;
  if (meta.main.depth != 1 || meta.main.entries != 2) {
    return pages.wrong(root, "is not the table of the log's two tables");
  }
  auto page = pages.read(root);
  LOCKSTEP_TRY(page);
  if (page->header.flags != kLeafPage || page->nodes() != 2) return pages.wrong(root, "is not the table of tables");
  std::array<Table, 2> tables{};
  constexpr std::array<std::string_view, 2> kNames{"meta", "records"};
  for (std::size_t i = 0; i < 2; ++i) {
    const Node node = page->node(i);
    const auto key = page->key(i);
    const std::string_view name{reinterpret_cast<const char*>(key.data()), key.size()};
    if (name != kNames[i] || node.flags != kSubData || node.data_size() != sizeof(Table)) {
      return pages.wrong(root, fmt::format("does not describe the table \"{}\"", kNames[i]));
    }
    tables[i] = load<Table>(page->bytes, page->data_at(i));
    if (tables[i].flags != kIntegerKey || tables[i].pad != 0) {
      return pages.wrong(root, fmt::format("describes the table \"{}\" wrongly", kNames[i]));
    }
  }
  return LogTables{tables[0], tables[1]};
}

Result<Meta> meta_of(const MetaPair& pair, std::uint64_t txn) {
  for (const Meta& meta : pair.metas) {
    if (meta.txn == txn) return meta;
  }
  return fail(ErrorCode::StaleHead, fmt::format("commit {} is no longer in a meta page", txn));
}

}  // namespace

Result<LmdbSummary> check_lmdb_metas(const Fd& file, const std::filesystem::path& path) {
  auto pair = read_metas(file, path);
  LOCKSTEP_TRY(pair);
  return LmdbSummary{pair->page_size, pair->newer().txn, pair->newer().last_page};
}

Result<void> check_lmdb_pages(const Fd& file, const std::filesystem::path& path, std::uint64_t txn, Walk walk) {
  auto pair = read_metas(file, path);
  LOCKSTEP_TRY(pair);
  auto meta = meta_of(*pair, txn);
  LOCKSTEP_TRY(meta);
  Pages pages(file, path, *pair, *meta);
  LOCKSTEP_TRY(check_free_list(pages, *meta));
  LOCKSTEP_TRY(pages.claim(meta->main.root));
  auto tables = read_tables(pages, *meta);
  LOCKSTEP_TRY(tables);
  const auto claim_data = [&](const Page& page, std::size_t index) -> Result<void> {
    if ((page.node(index).flags & kBigData) == 0) return {};
    auto data = pages.data(page, index, 0);
    LOCKSTEP_TRY(data);
    return {};
  };
  LOCKSTEP_TRY(TreeWalk(pages, tables->meta, Walk::Pages, claim_data).run());
  return TreeWalk(pages, tables->records, walk, claim_data).run();
}

std::optional<std::uint64_t> find_record_offset(const Fd& file, const std::filesystem::path& path, std::uint64_t txn,
                                                std::uint64_t key) {
  const auto pair = read_metas(file, path);
  if (!pair) return std::nullopt;
  const auto meta = meta_of(*pair, txn);
  if (!meta) return std::nullopt;
  Pages pages(file, path, *pair, *meta);
  const auto tables = read_tables(pages, *meta);
  if (!tables) return std::nullopt;
  std::uint64_t number = tables->records.root;
  for (unsigned depth = 0; depth < kDepthMax; ++depth) {
    const auto page = pages.read(number);
    if (!page || page->nodes() == 0) return std::nullopt;
    const bool leaf = page->header.flags == kLeafPage;
    std::size_t index = 0;
    for (std::size_t i = 1; i < page->nodes() && page->node(i).key_size == 8 && page->integer_key(i) <= key; ++i)
      index = i;
    if (!leaf) {
      number = page->node(index).child();
      continue;
    }
    if ((page->node(index).flags & kBigData) == 0) return pages.offset(number) + page->data_at(index);
    return pages.offset(load<std::uint64_t>(page->bytes, page->data_at(index))) + kPageHeader;
  }
  return std::nullopt;
}

}  // namespace lockstep
