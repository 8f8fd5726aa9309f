/// Morton (Z-order) keys: the bits of the cell numbers, interleaved, x in the highest place.
#pragma once

#include <cstdint>

#include "kernels/common/arithmetic.hpp"

namespace zhalo::kernels {

/// Two zero bits behind each of the lowest 21 bits.
ZHALO_HD constexpr std::uint64_t spread_by_3(std::uint64_t x) {
  x &= 0x1fffffU;
  x = (x | x << 32) & 0x001f00000000ffffU;
  x = (x | x << 16) & 0x001f0000ff0000ffU;
  x = (x | x << 8) & 0x100f00f00f00f00fU;
  x = (x | x << 4) & 0x10c30c30c30c30c3U;
  x = (x | x << 2) & 0x1249249249249249U;
  return x;
}

/// One zero bit behind each of the lowest 32 bits.
ZHALO_HD constexpr std::uint64_t spread_by_2(std::uint64_t x) {
  x &= 0xffffffffU;
  x = (x | x << 16) & 0x0000ffff0000ffffU;
  x = (x | x << 8) & 0x00ff00ff00ff00ffU;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fU;
  x = (x | x << 2) & 0x3333333333333333U;
  x = (x | x << 1) & 0x5555555555555555U;
  return x;
}

ZHALO_HD constexpr std::uint64_t morton3(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return spread_by_3(x) << 2 | spread_by_3(y) << 1 | spread_by_3(z);
}

ZHALO_HD constexpr std::uint64_t morton2(std::uint32_t x, std::uint32_t y) {
  return spread_by_2(x) << 1 | spread_by_2(y);
}

/// How many of the `bits` bits of two keys agree, from the highest on.
ZHALO_HD inline int common_prefix(std::uint64_t a, std::uint64_t b, int bits) {
  const std::uint64_t differ = a ^ b;
  if (differ == 0) return bits;
  return bits - 1 - highest_bit(differ);
}

}  // namespace zhalo::kernels
