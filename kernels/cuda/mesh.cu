// Particles on grids, index boxes on CUDA.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
#include "kernels/mesh.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/mesh/index_boxes.hpp"
#include "kernels/common/mesh/paint.hpp"

// ---------------------------------------------------------------- deposits

// Particles that follow each other are often near each other, as those of a Domain are: a warp then
// adds up a box of cells in shared memory, and adds each cell to the field once.

namespace zhalo::kernels {

/// Cells that a warp adds up. Sums of 64 bits are kept as two halves: a multiprocessor adds 32 bits
/// to shared memory in one step, but must try again and again with 64.
struct CellTile {
  static constexpr int max_cells = 1536;
  unsigned low[max_cells];
  unsigned high[max_cells];

  __device__ void clear(int cell) { low[cell] = high[cell] = 0; }

  __device__ void add(int cell, Index part) {
    const auto bits = static_cast<std::uint64_t>(part);
    const auto low_part = static_cast<unsigned>(bits);
    const unsigned before = atomicAdd(&low[cell], low_part);
    const unsigned carry = before + low_part < before ? 1 : 0;
    const unsigned high_part = static_cast<unsigned>(bits >> 32) + carry;
    if (high_part != 0) atomicAdd(&high[cell], high_part);
  }

  __device__ Index sum(int cell) const {
    return static_cast<Index>(std::uint64_t{high[cell]} << 32 | low[cell]);
  }
};

/// The parts of `per_item` particles. Each group of a few has a box of cells. Groups that follow
/// each other go through one box where it has no more cells than theirs have together. A group
/// whose box is too large goes to the field itself.
template <int order, class Real>
struct DepositItem {
  using Lanes = WarpLanes<Real>;
  using Scratch = CellTile;
  static constexpr int warps_at_once = order == 4 ? 12 : 16;  ///< on a multiprocessor
  static constexpr Index per_item = 512;
  static constexpr int per_group = 8;  ///< a power of 2, and a part of the lanes

  PaintInput<Real> painted;
  MeshCells cells;
  Span<Index> sums;

  __device__ void operator()(const Lanes& lanes, Index item, Scratch& tile) const {
    const Index begin = item * per_item;
    const Index left = painted.particles.num - begin;
    const Index end = begin + (left < per_item ? left : per_item);
    LaneCells near{};
    Run run{begin, 0, {}};
    for (Index at = begin;; at += per_group) {
      const int lane = static_cast<int>((at - begin) % Lanes::size);
      if (lane == 0 && at < end) near = look_at(lanes, at, end);
      const Index num = end - at < per_group ? end - at : Index{per_group};
      const Run next{at, num, num > 0 ? box_of(near, lane) : CellBox{}};
      if (run.num == 0 || (num > 0 && joins(run, next))) {
        run = {run.first, run.num + num, run.num == 0 ? next.box : joined(run.box, next.box)};
        continue;
      }
      deposit_run(lanes, run, tile);
      if (num <= 0) return;
      run = next;
    }
  }

 private:
  /// Cells [lo, hi) along each axis: as windows count them, beyond the end of an axis, too.
  struct CellBox {
    Index lo[3];
    Index hi[3];
  };

  /// Particles that follow each other.
  struct Run {
    Index first;
    Index num;
    CellBox box;
  };

  /// The first cells of each lane's group, counted from one of them.
  struct LaneCells {
    Index from[3];
    int lo[3];
    int hi[3];
  };

  __device__ Index first_cell_of(int axis, Index particle) const {
    const ParticleRow<Real> p = painted.particles[particle];
    return first_cell<order>(cells.axis[axis], static_cast<double>(p.segment.pos[axis][p.row]));
  }

  /// A cell further away than this stands for all cells that are not: its box has no room.
  static constexpr int far = 1 << 20;

  /// A particle in each lane, from `first` on.
  __device__ LaneCells look_at(const Lanes& lanes, Index first, Index end) const {
    const Index left = end - first;
    LaneCells near;
    for (int axis = 0; axis < 3; ++axis) {
      int lo = far;
      int hi = -far;
      near.from[axis] = first_cell_of(axis, first);
      lanes.for_each_lane(left < Lanes::size ? left : Index{Lanes::size}, [&](Index i) {
        const Index cell = first_cell_of(axis, first + i) - near.from[axis];
        const bool is_near = -far <= cell && cell <= far;
        lo = is_near ? static_cast<int>(cell) : -far;
        hi = is_near ? static_cast<int>(cell) : far;
      });
      for (int step = 1; step < per_group; step *= 2) {
        const int other_lo = __shfl_xor_sync(Lanes::all, lo, step);
        const int other_hi = __shfl_xor_sync(Lanes::all, hi, step);
        lo = other_lo < lo ? other_lo : lo;
        hi = other_hi > hi ? other_hi : hi;
      }
      near.lo[axis] = lo;
      near.hi[axis] = hi;
    }
    return near;
  }

  /// Of the group of a lane.
  __device__ static CellBox box_of(const LaneCells& near, int lane) {
    CellBox box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = near.from[axis] + __shfl_sync(Lanes::all, near.lo[axis], lane);
      box.hi[axis] = near.from[axis] + __shfl_sync(Lanes::all, near.hi[axis], lane) + order;
    }
    return box;
  }

  __device__ static CellBox joined(const CellBox& a, const CellBox& b) {
    CellBox box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = a.lo[axis] < b.lo[axis] ? a.lo[axis] : b.lo[axis];
      box.hi[axis] = a.hi[axis] > b.hi[axis] ? a.hi[axis] : b.hi[axis];
    }
    return box;
  }

  /// No more than one above what there is room for, so that products do not overflow.
  __device__ static int num_cells(const CellBox& box) {
    constexpr Index too_many = CellTile::max_cells + 1;
    Index num = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const Index length = box.hi[axis] - box.lo[axis];
      num *= length < too_many ? length : too_many;
      if (num > too_many) num = too_many;
    }
    return static_cast<int>(num);
  }

  __device__ static bool joins(const Run& a, const Run& b) {
    const int num = num_cells(joined(a.box, b.box));
    return num <= CellTile::max_cells && num <= num_cells(a.box) + num_cells(b.box);
  }

  __device__ void deposit_run(const Lanes& lanes, const Run& run, Scratch& tile) const {
    constexpr Index parts = Index{order} * order * order;
    const int num = num_cells(run.box);
    if (num <= CellTile::max_cells && num <= run.num * parts)
      return deposit_box(lanes, run, num, tile);
    lanes.for_each_lane(run.num, [&](Index i) {
      DepositParticle<order, true, Real>{painted, cells, sums}(run.first + i);
    });
  }

  __device__ void deposit_box(const Lanes& lanes, const Run& run, int num, Scratch& tile) const {
    const CellBox& box = run.box;
    const int row = static_cast<int>(box.hi[2] - box.lo[2]);
    const int plane = static_cast<int>(box.hi[1] - box.lo[1]) * row;
    lanes.sync();
    lanes.for_each_lane(num, [&](Index c) { tile.clear(static_cast<int>(c)); });
    lanes.sync();
    lanes.for_each_lane(run.num, [&](Index i) { add_particle(run.first + i, box, tile); });
    lanes.sync();
    lanes.for_each_lane(num, [&](Index c) {
      const Index sum = tile.sum(static_cast<int>(c));
      if (sum == 0) return;
      const int x = static_cast<int>(c) / plane;
      const int in_plane = static_cast<int>(c) - x * plane;
      const int y = in_plane / row;
      const Index at = cells.axis[0].offset_of(box.lo[0] + x) +
                       cells.axis[1].offset_of(box.lo[1] + y) +
                       cells.axis[2].offset_of(box.lo[2] + in_plane - y * row);
      atomic_add(sums[at], sum);
    });
  }

  __device__ void add_particle(Index i, const CellBox& box, Scratch& tile) const {
    const MassAssignment<order, Real> assignment(cells, painted.particles[i].pos(3));
    const int row = static_cast<int>(box.hi[2] - box.lo[2]);
    const int plane = static_cast<int>(box.hi[1] - box.lo[1]) * row;
    const int first = static_cast<int>(assignment.axis[0].first - box.lo[0]) * plane +
                      static_cast<int>(assignment.axis[1].first - box.lo[1]) * row +
                      static_cast<int>(assignment.axis[2].first - box.lo[2]);
    for_each_part<order>(
        whole(painted.weight(i) * painted.scale), assignment.axis,
        [&](int x, int y, int z, Index part) { tile.add(first + x * plane + y * row + z, part); });
  }
};

template <class E, class Real>
void deposit(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
             Span<Index> sums) {
  with_order(cells.order, [&](auto order) {
    using Item = DepositItem<decltype(order)::value, Real>;
    const Index num_items = (painted.particles.num + Item::per_item - 1) / Item::per_item;
    for_each_with_lanes(exec, num_items, Item{painted, cells, sums}, typename Item::Lanes{});
  });
}

template <class E, class Real, class To>
Index paint_cells(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                  const PaintTarget<To>& to) {
  return paint_by_sums(exec, painted, cells, to);
}

template <class E, class T, class Real>
void readout_cells(const E& exec, const ParticlesView<Real>& points,
                   const ReadoutCells<T>& readout) {
  with_order(readout.cells.order, [&](auto order) {
    for_each(exec, points.num, ReadoutPoint<decltype(order)::value, T, Real>{points, readout});
  });
}

ZHALO_INSTANTIATE_REALS(deposit);
ZHALO_INSTANTIATE_PAIRS_OF_REALS(paint_cells);
ZHALO_INSTANTIATE_PAIRS_OF_REALS(readout_cells);

}  // namespace zhalo::kernels
