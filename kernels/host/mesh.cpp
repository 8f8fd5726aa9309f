// Particles on grids and index boxes on the host: deposits by tiles, readouts by blocks.
#define ZHALO_BACKEND Host

#include "kernels/mesh.hpp"
#include "kernels/host/parallel.hpp"

namespace zhalo::kernels {

// The common text's ways are for devices.
ZHALO_SPECIALIZE_REALS(deposit);
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
#include "kernels/host/tile_rows.hpp"
#include "kernels/host/tiles.hpp"

namespace zhalo::kernels {

namespace {

template <int order, class Real>
void deposit_rows(const Host& exec, const Tiles& tiles, const PaintedRows<Real>& rows,
                  Span<Index> sums) {
  const TileDeposit<order> deposit(tiles, sums);
  if (is_scattered<order>(tiles, rows)) {
    // In turns, for no more memory than runs would take.
    constexpr auto run_bytes = static_cast<Index>(sizeof(Run)) + FoundRuns::run_bytes;
    const Index num_turns = (TileRows<Real>::bytes_per_row(rows) + run_bytes - 1) / run_bytes;
    for (Index turn = 0; turn < num_turns; ++turn) {
      const PaintedRows<Real> part =
          rows.part(turn * rows.num / num_turns, (turn + 1) * rows.num / num_turns);
      deposit.run(exec, TileRows<Real>::template sorted<order>(exec, tiles, part));
    }
    return;
  }
  const TileRuns runs = TileRuns::sorted<order>(exec, tiles, rows);
  deposit.run(exec, FetchedRows<Real>(rows, runs));
}

template <class Real>
void deposit_by_tiles(const Host& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                      Span<Index> sums) {
  constexpr Index max_rows = Run::max_sorted;  // bounds the memory for runs
  if (painted.particles.num == 0) return;
  const Tiles tiles(cells);
  for (const SegmentView<Real>& segment : painted.particles.segments) {
    for (Index first = 0; first < segment.num; first += max_rows) {
      const PaintedRows<Real> rows{painted, segment, first,
                                   std::min(max_rows, segment.num - first)};
      with_order(cells.order, [&](auto order) {
        deposit_rows<decltype(order)::value>(exec, tiles, rows, sums);
      });
    }
  }
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
