/// Particles on grids, and boxes of indices on their way between arrays.
///
/// Templates are defined in kernels/common/mesh, for Host and Cuda, float and double.
#pragma once

#include "kernels/particles.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- cells

/// One axis of a grid, and of this rank's cells.
struct MeshAxis {
  double lo = 0;      ///< of the box
  double length = 1;  ///< of the box
  double cells_per_length = 0;
  double offset = 0.5;  ///< where cell 0 is, in cells behind lo
  Index num = 1;        ///< cells of the grid
  bool periodic = true;
  Index first = 0;    ///< cell of this rank's array
  Index stride = 0;   ///< elements of it
  bool wraps = true;  ///< this rank has the axis whole and periodic: what is beyond its end is at
                      ///< its beginning
  Index num_own = 1;  ///< this rank's cells, without those that others own

  /// Offset of a cell that a window covers, in elements along this axis.
  ZHALO_HD Index offset_of(Index cell) const {
    if (wraps) {
      if (cell >= num) cell %= num;
    } else if (!periodic && cell >= num) {
      cell = num - 1;
    }
    return (cell - first) * stride;
  }
};

/// Cells of this rank and of the ghosts behind them, x, y, z (z fastest).
struct MeshCells {
  MeshAxis axis[3];
  int order = 1;  ///< of the window, 1 to 4: cells that it covers per axis
};

/// An index box of a grid in memory order, slowest axis first: rows along the last axis, whose
/// elements lie side by side.
struct GridRows {
  Index extent[3] = {};
  Index stride[2] = {};  ///< elements from one to the next along the first two axes
  Index first = 0;       ///< offset of the first element

  ZHALO_HD Index size() const { return extent[0] * extent[1] * extent[2]; }
  /// Of the first element of a row.
  ZHALO_HD Index offset(Index a, Index b) const { return first + a * stride[0] + b * stride[1]; }
};

// ---------------------------------------------------------------- painting

/// Particles and their weights, in units of 1 / scale (a power of 2).
template <class Real>
struct PaintInput {
  ParticlesView<Real> particles;
  bool by_mass = true;
  RealColumn column;        ///< that weights are multiplied by, if there is one
  bool is_uniform = false;  ///< all weights are equal
  double scale = 1;

  ZHALO_HD double weight(Index i) const {
    double weight = 1;
    if (by_mass) {
      const ParticleRow<Real> p = particles[i];
      weight = p.mass(particles.uniform_mass);
    }
    return column ? weight * column[i] : weight;
  }
  ZHALO_HD bool weights_are_masses() const { return by_mass && !column; }
  /// Of each particle, where all are equal.
  double uniform_weight() const { return by_mass ? particles.uniform_mass : 1; }
};

/// What one look at all weights tells.
struct WeightSummary {
  double largest = 0;  ///< magnitude
  Index num_bad = 0;   ///< not finite, or negative masses
  Index first_bad = 0;
};

template <class E, class Real>
WeightSummary summarize_weights(const E& exec, const PaintInput<Real>& painted);

/// Sum of magnitudes in units, each rounded up.
template <class E, class Real>
Index bound_weights(const E& exec, const PaintInput<Real>& painted);

/// A whole number of 128 bits, so that a sum of squares does not depend on the order.
struct WideSum {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

/// Of weights in units, each a whole number.
struct WeightSums {
  Index fixed_weight = 0;
  WideSum squares;
};
template <class E, class Real>
WeightSums sum_weights(const E& exec, const PaintInput<Real>& painted);

/// How many fixed-point units make a weight of 1: 2 to the power of an exponent, such that a weight
/// has at most 2^50 units and all together at most 2^61. Once each is rounded, both are below the
/// limits of the arithmetic. The exponent is first estimated from the largest magnitude, which is
/// not 0, and the number of all particles, then made from their bound_weights() in such units.
constexpr int max_exponent = 1000;  // 2 to the power of it is a number
ZHALO_HD inline int within_exponents(int exponent) {
  if (exponent > max_exponent) return max_exponent;
  return exponent < -max_exponent ? -max_exponent : exponent;
}
/// The least e with value <= 2^e; one more where they are equal.
ZHALO_HD inline int exponent_of(double value) {
  int exponent = 0;
  static_cast<void>(frexp(value, &exponent));
  return exponent;
}
ZHALO_HD inline int estimate_exponent(double largest, Index total) {
  const int of_one = 50 - exponent_of(largest);
  const int of_all = 61 - exponent_of(largest) - exponent_of(static_cast<double>(total));
  return within_exponents(of_one < of_all ? of_one : of_all);
}
ZHALO_HD inline int choose_exponent(double largest, int estimate, Index bound) {
  int width = 0;  // of the bound, in bits
  for (; bound > 0; bound /= 2) ++width;
  const int of_one = 50 - exponent_of(largest);
  const int of_all = estimate + 61 - width;
  return within_exponents(of_one < of_all ? of_one : of_all);
}

/// All that painting asks of the weights of particles that no other rank has.
struct WeightLedger {
  WeightSummary summary;
  double scale_of_bound = 1;
  Index bound = 0;
  double scale = 1;
  WeightSums sums;
};
/// The functions above one after the other, without a wait in between. `ledger` is in memory of the
/// Exec.
template <class E, class Real>
void queue_weights(const E& exec, const PaintInput<Real>& painted, WeightLedger* ledger);

/// Adds the units of each particle to the cells that its window covers. All of them are this
/// rank's, or ghosts behind its own.
template <class E, class Real>
void deposit(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
             Span<Index> sums);

/// Rows and columns of ranks that own the cells of axis 0 and 1.
struct CellOwners {
  Span<const LocalIndex> row;
  Span<const LocalIndex> column;
  Index num_columns = 1;
};

/// keys[i] = rank that owns the first cell of the window of particle first + i.
template <class Real>
struct OwnerSearch {
  ParticlesView<Real> particles;
  MeshCells cells;
  CellOwners owners;
  Index first = 0;
};
template <class E, class Real>
void find_owners(const E& exec, const OwnerSearch<Real>& search, Span<std::uint64_t> keys);

/// Values as they travel.
template <class Real>
struct PaintedColumns {
  Span<Real> pos[3];
  Span<double> fixed_weight;  ///< or none
};
/// to[i] = particle first + at[i].
template <class E, class Real>
void pack_painted(const E& exec, const PaintInput<Real>& painted, Index first,
                  Span<const LocalIndex> at, const PaintedColumns<Real>& to);

// ---------------------------------------------------------------- values of cells

/// An index box's cells in two arrays, in which rows along z lie dense.
struct CellRows {
  Index num[3] = {0, 0, 0};
  Index from_stride[2] = {0, 0};  ///< along x and y
  Index to_stride[2] = {0, 0};
};
/// to = from * factor + addend, in double. From = float or double = To. Both arrays begin at the
/// first cell; they may be the same.
struct LinearMap {
  double factor = 1;
  double addend = 0;
};
template <class E, class From, class To>
void map_cells(const E& exec, const CellRows& rows, const From* from, To* to, const LinearMap& map);
/// The same from cells in units to float or double; returns the sum of all units.
template <class E, class To>
Index write_fixed_weights(const E& exec, const CellRows& rows, const Index* from, To* to,
                          const LinearMap& map);

/// Where values of a rank's cells go, and what they are of the cells' units.
template <class To>
struct PaintTarget {
  To* first = nullptr;       ///< the first cell
  Index stride[2] = {0, 0};  ///< along x and y; rows along z lie dense
  LinearMap map;
};
/// deposit() into cells that hold nothing yet, and write_fixed_weights() of these: for a rank that
/// has all cells of the grid. `cells` are dense.
template <class E, class Real, class To>
Index paint_cells(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                  const PaintTarget<To>& to);

/// values[i] = the window's mean around point i.
template <class T>
struct ReadoutCells {
  MeshCells cells;
  Span<const T> field;
  Span<T> values;
};
template <class E, class T, class Real>
void readout_cells(const E& exec, const ParticlesView<Real>& points, const ReadoutCells<T>& cells);

// ---------------------------------------------------------------- index boxes
//
// An element of any kind is one or more words of 1, 2, 4, 8 or 16 bytes; offsets, strides and
// extents count words.

/// An index box on its way from one array to another: four nested loops, axis 3 the innermost. Axes
/// that are not needed have extent 1.
struct BoxMove {
  static constexpr int num_axes = 4;

  Index first = 0;  ///< words of the moves before this one in its list
  Index extent[num_axes] = {1, 1, 1, 1};
  Index from_stride[num_axes] = {};
  Index to_stride[num_axes] = {};
  Index from = 0;  ///< offset of the first word
  Index to = 0;

  ZHALO_HD Index num_words() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
};

/// Moves without empty ones among them. No two of them, and no two words of one, go to the same
/// offset.
struct BoxMoves {
  Span<const BoxMove> moves;  ///< in memory of the Exec
  Index num_words = 0;        ///< of all
};

/// The arrays that moves refer to: neither overlaps the words that they touch in the other one.
/// Aligned to their words.
struct ElementArrays {
  const void* from = nullptr;
  void* to = nullptr;
  Index word_size = 0;  ///< bytes
};

/// Copies all words of all moves.
template <class E>
void copy_boxes(const E& exec, const BoxMoves& index_boxes, const ElementArrays& arrays);

/// Adds them to what is there. T = std::int32_t, Index, float or double: a complex number is two
/// words.
template <class E, class T>
void add_boxes(const E& exec, const BoxMoves& index_boxes, const T* from, T* to);

/// Sets to 0 what copy_boxes() would overwrite.
template <class E>
void zero_boxes(const E& exec, const BoxMoves& index_boxes, void* to, Index word_size);

}  // namespace zhalo::kernels
