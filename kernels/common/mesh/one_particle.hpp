/// Deposit and readout of one particle, as devices run them.
#pragma once

#include "kernels/common/atomics.hpp"
#include "kernels/common/mesh/mass_assignment.hpp"

namespace zhalo::kernels {

/// The clouds of a place along all axes.
template <int order, class Real>
struct MassAssignment {
  AxisAssignment<order> axis[3];

  ZHALO_HD MassAssignment(const MeshCells& cells, const Vec<Real, 3>& pos)
      : axis{cloud_on<order>(cells.axis[0], static_cast<double>(pos[0])),
             cloud_on<order>(cells.axis[1], static_cast<double>(pos[1])),
             cloud_on<order>(cells.axis[2], static_cast<double>(pos[2]))} {}
};

/// Places of the cells of a cloud, in elements along each axis.
template <int order>
struct AssignmentOffsets {
  Index at[3][static_cast<std::size_t>(order)];

  ZHALO_HD AssignmentOffsets(const MeshCells& cells, const AxisAssignment<order> (&cloud)[3]) {
    for (int axis = 0; axis < 3; ++axis) {
      for (int i = 0; i < order; ++i)
        at[axis][i] = cells.axis[axis].offset_of(cloud[axis].first + i);
    }
  }
};

/// One particle's units to the cells: atomically where others may write to them, too.
template <int order, bool atomic, class Real>
struct DepositParticle {
  PaintedParticles<Real> painted;
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
  ReadoutCells<T> sampled;

  ZHALO_HD void operator()(Index i) const {
    // Places of cells are found where they are needed: kept for all axes, they would cost a device
    // more registers than there are.
    const MassAssignment<order, Real> assignment(sampled.cells, points[i].pos(3));
    const MeshAxis(&axis)[3] = sampled.cells.axis;
    double sum = 0;
    for (int x = 0; x < order; ++x) {
      const T* const cells_of_plane =
          sampled.field.data() + axis[0].offset_of(assignment.axis[0].first + x);
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
    sampled.values[i] = static_cast<T>(sum);
  }
};

}  // namespace zhalo::kernels
