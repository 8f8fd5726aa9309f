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
  Modes<T> modes(context, decomposition);
  if (modes.layout().size > 0) fill(context, power, options, modes);
  return modes;
}

ZHALO_FOR_REALS(random_modes);

}  // namespace zhalo
