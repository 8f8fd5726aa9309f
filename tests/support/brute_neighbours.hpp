/// Neighbours by the definition: every pair is looked at. Shares no code with the library.
///
/// Distances are in the positions' own precision: per axis d = |a - b| and, on a periodic axis of length L (rounded to that precision),
/// the smaller of d and L - d; r^2 = fma(dz, dz, fma(dy, dy, dx * dx)). Neighbours are in the order of r^2, then of their index. Lengths
/// are divided by a power of two first, so that squares do not overflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/brute_force.hpp"

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
  explicit BruteNeighbours(const Cloud<Real>& particles) : box_(particles.box) {
    double largest = 1e-300;
    for (int axis = 0; axis < box_.dimensions; ++axis) largest = std::max(largest, std::abs(box_.lo[axis]) + box_.length[axis]);
    for (const Real x : particles.pos) largest = std::max(largest, std::abs(static_cast<double>(x)));
    exponent_ = std::ilogb(largest) - 30;
    for (Index i = 0; i < particles.num(); ++i) pos_.push_back(inside(particles, i));
  }

  /// Of query i of the cloud; `self` is left out (-1: none is).
  std::vector<FoundNeighbour<Real>> of(const Cloud<Real>& queries, Index i, const Wanted& wanted) const {
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

  Vec<Real, 3> inside(const Cloud<Real>& cloud, Index i) const {
    Vec<Real, 3> x;
    for (int axis = 0; axis < box_.dimensions; ++axis)
      x[axis] = static_cast<Real>(std::ldexp(static_cast<double>(moved_inside(cloud.at(i, axis), box_, axis)), -exponent_));
    return x;
  }

  Real distance2(const Vec<Real, 3>& a, const Vec<Real, 3>& b) const {
    Vec<Real, 3> d;
    for (int axis = 0; axis < box_.dimensions; ++axis) {
      d[axis] = std::abs(a[axis] - b[axis]);
      const Real period = static_cast<Real>(std::ldexp(box_.length[axis], -exponent_));
      if (box_.periodic[axis]) d[axis] = std::min(d[axis], static_cast<Real>(period - d[axis]));
    }
    return std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0]));
  }

  std::vector<FoundNeighbour<Real>> near(const Vec<Real, 3>& query, const Wanted& wanted, Index self) const {
    const double radius = std::ldexp(wanted.max_radius, -exponent_);
    std::vector<Candidate> all;
    for (std::size_t j = 0; j < pos_.size(); ++j) {
      const Real r2 = distance2(query, pos_[j]);
      if (static_cast<Index>(j) != self && static_cast<double>(std::sqrt(r2)) <= radius)
        all.push_back({r2, static_cast<Index>(j)});
    }
    const auto nearer = [](const Candidate& a, const Candidate& b) { return a.r2 != b.r2 ? a.r2 < b.r2 : a.index < b.index; };
    const auto num = static_cast<Index>(all.size());
    const Index kept = wanted.k > 0 && wanted.k < num ? wanted.k : num;
    std::partial_sort(all.begin(), all.begin() + kept, all.end(), nearer);
    all.resize(static_cast<std::size_t>(kept));
    std::vector<FoundNeighbour<Real>> found;
    for (const Candidate& c : all)
      found.push_back({static_cast<Real>(std::ldexp(static_cast<double>(std::sqrt(c.r2)), exponent_)), c.index});
    return found;
  }

  Box box_;
  int exponent_ = 0;
  std::vector<Vec<Real, 3>> pos_;
};

}  // namespace zhalo::testing
