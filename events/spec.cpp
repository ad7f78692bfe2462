#include "events/spec.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "events/walk.h"

namespace lockstep {
namespace {

// First byte of what is hashed. A new layout of the walk gets a new number, so that no old hash can be met by it.
constexpr std::uint8_t kSpecHashVersion = 1;

std::uint64_t big_endian(const unsigned char* bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = (number << 8U) | bytes[i];
  return number;
}

bool is_name_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && std::all_of(text.begin(), text.end(), is_name_byte);
}

SpecHash content_hash(const GroupSpec& spec) {
  std::vector<std::byte> bytes{std::byte{kSpecHashVersion}};
  ByteSink sink{bytes};
  walk_write(sink, spec);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  LOCKSTEP_CHECK(ok == 1 && size == 32, "content_hash: OpenSSL gave no SHA-256");
  return SpecHash{big_endian(digest.data()), big_endian(digest.data() + 8)};
}

}  // namespace lockstep
