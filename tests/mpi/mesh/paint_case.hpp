/// Particles that every rank knows, painted by definition: each cell sums up the window's value at
/// its distance from each particle.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/mpi/mesh/mesh_case.hpp"
#include "tests/support/over_ranks.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo::testing {

inline constexpr Window all_windows[] = {Window::ngp, Window::cic, Window::tsc, Window::pcs};

/// Positions and weights of all ranks.
template <class Real>
struct PaintedPoints {
  Grid grid;
  std::vector<Real> pos;  ///< row by row
  std::vector<double> mass;

  Index num() const { return static_cast<Index>(mass.size()); }

  /// What a rank brings.
  struct Part {
    std::vector<Real> pos;
    std::vector<double> mass;
    Particles<Real> particles;
  };
  Part part(const Share& share) const {
    Part part;
    part.pos.assign(pos.begin() + 3 * share.first, pos.begin() + 3 * (share.first + share.count));
    part.mass.assign(mass.begin() + share.first, mass.begin() + share.first + share.count);
    part.particles.segments.push_back(
        ParticleSegment<Real>::interleaved(part.pos.data(), share.count));
    part.particles.segments[0].mass = part.mass.data();
    return part;
  }
};

inline Grid odd_grid(Index x, Index y, Index z, bool periodic = true) {
  Grid grid{{{x, y, z}}, Box::periodic_cube(1)};
  grid.box.lo = {{-1, 0, 2}};
  grid.box.length = {{2, 3, 0.75}};
  grid.box.periodic = {{periodic, periodic, periodic}};
  return grid;
}

/// Positions where a particle's window begins or ends: the edges of the box, the largest number
/// below the upper edge, and middles and edges of cells.
template <class Real>
Real special_position(Random& random, const Grid& grid, int axis) {
  const double lo = grid.box.lo[axis];
  const double hi = lo + grid.box.length[axis];
  const double cell = lo + static_cast<double>(random.below(grid.num[axis])) * grid.spacing(axis);
  switch (random.below(5)) {
    case 0: return static_cast<Real>(lo);
    case 1: return static_cast<Real>(hi);
    case 2: return std::nextafter(static_cast<Real>(hi), static_cast<Real>(lo));
    case 3: return static_cast<Real>(cell);
    default: return static_cast<Real>(cell + 0.5 * grid.spacing(axis));
  }
}

template <class Real>
PaintedPoints<Real> random_points(const Grid& grid, Index num, std::uint64_t seed) {
  PaintedPoints<Real> points{grid, {}, {}};
  Random random(seed);
  for (Index i = 0; i < num; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const double lo = grid.box.lo[axis];
      const double length = grid.box.length[axis];
      // In a periodic box particles may lie outside.
      const double out = grid.box.periodic[axis] && random.one_in(4)
                             ? static_cast<double>(random.below(7) - 3)
                             : 0;
      const bool is_special = random.one_in(3);
      points.pos.push_back(is_special
                               ? special_position<Real>(random, grid, axis)
                               : static_cast<Real>(lo + length * (out + random.uniform(0, 0.999))));
    }
    points.mass.push_back(random.log_uniform(0.01, 100));
  }
  return points;
}

/// The window at a distance, in cells, from the middle of its cell; half open where it jumps.
inline double window_at(Window window, double distance) {
  const double s = std::abs(distance);
  switch (window) {
    case Window::ngp: return distance >= -0.5 && distance < 0.5 ? 1 : 0;
    case Window::cic: return s < 1 ? 1 - s : 0;
    case Window::tsc: return s < 0.5 ? 0.75 - s * s : (s < 1.5 ? 0.5 * (1.5 - s) * (1.5 - s) : 0);
    case Window::pcs:
      return s < 1 ? (4 - 6 * s * s + 3 * s * s * s) / 6
                   : (s < 2 ? (2 - s) * (2 - s) * (2 - s) / 6 : 0);
  }
  return 0;
}

/// What a position gives to the cells of one axis.
inline std::vector<double> axis_weights(const Grid& grid, int axis, double x,
                                        const PaintOptions& options) {
  const Index n = grid.num[axis];
  // Rounded as paint() says: on the edge of a cell NGP depends on it.
  const double at_edge = (x - grid.box.lo[axis]) * (static_cast<double>(n) / grid.box.length[axis]);
  double at = at_edge - (0.5 + options.shift[axis]);
  if (grid.box.periodic[axis])
    at -= std::floor(at / static_cast<double>(n)) * static_cast<double>(n);
  std::vector<double> weights(static_cast<std::size_t>(n));
  for (Index cell = -4; cell < n + 4; ++cell) {
    const Index owner =
        grid.box.periodic[axis] ? (cell + 4 * n) % n : std::clamp<Index>(cell, 0, n - 1);
    weights[static_cast<std::size_t>(owner)] +=
        window_at(options.window, at - static_cast<double>(cell));
  }
  return weights;
}

/// All cells, x, y, z. `weight`: of each particle.
template <class Real>
std::vector<double> painted_by_definition(const PaintedPoints<Real>& points,
                                          const std::vector<double>& weight,
                                          const PaintOptions& options) {
  const GridIndex n = points.grid.num;
  std::vector<double> cells(static_cast<std::size_t>(points.grid.size()));
  for (std::size_t p = 0; p < weight.size(); ++p) {
    std::vector<double> of[3];
    for (int axis = 0; axis < 3; ++axis)
      of[axis] = axis_weights(
          points.grid, axis,
          static_cast<double>(points.pos[3 * p + static_cast<std::size_t>(axis)]), options);
    for_cells(points.grid.index_box(), [&](const GridIndex& cell) {
      double value = weight[p];
      for (int axis = 0; axis < 3; ++axis) value *= of[axis][static_cast<std::size_t>(cell[axis])];
      cells[static_cast<std::size_t>((cell[0] * n[1] + cell[1]) * n[2] + cell[2])] += value;
    });
  }
  return cells;
}

/// This rank's own cells, in x, y, z order.
template <class T>
std::vector<T> own_cells(const Context& context, const Field<T>& field) {
  const std::vector<T> all = read_field(context, field);
  std::vector<T> own;
  for_cells(field.cells(), [&](const GridIndex& cell) {
    own.push_back(all[static_cast<std::size_t>(field.layout().offset(cell))]);
  });
  return own;
}

/// The cells of an index box, from a whole field.
template <class T>
std::vector<T> cells_of(const std::vector<T>& whole, const Grid& grid, const IndexBox& index_box) {
  std::vector<T> own;
  for_cells(index_box, [&](const GridIndex& cell) {
    own.push_back(
        whole[static_cast<std::size_t>((cell[0] * grid.num[1] + cell[1]) * grid.num[2] + cell[2])]);
  });
  return own;
}

/// The whole field as one rank paints it.
template <class T, class Real>
std::vector<T> painted_by_one_rank(const PaintedPoints<Real>& points, const PaintOptions& options,
                                   int threads = 1) {
  Context context;
  context.exec = host_exec(threads);
  Field<T> field(context, Decomposition(points.grid, 1));
  const auto part = points.part({0, points.num()});
  paint(context, part.particles, field, options);
  return own_cells(context, field);
}

/// By one rank and three threads.
inline PaintReport painted_alone(const PaintedPoints<float>& points,
                                 const std::vector<double>& weight) {
  Context context;
  context.exec = host_exec(3);
  Field<double> field(context, Decomposition(points.grid, 1));
  const auto all = points.part(part_of(points.num(), Cut::even, 0, 1));
  return paint(context, all.particles, field,
               {.window = Window::ngp, .weights = Weights::column, .column = weight.data()});
}

}  // namespace zhalo::testing
