/// Choices that the number of a mutant makes.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/random.hpp"

namespace zhalo::fuzz {

using testing::Random;

template <class T>
const T& choose(Random& random, const std::vector<T>& from) {
  return from.at(static_cast<std::size_t>(random.below(static_cast<Index>(from.size()))));
}

/// 0 to end - 1; 0 for an end of 0.
inline std::size_t offset_below(Random& random, std::size_t end) {
  return end == 0 ? 0 : static_cast<std::size_t>(random.below(static_cast<Index>(end)));
}

/// At the edges of what counts, sizes and offsets can be.
inline std::uint64_t odd_integer(Random& random) {
  const std::vector<std::uint64_t> odd{
      0,          1,          2,          3,          7,          0x7f,        0x80,
      0xff,       0x100,      499,        501,        1000,       0x7fff,      0x8000,
      0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x1000001f4,
      1ULL << 40, 1ULL << 61, 1ULL << 62, ~0ULL >> 1, 1ULL << 63, ~0ULL - 1,   ~0ULL};
  return choose(random, odd);
}

inline double odd_real(Random& random) {
  const std::vector<double> odd{0.0,    -0.0,   1.0,          -1.0,          0.5,      2.0,
                                1e-300, 1e300,  -1e300,       3.5e38,        1e-40,    1e9,
                                1e19,   2e19,   -1e19,        49.99999999,   50,       4.9e-324,
                                0x1p63, 0x1p64, std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL};
  return choose(random, odd);
}

}  // namespace zhalo::fuzz
