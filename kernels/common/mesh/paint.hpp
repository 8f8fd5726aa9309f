/// Particles on grids: deposits, owners, values at places, and cells that become others.
#pragma once

#include "kernels/common/mesh/mass_assignment.hpp"
#include "kernels/common/mesh/rows.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

template <class E, class Real>
void deposit(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
             Span<Index> sums) {
  with_order(cells.order, [&](auto order) {
    for_each(exec, painted.particles.num,
             DepositParticle<decltype(order)::value, true, Real>{painted, cells, sums});
  });
}

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
  PaintInput<Real> painted;
  Index first;
  Span<const LocalIndex> at;
  PaintedColumns<Real> to;

  ZHALO_HD void prefetch(Index i) const {
    const ParticleRow<Real> p = painted.particles[first + Index{at[i]}];
    for (int axis = 0; axis < 3; ++axis) prefetch_line(&p.segment.pos[axis][p.row]);
  }
  ZHALO_HD void operator()(Index i) const {
    const Index from = first + Index{at[i]};
    const Vec<Real, 3> pos = painted.particles[from].pos(3);
    for (int axis = 0; axis < 3; ++axis) to.pos[axis][i] = pos[axis];
    if (!to.fixed_weight.empty()) to.fixed_weight[i] = whole(painted.weight(from) * painted.scale);
  }
};

template <class E, class Real>
void pack_painted(const E& exec, const PaintInput<Real>& painted, Index first,
                  Span<const LocalIndex> at, const PaintedColumns<Real>& to) {
  for_each(exec, at.size(), PackPainted<Real>{painted, first, at, to});
}

template <class E, class T, class Real>
void readout_cells(const E& exec, const ParticlesView<Real>& points,
                   const ReadoutCells<T>& readout) {
  with_order(readout.cells.order, [&](auto order) {
    for_each(exec, points.num, ReadoutPoint<decltype(order)::value, T, Real>{points, readout});
  });
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
    ZHALO_HD From operator()(Index offset, Index c) const {
      const From value = from[c];
      to[offset] = static_cast<To>(static_cast<double>(value) * map.factor + map.addend);
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

/// The sums of all cells at once.
template <class E, class Real, class To>
Index paint_by_sums(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                    const PaintTarget<To>& to) {
  CellRows rows;
  for (int axis = 0; axis < 3; ++axis) rows.num[axis] = cells.axis[axis].num_own;
  for (int axis = 0; axis < 2; ++axis) {
    rows.from_stride[axis] = cells.axis[axis].stride;
    rows.to_stride[axis] = to.stride[axis];
  }
  Buffer<Index> sums(exec, rows.num[0] * rows.num[1] * rows.num[2], "sums of cells");
  clear(exec, sums.span());
  deposit(exec, painted, cells, sums.span());
  return write_fixed_weights(exec, rows, sums.data(), to.first, to.map);
}

template <class E, class Real, class To>
Index paint_cells(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                  const PaintTarget<To>& to) {
  return paint_by_sums(exec, painted, cells, to);
}

ZHALO_INSTANTIATE_REALS(deposit);
ZHALO_INSTANTIATE_REALS(find_owners);
ZHALO_INSTANTIATE_REALS(pack_painted);
ZHALO_INSTANTIATE(paint_cells, float, float);
ZHALO_INSTANTIATE(paint_cells, float, double);
ZHALO_INSTANTIATE(paint_cells, double, float);
ZHALO_INSTANTIATE(paint_cells, double, double);
ZHALO_INSTANTIATE(readout_cells, float, float);
ZHALO_INSTANTIATE(readout_cells, float, double);
ZHALO_INSTANTIATE(readout_cells, double, float);
ZHALO_INSTANTIATE(readout_cells, double, double);
ZHALO_INSTANTIATE(map_cells, float, float);
ZHALO_INSTANTIATE(map_cells, double, double);
ZHALO_INSTANTIATE_REALS(write_fixed_weights);

}  // namespace zhalo::kernels
