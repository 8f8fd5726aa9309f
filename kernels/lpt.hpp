/// Fields multiplied and added, and particles displaced from the cells of a grid
/// (initial conditions).
///
/// Templates are defined in kernels/common/lpt, for Host and Cuda, float and double.
#pragma once

#include <cstdint>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

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
