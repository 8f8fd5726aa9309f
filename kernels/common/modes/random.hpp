/// Random modes, each from its own wave vector alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "kernels/common/mesh/rows.hpp"
#include "kernels/common/modes/portable.hpp"
#include "kernels/modes.hpp"

namespace zhalo::kernels {

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
