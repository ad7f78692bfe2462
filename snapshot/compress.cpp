#include "snapshot/compress.h"

#include <zstd.h>

#include <cstring>
#include <utility>

#include "events/error.h"
#include "snapshot/format.h"

namespace lockstep {
namespace {

constexpr int kLevel = 1;  // recovery time counts more than bytes, and the writer waits for it

}  // namespace

struct Compressor::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
};
void Compressor::Free::operator()(Context* context) const {
  ZSTD_freeCCtx(context->zstd);
  delete context;
}

Compressor::Compressor() : context_(new Context) {
  LOCKSTEP_CHECK(context_->zstd != nullptr, "no memory for zstd");
  for (const auto& [parameter, value] : {std::pair{ZSTD_c_compressionLevel, kLevel}, std::pair{ZSTD_c_checksumFlag, 1},
                                         std::pair{ZSTD_c_contentSizeFlag, 1}}) {
    LOCKSTEP_CHECK(ZSTD_isError(ZSTD_CCtx_setParameter(context_->zstd, parameter, value)) == 0, "zstd parameter");
  }
}

std::span<const std::byte> Compressor::pack(std::span<const std::byte> raw) & {
  packed_.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress2(context_->zstd, packed_.data(), packed_.size(), raw.data(), raw.size());
  LOCKSTEP_CHECK(ZSTD_isError(size) == 0, std::string("zstd: ") + ZSTD_getErrorName(size));
  return std::span(packed_).first(size);
}

struct Decompressor::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
};
void Decompressor::Free::operator()(Context* context) const {
  ZSTD_freeDCtx(context->zstd);
  delete context;
}

Decompressor::Decompressor() : context_(new Context) {
  LOCKSTEP_CHECK(context_->zstd != nullptr, "no memory for zstd");
}

namespace {

// RFC 8878, 3.1.1.1: after the magic a descriptor byte, and, unless the frame is a single segment, a window byte.
std::string check_frame_head(std::span<const std::byte> packed) {
  constexpr std::size_t kHeadBytes = 6;
  constexpr unsigned kSingleSegment = 0x20;
  constexpr unsigned kHasChecksum = 0x04;
  constexpr unsigned kDictionary = 0x03;
  if (packed.size() < kHeadBytes) return "the frame is too short";
  std::uint32_t magic = 0;
  std::memcpy(&magic, packed.data(), sizeof magic);
  if (magic != ZSTD_MAGICNUMBER) return "no zstd frame";
  const auto descriptor = std::to_integer<unsigned>(packed[4]);
  const auto window = std::to_integer<unsigned>(packed[5]);
  if ((descriptor & kHasChecksum) == 0) return "the frame has no checksum";
  if ((descriptor & kDictionary) != 0) return "the frame asks for a dictionary";
  if ((descriptor & kSingleSegment) == 0 && 10 + (window >> 3U) > kWindowLogMax)
    return "the frame's window is too large";
  return {};
}

}  // namespace

std::string Decompressor::unpack(std::span<const std::byte> packed, std::span<std::byte> raw) {
  if (std::string wrong = check_frame_head(packed); !wrong.empty()) return wrong;
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != raw.size()) return "the frame holds another length";
  if (ZSTD_findFrameCompressedSize(packed.data(), packed.size()) != packed.size()) return "not exactly one frame";
  const std::size_t size = ZSTD_decompressDCtx(context_->zstd, raw.data(), raw.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) return std::string("zstd: ") + ZSTD_getErrorName(size);
  if (size != raw.size()) return "the frame ends early";
  return {};
}

}  // namespace lockstep
