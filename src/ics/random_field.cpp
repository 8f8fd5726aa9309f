#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/on.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/fft/box_messages.hpp"
#include "src/mesh/mode_tables.hpp"
#include "zhalo/ics/initial_conditions.hpp"

namespace zhalo {
namespace {

/// Numbers of the waves along the axes.
struct WaveTables {
  ModeTables waves;
  ModeTables turns;
  ModeTables squares;

  WaveTables(const Exec& exec, const Grid& grid, const BoxLayout& layout)
      : waves(exec, grid, layout, [](int, Index wave) { return static_cast<double>(wave); }),
        // Random phases count from the box's corner, where it is for all grids, those of modes from
        // the middle of cell 0: k h / 2.
        turns(exec, grid, layout,
              [&](int axis, Index wave) {
                return std::numbers::pi * static_cast<double>(wave) /
                       static_cast<double>(grid.num[axis]);
              }),
        squares(exec, grid, layout, [&](int axis, Index wave) {
          const double k = wave_number(grid, axis, wave);
          return k * k;
        }) {}
};

template <class T>
void fill(const Context& context, const LinearPower& power, const RandomFieldOptions& options,
          Modes<T>& modes) {
  const BoxLayout& layout = modes.layout();
  const Grid& grid = modes.decomposition().grid();
  const WaveTables tables(context.exec, grid, layout);
  const auto log_k = to_exec(context.exec, Span<const double>(power.log_k()), "a power spectrum");
  const auto log_power =
      to_exec(context.exec, Span<const double>(power.log_power()), "a power spectrum");
  kernels::RandomModes<T> random;
  random.modes = view_of(modes);
  for (std::size_t i = 0; i < 3; ++i) {
    random.axis[i] = order_of(layout)[i];
    random.num[i] = grid.num[static_cast<int>(i)];
  }
  ZHALO_EXPECT(random.axis[2] == 2);
  random.waves = tables.waves.view();
  random.turns = tables.turns.view();
  random.squares = tables.squares.view();
  random.log_k = log_k.span();
  random.log_power = log_power.span();
  random.volume = grid.box.volume();
  random.seed = options.seed;
  random.fixed_amplitude = options.fixed_amplitude;
  random.inverted = options.inverted;
  kernels::on(context.exec, [&](const auto& e) { kernels::fill_random_modes(e, random); });
}

/// Beyond its table the spectrum goes on with the slope of its ends, which may lead anywhere.
template <class T>
void validate_amplitudes(const Grid& grid, const LinearPower& power) {
  constexpr double max_modulus = 8;  // of a random number whose mean square is 1
  double min_k = std::numeric_limits<double>::infinity();
  double max_k2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    min_k = std::min(min_k, fundamental(grid, axis));
    const double nyquist = fundamental(grid, axis) / 2 * static_cast<double>(grid.num[axis]);
    max_k2 += nyquist * nyquist;
  }
  for (const double k : {min_k, std::sqrt(max_k2)}) {
    const double amplitude = max_modulus * std::sqrt(power(k) / grid.box.volume());
    validate(amplitude < static_cast<double>(std::numeric_limits<T>::max()),
             "the power spectrum goes on to {:.3g} at k = {:.6g}, beyond its table, so that modes "
             "would not be finite; give a table that covers k from {:.6g} to {:.6g}",
             power(k), k, min_k, std::sqrt(max_k2));
  }
}

}  // namespace

template <class T>
Modes<T> random_modes(const Context& context, const Decomposition& decomposition,
                      const LinearPower& power, const RandomFieldOptions& options) {
  const PhaseTimer timer(context, "random field");
  const Grid& grid = decomposition.grid();
  for (int axis = 0; axis < 3; ++axis) {
    fundamental(grid, axis);
    validate(grid.num[axis] < Index{1} << 32,
             "a random field is to have {} cells along {} (must be fewer than 2^32)",
             grid.num[axis], "xyz"[axis]);
  }
  validate_amplitudes<T>(grid, power);
  Modes<T> modes(context, decomposition);
  if (modes.layout().size > 0) fill(context, power, options, modes);
  return modes;
}

ZHALO_FOR_REALS(random_modes);

}  // namespace zhalo
