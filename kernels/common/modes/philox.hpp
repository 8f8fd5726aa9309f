/// Random numbers that are a function of a counter.
#pragma once

#include <cstdint>

#include "zhalo/core/config.hpp"

namespace zhalo::kernels {

struct PhiloxCounter {
  std::uint32_t word[4];

  friend bool operator==(const PhiloxCounter&, const PhiloxCounter&) = default;
};
struct PhiloxKey {
  std::uint32_t word[2];
};

/// Philox4x32 with ten rounds (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy
/// as 1, 2, 3", SC11): 128 random bits for each counter and key.
ZHALO_HD inline PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint64_t multiplier[] = {0xD2511F53U, 0xCD9E8D57U};
  constexpr std::uint32_t step[] = {0x9E3779B9U, 0xBB67AE85U};
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t(&word)[4] = counter.word;
    const std::uint64_t a = multiplier[0] * word[0];
    const std::uint64_t b = multiplier[1] * word[2];
    const auto high = [](std::uint64_t product) {
      return static_cast<std::uint32_t>(product >> 32);
    };
    counter = {{high(b) ^ word[1] ^ key.word[0], static_cast<std::uint32_t>(b),
                high(a) ^ word[3] ^ key.word[1], static_cast<std::uint32_t>(a)}};
    for (int i = 0; i < 2; ++i) key.word[i] += step[i];
  }
  return counter;
}

}  // namespace zhalo::kernels
