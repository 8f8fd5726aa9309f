/// Fields that any rank can compute in any cell, their modes, and what is the same on all ranks.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/mpi/comm/late_context.hpp"
#include "tests/mpi/mesh/mesh_case.hpp"
#include "zhalo/mesh/modes.hpp"

namespace zhalo::testing {

inline double sinc(double x) { return x == 0 ? 1 : std::sin(x) / x; }

using CellFunction = std::function<double(const GridIndex& cell)>;

/// Between -1 and 1, without any pattern.
inline double noise_at(const GridIndex& cell, std::uint64_t seed = 0) {
  auto bits = seed * 0x632be59bd9b4e019U +
              static_cast<std::uint64_t>(cell[0] + 1000 * (cell[1] + 1000 * cell[2]));
  for (int round = 0; round < 2; ++round) {
    bits += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    bits ^= bits >> 31;
  }
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}
inline CellFunction noise_field(std::uint64_t seed = 0) {
  return [seed](const GridIndex& cell) { return noise_at(cell, seed); };
}

inline Grid box_grid(const GridIndex& num, const Vec3d& length) {
  Grid grid{num};
  grid.box.length = length;
  grid.box.lo = {{-1.5, 0.25, 7}};
  return grid;
}

/// Odd and even, prime, tiny, flat and long, in boxes with different sides.
inline std::vector<Grid> odd_grids() {
  return {box_grid({{8, 6, 10}}, {{3, 5, 2}}),  box_grid({{5, 3, 17}}, {{1, 1, 4}}),
          box_grid({{1, 2, 3}}, {{0.5, 2, 1}}), box_grid({{64, 1, 2}}, {{10, 1, 1}}),
          box_grid({{3, 100, 4}}, {{1, 9, 2}}), box_grid({{1, 1, 1}}, {{1, 1, 1}})};
}

/// A slab and, where there are ranks enough, a pencil; on many ranks, where plans take long, one of
/// both.
inline std::vector<Decomposition> decompositions_of(const Context& context, const Grid& grid) {
  const int ranks = context.comm.size();
  const Decomposition slab(grid, ranks, {.split = Split::slab});
  if (ranks == 1) return {slab};
  const int rows = ranks % 4 == 0 ? 2 : 1;
  const Decomposition pencil(grid, ranks, {.shape = {rows, ranks / rows}});
  if (ranks <= 4) return {slab, pencil};
  return {grid.num[1] % 2 == 0 ? pencil : slab};
}

template <class T>
constexpr double tolerance_of = 50 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <class T>
void set_cells(const Context& context, Field<T>& field, const CellFunction& value) {
  std::vector<T> values = read_field(context, field);
  for_cells(field.cells(), [&](const GridIndex& cell) {
    values[static_cast<std::size_t>(field.layout().offset(cell))] = static_cast<T>(value(cell));
  });
  write_field(context, field, values);
}

template <class T>
Modes<T> modes_of(const Context& context, const Decomposition& decomposition,
                  const CellFunction& value, const Ghosts& ghosts = {}) {
  Field<T> field(context, decomposition, ghosts);
  set_cells(context, field, value);
  return to_modes(context, field);
}

/// visit(cell, value) for this rank's cells.
template <class T, class Visit>
void visit_cells(const Context& context, const Field<T>& field, const Visit& visit) {
  const std::vector<T> values = read_field(context, field);
  for_cells(field.cells(), [&](const GridIndex& cell) {
    visit(cell, static_cast<double>(values[static_cast<std::size_t>(field.layout().offset(cell))]));
  });
}

/// visit(mode, value) for this rank's modes.
template <class T, class Visit>
void visit_modes(const Context& context, const Modes<T>& modes, const Visit& visit) {
  const std::vector<std::complex<T>> values = to_host(context.exec, modes.span());
  for_cells(modes.layout().index_box, [&](const GridIndex& mode) {
    visit(mode,
          std::complex<double>(values[static_cast<std::size_t>(modes.layout().offset(mode))]));
  });
}

/// The largest difference from what is expected, over all ranks; NaN counts as infinite.
template <class T>
double difference(const Context& context, const Field<T>& field, const CellFunction& expected) {
  double largest = 0;
  visit_cells(context, field, [&](const GridIndex& cell, double value) {
    const double apart = std::abs(value - expected(cell));
    largest = apart <= largest    ? largest
              : std::isnan(apart) ? std::numeric_limits<double>::infinity()
                                  : apart;
  });
  return context.comm.max(largest);
}
using ModeFunction = std::function<std::complex<double>(const GridIndex& mode)>;
template <class T>
double difference(const Context& context, const Modes<T>& modes, const ModeFunction& expected) {
  double largest = 0;
  visit_modes(context, modes, [&](const GridIndex& mode, const std::complex<double>& value) {
    const double apart = std::abs(value - expected(mode));
    largest = apart <= largest    ? largest
              : std::isnan(apart) ? std::numeric_limits<double>::infinity()
                                  : apart;
  });
  return context.comm.max(largest);
}

/// The field of the modes.
template <class T>
Field<T> field_of(const Context& context, const Modes<T>& modes, const Ghosts& ghosts = {}) {
  Field<T> field(context, modes.decomposition(), ghosts);
  to_field(context, modes, field);
  return field;
}

/// Signed number of waves along an axis: the one of mode, mode - num, ... that is least in
/// magnitude, positive if two are.
inline Index waves_along(Index mode, Index num) { return 2 * mode <= num ? mode : mode - num; }

/// k of a mode along an axis.
inline double k_along(const Grid& grid, const GridIndex& mode, int axis) {
  return 2 * std::numbers::pi * static_cast<double>(waves_along(mode[axis], grid.num[axis])) /
         grid.box.length[axis];
}

/// cos(k x + phase) and sin at the middle of cells, k given in waves per side.
struct Wave {
  Grid grid;
  GridIndex waves;
  double phase = 0;

  double k(int axis) const {
    return 2 * std::numbers::pi * static_cast<double>(waves[axis]) / grid.box.length[axis];
  }
  double k2() const { return k(0) * k(0) + k(1) * k(1) + k(2) * k(2); }
  double angle(const GridIndex& cell) const {
    double sum = phase;
    // Whole turns are left out before anything is rounded.
    for (int axis = 0; axis < 3; ++axis) {
      const Index half_cells = waves[axis] * (2 * cell[axis] + 1) % (2 * grid.num[axis]);
      sum +=
          std::numbers::pi * static_cast<double>(half_cells) / static_cast<double>(grid.num[axis]);
    }
    return sum;
  }
};

}  // namespace zhalo::testing
