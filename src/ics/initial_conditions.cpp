#include "zhalo/ics/initial_conditions.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <type_traits>
#include <utility>

#include "kernels/modes.hpp"
#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/fft/box_messages.hpp"
#include "src/mesh/mode_tables.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo {
// Random fields.

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

// Displacements.

namespace {

/// Derivatives at the cells: one plan serves all of them.
template <class T>
class Derivatives {
 public:
  Derivatives(const Context& context, const Decomposition& decomposition)
      : context_(context), transform_(context, decomposition) {}

  /// Along an axis.
  void derive(const Modes<T>& modes, int axis, Field<T>& field) {
    Modes<T> derived = copy_of(context_, modes);
    differentiate(context_, derived, axis);
    transform_.backward(std::move(derived), field);
  }

  /// Along i and j.
  void derive(const Modes<T>& modes, const std::array<int, 2>& axes, Field<T>& field) {
    Modes<T> derived = copy_of(context_, modes);
    const auto [i, j] = axes;
    if (i == j) {
      differentiate_twice(context_, derived, i);
    } else {
      differentiate(context_, derived, i);
      differentiate(context_, derived, j);
    }
    transform_.backward(std::move(derived), field);
  }

  Modes<T> modes_of(const Field<T>& field) {
    Modes<T> modes(context_, field.decomposition());
    transform_.forward(field, modes);
    return modes;
  }

 private:
  const Context& context_;
  FieldTransform<T> transform_;
};

/// -phi1, whose gradient is the first-order displacement.
template <class T>
Modes<T> first_potential(const Context& context, const Modes<T>& linear) {
  validate_periodic(linear.decomposition().grid(), "displacements are asked for");
  Modes<T> potential = copy_of(context, linear);
  solve_poisson(context, potential);
  scale(context, potential, -1);
  return potential;
}

/// phi2 of phi1 with either sign: its source is quadratic. Made with three fields: sums of products
/// at the cells.
template <class T>
Modes<T> second_potential(const Context& context, Derivatives<T>& at_cells, const Modes<T>& first) {
  Field<T> source(context, first.decomposition());
  {
    Field<T> a(context, first.decomposition());
    Field<T> b(context, first.decomposition());
    const auto constant = [](const Field<T>& field) { return field.span(); };
    at_cells.derive(first, std::array{0, 0}, a);
    at_cells.derive(first, std::array{1, 1}, b);
    kernels::on(context.exec, [&](const auto& e) {
      kernels::multiply(e, constant(a), constant(b), source.span());
      kernels::add_values(e, constant(b), a.span());
    });
    at_cells.derive(first, std::array{2, 2}, b);
    kernels::on(context.exec, [&](const auto& e) {
      kernels::add_product(e, constant(a), constant(b), T{1}, source.span());
    });
    for (const auto& mixed : {std::array{1, 0}, std::array{2, 0}, std::array{2, 1}}) {
      at_cells.derive(first, mixed, a);
      kernels::on(context.exec, [&](const auto& e) {
        kernels::add_product(e, constant(a), constant(a), T{-1}, source.span());
      });
    }
  }
  Modes<T> potential = at_cells.modes_of(source);
  solve_poisson(context, potential);
  return potential;
}

template <class T>
std::array<Field<T>, 3> gradient(const Context& context, Derivatives<T>& at_cells,
                                 const Modes<T>& potential) {
  const Decomposition& decomposition = potential.decomposition();
  std::array<Field<T>, 3> fields{Field<T>(context, decomposition), Field<T>(context, decomposition),
                                 Field<T>(context, decomposition)};
  for (int axis = 0; axis < 3; ++axis)
    at_cells.derive(potential, axis, fields[static_cast<std::size_t>(axis)]);
  return fields;
}

kernels::CellBlock block_of(const IndexBox& index_box) {
  kernels::CellBlock block;
  for (int axis = 0; axis < 3; ++axis) {
    block.lo[axis] = index_box.lo[axis];
    block.extent[axis] = index_box.length(axis);
  }
  return block;
}

/// Room for the particles of this rank, with their ids.
template <class T>
LptParticles<T> make_particles(const Context& context, const Decomposition& decomposition) {
  const IndexBox cells = decomposition.cells(context.comm.rank());
  LptParticles<T> particles;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    particles.pos[axis] = Buffer<T>(context.exec, cells.size(), "positions of initial conditions");
    particles.velocity[axis] =
        Buffer<T>(context.exec, cells.size(), "velocities of initial conditions");
  }
  particles.id = Buffer<std::uint64_t>(context.exec, cells.size(), "ids of initial conditions");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::number_cells(e, block_of(cells), decomposition.grid().num, particles.id.span());
  });
  return particles;
}

/// All of an axis but what is in memory.
template <class T>
kernels::DisplacedAxis<T> describe_axis(const Grid& grid, int axis, const LptOptions& options) {
  const double a = options.scale_factor;
  const Growth growth = growth_at(options.expansion, a);
  const double rate = a * options.expansion.hubble_ratio(a) * options.velocity_unit;
  kernels::DisplacedAxis<T> displaced;
  displaced.axis = axis;
  displaced.lo = grid.box.lo[axis];
  displaced.spacing = grid.spacing(axis);
  displaced.length = grid.box.length[axis];
  displaced.to_displacement[0] = growth.d1;
  displaced.to_displacement[1] = growth.d2;
  displaced.to_velocity[0] = rate * growth.f1 * growth.d1;
  displaced.to_velocity[1] = rate * growth.f2 * growth.d2;
  return displaced;
}

/// May throw on one rank only.
template <class T>
LptParticles<T> displace_cells(const Context& context, const Modes<T>& linear,
                               const LptOptions& options) {
  const Decomposition& decomposition = linear.decomposition();
  const IndexBox cells = decomposition.cells(context.comm.rank());
  const Modes<T> first = first_potential(context, linear);
  std::optional<Modes<T>> second;
  Derivatives<T> at_cells(context, decomposition);
  if (options.order == 2) second = second_potential(context, at_cells, first);
  LptParticles<T> particles = make_particles<T>(context, decomposition);
  Field<T> first_field(context, decomposition);
  std::optional<Field<T>> second_field;
  if (second) second_field.emplace(context, decomposition);
  for (int axis = 0; axis < 3; ++axis) {
    at_cells.derive(first, axis, first_field);
    if (second) at_cells.derive(*second, axis, *second_field);
    auto displaced = describe_axis<T>(decomposition.grid(), axis, options);
    displaced.cells = block_of(cells);
    displaced.first = first_field.span().data();
    displaced.second = second_field ? second_field->span().data() : nullptr;
    displaced.pos = particles.pos[static_cast<std::size_t>(axis)].data();
    displaced.velocity = particles.velocity[static_cast<std::size_t>(axis)].data();
    kernels::on(context.exec, [&](const auto& e) { kernels::displace_axis(e, displaced); });
  }
  return particles;
}

}  // namespace

template <class T>
LptParticles<T> displace(const Context& context, const Modes<T>& linear,
                         const LptOptions& options) {
  return finish_together(context, [&] {
    validate(options.order == 1 || options.order == 2,
             "the order of the displacement is {} (must be 1, Zel'dovich, or 2, second order)",
             options.order);
    growth_at(options.expansion, options.scale_factor);
    validate(std::isfinite(options.velocity_unit) && options.velocity_unit > 0,
             "the unit of velocity of a displacement is {} (must be positive and finite)",
             options.velocity_unit);
    validate_equal(context.comm,
                   numbers_of(options.order, options.scale_factor, options.expansion.omega_matter,
                              options.expansion.omega_lambda, options.velocity_unit),
                   "the options of a displacement");
    const DeviceMemoryScope memory(
        context,
        fmt::format("{} particles that are displaced", linear.decomposition().grid().size()),
        [decomposition = linear.decomposition(), order = options.order](int ranks) {
          return displace_need(decomposition.mesh_size(ranks, std::is_same_v<T, double>), order)
              .peak;
        });
    const PhaseTimer timer(context, "displace");
    return displace_cells(context, linear, options);
  });
}

template <class T>
std::array<Field<T>, 3> first_order_displacement(const Context& context, const Modes<T>& linear) {
  return finish_together(context, [&] {
    const Modes<T> potential = first_potential(context, linear);
    Derivatives<T> at_cells(context, linear.decomposition());
    return gradient(context, at_cells, potential);
  });
}

template <class T>
std::array<Field<T>, 3> second_order_displacement(const Context& context, const Modes<T>& linear) {
  return finish_together(context, [&] {
    Derivatives<T> at_cells(context, linear.decomposition());
    const Modes<T> potential =
        second_potential(context, at_cells, first_potential(context, linear));
    return gradient(context, at_cells, potential);
  });
}

ZHALO_FOR_REALS(displace);
ZHALO_FOR_REALS(first_order_displacement);
ZHALO_FOR_REALS(second_order_displacement);

}  // namespace zhalo
