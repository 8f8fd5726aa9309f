/// Particles on grids: weights, owners, deposits one by one, and values at places.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/atomics.hpp"
#include "kernels/common/mass_assignment.hpp"
#include "kernels/common/prefetch.hpp"
#include "kernels/common/rows.hpp"

namespace zhalo::kernels {

template <class Real>
struct SummarizeWeight {
  PaintedParticles<Real> painted;
  static constexpr Index none = std::numeric_limits<Index>::max();

  ZHALO_HD WeightSummary operator()(Index i) const {
    const double weight = painted.weight(i);
    const bool is_finite = weight - weight == 0;
    return {is_finite ? fabs(weight) : 0, is_finite ? 0 : 1, is_finite ? none : i};
  }
};

struct CombineWeightSummaries {
  ZHALO_HD WeightSummary operator()(const WeightSummary& a, const WeightSummary& b) const {
    return {a.largest > b.largest ? a.largest : b.largest, a.num_not_finite + b.num_not_finite,
            a.first_not_finite < b.first_not_finite ? a.first_not_finite : b.first_not_finite};
  }
};

/// Particles whose weights have to be looked at.
template <class Real>
Index num_to_look_at(const PaintedParticles<Real>& painted) {
  const Index num = painted.particles.num;
  return painted.is_uniform && num > 0 ? 1 : num;
}
/// What a weight that was looked at stands for.
template <class Real>
Index times_each(const PaintedParticles<Real>& painted) {
  return painted.is_uniform ? painted.particles.num : 1;
}

template <class E, class Real>
WeightSummary summarize_weights(const E& exec, const PaintedParticles<Real>& painted) {
  WeightSummary summary = transform_reduce(
      exec, num_to_look_at(painted), WeightSummary{0, 0, SummarizeWeight<Real>::none},
      SummarizeWeight<Real>{painted}, CombineWeightSummaries{});
  summary.num_not_finite *= times_each(painted);
  return summary;
}

/// Magnitudes in units, rounded down.
template <class Real>
struct BoundWeight {
  PaintedParticles<Real> painted;
  ZHALO_HD CountedSum operator()(Index i) const {
    return {static_cast<Index>(fabs(painted.weight(i)) * painted.scale), 1};
  }
};

template <class E, class Real>
Index bound_weights(const E& exec, const PaintedParticles<Real>& painted) {
  const CountedSum bound = transform_reduce(exec, num_to_look_at(painted), CountedSum{},
                                            BoundWeight<Real>{painted}, AddCountedSums{});
  return times_each(painted) * (bound.sum + bound.num);
}

template <class Real>
struct MeasureWeight {
  PaintedParticles<Real> painted;

  ZHALO_HD WeightSums operator()(Index i) const {
    const double fixed_weight = painted.weight(i) * painted.scale;
    return {static_cast<Index>(whole(fixed_weight)), fixed_weight * fixed_weight};
  }
};

struct AddWeightSums {
  ZHALO_HD WeightSums operator()(const WeightSums& a, const WeightSums& b) const {
    return {a.fixed_weight + b.fixed_weight, a.squares + b.squares};
  }
};

template <class E, class Real>
WeightSums sum_weights(const E& exec, const PaintedParticles<Real>& painted) {
  const WeightSums sums = transform_reduce(exec, num_to_look_at(painted), WeightSums{},
                                           MeasureWeight<Real>{painted}, AddWeightSums{});
  const Index times = times_each(painted);
  return {sums.fixed_weight * times, sums.squares * static_cast<double>(times)};
}

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

template <int order, class Real>
struct FindOwner {
  OwnerSearch<Real> search;
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index i) const {
    const Vec<Real, 3> pos = search.particles[search.first + i].pos(3);
    const Index x = first_cell<order>(search.cells.axis[0], static_cast<double>(pos[0]));
    const Index y = first_cell<order>(search.cells.axis[1], static_cast<double>(pos[1]));
    keys[i] = static_cast<std::uint64_t>(Index{search.owners.row[x]} * search.owners.num_columns +
                                         Index{search.owners.column[y]});
  }
};

template <class E, class Real>
void find_owners(const E& exec, const OwnerSearch<Real>& search, Span<std::uint64_t> keys) {
  with_order(search.cells.order, [&](auto order) {
    for_each(exec, keys.size(), FindOwner<decltype(order)::value, Real>{search, keys});
  });
}

template <class Real>
struct PackPainted {
  PaintedParticles<Real> painted;
  Index first;
  Span<const LocalIndex> at;
  TravellingParticles<Real> to;

  ZHALO_HD void prefetch(Index i) const {
    const Place<Real> p = painted.particles[first + Index{at[i]}];
    prefetch_line(&p.segment.pos[0][p.row]);
  }
  ZHALO_HD void operator()(Index i) const {
    const Index from = first + Index{at[i]};
    const Vec<Real, 3> pos = painted.particles[from].pos(3);
    for (int axis = 0; axis < 3; ++axis) to.pos[axis][i] = pos[axis];
    if (!to.fixed_weight.empty()) to.fixed_weight[i] = whole(painted.weight(from) * painted.scale);
  }
};

template <class E, class Real>
void pack_painted(const E& exec, const PaintedParticles<Real>& painted, Index first,
                  Span<const LocalIndex> at, const TravellingParticles<Real>& to) {
  for_each(exec, at.size(), PackPainted<Real>{painted, first, at, to});
}

template <class From, class To>
struct MapCells {
  CellRows rows;
  const From* from;
  To* to;
  LinearMap map;

  struct Row {
    const From* from;
    To* to;
    LinearMap map;
    ZHALO_HD From operator()(Index place, Index c) const {
      const From value = from[c];
      to[place] = static_cast<To>(static_cast<double>(value) * map.factor + map.addend);
      return value;
    }
  };
  ZHALO_HD Row row(Index a, Index b) const {
    return {from + a * rows.from_stride[0] + b * rows.from_stride[1], to, map};
  }
};

inline GridRows target_of(const CellRows& rows) {
  return {{rows.num[0], rows.num[1], rows.num[2]}, {rows.to_stride[0], rows.to_stride[1]}, 0};
}

template <class E, class From, class To>
void map_cells(const E& exec, const CellRows& rows, const From* from, To* to,
               const LinearMap& map) {
  act_on_rows(exec, target_of(rows), MapCells<From, To>{rows, from, to, map});
}

template <class E, class To>
Index write_fixed_weights(const E& exec, const CellRows& rows, const Index* from, To* to,
                          const LinearMap& map) {
  return sum_over_rows(exec, target_of(rows), MapCells<Index, To>{rows, from, to, map});
}

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
