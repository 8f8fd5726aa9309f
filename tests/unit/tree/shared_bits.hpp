#pragma once

#include <cstdint>

/// How many leading bits of two keys agree, one after the other.
inline int shared_bits(std::uint64_t a, std::uint64_t b, int bits) {
  int shared = 0;
  while (shared < bits && (a >> (bits - 1 - shared) & 1U) == (b >> (bits - 1 - shared) & 1U))
    ++shared;
  return shared;
}
