/// Random numbers that are a function of a counter.
#pragma once

#include <array>
#include <cstdint>

namespace zhalo::mesh {

/// Philox4x32 with ten rounds (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy
/// as 1, 2, 3", SC11): 128 random bits for each counter and key.
using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint64_t multiplier[] = {0xD2511F53U, 0xCD9E8D57U};
  constexpr std::uint32_t step[] = {0x9E3779B9U, 0xBB67AE85U};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = multiplier[0] * counter[0];
    const std::uint64_t b = multiplier[1] * counter[2];
    const auto high = [](std::uint64_t product) {
      return static_cast<std::uint32_t>(product >> 32);
    };
    counter = {high(b) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               high(a) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    for (std::size_t i = 0; i < 2; ++i) key[i] += step[i];
  }
  return counter;
}

}  // namespace zhalo::mesh
