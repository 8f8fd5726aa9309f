/// Modes one by one, power spectra, and fields of initial conditions.
///
/// Templates are defined in kernels/common/modes, for Host and Cuda, float and double.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/mesh.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// One number for each index of each axis, slowest axis first. In memory of the Exec.
struct AxisTables {
  Span<const double> of[3];
};

/// Modes are two reals each, side by side.
template <class T>
struct ModesView {
  GridRows rows;
  Span<T> values;
};

// ---------------------------------------------------------------- one factor for each mode

/// Multiplies by the product of the three axes' numbers (in double); and by i times that.
template <class E, class T>
void multiply_modes(const E& exec, const ModesView<T>& modes, const AxisTables& factors);
template <class E, class T>
void multiply_modes_by_i(const E& exec, const ModesView<T>& modes, const AxisTables& factors);

/// Divides by minus the sum of the three axes' numbers; a mode whose sum is 0 becomes 0.
template <class E, class T>
void divide_modes_by_minus(const E& exec, const ModesView<T>& modes, const AxisTables& terms);

/// Multiplies by 3 (sin x - x cos x) / x^3, x the root of the sum of the three axes' numbers.
template <class E, class T>
void smooth_modes_top_hat(const E& exec, const ModesView<T>& modes, const AxisTables& squares);

template <class E, class T>
void scale_modes(const E& exec, const ModesView<T>& modes, double factor);

/// Adds those of `other` (with the same rows), times a factor.
template <class E, class T>
void add_modes(const E& exec, const ModesView<T>& modes, Span<const T> other, double factor);

/// Adds those of `other`, turned by the product of the three axes' complex numbers, and halves the
/// sum.
struct PhaseTables {
  AxisTables real;
  AxisTables imaginary;
};
template <class E, class T>
void average_turned_modes(const E& exec, const ModesView<T>& modes, Span<const T> other,
                          const PhaseTables& phases);

// ---------------------------------------------------------------- random modes

/// A Gaussian random field, as zhalo/ics/initial_conditions.hpp has it. Tables and spectrum are in
/// memory of the Exec.
template <class T>
struct RandomModes {
  ModesView<T> modes;        ///< with z the last axis
  int axis[3] = {0, 1, 2};   ///< that is slowest, next, and last
  AxisTables waves;          ///< whole numbers, with sign
  AxisTables turns;          ///< their sum: the phase of cell 0
  AxisTables squares;        ///< their sum: the square of the wave number
  Index num[3] = {};         ///< cells of the grid, by axis
  Span<const double> log_k;  ///< the power spectrum: ascending, at least two
  Span<const double> log_power;
  double volume = 1;
  std::uint64_t seed = 0;
  bool fixed_amplitude = false;
  bool inverted = false;
};
/// Equal bits on every backend.
template <class E, class T>
void fill_random_modes(const E& exec, const RandomModes<T>& random);

// ---------------------------------------------------------------- power spectra

/// Modes and what is needed to bin them, all in memory of the Exec.
template <class T>
struct PowerView {
  GridRows rows;
  Span<const T> a;
  Span<const T> b;
  AxisTables squares;  ///< of the wave vector, in whatever unit: their sums are compared with the
                       ///< edges; ascending along the last axis
  AxisTables along;    ///< their sum: component along the line of sight, in the root of that unit
  Span<const double> weights;  ///< along the last axis: how many modes of the full spectrum one
                               ///< stands for
  AxisTables factors;          ///< their product multiplies a and b before anything else; or none
  Span<const double> edges;    ///< ascending; a bin is [edge, next edge)
  Index num_multipoles = 0;

  ZHALO_HD bool has_factors() const { return !factors.of[2].empty(); }
  /// Numbers of each bin: the weights' sum; that of the wave number; of Re(a conj(b)); of the
  /// latter times (2 l + 1) times the Legendre polynomial, l = 0, 2, ...
  ZHALO_HD Index width() const { return 3 + num_multipoles; }
};

/// What the modes, but k = 0, contribute to each bin, on the host. Equal bits for any number of
/// threads, and on every backend.
template <class E, class T>
std::vector<double> sum_powers(const E& exec, const PowerView<T>& modes);

// ---------------------------------------------------------------- initial conditions
//
// Fields multiplied and added, and particles displaced from the cells of a grid.

/// to[i] = a[i] b[i]
template <class E, class T>
void multiply(const E& exec, Span<const T> a, Span<const T> b, Span<T> to);
/// to[i] += factor a[i] b[i]
template <class E, class T>
void add_product(const E& exec, Span<const T> a, Span<const T> b, T factor, Span<T> to);
/// to[i] += a[i]
template <class E, class T>
void add_values(const E& exec, Span<const T> a, Span<T> to);

/// Cells of a grid, in x, y, z order (z fastest).
struct CellBlock {
  Vec<Index, 3> lo;
  Vec<Index, 3> extent;

  ZHALO_HD Index size() const { return extent[0] * extent[1] * extent[2]; }
  /// The i-th of them.
  ZHALO_HD Vec<Index, 3> cell(Index i) const {
    const Index row = i / extent[2];
    return lo + Vec<Index, 3>{{row / extent[1], row % extent[1], i % extent[2]}};
  }
};

/// One coordinate of one particle per cell.
template <class T>
struct DisplacedAxis {
  CellBlock cells;
  int axis = 0;
  double lo = 0;       ///< where cell 0 begins
  double spacing = 0;  ///< of cells
  double length = 0;   ///< of the periodic box
  /// Displacement and velocity are factor[0] first + factor[1] second, the latter 0 without
  /// `second`.
  const T* first = nullptr;
  const T* second = nullptr;
  double to_displacement[2] = {};
  double to_velocity[2] = {};
  T* pos = nullptr;
  T* velocity = nullptr;
};
template <class E, class T>
void displace_axis(const E& exec, const DisplacedAxis<T>& axis);

/// Numbers cells as those of a grid of `num`, from 1 on.
template <class E>
void number_cells(const E& exec, const CellBlock& cells, const Vec<Index, 3>& num,
                  Span<std::uint64_t> to);

}  // namespace zhalo::kernels
