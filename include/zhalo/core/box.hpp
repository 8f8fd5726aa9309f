/// The simulation volume.
#pragma once

#include "zhalo/core/types.hpp"

namespace zhalo {

/// An axis-aligned volume [lo, lo + length) in 2 or 3 dimensions. Each axis is periodic or not.
///
/// A periodic axis needs length > 0. Positions outside it are wrapped into it; lo + length is
/// wrapped to lo. On an axis that is not periodic, length > 0 bounds the particles: a position
/// outside is an error, one at lo + length is inside. Length 0 means that such an axis has no
/// bounds. Lengths are in the unit of the positions.
struct Box {
  Vec3d lo{};
  Vec3d length{};
  Vec<bool, 3> periodic{};
  int dimensions = 3;

  /// [0, length) on every axis, all periodic.
  static constexpr Box periodic_cube(double length, int dimensions = 3) {
    Box box;
    box.dimensions = dimensions;
    for (int axis = 0; axis < dimensions; ++axis) {
      box.length[axis] = length;
      box.periodic[axis] = true;
    }
    return box;
  }

  /// A box without bounds, which contains all positions.
  static constexpr Box unbounded(int dimensions = 3) {
    Box box;
    box.dimensions = dimensions;
    return box;
  }

  constexpr bool any_periodic() const { return periodic[0] || periodic[1] || periodic[2]; }

  /// Product of the lengths of the dimensions in use; 0 if an axis has no bounds.
  constexpr double volume() const {
    double product = 1;
    for (int axis = 0; axis < dimensions; ++axis) product *= length[axis];
    return product;
  }

  friend constexpr bool operator==(const Box&, const Box&) = default;
};

}  // namespace zhalo
