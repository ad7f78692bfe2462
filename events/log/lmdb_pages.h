#pragma once
// The parts of LMDB 0.9's file format that the check reads (the library keeps them to itself). Offsets in bytes:
//
//     page    0 number u64 | 8 pad u16 | 10 flags u16 | 12 lower u16 | 14 upper u16 | 16 node offsets u16 ... nodes
//             (overflow page: 12 pages u32 | 16 data)
//     node    0 low u16 | 2 high u16 | 4 flags u16 | 6 key size u16 | 8 key | data
//             leaf: data size = low, high; branch: page number = low, high, flags
//     meta    page header, then the struct below

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lockstep::lmdb {

inline constexpr std::uint32_t kMagic = 0xBEEFC0DE;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
inline constexpr std::size_t kPageHeader = 16;
inline constexpr std::size_t kNodeHeader = 8;
inline constexpr unsigned kDepthMax = 32;

inline constexpr std::uint16_t kBranchPage = 0x01;
inline constexpr std::uint16_t kLeafPage = 0x02;
inline constexpr std::uint16_t kOverflowPage = 0x04;
inline constexpr std::uint16_t kMetaPage = 0x08;

inline constexpr std::uint16_t kBigData = 0x01;     // node: the data stands on overflow pages
inline constexpr std::uint16_t kSubData = 0x02;     // node: the data is a Table
inline constexpr std::uint16_t kIntegerKey = 0x08;  // table

struct Table {
  std::uint32_t pad;  // of the free list: the page size
  std::uint16_t flags;
  std::uint16_t depth;
  std::uint64_t branch_pages;
  std::uint64_t leaf_pages;
  std::uint64_t overflow_pages;
  std::uint64_t entries;
  std::uint64_t root;
};
static_assert(sizeof(Table) == 48);

struct Meta {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t address;
  std::uint64_t map_size;
  Table free_list;
  Table main;
  std::uint64_t last_page;
  std::uint64_t txn;
};
static_assert(sizeof(Meta) == 136);

struct PageHeader {
  std::uint64_t number;
  std::uint16_t pad;
  std::uint16_t flags;
  std::uint16_t lower;
  std::uint16_t upper;
  [[nodiscard]] std::uint32_t overflow_pages() const { return lower | std::uint32_t{upper} << 16U; }
};
static_assert(sizeof(PageHeader) == kPageHeader);

template <class T>
[[nodiscard]] T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Node {
  std::uint16_t low, high, flags, key_size;
  [[nodiscard]] std::uint32_t data_size() const { return low | std::uint32_t{high} << 16U; }
  [[nodiscard]] std::uint64_t child() const { return data_size() | std::uint64_t{flags} << 32U; }
};
static_assert(sizeof(Node) == kNodeHeader);

}  // namespace lockstep::lmdb
