/// Which rank owns a cell, a mode or a position, and fields that move from one decomposition to
/// another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// Index of a cell or mode on a grid, per axis (x, y, z).
using GridIndex = Vec<Index, 3>;

/// The cells [lo, hi) of a grid, by global indices. Empty if hi <= lo on any axis. With ghost
/// layers it may reach below 0 and beyond the grid.
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
  /// The box with `below` more cells at the lower end of each axis, and `above` more at the upper
  /// end.
  constexpr IndexBox grown(const GridIndex& below, const GridIndex& above) const {
    return {lo - below, hi + above};
  }

  friend constexpr bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// The cells that are in both boxes; empty if there are none.
constexpr IndexBox intersection(const IndexBox& a, const IndexBox& b) {
  IndexBox both;
  for (int axis = 0; axis < 3; ++axis) {
    both.lo[axis] = std::max(a.lo[axis], b.lo[axis]);
    both.hi[axis] = std::min(a.hi[axis], b.hi[axis]);
  }
  return both;
}

/// How an index box is stored in memory. The element of a cell is offset(cell) elements behind the
/// first one.
struct BoxLayout {
  IndexBox index_box;
  GridIndex stride{};  ///< elements from one cell to the next along each axis
  Index size = 0;      ///< elements from the first to the end, with gaps between rows

  ZHALO_HD constexpr Index offset(const GridIndex& cell) const {
    Index sum = 0;
    for (int axis = 0; axis < 3; ++axis) sum += (cell[axis] - index_box.lo[axis]) * stride[axis];
    return sum;
  }

  friend constexpr bool operator==(const BoxLayout&, const BoxLayout&) = default;
};

/// Axes of an index box in memory, from the slowest to the fastest.
using AxisOrder = std::array<int, 3>;
inline constexpr AxisOrder natural_order = {0, 1, 2};

/// The layout of an index box with its axes in this order. Rows (along the fastest axis) are
/// `row_pitch` elements apart, or without gaps if that is 0. There are no other gaps.
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

/// Which modes are stored. full: all. half, for a real field: those with 0 <= k_z <= num[2] / 2,
/// which determine the others.
enum class Spectrum { half, full };

/// Order of the modes. A transform leaves them `transposed`; `natural` costs one more exchange.
enum class ModeOrder { transposed, natural };

enum class Split {
  automatic,  ///< the shape with the least modelled_seconds()
  slab,       ///< planes: all ranks along x
  /// Rows and columns of ranks, both > 1 if the number of ranks allows. Of these shapes, the one
  /// with the least modelled_seconds().
  pencil
};

struct DecompositionOptions {
  Split split = Split::automatic;
  /// Numbers of ranks along x and along y. Their product is the number of ranks. {0, 0}: `split`
  /// chooses.
  std::array<int, 2> shape = {0, 0};
};

/// Which rank has which part of a grid. A plain value: it answers for any rank, without
/// communication. Nothing else decides who owns what.
///
/// The ranks form a matrix of shape()[0] rows and shape()[1] columns; rank = row * columns +
/// column. All shares are contiguous and differ by at most one. A rank may own nothing.
///   cells             x by row, y by column, z whole; in memory x, y, z (z fastest)
///   modes transposed  y by row, z by column, x whole; in memory y, x, z;
///                     with one row of ranks x, y, z
///   modes natural     x by row, z by column, y whole; in memory x, y, z
class Decomposition {
 public:
  /// InputError unless all sizes and the number of ranks are at least 1, the grid has at most 2^62
  /// cells, and a given shape fits the number of ranks.
  Decomposition(const Grid& grid, int num_ranks, const DecompositionOptions& options = {});

  const Grid& grid() const { return grid_; }
  int num_ranks() const { return shape_[0] * shape_[1]; }
  const std::array<int, 2>& shape() const { return shape_; }
  int row_of(int rank) const { return rank / shape_[1]; }
  int column_of(int rank) const { return rank % shape_[1]; }
  int rank_at(int row, int column) const { return row * shape_[1] + column; }

  /// Modes per axis: num, but num[2] / 2 + 1 along z for a half spectrum.
  GridIndex num_modes(Spectrum spectrum) const;

  IndexBox cells(int rank) const;
  IndexBox modes(int rank, Spectrum spectrum, ModeOrder order = ModeOrder::transposed) const;
  BoxLayout cells_layout(int rank) const { return layout_of(cells(rank)); }
  BoxLayout modes_layout(int rank, Spectrum spectrum,
                         ModeOrder order = ModeOrder::transposed) const;

  /// InputError unless the cell is one of the grid.
  int owner_of_cell(const GridIndex& cell) const;
  /// InputError unless the mode is one of num_modes().
  int owner_of_mode(const GridIndex& mode, Spectrum spectrum,
                    ModeOrder order = ModeOrder::transposed) const;
  /// The cell that contains a position. On periodic axes the position is wrapped, so the upper edge
  /// of the box is the lower one. On other axes a position outside belongs to the nearest cell.
  /// InputError unless it is finite, and the box has lengths.
  GridIndex cell_of(const Vec3d& position) const;
  int owner_of(const Vec3d& position) const { return owner_of_cell(cell_of(position)); }

  /// What memory_need.hpp asks: this grid on so many ranks, in this shape if they are as many.
  MeshSize mesh_size(int num_ranks, bool double_values) const;

  /// For example "slab 4 x 1 of 512 x 512 x 512" or "pencil 2 x 2 of ...".
  std::string describe() const;

  friend bool operator==(const Decomposition&, const Decomposition&) = default;

 private:
  Grid grid_;
  std::array<int, 2> shape_{1, 1};
};

/// The cost model of Split::automatic: seconds of one real transform in double, on ranks of one
/// core each. It is the sum
///   elements x 5 ns (three transforms of a line) + bytes sent / (2 GB/s) + messages x 5 us,
/// each term for the rank that has most. The model knows that shares are uneven, that slabs
/// exchange once and pencils twice, and that pencils have fewer partners. It does not know the
/// machine: for that, FftTuner measures.
double modelled_seconds(const Grid& grid, const std::array<int, 2>& shape);

// Moving a field from one decomposition to another.

/// Which part of a field each rank holds, and how it is stored: layout[r] is that of rank r. Index
/// boxes of different ranks must not overlap.
struct FieldLayout {
  std::vector<BoxLayout> layout;

  static FieldLayout of_cells(const Decomposition& decomposition);
  static FieldLayout of_modes(const Decomposition& decomposition, Spectrum spectrum,
                              ModeOrder order = ModeOrder::transposed);
};

/// redistribute() without the type, for elements of any trivially copyable type. The arrays are in
/// memory of the context's Exec; the elements of `to_field` are as long as those of `from_field`,
/// which has no gaps. InputError if it has some, or the two arrays overlap in memory.
void redistribute_bytes(const Context& context, const FieldLayout& from,
                        const ColumnView& from_field, const FieldLayout& to,
                        Span<std::byte> to_field);

/// Copies every cell that is in both layouts from its rank in `from` to its rank in `to`. Cells of
/// `to` that no rank has in `from`, and gaps, are not changed. The layouts may divide different
/// index boxes in different orders: slabs, pencils, cells, modes, or all on one rank.
///
/// Collective; both layouts are the same on all ranks. Needs memory for a copy of what is sent and
/// of what is received. InputError if a layout is for another number of ranks, the size of a field
/// differs from its layout, or index boxes of `from` overlap.
template <class T>
void redistribute(const Context& context, const FieldLayout& from, Span<const T> from_field,
                  const FieldLayout& to, Span<T> to_field) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto element_size = static_cast<Index>(sizeof(T));
  redistribute_bytes(
      context, from, column_view(from_field), to,
      {reinterpret_cast<std::byte*>(to_field.data()), to_field.size() * element_size});
}

}  // namespace zhalo
