/// Friends-of-friends by the definition: every pair is looked at, in float64. Shares no code with
/// the library.
///
/// Two particles are friends if r <= b, where r is the distance between nearest images: per axis d
/// = |a - b|, and on a periodic axis of length L the smaller of d and L - d; r^2 = fma(dz, dz,
/// fma(dy, dy, dx * dx)), compared with b * b. Particles outside a periodic axis are moved into it
/// first, and rounded to their own precision.
#pragma once

#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo::testing {

/// Positions row by row, and what the definition needs besides them.
template <class Real>
struct PointSet {
  std::vector<Real> pos;
  Box box;
  double linking_length = 0;

  Index num() const { return static_cast<Index>(pos.size()) / box.dimensions; }
  Real at(Index i, int axis) const {
    return pos[static_cast<std::size_t>(i * box.dimensions + axis)];
  }
};

/// Particles that lie outside a periodic axis; the upper edge is outside.
template <class Real>
Index count_wrapped(const PointSet<Real>& points);

/// x moved into a periodic axis. One period at a time; the image that is rounded to or beyond an
/// edge is the lower edge.
template <class Real>
Real moved_inside(Real x, const Box& box, int axis);

/// The definition, of one pair.
template <class Real>
bool are_friends(const PointSet<Real>& points, Index i, Index j);

/// Label of each particle: the smallest index in its group.
template <class Real>
std::vector<Index> brute_force_groups(const PointSet<Real>& points);

/// Whether these labels are the groups: friends share a label; each label's members hang together;
/// a label is its smallest member.
template <class Real>
bool are_fof_groups(const std::vector<Index>& label, const PointSet<Real>& points);

}  // namespace zhalo::testing
