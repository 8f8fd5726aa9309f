// Particles on grids and index boxes on the host: deposits by tiles, readouts by blocks.
#define ZHALO_BACKEND Host

#include "kernels/mesh.hpp"
#include "kernels/host/parallel.hpp"

namespace zhalo::kernels {

// The common text's ways are for devices.
ZHALO_SPECIALIZE_REALS(deposit);
ZHALO_SPECIALIZE(paint_cells, float, float);
ZHALO_SPECIALIZE(paint_cells, float, double);
ZHALO_SPECIALIZE(paint_cells, double, float);
ZHALO_SPECIALIZE(paint_cells, double, double);
ZHALO_SPECIALIZE(readout_cells, float, float);
ZHALO_SPECIALIZE(readout_cells, double, float);
ZHALO_SPECIALIZE(readout_cells, float, double);
ZHALO_SPECIALIZE(readout_cells, double, double);

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/mesh/index_boxes.hpp"
#include "kernels/common/mesh/paint.hpp"
#include "kernels/common/mesh/weights.hpp"
#include "kernels/host/readout_blocks.hpp"
#include "kernels/host/short_segments.hpp"
#include "kernels/host/slabs.hpp"
#include "kernels/host/tile_rows.hpp"
#include "kernels/host/tiles.hpp"

namespace zhalo::kernels {

namespace {

template <int order, class Real>
void deposit_rows(const Host& exec, const Tiles& tiles, const PaintedRows<Real>& rows,
                  Span<Index> sums) {
  const TileDeposit<order> deposit(tiles);
  if (is_scattered<order>(tiles, rows)) {
    // In turns, for no more memory than runs would take.
    constexpr auto run_bytes = static_cast<Index>(sizeof(Run)) + FoundRuns::run_bytes;
    const Index num_turns = (TileRows<Real>::bytes_per_row(rows) + run_bytes - 1) / run_bytes;
    for (Index turn = 0; turn < num_turns; ++turn) {
      const PaintedRows<Real> part =
          rows.part(turn * rows.num / num_turns, (turn + 1) * rows.num / num_turns);
      deposit.run(exec, TileRows<Real>::template sorted<order>(exec, tiles, part), sums);
    }
    return;
  }
  const TileRuns runs = TileRuns::sorted<order>(exec, tiles, rows);
  deposit.run(exec, FetchedRows<Real>(rows, runs), sums);
}

template <class Real>
void deposit_by_tiles(const Host& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                      Span<Index> sums) {
  if (painted.particles.num == 0) return;
  if (has_short_segments(painted.particles)) {
    return for_each_packed(exec, painted, [&](const PaintInput<Real>& packed) {
      deposit_by_tiles(exec, packed, cells, sums);
    });
  }
  const Tiles tiles(cells);
  for_each_rows(painted, [&](const PaintedRows<Real>& rows) {
    with_order(cells.order,
               [&](auto order) { deposit_rows<decltype(order)::value>(exec, tiles, rows, sums); });
  });
}

/// By slabs where these keep the threads busy and there is room for the particles' order, which
/// takes no more than the sums of all cells would.
template <class Real, class To>
Index paint_by_slabs(const Host& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                     const PaintTarget<To>& to) {
  if (!has_slabs(cells) || has_short_segments(painted.particles))
    return paint_by_sums(exec, painted, cells, to);
  const Tiles tiles(cells);
  if (tiles.axis(0).size() < Index{4} * threads_of(exec))
    return paint_by_sums(exec, painted, cells, to);
  Index sum = 0;
  with_order(cells.order, [&](auto order) {
    constexpr int n = decltype(order)::value;
    const auto rows = SortedRows<Real>::template sorted<n>(exec, tiles, painted);
    sum = rows ? SlabDeposit<n, To>(exec, tiles, to).run(*rows)
               : paint_by_sums(exec, painted, cells, to);
  });
  return sum;
}

template <class T, class Real>
void readout_by_blocks(const Host& exec, const ParticlesView<Real>& points,
                       const ReadoutCells<T>& readout) {
  for (const SegmentView<Real>& segment : points.segments) {
    with_order(readout.cells.order, [&](auto order) {
      const ReadoutBlocks<decltype(order)::value, T, Real> blocks(points, segment, readout);
      for_each_block(exec, segment.num, host_block,
                     [&](Index first, Index last) { blocks.run(first, last); });
    });
  }
}

}  // namespace

template <>
void deposit(const Host& exec, const PaintInput<float>& painted, const MeshCells& cells,
             Span<Index> sums) {
  deposit_by_tiles(exec, painted, cells, sums);
}
template <>
void deposit(const Host& exec, const PaintInput<double>& painted, const MeshCells& cells,
             Span<Index> sums) {
  deposit_by_tiles(exec, painted, cells, sums);
}
template <>
Index paint_cells(const Host& exec, const PaintInput<float>& painted, const MeshCells& cells,
                  const PaintTarget<float>& to) {
  return paint_by_slabs(exec, painted, cells, to);
}
template <>
Index paint_cells(const Host& exec, const PaintInput<float>& painted, const MeshCells& cells,
                  const PaintTarget<double>& to) {
  return paint_by_slabs(exec, painted, cells, to);
}
template <>
Index paint_cells(const Host& exec, const PaintInput<double>& painted, const MeshCells& cells,
                  const PaintTarget<float>& to) {
  return paint_by_slabs(exec, painted, cells, to);
}
template <>
Index paint_cells(const Host& exec, const PaintInput<double>& painted, const MeshCells& cells,
                  const PaintTarget<double>& to) {
  return paint_by_slabs(exec, painted, cells, to);
}
template <>
void readout_cells(const Host& exec, const ParticlesView<float>& points,
                   const ReadoutCells<float>& readout) {
  readout_by_blocks(exec, points, readout);
}
template <>
void readout_cells(const Host& exec, const ParticlesView<float>& points,
                   const ReadoutCells<double>& readout) {
  readout_by_blocks(exec, points, readout);
}
template <>
void readout_cells(const Host& exec, const ParticlesView<double>& points,
                   const ReadoutCells<float>& readout) {
  readout_by_blocks(exec, points, readout);
}
template <>
void readout_cells(const Host& exec, const ParticlesView<double>& points,
                   const ReadoutCells<double>& readout) {
  readout_by_blocks(exec, points, readout);
}

}  // namespace zhalo::kernels
