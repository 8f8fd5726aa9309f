/// Boxes of grid indices, and how their elements lie in memory.
#pragma once

#include <algorithm>
#include <array>

#include "zhalo/core/types.hpp"
#include "zhalo/core/vec.hpp"

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

}  // namespace zhalo
