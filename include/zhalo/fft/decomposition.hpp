/// Who owns a cell, a mode, a position.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "zhalo/core/box.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// Place of a cell or mode on a grid, per axis (x, y, z).
using GridIndex = Vec<Index, 3>;

/// The cells [lo, hi) of a grid, by global indices. Empty if hi <= lo on any axis. Ghost layers may
/// reach below 0 and beyond the grid.
struct IndexBox {
  GridIndex lo{};
  GridIndex hi{};

  ZHALO_HD constexpr Index length(int axis) const {
    return hi[axis] > lo[axis] ? hi[axis] - lo[axis] : 0;
  }
  /// Number of cells.
  ZHALO_HD constexpr Index size() const { return length(0) * length(1) * length(2); }
  ZHALO_HD constexpr bool empty() const { return size() == 0; }
  ZHALO_HD constexpr bool contains(const GridIndex& cell) const {
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
      inside = inside && cell[axis] >= lo[axis] && cell[axis] < hi[axis];
    return inside;
  }
  constexpr IndexBox shifted(const GridIndex& by) const { return {lo + by, hi + by}; }
  /// With `below` more cells at the lower end and `above` at the upper end of each axis.
  constexpr IndexBox grown(const GridIndex& below, const GridIndex& above) const {
    return {lo - below, hi + above};
  }

  friend constexpr bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// The cells that both have; empty if there are none.
constexpr IndexBox intersection(const IndexBox& a, const IndexBox& b) {
  IndexBox both;
  for (int axis = 0; axis < 3; ++axis) {
    both.lo[axis] = std::max(a.lo[axis], b.lo[axis]);
    both.hi[axis] = std::min(a.hi[axis], b.hi[axis]);
  }
  return both;
}

/// How a index box lies in memory: the element of cell i is offset(i) elements behind the first.
struct BoxLayout {
  IndexBox index_box;
  GridIndex stride{};  ///< elements from a cell to the next along each axis
  Index size = 0;      ///< elements from the first to the end, gaps between rows included

  ZHALO_HD constexpr Index offset(const GridIndex& cell) const {
    Index sum = 0;
    for (int axis = 0; axis < 3; ++axis) sum += (cell[axis] - index_box.lo[axis]) * stride[axis];
    return sum;
  }

  friend constexpr bool operator==(const BoxLayout&, const BoxLayout&) = default;
};

/// Axes of a index box in memory, from the slowest to the fastest.
using AxisOrder = std::array<int, 3>;
inline constexpr AxisOrder natural_order = {0, 1, 2};

/// Axes in that order without gaps, but for rows (along the fastest axis) of `row_pitch` elements;
/// 0: as long as they are.
constexpr BoxLayout layout_of(const IndexBox& index_box, const AxisOrder& order = natural_order,
                              Index row_pitch = 0) {
  BoxLayout layout{index_box, {}, 0};
  const Index row = row_pitch > 0 ? row_pitch : index_box.length(order[2]);
  layout.stride[order[2]] = 1;
  layout.stride[order[1]] = row;
  layout.stride[order[0]] = row * index_box.length(order[1]);
  layout.size = index_box.empty() ? 0 : layout.stride[order[0]] * index_box.length(order[0]);
  return layout;
}

/// A mesh of num[0] x num[1] x num[2] equal cells over a box; cell 0 begins at box.lo.
struct Grid {
  GridIndex num{{1, 1, 1}};
  Box box = Box::periodic_cube(1);

  /// n^3 cells over a periodic cube.
  static constexpr Grid cube(Index n, double length = 1) {
    return {{{n, n, n}}, Box::periodic_cube(length)};
  }

  constexpr Index size() const { return num[0] * num[1] * num[2]; }
  constexpr IndexBox index_box() const { return {{}, num}; }
  /// Length of a cell along an axis, in the box's unit.
  constexpr double spacing(int axis) const {
    return box.length[axis] / static_cast<double>(num[axis]);
  }

  friend constexpr bool operator==(const Grid&, const Grid&) = default;
};

/// The modes that are kept: all, or (of a real field) those with 0 <= k_z <= num[2] / 2, which
/// determine the others.
enum class Spectrum { half, full };

/// How modes lie. `transposed` is what a transform leaves behind without one more exchange.
enum class ModeOrder { transposed, natural };

enum class Split {
  automatic,  ///< the shape with the least modelled_seconds()
  slab,       ///< planes: all ranks along x
  pencil  ///< rows x columns of ranks, the shape with the least modelled_seconds() among those with
          ///< both > 1 (if the number allows)
};

struct DecompositionOptions {
  Split split = Split::automatic;
  /// Ranks along x and along y, whose product is the number of ranks; {0, 0}: as `split` says.
  std::array<int, 2> shape = {0, 0};
};

/// Which rank has which part of a grid. A value without communication: it answers for any rank, and
/// is the only place that does.
///
/// The ranks form a matrix of shape()[0] rows and shape()[1] columns; rank = row * columns +
/// column. All shares are contiguous and differ by at most one; ranks may own nothing.
///   cells             x by row, y by column, z whole; in memory x, y, z (z fastest)
///   modes transposed  y by row, z by column, x whole; in memory y, x, z;
///                     with one row of ranks x, y, z
///   modes natural     x by row, z by column, y whole; in memory x, y, z
class Decomposition {
 public:
  /// InputError unless all sizes and the number of ranks are at least 1, the cells can be counted
  /// in 62 bits, and a given shape fits.
  Decomposition(const Grid& grid, int num_ranks, const DecompositionOptions& options = {});

  const Grid& grid() const { return grid_; }
  int num_ranks() const { return shape_[0] * shape_[1]; }
  const std::array<int, 2>& shape() const { return shape_; }
  int row_of(int rank) const { return rank / shape_[1]; }
  int column_of(int rank) const { return rank % shape_[1]; }
  int rank_at(int row, int column) const { return row * shape_[1] + column; }

  /// Modes per axis: num, or num[2] / 2 + 1 along z of a half spectrum.
  GridIndex num_modes(Spectrum spectrum) const;

  IndexBox cells(int rank) const;
  IndexBox modes(int rank, Spectrum spectrum, ModeOrder order = ModeOrder::transposed) const;
  BoxLayout cells_layout(int rank) const { return layout_of(cells(rank)); }
  BoxLayout modes_layout(int rank, Spectrum spectrum,
                         ModeOrder order = ModeOrder::transposed) const;

  int owner_of_cell(const GridIndex& cell) const;
  int owner_of_mode(const GridIndex& mode, Spectrum spectrum,
                    ModeOrder order = ModeOrder::transposed) const;
  /// The cell that holds a position: wrapped on periodic axes (hi is lo), the nearest one on
  /// others. InputError unless it is finite.
  GridIndex cell_of(const Vec3d& position) const;
  int owner_of(const Vec3d& position) const { return owner_of_cell(cell_of(position)); }

  /// "slab 4 x 1 of 512 x 512 x 512" or "pencil 2 x 2 of ...".
  std::string describe() const;

  friend bool operator==(const Decomposition&, const Decomposition&) = default;

 private:
  Grid grid_;
  std::array<int, 2> shape_{1, 1};
};

/// The model behind Split::automatic: seconds of one real transform in double on ranks of one core
/// each,
///   elements x 5 ns (three transforms of a line) + bytes sent / (2 GB/s) + messages x 5 us,
/// each for the rank that has most. It knows that shares are uneven, that slabs exchange once and
/// pencils twice, and that pencils have fewer partners; it does not know the machine: FftTuner
/// measures.
double modelled_seconds(const Grid& grid, const std::array<int, 2>& shape);

}  // namespace zhalo
