/// Mass assignment of many particles at a time, in vectors: the same arithmetic as
/// kernels/common/mesh/mass_assignment.hpp, bit for bit.
#pragma once

#include <cstdint>

#include "kernels/mesh.hpp"

namespace zhalo::kernels {

/// Some particles. Elements behind `num` hold anything finite.
struct alignas(64) AssignmentBlock {
  static constexpr int size = 64;

  // Vectors first: each row is aligned.
  double pos[3][size] = {};
  double fixed_weight[size] = {};
  double behind[3][size];       ///< AxisPosition::behind
  std::int32_t first[3][size];  ///< the first cell of each window, from 0 to num - 1 of the axis
  /// Windows that are left to the common text: they lie far out, reach beyond an axis that is not
  /// periodic, or are on an axis of very few cells or of more than `first` can count.
  bool is_odd[size];
  bool has_odd = false;           ///< one of them at least
  std::int32_t max_cell[3] = {};  ///< the most of `first` on each axis
  int num = 0;
};

/// Rows [row, row + num) follow the positions that the block has; they fit in.
template <class Real>
void append_positions(const Strided<Real> (&pos)[3], Index row, Index num, AssignmentBlock& block);

/// Sets all but `pos` and `fixed_weight`.
void locate_assignments(const MeshCells& cells, AssignmentBlock& block);

/// A number for each cell of each axis, from cell `first` to cell `last`.
struct CellNumbers {
  const LocalIndex* of[3] = {};
  std::int32_t first[3] = {};
  std::int32_t last[3] = {};
  bool nearest = false;  ///< the number of the cell that the particle is in, not of the first one
};
/// sums[i] = of the numbers of a cell of window i along each axis, of a block without odd ones;
/// `sums` is aligned and as long as a block, and what is behind the last window is written, too.
void add_numbers(const AssignmentBlock& block, const CellNumbers& numbers, LocalIndex* sums);

/// Cells of most tiles along an axis, at most.
inline constexpr Index max_tile_cells = 16;
/// By how many cells a window's first cell is in front of the one that its particle is in: for even
/// orders it may be one more.
constexpr Index cells_in_front(int order) { return (order - 1) / 2; }
constexpr bool may_be_one_more(int order) { return order % 2 == 0; }
/// Cells that the windows of a tile cover along an axis, at most. The last tile has those in front
/// of the first besides.
constexpr Index tile_pitch(int order) {
  return max_tile_cells + cells_in_front(order) + (may_be_one_more(order) ? 1 : 0) + order - 1;
}

/// Sums of the cells that some windows cover: cell (x, y, z) at (x - first[0]) * stride[0] +
/// (y - first[1]) * stride[1] + z - first[2], which is less than 2^31.
struct SumsView {
  Index* sums = nullptr;
  Index first[3] = {0, 0, 0};
  Index stride[2] = {0, 0};
};
/// Adds the parts of all particles that are not odd.
void deposit_blocks(const AssignmentBlock& block, int order, const SumsView& view);

/// Cells as windows read them: cell (x, y, z) at (x - first[0]) * stride[0] + (y - first[1]) *
/// stride[1] + z - first[2].
template <class T>
struct ReadoutRows {
  const T* cells = nullptr;
  Index first[3] = {0, 0, 0};
  Index stride[2] = {0, 0};
};
/// The windows' means of all particles, odd ones excepted whose values are meaningless: cells
/// beyond the end of an axis are not to be read, so set is_odd for these, too.
template <class T>
void readout_blocks(const AssignmentBlock& block, int order, const ReadoutRows<T>& rows,
                    double* values);

// Rows of sums of cells, a vector at a time.

/// to[i] += from[i].
void add_row(const Index* from, Index num, Index* to);

/// to[i] = from[i] * factor + addend, by the operations of MapCells in
/// kernels/common/mesh/paint.hpp in their order. Returns the sum of `from`.
template <class T>
Index write_row(const Index* from, Index num, const LinearMap& map, T* to);

}  // namespace zhalo::kernels
