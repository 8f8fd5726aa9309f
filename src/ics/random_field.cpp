#include <cmath>
#include <numbers>

#include "src/core/validate.hpp"
#include "src/ics/philox.hpp"
#include "zhalo/ics/initial_conditions.hpp"

namespace zhalo {
namespace {

/// A complex number of mean square 1 for a wave vector, in units of the fundamental, its phase
/// turned by `turn`.
std::complex<double> random_number(const GridIndex& wave, double turn,
                                   const RandomFieldOptions& options) {
  // The counter has room for waves of 32 bits, the key for the seed.
  const auto low_bits = [](auto value) { return static_cast<std::uint32_t>(value); };
  const mesh::PhiloxCounter bits =
      mesh::philox({low_bits(wave[0]), low_bits(wave[1]), low_bits(wave[2]), 0},
                   {low_bits(options.seed), low_bits(options.seed >> 32)});
  const auto uniform = [](std::uint32_t high, std::uint32_t low) {  // (0, 1]
    const std::uint64_t number = (std::uint64_t{high} << 32 | low) >> 11;
    return static_cast<double>(number + 1) * 0x1p-53;
  };
  // The square of a Gaussian number's modulus has an exponential distribution.
  const double modulus =
      options.fixed_amplitude ? 1 : std::sqrt(-std::log(uniform(bits[0], bits[1])));
  const double phase = 2 * std::numbers::pi * uniform(bits[2], bits[3]) + turn;
  const double sign = options.inverted ? -1 : 1;
  return {sign * modulus * std::cos(phase), sign * modulus * std::sin(phase)};
}

/// Of k and -k, one has numbers of its own, and the other the conjugate ones.
bool is_first_of_pair(const GridIndex& wave) {
  for (int axis = 2; axis >= 0; --axis) {
    if (wave[axis] != 0) return wave[axis] > 0;
  }
  return true;
}

/// What runs for each mode.
template <class T>
struct FillMode {
  BoxLayout layout;
  Grid grid;
  const LinearPower* power;
  RandomFieldOptions options;
  std::complex<T>* values;

  void operator()(Index i) const {
    const IndexBox& index_box = layout.index_box;
    const Index plane = index_box.length(1) * index_box.length(2);
    const GridIndex mode = index_box.lo + GridIndex{{i / plane, i % plane / index_box.length(2),
                                                     i % index_box.length(2)}};
    const std::complex<double> value = value_of(mode);
    values[layout.offset(mode)] = {static_cast<T>(value.real()), static_cast<T>(value.imag())};
  }

 private:
  std::complex<double> value_of(const GridIndex& mode) const {
    GridIndex wave;
    double k_squared = 0;
    // Random phases count from the box's corner, where it is for all grids, those of modes from the
    // middle of cell 0: k h / 2.
    double turn = 0;
    for (int axis = 0; axis < 3; ++axis) {
      wave[axis] = wave_index(mode[axis], grid.num[axis]);
      if (2 * wave[axis] == grid.num[axis])
        return 0;  // both k and -k: no grid of another size has it
      turn +=
          std::numbers::pi * static_cast<double>(wave[axis]) / static_cast<double>(grid.num[axis]);
      k_squared += std::pow(fundamental(grid, axis) * static_cast<double>(wave[axis]), 2);
    }
    if (k_squared == 0) return 0;
    const double amplitude = std::sqrt((*power)(std::sqrt(k_squared)) / grid.box.volume());
    if (is_first_of_pair(wave)) return amplitude * random_number(wave, turn, options);
    return amplitude * std::conj(random_number(wave * Index{-1}, -turn, options));
  }
};

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
  // On the host, where the spectrum is: each mode once in a field's life.
  Modes<T> modes(context, decomposition);
  const BoxLayout& layout = modes.layout();
  const bool on_host = std::holds_alternative<Host>(context.exec);
  const Exec host = on_host ? context.exec : host_exec();
  Buffer<std::complex<T>> copy;
  if (!on_host) copy = Buffer<std::complex<T>>(host, layout.size, "random modes");
  std::complex<T>* values = on_host ? modes.span().data() : copy.data();
  for_each(host, layout.index_box.size(), FillMode<T>{layout, grid, &power, options, values});
  if (!on_host)
    queue_copy(context.exec, modes.span().data(), values,
               static_cast<std::size_t>(layout.size) * sizeof(std::complex<T>));
  return modes;
}

template Modes<float> random_modes(const Context&, const Decomposition&, const LinearPower&,
                                   const RandomFieldOptions&);
template Modes<double> random_modes(const Context&, const Decomposition&, const LinearPower&,
                                    const RandomFieldOptions&);

}  // namespace zhalo
