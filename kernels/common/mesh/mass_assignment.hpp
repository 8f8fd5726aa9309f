/// Which cells a particle's window covers, and which part of its weight each gets: B-splines of
/// order 1 to 4 (zhalo/mesh/field.hpp).
#pragma once

#include "kernels/common/arithmetic.hpp"
#include "kernels/mesh.hpp"

namespace zhalo::kernels {

/// The largest integer that is not above x, for |x| < 2^62. (The processor's own instruction needs
/// more than the baseline of x86-64.)
ZHALO_HD inline Index floor_index(double x) {
  const auto towards_zero = static_cast<Index>(x);
  return towards_zero - (x < static_cast<double>(towards_zero) ? 1 : 0);
}

/// The whole number nearest to x, even in a tie, for |x| <= 2^51.
ZHALO_HD inline double whole(double x) {
  constexpr double magic =
      6755399441055744.0;  // 1.5 * 2^52: here numbers have no digits behind the point
  return (x + magic) - magic;
}

/// A position on an axis: the first cell that its window covers, and how far it is behind the point
/// from which weights count.
struct AxisPosition {
  Index first = 0;
  double behind = 0;
};

template <int order>
ZHALO_HD AxisPosition position_on(const MeshAxis& axis, double x) {
  double at = (x - axis.lo) * axis.cells_per_length - axis.offset;
  const auto num = static_cast<double>(axis.num);
  // What lies many boxes away must not overflow an integer; the remainder is exact. So far out that
  // even the difference overflows, no digit of the position in the box is left.
  if (axis.periodic && !(at > -num && at < 2 * num))
    at = fmod(x - axis.lo, axis.length) * axis.cells_per_length - axis.offset;
  if (!(at - at == 0)) at = 0;
  constexpr bool is_odd = order % 2 == 1;
  const Index base = floor_index(is_odd ? at + 0.5 : at);
  return {base - (order - 1) / 2, at - static_cast<double>(base)};
}

/// The first cell's own number where the axis is periodic; else the nearest cell that exists.
ZHALO_HD inline Index owned_cell(const MeshAxis& axis, Index cell) {
  if (axis.periodic) {
    if (cell >= 0 && cell < axis.num) return cell;
    const Index rest = cell % axis.num;
    return rest < 0 ? rest + axis.num : rest;
  }
  return cell < 0 ? 0 : (cell >= axis.num ? axis.num - 1 : cell);
}

template <int order>
ZHALO_HD Index first_cell(const MeshAxis& axis, double x) {
  return owned_cell(axis, position_on<order>(axis, x).first);
}

/// A number for each cell of a window along an axis.
template <int order>
using Parts = double[static_cast<std::size_t>(order)];

template <int order>
struct AxisAssignment {
  Index first = 0;  ///< from 0 to num - 1; the others follow
  Parts<order> weight;
};

/// The spline's values at the cells; `d` from a cell's middle for odd orders (-1/2 to 1/2), from a
/// cell to the next for even ones.
template <int order>
ZHALO_HD void set_weights(double d, Parts<order>& weight) {
  if constexpr (order == 1) {
    weight[0] = 1;
  } else if constexpr (order == 2) {
    weight[0] = 1 - d;
    weight[1] = d;
  } else if constexpr (order == 3) {
    weight[0] = 0.5 * (0.5 - d) * (0.5 - d);
    weight[1] = 0.75 - d * d;
    weight[2] = 0.5 * (0.5 + d) * (0.5 + d);
  } else {
    constexpr double sixth = 1.0 / 6;
    const double e = 1 - d;
    weight[0] = sixth * (e * e * e);
    weight[1] = sixth * (4 - 3 * d * d * (1 + e));
    weight[2] = sixth * (4 - 3 * e * e * (1 + d));
    weight[3] = sixth * (d * d * d);
  }
}

/// What would be beyond the ends of an axis that is not periodic goes to its outermost cells.
template <int order>
ZHALO_HD void fold(const MeshAxis& axis, Index first, AxisAssignment<order>& assignment) {
  Parts<order> folded = {};
  for (int i = 0; i < order; ++i)
    folded[owned_cell(axis, first + i) - assignment.first] += assignment.weight[i];
  for (int i = 0; i < order; ++i) assignment.weight[i] = folded[i];
}

template <int order>
ZHALO_HD AxisAssignment<order> assignment_on(const MeshAxis& axis, double x) {
  const AxisPosition position = position_on<order>(axis, x);
  AxisAssignment<order> assignment;
  assignment.first = owned_cell(axis, position.first);
  set_weights<order>(position.behind, assignment.weight);
  if (!axis.periodic && (position.first < 0 || position.first + order > axis.num))
    fold<order>(axis, position.first, assignment);
  return assignment;
}

/// Divides whole units (|units| <= 2^51) by weights, whole and without remainder:
/// what rounding leaves goes to the middle.
template <int order>
ZHALO_HD void split(double fixed_weight, const Parts<order>& weight, Parts<order>& part) {
  constexpr int middle = order / 2;
  double left = fixed_weight;
  for (int i = 0; i < order; ++i) {
    if (i == middle) continue;
    part[i] = whole(fixed_weight * weight[i]);
    left -= part[i];
  }
  part[middle] = left;
}

/// Calls visit(i, j, k, part) for all cells of a window: parts of `units` as whole numbers.
template <int order, class Visit>
ZHALO_HD void for_each_part(double fixed_weight, const AxisAssignment<order> (&assignment)[3],
                            const Visit& visit) {
  Parts<order> plane;
  split<order>(fixed_weight, assignment[0].weight, plane);
  for (int i = 0; i < order; ++i) {
    Parts<order> row;
    split<order>(plane[i], assignment[1].weight, row);
    for (int j = 0; j < order; ++j) {
      Parts<order> part;
      split<order>(row[j], assignment[2].weight, part);
      for (int k = 0; k < order; ++k) visit(i, j, k, static_cast<Index>(part[k]));
    }
  }
}

/// call(Order<n>) with the window's order as a constant.
template <int n>
struct Order {
  static constexpr int value = n;
};
template <class Call>
void with_order(int order, const Call& call) {
  switch (order) {
    case 1: return call(Order<1>{});
    case 2: return call(Order<2>{});
    case 3: return call(Order<3>{});
    default: ZHALO_EXPECT(order == 4); return call(Order<4>{});
  }
}

/// The cells and weights of a position along all axes.
template <int order, class Real>
struct MassAssignment {
  AxisAssignment<order> axis[3];

  ZHALO_HD MassAssignment(const MeshCells& cells, const Vec<Real, 3>& pos)
      : axis{assignment_on<order>(cells.axis[0], static_cast<double>(pos[0])),
             assignment_on<order>(cells.axis[1], static_cast<double>(pos[1])),
             assignment_on<order>(cells.axis[2], static_cast<double>(pos[2]))} {}
};

/// Offsets of the cells of a window, in elements along each axis.
template <int order>
struct AssignmentOffsets {
  Index at[3][static_cast<std::size_t>(order)];

  ZHALO_HD AssignmentOffsets(const MeshCells& cells, const AxisAssignment<order> (&assignment)[3]) {
    for (int axis = 0; axis < 3; ++axis) {
      for (int i = 0; i < order; ++i)
        at[axis][i] = cells.axis[axis].offset_of(assignment[axis].first + i);
    }
  }
};

/// One particle's units to the cells: atomically where others may write to them, too.
template <int order, bool atomic, class Real>
struct DepositParticle {
  PaintInput<Real> painted;
  MeshCells cells;
  Span<Index> sums;

  ZHALO_HD void operator()(Index i) const {
    const MassAssignment<order, Real> assignment(cells, painted.particles[i].pos(3));
    const AssignmentOffsets<order> offset(cells, assignment.axis);
    for_each_part<order>(whole(painted.weight(i) * painted.scale), assignment.axis,
                         [&](int x, int y, int z, Index part) {
                           Index& sum = sums[offset.at[0][x] + offset.at[1][y] + offset.at[2][z]];
                           if constexpr (atomic) {
                             atomic_add(sum, part);
                           } else {
                             sum += part;
                           }
                         });
  }
};

template <int order, class T, class Real>
struct ReadoutPoint {
  ParticlesView<Real> points;
  ReadoutCells<T> readout;

  ZHALO_HD void operator()(Index i) const {
    // Offsets of cells are found where they are needed: kept for all axes, they would cost a device
    // more registers than there are.
    const MassAssignment<order, Real> assignment(readout.cells, points[i].pos(3));
    const MeshAxis(&axis)[3] = readout.cells.axis;
    double sum = 0;
    for (int x = 0; x < order; ++x) {
      const T* const cells_of_plane =
          readout.field.data() + axis[0].offset_of(assignment.axis[0].first + x);
      double plane = 0;
      for (int y = 0; y < order; ++y) {
        const T* const cells_of_row =
            cells_of_plane + axis[1].offset_of(assignment.axis[1].first + y);
        double row = 0;
        for (int z = 0; z < order; ++z) {
          const T value = cells_of_row[axis[2].offset_of(assignment.axis[2].first + z)];
          row += assignment.axis[2].weight[z] * static_cast<double>(value);
        }
        plane += assignment.axis[1].weight[y] * row;
      }
      sum += assignment.axis[0].weight[x] * plane;
    }
    readout.values[i] = static_cast<T>(sum);
  }
};

}  // namespace zhalo::kernels
