/// Who owns a cell, a mode, a position.
#pragma once

#include <array>
#include <string>

#include "zhalo/core/box.hpp"
#include "zhalo/fft/index_box.hpp"

namespace zhalo {

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
