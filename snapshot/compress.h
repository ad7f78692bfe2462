#pragma once
// One zstd frame per chunk: checksum on, content size inside, window small enough for anybody's `zstd -d`.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

class Compressor {
 public:
  Compressor();
  // The whole of `raw` as one frame; valid until the next call.
  [[nodiscard]] std::span<const std::byte> pack(std::span<const std::byte> raw) &;

 private:
  struct Context;
  struct Free {
    void operator()(Context* context) const;
  };
  std::unique_ptr<Context, Free> context_;
  std::vector<std::byte> packed_;
};

class Decompressor {
 public:
  Decompressor();
  // Fills `raw` exactly from `packed`, which must be exactly one frame with the options above. Empty = done, else what
  // is wrong. No length of the frame is believed before it equals what the caller's own headers said.
  [[nodiscard]] std::string unpack(std::span<const std::byte> packed, std::span<std::byte> raw);

 private:
  struct Context;
  struct Free {
    void operator()(Context* context) const;
  };
  std::unique_ptr<Context, Free> context_;
};

}  // namespace lockstep
