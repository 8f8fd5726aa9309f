/// Neighbours by the definition: every pair is looked at. Shares no code with the library.
///
/// Distances are in the positions' own precision: per axis d = |a - b| and, on a periodic axis of
/// length L (rounded to that precision), the smaller of d and L - d; r^2 = fma(dz, dz, fma(dy, dy,
/// dx * dx)). Neighbours are in the order of r^2, then of their index. Lengths are divided by a
/// power of two first, so that squares do not overflow.
#pragma once

#include <limits>
#include <vector>

#include "tests/support/brute_force.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::testing {

template <class Real>
struct FoundNeighbour {
  Real distance;  ///< in the unit of the positions
  Index index;

  friend bool operator==(const FoundNeighbour&, const FoundNeighbour&) = default;
};

/// Which neighbours are wanted.
struct Wanted {
  Index k = 1;  ///< 0: all within the radius
  bool include_self = true;
  double max_radius = std::numeric_limits<double>::infinity();
};

template <class Real>
class BruteNeighbours {
 public:
  explicit BruteNeighbours(const PointSet<Real>& particles);

  /// Neighbours of query i of the point set, without particle `self` (-1: all are kept).
  std::vector<FoundNeighbour<Real>> of(const PointSet<Real>& queries, Index i,
                                       const Wanted& wanted) const {
    return near(inside(queries, i), wanted, -1);
  }
  /// Of particle i.
  std::vector<FoundNeighbour<Real>> of_particle(Index i, const Wanted& wanted) const {
    return near(pos_[static_cast<std::size_t>(i)], wanted, wanted.include_self ? -1 : i);
  }

 private:
  struct Candidate {
    Real r2;
    Index index;
  };

  Vec<Real, 3> inside(const PointSet<Real>& points, Index i) const;
  Real distance2(const Vec<Real, 3>& a, const Vec<Real, 3>& b) const;
  std::vector<FoundNeighbour<Real>> near(const Vec<Real, 3>& query, const Wanted& wanted,
                                         Index self) const;

  Box box_;
  int exponent_ = 0;
  std::vector<Vec<Real, 3>> pos_;
};

}  // namespace zhalo::testing
