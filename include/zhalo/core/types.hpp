/// Index types, small vectors, units and boxes. Counts over all ranks are 64-bit. Indices in the
/// sorted array of one rank are 32-bit, which halves the memory of sort, tree and union-find
/// (docs/decisions.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "zhalo/core/config.hpp"

namespace zhalo {

/// Counts, offsets, global indices and group labels.
using Index = std::int64_t;

/// Index of a particle in the sorted array of one rank.
using LocalIndex = std::uint32_t;

/// Largest number of particles on one rank. More particles need more ranks.
inline constexpr Index max_local_particles = std::numeric_limits<LocalIndex>::max() - 1023;

/// Group of a particle that is in no group of the catalogue.
inline constexpr Index no_group = -1;

/// A vector of N components.
template <class T, int N>
struct Vec {
  T at[static_cast<std::size_t>(N)]{};

  ZHALO_HD constexpr T& operator[](int i) { return at[i]; }
  ZHALO_HD constexpr const T& operator[](int i) const { return at[i]; }

  ZHALO_HD constexpr Vec& operator+=(const Vec& b) {
    for (int i = 0; i < N; ++i) at[i] += b.at[i];
    return *this;
  }
  ZHALO_HD constexpr Vec& operator-=(const Vec& b) {
    for (int i = 0; i < N; ++i) at[i] -= b.at[i];
    return *this;
  }
  ZHALO_HD constexpr Vec& operator*=(T factor) {
    for (int i = 0; i < N; ++i) at[i] *= factor;
    return *this;
  }

  ZHALO_HD friend constexpr Vec operator+(Vec a, const Vec& b) { return a += b; }
  ZHALO_HD friend constexpr Vec operator-(Vec a, const Vec& b) { return a -= b; }
  ZHALO_HD friend constexpr Vec operator*(Vec a, T factor) { return a *= factor; }
  ZHALO_HD friend constexpr bool operator==(const Vec&, const Vec&) = default;
};

using Vec3d = Vec<double, 3>;

/// The unit of a number in files: its powers of mass, length and velocity.
struct UnitPowers {
  int mass = 0;
  int length = 0;
  int velocity = 0;
  int scale_factor = 0;  ///< files have the number times this power of the scale factor
};

// The simulation volume.

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

  constexpr bool any_periodic() const {
    bool any = false;
    for (int axis = 0; axis < dimensions; ++axis) any = any || periodic[axis];
    return any;
  }

  /// Product of the lengths of the dimensions in use; 0 if an axis has no bounds.
  constexpr double volume() const {
    double product = 1;
    for (int axis = 0; axis < dimensions; ++axis) product *= length[axis];
    return product;
  }

  /// Of the dimensions in use.
  friend constexpr bool operator==(const Box& a, const Box& b) {
    bool equal = a.dimensions == b.dimensions;
    for (int axis = 0; axis < a.dimensions && axis < 3; ++axis)
      equal = equal && a.lo[axis] == b.lo[axis] && a.length[axis] == b.length[axis] &&
              a.periodic[axis] == b.periodic[axis];
    return equal;
  }
};

}  // namespace zhalo
