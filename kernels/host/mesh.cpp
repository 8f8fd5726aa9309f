// Particles on grids and index boxes on the host: deposits by tiles, readouts by blocks.
#define ZHALO_BACKEND Host

#include <algorithm>

#include "kernels/host/parallel.hpp"
#include "kernels/mesh.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/mesh/index_boxes.hpp"
#include "kernels/common/mesh/paint.hpp"
#include "kernels/host/mass_assignment_blocks.hpp"
#include "kernels/host/positions.hpp"
#include "kernels/host/slabs.hpp"
#include "kernels/host/tiles.hpp"

namespace zhalo::kernels {

namespace {

/// Particles of many short segments are painted as one: what is done for each segment costs as much
/// as a thousand particles do, and takes some bytes for each tile.
template <class Real>
bool has_short_segments(const ParticlesView<Real>& particles, const Tiles& tiles) {
  constexpr Index few_segments = 16, short_segment = 1024;
  const Index num_segments = particles.segments.size();
  return num_segments > few_segments &&
         particles.num < std::max(short_segment, tiles.size()) * num_segments;
}

/// visit(painted) for all particles, packed into one segment, some at a time: so many that they
/// take less memory than a quarter of the cells' sums.
template <class Real, class Visit>
void for_each_packed(const Host& exec, const PaintInput<Real>& painted, const Tiles& tiles,
                     const Visit& visit) {
  constexpr Index min_at_once = Index{1} << 20, cells_of_one = 32;
  const Index num = painted.particles.num;
  const Index num_at_once = std::min(num, std::max(min_at_once, tiles.num_cells() / cells_of_one));
  Buffer<LocalIndex> numbers(exec, num_at_once, "particles of short segments");
  Buffer<Real> pos(exec, 3 * num_at_once, "particles of short segments");
  Buffer<double> fixed_weight(exec, num_at_once, "particles of short segments");
  number(exec, numbers.span());
  for (Index first = 0; first < num; first += num_at_once) {
    const Index here = std::min(num_at_once, num - first);
    const auto axis = [&](Index a) { return pos.span().subspan(a * num_at_once, here); };
    pack_painted(exec, painted, first, Span<const LocalIndex>(numbers.span()).subspan(0, here),
                 {{axis(0), axis(1), axis(2)}, fixed_weight.span().subspan(0, here)});
    SegmentView<Real> segment;
    segment.num = here;
    for (Index a = 0; a < 3; ++a) segment.pos[a] = {axis(a).data()};
    segment.mass = fixed_weight.data();
    PaintInput<Real> packed;  // weights are in units
    packed.particles.segments = {&segment, 1};
    packed.particles.num = here;
    visit(packed);
  }
}

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
  const Tiles tiles(cells);
  if (has_short_segments(painted.particles, tiles)) {
    return for_each_packed(exec, painted, tiles, [&](const PaintInput<Real>& packed) {
      deposit_by_tiles(exec, packed, cells, sums);
    });
  }
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
  if (!has_slabs(cells)) return paint_by_sums(exec, painted, cells, to);
  const Tiles tiles(cells);
  if (has_short_segments(painted.particles, tiles) ||
      tiles.axis(0).size() < Index{4} * threads_of(exec))
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

/// Fields at positions, a block of positions at a time.
template <int order, class T, class Real>
class ReadoutBlocks {
 public:
  ReadoutBlocks(const ParticlesView<Real>& points, const SegmentView<Real>& segment,
                const ReadoutCells<T>& readout)
      : one_{points, readout}, segment_(segment) {
    rows_.cells = readout.field.data();
    for (int a = 0; a < 3; ++a) rows_.first[a] = readout.cells.axis[a].first;
    for (int a = 0; a < 2; ++a) rows_.stride[a] = readout.cells.axis[a].stride;
  }

  /// Rows [first, last) of the segment. The cells of the next block are asked for before those of
  /// this one are read.
  void run(Index first, Index last) const {
    AssignmentBlock blocks[2];
    locate(first, last, blocks[0]);
    int now = 0;
    for (Index begin = first; begin < last; begin += AssignmentBlock::size, now = 1 - now) {
      locate(begin + AssignmentBlock::size, last, blocks[1 - now]);
      prefetch(blocks[1 - now]);
      finish(begin, blocks[now]);
    }
  }

 private:
  void locate(Index begin, Index last, AssignmentBlock& block) const {
    block.num = 0;
    if (begin >= last) return;
    append_positions(segment_.pos, begin, std::min<Index>(last - begin, AssignmentBlock::size),
                     block);
    locate_assignments(one_.readout.cells, block);
    for (int a = 0; a < 3; ++a) {
      const MeshAxis& axis = one_.readout.cells.axis[a];
      if (!axis.wraps || Index{block.max_cell[a]} + order <= axis.num) continue;
      for (int at = 0; at < block.num; ++at) {
        if (Index{block.first[a][at]} + order > axis.num) block.has_odd = block.is_odd[at] = true;
      }
    }
  }

  void prefetch(const AssignmentBlock& block) const {
    for (int at = 0; at < block.num; ++at) {
      if (block.is_odd[at]) continue;
      const T* from = rows_.cells + (block.first[0][at] - rows_.first[0]) * rows_.stride[0] +
                      (block.first[1][at] - rows_.first[1]) * rows_.stride[1] +
                      (block.first[2][at] - rows_.first[2]);
      for (int row = 0; row < order * order; ++row) {
        const T* const cells =
            from + (row / order) * rows_.stride[0] + (row % order) * rows_.stride[1];
        prefetch_from_to(cells, cells + order - 1);
      }
    }
  }

  void finish(Index begin, const AssignmentBlock& block) const {
    alignas(64) double values[AssignmentBlock::size];
    readout_blocks(block, order, rows_, values);
    const Index first = segment_.first + begin;
    for (int at = 0; at < block.num; ++at) {
      if (block.is_odd[at]) {
        one_(first + at);
      } else {
        one_.readout.values[first + at] = static_cast<T>(values[at]);
      }
    }
  }

  ReadoutPoint<order, T, Real> one_;
  const SegmentView<Real>& segment_;
  ReadoutRows<T> rows_;
};

template <class T, class Real>
void readout_by_blocks(const Host& exec, const ParticlesView<Real>& points,
                       const ReadoutCells<T>& readout) {
  with_order(readout.cells.order, [&](auto order) {
    for_each_block(exec, points.num, host_block, [&](Index first, Index last) {
      for_each_run(points, first, last, last - first,
                   [&](Index, const ParticleRow<Real>& row, Index num) {
                     ReadoutBlocks<decltype(order)::value, T, Real>(points, row.segment, readout)
                         .run(row.row, row.row + num);
                   });
    });
  });
}

}  // namespace

template <class E, class Real>
void deposit(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
             Span<Index> sums) {
  deposit_by_tiles(exec, painted, cells, sums);
}
template <class E, class Real, class To>
Index paint_cells(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                  const PaintTarget<To>& to) {
  return paint_by_slabs(exec, painted, cells, to);
}
template <class E, class T, class Real>
void readout_cells(const E& exec, const ParticlesView<Real>& points,
                   const ReadoutCells<T>& readout) {
  readout_by_blocks(exec, points, readout);
}

ZHALO_INSTANTIATE_REALS(deposit);
ZHALO_INSTANTIATE_PAIRS_OF_REALS(paint_cells);
ZHALO_INSTANTIATE_PAIRS_OF_REALS(readout_cells);

}  // namespace zhalo::kernels
