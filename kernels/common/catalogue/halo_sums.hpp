/// What is added up over the members of a halo, and the properties that follow.
///
/// Every sum is a sum of integers. So it does not depend on the order of its terms: not on ranks,
/// threads or blocks.
#pragma once

#include <limits>

#include "kernels/common/arithmetic.hpp"
#include "kernels/particles.hpp"
#include "zhalo/catalogue/halo_properties.hpp"

namespace zhalo::kernels {

/// For sums over so many members: a power of two, the same wherever a part of them is added.
ZHALO_HD inline double resolution_of(Index num_members) {
  int bits = 58;
  for (Index n = 1; n < num_members; n *= 2) --bits;
  return static_cast<double>(Index{1} << bits);
}

// ---------------------------------------------------------------- members

/// Units of the sums: powers of two above the largest mass, extent and velocity of all particles.
struct HaloUnits {
  double mass = 1;
  double length = 1;
  double velocity = 1;
};

/// How stored particles become members, and sums become properties.
struct HaloFrame {
  KeyFrame frame;  ///< only its box is used
  HaloUnits unit;
  double period[3] = {};  ///< in units of length; 0 where the box is not periodic
  /// A stored coordinate, mass or velocity times this is in its unit. Powers of two.
  double coordinate_to_unit = 1;
  double mass_to_unit = 1;
  double velocity_to_unit = 1;
};

/// What the members of a group are compared with, in HaloUnits.
struct HaloReference {
  Vec3d pos;
  Vec3d velocity;
  Index length = 0;  ///< members of the whole group
};

/// The property of a group with a member whose velocity is not known.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// ---------------------------------------------------------------- single numbers

template <class Number>
using IntegersOf = Index;

ZHALO_HD inline Index integers_of(double x) { return static_cast<Index>(x); }
ZHALO_HD inline double whole_of(double x) { return static_cast<double>(static_cast<Index>(x)); }
ZHALO_HD inline double magnitude(double x) { return fabs(x); }
ZHALO_HD inline bool both(bool a, bool b) { return a && b; }
ZHALO_HD inline double where(bool is_set, double x) { return is_set ? x : 0; }
ZHALO_HD inline Index num_unset(bool is_set) { return is_set ? 0 : 1; }
ZHALO_HD inline Index total(Index x) { return x; }
ZHALO_HD inline double largest(double x) { return x; }

}  // namespace zhalo::kernels

#define ZHALO_NUMBERS_NAMESPACE zhalo::kernels
#define ZHALO_NUMBERS_INLINE
#include "kernels/common/catalogue/halo_sums.inl.hpp"
#undef ZHALO_NUMBERS_NAMESPACE
#undef ZHALO_NUMBERS_INLINE

namespace zhalo::kernels {

using Moments = MomentsOf<double>;
using Spreads = SpreadsOf<double>;

/// Members and mass of one type.
struct TypeSum {
  Index length = 0;
  FixedSum<double> mass;

  ZHALO_HD TypeSum& operator+=(const TypeSum& other) {
    length += other.length;
    mass += other.mass;
    return *this;
  }
};

}  // namespace zhalo::kernels
