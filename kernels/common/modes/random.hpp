/// Random modes: numbers that follow from counters, and elementary functions with equal bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "kernels/common/backend.hpp"
#include "kernels/common/mesh/rows.hpp"
#include "kernels/modes.hpp"
#include "zhalo/core/config.hpp"

namespace zhalo::kernels {

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

// Elementary functions of doubles with the same bits everywhere: the libraries of hosts and
// devices round differently. Sums, products and quotients only, in a fixed order; within 1.5 units
// of the last digit.

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

// Random modes.

template <class T>
struct FillRandomModes {
  RandomModes<T> random;

  struct Wave {
    Index of[3];  ///< by axis, in units of the fundamental
  };
  struct Value {
    double real;
    double imaginary;
  };

  struct Row {
    const RandomModes<T>& random;
    Index a;
    Index b;
    ZHALO_HD void operator()(Index offset, Index c) const {
      const Value value = FillRandomModes::value_of(random, {a, b, c});
      random.modes.values[2 * offset] = static_cast<T>(value.real);
      random.modes.values[2 * offset + 1] = static_cast<T>(value.imaginary);
    }
  };
  ZHALO_HD Row row(Index a, Index b) const { return {random, a, b}; }

 private:
  struct ModeIndex {
    Index of[3];  ///< by axis in memory
  };

  /// Of k and -k, one has numbers of its own, and the other the conjugate ones.
  ZHALO_HD static bool is_first_of_pair(const Wave& wave) {
    for (int axis = 2; axis >= 0; --axis) {
      if (wave.of[axis] != 0) return wave.of[axis] > 0;
    }
    return true;
  }

  /// By its definition in LinearPower.
  ZHALO_HD static double power_at(const RandomModes<T>& random, double k) {
    const double x = portable_log(k);
    const Index last = random.log_k.size() - 1;
    Index upper = 1;  // the points around x are this one and the one before
    Index end = last;
    while (upper < end) {
      const Index middle = (upper + end) / 2;
      if (random.log_k[middle] > x) {
        end = middle;
      } else {
        upper = middle + 1;
      }
    }
    const double slope = (random.log_power[upper] - random.log_power[upper - 1]) /
                         (random.log_k[upper] - random.log_k[upper - 1]);
    return portable_exp(random.log_power[upper] + slope * (x - random.log_k[upper]));
  }

  /// In (0, 1].
  ZHALO_HD static double uniform(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t number = (std::uint64_t{high} << 32 | low) >> 11;
    return static_cast<double>(number + 1) * 0x1p-53;
  }

  /// A complex number of mean square 1 for a wave vector, its phase turned by `turn`.
  ZHALO_HD static Value random_number(const RandomModes<T>& random, const Wave& wave, double turn) {
    // The counter has room for waves of 32 bits, the key for the seed.
    const PhiloxCounter bits = philox(
        {{static_cast<std::uint32_t>(wave.of[0]), static_cast<std::uint32_t>(wave.of[1]),
          static_cast<std::uint32_t>(wave.of[2]), 0}},
        {{static_cast<std::uint32_t>(random.seed), static_cast<std::uint32_t>(random.seed >> 32)}});
    // The square of a Gaussian number's modulus has an exponential distribution.
    const double modulus =
        random.fixed_amplitude ? 1 : sqrt(-portable_log(uniform(bits.word[0], bits.word[1])));
    const double phase = 2 * std::numbers::pi * uniform(bits.word[2], bits.word[3]) + turn;
    const double size = random.inverted ? -modulus : modulus;
    const SineCosine of_phase = portable_sine_cosine(phase);
    return {size * of_phase.cosine, size * of_phase.sine};
  }

  ZHALO_HD static Value value_of(const RandomModes<T>& random, const ModeIndex& mode) {
    Wave wave{};
    double turn = 0;
    double square = 0;
    for (int i = 0; i < 3; ++i) {
      const int axis = random.axis[i];
      const auto of_axis = static_cast<Index>(random.waves.of[i][mode.of[i]]);
      // Both k and -k: no grid of another size has it.
      if (2 * of_axis == random.num[axis]) return {0, 0};
      wave.of[axis] = of_axis;
      turn += random.turns.of[i][mode.of[i]];
      square += random.squares.of[i][mode.of[i]];
    }
    if (square == 0) return {0, 0};
    const double amplitude = sqrt(power_at(random, sqrt(square)) / random.volume);
    const bool is_first = is_first_of_pair(wave);
    const double sign = is_first ? 1 : -1;
    if (!is_first)
      for (Index& of_axis : wave.of) of_axis = -of_axis;
    const Value value = random_number(random, wave, sign * turn);
    return {amplitude * value.real, sign * amplitude * value.imaginary};
  }
};

template <class E, class T>
void fill_random_modes(const E& exec, const RandomModes<T>& random) {
  act_on_rows(exec, random.modes.rows, FillRandomModes<T>{random});
}

ZHALO_INSTANTIATE_REALS(fill_random_modes);

}  // namespace zhalo::kernels
