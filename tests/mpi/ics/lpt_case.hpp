/// Displacements of plane waves against their formulas.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "tests/mpi/mesh/mesh_case.hpp"
#include "tests/support/direct_dft.hpp"
#include "zhalo/ics/initial_conditions.hpp"

namespace zhalo::testing {

inline Grid grid_of(const GridIndex& num, const Vec3d& length) {
  Grid grid{num, Box::periodic_cube(1)};
  grid.box.length = length;
  return grid;
}

/// A wave of the overdensity, amplitude cos(k x + phase), x being 0 at cell 0.
struct LinearWave {
  GridIndex number;
  double amplitude = 0;
  double phase = 0;

  Vec3d k(const Grid& grid) const {
    Vec3d k;
    for (int axis = 0; axis < 3; ++axis)
      k[axis] = fundamental(grid, axis) * static_cast<double>(number[axis]);
    return k;
  }
};

inline double dot(const Vec3d& a, const Vec3d& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <class T>
Modes<T> modes_of(const Context& context, const Decomposition& decomposition,
                  const std::vector<LinearWave>& waves) {
  Modes<T> modes(context, decomposition);
  std::vector<std::complex<T>> values(static_cast<std::size_t>(modes.span().size()));
  const GridIndex& num = decomposition.grid().num;
  for (const LinearWave& wave : waves) {
    for (const Index sign : {1, -1}) {
      GridIndex mode;
      for (int axis = 0; axis < 3; ++axis)
        mode[axis] = (sign * wave.number[axis] + num[axis]) % num[axis];
      if (!modes.layout().index_box.contains(mode)) continue;
      const std::complex<double> value =
          std::polar(wave.amplitude / 2, static_cast<double>(sign) * wave.phase);
      values[static_cast<std::size_t>(modes.layout().offset(mode))] += std::complex<T>(value);
    }
  }
  copy_bytes(context.exec, modes.span().data(), values.data(),
             values.size() * sizeof(std::complex<T>));
  return modes;
}

/// Position of a cell from cell 0 on.
inline Vec3d position_of(const Grid& grid, const GridIndex& cell) {
  Vec3d position;
  for (int axis = 0; axis < 3; ++axis)
    position[axis] = grid.spacing(axis) * static_cast<double>(cell[axis]);
  return position;
}

/// phi1 = - sum of A / k^2 cos: its gradient is sum of A k / k^2 sin.
inline Vec3d first_order(const Grid& grid, const std::vector<LinearWave>& waves, const Vec3d& x) {
  Vec3d sum;
  for (const LinearWave& wave : waves) {
    const Vec3d k = wave.k(grid);
    sum -= k * (wave.amplitude / dot(k, k) * std::sin(dot(k, x) + wave.phase));
  }
  return sum;
}

/// The source is the sum over pairs of A B (1 - mu^2) cos a cos b, mu being the cosine of the angle
/// between the waves; the product of cosines is a sum of two waves, of which the potential is
/// known.
inline Vec3d second_order(const Grid& grid, const std::vector<LinearWave>& waves, const Vec3d& x) {
  Vec3d sum;
  for (std::size_t i = 0; i < waves.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Vec3d a = waves[i].k(grid);
      const Vec3d b = waves[j].k(grid);
      const double mu_squared = dot(a, b) * dot(a, b) / (dot(a, a) * dot(b, b));
      const double amplitude = waves[i].amplitude * waves[j].amplitude * (1 - mu_squared) / 2;
      for (const double sign : {1.0, -1.0}) {
        const Vec3d k = a + b * sign;
        const double angle = dot(k, x) + waves[i].phase + sign * waves[j].phase;
        sum += k * (amplitude / dot(k, k) * std::sin(angle));
      }
    }
  }
  return sum;
}

inline const std::vector<LinearWave> one_wave = {{{{1, -2, 1}}, 0.7, 0.4}};
inline const std::vector<LinearWave> three_waves = {
    {{{1, -2, 1}}, 0.7, 0.4}, {{{2, 1, 0}}, 0.5, 1.9}, {{{-1, 1, 3}}, 0.9, -2}};

/// Largest difference of displacements from a formula, over all ranks.
template <class T, class Formula>
double worst(const Context& context, const std::array<Field<T>, 3>& fields,
             const Formula& formula) {
  double difference = 0;
  const Grid& grid = fields[0].decomposition().grid();
  for (int axis = 0; axis < 3; ++axis) {
    const Field<T>& field = fields[static_cast<std::size_t>(axis)];
    const std::vector<T> values = to_host(context.exec, field.span());
    for_cells(field.cells(), [&](const GridIndex& cell) {
      const auto value =
          static_cast<double>(values[static_cast<std::size_t>(field.layout().offset(cell))]);
      const double found = std::abs(value - formula(position_of(grid, cell))[axis]);
      if (!(found <= difference))
        difference = std::isnan(found) ? std::numeric_limits<double>::infinity() : found;
    });
  }
  return context.comm.max(difference);
}

template <class T>
void check_displacements(const Context& context, const Decomposition& decomposition,
                         double tolerance) {
  const Grid& grid = decomposition.grid();
  const Modes<T> one = modes_of<T>(context, decomposition, one_wave);
  const Modes<T> three = modes_of<T>(context, decomposition, three_waves);
  const auto first = [&](const std::vector<LinearWave>& waves) {
    return [&grid, &waves](const Vec3d& x) { return first_order(grid, waves, x); };
  };
  CHECK(worst(context, first_order_displacement(context, one), first(one_wave)) < tolerance);
  CHECK(worst(context, first_order_displacement(context, three), first(three_waves)) < tolerance);
  CHECK(worst(context, second_order_displacement(context, one),
              [](const Vec3d&) { return Vec3d{}; }) < tolerance);
  CHECK(worst(context, second_order_displacement(context, three),
              [&](const Vec3d& x) { return second_order(grid, three_waves, x); }) < tolerance);
}

/// Slabs, and pencils where there can be some.
inline std::vector<Split> splits_of(int num_ranks) {
  return num_ranks > 3 ? std::vector{Split::slab, Split::pencil} : std::vector{Split::slab};
}

/// Between two positions in a periodic box.
inline double separation(double a, double b, double length) {
  return std::abs(std::remainder(a - b, length));
}

/// Universe of matter alone: D1 = a, D2 = -3/7 a^2, H = a^(-3/2).
template <class T>
void check_particles(const Context& context, const Decomposition& decomposition, double a,
                     int order) {
  const Grid& grid = decomposition.grid();
  const Modes<T> linear = modes_of<T>(context, decomposition, three_waves);
  const LptParticles<T> particles = displace(context, linear, {a, {1, 0}, order});
  const IndexBox cells = decomposition.cells(context.comm.rank());
  REQUIRE(particles.id.size() == cells.size());
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-5;
  const std::vector<std::uint64_t> id = to_host(context.exec, particles.id);
  std::array<std::vector<T>, 3> positions, velocities;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    positions[axis] = to_host(context.exec, particles.pos[axis]);
    velocities[axis] = to_host(context.exec, particles.velocity[axis]);
  }
  std::size_t i = 0;
  for_cells(cells, [&](const GridIndex& cell) {
    CHECK(id[i] == index_on(grid.num, cell) + 1);
    const Vec3d x = position_of(grid, cell);
    const Vec3d first = first_order(grid, three_waves, x);
    const Vec3d second = order == 2 ? second_order(grid, three_waves, x) : Vec3d{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      const double lo = grid.box.lo[axis];
      const double length = grid.box.length[axis];
      const double moved = a * first[axis] - 3.0 / 7 * a * a * second[axis];
      const double rate = first[axis] - 6.0 / 7 * a * second[axis];  // dx / da
      const auto pos = static_cast<double>(positions[at][i]);
      CHECK(separation(pos, lo + x[axis] + grid.spacing(axis) / 2 + moved, length) <
            tolerance * length);
      CHECK((pos >= lo && pos < lo + length));
      CHECK(static_cast<double>(velocities[at][i]) ==
            Approx(std::sqrt(a) * rate).margin(tolerance * length));
    }
    ++i;
  });
}

}  // namespace zhalo::testing
