/// What has the same bits everywhere: elementary functions of doubles, which the libraries of hosts
/// and devices round differently, and random numbers.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/backend.hpp"
#include "zhalo/core/config.hpp"

namespace zhalo::kernels {

// Elementary functions: sums, products and quotients only, in a fixed order; within 1.5 units of
// the last digit.

/// ln 2 in two parts: the first has 20 zeros at its end, so that its products with exponents are
/// exact.
inline constexpr double ln2_high = 0x1.62e42fee00000p-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

/// ln x, for normal positive numbers.
ZHALO_HD inline double portable_log(double x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  // x = 2^exponent (1 + f), with 1 + f between the roots of 1/2 and of 2.
  constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;
  const std::uint64_t above = bits - root_of_half;
  const auto exponent = static_cast<double>(static_cast<std::int64_t>(above) >> 52);
  bits = (above & 0x000fffffffffffff) + root_of_half;
  double rest = 0;
  std::memcpy(&rest, &bits, sizeof rest);
  const double f = rest - 1;
  // ln(1 + f) = 2 artanh s = f - f^2 / 2 + s (f^2 / 2 + r), r = 2 (s^2 / 3 + s^4 / 5 + ...).
  const double s = f / (2 + f);
  const double s2 = s * s;
  double series = 0;
  ZHALO_UNROLL
  for (int n = 21; n >= 3; n -= 2) series = s2 * (series + 2.0 / n);
  const double half = 0.5 * f * f;
  return exponent * ln2_high - ((half - (s * (half + series) + exponent * ln2_low)) - f);
}

/// The whole number nearest to x, for |x| < 2^51.
ZHALO_HD inline double nearest_whole(double x) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: here numbers have no fraction
  return (x + magic) - magic;
}

/// e^x; 0 or infinity beyond what a double can hold.
ZHALO_HD inline double portable_exp(double x) {
  constexpr double ln2_inverse = 0x1.71547652b82fep+0;
  if (x > 800) x = 800;
  if (x < -800) x = -800;
  const double whole = nearest_whole(x * ln2_inverse);
  const double r = (x - whole * ln2_high) - whole * ln2_low;
  // e^r = 1 + r (1 + r / 2 (1 + r / 3 (...))).
  double series = 1;
  ZHALO_UNROLL
  for (int n = 14; n >= 2; --n) series = 1 + r * series * (1.0 / n);
  return ldexp(1 + r * series, static_cast<int>(whole));
}

struct SineCosine {
  double sine;
  double cosine;
};
/// For |x| < 1000.
ZHALO_HD inline SineCosine portable_sine_cosine(double x) {
  constexpr double inverse = 0x1.45f306dc9c883p-1;  // of pi / 2
  constexpr double high = 0x1.921fb54400000p+0;     // of pi / 2: its products are exact
  constexpr double low = 0x1.0b4611a626331p-34;
  const double turns = nearest_whole(x * inverse);
  const double r = (x - turns * high) - turns * low;
  const double r2 = r * r;
  double sine = 0;    // of r, over r, less 1
  double cosine = 0;  // less 1
  ZHALO_UNROLL
  for (int n = 18; n >= 2; n -= 2) {
    sine = -(r2 * (1 + sine)) * (1.0 / (n * (n + 1)));
    cosine = -(r2 * (1 + cosine)) * (1.0 / (n * (n - 1)));
  }
  sine = r + r * sine;
  cosine = 1 + cosine;
  switch (static_cast<int>(turns) & 3) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

// Random numbers that are a function of a counter.

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
